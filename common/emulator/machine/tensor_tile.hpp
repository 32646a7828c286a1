#pragma once
/// \file
/// A box of a tensor, or a column of pixels in im2col mode, and the tile of shared memory that belongs to it:
/// what lies where, and the asynchronous operations that move it (PTX ISA 5.5 and 9.7.9.27).

#include "machine/async_tasks.hpp"
#include "machine/tensor_map.hpp"

namespace emu {

/// Whether a load is for the block that asks, or carries .multicast::cluster, be it for one block alone.
enum class Delivery { one_block, multicast };

/// The geometry of one tensor copy. In shared memory the rows of the box follow each other, innermost
/// dimension first. With a swizzle each row begins a pattern width after the one before, however narrow it
/// is: a narrow row is swizzled like the beginning of a full one, and what it leaves free stays untouched
/// (observed on an H200 in all modes, widths and ranks; CUDA programming guide, "The Swizzle Modes"). In
/// im2col mode the pixels are the rows, and all the rest is the same.
class TensorTile {
  public:
    TensorTile(const TensorMap& map, const std::array<std::int32_t, 5>& start,
               const std::array<std::uint16_t, 3>& im2col_offsets = {});

    const TensorMap& map() const { return map_; }
    std::uint32_t row_bytes() const { return row_bytes_; }
    std::uint32_t rows() const { return rows_; }
    /// From one row to the next in shared memory.
    std::uint32_t pitch() const { return pitch_; }
    /// Bytes of the whole box: what a load writes and counts, however much of it lies outside the tensor. The
    /// gaps between narrow rows do not count.
    std::uint32_t bytes() const { return row_bytes_ * rows_; }

    /// Where a copy ends that hangs over the far edge of dimension 0: a load at the last element, a store at
    /// the next multiple of 16 bytes, beyond the tensor (observed on an H200; the PTX ISA is silent).
    enum class Clip { at_element, at_chunk };
    /// The part of one row of the box that lies inside the tensor.
    struct Row {
        std::uint32_t index = 0; ///< Of the row in the box.
        std::uint32_t first = 0; ///< Bytes of the row before the part; row_bytes() if nothing is inside.
        std::uint32_t bytes = 0; ///< Of the part.
        Address global = 0;      ///< Of the part.
    };
    Row row(std::uint32_t index, Clip clip) const;

    /// The 32-byte sectors that moving the box takes, as an H200 counts them: it cuts a row where lines of
    /// 128 bytes end in shared memory, and moves each piece as the sectors that it touches. Of a load, what
    /// lies outside the tensor counts too, as the sectors of shared memory that it touches. A multicast
    /// counts for each block that gets it, two sectors or more for each line of 128 bytes of global memory
    /// that a piece touches, and three or more for what lies outside (docs/measurements/h200_behaviour.md).
    std::uint32_t load_sectors(Delivery delivery = Delivery::one_block) const;
    std::uint32_t store_sectors() const;

    /// Fills `box` from global memory, with the map's fill value outside the tensor.
    void gather(const GlobalMemory& memory, std::span<std::byte> box) const;
    /// Writes the part of `box` inside the tensor, and what lies in the same 16 bytes, to global memory, or
    /// combines it with what is there.
    void scatter(const GlobalMemory& memory, std::span<const std::byte> box,
                 const std::optional<Reduction>& reduction) const;
    /// Copies between the dense box and the tile at a shared-window address.
    void to_shared(Cluster& cluster, std::uint32_t shared, std::span<const std::byte> box) const;
    void from_shared(Cluster& cluster, std::uint32_t shared, std::span<std::byte> box) const;

    /// Bytes from `shared` to the end of the last chunk of the tile.
    std::uint32_t extent(std::uint32_t shared) const;
    /// The tile of a load as events see it: chunks outside the tensor are listed too (with global 0).
    void list_load(std::uint32_t shared, std::vector<AsyncPiece>& pieces) const;
    /// The tile of a store as events see it: what it reads to write.
    void list_store(std::uint32_t shared, std::vector<AsyncPiece>& pieces) const;

  private:
    /// Where element 0 of dimension 0 lies in the tensor's row that belongs to this row of the box; nothing
    /// if another dimension leaves the tensor.
    std::optional<Address> row_base(std::uint32_t index) const;
    bool interleaved() const { return outer_ == 0; }
    /// Where the 16 bytes of a row that begin at its byte `at` lie in shared memory.
    std::uint32_t place(std::uint32_t shared, std::uint32_t row, std::uint32_t at) const;
    void list_row(const Row& row, std::uint32_t shared, bool outside, std::vector<AsyncPiece>& pieces) const;

    TensorMap map_;
    std::array<std::int32_t, 5> start_;
    std::vector<std::optional<Address>> pixels_; ///< In im2col mode, the rows' bases.
    std::array<std::uint32_t, 5> counts_{};      ///< Elements of the box by dimension.
    std::uint32_t element_ = 1;                  ///< Bytes that a coordinate of dimension 0 counts.
    std::size_t outer_ = 1;                      ///< The first dimension that counts rows.
    std::uint32_t row_bytes_ = 0;
    std::uint32_t pitch_ = 0;
    std::uint32_t rows_ = 1;
};

/// cp.async.bulk.tensor from global to shared memory.
class TensorLoadTask final : public AsyncTask {
  public:
    explicit TensorLoadTask(const TensorTile& tile, std::uint32_t shared) : tile_(tile), shared_(shared) {}
    void read(Cluster& cluster) override;
    void write(Cluster& cluster) override;

  private:
    TensorTile tile_;
    std::uint32_t shared_;
    std::vector<std::byte> box_;
};

/// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor from shared to global memory.
class TensorStoreTask final : public AsyncTask {
  public:
    TensorStoreTask(const TensorTile& tile, std::uint32_t shared, std::optional<Reduction> reduction)
        : tile_(tile), shared_(shared), reduction_(reduction) {}
    void read(Cluster& cluster) override;
    void write(Cluster& cluster) override;

  private:
    TensorTile tile_;
    std::uint32_t shared_;
    std::optional<Reduction> reduction_;
    std::vector<std::byte> box_;
};

/// The tensor map at a generic address for a copy with so many coordinates. Reports tensor-map-invalid and
/// returns nothing if it is not aligned to 64 bytes, does not lie in memory the device can read it from, or
/// does not serve the copy.
std::optional<TensorMap> load_tensor_map(const Place& place, std::uint64_t address, unsigned rank, bool load,
                                         bool im2col);
/// Reports tensor-map-invalid.
void report_tensor_map(const Place& place, std::string_view kind, Facts facts,
                       Fault fault = Fault::illegal_instruction);

// Decode functions of tensormap.* and prefetch.tensormap, in instructions/tensormap.cpp.
void decode_tensormap_replace(DecodeContext& context, Op& op);
void decode_tensormap_copy(DecodeContext& context, Op& op);
void decode_tensormap_prefetch(DecodeContext& context, Op& op);

} // namespace emu

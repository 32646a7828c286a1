#pragma once
/// \file
/// The share of one warp in a wgmma.mma_async: 16 rows of D. It reads its operands and adds to its
/// accumulators when the asynchronous engine says, which is some time before wgmma.wait_group lets the warp
/// go on.

#include "machine/async.hpp"
#include "machine/cluster.hpp"
#include "machine/instructions/matrix/descriptor.hpp"
#include "machine/instructions/matrix/registers.hpp"
#include "machine/instructions/matrix/sparse.hpp"
#include "machine/instructions/matrix/wgmma_forms.hpp"

#include <optional>
#include <vector>

namespace emu::matrix {

/// A wgmma.mma_async as it was decoded.
struct WgmmaPlan final : WarpPlan {
    WgmmaForm form;
    Rows d, a;        ///< A's registers, if it lies there.
    Row a_descriptor; ///< u64, else.
    Row b_descriptor;
    Row metadata; ///< u32, of a sparse A.
    unsigned selector = 0;
    Row adds; ///< Predicate: D is added to; else it is overwritten.
    bool adds_negated = false;
};

/// Whether `op`, a wgmma.mma_async that `lanes` execute, adds to its accumulators: scale-d.
bool adds_to_sums(Warp& warp, const Op& op, LaneMask lanes);

/// Lines of an operand, each of which runs along k.
struct Tile {
    unsigned lines = 0;
    unsigned line_bytes = 0;
    std::vector<std::byte> bytes; ///< By lines.

    std::uint32_t element(Element type, unsigned line, unsigned k) const;
};

/// Calls `visit(address, line, unit)` for each unit of 16 bytes that the tile lies in; `address` in the
/// block's shared memory. Of a tile that is stored along its lines `line` is the first of eight, and `unit`
/// is k.
template <class Visit>
void for_units(const Descriptor& descriptor, unsigned lines, unsigned line_bytes, bool along_lines,
               Visit visit) {
    if (along_lines)
        for (unsigned k = 0; k < line_bytes / 2; ++k)
            for (unsigned unit = 0; unit < lines / 8; ++unit)
                visit(descriptor.unit_along_lines(k, unit), 8 * unit, k);
    else
        for (unsigned line = 0; line < lines; ++line)
            for (unsigned unit = 0; unit < line_bytes / unit_bytes; ++unit)
                visit(descriptor.unit_along_k(line, unit), line, unit);
}

class WgmmaTask final : public AsyncTask {
  public:
    WgmmaTask(Warp& warp, const WgmmaPlan& plan, std::uint32_t frame);

    void read(Cluster& cluster) override;
    void write(Cluster& cluster) override;
    bool hand_on(std::uint32_t frame, std::uint32_t from, std::uint32_t into, LaneMask lanes) override;

    std::optional<Descriptor> a; ///< Of the whole warpgroup's 64 rows.
    Descriptor b{0};
    bool adds = true;
    LaneMask lanes = 0;

  private:
    /// A copy of an accumulator that was made while it was in flight.
    struct Copy {
        std::uint32_t from, into;
        LaneMask lanes;
    };
    Tile tile_in_memory(Cluster& cluster, const Descriptor& from, unsigned first_line, unsigned lines,
                        unsigned line_bytes, bool along_lines) const;
    Tile tile_in_registers() const;
    template <class Visit>
    void for_accumulators(Visit visit) const;
    std::uint32_t* row(Row r) const { return warp_.row_in<std::uint32_t>(frame_, r); }

    Warp& warp_;
    const WgmmaPlan& plan_;
    std::uint32_t frame_;
    Tile tile_a_, tile_b_;
    Metadata metadata_;
    std::vector<Copy> copies_;
};

/// The accumulators of a warp, by rows and columns: bits of f32, s32 or f16.
class Accumulators {
  public:
    explicit Accumulators(unsigned columns) : columns_(columns), bits_(std::size_t{warp_rows} * columns) {}
    std::span<std::uint32_t> row(unsigned r) {
        return std::span(bits_).subspan(std::size_t{r} * columns_, columns_);
    }

  private:
    unsigned columns_;
    std::vector<std::uint32_t> bits_;
};

/// D = A B + D. `metadata`: of a sparse A.
void multiply_tiles(const WgmmaForm& form, const Tile& a, const Tile& b, const Metadata& metadata,
                    Accumulators& d);

} // namespace emu::matrix

#include "machine/tensor_tile.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/im2col.hpp"

#include <algorithm>
#include <cstring>

namespace emu {

namespace {

constexpr std::uint32_t chunk = 16; ///< Bytes a swizzle moves as one.

/// The bit pattern outside the tensor: zeros, or the special NaN, which is 0x7ff7 in each 16 bits whatever
/// the type (observed on an H200; the NaN that fma.oob takes for "out of bounds").
std::uint64_t fill_bits(const TensorMap& map) { return map.oob_fill == 0 ? 0 : 0x7ff77ff77ff77ff7; }

/// What a load makes of TF32: rounded to the 10 bits of mantissa that it keeps, halves to even, and every NaN
/// is one (observed on an H200, which flushes no small numbers to zero either).
void round_each_to_tf32(std::span<std::byte> values) {
    for (std::size_t i = 0; i < values.size(); i += 4) {
        std::uint32_t bits;
        std::memcpy(&bits, values.data() + i, sizeof bits);
        const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
        const std::uint32_t odd = bits >> 13 & 1;
        bits = is_nan ? 0x7fffe000u : (bits + 0xfff + odd) & ~0x1fffu;
        std::memcpy(values.data() + i, &bits, sizeof bits);
    }
}

/// Where the piece of a row ends that begins at its byte `from`: where the row ends, or a line of 128 bytes
/// of shared memory. The row begins `shared` bytes after such a line.
std::uint32_t piece_end(std::uint32_t shared, std::uint32_t from, std::uint32_t to) {
    constexpr std::uint32_t line = 128;
    return std::min(to, from + line - (shared + from) % line);
}

/// Sectors that the bytes from `from` to before `to` touch, of global or of shared memory.
std::uint32_t sectors_of(Address from, Address to) {
    constexpr Address sector = 32;
    return from < to ? static_cast<std::uint32_t>((to - 1) / sector - from / sector) + 1 : 0;
}

/// The same for a load. A multicast counts what each line of 128 bytes gives by itself, and at least `least`.
std::uint32_t sectors_loaded(Address from, Address to, Delivery delivery, std::uint32_t least) {
    if (delivery == Delivery::one_block)
        return sectors_of(from, to);
    constexpr Address line = 128;
    std::uint32_t sum = 0;
    for (Address end = 0; from < to; from = end) {
        end = std::min(to, (from / line + 1) * line);
        sum += std::max(least, sectors_of(from, end));
    }
    return sum;
}

} // namespace

TensorTile::TensorTile(const TensorMap& map, const std::array<std::int32_t, 5>& start,
                       const std::array<std::uint16_t, 3>& im2col_offsets)
    : map_(map), start_(start), element_(coordinate_bytes(map)),
      outer_(map.interleave == TensorInterleave::none ? 1 : 0) {
    if (!interleaved()) // The traversal stride of dimension 0 is ignored then (cuTensorMapEncodeTiled).
        map_.element_strides[0] = 1;
    for (std::size_t i = 0; i < map_.rank; ++i)
        counts_[i] = (map_.box[i] + map_.element_strides[i] - 1) / map_.element_strides[i];
    if (interleaved()) // A box has one group of channels, whatever it says.
        counts_[map_.rank - 2] = 1;
    row_bytes_ = interleaved() ? element_ : counts_[0] * element_;
    pitch_ = interleaved() ? row_bytes_ : std::max(row_bytes_, swizzle_bytes(map_.swizzle));
    for (std::size_t i = outer_; i < map_.rank; ++i)
        rows_ *= counts_[i];
    if (map_.im2col) {
        pixels_ = im2col_rows(map_, start_, im2col_offsets);
        rows_ = map_.pixels_per_column;
    }
}

std::optional<Address> TensorTile::row_base(std::uint32_t index) const {
    if (map_.im2col)
        return pixels_[index];
    Address base = map_.address;
    for (std::size_t i = outer_; i < map_.rank; ++i) {
        const std::int64_t at = start_[i] + std::int64_t{index % counts_[i]} * map_.element_strides[i];
        index /= counts_[i];
        if (at < 0 || static_cast<std::uint64_t>(at) >= map_.dims[i])
            return std::nullopt;
        base += static_cast<std::uint64_t>(at) * (i == 0 ? element_ : map_.strides[i - 1]);
    }
    return base;
}

TensorTile::Row TensorTile::row(std::uint32_t index, Clip clip) const {
    Row row;
    row.index = index;
    row.first = row_bytes_;
    const auto base = row_base(index);
    if (!base)
        return row;
    if (interleaved()) {
        row.first = 0;
        row.bytes = row_bytes_;
        row.global = *base;
        return row;
    }
    const std::int64_t first = std::max<std::int64_t>(0, -std::int64_t{start_[0]});
    const std::int64_t last =
        std::min<std::int64_t>(counts_[0], static_cast<std::int64_t>(map_.dims[0]) - start_[0]);
    if (first >= last)
        return row;
    row.first = static_cast<std::uint32_t>(first) * element_;
    row.bytes = static_cast<std::uint32_t>(last - first) * element_;
    if (clip == Clip::at_chunk)
        row.bytes = std::min((row.bytes + chunk - 1) / chunk * chunk, row_bytes_ - row.first);
    row.global = *base + static_cast<std::uint64_t>(start_[0] + first) * element_;
    return row;
}

std::uint32_t TensorTile::load_sectors(Delivery delivery) const {
    constexpr std::uint32_t least_inside = 2, least_outside = 3;
    std::uint32_t sum = 0;
    for (std::uint32_t r = 0; r < rows_; ++r) {
        const Row part = row(r, Clip::at_chunk);
        const std::uint32_t shared = r * pitch_;
        for (std::uint32_t from = 0, to = 0; from < row_bytes_; from = to) {
            to = piece_end(shared, from, row_bytes_);
            const std::uint32_t first = std::clamp(part.first, from, to);
            const std::uint32_t last = std::clamp(part.first + part.bytes, first, to);
            sum += sectors_loaded(shared + from, shared + first, delivery, least_outside);
            sum += sectors_loaded(part.global + (first - part.first), part.global + (last - part.first),
                                  delivery, least_inside);
            sum += sectors_loaded(shared + last, shared + to, delivery, least_outside);
        }
    }
    return sum;
}

std::uint32_t TensorTile::store_sectors() const {
    std::uint32_t sum = 0;
    for (std::uint32_t r = 0; r < rows_; ++r) {
        const Row part = row(r, Clip::at_chunk);
        const std::uint32_t end = part.first + part.bytes;
        for (std::uint32_t from = part.first, to = 0; from < end; from = to) {
            to = piece_end(r * pitch_, from, end);
            sum += sectors_of(part.global + (from - part.first), part.global + (to - part.first));
        }
    }
    return sum;
}

void TensorTile::gather(const GlobalMemory& memory, std::span<std::byte> box) const {
    const std::uint64_t fill = fill_bits(map_);
    for (std::uint32_t r = 0; r < rows_; ++r) {
        const Row part = row(r, Clip::at_element);
        std::byte* to = box.data() + part.index * row_bytes_;
        if (part.bytes != row_bytes_)
            for (std::uint32_t i = 0; i < row_bytes_; i += std::min(element_, 8u))
                std::memcpy(to + i, &fill, std::min(element_, 8u));
        if (part.bytes)
            std::memcpy(to + part.first, memory.bytes(part.global), part.bytes);
        if (map_.type == TensorType::tf32 || map_.type == TensorType::tf32_ftz)
            round_each_to_tf32({to + part.first, part.bytes});
    }
}

void TensorTile::scatter(const GlobalMemory& memory, std::span<const std::byte> box,
                         const std::optional<Reduction>& reduction) const {
    for (std::uint32_t r = 0; r < rows_; ++r) {
        const Row part = row(r, Clip::at_chunk);
        if (!part.bytes)
            continue;
        const std::byte* from = box.data() + part.index * row_bytes_ + part.first;
        std::byte* const to = memory.bytes(part.global);
        if (reduction)
            reduction->apply(to, from, part.bytes);
        else
            std::memcpy(to, from, part.bytes);
    }
}

std::uint32_t TensorTile::place(std::uint32_t shared, std::uint32_t row, std::uint32_t at) const {
    return swizzled(shared + row * pitch_ + at, map_.swizzle);
}

void TensorTile::to_shared(Cluster& cluster, std::uint32_t shared, std::span<const std::byte> box) const {
    for (std::uint32_t i = 0; i < box.size(); i += chunk)
        if (std::byte* to = cluster.shared_bytes(place(shared, i / row_bytes_, i % row_bytes_), chunk))
            std::memcpy(to, box.data() + i, chunk);
}

void TensorTile::from_shared(Cluster& cluster, std::uint32_t shared, std::span<std::byte> box) const {
    for (std::uint32_t i = 0; i < box.size(); i += chunk)
        if (const std::byte* from =
                cluster.shared_bytes(place(shared, i / row_bytes_, i % row_bytes_), chunk))
            std::memcpy(box.data() + i, from, chunk);
}

std::uint32_t TensorTile::extent(std::uint32_t shared) const {
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < row_bytes_; i += chunk)
        end = std::max(end, place(shared, rows_ - 1, i) + chunk - shared);
    return end;
}

void TensorTile::list_row(const Row& row, std::uint32_t shared, bool outside,
                          std::vector<AsyncPiece>& pieces) const {
    const bool whole = row.bytes == row_bytes_ || row.bytes == 0;
    const auto add = [&](Address global, std::uint32_t at, std::uint32_t bytes) {
        if (bytes && (global || outside))
            pieces.push_back({global, at, bytes});
    };
    // A row that fills its pattern occupies it whatever the order of its chunks.
    if (map_.swizzle == TensorSwizzle::none || (whole && row_bytes_ == swizzle_bytes(map_.swizzle))) {
        const std::uint32_t start = shared + row.index * pitch_;
        const std::uint32_t after = row.first + row.bytes;
        add(0, start, row.first);
        add(row.global, start + row.first, row.bytes);
        add(0, start + after, row_bytes_ - after);
        return;
    }
    for (std::uint32_t i = 0; i < row_bytes_; i += chunk) {
        const std::uint32_t at = place(shared, row.index, i);
        const std::uint32_t inside_from = std::clamp(row.first, i, i + chunk);
        const std::uint32_t inside_to = std::clamp(row.first + row.bytes, i, i + chunk);
        add(0, at, inside_from - i);
        add(row.global + (inside_from - row.first), at + (inside_from - i), inside_to - inside_from);
        add(0, at + (inside_to - i), i + chunk - inside_to);
    }
}

void TensorTile::list_load(std::uint32_t shared, std::vector<AsyncPiece>& pieces) const {
    for (std::uint32_t r = 0; r < rows_; ++r)
        list_row(row(r, Clip::at_element), shared, true, pieces);
}

void TensorTile::list_store(std::uint32_t shared, std::vector<AsyncPiece>& pieces) const {
    for (std::uint32_t r = 0; r < rows_; ++r) {
        const std::size_t first = pieces.size();
        list_row(row(r, Clip::at_chunk), shared, false, pieces);
        const Row inside = row(r, Clip::at_element);
        const Address end = inside.global + inside.bytes;
        for (AsyncPiece& piece : std::span(pieces).subspan(first))
            if (const Address after = piece.global + piece.bytes; after > end)
                piece.padding = static_cast<std::uint32_t>(std::min<Address>(piece.bytes, after - end));
    }
}

// -- operations

void TensorLoadTask::read(Cluster& cluster) {
    box_.resize(tile_.bytes());
    tile_.gather(cluster.memory(), box_);
}

void TensorLoadTask::write(Cluster& cluster) { tile_.to_shared(cluster, shared_, box_); }

void TensorStoreTask::read(Cluster& cluster) {
    box_.resize(tile_.bytes());
    tile_.from_shared(cluster, shared_, box_);
}

void TensorStoreTask::write(Cluster& cluster) { tile_.scatter(cluster.memory(), box_, reduction_); }

// -- tensor maps in memory

void report_tensor_map(const Place& place, std::string_view kind, Facts facts, Fault fault) {
    place.report(Finding::tensor_map_invalid, fault, kind, std::move(facts));
}

namespace {

/// The bytes of the map, or nullptr after a report.
const std::byte* map_in_memory(const Place& place, std::uint64_t address) {
    if (in_local_window(address) || in_shared_window(address) || in_code_window(address)) {
        report_tensor_map(place, "map-in-window", {{"space", in_shared_window(address) ? "shared" : "local"}},
                          Fault::illegal_address);
        return nullptr;
    }
    if (address % tensor_map_alignment) {
        report_tensor_map(place, "map-misaligned", {{"address", Hexadecimal{address}}},
                          Fault::misaligned_address);
        return nullptr;
    }
    const std::byte* bytes = place.cluster().global_bytes(address, tensor_map_bytes);
    if (!bytes)
        report_tensor_map(place, "map-nowhere", {{"address", Hexadecimal{address}}}, Fault::illegal_address);
    return bytes;
}

} // namespace

std::optional<TensorMap> load_tensor_map(const Place& place, std::uint64_t address, unsigned rank, bool load,
                                         bool im2col) {
    const std::byte* const memory = map_in_memory(place, address);
    if (!memory)
        return std::nullopt;
    const std::span<const std::byte, tensor_map_bytes> bytes(memory, tensor_map_bytes);
    const TensorMap map = read_tensor_map(bytes);
    const auto fault = tensor_map_fault(map, load, im2col);
    const unsigned alignment = map.interleave == TensorInterleave::bytes32 ? 32 : 16;
    const bool misaligned = map.address % alignment != 0;
    if (!fault && map.rank == rank && !misaligned)
        return map;
    if (!looks_encoded(bytes))
        report_tensor_map(place, "map-not-encoded", {{"address", Hexadecimal{address}}});
    else if (map.rank != rank)
        report_tensor_map(place, "map-rank", {{"rank", rank}, {"of_map", map.rank}});
    else if (fault)
        report_tensor_map(place, "map-flawed", {{"flaw", *fault}});
    else
        report_tensor_map(place, "map-tensor-misaligned",
                          {{"address", Hexadecimal{map.address}}, {"alignment", alignment}},
                          Fault::misaligned_address);
    return std::nullopt;
}

} // namespace emu

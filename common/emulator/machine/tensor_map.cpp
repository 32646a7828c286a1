#include "machine/tensor_map.hpp"
#include "machine/im2col.hpp"

namespace emu {

namespace {

using Error = std::optional<Flaw>;

/// A flaw of one argument.
Flaw wrong(std::string_view kind, std::uint64_t value, Facts more = {}) {
    more.emplace_back("value", value);
    return {kind, std::move(more)};
}

Error modes_error(const TensorMap& m) {
    const auto type = static_cast<unsigned>(m.type), swizzle = static_cast<unsigned>(m.swizzle);
    if (m.type > TensorType::u6x16_align16)
        return wrong("argument-type", type);
    if (element_bytes(m.type) == 0)
        return wrong("argument-packed-type", type);
    if (m.interleave > TensorInterleave::bytes32)
        return wrong("argument-interleave", static_cast<unsigned>(m.interleave));
    if (m.swizzle > TensorSwizzle::bytes128_atom64)
        return wrong("argument-swizzle", swizzle);
    if (m.swizzle > TensorSwizzle::bytes128)
        return wrong("argument-swizzle-atom", swizzle);
    if (m.l2_promotion > 3)
        return wrong("argument-l2-promotion", m.l2_promotion);
    if (m.oob_fill > 1)
        return wrong("argument-fill", m.oob_fill);
    if (m.oob_fill == 1 && !is_floating(m.type))
        return wrong("argument-nan-fill", m.oob_fill, {{"type", name_of(m.type)}});
    return std::nullopt;
}

Error memory_error(const TensorMap& m) {
    const std::uint64_t alignment = m.interleave == TensorInterleave::bytes32 ? 32 : 16;
    if (m.address % alignment)
        return wrong("argument-address-alignment", m.address, {{"alignment", alignment}});
    if (m.address >> 57)
        return wrong("argument-address-range", m.address);
    for (std::size_t i = 0; i < m.rank; ++i)
        if (m.dims[i] == 0 || m.dims[i] > std::uint64_t{1} << 32)
            return wrong("argument-dimension", m.dims[i], {{"i", i}});
    for (std::size_t i = 0; i + 1 < m.rank; ++i) {
        if (m.strides[i] % alignment)
            return wrong("argument-stride-alignment", m.strides[i], {{"i", i}, {"alignment", alignment}});
        if (m.strides[i] >= std::uint64_t{1} << 40)
            return wrong("argument-stride-range", m.strides[i], {{"i", i}});
    }
    return std::nullopt;
}

/// What the hardware wants of the rows of a box, too.
Error row_error(const TensorMap& m) {
    const unsigned inner = m.box[0] * element_bytes(m.type);
    if (inner % 16)
        return wrong(m.im2col ? "argument-channels-size" : "argument-row-size", m.box[0], {{"bytes", inner}});
    const unsigned span = swizzle_bytes(m.swizzle);
    if (m.interleave == TensorInterleave::none && span && inner > span)
        return wrong(m.im2col ? "argument-channels-swizzle" : "argument-row-swizzle", m.box[0],
                     {{"bytes", inner}, {"most", span}});
    return std::nullopt;
}

Error steps_error(const TensorMap& m) {
    for (std::size_t i = 0; i < m.rank; ++i)
        if (m.element_strides[i] == 0 || m.element_strides[i] > 8)
            return wrong("argument-element-stride", m.element_strides[i], {{"i", i}});
    return std::nullopt;
}

/// The driver of an H200 accepts boxes of 228 KiB and refuses 229. It counts whole steps of the element
/// strides, also in dimension 0, where the copy ignores them.
Error size_error(const TensorMap& m) {
    constexpr std::uint64_t most = 228 * 1024;
    if (const std::uint64_t bytes = bytes_in_whole_steps(m); bytes > most)
        return m.im2col
                   ? wrong("argument-column-bytes", m.pixels_per_column, {{"bytes", bytes}, {"most", most}})
                   : wrong("argument-box-bytes", m.box[0], {{"bytes", bytes}, {"most", most}});
    return std::nullopt;
}

/// The corners of an im2col map: their bits are fewer the more there are, and between them lies a pixel.
Error corners_error(const TensorMap& m) {
    const std::int32_t limit = m.rank == 3 ? 1 << 15 : m.rank == 4 ? 1 << 7 : 1 << 4;
    const auto outside = [&](std::int32_t corner) { return corner < -limit || corner >= limit; };
    for (std::size_t i = 0; i + 2 < m.rank; ++i) {
        const std::int32_t lower = m.lower_corner[i], upper = m.upper_corner[i];
        if (outside(lower))
            return Flaw{"argument-lower-corner",
                        {{"value", lower}, {"i", i}, {"least", -limit}, {"most", limit - 1}}};
        if (outside(upper))
            return Flaw{"argument-upper-corner",
                        {{"value", upper}, {"i", i}, {"least", -limit}, {"most", limit - 1}}};
    }
    for (std::size_t i = 0; i + 2 < m.rank; ++i) {
        const std::size_t dimension = box_dimension(m, i);
        // The driver counts with 32 bits and a sign: a dimension of more than 2^31 - 1 holds no pixel.
        if (m.dims[dimension] >> 31)
            return wrong("argument-box-dimension", m.dims[dimension], {{"i", dimension}});
        if (const BoxEdges edges = box_edges(m, i); edges.last < edges.first)
            return Flaw{"argument-empty-box", {{"value", m.upper_corner[i]}, {"i", i}}};
    }
    return std::nullopt;
}

Error pixels_error(const TensorMap& m) {
    if (auto error = corners_error(m))
        return error;
    if (m.box[0] == 0 || m.box[0] > 256)
        return wrong("argument-channels", m.box[0]);
    if (m.pixels_per_column == 0 || m.pixels_per_column > 1024)
        return wrong("argument-pixels", m.pixels_per_column);
    if (auto error = steps_error(m))
        return error;
    if (auto error = row_error(m))
        return error;
    return size_error(m);
}

Error box_error(const TensorMap& m) {
    for (std::size_t i = 0; i < m.rank; ++i)
        if (m.box[i] == 0 || m.box[i] > 256)
            return wrong("argument-box", m.box[i], {{"i", i}});
    if (auto error = steps_error(m))
        return error;
    if (auto error = row_error(m))
        return error;
    return size_error(m);
}

} // namespace

unsigned element_bytes(TensorType type) {
    switch (type) {
    case TensorType::u8:
        return 1;
    case TensorType::u16:
    case TensorType::f16:
    case TensorType::bf16:
        return 2;
    case TensorType::u64:
    case TensorType::s64:
    case TensorType::f64:
        return 8;
    case TensorType::u4x16_align8:
    case TensorType::u4x16_align16:
    case TensorType::u6x16_align16:
        return 0;
    default:
        return 4;
    }
}

unsigned coordinate_bytes(const TensorMap& map) {
    return map.interleave == TensorInterleave::bytes32   ? 32
           : map.interleave == TensorInterleave::bytes16 ? 16
                                                         : element_bytes(map.type);
}

bool is_floating(TensorType type) {
    return type == TensorType::f16 || type == TensorType::f32 || type == TensorType::f64 ||
           type == TensorType::bf16 || type == TensorType::f32_ftz || type == TensorType::tf32 ||
           type == TensorType::tf32_ftz;
}

const char* name_of(TensorType type) {
    static constexpr std::array names{"UINT8",        "UINT16",       "UINT32",        "INT32",
                                      "UINT64",       "INT64",        "FLOAT16",       "FLOAT32",
                                      "FLOAT64",      "BFLOAT16",     "FLOAT32_FTZ",   "TFLOAT32",
                                      "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"};
    const auto i = static_cast<std::size_t>(type);
    return i < names.size() ? names[i] : "unknown";
}

unsigned swizzle_bytes(TensorSwizzle swizzle) {
    switch (swizzle) {
    case TensorSwizzle::none:
        return 0;
    case TensorSwizzle::bytes32:
        return 32;
    case TensorSwizzle::bytes64:
        return 64;
    default:
        return 128;
    }
}

std::uint64_t bytes_in_whole_steps(const TensorMap& map) {
    std::uint64_t bytes = element_bytes(map.type);
    if (map.im2col) // Steps leave out nothing there.
        return bytes * map.box[0] * map.pixels_per_column;
    for (std::size_t i = 0; i < map.rank; ++i)
        bytes *= map.box[i] / map.element_strides[i];
    return bytes;
}

Error tensor_map_error(const TensorMap& map) {
    if (map.rank == 0 || map.rank > 5)
        return wrong("argument-rank", map.rank);
    if (map.im2col && map.rank < 3)
        return wrong("argument-im2col-rank", map.rank);
    if (map.interleave != TensorInterleave::none && map.rank < 3)
        return wrong("argument-interleave-rank", map.rank);
    if (auto error = modes_error(map))
        return error;
    if (auto error = memory_error(map))
        return error;
    return map.im2col ? pixels_error(map) : box_error(map);
}

Error tensor_map_fault(const TensorMap& map, bool load, bool im2col) {
    if (map.im2col != im2col)
        return Flaw{map.im2col ? "flaw-im2col" : "flaw-tiled"};
    if (map.type == TensorType::none)
        return Flaw{"flaw-no-type"};
    if (load && map.rounds_other)
        return Flaw{"flaw-rounding", {{"type", name_of(map.type)}}};
    if (load && map.oob_fill && !is_floating(map.type))
        return Flaw{"flaw-nan-fill", {{"type", name_of(map.type)}}};
    if (map.interleave > TensorInterleave::bytes32)
        return Flaw{"flaw-no-interleave"};
    if (map.interleave != TensorInterleave::none && map.rank < 3)
        return Flaw{"flaw-interleave-rank", {{"rank", map.rank}}};
    // cuTensorMapEncodeTiled takes dimensions of up to 2^32.
    for (std::size_t i = 0; i < map.rank && i < map.dims.size(); ++i)
        if (map.dims[i] > std::uint64_t{1} << 31)
            return wrong("flaw-dimension", map.dims[i], {{"i", i}});
    return row_error(map);
}

} // namespace emu

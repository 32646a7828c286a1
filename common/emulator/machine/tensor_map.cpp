#include "machine/tensor_map.hpp"

#include <cstring>

namespace emu {

namespace {

constexpr std::uint64_t magic = 0x70616d2d726f736eull; ///< "nsor-map" in memory.

/// The 128 bytes. Dimensions are stored less one, because 2^32 and 256 are legal.
struct Layout {
    std::uint64_t magic;
    std::uint64_t address;
    std::uint64_t strides[4];
    std::uint32_t last[5];
    std::uint8_t box_last[5];
    std::uint8_t element_strides[5];
    std::uint8_t type, rank, interleave, swizzle, l2_promotion, oob_fill;
    std::uint8_t unused[36];
    std::uint64_t checksum;
};
static_assert(sizeof(Layout) == tensor_map_bytes);

/// FNV-1a over everything before the checksum.
std::uint64_t checksum_of(const Layout& layout) {
    std::array<unsigned char, offsetof(Layout, checksum)> bytes;
    std::memcpy(bytes.data(), &layout, bytes.size());
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const unsigned char byte : bytes)
        hash = (hash ^ byte) * 0x100000001b3ull;
    return hash;
}

std::string indexed(const char* name, std::size_t i) {
    return std::string(name) + "[" + std::to_string(i) + "]";
}

std::string wrong(const std::string& argument, std::uint64_t value, const std::string& rule) {
    return argument + " = " + std::to_string(value) + ": " + rule;
}

using Error = std::optional<std::string>;

Error modes_error(const TensorMap& m) {
    if (m.type > TensorType::u6x16_align16)
        return wrong("tensorDataType", static_cast<unsigned>(m.type), "is not a CUtensorMapDataType");
    if (element_bytes(m.type) == 0)
        return wrong("tensorDataType", static_cast<unsigned>(m.type),
                     "the packed types need compute capability 10.0");
    if (m.interleave > TensorInterleave::bytes32)
        return wrong("interleave", static_cast<unsigned>(m.interleave), "is not a CUtensorMapInterleave");
    if (m.swizzle > TensorSwizzle::bytes128_atom64)
        return wrong("swizzle", static_cast<unsigned>(m.swizzle), "is not a CUtensorMapSwizzle");
    if (m.swizzle > TensorSwizzle::bytes128)
        return wrong("swizzle", static_cast<unsigned>(m.swizzle),
                     "swizzle atoms of more than 16 bytes need compute capability 10.0");
    if (m.l2_promotion > 3)
        return wrong("l2Promotion", m.l2_promotion, "is not a CUtensorMapL2promotion");
    if (m.oob_fill > 1)
        return wrong("oobFill", m.oob_fill, "is not a CUtensorMapFloatOOBfill");
    if (m.oob_fill == 1 && !is_floating(m.type))
        return wrong("oobFill", m.oob_fill,
                     std::string("NaN fill needs a floating-point type, the tensor is ") + name_of(m.type));
    if (m.interleave == TensorInterleave::bytes32 && m.swizzle != TensorSwizzle::bytes32)
        return wrong("swizzle", static_cast<unsigned>(m.swizzle),
                     "interleave 32B needs CU_TENSOR_MAP_SWIZZLE_32B");
    return std::nullopt;
}

Error memory_error(const TensorMap& m) {
    const std::uint64_t alignment = m.interleave == TensorInterleave::bytes32 ? 32 : 16;
    if (m.address % alignment)
        return wrong("globalAddress", m.address, "must be a multiple of " + std::to_string(alignment));
    for (std::size_t i = 0; i < m.rank; ++i)
        if (m.dims[i] == 0 || m.dims[i] > std::uint64_t{1} << 32)
            return wrong(indexed("globalDim", i), m.dims[i], "must be between 1 and 2^32");
    for (std::size_t i = 0; i + 1 < m.rank; ++i) {
        if (m.strides[i] % alignment)
            return wrong(indexed("globalStrides", i), m.strides[i],
                         "must be a multiple of " + std::to_string(alignment) + " bytes");
        if (m.strides[i] >= std::uint64_t{1} << 40)
            return wrong(indexed("globalStrides", i), m.strides[i], "must be less than 2^40 bytes");
    }
    return std::nullopt;
}

Error box_error(const TensorMap& m) {
    for (std::size_t i = 0; i < m.rank; ++i) {
        if (m.box[i] == 0 || m.box[i] > 256)
            return wrong(indexed("boxDim", i), m.box[i], "must be between 1 and 256");
        if (m.element_strides[i] == 0 || m.element_strides[i] > 8)
            return wrong(indexed("elementStrides", i), m.element_strides[i], "must be between 1 and 8");
    }
    if (m.interleave != TensorInterleave::none)
        return std::nullopt;
    const unsigned inner = m.box[0] * element_bytes(m.type);
    if (inner % 16)
        return wrong("boxDim[0]", m.box[0],
                     "the inner dimension of the box has " + std::to_string(inner) +
                         " bytes, it must be a multiple of 16");
    if (const unsigned span = swizzle_bytes(m.swizzle); span && inner > span)
        return wrong("boxDim[0]", m.box[0],
                     "the inner dimension of the box has " + std::to_string(inner) +
                         " bytes, the swizzle allows " + std::to_string(span));
    // The driver of an H200 accepts boxes of 228 KiB and refuses 229; what a stride skips does not count.
    constexpr std::uint64_t most = 228 * 1024;
    std::uint64_t bytes = inner;
    for (std::size_t i = 1; i < m.rank; ++i)
        bytes *= (m.box[i] + m.element_strides[i] - 1) / m.element_strides[i];
    if (bytes > most)
        return wrong("boxDim", m.box[0],
                     "the box has " + std::to_string(bytes) + " bytes, more than shared memory's " +
                         std::to_string(most));
    return std::nullopt;
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

Error tensor_map_error(const TensorMap& map) {
    if (map.rank == 0 || map.rank > 5)
        return wrong("tensorRank", map.rank, "must be between 1 and 5");
    if (map.interleave != TensorInterleave::none && map.rank < 3)
        return wrong("tensorRank", map.rank, "interleaved layouts need at least 3 dimensions");
    if (auto error = modes_error(map))
        return error;
    if (auto error = memory_error(map))
        return error;
    return box_error(map);
}

Error encode_tensor_map(const TensorMap& map, std::span<std::byte, tensor_map_bytes> out) {
    auto error = tensor_map_error(map);
    if (!error)
        write_tensor_map(map, out);
    return error;
}

void write_tensor_map(const TensorMap& map, std::span<std::byte, tensor_map_bytes> out) {
    Layout layout{};
    layout.magic = magic;
    layout.address = map.address;
    for (std::size_t i = 0; i < 4; ++i)
        layout.strides[i] = map.strides[i];
    for (std::size_t i = 0; i < 5; ++i) {
        layout.last[i] = static_cast<std::uint32_t>(map.dims[i] - 1);
        layout.box_last[i] = static_cast<std::uint8_t>(map.box[i] - 1);
        layout.element_strides[i] = static_cast<std::uint8_t>(map.element_strides[i]);
    }
    layout.type = static_cast<std::uint8_t>(map.type);
    layout.rank = static_cast<std::uint8_t>(map.rank);
    layout.interleave = static_cast<std::uint8_t>(map.interleave);
    layout.swizzle = static_cast<std::uint8_t>(map.swizzle);
    layout.l2_promotion = map.l2_promotion;
    layout.oob_fill = map.oob_fill;
    layout.checksum = checksum_of(layout);
    std::memcpy(out.data(), &layout, sizeof layout);
}

std::optional<TensorMap> read_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes) {
    Layout layout;
    std::memcpy(&layout, bytes.data(), sizeof layout);
    if (layout.magic != magic || layout.checksum != checksum_of(layout))
        return std::nullopt;
    TensorMap map;
    map.address = layout.address;
    for (std::size_t i = 0; i < 4; ++i)
        map.strides[i] = layout.strides[i];
    for (std::size_t i = 0; i < 5; ++i) {
        map.dims[i] = std::uint64_t{layout.last[i]} + 1;
        map.box[i] = std::uint32_t{layout.box_last[i]} + 1;
        map.element_strides[i] = layout.element_strides[i];
    }
    map.type = static_cast<TensorType>(layout.type);
    map.rank = layout.rank;
    map.interleave = static_cast<TensorInterleave>(layout.interleave);
    map.swizzle = static_cast<TensorSwizzle>(layout.swizzle);
    map.l2_promotion = layout.l2_promotion;
    map.oob_fill = layout.oob_fill;
    return map;
}

} // namespace emu

#include "machine/tensor_map.hpp"

namespace emu {

namespace {

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
    return std::nullopt;
}

Error memory_error(const TensorMap& m) {
    const std::uint64_t alignment = m.interleave == TensorInterleave::bytes32 ? 32 : 16;
    if (m.address % alignment)
        return wrong("globalAddress", m.address, "must be a multiple of " + std::to_string(alignment));
    if (m.address >> 57)
        return wrong("globalAddress", m.address, "must be less than 2^57");
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

/// What the hardware wants of the rows of a box, too.
Error row_error(const TensorMap& m) {
    const unsigned inner = m.box[0] * element_bytes(m.type);
    if (inner % 16)
        return wrong("boxDim[0]", m.box[0],
                     "the inner dimension of the box has " + std::to_string(inner) +
                         " bytes, it must be a multiple of 16");
    const unsigned span = swizzle_bytes(m.swizzle);
    if (m.interleave == TensorInterleave::none && span && inner > span)
        return wrong("boxDim[0]", m.box[0],
                     "the inner dimension of the box has " + std::to_string(inner) +
                         " bytes, the swizzle allows " + std::to_string(span));
    return std::nullopt;
}

Error box_error(const TensorMap& m) {
    for (std::size_t i = 0; i < m.rank; ++i) {
        if (m.box[i] == 0 || m.box[i] > 256)
            return wrong(indexed("boxDim", i), m.box[i], "must be between 1 and 256");
        if (m.element_strides[i] == 0 || m.element_strides[i] > 8)
            return wrong(indexed("elementStrides", i), m.element_strides[i], "must be between 1 and 8");
    }
    if (auto error = row_error(m))
        return error;
    // The driver of an H200 accepts boxes of 228 KiB and refuses 229. It counts whole steps of the element
    // strides, also in dimension 0, where the copy ignores them.
    constexpr std::uint64_t most = 228 * 1024;
    if (const std::uint64_t bytes = bytes_in_whole_steps(m); bytes > most)
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
    for (std::size_t i = 0; i < map.rank; ++i)
        bytes *= map.box[i] / map.element_strides[i];
    return bytes;
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

Error tensor_map_fault(const TensorMap& map, bool load) {
    if (map.im2col)
        return "it is a map for im2col mode, and the copy is in tile mode";
    if (map.type == TensorType::none)
        return "its bits stand for no type of elements";
    if (load && map.rounds_other)
        return std::string("it asks for rounding to TF32, its elements are ") + name_of(map.type);
    if (load && map.oob_fill && !is_floating(map.type))
        return std::string("its NaN fill needs a floating-point type, its elements are ") + name_of(map.type);
    if (map.interleave > TensorInterleave::bytes32)
        return "its bits stand for no interleave";
    if (map.interleave != TensorInterleave::none && map.rank < 3)
        return "interleaved layouts need at least 3 dimensions, it has " + std::to_string(map.rank);
    // cuTensorMapEncodeTiled takes dimensions of up to 2^32.
    for (std::size_t i = 0; i < map.rank && i < map.dims.size(); ++i)
        if (map.dims[i] > std::uint64_t{1} << 31)
            return wrong(indexed("globalDim", i), map.dims[i], "no copy takes more than 2^31");
    return row_error(map);
}

Error encode_tensor_map(const TensorMap& map, std::span<std::byte, tensor_map_bytes> out) {
    auto error = tensor_map_error(map);
    if (!error)
        write_tensor_map(map, out);
    return error;
}

} // namespace emu

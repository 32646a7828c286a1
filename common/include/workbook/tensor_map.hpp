/// @file tensor_map.hpp
/// Makes tensor maps (CUtensorMap), the descriptions from which tensor copies compute all their addresses.
///
/// The driver only answers 'invalid value' to a wrong argument, so every rule of cuTensorMapEncodeTiled (CUDA
/// driver API, 'Tensor Map Object Management') is checked before it is asked, and no other: what is refused
/// here is what the driver of an H200 refused (tests/hardware/tensor_maps.txt). So a stride may be smaller
/// than what it steps over: {64, height, width / 64} with the strides {pitch, 64 elements} is a matrix cut
/// into panels of 64 columns. Arrays are innermost dimension first: x before y. The driver library is not
/// linked; the runtime hands out its entry point.
///
/// The driver takes dimensions of up to 2^32, but with more than 2^31 an H200 ends every copy with an illegal
/// instruction.
///
/// Alignment has two ends. In global memory the tensor begins at a multiple of 16 bytes and each stride is
/// one (32 with Interleave::bytes32). The programming guide asks for 128 with a swizzle; an H200 copied
/// tensors at any multiple of 16 rightly in every mode (docs/measurements/h200_behaviour.md). In shared
/// memory the tile begins at a multiple of 128 bytes; swizzle_period() says where its pattern begins.
#pragma once

#include "check.hpp"
#include "swizzle.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace workbook {

/// How channels are interleaved in memory, numbered as CUtensorMapInterleave.
enum class Interleave : std::uint8_t { none, bytes16, bytes32 };

/// The size in which the L2 cache fetches what a copy reads, numbered as CUtensorMapL2promotion.
enum class L2Promotion : std::uint8_t { none, bytes64, bytes128, bytes256 };

/// What a load writes for elements outside of the tensor, numbered as CUtensorMapFloatOOBfill.
enum class OutOfBounds : std::uint8_t { zero, nan };

/// A tensor in global memory and the box that one copy moves, innermost dimension first.
template <std::size_t rank>
struct TensorLayout {
    static_assert(rank >= 1 && rank <= 5, "tensors have 1 to 5 dimensions");

    /// Every element of the box.
    static constexpr std::array<std::uint32_t, rank> each_element() {
        std::array<std::uint32_t, rank> ones{};
        ones.fill(1);
        return ones;
    }

    std::array<std::uint64_t, rank> dims{};        ///< elements; 1 to 2^32
    std::array<std::uint64_t, rank - 1> strides{}; ///< BYTES from one index of dimension i + 1 to the next
    std::array<std::uint32_t, rank> box{};         ///< elements that are stepped over; 1 to 256
    /// The step, 1 to 8. In dimension 0 it takes effect with an interleave only: without, each element is
    /// moved.
    std::array<std::uint32_t, rank> element_strides = each_element();
    Interleave interleave = Interleave::none;
    Swizzle swizzle = Swizzle::none;
    L2Promotion l2_promotion = L2Promotion::none;
    OutOfBounds out_of_bounds = OutOfBounds::zero;

    /// Elements of dimension i that a copy moves.
    [[nodiscard]] constexpr std::uint32_t count(std::size_t i) const {
        if (i == 0 && interleave == Interleave::none)
            return box[0];
        return (box[i] + element_strides[i] - 1) / element_strides[i];
    }

    /// Elements that a copy moves into shared memory and counts on its barrier, however many of them lie
    /// outside of the tensor.
    [[nodiscard]] constexpr std::size_t count() const {
        std::size_t elements = 1;
        for (std::size_t i = 0; i < rank; ++i)
            elements *= count(i);
        return elements;
    }
};

/// Bytes of shared memory that a tile of elements T needs, if nothing is interleaved. With a swizzle that is
/// more than what the copy moves and counts when the rows are narrower than the mode: each row takes
/// box_row_pitch().
template <class T, std::size_t rank>
[[nodiscard]] constexpr std::size_t tile_bytes(const TensorLayout<rank>& layout) {
    const auto row_bytes = static_cast<std::uint32_t>(layout.count(0) * sizeof(T));
    return layout.count() / layout.count(0) * box_row_pitch(row_bytes, layout.swizzle);
}

/// The driver's name of element type T. Tensor maps do not know signed integers of 8 and 16 bits; as long as
/// nothing is added, bits are bits.
template <class T>
[[nodiscard]] constexpr CUtensorMapDataType tensor_data_type() {
    if constexpr (std::same_as<T, float>)
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    else if constexpr (std::same_as<T, double>)
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    else if constexpr (std::same_as<T, __half>)
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    else if constexpr (std::same_as<T, __nv_bfloat16>)
        return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    else {
        static_assert(std::is_integral_v<T> || std::same_as<T, std::byte>,
                      "tensor maps have integers, float, double, __half and __nv_bfloat16");
        if constexpr (sizeof(T) == 1)
            return CU_TENSOR_MAP_DATA_TYPE_UINT8;
        else if constexpr (sizeof(T) == 2)
            return CU_TENSOR_MAP_DATA_TYPE_UINT16;
        else if constexpr (sizeof(T) == 4)
            return std::is_signed_v<T> ? CU_TENSOR_MAP_DATA_TYPE_INT32 : CU_TENSOR_MAP_DATA_TYPE_UINT32;
        else
            return std::is_signed_v<T> ? CU_TENSOR_MAP_DATA_TYPE_INT64 : CU_TENSOR_MAP_DATA_TYPE_UINT64;
    }
}

/// True for the element types that can be filled with NaN.
template <class T>
[[nodiscard]] constexpr bool is_tensor_float() {
    return std::is_floating_point_v<T> || std::same_as<T, __half> || std::same_as<T, __nv_bfloat16>;
}

/// A tensor map that cannot be made. what() is one line: where it was asked for, which argument, its value,
/// the rule.
class TensorMapError : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// The parts of tensor_map_problem: each returns the first broken rule, or nothing.
namespace tensor_map_rules {

/// 'name[i] = value: rule'.
inline std::string broken(const char* name, std::size_t i, std::uint64_t value, const std::string& rule) {
    return std::string(name) + "[" + std::to_string(i) + "] = " + std::to_string(value) + ": " + rule;
}

/// Base address, dimensions and strides. Elements may overlap and strides need not grow: a map may cut rows
/// into pieces that lie side by side in memory.
template <std::size_t rank>
std::string memory(std::uintptr_t base, const TensorLayout<rank>& layout) {
    const std::size_t alignment = layout.interleave == Interleave::bytes32 ? 32 : 16;
    const std::string multiple = "must be a multiple of " + std::to_string(alignment) + " bytes";
    if (base % alignment != 0)
        return "base = " + std::to_string(base) + ": the address of the tensor " + multiple;
    if (base >> 57 != 0)
        return "base = " + std::to_string(base) + ": must be less than 2^57";
    for (std::size_t i = 0; i < rank; ++i)
        if (layout.dims[i] == 0 || layout.dims[i] > std::uint64_t{1} << 32)
            return broken("dims", i, layout.dims[i], "a dimension has 1 to 2^32 elements");
    for (std::size_t i = 0; i + 1 < rank; ++i) {
        const std::uint64_t stride = layout.strides[i];
        if (stride % alignment != 0)
            return broken("strides", i, stride,
                          multiple + (stride == layout.dims[i] ? "; strides count bytes, not elements"
                                                               : "; pad the rows of the tensor"));
        if (stride >= std::uint64_t{1} << 40)
            return broken("strides", i, stride, "must be less than 2^40 bytes");
    }
    return {};
}

/// Box and steps.
template <std::size_t rank>
std::string box(const TensorLayout<rank>& layout, std::size_t element_bytes) {
    for (std::size_t i = 0; i < rank; ++i) {
        if (layout.box[i] == 0 || layout.box[i] > 256)
            return broken("box", i, layout.box[i], "a box has 1 to 256 elements in a dimension");
        if (layout.element_strides[i] == 0 || layout.element_strides[i] > 8)
            return broken("element_strides", i, layout.element_strides[i], "must be 1 to 8");
    }
    const std::size_t inner = layout.box[0] * element_bytes;
    const std::string has = "the inner dimension of the box has " + std::to_string(inner) + " bytes, ";
    if (inner % 16 != 0)
        return broken("box", 0, layout.box[0], has + "it must be a multiple of 16");
    if (layout.interleave == Interleave::none && layout.swizzle != Swizzle::none &&
        inner > swizzle_width(layout.swizzle))
        return broken("box", 0, layout.box[0],
                      has + "this swizzle takes at most " + std::to_string(swizzle_width(layout.swizzle)));
    // Found with an H200's driver; the manual does not state it. It counts whole steps only.
    constexpr std::size_t most = 228 * 1024;
    std::size_t bytes = element_bytes;
    for (std::size_t i = 0; i < rank; ++i)
        bytes *= layout.box[i] / layout.element_strides[i];
    if (bytes > most)
        return "box: it has " + std::to_string(bytes) + " bytes, shared memory holds " + std::to_string(most);
    return {};
}

/// What belongs together or does not.
template <std::size_t rank>
std::string modes(const TensorLayout<rank>& layout, bool floating) {
    if (layout.interleave > Interleave::bytes32)
        return "interleave: not a mode";
    if (layout.swizzle > Swizzle::bytes128)
        return "swizzle: not a mode of compute capability 9.0";
    if (layout.l2_promotion > L2Promotion::bytes256)
        return "l2_promotion: not a size";
    if (layout.out_of_bounds > OutOfBounds::nan)
        return "out_of_bounds: not a fill";
    if (layout.interleave != Interleave::none && rank < 3)
        return "interleave: an interleaved tensor has at least 3 dimensions, this one has " +
               std::to_string(rank);
    if (layout.out_of_bounds == OutOfBounds::nan && !floating)
        return "out_of_bounds: only floating-point elements can be filled with NaN";
    return {};
}

} // namespace tensor_map_rules

/// Which argument breaks which rule of cuTensorMapEncodeTiled, as one line; empty if the map can be made.
template <class T, std::size_t rank>
[[nodiscard]] std::string tensor_map_problem(const T* base, const TensorLayout<rank>& layout) {
    std::string problem = tensor_map_rules::modes(layout, is_tensor_float<T>());
    if (problem.empty())
        problem = tensor_map_rules::memory(reinterpret_cast<std::uintptr_t>(base), layout);
    return problem.empty() ? tensor_map_rules::box(layout, sizeof(T)) : problem;
}

/// The driver's cuTensorMapEncodeTiled. Throws CudaError or std::runtime_error if it has none.
[[nodiscard]] inline PFN_cuTensorMapEncodeTiled_v12000
tensor_map_encoder(const std::source_location& where = std::source_location::current()) {
    constexpr unsigned since = 12000; // CUDA 12.0
    void* function = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, since, cudaEnableDefault,
                                           &found),
          "looking for cuTensorMapEncodeTiled", where);
    if (found != cudaDriverEntryPointSuccess || function == nullptr)
        throw std::runtime_error(
            "the driver has no cuTensorMapEncodeTiled: it must be one of CUDA 12.0 or newer");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

/// Makes the tensor map of a tensor at `base` in device memory. Kernels take it as a
/// `const __grid_constant__ CUtensorMap` parameter. Throws TensorMapError if an argument is wrong.
/// @param base   address of the first element; a multiple of 16 bytes
/// @param layout the tensor and the box
/// @param where  filled in by the compiler: the line to name in an error
template <class T, std::size_t rank>
[[nodiscard]] CUtensorMap
make_tensor_map(const T* base, const TensorLayout<rank>& layout,
                const std::source_location& where = std::source_location::current()) {
    const auto refuse = [&](const std::string& why) {
        throw TensorMapError("tensor map at " + std::string(where.file_name()) + ":" +
                             std::to_string(where.line()) + ": " + why);
    };
    if (const std::string problem = tensor_map_problem(base, layout); !problem.empty())
        refuse(problem);
    CUtensorMap map{};
    // A tensor of rank 1 has no strides, but the driver refuses a null pointer all the same.
    const std::uint64_t no_strides = 0;
    const CUresult result = tensor_map_encoder(where)(
        &map, tensor_data_type<T>(), rank, const_cast<T*>(base), layout.dims.data(),
        rank > 1 ? layout.strides.data() : &no_strides, layout.box.data(), layout.element_strides.data(),
        static_cast<CUtensorMapInterleave>(layout.interleave),
        static_cast<CUtensorMapSwizzle>(layout.swizzle),
        static_cast<CUtensorMapL2promotion>(layout.l2_promotion),
        static_cast<CUtensorMapFloatOOBfill>(layout.out_of_bounds));
    if (result != CUDA_SUCCESS)
        refuse("the driver refused it with CUresult " + std::to_string(result));
    return map;
}

} // namespace workbook

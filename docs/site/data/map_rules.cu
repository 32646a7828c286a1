/// @file map_rules.cu
/// Writes the data of the interactive picture of a tensor map's rules: descriptions of tensors, what the
/// driver answered to each, and which rule this book's builder says is broken. Nothing is launched.
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda_bf16.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using workbook::Swizzle;
using workbook::TensorLayout;

/// A description with room for three dimensions, as the picture's fields have it.
struct Case {
    int element_bytes = 4; ///< 1, 2 or 4: uint8, bf16, float
    int rank = 2;
    std::array<std::uint64_t, 3> dims{100, 60, 8};
    std::array<std::uint64_t, 2> strides{400, 24000}; ///< bytes
    std::array<std::uint32_t, 3> box{32, 16, 2};
    std::array<std::uint32_t, 3> steps{1, 1, 1};
    Swizzle swizzle = Swizzle::none;
};

template <class T, std::size_t rank>
TensorLayout<rank> layout_of(const Case& given) {
    TensorLayout<rank> layout;
    for (std::size_t i = 0; i < rank; ++i) {
        layout.dims[i] = given.dims[i];
        layout.box[i] = given.box[i];
        layout.element_strides[i] = given.steps[i];
        if (i + 1 < rank)
            layout.strides[i] = given.strides[i];
    }
    layout.swizzle = given.swizzle;
    return layout;
}

template <std::size_t size, class T>
std::string list(const std::array<T, size>& values, std::size_t count) {
    std::string joined;
    for (std::size_t i = 0; i < count; ++i)
        joined += (i == 0 ? "" : ",") + std::to_string(values[i]);
    return "[" + joined + "]";
}

/// The case as JSON, with the driver's answer, the builder's, and the bytes that a copy would count.
template <class T, std::size_t rank>
std::string answered(const Case& given, const T* base) {
    const TensorLayout<rank> layout = layout_of<T, rank>(given);
    const std::uint64_t no_strides = 0;
    CUtensorMap map{};
    const CUresult result = workbook::tensor_map_encoder()(
        &map, workbook::tensor_data_type<T>(), rank, const_cast<T*>(base), layout.dims.data(),
        rank > 1 ? layout.strides.data() : &no_strides, layout.box.data(), layout.element_strides.data(),
        CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(layout.swizzle),
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return "\n{\"element_bytes\":" + std::to_string(sizeof(T)) + ",\"rank\":" + std::to_string(rank) +
           ",\"dims\":" + list(given.dims, rank) + ",\"strides\":" + list(given.strides, rank - 1) +
           ",\"box\":" + list(given.box, rank) + ",\"steps\":" + list(given.steps, rank) +
           ",\"swizzle\":" + std::to_string(static_cast<int>(given.swizzle)) +
           ",\"driver\":" + std::to_string(result) + ",\"builder\":\"" +
           workbook::tensor_map_problem(base, layout) + "\",\"counted\":" +
           (result == CUDA_SUCCESS ? std::to_string(layout.count() * sizeof(T)) : "null") + "}";
}

template <class T>
std::string answered(const Case& given, const std::byte* base) {
    const T* typed = reinterpret_cast<const T*>(base);
    return given.rank == 1   ? answered<T, 1>(given, typed)
           : given.rank == 2 ? answered<T, 2>(given, typed)
                             : answered<T, 3>(given, typed);
}

/// The first ones are the picture's questions; the others are there to compare its rules with these answers.
std::vector<Case> cases() {
    return {
        {},
        {.strides{100}},
        {.dims{99, 60}, .strides{396}},
        {.dims{99, 60}, .strides{400}},
        {.box{30, 16}},
        {.box{32, 300}},
        {.box{32, 16}, .swizzle = Swizzle::bytes64},
        {.box{16, 16}, .swizzle = Swizzle::bytes64},
        {.element_bytes = 2, .dims{100, 60}, .strides{208}, .box{32, 16}, .swizzle = Swizzle::bytes64},
        {.box{256, 256}},
        {.dims{100, 60}, .strides{0}},
        {.dims{20, 60}, .box{32, 16}},
        {.box{32, 16}, .steps{1, 9}},
        {.rank = 3, .dims{16, 60, 6}, .strides{400, 64}, .box{16, 16, 6}},
        // From here on only for comparison.
        {.rank = 1, .dims{1000}, .box{256}},
        {.rank = 1, .dims{1000}, .box{257}},
        {.rank = 1, .dims{0}, .box{4}},
        {.rank = 1, .dims{7}, .box{3}},
        {.rank = 1, .dims{std::uint64_t{1} << 32}, .box{4}},
        {.rank = 1, .dims{(std::uint64_t{1} << 32) + 1}, .box{4}},
        {.dims{100, 0}},
        {.strides{(std::uint64_t{1} << 40) - 16}},
        {.strides{std::uint64_t{1} << 40}},
        {.strides{8}},
        {.box{0, 16}},
        {.box{32, 0}},
        {.box{4, 1}},
        {.steps{0, 1}},
        {.steps{8, 8}},
        {.steps{1, 3}},
        {.box{256, 256}, .steps{1, 2}},
        {.box{228, 256}},
        {.box{232, 256}},
        {.element_bytes = 1, .strides{112}, .box{100, 16}},
        {.element_bytes = 1, .strides{112}, .box{112, 16}},
        {.element_bytes = 1, .strides{112}, .box{128, 16}, .swizzle = Swizzle::bytes128},
        {.element_bytes = 1, .strides{112}, .box{144, 16}, .swizzle = Swizzle::bytes128},
        {.element_bytes = 2, .strides{200}, .box{32, 16}},
        {.element_bytes = 2, .strides{208}, .box{12, 16}},
        {.box{16, 16}, .swizzle = Swizzle::bytes32},
        {.rank = 3},
        {.rank = 3, .strides{400, 24008}},
        {.rank = 3, .box{64, 64, 16}},
        {.rank = 3, .steps{1, 2, 2}},
        {.rank = 3, .dims{100, 60, 8}, .strides{100, 60}, .box{30, 300, 2}, .steps{1, 9, 1}},
    };
}

void write() {
    const workbook::DeviceBuffer<std::byte> tensor(1024);
    std::string joined;
    for (const Case& each : cases())
        joined += (joined.empty() ? "" : ",") +
                  (each.element_bytes == 1   ? answered<std::uint8_t>(each, tensor.data())
                   : each.element_bytes == 2 ? answered<__nv_bfloat16>(each, tensor.data())
                                             : answered<float>(each, tensor.data()));
    std::cout << "{\"asked\":14,\"cases\":[" << joined << "]}\n";
}

} // namespace

int main() {
    try {
        write();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "map_rules: " << error.what() << '\n';
        return 1;
    }
}

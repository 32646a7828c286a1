/// @file matrix.hpp
/// A matrix in device memory as a tensor map wants it: rows one after the other, each 16-byte aligned.
#pragma once

#ifndef __CUDACC_RTC__ // device code that is compiled alone has no host
#include <algorithm>
#include <cmath>
#include <span>
#endif

#include <concepts>
#include <cstddef>
#include <type_traits>

// No function can do this: nvcc knows the words, other compilers do not. Undefined again below.
#ifdef __CUDACC__
#define WORKBOOK_HOST_DEVICE __host__ __device__
#else
#define WORKBOOK_HOST_DEVICE
#endif

namespace workbook {

/// The fewest elements of T from row to row that are a multiple of 16 bytes and hold `width` elements.
/// Source: CUDA driver API, cuTensorMapEncodeTiled, globalStrides.
template <class T>
[[nodiscard]] WORKBOOK_HOST_DEVICE constexpr std::size_t row_pitch(std::size_t width) {
    static_assert(16 % sizeof(T) == 0, "the size of an element divides 16");
    constexpr std::size_t per_16_bytes = 16 / sizeof(T);
    return (width + per_16_bytes - 1) / per_16_bytes * per_16_bytes;
}

/// A view of a matrix. Element (x, y) is data[y * pitch + x]; what lies between width and pitch belongs to
/// nobody.
template <class T>
struct Matrix {
    T* data = nullptr;
    std::size_t width = 0;  ///< elements in a row
    std::size_t height = 0; ///< rows
    std::size_t pitch = 0;  ///< elements from the start of a row to the start of the next

    [[nodiscard]] WORKBOOK_HOST_DEVICE constexpr bool empty() const { return width == 0 || height == 0; }

    /// A view that does not write.
    template <class U>
    requires(std::same_as<U, const T> && !std::is_const_v<T>) WORKBOOK_HOST_DEVICE constexpr
    operator Matrix<U>() const {
        return {data, width, height, pitch};
    }
};

/// Width and height of a matrix.
struct Shape {
    std::size_t width = 0;
    std::size_t height = 0;

    /// Elements of T that such a matrix takes, each row padded to a multiple of 16 bytes.
    template <class T>
    [[nodiscard]] WORKBOOK_HOST_DEVICE constexpr std::size_t padded_size() const {
        return row_pitch<T>(width) * height;
    }

    /// A view of padded_size() elements.
    template <class T>
    [[nodiscard]] WORKBOOK_HOST_DEVICE constexpr Matrix<T> view(T* data) const {
        return {data, width, height, row_pitch<T>(width)};
    }
};

#ifndef __CUDACC_RTC__

/// Takes what lies behind each row's last element from `actual` into `expected`: a comparison of the two then
/// sees elements only. Both hold a matrix of this shape, perhaps with more behind it. Needed where tensor
/// stores wrote: they clip a row only at the next multiple of 16 bytes, so they overwrite its padding.
template <class T>
void adopt_padding(std::span<T> expected, std::span<const T> actual, Shape shape) {
    const std::size_t pitch = row_pitch<T>(shape.width);
    for (std::size_t y = 0; y < shape.height; ++y)
        for (std::size_t x = shape.width; x < pitch; ++x)
            expected[y * pitch + x] = actual[y * pitch + x];
}

/// A matrix of at most `size` elements, about twice as wide as high: never square where it could be.
[[nodiscard]] inline Shape shape_of(std::size_t size) {
    const auto half = static_cast<std::size_t>(std::sqrt(static_cast<double>(size) / 2));
    const std::size_t height = std::max<std::size_t>(half, 1);
    return {size / height, height};
}

#endif

} // namespace workbook

#undef WORKBOOK_HOST_DEVICE

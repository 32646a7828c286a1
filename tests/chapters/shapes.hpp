/// @file shapes.hpp
/// The shapes at which the kernels of matrices are tested, and random matrices whose padding is watched.
#pragma once

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/matrix.hpp"
#include "workbook/random.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Empty, one element, one row, one column, around the sides of the tiles (8 to 64 × 16 or 32), several
/// tiles; never square but for one element.
inline constexpr std::array<workbook::Shape, 17> test_shapes{{{0, 0},
                                                              {0, 5},
                                                              {5, 0},
                                                              {1, 1},
                                                              {1, 37},
                                                              {91, 1},
                                                              {7, 33},
                                                              {8, 32},
                                                              {17, 31},
                                                              {33, 16},
                                                              {63, 15},
                                                              {64, 16},
                                                              {65, 17},
                                                              {32, 96},
                                                              {130, 66},
                                                              {3, 200},
                                                              {301, 47}}};

/// Calls `test(shape)` for all of them; a failure names the shape.
template <class Test>
void for_each_shape(Test test) {
    for (const workbook::Shape shape : test_shapes) {
        INFO(shape.width << " x " << shape.height);
        test(shape);
    }
}

/// A matrix on the device and its host twin, rows padded to 16 bytes, the padding random too: whoever does
/// not write with tensor stores must leave it alone.
template <class T>
class TestMatrix {
  public:
    TestMatrix(workbook::Shape shape, std::vector<T> values)
        : shape_(shape), host_(std::move(values)), device_(host_) {}
    TestMatrix(workbook::Shape shape, std::uint64_t seed)
        : TestMatrix(shape, workbook::random_values<T>(shape.padded_size<T>(), seed)) {}

    [[nodiscard]] workbook::Shape shape() const { return shape_; }
    [[nodiscard]] workbook::Matrix<T> device() { return shape_.view(device_.data()); }

    /// The host twin: first what was uploaded, then what the test makes of it.
    [[nodiscard]] T& at(std::size_t x, std::size_t y) {
        return host_[y * workbook::row_pitch<T>(shape_.width) + x];
    }

    /// The element of the host twin, or `outside` where the matrix has none.
    [[nodiscard]] T at_or(long long x, long long y, T outside) const {
        const auto width = static_cast<long long>(shape_.width);
        const bool inside = x >= 0 && y >= 0 && x < width && y < static_cast<long long>(shape_.height);
        const auto pitch = static_cast<long long>(workbook::row_pitch<T>(shape_.width));
        return inside ? host_[static_cast<std::size_t>(y * pitch + x)] : outside;
    }

    /// Sets each element of the host twin to value(x, y).
    template <class Value>
    void fill(Value value) {
        for (std::size_t y = 0; y < shape_.height; ++y)
            for (std::size_t x = 0; x < shape_.width; ++x)
                at(x, y) = value(x, y);
    }

    /// The same after tensor stores, which overwrite the padding.
    void check_elements() {
        workbook::adopt_padding<T>(host_, device_.download(), shape_);
        check();
    }

    /// Compares the device with the host twin, padding and guard zones included, bit for bit.
    void check() const {
        CHECK(workbook::compare_bits<T>(host_, device_.download()).summary() == "ok");
        CHECK(device_.check_guards() == "");
    }

  private:
    workbook::Shape shape_;
    std::vector<T> host_;
    workbook::DeviceBuffer<T> device_;
};

/// @file bench_data.cuh
/// What this chapter's measurements share: a random matrix on the device, and a comparison of results.
#pragma once

#include "roles.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/matrix.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roles {

inline constexpr std::size_t sms = 132; ///< of an H200: widths are multiples of so many panels

/// A random matrix on the device.
struct Words {
    Words(std::size_t width, std::size_t height)
        : shape{width, height}, words(shape.padded_size<unsigned>()) {
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(words.size()),
                         words.data(), words.size());
    }
    workbook::Shape shape;
    workbook::DeviceBuffer<unsigned> words;

    [[nodiscard]] Matrix<const unsigned> matrix() const { return shape.view<const unsigned>(words.data()); }
    [[nodiscard]] std::size_t bytes() const { return words.size_bytes(); }
};

/// Reports the result as wrong unless `out` holds what `expected` does.
inline void compare(workbook::Bench& bench, const workbook::DeviceBuffer<unsigned>& expected,
                    const workbook::DeviceBuffer<unsigned>& out, const std::string& what) {
    workbook::DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    workbook::launch(workbook::count_different<unsigned>, workbook::striding(out.size()), expected.data(),
                     out.data(), out.size(), wrong.data());
    if (wrong.download().front() > 0)
        bench.wrong(what + " computes something else");
}

} // namespace roles

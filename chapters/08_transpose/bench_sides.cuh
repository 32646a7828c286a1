/// @file bench_sides.cuh
/// The two matrices of a measurement of chapter 8.
#pragma once

#include "transpose.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace transpose {

using workbook::Bench;

/// A matrix of random bits, and room for the transposed one.
template <class T>
class Sides {
  public:
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;

    explicit Sides(Extent extent) : extent_(extent), in_(extent.size()), out_(extent.size()), wrong_(1) {
        workbook::launch(workbook::fill_random_words<Word>, workbook::striding(in_.size()), in_.data(),
                         in_.size());
    }
    [[nodiscard]] std::span<const T> in() { return {reinterpret_cast<const T*>(in_.data()), in_.size()}; }
    [[nodiscard]] std::span<T> out() { return {reinterpret_cast<T*>(out_.data()), out_.size()}; }
    [[nodiscard]] Extent extent() const { return extent_; }
    [[nodiscard]] std::size_t bytes() const { return 2 * in_.size_bytes(); }
    void poison() { out_.poison(); }

    [[nodiscard]] unsigned long long wrong_words() {
        wrong_.upload(std::vector<unsigned long long>{0});
        workbook::launch(workbook::count_not_transposed<Word>, workbook::striding(out_.size()), out_.data(),
                         extent_.rows, extent_.columns, wrong_.data());
        return wrong_.download().front();
    }

  private:
    Extent extent_;
    workbook::DeviceBuffer<Word> in_;
    workbook::DeviceBuffer<Word> out_;
    workbook::DeviceBuffer<unsigned long long> wrong_;
};

} // namespace transpose

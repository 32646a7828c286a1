/// @file bench_data.cuh
/// Random data that the device makes and checks itself: gigabytes would take the host longer than the
/// measurement.
#pragma once

#include "launch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace workbook {

/// 32 random bits for index i: the finaliser of SplitMix64 (see random.hpp).
[[nodiscard]] __host__ __device__ inline std::uint32_t random_word(std::uint64_t i) {
    std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::uint32_t>(z ^ (z >> 31));
}

/// words[i] = random_word(i).
template <class Word>
__global__ void fill_random_words(Word* words, std::size_t count) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        words[i] = static_cast<Word>(random_word(i));
}

/// Adds to *wrong how many words are not the random words of a matrix of rows × columns, transposed.
template <class Word>
__global__ void count_not_transposed(const Word* words, std::size_t rows, std::size_t columns,
                                     unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * columns; i += step) {
        const std::size_t column = i / rows;
        const std::size_t row = i - column * rows;
        mine += words[i] != static_cast<Word>(random_word(row * columns + column));
    }
    if (mine > 0)
        atomicAdd(wrong, mine);
}

/// Adds to *wrong how many words differ from the other array's.
template <class Word>
__global__ void count_different(const Word* words, const Word* expected, std::size_t count,
                                unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        mine += words[i] != expected[i];
    if (mine > 0)
        atomicAdd(wrong, mine);
}

/// A grid that strides over `count` elements.
[[nodiscard]] inline LaunchShape striding(std::size_t count) {
    constexpr std::size_t threads = 256;
    constexpr std::size_t most = 132 * 8;
    const std::size_t blocks = (count + threads - 1) / threads;
    return {.grid = static_cast<unsigned>(blocks < most ? blocks : most), .block = threads};
}

} // namespace workbook

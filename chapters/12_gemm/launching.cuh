/// @file launching.cuh
/// Chapter 12: what is asked of matrices before they are multiplied, and the shapes of launches.
#pragma once

#include "operands.cuh"

#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gemm {

/// The matrices of a product, all in device memory and packed: a is m × k, b is n × k, out is m × n.
/// Addresses are multiples of 16 bytes.
template <class T>
struct OperandsOf {
    const T* a;
    const T* b;
    bf16* out;
    Extent extent;
};
using Operands = OperandsOf<bf16>;

/// What keeps the product from being made, as one line; empty if nothing does.
template <class T>
[[nodiscard]] std::string problem(const OperandsOf<T>& of) {
    constexpr unsigned k_step = 16 / sizeof(T), n_step = 16 / sizeof(bf16);
    const auto [m, n, k] = of.extent;
    const auto cut = [](const char* name, unsigned count, unsigned step) {
        return std::string(name) + " = " + std::to_string(count) +
               ": rows must be multiples of 16 bytes, so this must be a multiple of " + std::to_string(step) +
               "; pad the matrices";
    };
    if (k % k_step != 0)
        return cut("k", k, k_step);
    if (n % n_step != 0)
        return cut("n", n, n_step);
    for (const void* base :
         {static_cast<const void*>(of.a), static_cast<const void*>(of.b), static_cast<const void*>(of.out)})
        if (reinterpret_cast<std::uintptr_t>(base) % 16 != 0)
            return "a matrix does not begin at a multiple of 16 bytes";
    return {};
}

/// Throws std::invalid_argument if the product cannot be made. False if there is nothing to launch: the
/// result is empty, or, with k = 0, all zeros, which this writes.
template <class T>
[[nodiscard]] bool anything_to_do(const OperandsOf<T>& of, cudaStream_t stream = nullptr) {
    if (const std::string why = problem(of); !why.empty())
        throw std::invalid_argument("gemm: " + why);
    const auto [m, n, k] = of.extent;
    if (k == 0 && m > 0 && n > 0)
        workbook::check(cudaMemsetAsync(of.out, 0, sizeof(bf16) * m * n, stream), "writing zeros");
    return m > 0 && n > 0 && k > 0;
}

/// A grid with a block for each tile, columns of tiles first.
template <class Tile>
[[nodiscard]] dim3 grid_of(Extent extent) {
    return {pieces(extent.n, Tile::columns), pieces(extent.m, Tile::rows)};
}

/// Bands of 8 tiles were best or nearly best everywhere (the tuner's file).
inline constexpr unsigned default_band = 8;

/// Tiles of rows × columns, in bands.
[[nodiscard]] inline TileOrder order_of(Extent extent, unsigned rows, unsigned columns,
                                        unsigned band = default_band) {
    return {pieces(extent.m, rows), pieces(extent.n, columns), band};
}

/// Multiprocessors of the device.
[[nodiscard]] inline unsigned multiprocessors() {
    int device = 0, count = 0;
    workbook::check(cudaGetDevice(&device), "asking for the device");
    workbook::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                    "counting multiprocessors");
    return static_cast<unsigned>(count);
}

/// The shape of a launch in which clusters of `blocks` stay, as many as run at once.
[[nodiscard]] inline workbook::LaunchShape clusters_that_stay(const TileOrder& order, unsigned blocks,
                                                              unsigned threads, std::size_t shared) {
    const unsigned clusters = std::min(order.count(), multiprocessors() / blocks);
    return {.grid = clusters * blocks, .block = threads, .dynamic_shared = shared, .cluster = dim3(blocks)};
}

} // namespace gemm

/// @file references.hpp
/// What the kernels of chapter 9 must leave behind, computed plainly on the CPU.
#pragma once

#include "clusters.cuh"
#include "remote_async.cuh"

#include "workbook/tile.cuh"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace clusters {

/// Elements that a cluster of `cluster_size` blocks takes.
inline std::size_t chunk_elements(int cluster_size) {
    return static_cast<std::size_t>(cluster_size) * block_threads;
}

/// The element of a chunk that is `tiles` tiles to the left of element i, going around; 0 beyond the end.
inline unsigned left_of(std::span<const unsigned> values, std::size_t i, std::size_t tiles,
                        int cluster_size) {
    const std::size_t chunk = chunk_elements(cluster_size);
    const std::size_t start = i - i % chunk;
    const std::size_t source = start + (i - start + chunk - tiles * block_threads) % chunk;
    return source < values.size() ? values[source] : 0;
}

/// neighbour_variable: who wrote what, in clusters of exchange_blocks blocks.
inline std::vector<Exchange> exchanges(std::span<const unsigned> values) {
    const auto value = [&](std::size_t block) { return block < values.size() ? values[block] : 0; };
    std::vector<Exchange> seen;
    for (std::size_t block = 0; block < values.size(); ++block) {
        const std::size_t first = block - block % exchange_blocks;
        const std::size_t left = first + (block + exchange_blocks - 1) % exchange_blocks;
        seen.push_back({value(left), value(block), static_cast<unsigned>((block + 1) % exchange_blocks)});
    }
    return seen;
}

/// split_arrive_wait.
inline std::vector<float> reversed_plus(const std::vector<float>& x, std::span<const float> y,
                                        int cluster_size) {
    std::vector<float> sums = workbook::reversed_tiles(x, chunk_elements(cluster_size));
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = y[i] + sums[i];
    return sums;
}

/// ring_exchange.
inline std::vector<unsigned> ring_results(std::span<const unsigned> values, int cluster_size) {
    std::vector<unsigned> results(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t step = 0; step < static_cast<std::size_t>(cluster_size); ++step)
            results[i] = results[i] * ring_factor + left_of(values, i, step, cluster_size);
    return results;
}

/// cluster_sum and remote_arrive.
inline std::vector<unsigned> chunk_sums(std::span<const unsigned> values, int cluster_size) {
    std::vector<unsigned> sums(cluster_count(values.size(), cluster_size));
    for (std::size_t i = 0; i < values.size(); ++i)
        sums[i / chunk_elements(cluster_size)] += values[i];
    return sums;
}

/// store_async and bulk_to_neighbour.
inline std::vector<unsigned> shifted_tiles(std::span<const unsigned> values, int cluster_size) {
    std::vector<unsigned> shifted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        shifted[i] = left_of(values, i, 1, cluster_size);
    return shifted;
}

/// multicast_tile and tile_for_each.
inline std::vector<unsigned> turned_copies(std::span<const unsigned> values, int cluster_size) {
    std::vector<unsigned> copies;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(cluster_size); ++rank)
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t start = i - i % tile_elements;
            const std::size_t count = std::min<std::size_t>(tile_elements, values.size() - start);
            copies.push_back(values[start + (i - start + rank) % count]);
        }
    return copies;
}

/// histogram.
inline std::vector<unsigned> counts(std::span<const unsigned> values) {
    std::vector<unsigned> bins(bin_count);
    for (const unsigned value : values)
        ++bins[bin_of(value)];
    return bins;
}

} // namespace clusters

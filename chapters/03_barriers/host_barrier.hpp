/// @file host_barrier.hpp
/// Chapter 3: std::barrier of C++20 with threads of the host, the same idea before any GPU.
#pragma once

#include <barrier>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace barriers {

/// Rotates `values` to the left by `iterations` places, one thread per value, one place per iteration. What
/// the kernel simple_sync does in shared memory.
///
/// The barrier relates the threads and their memory operations: whatever a thread wrote before it arrived is
/// visible to every thread whose wait returned. Source: ISO C++20, [thread.barrier.class].
inline void rotate_with_threads(std::span<unsigned> values, unsigned iterations) {
    if (values.empty())
        return;
    std::barrier sync(static_cast<std::ptrdiff_t>(values.size()));
    const auto rotate = [&](std::size_t i) {
        for (unsigned k = 0; k < iterations; ++k) {
            const unsigned neighbour = values[(i + 1) % values.size()];
            sync.arrive_and_wait(); // all have read
            values[i] = neighbour;
            sync.arrive_and_wait(); // all have written
        }
    };
    std::vector<std::jthread> threads; // joined when it goes out of scope
    for (std::size_t i = 0; i < values.size(); ++i)
        threads.emplace_back(rotate, i);
}

} // namespace barriers

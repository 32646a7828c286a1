#pragma once
/// \file
/// How many blocks and clusters the device could hold at once, by the rules of compute capability 9.0 (CUDA
/// C++ programming guide, technical specifications; occupancy calculator of Nsight Compute).

#include "cuda/abi.hpp"
#include "cuda/registry.hpp"
#include "hopper_emulator/device.hpp"

#include <cstddef>
#include <span>

namespace emu::cuda {

/// Registers per thread that occupancy is computed with: what nvcc's sm_90 code uses if the program carries
/// it, else 32 (the emulator itself allocates none).
unsigned registers_per_thread(Function& function);

/// Blocks of `threads` threads with `dynamic_shared` bytes that one multiprocessor holds; 0 if not even one
/// fits. Throws ApiError if the kernel cannot be used.
unsigned blocks_per_multiprocessor(Function& function, unsigned threads, std::size_t dynamic_shared);

/// Largest dynamic shared memory per block so that `blocks` blocks of `threads` threads still fit.
std::size_t available_dynamic_shared(Function& function, unsigned blocks, unsigned threads);

/// Clusters of `cluster_size` such blocks that the whole device holds.
unsigned active_clusters(Function& function, unsigned threads, std::size_t dynamic_shared,
                         unsigned cluster_size);

/// Block size that reaches the highest occupancy, and the blocks that then fill the device. `dynamic_shared`
/// tells the bytes needed for a block size; `limit` 0: none.
struct PotentialBlock {
    int grid = 0, block = 0;
};
template <class DynamicShared>
PotentialBlock potential_block_size(Function& function, DynamicShared&& dynamic_shared, int limit) {
    const int largest = static_cast<int>(function.max_threads());
    const int start = limit > 0 && limit < largest ? limit : largest;
    PotentialBlock best;
    int best_threads = 0;
    // Multiples of a warp from the largest down, as the documented algorithm of cuda_occupancy.h does.
    for (int rounded = (start + 31) / 32 * 32; rounded > 0; rounded -= 32) {
        const int block = rounded < start ? rounded : start;
        const auto blocks = static_cast<int>(
            blocks_per_multiprocessor(function, static_cast<unsigned>(block), dynamic_shared(block)));
        if (blocks * block > best_threads) {
            best_threads = blocks * block;
            best = {blocks * static_cast<int>(DeviceNumbers::multiprocessors), block};
        }
        if (best_threads == static_cast<int>(DeviceNumbers::max_threads_per_multiprocessor))
            break;
    }
    return best;
}

} // namespace emu::cuda

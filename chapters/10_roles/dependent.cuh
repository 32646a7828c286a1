/// @file dependent.cuh
/// Chapter 10: asynchrony between kernels. The second kernel begins while the first one still runs, does what
/// needs nothing of it, and waits for its results where it needs them (programmatic dependent launch).
#pragma once

#include "roles.cuh"

namespace roles {

/// This block no longer minds if blocks of the next kernel begin. When all blocks have said so, or have
/// ended, they do. PTX ISA, 'griddepcontrol'.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// Waits until the kernel before has ended and its writes are visible. Passes at once if this one was
/// launched in the ordinary way.
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// roles_ring, whose producer lets the next kernel begin when it has asked for the last tile: what is left is
/// arithmetic.
template <int count>
__global__ void __launch_bounds__(roles_threads, 1)
    prints_then_next(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    if (workbook::warp_index() < consumer_warps)
        consume<count>(ring, work, out);
    else if (workbook::elect_one()) {
        produce(ring, map, work);
        let_next_begin();
    }
}

inline constexpr int mixing_threads = 128;

/// The second kernel: mixed[c] = the sum over k of weights[k] · prints[c · count + k]. The weights have been
/// there before the first kernel, so that they may be loaded while it runs; the fingerprints have not.
template <int count>
__global__ void mix_prints(const unsigned* weights, const unsigned* prints, unsigned* mixed, unsigned width) {
    __shared__ unsigned weight[count];
    if (threadIdx.x < count)
        weight[threadIdx.x] = weights[threadIdx.x];
    __syncthreads();
    wait_for_previous();
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width)
        return;
    unsigned sum = 0;
    for (int k = 0; k < count; ++k)
        sum += weight[k] * place_of(column, const_cast<unsigned*>(prints), count)[k];
    mixed[column] = sum;
}

/// How the second kernel follows the first.
enum class Follows {
    the_end, ///< an ordinary launch: when the first one has ended
    early    ///< as soon as the first one lets it
};

/// Launches `kernel`; with Follows::early it may begin before the one before it in the stream has ended. CUDA
/// C++ Programming Guide, 'Programmatic Dependent Launch and Synchronization'.
template <class... Params, class... Args>
void launch_following(Follows follows, void (*kernel)(Params...), const workbook::LaunchShape& shape,
                      Args... args) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = follows == Follows::early ? 1 : 0;
    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared;
    config.stream = shape.stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    workbook::check(cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...), "kernel launch");
}

/// Fingerprints of every column, and their weighted sum: mixed[c] = the sum of weights[k] · prints[c · count
/// + k]. All arrays lie in device memory; `weights` has `count` elements, `mixed` one for each column.
/// @param first prints_then_next or roles_ring, which does the same and says nothing to the next kernel
template <int count = few_prints>
void launch_mixed_prints(Follows follows, Matrix<const unsigned> words, std::span<const unsigned> weights,
                         std::span<unsigned> prints, std::span<unsigned> mixed, unsigned most = all_blocks,
                         RingKernel first = prints_then_next<count>) {
    if (weights.size() != count || mixed.size() != words.width)
        throw std::invalid_argument("mixed fingerprints: a weight for each, and a sum for each column");
    if (mixed.empty())
        return;
    launch_ring(first, roles_threads, words, prints, count, most);
    launch_following(follows, mix_prints<count>,
                     {.grid = workbook::blocks_for(mixed.size(), mixing_threads), .block = mixing_threads},
                     weights.data(), prints.data(), mixed.data(), static_cast<unsigned>(mixed.size()));
}

} // namespace roles

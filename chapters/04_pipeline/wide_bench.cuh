/// @file wide_bench.cuh
/// Chapter 4's experiment with larger blocks: does a block on its own SM get further with more warps, where
/// more stages no longer help?
#pragma once

#include "pipeline.cuh"

namespace pipeline {

/// four_at_a_time with blocks of `threads` threads and `each` accesses of 16 bytes for a thread and tile. The
/// stages are dynamic shared memory, for eight of them may take more than a kernel may declare. Nothing else
/// is different. For arrays of whole tiles.
template <int threads, int each, int stages>
__global__ void of_width(Stream stream) {
    constexpr int tile = threads * each; // accesses
    const auto block = cg::this_thread_block();
    extern __shared__ float4 stage[]; // [stages][tile]
    auto pipe = cuda::make_pipeline();
    const auto* in = reinterpret_cast<const float4*>(stream.in) + threadIdx.x;
    auto* out = reinterpret_cast<float4*>(stream.out) + threadIdx.x;
    const auto start = [](unsigned k) { return (blockIdx.x + std::size_t{k} * gridDim.x) * tile; };
    const auto has = [&](unsigned k) { return start(k) < stream.size / 4; };
    StageIndex<stages> head, tail;
    unsigned next = 0;
    for (unsigned k = 0; has(k); ++k) {
        for (; next < k + stages && has(next); ++next) {
            pipe.producer_acquire();
            for (int i = 0; i < tile; i += threads)
                cuda::memcpy_async(&stage[head.index * tile + i + threadIdx.x], in + start(next) + i,
                                   cuda::aligned_size_t<16>(sizeof(float4)), pipe);
            pipe.producer_commit();
            head.advance();
        }
        pipe.consumer_wait();
        block.sync();
        for (int i = 0; i < tile; i += threads) {
            const float4 four = stage[tail.index * tile + tile - 1 - i - threadIdx.x];
            out[start(k) + i] = {compute(four.w, stream.work), compute(four.z, stream.work),
                                 compute(four.y, stream.work), compute(four.x, stream.work)};
        }
        pipe.consumer_release();
        block.sync();
        tail.advance();
    }
}

/// One row of the experiment: a kernel, its block and how many of these stay on each SM.
struct Width {
    const char* kernel;
    void (*launched)(Stream);
    int threads;
    int each; ///< accesses of 16 bytes of a thread for a tile
    int stages;
    int blocks_per_sm;

    [[nodiscard]] int tile() const { return threads * each * 4; } ///< floats
    [[nodiscard]] std::size_t stage_bytes() const {
        return static_cast<std::size_t>(stages) * static_cast<std::size_t>(tile()) * sizeof(float);
    }
};

/// The row of one instance of of_width: the kernel and the shape that it is compiled for stay together.
template <int threads, int each, int stages>
constexpr Width width(int blocks_per_sm = 1) {
    return {"of_width", of_width<threads, each, stages>, threads, each, stages, blocks_per_sm};
}

/// Blocks of 256 threads as in the chapter, one, two and four; a block with the warps of two and of four; a
/// block of 256 threads with the tile of the one of 512.
inline constexpr Width widths[] = {
    width<256, 1, 1>(),  width<256, 1, 2>(),  width<256, 1, 4>(),  width<256, 1, 8>(),  width<256, 1, 1>(2),
    width<256, 1, 2>(2), width<256, 1, 4>(2), width<256, 1, 8>(2), width<256, 1, 1>(4), width<256, 1, 2>(4),
    width<256, 1, 4>(4), width<256, 1, 8>(4), width<512, 1, 1>(),  width<512, 1, 2>(),  width<512, 1, 4>(),
    width<512, 1, 8>(),  width<1024, 1, 1>(), width<1024, 1, 2>(), width<1024, 1, 4>(), width<1024, 1, 8>(),
    width<256, 2, 1>(),  width<256, 2, 2>(),  width<256, 2, 4>(),  width<256, 2, 8>(),
};

} // namespace pipeline

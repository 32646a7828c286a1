// Copies that run ahead: cuda::pipeline, cuda::memcpy_async, cooperative_groups::memcpy_async, __pipeline_*.
#include "pairs.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_pipeline_primitives.h>

#include <algorithm>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace {

namespace cg = cooperative_groups;

// --- Every thread copies its own element ahead (thread scope), and reads its mirror's too.

constexpr int mirror_threads = 128, mirror_tiles = 6;

template <int stages, bool broken>
__global__ void mirror_kernel(const int* in, int* out) {
    __shared__ int buffer[stages][mirror_threads];
    const int t = threadIdx.x;
    in += blockIdx.x * mirror_tiles * mirror_threads;
    out += blockIdx.x * mirror_tiles * mirror_threads;
    auto pipe = cuda::make_pipeline();
    for (int tile = 0, fetched = 0; tile < mirror_tiles; ++tile) {
        for (; fetched < mirror_tiles && fetched < tile + stages; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[fetched % stages][t], &in[fetched * mirror_threads + t],
                               cuda::aligned_size_t<4>(sizeof(int)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        if constexpr (!broken)
            __syncthreads();
        const int* now = buffer[tile % stages];
        out[tile * mirror_threads + t] = now[t] - now[mirror_threads - 1 - t];
        pipe.consumer_release();
        __syncthreads();
    }
}

bool mirror(bool broken) {
    const auto host = pairs::random_ints(2 * mirror_tiles * mirror_threads);
    std::vector<int> expected(host.size());
    for (int i = 0; i < int(host.size()); ++i)
        expected[i] =
            host[i] - host[i / mirror_threads * mirror_threads + mirror_threads - 1 - i % mirror_threads];
    pairs::Device<int> in(host), out(host.size());
    (broken ? mirror_kernel<3, true> : mirror_kernel<3, false>)<<<2, mirror_threads>>>(in.data(), out.data());
    return out.read() == expected;
}

// --- Two buffers with cooperative groups: the next tile is on its way while one is read.

constexpr int fold_threads = 64, fold_tile = 256;

template <bool broken>
__global__ void fold_kernel(const int* in, unsigned* out, int tiles) {
    __shared__ alignas(16) int buffer[2][fold_tile];
    auto block = cg::this_thread_block();
    in += blockIdx.x * tiles * fold_tile;
    cg::memcpy_async(block, buffer[0], in, cuda::aligned_size_t<16>(sizeof(buffer[0])));
    unsigned hash = block.thread_rank();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            cg::memcpy_async(block, buffer[(k + 1) % 2], in + (k + 1) * fold_tile,
                             cuda::aligned_size_t<16>(sizeof(buffer[0])));
        if (broken || k + 1 < tiles)
            cg::wait_prior<1>(block);
        else
            cg::wait(block);
        for (int i = 0; i < 4; ++i)
            hash = hash * 31 + buffer[k % 2][(block.thread_rank() * 5 + i * fold_threads) % fold_tile];
        block.sync();
    }
    out[blockIdx.x * fold_threads + block.thread_rank()] = hash;
}

bool fold(bool broken) {
    constexpr int blocks = 2, tiles = 5;
    const auto host = pairs::random_ints(blocks * tiles * fold_tile);
    std::vector<unsigned> expected;
    for (int b = 0; b < blocks; ++b)
        for (int t = 0; t < fold_threads; ++t) {
            unsigned hash = t;
            for (int k = 0; k < tiles; ++k)
                for (int i = 0; i < 4; ++i)
                    hash = hash * 31 +
                           host[(b * tiles + k) * fold_tile + (t * 5 + i * fold_threads) % fold_tile];
            expected.push_back(hash);
        }
    pairs::Device<int> in(host);
    pairs::Device<unsigned> out(expected.size());
    (broken ? fold_kernel<true> : fold_kernel<false>)<<<blocks, fold_threads>>>(in.data(), out.data(), tiles);
    return out.read() == expected;
}

// --- A tiled product of matrices with two buffers and the __pipeline primitives.

constexpr int product_tile = 16, product_size = 64;

template <bool broken>
__global__ void product_kernel(const int* a, const int* b, int* c) {
    __shared__ int as[2][product_tile][product_tile], bs[2][product_tile][product_tile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * product_tile + x, row = blockIdx.y * product_tile + y;
    const auto fetch = [&](int k) {
        __pipeline_memcpy_async(&as[k % 2][y][x], &a[row * product_size + k * product_tile + x], sizeof(int));
        __pipeline_memcpy_async(&bs[k % 2][y][x], &b[(k * product_tile + y) * product_size + column],
                                sizeof(int));
    };
    constexpr int tiles = product_size / product_tile;
    fetch(0);
    __pipeline_commit();
    int sum = 0;
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            fetch(k + 1);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int i = 0; i < product_tile; ++i)
            sum += as[k % 2][y][i] * bs[k % 2][i][x];
        if constexpr (!broken)
            __syncthreads();
    }
    c[row * product_size + column] = sum;
}

bool product(bool broken) {
    auto a_host = pairs::random_ints(product_size * product_size),
         b_host = pairs::random_ints(a_host.size(), 2);
    std::vector<int> expected(a_host.size());
    for (auto* matrix : {&a_host, &b_host})
        for (int& each : *matrix)
            each %= 1000;
    for (int i = 0; i < product_size; ++i)
        for (int k = 0; k < product_size; ++k)
            for (int j = 0; j < product_size; ++j)
                expected[i * product_size + j] += a_host[i * product_size + k] * b_host[k * product_size + j];
    pairs::Device<int> a(a_host), b(b_host), c(expected.size());
    constexpr int blocks = product_size / product_tile;
    (broken ? product_kernel<true>
            : product_kernel<false>)<<<dim3(blocks, blocks), dim3(product_tile, product_tile)>>>(
        a.data(), b.data(), c.data());
    return c.read() == expected;
}

// --- A warp produces, two warps consume; tiles that the mask rules out are not read.

constexpr int masked_tile = 64, masked_tiles = 8;

template <bool broken>
__global__ void masked_kernel(const int* in, const int* mask, int* out) {
    constexpr int stages = 3;
    __shared__ int buffer[stages][masked_tile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    const bool producer = block.thread_rank() < 32;
    auto pipe = cuda::make_pipeline(block, &state,
                                    producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (producer) {
        auto warp = cg::tiled_partition<32>(block);
        for (int k = 0; k < masked_tiles; ++k) {
            pipe.producer_acquire();
            cuda::memcpy_async(warp, buffer[k % stages], in + k * masked_tile, sizeof(buffer[0]), pipe);
            pipe.producer_commit();
        }
    } else {
        const int c = block.thread_rank() - 32;
        int greatest = -1;
        for (int k = 0; k < masked_tiles; ++k) {
            pipe.consumer_wait();
            if (!mask[k]) {
                if constexpr (!broken)
                    pipe.consumer_release();
                continue;
            }
            greatest = max(greatest, buffer[k % stages][(c * 3 + k) % masked_tile]);
            pipe.consumer_release();
        }
        out[c] = greatest;
    }
}

bool masked(bool broken) {
    const auto host = pairs::random_ints(masked_tiles * masked_tile);
    const std::vector<int> mask_host{1, 1, 0, 1, 0, 1, 1, 1};
    std::vector<int> expected(masked_tile, -1);
    for (int c = 0; c < masked_tile; ++c)
        for (int k = 0; k < masked_tiles; ++k)
            if (mask_host[k])
                expected[c] = std::max(expected[c], host[k * masked_tile + (c * 3 + k) % masked_tile]);
    pairs::Device<int> in(host), mask(mask_host), out(masked_tile);
    (broken ? masked_kernel<true> : masked_kernel<false>)<<<1, 32 + masked_tile>>>(in.data(), mask.data(),
                                                                                   out.data());
    return out.read() == expected;
}

// --- The pipeline is told how many of the block's first threads produce.

constexpr int roles_threads = 128, roles_producers = 64, roles_tile = 256, roles_tiles = 6;

template <int stated_producers>
__global__ void roles_kernel(const int* in, int* out) {
    constexpr int stages = 2;
    __shared__ int buffer[stages][roles_tile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    auto pipe = cuda::make_pipeline(block, &state, stated_producers);
    if (t < roles_producers) {
        for (int k = 0; k < roles_tiles; ++k) {
            pipe.producer_acquire();
            for (int i = t; i < roles_tile; i += roles_producers)
                cuda::memcpy_async(&buffer[k % stages][i], &in[k * roles_tile + i], sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        for (int k = 0; k < roles_tiles; ++k) {
            pipe.consumer_wait();
            int sum = 0;
            for (int i = t - roles_producers; i < roles_tile; i += roles_threads - roles_producers)
                sum += buffer[k % stages][i ^ 5];
            pipe.consumer_release();
            out[k * roles_producers + t - roles_producers] = sum;
        }
    }
}

bool roles(bool broken) {
    const auto host = pairs::random_ints(roles_tiles * roles_tile);
    std::vector<int> expected(roles_tiles * roles_producers);
    for (int i = 0; i < int(host.size()); ++i)
        expected[i / roles_tile * roles_producers + (i % roles_tile ^ 5) % roles_producers] += host[i];
    pairs::Device<int> in(host), out(expected.size());
    (broken ? roles_kernel<32> : roles_kernel<roles_producers>)<<<1, roles_threads>>>(in.data(), out.data());
    return out.read() == expected;
}

// --- A block-wide copy into a stage of the pipeline; the size is in bytes.

constexpr int reverse_threads = 64, reverse_tiles = 4;

template <bool broken>
__global__ void reverse_kernel(const int* in, int* out, int count) {
    constexpr int stages = 2;
    __shared__ int buffer[stages][reverse_threads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int tiles = count / reverse_threads;
    for (int tile = 0, fetched = 0; tile < tiles; ++tile) {
        for (; fetched < tiles && fetched < tile + stages; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetched % stages], in + fetched * reverse_threads,
                               broken ? reverse_threads : sizeof(int) * reverse_threads, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const int i = tile * reverse_threads + block.thread_rank();
        out[count - 1 - i] = buffer[tile % stages][block.thread_rank()];
        pipe.consumer_release();
    }
}

bool reverse(bool broken) {
    const auto host = pairs::random_ints(reverse_tiles * reverse_threads);
    pairs::Device<int> in(host), out(host.size());
    (broken ? reverse_kernel<true> : reverse_kernel<false>)<<<1, reverse_threads>>>(in.data(), out.data(),
                                                                                    int(host.size()));
    return out.read() == std::vector<int>(host.rbegin(), host.rend());
}

// --- One thread fetches the row's few coefficients through a pipeline of the whole block.

constexpr int scale_threads = 96, scale_rows = 5;

template <bool broken>
__global__ void scale_rows_kernel(const int* matrix, const int2* coefficients, int* out) {
    constexpr int stages = 2;
    __shared__ int2 coefficient[stages];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const auto fetch = [&](int row) {
        if (broken && block.thread_rank() != 0)
            return;
        pipe.producer_acquire();
        if (block.thread_rank() == 0)
            cuda::memcpy_async(&coefficient[row % stages], &coefficients[row], sizeof(int2), pipe);
        pipe.producer_commit();
    };
    fetch(0);
    for (int row = 0; row < scale_rows; ++row) {
        if (row + 1 < scale_rows)
            fetch(row + 1);
        const int i = row * scale_threads + block.thread_rank();
        const int value = matrix[i];
        pipe.consumer_wait();
        out[i] = coefficient[row % stages].x * value + coefficient[row % stages].y;
        pipe.consumer_release();
    }
}

bool scale_rows_of(bool broken) {
    auto host = pairs::random_ints(scale_rows * scale_threads);
    std::vector<int2> coefficients_host;
    for (int row = 0; row < scale_rows; ++row)
        coefficients_host.push_back({row + 3, 100 * row + 7});
    pairs::Device<int> matrix(host), out(host.size());
    pairs::Device<int2> coefficients(coefficients_host);
    (broken ? scale_rows_kernel<true>
            : scale_rows_kernel<false>)<<<1, scale_threads>>>(matrix.data(), coefficients.data(), out.data());
    for (int i = 0; i < int(host.size()); ++i)
        host[i] = coefficients_host[i / scale_threads].x * host[i] + coefficients_host[i / scale_threads].y;
    return out.read() == host;
}

// --- What the block has just written to global memory comes back by memcpy_async, a bulk copy on Hopper.

constexpr int spill_threads = 128, spill_depth = 4;

template <bool broken>
__global__ void spill_kernel(const int* in, int* scratch, int* out) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    constexpr int size = spill_threads * spill_depth;
    __shared__ alignas(16) int tile[size];
    __shared__ Barrier loaded;
    auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    if (t == 0) {
        init(&loaded, block.size());
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    in += blockIdx.x * size, scratch += blockIdx.x * size, out += blockIdx.x * size;
    for (int d = 0; d < spill_depth; ++d) // transposes
        scratch[t * spill_depth + d] = in[d * spill_threads + t] + d;
    if constexpr (!broken)
        cuda::ptx::fence_proxy_async();
    block.sync();
    cuda::memcpy_async(block, tile, scratch, cuda::aligned_size_t<16>(sizeof(tile)), loaded);
    loaded.arrive_and_wait();
    for (int d = 0; d < spill_depth; ++d)
        out[d * spill_threads + t] = tile[d * spill_threads + t] - tile[(d * spill_threads + t + 1) % size];
}

bool spill(bool broken) {
    constexpr int blocks = 2, size = spill_threads * spill_depth;
    const auto host = pairs::random_ints(blocks * size);
    std::vector<int> expected(host.size());
    const auto scratch_at = [&](int b, int i) {
        return host[b * size + i % spill_depth * spill_threads + i / spill_depth] + i % spill_depth;
    };
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < size; ++i)
            expected[b * size + i] = scratch_at(b, i) - scratch_at(b, (i + 1) % size);
    pairs::Device<int> in(host), scratch(host.size()), out(host.size());
    (broken ? spill_kernel<true> : spill_kernel<false>)<<<blocks, spill_threads>>>(in.data(), scratch.data(),
                                                                                   out.data());
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "mirror",
     .mistake =
         "A thread-scope pipeline waits for this thread's own copies only, but the thread also reads what "
         "another thread has copied.",
     .fix = "__syncthreads() between consumer_wait() and the reads.",
     .run = mirror,
     .finding = "race-shared",
     .says = "nothing orders that wait before the read by another thread",
     .remedy = "__syncthreads()"},
    {.name = "fold",
     .mistake =
         "In the last round no newer copy is under way, so wait_prior<1> does not wait for the tile that is "
         "read next.",
     .fix = "cg::wait (all copies) in the last round.",
     .run = fold,
     .finding = "read-before-completion",
     .says = "leaves the newest group",
     .remedy = "cg::wait(group)"},
    {.name = "product",
     .mistake =
         "Nothing keeps the copy of tile k + 2 from overwriting a buffer that slower warps still read for "
         "tile k.",
     .fix = "__syncthreads() at the end of each round, before the next fetch into the buffer.",
     .run = product,
     .finding = "race-shared",
     .says = "asynchronous operation issued by thread",
     .remedy = "put a __syncthreads() between its access and the issue of the copy"},
    {.name = "masked",
     .mistake =
         "Consumers skip a masked tile without consumer_release(), so their end of the pipeline stays at the "
         "old stage: from then on they wait for, and release, an earlier tile than the one they read.",
     .fix = "consumer_release() also on the path that skips the tile.",
     .run = masked,
     .finding = "read-before-completion",
     .says = "has waited for an earlier stage only",
     .remedy = "consumer_release() on every path"},
    {.name = "roles",
     .mistake =
         "The pipeline is made for 32 producers, but 64 threads produce: a stage counts as filled when half "
         "of them have committed, and is never released by enough consumers.",
     .fix = "make_pipeline with the true number of producers.",
     .run = roles,
     .finding = "arrival-count-mismatch",
     .says = "expects 32 arrivals",
     .remedy = "producers"},
    {.name = "reverse",
     .mistake =
         "memcpy_async takes bytes but is given the number of elements: three quarters of each buffer are "
         "never written.",
     .fix = "Multiply the count by sizeof(int).",
     .run = reverse,
     .finding = "uninitialised-shared",
     .says = "the copy ends at buffer",
     .remedy = "size in bytes"},
    {.name = "scale_rows",
     .mistake =
         "Only thread 0 commits to a pipeline whose stages expect a commit of every thread of the block.",
     .fix = "All threads call producer_acquire and producer_commit; only the copy is thread 0's.",
     .run = scale_rows_of,
     .finding = "deadlock",
     .says = "95 of 96 arrivals missing",
     .remedy = "every thread reaches the barrier"},
    {.name = "spill",
     .mistake =
         "The bulk copy reads global memory through the async proxy that the block has written with ordinary "
         "stores, with no proxy fence between.",
     .fix = "Every thread executes fence.proxy.async after its stores, before the block barrier.",
     .run = spill,
     .finding = "missing-proxy-fence",
     .says = "read through the async proxy",
     .remedy = "fence.proxy.async"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

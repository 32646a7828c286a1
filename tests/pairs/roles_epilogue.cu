// Roles that store: consumers stage their results in shared memory, one lane stores them by bulk copies.
#include "roles_helpers.cuh"

#include <algorithm>

using namespace roles;

namespace {

constexpr int consumers = 128;
constexpr int consumer_warps = consumers / 32;
constexpr int threads = consumers + 32;
constexpr int tile_bytes = consumers * sizeof(int);

/// What the kernels compute for each tile.
__host__ __device__ int work(int value, int tile) { return (value ^ (value >> 7)) + 3 * tile; }

/// Each tile's results, the last first.
std::vector<int> reversed_work(const std::vector<int>& in, int tiles) {
    std::vector<int> out;
    for (int tile = 0; tile < tiles; ++tile)
        for (int i = consumers; i-- > 0;)
            out.push_back(work(in[tile * consumers + i], tile));
    return out;
}

using Kernel = void (*)(const int*, int*, int);

bool persistent(Kernel kernel, int block_threads) {
    constexpr int tiles = 9;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(tiles * consumers);
    kernel<<<2, block_threads>>>(in.data(), out.data(), tiles);
    return out.read() == reversed_work(host, tiles);
}

// -- An epilogue warp and named barriers: 1 says that a tile is staged, 2 that the buffer is free ---------

constexpr int staged = 1, is_free = 2;

template <bool broken>
__global__ void __launch_bounds__(threads) fence_first_kernel(const int* in, int* out, int tiles) {
    __shared__ alignas(128) int buffer[consumers];
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (warp() < consumer_warps) {
            const int result = work(in[tile * consumers + threadIdx.x], tile);
            if (tile >= gridDim.x)
                named_sync(is_free, threads);
            if constexpr (broken)
                fence_async_shared();
            buffer[consumers - 1 - threadIdx.x] = result;
            if constexpr (!broken)
                fence_async_shared();
            named_arrive(staged, threads);
        } else {
            named_sync(staged, threads);
            if (elect()) {
                store(out + tile * consumers, buffer, tile_bytes);
                commit();
                wait_read<0>();
            }
            __syncwarp();
            if (tile + gridDim.x < tiles)
                named_arrive(is_free, threads);
        }
    }
}
bool fence_first(bool broken) {
    return persistent(broken ? fence_first_kernel<true> : fence_first_kernel<false>, threads);
}

// The consumers' first thread keeps watch over the buffer.
template <bool broken>
__global__ void __launch_bounds__(threads) other_thread_waits_kernel(const int* in, int* out, int tiles) {
    __shared__ alignas(128) int buffer[consumers];
    if (warp() < consumer_warps) {
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const int result = work(in[tile * consumers + threadIdx.x], tile);
            if (broken && threadIdx.x == 0)
                wait_read<0>();
            __syncwarp();
            named_sync(is_free, threads);
            buffer[consumers - 1 - threadIdx.x] = result;
            fence_async_shared();
            named_arrive(staged, threads);
        }
    } else {
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            if (!broken && lane() == 0)
                wait_read<0>();
            __syncwarp();
            named_arrive(is_free, threads);
            named_sync(staged, threads);
            if (lane() == 0) {
                store(out + tile * consumers, buffer, tile_bytes);
                commit();
            }
        }
        if (lane() == 0)
            wait_read<0>();
    }
}
bool other_thread_waits(bool broken) {
    return persistent(broken ? other_thread_waits_kernel<true> : other_thread_waits_kernel<false>, threads);
}

// -- Two buffers, stored by the first thread of the consumers themselves -----------------------------------

template <int pending>
__global__ void __launch_bounds__(consumers) two_buffers_kernel(const int* in, int* out, int tiles) {
    __shared__ alignas(128) int buffers[2][consumers];
    int turn = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
        const int result = work(in[tile * consumers + threadIdx.x], tile);
        if (threadIdx.x == 0)
            wait_read<pending>();
        named_sync(1, consumers);
        buffers[turn][consumers - 1 - threadIdx.x] = result;
        fence_async_shared();
        named_sync(1, consumers);
        if (threadIdx.x == 0) {
            store(out + tile * consumers, buffers[turn], tile_bytes);
            commit();
        }
    }
    if (threadIdx.x == 0)
        wait_read<0>();
}
bool two_buffers(bool broken) {
    return persistent(broken ? two_buffers_kernel<2> : two_buffers_kernel<1>, consumers);
}

// -- Accumulator buffers with full and empty barriers between consumers and an epilogue warp --------------

template <bool broken>
__global__ void __launch_bounds__(threads) release_after_issue_kernel(const int* in, int* out, int tiles) {
    __shared__ Ring<2, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(consumers, 1);
    __syncthreads();

    if (warp() < consumer_warps) {
        Cursor<2> at{.phase = 1};
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, at.next()) {
            const int result = work(in[tile * consumers + threadIdx.x], tile);
            wait(ring.empty[at.stage], at.phase);
            ring.tile[at.stage][consumers - 1 - threadIdx.x] = result;
            fence_async_shared();
            arrive(ring.full[at.stage]);
        }
    } else if (elect()) {
        Cursor<2> at{.phase = 0};
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, at.next()) {
            wait(ring.full[at.stage], at.phase);
            store(out + tile * consumers, ring.tile[at.stage], tile_bytes);
            commit();
            if constexpr (!broken)
                wait_read<0>();
            arrive(ring.empty[at.stage]);
        }
        wait_read<0>();
    }
}
bool release_after_issue(bool broken) {
    return persistent(broken ? release_after_issue_kernel<true> : release_after_issue_kernel<false>, threads);
}

// -- A transpose: a producer warp, a consumer group, a storing lane; boxes of a tensor ---------------------

constexpr int side = 32;

template <bool broken>
__global__ void __launch_bounds__(side * 4 + 32)
    exit_kernel(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int tiles) {
    __shared__ Ring<2, side * side> ring;
    __shared__ alignas(128) int turned[side][side];
    if (threadIdx.x == 0)
        ring.init(1, side * 4);
    __syncthreads();

    const int y = blockIdx.x * side;
    if (warp() == 4) {
        if (elect()) {
            Cursor<2> at{.phase = 1};
            for (int tile = 0; tile < tiles; ++tile, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load_2d(ring.tile[at.stage], from, tile * side, y, ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<2> at{.phase = 0};
    for (int tile = 0; tile < tiles; ++tile, at.next()) {
        wait(ring.full[at.stage], at.phase);
        if (threadIdx.x == 0)
            wait_read<0>();
        named_sync(1, side * 4);
        for (int r = threadIdx.x / side; r < side; r += 4)
            turned[threadIdx.x % side][r] = ring.tile[at.stage][r * side + threadIdx.x % side];
        arrive(ring.empty[at.stage]);
        fence_async_shared();
        named_sync(1, side * 4);
        if (threadIdx.x == 0) {
            store_2d(to, y, tile * side, turned);
            commit();
        }
    }
    if (!broken && threadIdx.x == 0)
        wait_read<0>();
}

bool exit(bool broken) {
    constexpr int rows = 2 * side, columns = 3 * side;
    const auto host = pairs::random_ints(rows * columns);
    pairs::Device<int> in(host), out(rows * columns);
    const CUtensorMap from = tensor_map(in.data(), rows, columns, side, side);
    const CUtensorMap to = tensor_map(out.data(), columns, rows, side, side);
    (broken ? exit_kernel<true> : exit_kernel<false>)<<<rows / side, side * 4 + 32>>>(from, to,
                                                                                      columns / side);
    std::vector<int> expected(rows * columns);
    for (int i = 0; i < rows * columns; ++i)
        expected[i % columns * rows + i / columns] = host[i];
    return out.read() == expected;
}

// -- Split k: each block stores a partial sum, the last one that comes adds them up -----------------------

template <bool broken>
__global__ void __launch_bounds__(threads)
    split_kernel(const int* in, int* parts, unsigned* arrived, int* out, int steps) {
    __shared__ alignas(128) int buffer[consumers];
    __shared__ bool last;
    if (warp() < consumer_warps) {
        int sum = 0;
        for (int step = blockIdx.x; step < steps; step += gridDim.x)
            sum += in[step * consumers + threadIdx.x];
        buffer[threadIdx.x] = sum;
        fence_async_shared();
        named_arrive(staged, threads);
    } else {
        named_sync(staged, threads);
        if (elect()) {
            store(parts + blockIdx.x * consumers, buffer, tile_bytes);
            commit();
            if constexpr (broken)
                wait_read<0>();
            else
                wait_written<0>();
            __threadfence();
            last = atomicAdd(arrived, 1) == gridDim.x - 1;
            __threadfence();
        }
    }
    __syncthreads();
    if (last && threadIdx.x < consumers) {
        int sum = 0;
        for (int block = 0; block < gridDim.x; ++block)
            sum += __ldcg(parts + block * consumers + threadIdx.x);
        out[threadIdx.x] = sum;
    }
}

bool split(bool broken) {
    constexpr int blocks = 3, steps = 10;
    const auto host = pairs::random_ints(steps * consumers);
    pairs::Device<int> in(host), parts(blocks * consumers), out(consumers);
    pairs::Device<unsigned> arrived(std::vector<unsigned>(1, 0));
    (broken ? split_kernel<true> : split_kernel<false>)<<<blocks, threads>>>(
        in.data(), parts.data(), arrived.data(), out.data(), steps);
    std::vector<int> expected(consumers);
    for (int i = 0; i < steps * consumers; ++i)
        expected[i % consumers] += host[i];
    return out.read() == expected;
}

// -- The consumers write an intermediate result to global memory, the producer loads it again --------------

template <bool broken>
__global__ void __launch_bounds__(threads) reload_kernel(const int* in, int* between, int* out, int rounds) {
    __shared__ Ring<2, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    int* mine = between + blockIdx.x * consumers;
    if (warp() == consumer_warps) {
        Cursor<2> at{.phase = 1};
        for (int round = 0; round < rounds; ++round, at.next()) {
            named_sync(1, threads);
            if (elect()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], tile_bytes);
                load(ring.tile[at.stage], mine, tile_bytes, ring.full[at.stage]);
            }
            __syncwarp();
        }
        return;
    }
    Cursor<2> at{.phase = 0};
    int value = in[blockIdx.x * consumers + threadIdx.x];
    for (int round = 0; round < rounds; ++round, at.next()) {
        mine[threadIdx.x] = work(value, round);
        if constexpr (!broken)
            fence_async();
        named_arrive(1, threads);
        wait(ring.full[at.stage], at.phase);
        value = ring.tile[at.stage][(threadIdx.x + 1) % consumers];
        __syncwarp();
        if (lane() == 0)
            arrive(ring.empty[at.stage]);
    }
    out[blockIdx.x * consumers + threadIdx.x] = value;
}

bool reload(bool broken) {
    constexpr int blocks = 2, rounds = 3;
    auto host = pairs::random_ints(blocks * consumers);
    pairs::Device<int> in(host), between(blocks * consumers), out(blocks * consumers);
    (broken ? reload_kernel<true> : reload_kernel<false>)<<<blocks, threads>>>(in.data(), between.data(),
                                                                               out.data(), rounds);
    for (int round = 0; round < rounds; ++round)
        for (auto begin = host.begin(); begin != host.end(); begin += consumers) {
            std::for_each(begin, begin + consumers, [&](int& value) { value = work(value, round); });
            std::rotate(begin, begin + 1, begin + consumers);
        }
    return out.read() == host;
}

constexpr pairs::Pair list[] = {
    {.name = "epilogue_fence_first",
     .mistake =
         "The consumers execute the proxy fence before they write the buffer: it orders nothing that the "
         "bulk store reads.",
     .fix = "fence.proxy.async after the writes of the buffer and before the arrival at the barrier.",
     .run = fence_first,
     .finding = "missing-proxy-fence",
     .says = "No fence.proxy.async lies between them",
     .remedy = "After the write and before the barrier, each writing thread must execute fence.proxy.async"},
    {.name = "epilogue_other_thread_waits",
     .mistake =
         "Bulk groups belong to the thread that committed them: the consumers' thread waits for its own, of "
         "which there are none, so the buffer is written while the epilogue's store still reads it.",
     .fix = "wait_group.read by the lane that committed, before its warp says that the buffer is free.",
     .run = other_thread_waits,
     .finding = "reuse-before-read-done",
     .says = "groups belong to the thread that committed them, and it has none",
     .remedy = "The thread that issued it must execute cp.async.bulk.commit_group and "
               "cp.async.bulk.wait_group.read"},
    {.name = "epilogue_two_buffers",
     .mistake =
         "With two buffers wait_group.read 2 leaves the store of two tiles ago pending, whose buffer is "
         "written next.",
     .fix = "wait_group.read 1: only the last tile's store may still be reading.",
     .run = two_buffers,
     .finding = "reuse-before-read-done",
     .says = "with N = 2: that leaves the 2 newest groups of 2 pending",
     .remedy = "wait_group 1: one group was committed after"},
    {.name = "epilogue_release_after_issue",
     .mistake =
         "The epilogue releases the buffer right after it has issued the bulk store, which may not have "
         "read it yet.",
     .fix = "wait_group.read 0 between the commit and the arrival on the empty barrier.",
     .run = release_after_issue,
     .finding = "reuse-before-read-done",
     .says = "arrived at the mbarrier without having waited",
     .remedy = "wait_group.read before the arrive"},
    {.name = "epilogue_exit",
     .mistake =
         "The thread that stores the last tile ends without waiting until the store has read shared memory, "
         "which goes away with the block.",
     .fix = "wait_group.read 0 by the storing thread after the loop.",
     .run = exit,
     .finding = "exited-with-copies-in-flight",
     .says = "nobody has waited for the end of this asynchronous operation",
     .remedy = "a bulk or tensor store with cp.async.bulk.wait_group.read 0"},
    {.name = "epilogue_split",
     .mistake =
         "The block announces its partial sum when the bulk store has only read shared memory, not yet "
         "written global memory.",
     .fix = "wait_group without .read before the counter is raised.",
     .run = split,
     .finding = "race-global",
     .says = "wait_group.read speaks of the source only",
     .remedy = "wait_group without .read"},
    {.name = "epilogue_reload",
     .mistake =
         "Consumers write global memory with ordinary stores, and the producer's bulk copy reads it through "
         "the async proxy without a proxy fence between.",
     .fix =
         "fence.proxy.async (for global memory too) by each consumer after its store and before the barrier.",
     .run = reload,
     .finding = "missing-proxy-fence",
     .says = "No fence.proxy.async lies between them",
     .remedy = "After the write and before the barrier, each writing thread must execute fence.proxy.async"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

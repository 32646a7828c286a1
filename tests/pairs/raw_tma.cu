// Bulk stores, bulk reductions and tensor maps behind a small header of PTX wrappers.
#include "raw_helpers.cuh"

#include <algorithm>

namespace {

using namespace ptx;

constexpr int threads = 128;
constexpr int tile = 2 * threads; // ints
constexpr uint32_t tile_bytes = tile * sizeof(int);

/// Rows of 256 squares with the sums of their 32 groups of eight behind them.
template <bool broken>
__global__ void squares_kernel(const int* in, int* out) {
    constexpr int groups = tile / 8;
    __shared__ alignas(128) int row[tile + groups];
    for (int i = threadIdx.x; i < tile; i += threads) {
        const int value = in[blockIdx.x * tile + i] & 0xff;
        row[i] = value * value;
    }
    __syncthreads();
    if constexpr (broken)
        fence_view_async();
    if (threadIdx.x < groups) {
        int sum = 0;
        for (int i = 0; i < 8; ++i)
            sum += row[threadIdx.x * 8 + i];
        row[tile + threadIdx.x] = sum;
    }
    if constexpr (!broken)
        fence_view_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store_1d(out + blockIdx.x * (tile + groups), row, sizeof row);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

bool second_write_after_fence(bool broken) {
    constexpr int blocks = 3, width = tile + tile / 8;
    const auto host = pairs::small_ints(blocks * tile);
    pairs::Device<int> in(host), out(blocks * width);
    (broken ? squares_kernel<true> : squares_kernel<false>)<<<blocks, threads>>>(in.data(), out.data());
    const auto square = [&](int block, int i) {
        return (host[block * tile + i] & 0xff) * (host[block * tile + i] & 0xff);
    };
    return pairs::all_are(out, [&](int index) {
        const int block = index / width, column = index % width;
        if (column < tile)
            return square(block, column);
        int sum = 0;
        for (int i = 0; i < 8; ++i)
            sum += square(block, (column - tile) * 8 + i);
        return sum;
    });
}

/// Two buffers of results leave by bulk stores.
template <bool broken>
__global__ void double_buffer_kernel(const int* in, int* out, int tiles) {
    __shared__ alignas(128) int results[2][tile];
    for (int k = 0; k < tiles; ++k) {
        if (threadIdx.x == 0)
            bulk_wait_read<broken ? 2 : 1>(); // the store from this buffer
        __syncthreads();
        for (int i = threadIdx.x; i < tile; i += threads)
            results[k % 2][tile - 1 - i] = in[k * tile + i] + k;
        fence_view_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            tma_store_1d(out + k * tile, results[k % 2], tile_bytes);
            bulk_commit();
        }
    }
    if (threadIdx.x == 0)
        bulk_wait_read<0>();
}

/// One buffer; the warps take turns in storing it.
template <bool broken>
__global__ void turns_kernel(const int* in, int* out, int tiles) {
    __shared__ alignas(128) int results[tile];
    for (int k = 0; k < tiles; ++k) {
        const int issuer = k % 4 * 32, last_issuer = (k + 3) % 4 * 32;
        if (threadIdx.x == (broken ? 0 : last_issuer))
            bulk_wait_read<0>();
        __syncthreads();
        for (int i = threadIdx.x; i < tile; i += threads)
            results[tile - 1 - i] = in[k * tile + i] + k;
        fence_view_async();
        __syncthreads();
        if (threadIdx.x == issuer) {
            tma_store_1d(out + k * tile, results, tile_bytes);
            bulk_commit();
        }
    }
    bulk_wait_read<0>();
}

using Reverse = void (*)(const int*, int*, int);

bool reversed_tiles(Reverse kernel) {
    constexpr int tiles = 7;
    const auto host = pairs::small_ints(tiles * tile);
    pairs::Device<int> in(host), out(tiles * tile);
    kernel<<<1, threads>>>(in.data(), out.data(), tiles);
    return pairs::all_are(out, [&](int i) { return host[i / tile * tile + tile - 1 - i % tile] + i / tile; });
}

bool stores_wait_for_two(bool broken) {
    return reversed_tiles(broken ? double_buffer_kernel<true> : double_buffer_kernel<false>);
}

bool wait_by_other_thread(bool broken) {
    return reversed_tiles(broken ? turns_kernel<true> : turns_kernel<false>);
}

/// Quotients and remainders leave as two stores.
template <bool broken>
__global__ void divide_kernel(const int* in, int* quotients, int* remainders, int divisor) {
    __shared__ alignas(128) int quotient[tile], remainder[tile];
    const int first = blockIdx.x * tile;
    for (int i = threadIdx.x; i < tile; i += threads) {
        quotient[i] = in[first + i] / divisor;
        remainder[i] = in[first + i] % divisor;
    }
    fence_view_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store_1d(quotients + first, quotient, tile_bytes);
        if constexpr (broken)
            bulk_commit();
        tma_store_1d(remainders + first, remainder, tile_bytes);
        if constexpr (!broken)
            bulk_commit();
        bulk_wait_read<0>();
    }
}

bool second_store_not_committed(bool broken) {
    constexpr int blocks = 3, divisor = 1000;
    const auto host = pairs::random_ints(blocks * tile);
    pairs::Device<int> in(host), quotients(blocks * tile), remainders(blocks * tile);
    (broken ? divide_kernel<true> : divide_kernel<false>)<<<blocks, threads>>>(in.data(), quotients.data(),
                                                                               remainders.data(), divisor);
    return pairs::all_are(quotients, [&](int i) { return host[i] / divisor; }) &&
           pairs::all_are(remainders, [&](int i) { return host[i] % divisor; });
}

/// Blocks leave partial sums in global memory; the last one to finish adds them up.
template <bool broken>
__global__ void last_block_kernel(const int* in, int* parts, int* tickets, int* out) {
    __shared__ alignas(128) int part[threads];
    __shared__ bool last;
    const int* mine = in + blockIdx.x * tile;
    part[threadIdx.x] = mine[threadIdx.x] * 3 + mine[threadIdx.x + threads];
    fence_view_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store_1d(parts + blockIdx.x * threads, part, sizeof part);
        bulk_commit();
        if constexpr (broken)
            bulk_wait_read<0>();
        else
            bulk_wait<0>();
        __threadfence();
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    int sum = 0;
    for (int block = 0; block < gridDim.x; ++block)
        sum += __ldcg(parts + block * threads + threadIdx.x);
    out[threadIdx.x] = sum;
}

bool read_done_is_not_written(bool broken) {
    constexpr int blocks = 4;
    const auto host = pairs::small_ints(blocks * tile);
    pairs::Device<int> in(host), parts(blocks * threads), tickets(std::vector<int>(1, 0)), out(threads);
    (broken ? last_block_kernel<true> : last_block_kernel<false>)<<<blocks, threads>>>(
        in.data(), parts.data(), tickets.data(), out.data());
    return pairs::all_are(out, [&](int thread) {
        int sum = 0;
        for (int block = 0; block < blocks; ++block)
            sum += host[block * tile + thread] * 3 + host[block * tile + thread + threads];
        return sum;
    });
}

/// Each block owns a row of the output, sets it to its bias and lets bulk reductions add to it.
template <bool broken>
__global__ void accumulate_kernel(const int* in, int* out, int rounds) {
    __shared__ alignas(128) int part[2][tile];
    int* row = out + blockIdx.x * tile;
    for (int i = threadIdx.x; i < tile; i += threads)
        row[i] = blockIdx.x + 1;
    if constexpr (!broken)
        fence_view_async_global();
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x == 0)
            bulk_wait_read<1>();
        __syncthreads();
        for (int i = threadIdx.x; i < tile; i += threads)
            part[round % 2][i] = in[(round * gridDim.x + blockIdx.x) * tile + i] * (round + 1);
        fence_view_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            tma_reduce_add_1d(row, part[round % 2], tile_bytes);
            bulk_commit();
        }
    }
    if (threadIdx.x == 0)
        bulk_wait_read<0>();
}

bool reduce_onto_plain_writes(bool broken) {
    constexpr int blocks = 2, rounds = 3;
    const auto host = pairs::small_ints(rounds * blocks * tile);
    pairs::Device<int> in(host), out(blocks * tile);
    (broken ? accumulate_kernel<true> : accumulate_kernel<false>)<<<blocks, threads>>>(in.data(), out.data(),
                                                                                       rounds);
    return pairs::all_are(out, [&](int i) {
        int sum = i / tile + 1;
        for (int round = 0; round < rounds; ++round)
            sum += host[round * blocks * tile + i] * (round + 1);
        return sum;
    });
}

/// Histograms of parts, added to that of all by bulk reductions.
template <bool broken>
__global__ void histogram_kernel(const int* in, int* bins, int rounds) {
    __shared__ alignas(128) int local[tile];
    for (int i = threadIdx.x; i < tile; i += threads)
        local[i] = 0;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        const int* mine = in + (round * gridDim.x + blockIdx.x) * tile;
        for (int i = threadIdx.x; i < tile; i += threads)
            atomicAdd(&local[mine[i] % tile], 1);
        fence_view_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            tma_reduce_add_1d(bins, local, tile_bytes);
            bulk_commit();
        }
        if constexpr (broken)
            __syncthreads();
        if (threadIdx.x == 0)
            bulk_wait_read<0>();
        if constexpr (!broken)
            __syncthreads();
        for (int i = threadIdx.x; i < tile; i += threads)
            local[i] = 0;
        __syncthreads();
    }
}

bool bins_cleared_early(bool broken) {
    constexpr int blocks = 3, rounds = 3;
    const auto host = pairs::small_ints(blocks * rounds * tile);
    pairs::Device<int> in(host), bins(std::vector<int>(tile, 0));
    (broken ? histogram_kernel<true> : histogram_kernel<false>)<<<blocks, threads>>>(in.data(), bins.data(),
                                                                                     rounds);
    return pairs::all_are(bins, [&](int bin) {
        return int(std::ranges::count_if(host, [&](int value) { return value % tile == bin; }));
    });
}

/// Gathers rows with cp.async, stores the tile with one bulk copy.
template <bool broken>
__global__ void pack_rows_kernel(const int* in, const int* index, int* out) {
    __shared__ alignas(128) int rows[threads][4];
    const int row = blockIdx.x * threads + threadIdx.x;
    cp_async16(rows[threadIdx.x], in + 4 * index[row]);
    if constexpr (broken)
        fence_view_async();
    cp_async_commit();
    cp_async_wait<0>();
    if constexpr (!broken)
        fence_view_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store_1d(out + blockIdx.x * threads * 4, rows, sizeof rows);
        bulk_commit();
        bulk_wait_read<0>();
    }
}

bool fence_before_copies_land(bool broken) {
    constexpr int blocks = 2, source_rows = 200;
    const auto host = pairs::random_ints(4 * source_rows);
    auto index = pairs::random_ints(blocks * threads, 2);
    for (int& each : index)
        each %= source_rows;
    pairs::Device<int> in(host), indices(index), out(blocks * threads * 4);
    (broken ? pack_rows_kernel<true>
            : pack_rows_kernel<false>)<<<blocks, threads>>>(in.data(), indices.data(), out.data());
    return pairs::all_are(out, [&](int i) { return host[4 * index[i / 4] + i % 4]; });
}

/// Updates boxes of 8 rows of 32 where they lie, one after another through one buffer.
template <bool broken>
__global__ void in_place_kernel(const __grid_constant__ CUtensorMap map, int boxes) {
    __shared__ alignas(128) int box[8][32];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        mbar_init(&full, 1);
        fence_barrier_init();
    }
    __syncthreads();
    for (int k = 0; k < boxes; ++k) {
        if (threadIdx.x == 0) {
            if constexpr (!broken)
                bulk_wait_read<0>();
            mbar_arrive_expect_tx(&full, sizeof box);
            tma_load_2d(box, &map, blockIdx.x * 32, k * 8, &full);
        }
        mbar_wait(&full, k & 1);
        for (int row = threadIdx.x / 32; row < 8; row += threads / 32)
            box[row][threadIdx.x % 32] = box[row][threadIdx.x % 32] * 2 + row;
        fence_view_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            tma_store_2d(&map, blockIdx.x * 32, k * 8, box);
            bulk_commit();
        }
    }
    if (threadIdx.x == 0)
        bulk_wait_read<0>();
}

bool reload_over_pending_store(bool broken) {
    constexpr int boxes = 5, width = 64;
    const auto host = pairs::small_ints(boxes * 8 * width);
    pairs::Device<int> data(host);
    (broken ? in_place_kernel<true> : in_place_kernel<false>)<<<width / 32, threads>>>(
        pairs::make_map(data.data(), width, boxes * 8, 32, 8), boxes);
    return pairs::all_are(data, [&](int i) { return host[i] * 2 + i / width % 8; });
}

/// Every block makes a copy of the map of its expert's matrix in global memory and loads with that.
template <bool broken>
__global__ void grouped_kernel(const CUtensorMap* maps, const int* experts, CUtensorMap* workspace,
                               int* out) {
    __shared__ alignas(128) int box[8][32];
    __shared__ uint64_t full;
    CUtensorMap* map = workspace + blockIdx.x;
    if (threadIdx.x < sizeof(CUtensorMap) / sizeof(int))
        reinterpret_cast<int*>(map)[threadIdx.x] =
            reinterpret_cast<const int*>(maps + experts[blockIdx.x])[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        mbar_init(&full, 1);
        fence_barrier_init();
        if constexpr (!broken) {
            asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
            asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
        }
        mbar_arrive_expect_tx(&full, sizeof box);
        tma_load_2d(box, map, 0, 0, &full);
    }
    __syncthreads();
    mbar_wait(&full, 0);
    for (int row = threadIdx.x / 32; row < 8; row += threads / 32)
        out[blockIdx.x * 256 + row * 32 + threadIdx.x % 32] = box[row][threadIdx.x % 32] - row;
}

bool map_copied_without_fence(bool broken) {
    constexpr int experts = 3, blocks = 4;
    const std::vector<int> choice = {2, 0, 1, 2};
    const auto host = pairs::small_ints(experts * 256);
    pairs::Device<int> in(host), chosen(choice), out(blocks * 256);
    std::vector<CUtensorMap> maps;
    for (int expert = 0; expert < experts; ++expert)
        maps.push_back(pairs::make_map(in.data() + expert * 256, 32, 8, 32, 8));
    pairs::Device<CUtensorMap> device_maps(maps), workspace(blocks);
    (broken ? grouped_kernel<true> : grouped_kernel<false>)<<<blocks, threads>>>(
        device_maps.data(), chosen.data(), workspace.data(), out.data());
    return pairs::all_are(out, [&](int i) { return host[choice[i / 256] * 256 + i % 256] - i % 256 / 32; });
}

constexpr pairs::Pair list[] = {
    {.name = "second_write_after_fence",
     .mistake = "The sums are written behind the proxy fence: nothing makes them visible to the bulk store.",
     .fix = "fence.proxy.async after the last write, before the barrier.",
     .run = second_write_after_fence,
     .finding = "missing-proxy-fence",
     .says = "No fence.proxy.async lies between them",
     .remedy = "each writing thread must execute fence.proxy.async"},
    {.name = "stores_wait_for_two",
     .mistake = "With two buffers the wait may leave one group pending, not two: from the third tile on the "
                "buffer is "
                "overwritten while its store still reads it.",
     .fix = "wait_group.read 1.",
     .run = stores_wait_for_two,
     .finding = "reuse-before-read-done",
     .says = "with N = 2: that leaves the 2 newest groups of 2 pending",
     .remedy = "Wait with cp.async.bulk.wait_group"},
    {.name = "wait_by_other_thread",
     .mistake =
         "Thread 0 waits for bulk groups, but the store was committed by another thread: the groups are each "
         "thread's own, so there is nothing to wait for.",
     .fix = "The thread that issued the last store waits for it.",
     .run = wait_by_other_thread,
     .finding = "reuse-before-read-done",
     .says = "for its own groups",
     .remedy = "The thread that issued it must execute cp.async.bulk.commit_group and "
               "cp.async.bulk.wait_group.read"},
    {.name = "second_store_not_committed",
     .mistake =
         "The second store follows the commit and belongs to no group: wait_group does not wait for it, and "
         "the block may end while it reads shared memory.",
     .fix = "Commit behind both stores.",
     .run = second_store_not_committed,
     .finding = "exited-with-copies-in-flight",
     .says = "no commit_group",
     .remedy = "commit_group after it"},
    {.name = "read_done_is_not_written",
     .mistake =
         "wait_group.read returns when the source has been read; the parts need not be in global memory yet "
         "when the ticket is taken.",
     .fix = "cp.async.bulk.wait_group 0 without .read before the ticket.",
     .run = read_done_is_not_written,
     .finding = "race-global",
     .says = "without having seen that operation complete",
     .remedy = "without .read"},
    {.name = "reduce_onto_plain_writes",
     .mistake =
         "The row is initialised with ordinary stores, then the bulk reduction adds to it through the async "
         "proxy without a proxy fence for global memory between.",
     .fix = "Every writing thread executes fence.proxy.async.global before the barrier.",
     .run = reduce_onto_plain_writes,
     .finding = "missing-proxy-fence",
     .says = "the bulk reduction and the write may land in either order",
     .remedy = "each writing thread must execute fence.proxy.async"},
    {.name = "bins_cleared_early",
     .mistake =
         "The wait of thread 0 stands behind the barrier: the other threads clear the bins while the bulk "
         "reduction still reads them.",
     .fix = "wait_group.read of thread 0, then __syncthreads().",
     .run = bins_cleared_early,
     .finding = "reuse-before-read-done",
     .says = "after the barrier",
     .remedy = "wait_group.read; then a __syncthreads()"},
    {.name = "fence_before_copies_land",
     .mistake =
         "The proxy fence is executed before the wait for cp.async: the rows land behind it, and the bulk "
         "store may not see them.",
     .fix = "fence.proxy.async behind cp.async.wait_group.",
     .run = fence_before_copies_land,
     .finding = "missing-proxy-fence",
     .says = "No fence.proxy.async lies between them",
     .remedy = "after cp.async.wait_group"},
    {.name = "reload_over_pending_store",
     .mistake = "The next box is loaded into the buffer while the store of the last one may still read it.",
     .fix = "cp.async.bulk.wait_group.read 0 before the load.",
     .run = reload_over_pending_store,
     .finding = "reuse-before-read-done",
     .says = "a tensor load issued by thread (0,0,0) of block (0,0,0) overwrites what a tensor store",
     .remedy = "wait_group.read"},
    {.name = "map_copied_without_fence",
     .mistake =
         "The tensor map is written with ordinary stores and used at once: the tensor map proxy has not been "
         "made to see it.",
     .fix = "fence.proxy.tensormap::generic release and acquire between the write and the copy.",
     .run = map_copied_without_fence,
     .finding = "missing-proxy-fence",
     .says = "tensormap proxy, which may still hold the map from before",
     .remedy = "fence.proxy.tensormap::generic.release"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// Barriers, semaphores and latches of libcu++, as its users write them.
#include "pairs.hpp"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/ptx>
#include <cuda/semaphore>

#include <algorithm>
#include <new>
#include <utility>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace {

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ void init_for_copies(Barrier& barrier, int count) {
    if (threadIdx.x == 0) {
        init(&barrier, count);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
}

// --- A rod in segments of cells held in registers; only the segments' edges go through shared memory.

constexpr int rod_threads = 64, cells = 6, rod_rounds = 5;

__host__ __device__ int blend(int left, int middle, int right) {
    return (left + 2 * middle + right) & 0xffff;
}

template <bool broken>
__global__ void relax_kernel(const int* in, int* out) {
    __shared__ Barrier exchange;
    __shared__ int edges[2][rod_threads][2];
    const int t = threadIdx.x, first = (blockIdx.x * rod_threads + t) * cells;
    if (t == 0)
        init(&exchange, rod_threads);
    __syncthreads();
    int cell[cells], next[cells];
    for (int i = 0; i < cells; ++i)
        cell[i] = in[first + i];
    for (int round = 0; round < rod_rounds; ++round) {
        auto& edge = edges[round % 2];
        Barrier::arrival_token token;
        if constexpr (broken)
            token = exchange.arrive();
        edge[t][0] = cell[0];
        edge[t][1] = cell[cells - 1];
        if constexpr (!broken)
            token = exchange.arrive();
        for (int i = 1; i < cells - 1; ++i)
            next[i] = blend(cell[i - 1], cell[i], cell[i + 1]);
        exchange.wait(std::move(token));
        next[0] = blend(edge[(t + rod_threads - 1) % rod_threads][1], cell[0], cell[1]);
        next[cells - 1] = blend(cell[cells - 2], cell[cells - 1], edge[(t + 1) % rod_threads][0]);
        for (int i = 0; i < cells; ++i)
            cell[i] = next[i];
    }
    for (int i = 0; i < cells; ++i)
        out[first + i] = cell[i];
}

bool relax(bool broken) {
    constexpr int blocks = 2, length = rod_threads * cells;
    auto host = pairs::random_ints(blocks * length);
    pairs::Device<int> in(host), out(host.size());
    (broken ? relax_kernel<true> : relax_kernel<false>)<<<blocks, rod_threads>>>(in.data(), out.data());
    for (int round = 0; round < rod_rounds; ++round) {
        const auto old = host;
        for (int b = 0; b < blocks; ++b)
            for (int i = 0; i < length; ++i)
                host[b * length + i] = blend(old[b * length + (i + length - 1) % length], old[b * length + i],
                                             old[b * length + (i + 1) % length]);
    }
    return out.read() == host;
}

// --- Rows of unequal length, one a thread: how often is a row the greatest of its column?

constexpr int rows = 96, columns = 10;

template <bool broken>
__global__ void column_wins_kernel(const int* matrix, const int* lengths, int* wins) {
    __shared__ Barrier column_done;
    __shared__ int best[columns];
    const int t = threadIdx.x;
    if (t == 0)
        init(&column_done, rows);
    if (t < columns)
        best[t] = 0;
    __syncthreads();
    int won = 0;
    const int length = lengths[t];
    for (int k = 0; k < length; ++k) {
        const int value = matrix[t * columns + k];
        atomicMax(&best[k], value);
        column_done.arrive_and_wait();
        won += best[k] == value;
    }
    if (length < columns) { // leaves the others
        if constexpr (broken)
            (void)column_done.arrive();
        else
            column_done.arrive_and_drop();
    }
    wins[t] = won;
}

bool column_wins(bool broken) {
    const auto host = pairs::random_ints(rows * columns);
    std::vector<int> lengths(rows), expected(rows);
    for (int r = 0; r < rows; ++r)
        lengths[r] = r % 7 == 3 ? columns : 1 + r * 5 % columns;
    for (int k = 0; k < columns; ++k) {
        int best = 0;
        for (int r = 0; r < rows; ++r)
            if (k < lengths[r])
                best = std::max(best, host[r * columns + k]);
        for (int r = 0; r < rows; ++r)
            expected[r] += k < lengths[r] && host[r * columns + k] == best;
    }
    pairs::Device<int> matrix(host), length(lengths), wins(rows);
    (broken ? column_wins_kernel<true> : column_wins_kernel<false>)<<<1, rows>>>(matrix.data(), length.data(),
                                                                                 wins.data());
    return wins.read() == expected;
}

// --- The programming guide's producers and consumers: a warp fills two buffers, two warps consume them.

constexpr int row_width = 9, consumers = 64, tile_ints = consumers * row_width, ring_tiles = 5;

template <bool broken>
__global__ void above_mean_kernel(const int* in, int* out) {
    __shared__ Barrier ready[2], filled[2];
    __shared__ int buffers[2][tile_ints];
    auto block = cg::this_thread_block();
    if (block.thread_rank() < 2) {
        init(&ready[block.thread_rank()], block.size());
        init(&filled[block.thread_rank()], block.size());
    }
    block.sync();
    if (block.thread_rank() < 32) {
        for (int tile = 0; tile < ring_tiles; ++tile) {
            ready[tile % 2].arrive_and_wait();
            for (int i = block.thread_rank(); i < tile_ints; i += 32)
                buffers[tile % 2][i] = in[tile * tile_ints + i];
            (void)filled[tile % 2].arrive();
        }
        return;
    }
    const int c = block.thread_rank() - 32;
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int tile = 0; tile < ring_tiles; ++tile) {
        filled[tile % 2].arrive_and_wait();
        const int* row = &buffers[tile % 2][c * row_width];
        int sum = 0, above = 0;
        for (int i = 0; i < row_width; ++i)
            sum += row[i];
        if constexpr (broken)
            (void)ready[tile % 2].arrive();
        for (int i = 0; i < row_width; ++i)
            above += row[i] * row_width > sum;
        if constexpr (!broken)
            (void)ready[tile % 2].arrive();
        out[tile * consumers + c] = above;
    }
}

bool above_mean(bool broken) {
    auto host = pairs::random_ints(ring_tiles * tile_ints);
    std::vector<int> expected;
    for (auto& each : host)
        each &= 0xffff;
    for (auto row = host.begin(); row != host.end(); row += row_width) {
        int sum = 0;
        std::for_each(row, row + row_width, [&](int v) { sum += v; });
        expected.push_back(std::count_if(row, row + row_width, [&](int v) { return v * row_width > sum; }));
    }
    pairs::Device<int> in(host), out(expected.size());
    (broken ? above_mean_kernel<true> : above_mean_kernel<false>)<<<1, 32 + consumers>>>(in.data(),
                                                                                         out.data());
    return out.read() == expected;
}

// --- Tiles by memcpy_async_tx; the last one is not full.

constexpr int copy_threads = 128, copy_tile = 256;

template <bool broken>
__global__ void triple_kernel(const int* in, int* out, int count) {
    __shared__ alignas(16) int tile[copy_tile];
    __shared__ Barrier full;
    init_for_copies(full, copy_threads);
    for (int first = blockIdx.x * copy_tile; first < count; first += gridDim.x * copy_tile) {
        const int size = min(copy_tile, count - first);
        Barrier::arrival_token token;
        if (threadIdx.x == 0) {
            const cuda::aligned_size_t<16> bytes(size * sizeof(int));
            cuda::device::memcpy_async_tx(tile, in + first, bytes, full);
            token = cuda::device::barrier_arrive_tx(full, 1, broken ? sizeof(tile) : size_t(bytes));
        } else {
            token = full.arrive();
        }
        full.wait(std::move(token));
        for (int i = threadIdx.x; i < size; i += copy_threads)
            out[first + i] = 3 * tile[i];
        __syncthreads();
    }
}

bool triple(bool broken) {
    constexpr int count = 5 * copy_tile + 100;
    auto host = pairs::random_ints(count);
    pairs::Device<int> in(host), out(count);
    (broken ? triple_kernel<true> : triple_kernel<false>)<<<2, copy_threads>>>(in.data(), out.data(), count);
    for (int& each : host)
        each *= 3;
    return out.read() == host;
}

// --- A tile changed in place, then filled again by memcpy_async, which is a bulk copy for aligned sizes.

constexpr int place_threads = 128, place_tiles = 4;

template <bool broken>
__global__ void in_place_kernel(const int* in, int* out) {
    __shared__ alignas(16) int tile[place_threads];
    __shared__ Barrier loaded;
    auto block = cg::this_thread_block();
    init_for_copies(loaded, block.size());
    const int t = block.thread_rank();
    for (int k = 0; k < place_tiles; ++k) {
        const int first = (blockIdx.x * place_tiles + k) * place_threads;
        cuda::memcpy_async(block, tile, in + first, cuda::aligned_size_t<16>(sizeof(tile)), loaded);
        loaded.arrive_and_wait();
        const int value = tile[t];
        tile[t] = value ^ (value >> 7);
        block.sync();
        out[first + t] = tile[t] + tile[(t + 5) % place_threads];
        if constexpr (!broken)
            cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
        block.sync();
    }
}

bool in_place(bool broken) {
    const auto host = pairs::random_ints(2 * place_tiles * place_threads);
    std::vector<int> expected(host.size());
    const auto change = [&](int i) { return host[i] ^ (host[i] >> 7); };
    for (int i = 0; i < int(host.size()); ++i)
        expected[i] = change(i) + change(i / place_threads * place_threads + (i + 5) % place_threads);
    pairs::Device<int> in(host), out(host.size());
    (broken ? in_place_kernel<true> : in_place_kernel<false>)<<<2, place_threads>>>(in.data(), out.data());
    return out.read() == expected;
}

// --- Temporary storage: first a barrier lies in it, then the warps' sums.

constexpr int storage_threads = 256;

template <bool broken>
__global__ void block_sum_kernel(const int* in, unsigned* out) {
    __shared__ int tile[storage_threads];
    __shared__ alignas(8) unsigned char storage[storage_threads / 32 * sizeof(unsigned)];
    auto block = cg::this_thread_block();
    const int t = block.thread_rank();
    auto* loaded = reinterpret_cast<Barrier*>(storage);
    if (t == 0)
        init(loaded, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in + blockIdx.x * storage_threads, sizeof(tile), *loaded);
    loaded->arrive_and_wait();
    if constexpr (!broken)
        block.sync();
    if (t == 0)
        loaded->~Barrier();
    block.sync();
    auto* sums = reinterpret_cast<unsigned*>(storage);
    const unsigned sum = __reduce_add_sync(0xffffffff, unsigned(tile[(t * 37 + 1) % storage_threads]));
    if (t % 32 == 0)
        sums[t / 32] = sum;
    block.sync();
    if (t == 0) {
        unsigned total = 0;
        for (int w = 0; w < storage_threads / 32; ++w)
            total += sums[w];
        out[blockIdx.x] = total;
    }
}

bool block_sum(bool broken) {
    constexpr int blocks = 3;
    const auto host = pairs::random_ints(blocks * storage_threads);
    std::vector<unsigned> expected(blocks);
    for (int i = 0; i < blocks * storage_threads; ++i)
        expected[i / storage_threads] += host[i];
    pairs::Device<int> in(host);
    pairs::Device<unsigned> out(blocks);
    (broken ? block_sum_kernel<true> : block_sum_kernel<false>)<<<blocks, storage_threads>>>(in.data(),
                                                                                             out.data());
    return out.read() == expected;
}

// --- A record in global memory that blocks update in turn, guarded by a binary semaphore.

struct Record {
    unsigned sum;
    int greatest, count;
    bool operator==(const Record&) const = default;
};

template <cuda::thread_scope scope>
__global__ void make_lock(void* lock) {
    new (lock) cuda::binary_semaphore<scope>(1);
}

template <cuda::thread_scope scope>
__global__ void record_kernel(const int* in, void* storage, Record* record) {
    const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    const unsigned sum = __reduce_add_sync(0xffffffff, unsigned(value));
    const int greatest = __reduce_max_sync(0xffffffff, value);
    if (threadIdx.x % 32 == 0) {
        auto& lock = *static_cast<cuda::binary_semaphore<scope>*>(storage);
        lock.acquire();
        record->sum += sum;
        record->greatest = max(record->greatest, greatest);
        record->count += 32;
        lock.release();
    }
}

bool record_of_blocks(bool broken) {
    constexpr int blocks = 4, threads = 64;
    const auto host = pairs::random_ints(blocks * threads);
    Record expected{0, 0, blocks * threads};
    for (int each : host) {
        expected.sum += each;
        expected.greatest = std::max(expected.greatest, each);
    }
    pairs::Device<int> in(host), lock(16);
    pairs::Device<Record> record(std::vector<Record>(1));
    (broken ? make_lock<cuda::thread_scope_block>
            : make_lock<cuda::thread_scope_device>)<<<1, 1>>>(lock.data());
    (broken ? record_kernel<cuda::thread_scope_block>
            : record_kernel<cuda::thread_scope_device>)<<<blocks, threads>>>(in.data(), lock.data(),
                                                                             record.data());
    return record.read() == std::vector{expected};
}

// --- Block 0 adds up what all blocks have left, as soon as a latch says so.

constexpr int latch_threads = 96;

__global__ void make_latch(cuda::latch<cuda::thread_scope_device>* latch, int count) {
    new (latch) cuda::latch<cuda::thread_scope_device>(count);
}

template <bool broken>
__global__ void gather_kernel(const int* in, int* parts, int* out,
                              cuda::latch<cuda::thread_scope_device>* done) {
    const int t = threadIdx.x, i = blockIdx.x * latch_threads + t;
    parts[i] = in[i] % 1000 + blockIdx.x;
    if constexpr (!broken)
        __syncthreads();
    if (t == 0)
        done->count_down();
    if (blockIdx.x != 0)
        return;
    if (t == 0)
        done->wait();
    __syncthreads();
    int sum = 0;
    for (int b = 0; b < int(gridDim.x); ++b)
        sum += parts[b * latch_threads + (t + b) % latch_threads];
    out[t] = sum;
}

bool gather(bool broken) {
    constexpr int blocks = 4;
    const auto host = pairs::random_ints(blocks * latch_threads);
    std::vector<int> expected(latch_threads);
    for (int t = 0; t < latch_threads; ++t)
        for (int b = 0; b < blocks; ++b)
            expected[t] += host[b * latch_threads + (t + b) % latch_threads] % 1000 + b;
    pairs::Device<int> in(host), parts(host.size()), out(latch_threads), storage(16);
    auto* latch = reinterpret_cast<cuda::latch<cuda::thread_scope_device>*>(storage.data());
    make_latch<<<1, 1>>>(latch, blocks);
    (broken ? gather_kernel<true> : gather_kernel<false>)<<<blocks, latch_threads>>>(in.data(), parts.data(),
                                                                                     out.data(), latch);
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "relax",
     .mistake = "Each thread arrives at the barrier before it has written its edges, so the wait does not "
                "cover them.",
     .fix = "Call exchange.arrive() after the edges are written.",
     .run = relax,
     .finding = "race-shared",
     .says = "arrived at barrier exchange before its write",
     .remedy = "Move the arrive after the last write"},
    {.name = "column_wins",
     .mistake = "Threads whose row has ended arrive once more and leave, but stay in the barrier's expected "
                "count: the "
                "phase after that never completes.",
     .fix = "column_done.arrive_and_drop() instead of arrive() when a thread leaves.",
     .run = column_wins,
     .finding = "deadlock",
     .says = "41 of 96 arrivals missing",
     .remedy = "arrive_and_drop"},
    {.name = "above_mean",
     .mistake = "Consumers give the buffer back after the first of two passes over it, so the producers "
                "overwrite it "
                "during the second.",
     .fix = "ready[].arrive() after the second pass.",
     .run = above_mean,
     .finding = "race-shared",
     .says = "arrived at barrier ready before its read",
     .remedy = "Move the arrive after the last read"},
    {.name = "triple",
     .mistake =
         "The barrier expects the bytes of a full tile also for the last tile, which is smaller: its phase "
         "never completes.",
     .fix = "barrier_arrive_tx with the bytes that this tile's copy really has.",
     .run = triple,
     .finding = "deadlock",
     .says = "(1024 expected, 400 arrived)",
     .remedy = "Announce exactly what they copy"},
    {.name = "in_place",
     .mistake =
         "The tile is written by ordinary stores and then by the next bulk copy (async proxy), with no proxy "
         "fence between.",
     .fix = "Every thread executes fence.proxy.async after its stores to the tile, before the block barrier "
            "that "
            "precedes the next memcpy_async.",
     .run = in_place,
     .finding = "missing-proxy-fence",
     .says = "written through the generic proxy",
     .remedy = "fence.proxy.async"},
    {.name = "block_sum",
     .mistake = "Thread 0 destroys the barrier while other threads may still wait on it.",
     .fix = "block.sync() between arrive_and_wait() and the destructor.",
     .run = block_sum,
     .finding = "barrier-reinit-in-use",
     .says = "invalidated while other threads may still wait",
     .remedy = "__syncthreads() between the last wait and the destructor"},
    {.name = "record_of_blocks",
     .mistake =
         "A semaphore of thread_scope_block guards a record that several blocks update: its acquire and "
         "release do not order memory between blocks.",
     .fix = "binary_semaphore<thread_scope_device>.",
     .run = record_of_blocks,
     .finding = "race-global",
     .says = "nothing orders one before the other",
     .remedy = "Use device scope"},
    {.name = "gather",
     .mistake =
         "Thread 0 counts the latch down before the other threads of its block have stored their parts.",
     .fix = "__syncthreads() between the stores and count_down().",
     .run = gather,
     .finding = "race-global",
     .says = "released by thread (0,0,0) of block (1,0,0) before this write",
     .remedy = "__syncthreads() between the write and the release"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

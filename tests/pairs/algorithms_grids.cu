// Algorithms whose blocks work together within one kernel: last blocks, look-back, split-K, flags, grid
// barriers.
#include "pairs.hpp"

#include <cuda/atomic>

#include <algorithm>

namespace {

using Counter = cuda::atomic_ref<int, cuda::thread_scope_device>;

std::vector<int> zeros(int count) { return std::vector<int>(count); }

// --- A product split along k: the block that comes last to a tile adds the partial sums up.

constexpr int split_threads = 64, splits = 3, split_depth = 20;

template <bool broken>
__global__ void split_k_kernel(const int* a, const int* x, int* workspace, int* arrived, int* y) {
    __shared__ bool last;
    const int t = threadIdx.x, tile = blockIdx.x, split = blockIdx.y;
    const int row = tile * split_threads + t, first = split * split_depth;
    int sum = 0;
    for (int k = first; k < first + split_depth; ++k)
        sum += a[k * gridDim.x * split_threads + row] * x[k];
    int* partial = workspace + tile * splits * split_threads;
    partial[split * split_threads + t] = sum;
    if constexpr (!broken)
        __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(&arrived[tile], 1) == splits - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    int total = 0;
    for (int s = 0; s < splits; ++s)
        total += partial[s * split_threads + t];
    y[row] = total;
}

bool split_k(bool broken) {
    constexpr int tiles = 2, n = tiles * split_threads, depth = splits * split_depth;
    auto a_host = pairs::random_ints(n * depth), x_host = pairs::random_ints(depth, 2);
    std::vector<int> expected(n);
    for (auto* each : {&a_host, &x_host})
        for (int& value : *each)
            value %= 1000;
    for (int k = 0; k < depth; ++k)
        for (int i = 0; i < n; ++i)
            expected[i] += a_host[k * n + i] * x_host[k];
    pairs::Device<int> a(a_host), x(x_host), workspace(n * splits), arrived(zeros(tiles)), y(n);
    (broken ? split_k_kernel<true> : split_k_kernel<false>)<<<dim3(tiles, splits), split_threads>>>(
        a.data(), x.data(), workspace.data(), arrived.data(), y.data());
    return y.read() == expected;
}

// --- The last block's sum again, with an atomic_ref and its orders in place of fences.

constexpr int sum_threads = 128;

template <cuda::memory_order order>
__global__ void sum_kernel(const int* in, unsigned* partial, int* arrived, unsigned* out) {
    __shared__ unsigned total;
    __shared__ bool last;
    const int t = threadIdx.x;
    if (t == 0)
        total = 0;
    __syncthreads();
    atomicAdd(&total, unsigned(in[blockIdx.x * sum_threads + t]));
    __syncthreads();
    if (t == 0) {
        partial[blockIdx.x] = total;
        last = Counter(*arrived).fetch_add(1, order) == int(gridDim.x) - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        unsigned sum = 0;
        for (int b = 0; b < int(gridDim.x); ++b)
            sum += partial[b];
        *out = sum;
    }
}

bool last_block_sum(bool broken) {
    constexpr int blocks = 5;
    const auto host = pairs::random_ints(blocks * sum_threads);
    unsigned expected = 0;
    for (int each : host)
        expected += each;
    pairs::Device<int> in(host), arrived(zeros(1));
    pairs::Device<unsigned> partial(blocks), out(1);
    (broken ? sum_kernel<cuda::memory_order_release>
            : sum_kernel<cuda::memory_order_acq_rel>)<<<blocks, sum_threads>>>(in.data(), partial.data(),
                                                                               arrived.data(), out.data());
    return out.read() == std::vector{expected};
}

// --- Sums of all that follows, in one pass: each tile waits for the one behind it. The grid does not fit the
// chip.

constexpr int suffix_threads = 64, suffix_stage = 200 * 1024;

template <bool broken>
__global__ void suffix_kernel(const int* in, int* ticket, int* done, unsigned* suffix, unsigned* out) {
    extern __shared__ unsigned stage[]; // for the longest of tiles
    __shared__ int tile;
    const int t = threadIdx.x, tiles = gridDim.x;
    if (t == 0)
        tile = broken ? blockIdx.x : tiles - 1 - atomicAdd(ticket, 1);
    __syncthreads();
    stage[t] = in[tile * suffix_threads + t];
    __syncthreads();
    unsigned sum = 0;
    for (int i = t; i < suffix_threads; ++i)
        sum += stage[i];
    if (tile + 1 < tiles) {
        if (t == 0)
            while (Counter(done[tile + 1]).load(cuda::memory_order_acquire) == 0) {
            }
        __syncthreads();
        sum += suffix[tile + 1];
    }
    out[tile * suffix_threads + t] = sum;
    if (t == 0) {
        suffix[tile] = sum;
        Counter(done[tile]).store(1, cuda::memory_order_release);
    }
}

bool suffix(bool broken) {
    constexpr int tiles = 150; // more than any Hopper has multiprocessors
    const auto host = pairs::random_ints(tiles * suffix_threads);
    std::vector<unsigned> expected(host.begin(), host.end());
    for (int i = int(host.size()) - 2; i >= 0; --i)
        expected[i] += expected[i + 1];
    pairs::Device<int> in(host), ticket(zeros(1)), done(zeros(tiles));
    pairs::Device<unsigned> sums(tiles), out(host.size());
    const auto kernel = broken ? suffix_kernel<true> : suffix_kernel<false>;
    pairs::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, suffix_stage),
                 "attribute");
    kernel<<<tiles, suffix_threads, suffix_stage>>>(in.data(), ticket.data(), done.data(), sums.data(),
                                                    out.data());
    return out.read() == expected;
}

// --- Decoupled look-back: a tile's state says whether its own sum or the sum up to it is there.

constexpr int look_threads = 64, own_sum = 1, sum_so_far = 2;

template <cuda::memory_order last_order>
__global__ void look_back_kernel(const unsigned* in, int* ticket, int* state, unsigned* own, unsigned* upto,
                                 unsigned* out) {
    __shared__ unsigned values[look_threads], before;
    __shared__ int tile;
    const int t = threadIdx.x;
    if (t == 0)
        tile = atomicAdd(ticket, 1);
    __syncthreads();
    values[t] = in[tile * look_threads + t];
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i <= t; ++i)
        sum += values[i];
    if (t == look_threads - 1) {
        unsigned behind = 0;
        if (tile > 0) {
            own[tile] = sum;
            Counter(state[tile]).store(own_sum, cuda::memory_order_release);
        }
        for (int k = tile - 1; k >= 0; --k) {
            int seen;
            while ((seen = Counter(state[k]).load(cuda::memory_order_acquire)) == 0) {
            }
            behind += seen == sum_so_far ? upto[k] : own[k];
            if (seen == sum_so_far)
                break;
        }
        upto[tile] = behind + sum;
        Counter(state[tile]).store(sum_so_far, last_order);
        before = behind;
    }
    __syncthreads();
    out[tile * look_threads + t] = before + sum;
}

bool look_back(bool broken) {
    constexpr int tiles = 6;
    const auto ints = pairs::random_ints(tiles * look_threads);
    std::vector<unsigned> host(ints.begin(), ints.end());
    pairs::Device<unsigned> in(host), own(tiles), upto(tiles), out(host.size());
    pairs::Device<int> ticket(zeros(1)), state(zeros(tiles));
    (broken ? look_back_kernel<cuda::memory_order_relaxed>
            : look_back_kernel<cuda::memory_order_release>)<<<tiles, look_threads>>>(
        in.data(), ticket.data(), state.data(), own.data(), upto.data(), out.data());
    for (std::size_t i = 1; i < host.size(); ++i)
        host[i] += host[i - 1];
    return out.read() == host;
}

// --- Stream-K's fix-up in turn: block k adds its part to the output after block k - 1.

constexpr int turn_threads = 96;

template <bool broken>
__global__ void in_turn_kernel(const int* parts, int* turn, int* out) {
    const int t = threadIdx.x, me = blockIdx.x;
    const int part = parts[me * turn_threads + t] / (me + 1);
    if (t == 0)
        while (Counter(*turn).load(cuda::memory_order_acquire) != me) {
        }
    if constexpr (!broken)
        __syncthreads();
    out[t] = me == 0 ? part : (out[t] ^ part) * 3;
    __syncthreads();
    if (t == 0)
        Counter(*turn).store(me + 1, cuda::memory_order_release);
}

bool in_turn(bool broken) {
    constexpr int blocks = 4;
    auto host = pairs::random_ints(blocks * turn_threads);
    std::vector<int> expected(turn_threads);
    for (int b = 0; b < blocks; ++b)
        for (int t = 0; t < turn_threads; ++t) {
            int& value = host[b * turn_threads + t];
            value &= 0xffff;
            expected[t] = b == 0 ? value : (expected[t] ^ value / (b + 1)) * 3;
        }
    pairs::Device<int> parts(host), turn(zeros(1)), out(turn_threads);
    (broken ? in_turn_kernel<true>
            : in_turn_kernel<false>)<<<blocks, turn_threads>>>(parts.data(), turn.data(), out.data());
    return out.read() == expected;
}

// --- A wavefront over blocks of rows: each needs the last row of the block above; volatile flags say when.

constexpr int wave_width = 64, wave_rows = 3;

template <bool broken>
__global__ void wavefront_kernel(const int* cost, int* best, int* flags) {
    volatile int* ready = flags;
    const int x = threadIdx.x;
    const int first = blockIdx.x * wave_rows;
    __shared__ int above[wave_width];
    if (blockIdx.x > 0) {
        if (x == 0) {
            while (ready[blockIdx.x - 1] == 0) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    above[x] = blockIdx.x == 0 ? 0 : best[(first - 1) * wave_width + x];
    for (int row = first; row < first + wave_rows; ++row) {
        __syncthreads();
        const int least = min(above[x], min(above[max(x - 1, 0)], above[min(x + 1, wave_width - 1)]));
        __syncthreads();
        above[x] = least + cost[row * wave_width + x];
        best[row * wave_width + x] = above[x];
    }
    __syncthreads();
    if (x == 0) {
        if constexpr (!broken)
            __threadfence();
        ready[blockIdx.x] = 1;
    }
}

bool wavefront(bool broken) {
    constexpr int blocks = 4, rows = blocks * wave_rows;
    const auto host = pairs::random_ints(rows * wave_width);
    auto expected = host;
    for (int row = 1; row < rows; ++row)
        for (int x = 0; x < wave_width; ++x) {
            const int* above = &expected[(row - 1) * wave_width];
            expected[row * wave_width + x] +=
                std::min({above[x], above[std::max(x - 1, 0)], above[std::min(x + 1, wave_width - 1)]});
        }
    pairs::Device<int> cost(host), best(host.size()), flags(zeros(blocks));
    (broken ? wavefront_kernel<true>
            : wavefront_kernel<false>)<<<blocks, wave_width>>>(cost.data(), best.data(), flags.data());
    return best.read() == expected;
}

// --- Heat on a ring, two arrays in turn, and a barrier of the grid made of one counter.

constexpr int heat_threads = 64, heat_steps = 4;

__device__ void grid_barrier(int* arrived, int target) {
    __syncthreads();
    if (threadIdx.x == 0) {
        Counter(*arrived).fetch_add(1, cuda::memory_order_release);
        while (Counter(*arrived).load(cuda::memory_order_acquire) < target) {
        }
    }
    __syncthreads();
}

template <bool broken>
__global__ void heat_kernel(int* from, int* to, int* arrived) {
    const int blocks = gridDim.x, count = blocks * heat_threads, i = blockIdx.x * heat_threads + threadIdx.x;
    for (int step = 1; step <= heat_steps; ++step) {
        to[i] = (from[(i + count - 1) % count] + 2 * from[i] + from[(i + 1) % count]) / 4;
        grid_barrier(arrived, broken ? blocks : step * blocks);
        int* const last = from;
        from = to;
        to = last;
    }
}

bool heat(bool broken) {
    constexpr int blocks = 3, count = blocks * heat_threads;
    auto host = pairs::random_ints(count);
    pairs::Device<int> from(host), to(count), arrived(zeros(1));
    (broken ? heat_kernel<true> : heat_kernel<false>)<<<blocks, heat_threads>>>(from.data(), to.data(),
                                                                                arrived.data());
    for (int step = 0; step < heat_steps; ++step) {
        const auto old = host;
        for (int i = 0; i < count; ++i)
            host[i] = (old[(i + count - 1) % count] + 2 * old[i] + old[(i + 1) % count]) / 4;
    }
    return from.read() == host;
}

constexpr pairs::Pair list[] = {
    {.name = "split_k",
     .mistake =
         "Thread 0 counts the block as arrived before the block's other threads have stored their partial "
         "sums; its fence covers only what it has seen.",
     .fix = "__syncthreads() between the stores and thread 0's fence and atomicAdd.",
     .run = split_k,
     .finding = "race-global",
     .says = "released by thread (0,0,0) of block (0,1,0) before this write",
     .remedy = "__syncthreads() between the write and the release"},
    {.name = "last_block_sum",
     .mistake =
         "The counter is incremented with release order only, so the last block does not acquire the other "
         "blocks' partial sums.",
     .fix = "fetch_add with memory_order_acq_rel.",
     .run = last_block_sum,
     .finding = "race-global",
     .says = "release order only",
     .remedy = "cuda::memory_order_acq_rel"},
    {.name = "suffix",
     .mistake = "A block waits for one with a higher index, which cannot start while the waiting blocks fill "
                "the chip: "
                "blocks are neither all resident nor started in an order one may rely on.",
     .fix = "Take the tile's number from an atomic ticket, so that a block waits only for blocks that have "
            "started.",
     .run = suffix,
     .finding = "deadlock",
     .says = "have not started",
     .remedy = "ticket"},
    {.name = "look_back",
     .mistake =
         "The state that says the running sum is there is stored with relaxed order, so the sum may be read "
         "before it is seen written.",
     .fix = "Store sum_so_far with memory_order_release.",
     .run = look_back,
     .finding = "race-global",
     .says = "relaxed",
     .remedy = "stored with cuda::memory_order_release"},
    {.name = "in_turn",
     .mistake = "Only thread 0 waits for the block's turn; the others add to the output before it is theirs.",
     .fix = "__syncthreads() after thread 0's wait.",
     .run = in_turn,
     .finding = "race-global",
     .says = "only thread (0,0,0) of block (1,0,0) has waited",
     .remedy = "__syncthreads() after the wait"},
    {.name = "wavefront",
     .mistake =
         "The flag is raised with no fence after the row is written: volatile does not order the stores for "
         "another block.",
     .fix = "__threadfence() by thread 0 between __syncthreads() and the store of the flag.",
     .run = wavefront,
     .finding = "race-global",
     .says = "volatile",
     .remedy = "__threadfence() between the data and the flag"},
    {.name = "heat",
     .mistake = "The barrier's counter only grows but its target stays the same, so from the second use on "
                "the barrier "
                "lets everyone through.",
     .fix = "A target of step * blocks.",
     .run = heat,
     .finding = "race-global",
     .says = "a value of an earlier round",
     .remedy = "a target that grows with every round"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

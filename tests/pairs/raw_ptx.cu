// Inline PTX: bytes expected of mbarriers, arrivals of cp.async, named barriers, flags between blocks.
#include "raw_helpers.cuh"

namespace {

using namespace ptx;

constexpr int threads = 128;
constexpr int tile = 4 * threads; // ints: 16 bytes of each thread
constexpr uint32_t tile_bytes = tile * sizeof(int);

/// The last tile is a part of one.
template <bool broken>
__global__ void tail_kernel(const int* in, int* out, int n) {
    __shared__ alignas(128) int data[2][tile];
    __shared__ uint64_t full[2];
    if (threadIdx.x == 0) {
        mbar_init(&full[0], 1);
        mbar_init(&full[1], 1);
        fence_barrier_init();
    }
    __syncthreads();
    const auto load = [&](int k) {
        const uint32_t bytes = min(tile, n - k * tile) * sizeof(int);
        mbar_arrive_expect_tx(&full[k % 2], broken ? tile_bytes : bytes);
        tma_load_1d(data[k % 2], in + k * tile, bytes, &full[k % 2]);
    };
    if (threadIdx.x == 0)
        load(0);
    for (int k = 0; k * tile < n; ++k) {
        if (threadIdx.x == 0 && (k + 1) * tile < n)
            load(k + 1);
        mbar_wait(&full[k % 2], k / 2 & 1);
        for (int i = threadIdx.x; i < tile && k * tile + i < n; i += threads)
            out[k * tile + i] = data[k % 2][i] ^ 0x55;
        __syncthreads();
    }
}

bool tail_expects_whole_tile(bool broken) {
    constexpr int n = 4 * tile + 100;
    const auto host = pairs::random_ints(n);
    pairs::Device<int> in(host), out(n);
    (broken ? tail_kernel<true> : tail_kernel<false>)<<<1, threads>>>(in.data(), out.data(), n);
    return pairs::all_are(out, [&](int i) { return host[i] ^ 0x55; });
}

/// Every round has its own table.
template <bool broken>
__global__ void lookup_kernel(const int* tables, int* out, int rounds) {
    __shared__ alignas(128) int table[tile];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        mbar_init(&full, threads);
        fence_barrier_init();
    }
    __syncthreads();
    const auto load = [&](int round) {
        mbar_expect_tx(&full, tile_bytes);
        tma_load_1d(table, tables + round * tile, tile_bytes, &full);
    };
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        if (!broken && threadIdx.x == 0)
            load(round);
        mbar_arrive(&full);
        if (broken && threadIdx.x == 0)
            load(round);
        mbar_wait(&full, round & 1);
        sum = sum * 3 + table[(threadIdx.x * 5 + round) % tile];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

bool arrive_before_expect(bool broken) {
    constexpr int rounds = 4;
    const auto host = pairs::small_ints(rounds * tile);
    pairs::Device<int> in(host), out(threads);
    (broken ? lookup_kernel<true> : lookup_kernel<false>)<<<1, threads>>>(in.data(), out.data(), rounds);
    return pairs::all_are(out, [&](int thread) {
        int sum = 0;
        for (int round = 0; round < rounds; ++round)
            sum = sum * 3 + host[round * tile + (thread * 5 + round) % tile];
        return sum;
    });
}

struct QuantStorage {
    alignas(128) int8_t values[2][tile];
    alignas(128) int scales[2][tile / 32];
    uint64_t full[2];
};

/// Each tile comes with the scales of its 32-byte groups.
template <bool broken>
__global__ void dequantise_kernel(const int8_t* values, const int* scales, int* out, int tiles) {
    __shared__ QuantStorage s;
    if (threadIdx.x == 0) {
        mbar_init(&s.full[0], 1);
        mbar_init(&s.full[1], 1);
        fence_barrier_init();
    }
    __syncthreads();
    const auto load = [&](int k) {
        uint64_t* full = &s.full[k % 2];
        mbar_arrive_expect_tx(full, broken ? sizeof s.values[0] : sizeof s.values[0] + sizeof s.scales[0]);
        tma_load_1d(s.values[k % 2], values + k * tile, sizeof s.values[0], full);
        tma_load_1d(s.scales[k % 2], scales + k * tile / 32, sizeof s.scales[0], full);
    };
    if (threadIdx.x == 0)
        load(0);
    for (int k = 0; k < tiles; ++k) {
        if (threadIdx.x == 0 && k + 1 < tiles)
            load(k + 1);
        mbar_wait(&s.full[k % 2], k / 2 & 1);
        for (int i = threadIdx.x; i < tile; i += threads)
            out[k * tile + i] = s.values[k % 2][i] * s.scales[k % 2][i / 32];
        __syncthreads();
    }
}

bool scales_not_expected(bool broken) {
    constexpr int tiles = 5;
    const auto scales = pairs::small_ints(tiles * tile / 32);
    std::vector<int8_t> values(tiles * tile);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<int8_t>(i * 37);
    pairs::Device<int8_t> in(values);
    pairs::Device<int> scale(scales), out(tiles * tile);
    (broken ? dequantise_kernel<true> : dequantise_kernel<false>)<<<1, threads>>>(in.data(), scale.data(),
                                                                                  out.data(), tiles);
    return pairs::all_are(out, [&](int i) { return values[i] * scales[i / 32]; });
}

/// One tile of each block, reversed.
template <bool broken>
__global__ void reverse_tile_kernel(const int* in, int* out) {
    __shared__ alignas(128) int data[tile];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        mbar_init(&full, 1);
        fence_barrier_init();
        mbar_arrive_expect_tx(&full, tile_bytes);
        tma_load_1d(data, in + blockIdx.x * tile, tile_bytes, &full);
    }
    __syncthreads();
    if constexpr (broken)
        mbar_try_wait(&full, 0); // suspends the thread until the phase is complete
    else
        mbar_wait(&full, 0);
    for (int i = threadIdx.x; i < tile; i += threads)
        out[blockIdx.x * tile + i] = data[tile - 1 - i];
}

bool try_wait_once(bool broken) {
    constexpr int blocks = 3;
    const auto host = pairs::random_ints(blocks * tile);
    pairs::Device<int> in(host), out(blocks * tile);
    (broken ? reverse_tile_kernel<true> : reverse_tile_kernel<false>)<<<blocks, threads>>>(in.data(),
                                                                                           out.data());
    return pairs::all_are(out, [&](int i) { return host[i / tile * tile + tile - 1 - i % tile]; });
}

struct GatherStorage {
    alignas(128) int rows[2][64][4];
    uint64_t full[2], empty[2];
};

enum class Arrival { right, plain, counting };

/// Two warps gather rows of 16 bytes, two warps add them up.
template <Arrival arrival>
__global__ void gather_kernel(const int* in, const int* index, int* out, int rounds) {
    __shared__ GatherStorage s;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < 2; ++stage) {
            mbar_init(&s.full[stage], 64);
            mbar_init(&s.empty[stage], 64);
        }
        fence_barrier_init();
    }
    __syncthreads();
    const int rank = threadIdx.x % 64;
    int sum = 0;
    for (int k = 0; k < rounds; ++k) {
        const int stage = k % 2, phase = k / 2 & 1;
        if (threadIdx.x < 64) {
            mbar_wait(&s.empty[stage], phase ^ 1);
            cp_async16(s.rows[stage][rank], in + 4 * index[k * 64 + rank]);
            if constexpr (arrival == Arrival::right)
                cp_async_mbar_arrive_noinc(&s.full[stage]);
            else if constexpr (arrival == Arrival::plain)
                mbar_arrive(&s.full[stage]);
            else
                cp_async_mbar_arrive(&s.full[stage]);
        } else {
            mbar_wait(&s.full[stage], phase);
            for (int row = 0; row < 64; row += 16)
                sum += s.rows[stage][row + rank / 4][rank % 4] * (k + 1);
            mbar_arrive(&s.empty[stage]);
        }
    }
    if (threadIdx.x >= 64)
        out[rank] = sum;
}

template <Arrival wrong>
bool gather(bool broken) {
    constexpr int rounds = 6, rows = 300;
    const auto host = pairs::small_ints(4 * rows);
    auto index = pairs::random_ints(rounds * 64, 2);
    for (int& each : index)
        each %= rows;
    pairs::Device<int> in(host), indices(index), out(64);
    (broken ? gather_kernel<wrong> : gather_kernel<Arrival::right>)<<<1, 128>>>(in.data(), indices.data(),
                                                                                out.data(), rounds);
    return pairs::all_are(out, [&](int rank) {
        int sum = 0;
        for (int k = 0; k < rounds; ++k)
            for (int row = 0; row < 64; row += 16)
                sum += host[4 * index[k * 64 + row + rank / 4] + rank % 4] * (k + 1);
        return sum;
    });
}

/// Two groups of two warps, each with its own tile: rotated by one element in every round.
template <bool broken>
__global__ void groups_kernel(const int* in, int* out, int rounds) {
    constexpr int size = 64;
    __shared__ int data[2][size];
    const int group = threadIdx.x / size, rank = threadIdx.x % size;
    const int barrier = broken ? 1 : 1 + group;
    data[group][rank] = in[threadIdx.x];
    for (int round = 0; round < rounds + group; ++round) { // the second group does one more
        bar_sync(barrier, size);
        const int value = data[group][(rank + 1) % size];
        bar_sync(barrier, size);
        data[group][rank] = value;
    }
    bar_sync(barrier, size);
    out[threadIdx.x] = data[group][size - 1 - rank];
}

bool named_barrier_shared(bool broken) {
    constexpr int rounds = 5;
    const auto host = pairs::random_ints(128);
    pairs::Device<int> in(host), out(128);
    (broken ? groups_kernel<true> : groups_kernel<false>)<<<1, 128>>>(in.data(), out.data(), rounds);
    return pairs::all_are(out, [&](int i) {
        const int group = i / 64;
        return host[64 * group + (63 - i % 64 + rounds + group) % 64];
    });
}

/// A warp fills a tile, another adds it up; each hands the tile over with the barrier of the other's wait.
template <bool broken>
__global__ void handover_kernel(const int* in, int* out, int rounds) {
    constexpr int full = 1, empty = 2;
    __shared__ int data[64];
    const int lane = threadIdx.x % 32;
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x < 32) {
            if (broken ? round > 1 : round > 0)
                bar_sync(empty, 64);
            data[lane] = in[round * 64 + lane];
            data[lane + 32] = in[round * 64 + lane + 32];
            bar_arrive(full, 64);
        } else {
            bar_sync(full, 64);
            sum = sum * 5 + data[2 * lane] - data[63 - 2 * lane];
            if (round + (broken ? 2 : 1) < rounds)
                bar_arrive(empty, 64);
        }
    }
    if (threadIdx.x >= 32)
        out[lane] = sum;
}

bool handover_skips_first_wait(bool broken) {
    constexpr int rounds = 5;
    const auto host = pairs::small_ints(rounds * 64);
    pairs::Device<int> in(host), out(32);
    (broken ? handover_kernel<true> : handover_kernel<false>)<<<1, 64>>>(in.data(), out.data(), rounds);
    return pairs::all_are(out, [&](int lane) {
        int sum = 0;
        for (int round = 0; round < rounds; ++round)
            sum = sum * 5 + host[round * 64 + 2 * lane] - host[round * 64 + 63 - 2 * lane];
        return sum;
    });
}

/// Split sums: every block but the first leaves its part and raises its flag, the first adds them up.
template <bool broken>
__global__ void fixup_kernel(const int* in, int* parts, int* flags, int* out) {
    const int mine = in[blockIdx.x * blockDim.x + threadIdx.x] * (blockIdx.x + 1);
    if (blockIdx.x != 0) {
        parts[blockIdx.x * blockDim.x + threadIdx.x] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            if constexpr (broken)
                asm volatile("st.release.cta.global.s32 [%0], 1;" ::"l"(flags + blockIdx.x) : "memory");
            else
                asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flags + blockIdx.x) : "memory");
        }
        return;
    }
    if (threadIdx.x > 0 && threadIdx.x < gridDim.x) {
        int raised = 0;
        while (raised == 0)
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                         : "=r"(raised)
                         : "l"(flags + threadIdx.x)
                         : "memory");
    }
    __syncthreads();
    int sum = mine;
    for (int block = 1; block < gridDim.x; ++block)
        sum += parts[block * blockDim.x + threadIdx.x];
    out[threadIdx.x] = sum;
}

bool flag_at_cta_scope(bool broken) {
    constexpr int blocks = 4;
    const auto host = pairs::small_ints(blocks * threads);
    pairs::Device<int> in(host), parts(blocks * threads), flags(std::vector<int>(blocks, 0)), out(threads);
    (broken ? fixup_kernel<true> : fixup_kernel<false>)<<<blocks, threads>>>(in.data(), parts.data(),
                                                                             flags.data(), out.data());
    return pairs::all_are(out, [&](int thread) {
        int sum = 0;
        for (int block = 0; block < blocks; ++block)
            sum += host[block * threads + thread] * (block + 1);
        return sum;
    });
}

constexpr pairs::Pair list[] = {
    {.name = "tail_expects_whole_tile",
     .mistake = "The last tile's copy is shorter, but the barrier expects the bytes of a whole tile: "
                "its phase is never complete.",
     .fix = "Expect the bytes that are copied.",
     .run = tail_expects_whole_tile,
     .finding = "deadlock",
     .says = "(2048 expected, 400 arrived)",
     .remedy = "Announce exactly what they copy"},
    {.name = "arrive_before_expect",
     .mistake = "Thread 0 arrives before it has told the barrier which bytes to expect: if it is the last to "
                "arrive, the phase is complete without the copy and the threads read the old table.",
     .fix = "expect_tx and the copy before the thread's own arrival.",
     .run = arrive_before_expect,
     .finding = "tx-count-mismatch",
     .says = "had arrived before it announced",
     .remedy = "expect_tx before its own arrival"},
    {.name = "scales_not_expected",
     .mistake = "Two copies complete on the barrier, but it expects the bytes of the first one only.",
     .fix = "Expect the sum of the bytes of both copies.",
     .run = scales_not_expected,
     .finding = "deadlock",
     .says = "(512 expected, 576 arrived)",
     .remedy = "Announce all the bytes that copies bring",
     .also = {{"tx-count-mismatch", "brings more bytes than its mbarrier was told", "bytes of all copies"}}},
    {.name = "try_wait_once",
     .mistake = "try_wait is called once and its result ignored; it may return before the phase is complete.",
     .fix = "Loop until try_wait returns true.",
     .run = try_wait_once,
     .finding = "read-before-completion",
     .says = "went on without a yes",
     .remedy = "Ask in a loop until the answer is true"},
    {.name = "plain_arrive_after_cp_async",
     .mistake =
         "An ordinary arrival does not wait for the thread's cp.async: the consumers read rows that have not "
         "landed.",
     .fix = "cp.async.mbarrier.arrive.noinc instead of mbarrier.arrive.",
     .run = gather<Arrival::plain>,
     .finding = "read-before-completion",
     .says = "does not wait for its cp.async",
     .remedy = "cp.async.mbarrier.arrive.noinc"},
    {.name = "cp_async_arrive_counts",
     .mistake =
         "cp.async.mbarrier.arrive without .noinc adds one to the pending count before it arrives: the 64 "
         "arrivals that the barrier was initialised with never come.",
     .fix = "Use .noinc.",
     .run = gather<Arrival::counting>,
     .finding = "deadlock",
     .says = "64 of 64 arrivals missing",
     .remedy = "Use the .noinc form"},
    {.name = "named_barrier_shared",
     .mistake =
         "Both groups of warps use named barrier 1: warps of different groups complete it together, so that "
         "neither group is in step.",
     .fix = "A barrier number for each group.",
     .run = named_barrier_shared,
     .finding = "barrier-overlap",
     .says = "barrier 1 can be completed by threads of two groups",
     .remedy = "a barrier number of its own"},
    {.name = "handover_skips_first_wait",
     .mistake =
         "The writer skips its wait for the reader in the second round as well (and the reader one arrival): "
         "the tile is overwritten while it is read.",
     .fix = "Only the first round has nothing to wait for.",
     .run = handover_skips_first_wait,
     .finding = "barrier-overlap",
     .says = "arrived at barrier 1 twice",
     .remedy = "bar.sync"},
    {.name = "flag_at_cta_scope",
     .mistake =
         "The flag is released at block scope, but another block acquires it: the parts may not be visible "
         "there.",
     .fix = "st.release.gpu.",
     .run = flag_at_cta_scope,
     .finding = "race-global",
     .says = "nothing orders one before the other",
     .remedy = "Use device scope"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

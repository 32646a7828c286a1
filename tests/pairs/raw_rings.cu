// Rings of stages in shared memory, filled by bulk copies and guarded by full and empty mbarriers.
#include "raw_helpers.cuh"

#include <algorithm>

namespace {

using namespace ptx;

constexpr int tile = 256;      // ints of a stage
constexpr int tiles = 8;       // tiles of a block
constexpr int consumers = 128; // followed by one producer warp
constexpr int threads = consumers + 32;
constexpr int blocks = 2;
constexpr int total = blocks * tiles * tile;
constexpr uint32_t tile_bytes = tile * sizeof(int);

template <int stages>
struct SharedStorage {
    alignas(128) int data[stages][tile];
    uint64_t full[stages], empty[stages];
};

template <int stages>
__device__ void init_ring(SharedStorage<stages>& s, uint32_t full_count, uint32_t empty_count) {
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            mbar_init(&s.full[stage], full_count);
            mbar_init(&s.empty[stage], empty_count);
        }
        fence_barrier_init();
    }
    __syncthreads();
}

/// The producer's part: one thread, all tiles in their order.
template <int stages>
__device__ void produce(SharedStorage<stages>& s, const int* in, int count) {
    for (int k = 0; k < count; ++k) {
        const int stage = k % stages;
        mbar_wait(&s.empty[stage], (k / stages & 1) ^ 1); // passes at once in the first lap
        mbar_arrive_expect_tx(&s.full[stage], tile_bytes);
        tma_load_1d(s.data[stage], in + k * tile, tile_bytes, &s.full[stage]);
    }
}

/// The reads before it are done when a bulk copy overwrites the stage.
__device__ void release(uint64_t* empty) {
    fence_view_async();
    mbar_arrive(empty);
}

template <bool broken>
__global__ void ring_sum_kernel(const int* in, int* out) {
    constexpr int stages = 3;
    __shared__ SharedStorage<stages> s;
    init_ring(s, 1, consumers);
    if (threadIdx.x >= consumers) {
        if (threadIdx.x == consumers)
            produce(s, in + blockIdx.x * tiles * tile, tiles);
        return;
    }
    int sum = 0;
    for (int k = 0; k < tiles; ++k) {
        const int stage = k % stages;
        mbar_wait(&s.full[stage], broken ? k & 1 : k / stages & 1);
        for (int i = threadIdx.x; i < tile; i += consumers)
            sum += s.data[stage][i] * (k + 1);
        mbar_arrive(&s.empty[stage]);
    }
    out[blockIdx.x * consumers + threadIdx.x] = sum;
}

bool ring_parity_of_tile(bool broken) {
    const auto host = pairs::small_ints(total);
    pairs::Device<int> in(host), out(blocks * consumers);
    (broken ? ring_sum_kernel<true> : ring_sum_kernel<false>)<<<blocks, threads>>>(in.data(), out.data());
    return pairs::all_are(out, [&](int index) {
        int sum = 0;
        for (int k = 0; k < tiles; ++k)
            for (int i = index % consumers; i < tile; i += consumers)
                sum += host[(index / consumers * tiles + k) * tile + i] * (k + 1);
        return sum;
    });
}

/// Both of a ring that writes every element: out = 3 in + tile.
template <int stages>
__device__ void scale_tiles(SharedStorage<stages>& s, int* out) {
    for (int k = 0; k < tiles; ++k) {
        const int stage = k % stages;
        mbar_wait(&s.full[stage], k / stages & 1);
        for (int i = threadIdx.x; i < tile; i += consumers)
            out[k * tile + i] = 3 * s.data[stage][i] + k;
        mbar_arrive(&s.empty[stage]);
    }
}

bool scaled(const std::vector<int>& host, const pairs::Device<int>& out) {
    return pairs::all_are(out, [&](int i) { return 3 * host[i] + i / tile % tiles; });
}

template <bool broken>
__global__ void first_lap_kernel(const int* in, int* out) {
    constexpr int stages = 4;
    __shared__ SharedStorage<stages> s;
    init_ring(s, 1, consumers);
    in += blockIdx.x * tiles * tile;
    if (threadIdx.x < consumers) {
        scale_tiles(s, out + blockIdx.x * tiles * tile);
    } else if (threadIdx.x == consumers) {
        uint32_t phase = broken ? 0 : 1;
        for (int k = 0; k < tiles; ++k) {
            const int stage = k % stages;
            mbar_wait(&s.empty[stage], phase);
            mbar_arrive_expect_tx(&s.full[stage], tile_bytes);
            tma_load_1d(s.data[stage], in + k * tile, tile_bytes, &s.full[stage]);
            if (stage == stages - 1)
                phase ^= 1;
        }
    }
}

bool producer_first_lap(bool broken) {
    const auto host = pairs::small_ints(total);
    pairs::Device<int> in(host), out(total);
    (broken ? first_lap_kernel<true> : first_lap_kernel<false>)<<<blocks, threads>>>(in.data(), out.data());
    return scaled(host, out);
}

template <bool broken>
__global__ void first_refill_kernel(const int* in, int* out) {
    constexpr int stages = 3;
    __shared__ SharedStorage<stages> s;
    init_ring(s, 1, consumers);
    in += blockIdx.x * tiles * tile;
    if (threadIdx.x < consumers) {
        scale_tiles(s, out + blockIdx.x * tiles * tile);
    } else if (threadIdx.x == consumers) {
        for (int k = 0; k < tiles; ++k) {
            const int stage = k % stages;
            if (broken ? k > stages : k >= stages) // no one reads the stage before
                mbar_wait(&s.empty[stage], (k / stages - 1) & 1);
            mbar_arrive_expect_tx(&s.full[stage], tile_bytes);
            tma_load_1d(s.data[stage], in + k * tile, tile_bytes, &s.full[stage]);
        }
    }
}

bool first_refill_unguarded(bool broken) {
    const auto host = pairs::small_ints(total);
    pairs::Device<int> in(host), out(total);
    (broken ? first_refill_kernel<true> : first_refill_kernel<false>)<<<blocks, threads>>>(in.data(),
                                                                                           out.data());
    return scaled(host, out);
}

template <bool broken>
__global__ void producer_warp_kernel(const int* in, int* out) {
    constexpr int stages = 2;
    __shared__ SharedStorage<stages> s;
    init_ring(s, broken ? 32 : 1, consumers);
    if (threadIdx.x < consumers)
        scale_tiles(s, out + blockIdx.x * tiles * tile);
    else if (threadIdx.x % 32 == 0)
        produce(s, in + blockIdx.x * tiles * tile, tiles);
}

bool full_counts_producer_warp(bool broken) {
    const auto host = pairs::small_ints(total);
    pairs::Device<int> in(host), out(total);
    (broken ? producer_warp_kernel<true> : producer_warp_kernel<false>)<<<blocks, threads>>>(in.data(),
                                                                                             out.data());
    return scaled(host, out);
}

template <bool broken>
__global__ void warp_release_kernel(const int* in, int* out) {
    constexpr int stages = 2;
    __shared__ SharedStorage<stages> s;
    init_ring(s, 1, consumers / 32);
    if (threadIdx.x >= consumers) {
        if (threadIdx.x == consumers)
            produce(s, in + blockIdx.x * tiles * tile, tiles);
        return;
    }
    int2 largest = {0, 0};
    for (int k = 0; k < tiles; ++k) {
        const int stage = k % stages;
        mbar_wait(&s.full[stage], k / stages & 1);
        const int2 value = reinterpret_cast<const int2*>(s.data[stage])[threadIdx.x];
        largest = {max(largest.x, value.x), max(largest.y, value.y)};
        fence_view_async(); // reads before, bulk copies behind
        if constexpr (!broken)
            __syncwarp();
        if (threadIdx.x % 32 == 0)
            mbar_arrive(&s.empty[stage]);
    }
    reinterpret_cast<int2*>(out)[blockIdx.x * consumers + threadIdx.x] = largest;
}

bool release_without_syncwarp(bool broken) {
    const auto host = pairs::small_ints(total);
    pairs::Device<int> in(host), out(blocks * tile);
    (broken ? warp_release_kernel<true> : warp_release_kernel<false>)<<<blocks, threads>>>(in.data(),
                                                                                           out.data());
    return pairs::all_are(out, [&](int index) {
        int largest = 0;
        for (int k = 0; k < tiles; ++k)
            largest = std::max(largest, host[(index / tile * tiles + k) * tile + index % tile]);
        return largest;
    });
}

template <int stages>
struct PipelineState {
    int stage = 0;
    uint32_t phase = 0;
    __device__ void advance() {
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }
};

/// Persistent: each work item is the sum of three tiles.
template <bool broken>
__global__ void persistent_kernel(const int* in, int* out, int items) {
    constexpr int stages = 2, depth = 3;
    __shared__ SharedStorage<stages> s;
    init_ring(s, 1, consumers);
    PipelineState<stages> state;
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        if (threadIdx.x == consumers) {
            for (int k = 0; k < depth; ++k, state.advance()) {
                mbar_wait(&s.empty[state.stage], state.phase ^ 1);
                mbar_arrive_expect_tx(&s.full[state.stage], tile_bytes);
                tma_load_1d(s.data[state.stage], in + (item * depth + k) * tile, tile_bytes,
                            &s.full[state.stage]);
            }
        } else if (threadIdx.x < consumers) {
            if constexpr (broken)
                state = {};
            int sum[2] = {0, 0};
            for (int k = 0; k < depth; ++k, state.advance()) {
                mbar_wait(&s.full[state.stage], state.phase);
                for (int half = 0; half < 2; ++half)
                    sum[half] += s.data[state.stage][half * consumers + threadIdx.x];
                release(&s.empty[state.stage]);
            }
            for (int half = 0; half < 2; ++half)
                out[item * tile + half * consumers + threadIdx.x] = sum[half];
        }
    }
}

bool state_reset_per_item(bool broken) {
    constexpr int items = 5;
    const auto host = pairs::small_ints(items * 3 * tile);
    pairs::Device<int> in(host), out(items * tile);
    (broken ? persistent_kernel<true> : persistent_kernel<false>)<<<2, threads>>>(in.data(), out.data(),
                                                                                  items);
    return pairs::all_are(out, [&](int i) {
        const int* first = &host[i / tile * 3 * tile + i % tile];
        return first[0] + first[tile] + first[2 * tile];
    });
}

/// Two groups of warps take the tiles in turn.
template <bool broken>
__global__ void ping_pong_kernel(const int* in, int* out) {
    constexpr int stages = 4, group_size = consumers / 2;
    __shared__ SharedStorage<stages> s;
    init_ring(s, 1, group_size);
    const int group = threadIdx.x / group_size, rank = threadIdx.x % group_size;
    if (threadIdx.x == consumers)
        produce(s, in + blockIdx.x * tiles * tile, tiles);
    if (threadIdx.x >= consumers)
        return;
    int sum = 0;
    for (int round = 0; round < tiles / 2; ++round) {
        const int k = 2 * round + group;
        const int stage = k % stages;
        mbar_wait(&s.full[stage], (broken ? round : k) / stages & 1);
        for (int i = rank; i < tile; i += group_size)
            sum += s.data[stage][i] ^ k;
        mbar_arrive(&s.empty[stage]);
    }
    out[blockIdx.x * consumers + threadIdx.x] = sum;
}

bool ping_pong_parity(bool broken) {
    const auto host = pairs::small_ints(total);
    pairs::Device<int> in(host), out(blocks * consumers);
    (broken ? ping_pong_kernel<true> : ping_pong_kernel<false>)<<<blocks, threads>>>(in.data(), out.data());
    return pairs::all_are(out, [&](int index) {
        const int group = index % consumers / (consumers / 2);
        int sum = 0;
        for (int k = group; k < tiles; k += 2)
            for (int i = index % (consumers / 2); i < tile; i += consumers / 2)
                sum += host[(index / consumers * tiles + k) * tile + i] ^ k;
        return sum;
    });
}

union OverlaidStorage {
    SharedStorage<2> ring;
    int results[consumers]; // on top of the first stage
};

/// Sums of a thread's elements, handed out in reversed order through shared memory.
template <bool broken>
__global__ void overlay_kernel(const int* in, int* out) {
    __shared__ OverlaidStorage s;
    constexpr int count = tiles - 1; // the last tile is in the first stage
    init_ring(s.ring, 1, consumers);
    if (threadIdx.x >= consumers) {
        if (threadIdx.x == consumers)
            produce(s.ring, in + blockIdx.x * count * tile, count);
        return;
    }
    int sum = 0;
    for (int k = 0; k < count; ++k) {
        mbar_wait(&s.ring.full[k % 2], k / 2 & 1);
        sum += s.ring.data[k % 2][threadIdx.x] + s.ring.data[k % 2][tile - 1 - threadIdx.x];
        mbar_arrive(&s.ring.empty[k % 2]);
    }
    if constexpr (!broken)
        bar_sync(1, consumers);
    s.results[consumers - 1 - threadIdx.x] = sum;
    bar_sync(1, consumers);
    out[blockIdx.x * consumers + threadIdx.x] = s.results[threadIdx.x];
}

bool epilogue_overlays_stage(bool broken) {
    constexpr int count = tiles - 1;
    const auto host = pairs::small_ints(blocks * count * tile);
    pairs::Device<int> in(host), out(blocks * consumers);
    (broken ? overlay_kernel<true> : overlay_kernel<false>)<<<blocks, threads>>>(in.data(), out.data());
    return pairs::all_are(out, [&](int index) {
        const int thread = consumers - 1 - index % consumers;
        int sum = 0;
        for (int k = 0; k < count; ++k) {
            const int* first = &host[(index / consumers * count + k) * tile];
            sum += first[thread] + first[tile - 1 - thread];
        }
        return sum;
    });
}

constexpr pairs::Pair list[] = {
    {.name = "ring_parity_of_tile",
     .mistake =
         "The consumer waits for the parity of the tile's number; the parity of a stage's barrier changes "
         "once a lap, so from the second tile on it waits for a phase that is over and reads too early.",
     .fix = "Wait for the parity of the lap, tile / stages & 1.",
     .run = ring_parity_of_tile,
     .finding = "read-before-completion",
     .says = "until the first phase has ended, parity 1 means the phase before it",
     .remedy = "the parity to wait for changes with every phase and begins with 0",
     .also = {{"deadlock", "a wait for its parity", "so its parity must be"}}},
    {.name = "producer_first_lap",
     .mistake =
         "The producer waits for parity 0 of the empty barriers in the first lap, but nobody has arrived "
         "at them yet: both sides wait for ever.",
     .fix = "Let the producer's phase start at 1, which a fresh barrier lets pass.",
     .run = producer_first_lap,
     .finding = "deadlock",
     .says =
         "Nobody has arrived at it since its initialisation; a wait for parity 1 would have returned at once",
     .remedy = "A producer that waits until a stage is free begins with parity 1"},
    {.name = "first_refill_unguarded",
     .mistake =
         "Tile number `stages` is loaded without a wait for the empty barrier: the test skips one tile too "
         "many, and the copy overwrites tile 0 under its readers.",
     .fix = "Wait from k >= stages on.",
     .run = first_refill_unguarded,
     .finding = "arrival-count-mismatch",
     .says = "has not waited for the readers of the stage",
     .remedy = "wait until the readers have released the stage",
     .also = {{"overwrite-in-flight", "has not waited for the readers of the stage",
               "wait until the readers have released the stage"},
              {"race-shared", "has not waited for the readers of the stage",
               "wait until the readers have released the stage"}}},
    {.name = "full_counts_producer_warp",
     .mistake =
         "The full barriers expect 32 arrivals, but only one lane of the producer warp arrives: no phase is "
         "ever complete.",
     .fix = "Initialise the full barriers with 1.",
     .run = full_counts_producer_warp,
     .finding = "deadlock",
     .says = "31 of 32 arrivals missing",
     .remedy = "initialise the mbarrier with 1"},
    {.name = "release_without_syncwarp",
     .mistake = "Lane 0 releases the stage for its warp while other lanes may still be reading it.",
     .fix = "__syncwarp() before lane 0 arrives at the empty barrier.",
     .run = release_without_syncwarp,
     .finding = "race-shared",
     .says = "arrived for its warp",
     .remedy = "__syncwarp()"},
    {.name = "state_reset_per_item",
     .mistake =
         "The consumer starts each work item with stage 0 and phase 0, but the barriers and the producer "
         "go on where the last item ended (three tiles, two stages).",
     .fix = "Carry the consumer's pipeline state over from item to item.",
     .run = state_reset_per_item,
     .finding = "read-before-completion",
     .says = "saw the end of phase 0. The copy completes phase 1",
     .remedy = "the parity to wait for changes with every phase",
     .also = {{"deadlock", "a wait for its parity", "so its parity must be"}}},
    {.name = "ping_pong_parity",
     .mistake =
         "A group that takes every second tile computes the parity from its own number of rounds, not from "
         "the tile: in the second lap it waits for a phase that is over.",
     .fix = "Compute the parity from the tile, k / stages & 1.",
     .run = ping_pong_parity,
     .finding = "read-before-completion",
     .says = "saw the end of phase 0. The copy completes phase 1",
     .remedy = "the parity to wait for changes with every phase",
     .also = {{"deadlock", "a wait for its parity", "so its parity must be"},
              {"deadlock", "returned at once for a phase that an earlier one had seen",
               "the parity flips once in each lap"}}},
    {.name = "epilogue_overlays_stage",
     .mistake =
         "The results share memory with stage 0; a fast warp writes them while slower ones still read the "
         "last tile there.",
     .fix = "A barrier of the consumers before the first write of results.",
     .run = epilogue_overlays_stage,
     .finding = "race-shared",
     .says = "nothing orders one before the other",
     .remedy = "Put a barrier of the 128 threads that come here"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// Compile for compute_90a and sm_90a: a producer warpgroup loads swizzled tiles by TMA into a ring, a
// consumer warpgroup multiplies them.
#include "wgmma_helpers.cuh"

using namespace wg;

namespace {

constexpr int stages = 2, threads = 2 * group_threads;

struct Ring {
    Tiles tile[stages];
    roles::Barrier full[stages], empty[stages];

    __device__ void init(unsigned releases) {
        for (int stage = 0; stage < stages; ++stage) {
            roles::init(full[stage], 1);
            roles::init(empty[stage], releases);
        }
        roles::fence_init();
    }
};

using Cursor = roles::Cursor<stages>;

__device__ void produce(Ring& ring, const CUtensorMap& a, const CUtensorMap& b, int tiles) {
    Cursor at{.phase = 1};
    for (int k = 0; k < tiles; ++k, at.next()) {
        roles::wait(ring.empty[at.stage], at.phase);
        load_tiles(ring.tile[at.stage], a, b, k, ring.full[at.stage]);
    }
}

__device__ void release(Ring& ring, int stage) {
    if (roles::lane() == 0)
        roles::arrive(ring.empty[stage]);
}

__device__ void multiply_stage(Sums& d, const Ring& ring, int stage, bool adds) {
    fence();
    multiply_tiles(d, ring.tile[stage].a, ring.tile[stage].b, adds);
    commit();
}

/// Prepares the ring, and lets the producers do their part: true for them.
__device__ bool is_producer(Ring& ring, unsigned releases, const CUtensorMap& a, const CUtensorMap& b,
                            int tiles) {
    if (threadIdx.x == 0)
        ring.init(releases);
    __syncthreads();
    if (roles::warp() == 0 && roles::elect())
        produce(ring, a, b, tiles);
    return roles::warp() < group_warps;
}

template <bool broken>
__global__ void release_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                               float* out, int tiles) {
    __shared__ Ring ring;
    if (is_producer(ring, group_warps, a, b, tiles))
        return;
    Sums d;
    Cursor at{.phase = 0};
    for (int k = 0; k < tiles; ++k, at.next()) {
        roles::wait(ring.full[at.stage], at.phase);
        multiply_stage(d, ring, at.stage, k > 0);
        if constexpr (!broken)
            wait<0>();
        release(ring, at.stage);
    }
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// One group is in flight all the time: the stage before is free.
template <bool broken>
__global__ void release_lag_kernel(const __grid_constant__ CUtensorMap a,
                                   const __grid_constant__ CUtensorMap b, float* out, int tiles) {
    __shared__ Ring ring;
    if (is_producer(ring, group_warps, a, b, tiles))
        return;
    Sums d;
    Cursor at{.phase = 0};
    int before = 0;
    for (int k = 0; k < tiles; ++k, at.next()) {
        roles::wait(ring.full[at.stage], at.phase);
        multiply_stage(d, ring, at.stage, k > 0);
        wait<1>();
        if constexpr (broken)
            release(ring, at.stage);
        else if (k > 0)
            release(ring, before);
        before = at.stage;
    }
    wait<0>();
    tie(d);
    store_sums(out, d);
}

template <bool broken>
__global__ void loop_tail_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                 float* out, int tiles) {
    __shared__ Ring ring;
    if (is_producer(ring, group_warps, a, b, tiles))
        return;
    Sums d;
    Cursor at{.phase = 0};
    int before = 0;
    for (int k = 0; k < tiles; ++k, at.next()) {
        roles::wait(ring.full[at.stage], at.phase);
        multiply_stage(d, ring, at.stage, k > 0);
        wait<1>();
        if (k > 0)
            release(ring, before);
        before = at.stage;
    }
    if constexpr (!broken)
        wait<0>();
    tie(d);
    store_sums(out, d);
}

// Two consumer warpgroups share the stages: each takes half of k. One thread arrives for its warpgroup.
template <bool broken>
__global__ void one_arrival_kernel(const __grid_constant__ CUtensorMap a,
                                   const __grid_constant__ CUtensorMap b, float* out, int tiles) {
    __shared__ Ring ring;
    if (is_producer(ring, broken ? 1 : 2, a, b, tiles))
        return;
    const int group = roles::warp() / group_warps - 1;
    Sums d;
    Cursor at{.phase = 0};
    for (int k = 0; k < tiles; ++k, at.next()) {
        roles::wait(ring.full[at.stage], at.phase);
        const Tiles& tile = ring.tile[at.stage];
        fence();
        for (int i = 0; i < 2; ++i) {
            const std::uint64_t behind = (2 * group + i) * next_step;
            multiply(d, swizzled_tile(tile.a) + behind, swizzled_tile(tile.b) + behind, k > 0 || i > 0);
        }
        commit();
        wait<0>();
        if (threadIdx.x % group_threads == 0 && (!broken || group == 0))
            roles::arrive(ring.empty[at.stage]);
    }
    tie(d);
    store_sums(out + group * rows * columns, d);
}

// 3 stands for the 128-byte swizzle in cuTensorMapEncodeTiled, and for that of 32 bytes here.
template <bool broken>
__global__ void descriptor_mode_kernel(const __grid_constant__ CUtensorMap a,
                                       const __grid_constant__ CUtensorMap b, float* out, int tiles) {
    __shared__ Ring ring;
    if (is_producer(ring, group_warps, a, b, tiles))
        return;
    constexpr std::uint64_t other_mode = broken ? 2ull << 62 : 0;
    Sums d;
    Cursor at{.phase = 0};
    for (int k = 0; k < tiles; ++k, at.next()) {
        roles::wait(ring.full[at.stage], at.phase);
        const Tiles& tile = ring.tile[at.stage];
        fence();
        for (int i = 0; i < depth / step; ++i)
            multiply(d, (swizzled_tile(tile.a) | other_mode) + i * next_step,
                     swizzled_tile(tile.b) + i * next_step, k > 0 || i > 0);
        commit();
        wait<0>();
        release(ring, at.stage);
    }
    tie(d);
    store_sums(out, d);
}

template <bool broken>
__global__ void parity_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                              float* out, int tiles) {
    __shared__ Ring ring;
    if (is_producer(ring, group_warps, a, b, tiles))
        return;
    Sums d;
    Cursor at{.phase = 0};
    for (int k = 0; k < tiles; ++k, at.next()) {
        roles::wait(ring.full[at.stage], broken ? 0 : at.phase);
        multiply_stage(d, ring, at.stage, k > 0);
        wait<0>();
        release(ring, at.stage);
    }
    tie(d);
    store_sums(out, d);
}

template <bool broken>
__global__ void waiting_warp_kernel(const __grid_constant__ CUtensorMap a,
                                    const __grid_constant__ CUtensorMap b, float* out, int tiles) {
    __shared__ Ring ring;
    if (is_producer(ring, group_warps, a, b, tiles))
        return;
    Sums d;
    Cursor at{.phase = 0};
    for (int k = 0; k < tiles; ++k, at.next()) {
        if (!broken || roles::warp() == group_warps)
            roles::wait(ring.full[at.stage], at.phase);
        multiply_stage(d, ring, at.stage, k > 0);
        wait<0>();
        release(ring, at.stage);
    }
    tie(d);
    store_sums(out, d);
}

// The tile of B is loaded once for all, with a barrier of its own; those of A go through the ring.
template <bool broken>
__global__ void resident_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                float* out, int tiles) {
    __shared__ Ring ring;
    __shared__ roles::Barrier loaded;
    if (threadIdx.x == 0) {
        ring.init(group_warps);
        roles::init(loaded, 1);
        roles::fence_init();
    }
    __syncthreads();
    if (roles::warp() / group_warps == 0) {
        if (roles::warp() == 0 && roles::elect()) {
            roles::arrive_expect(loaded, tiles * sizeof ring.tile[0].b);
            for (int k = 0; k < tiles; ++k)
                roles::load_2d(ring.tile[k].b, b, k * depth, 0, loaded);
            for (int k = 0; k < tiles; ++k) {
                roles::arrive_expect(ring.full[k], sizeof ring.tile[k].a);
                roles::load_2d(ring.tile[k].a, a, k * depth, 0, ring.full[k]);
            }
        }
        return;
    }
    Sums d;
    if constexpr (!broken)
        roles::wait(loaded, 0);
    for (int k = 0; k < tiles; ++k) {
        roles::wait(ring.full[k], 0);
        multiply_stage(d, ring, k, k > 0);
    }
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// -- Two blocks share the tiles of B, which the first loads for both ---------------------------------------

__device__ void multicast_2d(void* to, const CUtensorMap& map, int x, int y, roles::Barrier& full) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(roles::smem(to)),
                 "l"(&map), "r"(x), "r"(y), "r"(roles::smem(&full)), "h"(static_cast<std::uint16_t>(3))
                 : "memory");
}

__device__ void produce_for_both(Ring& ring, const CUtensorMap& a, const CUtensorMap& b, int tiles,
                                 int rank) {
    Cursor at{.phase = 1};
    for (int k = 0; k < tiles; ++k, at.next()) {
        Tiles& tile = ring.tile[at.stage];
        roles::wait_cluster(ring.empty[at.stage], at.phase);
        roles::arrive_expect(ring.full[at.stage], sizeof tile.a + sizeof tile.b);
        roles::load_2d(tile.a, a, k * depth, rank * rows, ring.full[at.stage]);
        if (rank == 0)
            multicast_2d(tile.b, b, k * depth, 0, ring.full[at.stage]);
    }
}

template <bool broken>
__global__ void __cluster_dims__(2)
    multicast_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* out,
                     int tiles) {
    __shared__ Ring ring;
    const int rank = static_cast<int>(roles::cluster_rank());
    if (threadIdx.x == 0)
        ring.init(!broken && rank == 0 ? 2 * group_warps : group_warps);
    roles::cluster_sync();
    if (roles::warp() < group_warps) {
        if (roles::warp() == 0 && roles::elect())
            produce_for_both(ring, a, b, tiles, rank);
        __syncwarp();
    } else {
        Sums d;
        Cursor at{.phase = 0};
        for (int k = 0; k < tiles; ++k, at.next()) {
            roles::wait(ring.full[at.stage], at.phase);
            multiply_stage(d, ring, at.stage, k > 0);
            wait<0>();
            release(ring, at.stage);
            if (!broken && rank == 1 && roles::lane() == 0)
                roles::arrive_in_block(ring.empty[at.stage], 0);
        }
        tie(d);
        store_sums(out + rank * rows * columns, d);
    }
    roles::cluster_sync();
}

constexpr int all_tiles = 5;
bool release_early(bool broken) {
    return is_product(broken ? release_kernel<true> : release_kernel<false>, all_tiles, threads);
}
bool release_lag(bool broken) {
    return is_product(broken ? release_lag_kernel<true> : release_lag_kernel<false>, all_tiles, threads);
}
bool loop_tail(bool broken) {
    return is_product(broken ? loop_tail_kernel<true> : loop_tail_kernel<false>, all_tiles, threads);
}
bool one_arrival(bool broken) {
    const Matrix a(rows, all_tiles * depth, 1), b(columns, all_tiles * depth, 2);
    pairs::Device<Bf16> of_a(a.bits()), of_b(b.bits());
    pairs::Device<float> out(2 * rows * columns);
    (broken ? one_arrival_kernel<true> : one_arrival_kernel<false>)<<<1, 3 * group_threads>>>(
        tile_map(of_a.data(), rows, a.width, rows), tile_map(of_b.data(), columns, b.width, columns),
        out.data(), all_tiles);
    std::vector<float> halves = out.read();
    for (std::size_t i = 0; i < halves.size() / 2; ++i)
        halves[i] += halves[i + halves.size() / 2];
    halves.resize(halves.size() / 2);
    return halves == product(a, b, 0, a.width);
}
bool descriptor_mode(bool broken) {
    return is_product(broken ? descriptor_mode_kernel<true> : descriptor_mode_kernel<false>, all_tiles,
                      threads);
}
bool parity(bool broken) {
    return is_product(broken ? parity_kernel<true> : parity_kernel<false>, all_tiles, threads);
}
bool waiting_warp(bool broken) {
    return is_product(broken ? waiting_warp_kernel<true> : waiting_warp_kernel<false>, all_tiles, threads);
}
bool resident(bool broken) {
    return is_product(broken ? resident_kernel<true> : resident_kernel<false>, stages, threads);
}

bool multicast(bool broken) {
    const Matrix a(2 * rows, all_tiles * depth, 1), b(columns, all_tiles * depth, 2);
    pairs::Device<Bf16> of_a(a.bits()), of_b(b.bits());
    pairs::Device<float> out(2 * rows * columns);
    (broken ? multicast_kernel<true> : multicast_kernel<false>)<<<2, threads>>>(
        tile_map(of_a.data(), 2 * rows, a.width, rows), tile_map(of_b.data(), columns, b.width, columns),
        out.data(), all_tiles);
    return out.read() == product(a, b, 0, a.width);
}

constexpr pairs::Pair list[] = {
    {.name = "wgmma_release_early",
     .mistake = "The consumers release a stage as soon as they have issued its wgmma; the next TMA load "
                "overwrites the tiles while they are read.",
     .fix = "Wait with wgmma.wait_group 0 before the arrival at the empty barrier.",
     .run = release_early,
     .finding = "reuse-before-read-done",
     .says = "arrived at the mbarrier without having waited until its wgmma had read the bytes",
     .remedy = "wgmma.wait_group 0 before the arrive"},
    {.name = "wgmma_release_lag",
     .mistake = "One group stays in flight behind wait_group 1, and it reads the stage that is released.",
     .fix = "Release the stage of the round before.",
     .run = release_lag,
     .finding = "reuse-before-read-done",
     .says = "with N = 1: that leaves the newest group",
     .remedy = "Wait with wgmma.wait_group 0"},
    {.name = "wgmma_loop_tail",
     .mistake = "The loop leaves its last group in flight, and nothing waits for it before the epilogue.",
     .fix = "Wait with wgmma.wait_group 0 behind the loop.",
     .run = loop_tail,
     .finding = "wgmma-register-in-flight",
     .says = "with N = 1, which leaves the newest group in flight",
     .remedy = "wgmma.wait_group 0 before this line"},
    {.name = "wgmma_one_arrival",
     .mistake = "Two warpgroups multiply the tiles, and the empty barrier counts one arrival, that of the "
                "first; the "
                "wgmma of the second may still read them.",
     .fix = "Let a thread of each warpgroup arrive, and give mbarrier.init 2.",
     .run = one_arrival,
     .finding = "reuse-before-read-done",
     .says = "ended without an arrival of the wgmma's warpgroup",
     .remedy = "Let each warpgroup that reads the stage arrive"},
    {.name = "wgmma_descriptor_mode",
     .mistake =
         "The descriptor of A says 3, the number of the 128-byte swizzle in the tensor map; of a descriptor "
         "it is that of the 32-byte swizzle.",
     .fix = "Write 1 into bits 62 and 63.",
     .run = descriptor_mode,
     .finding = "swizzle-mismatch",
     .says = "says that the tile has a swizzle of 32 bytes, but the tensor copy that wrote the tile did so "
             "with a "
             "swizzle of 128 bytes",
     .remedy = "bits 62 and 63 of the descriptor (0: none, 1: 128 bytes"},
    {.name = "wgmma_parity",
     .mistake = "The consumers wait for parity 0 in every lap; in the second it passes at once.",
     .fix = "Flip the parity in each lap.",
     .run = parity,
     .finding = "read-before-completion",
     .says = "saw the end of phase 0. The copy completes phase 1",
     .remedy = "the parity to wait for changes with every phase",
     .also = {{.finding = "deadlock",
               .says = "returned at once for a phase that an earlier one had seen",
               .remedy = "the parity flips once in each lap round the stages"},
              {.finding = "deadlock",
               .says = "a wait for its parity, 1, would have returned at once",
               .remedy = "flips its own parity once after each wait"}}},
    {.name = "wgmma_waiting_warp",
     .mistake =
         "Only the first consumer warp waits for the tiles; the other three multiply what may not have "
         "arrived.",
     .fix = "Let all four warps wait for the full barrier.",
     .run = waiting_warp,
     .finding = "read-before-completion",
     .says = "a wgmma issued by the warp of thread",
     .remedy = "in every thread that uses the bytes"},
    {.name = "wgmma_resident",
     .mistake = "Nobody waits for the barrier of the tiles of B, which are loaded once.",
     .fix = "Let the consumers wait for it before their loop.",
     .run = resident,
     .finding = "read-before-completion",
     .says = "The copy completes at mbarrier loaded",
     .remedy = "Wait at the mbarrier that the copy was given"},
    {.name = "wgmma_multicast",
     .mistake =
         "The second block releases a stage in its own shared memory only, and the first, which loads B for "
         "both, overwrites what the second still multiplies.",
     .fix = "Let the warps of both blocks arrive at the empty barrier of the first, which counts eight.",
     .run = multicast,
     .finding = "overwrite-in-flight",
     .says = "no thread of the block that is written has arrived at",
     .remedy = "Let the readers of every block of the mask arrive at it"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

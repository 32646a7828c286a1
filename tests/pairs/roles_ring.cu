// A producer warp fills a ring of stages, consumer warps empty it: phases and releases.
#include "roles_helpers.cuh"

#include <algorithm>

using namespace roles;

namespace {

constexpr int consumers = 128;
constexpr int consumer_warps = consumers / 32;
constexpr int threads = consumers + 32;

// -- The sum over k of (k + 1) * in[tile][k][i], for each i ---------------------------------------------

std::vector<int> weighted_sums(const std::vector<int>& in, int tiles, int steps) {
    std::vector<int> sums(static_cast<std::size_t>(tiles) * consumers);
    for (int tile = 0; tile < tiles; ++tile)
        for (int step = 0; step < steps; ++step)
            for (int i = 0; i < consumers; ++i)
                sums[tile * consumers + i] += (step + 1) * in[(tile * steps + step) * consumers + i];
    return sums;
}

template <bool broken>
__global__ void __launch_bounds__(threads) first_phase_kernel(const int* in, int* out, int steps) {
    constexpr int stages = 4;
    __shared__ Ring<stages, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    const int* mine = in + blockIdx.x * steps * consumers;
    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = broken ? 0 : 1};
            for (int step = 0; step < steps; ++step, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], mine + step * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
    } else {
        int sum = 0;
        Cursor<stages> at{.phase = 0};
        for (int step = 0; step < steps; ++step, at.next()) {
            wait(ring.full[at.stage], at.phase);
            sum += (step + 1) * ring.tile[at.stage][threadIdx.x];
            __syncwarp();
            if (lane() == 0)
                arrive(ring.empty[at.stage]);
        }
        out[blockIdx.x * consumers + threadIdx.x] = sum;
    }
}

bool first_phase(bool broken) {
    constexpr int tiles = 2, steps = 10;
    const auto host = pairs::random_ints(tiles * steps * consumers);
    pairs::Device<int> in(host), out(tiles * consumers);
    (broken ? first_phase_kernel<true> : first_phase_kernel<false>)<<<tiles, threads>>>(in.data(), out.data(),
                                                                                        steps);
    return out.read() == weighted_sums(host, tiles, steps);
}

// A persistent block works on several tiles; the ring goes on from tile to tile.
template <bool broken>
__global__ void __launch_bounds__(threads)
    tile_restart_kernel(const int* in, int* out, int tiles, int steps) {
    constexpr int stages = 4;
    __shared__ Ring<stages, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
                if constexpr (broken)
                    at = {.phase = 1};
                for (int step = 0; step < steps; ++step, at.next()) {
                    wait(ring.empty[at.stage], at.phase);
                    arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                    load(ring.tile[at.stage], in + (tile * steps + step) * consumers, sizeof ring.tile[0],
                         ring.full[at.stage]);
                }
            }
        }
    } else {
        Cursor<stages> at{.phase = 0};
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            if constexpr (broken)
                at = {.phase = 0};
            int sum = 0;
            for (int step = 0; step < steps; ++step, at.next()) {
                wait(ring.full[at.stage], at.phase);
                sum += (step + 1) * ring.tile[at.stage][threadIdx.x];
                __syncwarp();
                if (lane() == 0)
                    arrive(ring.empty[at.stage]);
            }
            out[tile * consumers + threadIdx.x] = sum;
        }
    }
}

bool tile_restart(bool broken) {
    constexpr int tiles = 5, steps = 6;
    const auto host = pairs::random_ints(tiles * steps * consumers);
    pairs::Device<int> in(host), out(tiles * consumers);
    (broken ? tile_restart_kernel<true> : tile_restart_kernel<false>)<<<2, threads>>>(in.data(), out.data(),
                                                                                      tiles, steps);
    return out.read() == weighted_sums(host, tiles, steps);
}

// A stage is released one step late, as where the tensor cores may still read the last one.
template <bool broken>
__global__ void __launch_bounds__(threads)
    late_release_kernel(const int* in, int* out, int tiles, int steps) {
    constexpr int stages = 3;
    __shared__ Ring<stages, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumers);
    __syncthreads();

    if (warp() == consumer_warps) {
        Cursor<stages> at{.phase = 1};
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
            for (int step = 0; step < steps; ++step, at.next())
                if (lane() == 0) {
                    wait(ring.empty[at.stage], at.phase);
                    arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                    load(ring.tile[at.stage], in + (tile * steps + step) * consumers, sizeof ring.tile[0],
                         ring.full[at.stage]);
                }
    } else {
        Cursor<stages> at{.phase = 0}, release{.phase = 0};
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            int sum = 0;
            for (int step = 0; step < steps; ++step, at.next()) {
                wait(ring.full[at.stage], at.phase);
                sum += (step + 1) * ring.tile[at.stage][threadIdx.x];
                if (step > 0) {
                    arrive(ring.empty[release.stage]);
                    release.next();
                }
            }
            if constexpr (!broken)
                arrive(ring.empty[release.stage]);
            release.next();
            out[tile * consumers + threadIdx.x] = sum;
        }
    }
}

bool late_release(bool broken) {
    constexpr int tiles = 4, steps = 5;
    const auto host = pairs::random_ints(tiles * steps * consumers);
    pairs::Device<int> in(host), out(tiles * consumers);
    (broken ? late_release_kernel<true> : late_release_kernel<false>)<<<2, threads>>>(in.data(), out.data(),
                                                                                      tiles, steps);
    return out.read() == weighted_sums(host, tiles, steps);
}

// -- Rows less their greatest element: each tile is read twice ------------------------------------------

constexpr int row = 64;
constexpr int rows_per_tile = 4;

template <bool broken>
__global__ void __launch_bounds__(threads) early_release_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 2;
    __shared__ Ring<stages, row * rows_per_tile> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = 0; tile < tiles; ++tile, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + tile * row * rows_per_tile, sizeof ring.tile[0],
                     ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    for (int tile = 0; tile < tiles; ++tile, at.next()) {
        wait(ring.full[at.stage], at.phase);
        const int* values = ring.tile[at.stage] + warp() * row;
        int greatest = 0;
        for (int i = lane(); i < row; i += 32)
            greatest = max(greatest, values[i]);
        greatest = __reduce_max_sync(0xffffffff, greatest);
        if constexpr (broken)
            if (lane() == 0)
                arrive(ring.empty[at.stage]);
        for (int i = lane(); i < row; i += 32)
            out[(tile * rows_per_tile + warp()) * row + i] = values[i] - greatest;
        __syncwarp();
        if constexpr (!broken)
            if (lane() == 0)
                arrive(ring.empty[at.stage]);
    }
}

bool early_release(bool broken) {
    constexpr int tiles = 6, size = tiles * row * rows_per_tile;
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), out(size);
    (broken ? early_release_kernel<true> : early_release_kernel<false>)<<<1, threads>>>(in.data(), out.data(),
                                                                                        tiles);
    auto expected = host;
    for (auto begin = expected.begin(); begin != expected.end(); begin += row)
        for (const int greatest = *std::max_element(begin, begin + row); int& value : std::span(begin, row))
            value -= greatest;
    return out.read() == expected;
}

// -- A histogram of bytes: one lane of each warp releases the stage -------------------------------------

template <bool broken>
__global__ void __launch_bounds__(threads) lane_releases_kernel(const int* in, int* counts, int steps) {
    constexpr int stages = 2, bins = 256, words = 4 * consumers;
    __shared__ Ring<stages, words> ring;
    __shared__ int histogram[bins];
    for (int bin = threadIdx.x; bin < bins; bin += threads)
        histogram[bin] = 0;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    Cursor<stages> at{.phase = warp() == consumer_warps};
    if (warp() == consumer_warps) {
        for (int step = 0; lane() == 0 && step < steps; ++step, at.next()) {
            wait(ring.empty[at.stage], at.phase);
            arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
            load(ring.tile[at.stage], in + (blockIdx.x * steps + step) * words, sizeof ring.tile[0],
                 ring.full[at.stage]);
        }
    } else {
        for (int step = 0; step < steps; ++step, at.next()) {
            wait(ring.full[at.stage], at.phase);
            for (int i = threadIdx.x; i < words; i += consumers)
                atomicAdd(&histogram[ring.tile[at.stage][i] & (bins - 1)], 1);
            if constexpr (!broken)
                __syncwarp();
            if (lane() == 0)
                arrive(ring.empty[at.stage]);
        }
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += threads)
        atomicAdd(&counts[bin], histogram[bin]);
}

bool lane_releases(bool broken) {
    constexpr int blocks = 2, steps = 5;
    const auto host = pairs::random_ints(blocks * steps * 4 * consumers);
    pairs::Device<int> in(host), counts(std::vector<int>(256, 0));
    (broken ? lane_releases_kernel<true>
            : lane_releases_kernel<false>)<<<blocks, threads>>>(in.data(), counts.data(), steps);
    std::vector<int> expected(256);
    for (const int value : host)
        ++expected[value & 255];
    return counts.read() == expected;
}

// -- Two consumer warpgroups, each sums its own powers of the same tile ---------------------------------

template <unsigned releases>
__global__ void __launch_bounds__(2 * consumers + 32) two_groups_kernel(const int* in, int* out, int steps) {
    constexpr int stages = 2;
    __shared__ Ring<stages, consumers> ring;
    const int group = warp() / consumer_warps, i = threadIdx.x % consumers;
    if (threadIdx.x == 0)
        ring.init(1, releases);
    __syncthreads();

    if (group == 2) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int step = 0; step < steps; ++step, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + step * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    int sum = 0;
    for (int step = 0; step < steps; ++step, at.next()) {
        wait(ring.full[at.stage], at.phase);
        const int value = ring.tile[at.stage][i] & 0xfff;
        sum += group == 0 ? value : value * value;
        __syncwarp();
        if (lane() == 0)
            arrive(ring.empty[at.stage]);
    }
    out[group * consumers + i] = sum;
}

bool two_groups(bool broken) {
    constexpr int steps = 9;
    const auto host = pairs::random_ints(steps * consumers);
    pairs::Device<int> in(host), out(2 * consumers);
    (broken ? two_groups_kernel<consumer_warps>
            : two_groups_kernel<2 * consumer_warps>)<<<1, 2 * consumers + 32>>>(in.data(), out.data(), steps);
    std::vector<int> expected(2 * consumers);
    for (int index = 0; const int value : host) {
        expected[index] += value & 0xfff;
        expected[consumers + index] += (value & 0xfff) * (value & 0xfff);
        index = (index + 1) % consumers;
    }
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "ring_first_phase",
     .mistake =
         "The producer waits on the fresh empty barriers with parity 0, the phase that only a release of "
         "the consumers could complete: everybody waits for ever.",
     .fix = "The producer's cursor starts with phase 1, which counts as already complete on a fresh barrier.",
     .run = first_phase,
     .finding = "deadlock",
     .says = "a wait for parity 1 would have returned at once",
     .remedy = "begins with parity 1, which a fresh barrier passes at once"},
    {.name = "ring_tile_restart",
     .mistake = "Each tile begins again with stage 0 and the first phases, but 6 steps in 4 stages leave the "
                "barriers of the second tile in other phases, so waits pass too early or never.",
     .fix = "Keep stage and phase of the ring across tiles.",
     .run = tile_restart,
     .finding = "arrival-count-mismatch",
     .says = "returned at once: a phase of that parity had ended before",
     .remedy = "its parity changes with every phase",
     .also = {{"overwrite-in-flight", "returned at once: a phase of that parity had ended before",
               "its parity changes with every phase"},
              {"race-shared", "returned at once: a phase of that parity had ended before",
               "its parity changes with every phase"}}},
    {.name = "ring_late_release",
     .mistake =
         "The stage of the last step of a tile is never released, so the producer waits for ever as soon as "
         "the ring comes round to it.",
     .fix = "Arrive on the empty barrier of the last stage after the loop over the steps.",
     .run = late_release,
     .finding = "deadlock",
     .says = "those who arrived in phase 0 have not arrived in phase 1",
     .remedy = "the release (arrive) of a round is missing"},
    {.name = "ring_early_release",
     .mistake =
         "The warp releases the stage after the first of two passes over it, so the next tile's copy may "
         "overwrite what the second pass reads.",
     .fix = "Arrive on the empty barrier after the last read of the stage.",
     .run = early_release,
     .finding = "race-shared",
     .says = "before its read",
     .remedy = "Move the arrive after the last read"},
    {.name = "ring_lane_releases",
     .mistake =
         "Lane 0 releases the stage for its warp, but nothing orders the other lanes' reads before it.",
     .fix = "__syncwarp() before lane 0 arrives on the empty barrier.",
     .run = lane_releases,
     .finding = "race-shared",
     .says = "arrived for its warp",
     .remedy = "__syncwarp() before the arrive"},
    {.name = "ring_two_groups",
     .mistake = "The empty barriers expect the four warps of one warpgroup, but eight warps of two read each "
                "stage, so it counts as free while half of them may still read.",
     .fix = "Initialise the empty barriers with the number of warps of both consumer warpgroups.",
     .run = two_groups,
     .finding = "arrival-count-mismatch",
     .says = "8 arrivals, which ended two phases",
     .remedy = "must equal the count given to mbarrier.init",
     .also = {{"deadlock", "ended two phases, of 4 arrivals each",
               "must equal the count given to mbarrier.init"},
              {"race-shared", "8 arrivals, which ended two phases",
               "must equal the count given to mbarrier.init"}}},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// Roles that meet at named barriers: groups of consumers, ping-pong, warps with one lane that acts.
#include "roles_helpers.cuh"

#include <algorithm>

using namespace roles;

namespace {

constexpr int consumers = 128;
constexpr int consumer_warps = consumers / 32;
constexpr int threads = consumers + 32;

// -- The sum of each tile, by shuffles and shared memory --------------------------------------------------

std::vector<int> tile_sums(const std::vector<int>& in, int tiles) {
    std::vector<int> sums(tiles);
    for (int i = 0; i < tiles * consumers; ++i)
        sums[i / consumers] += in[i] & 0xfffff;
    return sums;
}

__device__ int warp_sum(int value) {
    const int sum = __reduce_add_sync(0xffffffff, value);
    __syncwarp(); // the reduction orders no memory
    return sum;
}

enum class Meeting { nowhere, of_the_block, of_half, of_all };

__device__ void meet(Meeting where) {
    if (where == Meeting::of_the_block)
        __syncthreads();
    else if (where != Meeting::nowhere)
        named_sync(1, where == Meeting::of_half ? consumers / 2 : consumers);
}

// A producer that is a whole warpgroup, for the registers, has three warps that leave at once.
template <int producers, Meeting where>
__global__ void __launch_bounds__(consumers + producers) sums_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 3;
    __shared__ Ring<stages, consumers> ring;
    __shared__ int parts[2][consumer_warps];
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (warp() >= consumer_warps) {
        if (warp() == consumer_warps && elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = 0; tile < tiles; ++tile, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + tile * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
    } else {
        Cursor<stages> at{.phase = 0};
        for (int tile = 0; tile < tiles; ++tile, at.next()) {
            wait(ring.full[at.stage], at.phase);
            const int sum = warp_sum(ring.tile[at.stage][threadIdx.x] & 0xfffff);
            if (lane() == 0) {
                arrive(ring.empty[at.stage]);
                parts[tile % 2][threadIdx.x / 32] = sum;
            }
            meet(where);
            if (threadIdx.x == 0)
                out[tile] = parts[tile % 2][0] + parts[tile % 2][1] + parts[tile % 2][2] + parts[tile % 2][3];
        }
    }
}

template <int producers, Meeting wrong>
bool sums(bool broken) {
    constexpr int tiles = 8;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(tiles);
    const auto kernel = broken ? sums_kernel<producers, wrong> : sums_kernel<producers, Meeting::of_all>;
    kernel<<<1, consumers + producers>>>(in.data(), out.data(), tiles);
    return out.read() == tile_sums(host, tiles);
}

// Lane 0 polls for its warp, so that 32 lanes do not.
template <bool broken>
__global__ void __launch_bounds__(threads) lane_polls_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 4;
    __shared__ Ring<stages, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, 1);
    __syncthreads();

    if (warp() == 0) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = 0; tile < tiles; ++tile, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + tile * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
        return;
    }
    // Each consumer warp takes every fourth tile.
    for (int tile = warp() - 1; tile < tiles; tile += consumer_warps) {
        const int stage = tile % stages;
        if (lane() == 0)
            wait(ring.full[stage], (tile / stages) & 1);
        if constexpr (!broken)
            __syncwarp();
        int sum = 0;
        for (int i = lane(); i < consumers; i += 32)
            sum += ring.tile[stage][i] & 0xfffff;
        sum = warp_sum(sum);
        if (lane() == 0) {
            arrive(ring.empty[stage]);
            out[tile] = sum;
        }
    }
}

bool lane_polls(bool broken) {
    constexpr int tiles = 10;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(tiles);
    (broken ? lane_polls_kernel<true> : lane_polls_kernel<false>)<<<1, threads>>>(in.data(), out.data(),
                                                                                  tiles);
    return out.read() == tile_sums(host, tiles);
}

/// Meant for one warp: the whole warp calls it, one lane issues.
__device__ void issue(Ring<2, consumers>& ring, int stage, const int* from) {
    if (elect()) {
        arrive_expect(ring.full[stage], sizeof ring.tile[0]);
        load(ring.tile[stage], from, sizeof ring.tile[0], ring.full[stage]);
    }
}

template <bool broken>
__global__ void __launch_bounds__(threads) nested_elect_kernel(const int* in, int* out, int tiles) {
    __shared__ Ring<2, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (warp() == consumer_warps) {
        Cursor<2> at{.phase = 1};
        for (int tile = 0; tile < tiles; ++tile, at.next()) {
            if (!broken || lane() == 0) {
                wait(ring.empty[at.stage], at.phase);
                issue(ring, at.stage, in + tile * consumers);
            }
            __syncwarp();
        }
        return;
    }
    Cursor<2> at{.phase = 0};
    for (int tile = 0; tile < tiles; ++tile, at.next()) {
        wait(ring.full[at.stage], at.phase);
        const int sum = warp_sum(ring.tile[at.stage][threadIdx.x] & 0xfffff);
        if (lane() == 0) {
            arrive(ring.empty[at.stage]);
            atomicAdd(&out[tile], sum);
        }
    }
}

bool nested_elect(bool broken) {
    constexpr int tiles = 5;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(std::vector<int>(tiles, 0));
    (broken ? nested_elect_kernel<true> : nested_elect_kernel<false>)<<<1, threads>>>(in.data(), out.data(),
                                                                                      tiles);
    return out.read() == tile_sums(host, tiles);
}

// Each warp keeps the greatest sum of the tiles that it took.
template <bool broken>
__global__ void __launch_bounds__(threads) shuffle_in_branch_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 2;
    __shared__ Ring<stages, consumers> ring;
    __shared__ int greatest[consumer_warps];
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    if (threadIdx.x < consumer_warps)
        greatest[threadIdx.x] = 0;
    __syncthreads();

    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = 0; tile < tiles; ++tile, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + tile * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    for (int tile = 0; tile < tiles; ++tile, at.next()) {
        wait(ring.full[at.stage], at.phase);
        const int sum = warp_sum(ring.tile[at.stage][threadIdx.x] & 0xfffff);
        if (elect()) {
            arrive(ring.empty[at.stage]);
            int& mine = greatest[broken ? warp() : threadIdx.x / 32];
            mine = max(mine, sum);
        }
    }
    named_sync(1, consumers);
    if (threadIdx.x < consumer_warps)
        out[threadIdx.x] = greatest[threadIdx.x];
}

bool shuffle_in_branch(bool broken) {
    constexpr int tiles = 5;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(consumer_warps);
    (broken ? shuffle_in_branch_kernel<true>
            : shuffle_in_branch_kernel<false>)<<<1, threads>>>(in.data(), out.data(), tiles);
    std::vector<int> expected(consumer_warps);
    for (int tile = 0; tile < tiles; ++tile)
        for (int warp = 0; warp < consumer_warps; ++warp) {
            int sum = 0;
            for (int i = 0; i < 32; ++i)
                sum += host[tile * consumers + warp * 32 + i] & 0xfffff;
            expected[warp] = std::max(expected[warp], sum);
        }
    return out.read() == expected;
}

// -- Two consumer groups, each turns its own tiles round through a scratch buffer -------------------------

template <bool broken>
__global__ void __launch_bounds__(2 * consumers + 32) shared_id_kernel(const int* in, int* out, int rounds) {
    constexpr int stages = 4;
    __shared__ Ring<stages, consumers> ring;
    __shared__ int scratch[2][consumers];
    const int group = warp() / consumer_warps, i = threadIdx.x % consumers;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (group == 2) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = 0; tile < 2 * rounds; ++tile, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + tile * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
        return;
    }
    const int mine = broken ? 1 : 1 + group;
    for (int tile = group; tile < 2 * rounds; tile += 2) {
        const int stage = tile % stages;
        wait(ring.full[stage], (tile / stages) & 1);
        scratch[group][i] = ring.tile[stage][i] ^ tile;
        named_sync(mine, consumers);
        if (lane() == 0)
            arrive(ring.empty[stage]);
        out[tile * consumers + i] = scratch[group][consumers - 1 - i];
        named_sync(mine, consumers);
    }
}

bool shared_id(bool broken) {
    constexpr int rounds = 3;
    const auto host = pairs::random_ints(2 * rounds * consumers);
    pairs::Device<int> in(host), out(2 * rounds * consumers);
    (broken ? shared_id_kernel<true>
            : shared_id_kernel<false>)<<<1, 2 * consumers + 32>>>(in.data(), out.data(), rounds);
    std::vector<int> expected;
    for (int tile = 0; tile < 2 * rounds; ++tile)
        for (int i = consumers; i-- > 0;)
            expected.push_back(host[tile * consumers + i] ^ tile);
    return out.read() == expected;
}

// -- Ping-pong: two groups work in turns on one state, tile after tile ------------------------------------

constexpr int turn_threads = 2 * consumers;

__device__ int turn_of(int group) { return 1 + group; }

std::vector<int> running_hash(const std::vector<int>& in, int tiles) {
    std::vector<unsigned> state(consumers, 1);
    for (int tile = 0; tile < tiles; ++tile) {
        auto last = state;
        for (int i = 0; i < consumers; ++i)
            state[i] = 31 * last[(i + 1) % consumers] + static_cast<unsigned>(in[tile * consumers + i]);
    }
    return {state.begin(), state.end()};
}

template <bool broken>
__global__ void __launch_bounds__(turn_threads) not_primed_kernel(const int* in, int* out, int tiles) {
    __shared__ unsigned state[2][consumers];
    const int group = threadIdx.x / consumers, i = threadIdx.x % consumers;
    state[group][i] = 1;
    __syncthreads();
    if constexpr (!broken)
        if (group == 1)
            named_arrive(turn_of(0), turn_threads);
    for (int tile = group; tile < tiles; tile += 2) {
        const int value = in[tile * consumers + i];
        named_sync(turn_of(group), turn_threads);
        state[tile % 2 ^ 1][i] = 31 * state[tile % 2][(i + 1) % consumers] + value;
        if (tile + 1 < tiles)
            named_arrive(turn_of(group ^ 1), turn_threads);
    }
    __syncthreads();
    if (group == 0)
        out[i] = static_cast<int>(state[tiles % 2][i]);
}

bool not_primed(bool broken) {
    constexpr int tiles = 7;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(consumers);
    (broken ? not_primed_kernel<true> : not_primed_kernel<false>)<<<1, turn_threads>>>(in.data(), out.data(),
                                                                                       tiles);
    return out.read() == running_hash(host, tiles);
}

// The state is updated in place: read, meet, write.
template <bool broken>
__global__ void __launch_bounds__(turn_threads) hands_over_early_kernel(const int* in, int* out, int tiles) {
    __shared__ unsigned state[consumers];
    const int group = threadIdx.x / consumers, i = threadIdx.x % consumers;
    if (group == 0)
        state[i] = 1;
    __syncthreads();
    if (group == 1)
        named_arrive(turn_of(0), turn_threads);
    for (int tile = group; tile < tiles; tile += 2) {
        const bool more = tile + 1 < tiles;
        const int value = in[tile * consumers + i];
        named_sync(turn_of(group), turn_threads);
        const unsigned next = 31 * state[(i + 1) % consumers] + value;
        named_sync(3 + group, consumers);
        if (broken && more)
            named_arrive(turn_of(group ^ 1), turn_threads);
        state[i] = next;
        if (!broken && more)
            named_arrive(turn_of(group ^ 1), turn_threads);
    }
    __syncthreads();
    if (group == 0)
        out[i] = static_cast<int>(state[i]);
}

bool hands_over_early(bool broken) {
    constexpr int tiles = 6;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(consumers);
    (broken ? hands_over_early_kernel<true>
            : hands_over_early_kernel<false>)<<<1, turn_threads>>>(in.data(), out.data(), tiles);
    return out.read() == running_hash(host, tiles);
}

constexpr pairs::Pair list[] = {
    {.name = "named_block_barrier",
     .mistake =
         "The consumers meet at __syncthreads(), which waits for the producer warp too: it never comes, but "
         "waits for stages that the consumers cannot release.",
     .fix = "A named barrier of the 128 consumers (bar.sync 1, 128) in place of __syncthreads().",
     .run = sums<32, Meeting::of_the_block>,
     .finding = "deadlock",
     .says = "128 of 129 threads have arrived",
     .remedy = "a named barrier (bar.sync ID, 128)"},
    {.name = "named_half_counted",
     .mistake =
         "The named barrier expects 64 threads, and all 128 consumers come to it: it opens when half of them "
         "have.",
     .fix = "bar.sync 1, 128.",
     .run = sums<128, Meeting::of_half>,
     .finding = "race-shared",
     .says = "the barrier waits for fewer threads than come to it",
     .remedy = "the number of all threads that meet there",
     .also =
         {{"barrier-overlap", "can be completed by threads of two groups",
           "If all of them are to meet, give the barrier the number of all"},
          {"race-shared", "had not arrived when",
           "If the two are to meet there, give block barrier 1 the number of all threads that meet there"}}},
    {.name = "named_nowhere",
     .mistake =
         "The consumers do not meet between the writes of their parts and the sum of them, beside a producer "
         "warpgroup of which three warps have left.",
     .fix = "bar.sync 1, 128 between the two.",
     .run = sums<128, Meeting::nowhere>,
     .finding = "race-shared",
     .says = "__syncwarp() orders the threads of one warp only",
     .remedy = "Put a barrier of the 128 threads that come here"},
    {.name = "named_lane_polls",
     .mistake =
         "Lane 0 waits on the full barrier for its warp, but nothing holds the other lanes back until it has "
         "seen the phase.",
     .fix = "__syncwarp() between the wait of lane 0 and the reads of the warp.",
     .run = lane_polls,
     .finding = "read-before-completion",
     .says = "The reader has not waited for the copy",
     .remedy = "in every thread that uses the bytes",
     .also = {{"read-before-completion", "without having seen that operation complete",
               "with a barrier of all that use them between its wait and their accesses"}}},
    {.name = "named_nested_elect",
     .mistake =
         "elect.sync with the mask of a whole warp is executed by lane 0 alone; the lanes that it names wait "
         "elsewhere.",
     .fix = "Let the whole warp call issue(), without the branch of lane 0 round it.",
     .run = nested_elect,
     .finding = "deadlock",
     .says = "at a warp-synchronous instruction with mask 0xffffffff, whose other lanes wait at another",
     .remedy = "All lanes of the mask must execute it"},
    {.name = "named_shuffle_in_branch",
     .mistake =
         "warp() is a shuffle of the whole warp, but only the elected lane calls it, inside of its branch; "
         "the other 31 lanes never come.",
     .fix = "Take the warp's number from threadIdx.x, or call warp() before the branch, with all lanes.",
     .run = shuffle_in_branch,
     .finding = "deadlock",
     .says = "at a warp-synchronous instruction with mask 0xffffffff, whose other lanes wait at another",
     .remedy = "All lanes of the mask must execute it"},
    {.name = "named_shared_id",
     .mistake =
         "Both consumer groups use named barrier 1 for 128 threads, so warps of one group complete the "
         "other's barrier and scratch is read before its group has written it.",
     .fix = "Give each group a barrier id of its own.",
     .run = shared_id,
     .finding = "barrier-overlap",
     .says = "barrier 1 can be completed by threads of two groups",
     .remedy = "a barrier number of its own"},
    {.name = "named_not_primed",
     .mistake =
         "Each group waits for its turn and only then gives the turn to the other; nobody gives the first "
         "one.",
     .fix = "Group 1 arrives once on the barrier of group 0's turn before its loop.",
     .run = not_primed,
     .finding = "deadlock",
     .says = "at block barrier 1: 128 of 256 threads have arrived",
     .remedy = "must bar.arrive before its first wait"},
    {.name = "named_hands_over_early",
     .mistake = "The group gives the turn away before it has written the state, so the other group reads old "
                "values, or both write.",
     .fix = "bar.arrive on the other group's turn after the write of the state.",
     .run = hands_over_early,
     .finding = "race-shared",
     .says = "arrived at block barrier 2 before its write",
     .remedy = "Move the bar.arrive after the last write"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

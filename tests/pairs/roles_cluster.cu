// Compile for compute_90a and sm_90a (ptxas asks for it where copies are multicast): roles across the blocks
// of a cluster, remote releases, partial sums sent to the leader.
#include "roles_helpers.cuh"

using namespace roles;

namespace {

constexpr int consumers = 128;
constexpr int consumer_warps = consumers / 32;
constexpr int threads = consumers + 32;
constexpr int cluster = 2;
constexpr std::uint16_t everybody = 0b11;

/// out[block][i]: the sum over the steps of (block + 1 + step) * in[its cluster][step][i].
std::vector<int> expected_sums(const std::vector<int>& in, int blocks, int steps) {
    std::vector<int> sums(blocks * consumers);
    for (int block = 0; block < blocks; ++block)
        for (int step = 0; step < steps; ++step)
            for (int i = 0; i < consumers; ++i)
                sums[block * consumers + i] +=
                    (block + 1 + step) * in[(block / cluster * steps + step) * consumers + i];
    return sums;
}

enum class Slip { none, releases_own, expects_half, exits, block_init };

// Each block loads half of a tile and multicasts it to both.
template <Slip slip>
__global__ void __cluster_dims__(cluster) __launch_bounds__(threads)
    halves_kernel(const int* in, int* out, int steps) {
    constexpr int stages = 2, half = consumers / cluster, tile_bytes = consumers * sizeof(int);
    __shared__ Ring<stages, consumers> ring;
    const unsigned rank = cluster_rank();
    if (threadIdx.x == 0)
        ring.init(1, slip == Slip::releases_own ? consumer_warps : cluster * consumer_warps);
    if constexpr (slip == Slip::block_init)
        __syncthreads();
    else
        cluster_sync();

    if (warp() == consumer_warps) {
        if (elect()) {
            const int* from = in + blockIdx.x / cluster * steps * consumers + rank * half;
            Cursor<stages> at{.phase = 1};
            for (int step = 0; step < steps; ++step, at.next()) {
                if constexpr (slip == Slip::releases_own)
                    wait(ring.empty[at.stage], at.phase);
                else
                    wait_cluster(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage],
                              slip == Slip::expects_half ? tile_bytes / cluster : tile_bytes);
                load_multicast(ring.tile[at.stage] + rank * half, from + step * consumers, half * sizeof(int),
                               ring.full[at.stage], everybody);
            }
        }
        __syncwarp();
    } else {
        Cursor<stages> at{.phase = 0};
        int sum = 0;
        for (int step = 0; step < steps; ++step, at.next()) {
            wait(ring.full[at.stage], at.phase);
            sum += static_cast<int>(blockIdx.x + 1 + step) * ring.tile[at.stage][threadIdx.x];
            __syncwarp();
            if constexpr (slip == Slip::releases_own) {
                if (lane() == 0)
                    arrive(ring.empty[at.stage]);
            } else if (lane() < cluster) {
                arrive_in_block(ring.empty[at.stage], lane());
            }
        }
        out[blockIdx.x * consumers + threadIdx.x] = sum;
    }
    if constexpr (slip != Slip::exits)
        cluster_sync();
}

template <Slip slip>
bool halves(bool broken) {
    constexpr int blocks = 4, steps = 7;
    const auto host = pairs::random_ints(blocks / cluster * steps * consumers);
    pairs::Device<int> in(host), out(blocks * consumers);
    (broken ? halves_kernel<slip> : halves_kernel<Slip::none>)<<<blocks, threads>>>(in.data(), out.data(),
                                                                                    steps);
    return out.read() == expected_sums(host, blocks, steps);
}

// Only the leader's producer loads; every block's own producer says what its full barrier is to expect.
template <bool broken>
__global__ void __cluster_dims__(cluster) __launch_bounds__(threads)
    leader_loads_kernel(const int* in, int* out, int steps) {
    constexpr int stages = 2;
    __shared__ Ring<stages, consumers> ring;
    const bool leader = cluster_rank() == 0;
    if (threadIdx.x == 0)
        ring.init(1, cluster * consumer_warps);
    cluster_sync();

    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int step = 0; step < steps; ++step, at.next()) {
                wait_cluster(ring.empty[at.stage], at.phase);
                if (leader || !broken)
                    arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                if (leader)
                    load_multicast(ring.tile[at.stage],
                                   in + (blockIdx.x / cluster * steps + step) * consumers,
                                   sizeof ring.tile[0], ring.full[at.stage], everybody);
            }
        }
        __syncwarp();
    } else {
        Cursor<stages> at{.phase = 0};
        int sum = 0;
        for (int step = 0; step < steps; ++step, at.next()) {
            wait(ring.full[at.stage], at.phase);
            sum += static_cast<int>(blockIdx.x + 1 + step) * ring.tile[at.stage][threadIdx.x];
            __syncwarp();
            if (lane() < cluster)
                arrive_in_block(ring.empty[at.stage], lane());
        }
        out[blockIdx.x * consumers + threadIdx.x] = sum;
    }
    cluster_sync();
}

bool leader_loads(bool broken) {
    constexpr int blocks = 4, steps = 5;
    const auto host = pairs::random_ints(blocks / cluster * steps * consumers);
    pairs::Device<int> in(host), out(blocks * consumers);
    (broken ? leader_loads_kernel<true> : leader_loads_kernel<false>)<<<blocks, threads>>>(in.data(),
                                                                                           out.data(), steps);
    return out.read() == expected_sums(host, blocks, steps);
}

// -- The helper block sends its partial sums into the leader's inbox, round after round -------------------

__device__ void store_in_block(int* variable, unsigned rank, int value) {
    asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(in_block(variable, rank)), "r"(value) : "memory");
}

/// The rounds' results: the sum of both halves, turned by one.
std::vector<int> expected_rounds(const std::vector<int>& in, int rounds) {
    std::vector<int> out;
    for (int round = 0; round < rounds; ++round)
        for (int i = 0; i < consumers; ++i)
            out.push_back(in[2 * round * consumers + i] +
                          in[(2 * round + 1) * consumers + (i + 1) % consumers]);
    return out;
}

enum class Inbox { right, block_scope, own_release };

template <Inbox variant>
__global__ void __cluster_dims__(cluster) inbox_kernel(const int* in, int* out, int rounds) {
    __shared__ int inbox[consumers];
    __shared__ Barrier full, empty;
    const unsigned rank = cluster_rank();
    if (threadIdx.x == 0) {
        init(full, consumers);
        init(empty, consumers);
        fence_init();
    }
    cluster_sync();
    for (int round = 0; round < rounds; ++round) {
        const int value = in[(2 * round + static_cast<int>(rank)) * consumers + threadIdx.x];
        if (rank == 1) {
            wait_cluster(empty, (round & 1) ^ 1);
            store_in_block(&inbox[threadIdx.x], 0, value);
            arrive_in_block(full, 0);
        } else {
            if constexpr (variant == Inbox::block_scope)
                wait(full, round & 1);
            else
                wait_cluster(full, round & 1);
            out[round * consumers + threadIdx.x] = value + inbox[(threadIdx.x + 1) % consumers];
            if constexpr (variant == Inbox::own_release)
                arrive(empty);
            else
                arrive_in_block(empty, 1);
        }
    }
    cluster_sync();
}

template <Inbox variant>
bool inbox(bool broken) {
    constexpr int rounds = 4;
    const auto host = pairs::random_ints(2 * rounds * consumers);
    pairs::Device<int> in(host), out(rounds * consumers);
    (broken ? inbox_kernel<variant> : inbox_kernel<Inbox::right>)<<<cluster, consumers>>>(in.data(),
                                                                                          out.data(), rounds);
    return out.read() == expected_rounds(host, rounds);
}

constexpr pairs::Pair list[] = {
    {.name = "cluster_releases_own",
     .mistake =
         "The consumers release a stage only to their own block's producer, but the other block's producer "
         "multicasts into it as well and does not wait for them.",
     .fix =
         "Every consumer warp arrives on the empty barriers of both blocks, which count the warps of both.",
     .run = halves<Slip::releases_own>,
     .finding = "race-shared",
     .says = "released the stage in its own block only",
     .remedy = "arrive at the empty mbarrier of every block that multicasts",
     .also = {{"overwrite-in-flight", "released the stage in its own block only",
               "arrive at the empty mbarrier of every block that multicasts"},
              {"overwrite-in-flight", "no thread of the block that is written has arrived at mbarrier",
               "Let the readers of every block of the mask arrive at it"},
              {"race-shared", "no thread of the block that is written has arrived at mbarrier",
               "Let the readers of every block of the mask arrive at it"}}},
    {.name = "cluster_expects_half",
     .mistake =
         "Each block expects only the bytes that it loads itself, but both blocks' multicasts complete bytes "
         "on its full barrier.",
     .fix = "Expect the bytes of the whole tile, from both blocks.",
     .run = halves<Slip::expects_half>,
     .finding = "tx-count-mismatch",
     .says = "brings more bytes than its mbarrier was told to expect",
     .remedy = "expect_tx must announce the bytes of all copies of the phase"},
    {.name = "cluster_exits",
     .mistake = "A block may end while the other still arrives on its barriers or multicasts into its shared "
                "memory.",
     .fix = "All threads of both blocks meet at a cluster barrier before they end.",
     .run = halves<Slip::exits>,
     .finding = "remote-block-exited",
     .says = "whose threads have all exited",
     .remedy = "Synchronise the cluster before a block exits"},
    {.name = "cluster_block_init",
     .mistake =
         "The barriers are initialised and published to the own block only; the other block's multicast or "
         "release may come before the initialisation.",
     .fix = "A cluster barrier in place of __syncthreads() after the initialisation.",
     .run = halves<Slip::block_init>,
     .finding = "barrier-init-not-visible",
     .says = "nothing orders its initialisation before that use",
     .remedy =
         "Put a cluster barrier (cluster.sync()) between mbarrier.init and the first use by another block"},
    {.name = "cluster_leader_expects",
     .mistake =
         "Only the leader arrives with expect_tx, and only on its own full barrier; the other block's full "
         "barrier gets bytes but never its arrival.",
     .fix = "Every block's producer arrives with expect_tx on its own full barrier, whoever issues the "
            "multicast.",
     .run = leader_loads,
     .finding = "deadlock",
     .says = "1 of 1 arrival missing, tx-count -512 bytes (0 expected, 512 arrived)",
     .remedy = "in every block that the multicast reaches"},
    {.name = "cluster_block_scope",
     .mistake =
         "The leader waits with the scope of a block (the default) for data that another block wrote: an "
         "acquire of .cta does not order it.",
     .fix = "mbarrier.try_wait with .acquire.cluster.",
     .run = inbox<Inbox::block_scope>,
     .finding = "race-shared",
     .says = "acquires in the scope of its block only",
     .remedy = "acquire.cluster"},
    {.name = "cluster_own_release",
     .mistake =
         "The leader releases the inbox on its own empty barrier, but the sender waits on that of its block: "
         "it waits for ever in the second round.",
     .fix = "Arrive on the sender's barrier, through mapa with the sender's rank.",
     .run = inbox<Inbox::own_release>,
     .finding = "deadlock",
     .says = "128 arrivals came to empty of block",
     .remedy = "mapa"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

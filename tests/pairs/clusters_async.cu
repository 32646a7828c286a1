// Asynchronous copies between the blocks of a cluster: multicast, pushes and asynchronous stores.
#include "clusters_helpers.cuh"
#include "pairs.hpp"

namespace {

using namespace clusters;

constexpr unsigned all_lanes = 0xffffffff;

// Block 0 loads a table for all four blocks of the cluster; each looks up its own indices.
enum class Start { right, own_block_only, unfenced };

template <Start start>
__global__ void __cluster_dims__(4) lookup_kernel(const int* table, const int* in, int* out) {
    constexpr int entries = 128;
    __shared__ alignas(16) int copy[entries];
    __shared__ std::uint64_t loaded;
    if (threadIdx.x == 0) {
        init(&loaded, 1);
        if constexpr (start != Start::unfenced)
            fence_init();
        arrive_expect(&loaded, sizeof(copy));
    }
    const int index = in[blockIdx.x * blockDim.x + threadIdx.x] % entries; // hides the barrier's latency
    if constexpr (start == Start::own_block_only) {
        __syncthreads();
    } else {
        cluster_arrive_relaxed();
        cluster_wait();
    }
    if (cluster_rank() == 0 && threadIdx.x == 0)
        load_multicast(copy, table, sizeof(copy), &loaded, 0b1111);
    wait_cluster(&loaded, 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = copy[index];
}

template <Start wrong>
bool lookup(bool broken) {
    constexpr int blocks = 8, threads = 64;
    const auto table = pairs::random_ints(128), indices = pairs::random_ints(blocks * threads, 2);
    pairs::Device<int> device_table(table), in(indices), out(blocks * threads);
    (broken ? lookup_kernel<wrong> : lookup_kernel<Start::right>)<<<blocks, threads>>>(device_table.data(),
                                                                                       in.data(), out.data());
    std::vector<int> expected(blocks * threads);
    for (int i = 0; i < blocks * threads; ++i)
        expected[i] = table[indices[i] % 128];
    return out.read() == expected;
}

// Both blocks need all tiles; each loads one half of every tile for both. Warp 0 produces, warp 1 consumes.
enum class Ring { right, half_expected, own_reader_only, no_tail };

template <Ring ring>
__global__ void __cluster_dims__(2) weigh_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 2, half = 64;
    __shared__ alignas(16) int tile[stages][2][half];
    __shared__ std::uint64_t full[stages], empty[stages];
    constexpr unsigned readers = ring == Ring::own_reader_only ? 1 : 2;
    const unsigned rank = cluster_rank(), lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&full[stage], 1);
            init(&empty[stage], readers);
        }
        fence_init();
    }
    cluster_sync();
    if (threadIdx.x == 0) {
        for (int i = 0; i < tiles; ++i) {
            const int stage = i % stages, round = i / stages;
            if (round > 0)
                wait_cluster(&empty[stage], (round - 1) % 2);
            arrive_expect(&full[stage], ring == Ring::half_expected ? sizeof(tile[0][0]) : sizeof(tile[0]));
            load_multicast(tile[stage][rank], in + (2 * i + rank) * half, sizeof(tile[0][0]), &full[stage],
                           0b11);
        }
    } else if (threadIdx.x >= 32) {
        int sum = 0;
        for (int i = 0; i < tiles; ++i) {
            const int stage = i % stages;
            wait_cluster(&full[stage], i / stages % 2);
            for (int k = lane; k < 2 * half; k += 32)
                sum += (&tile[stage][0][0])[k] * (k % 3 + static_cast<int>(blockIdx.x));
            __syncwarp();
            if (lane < readers)
                arrive_peer(&empty[stage], (rank + lane) % 2);
        }
        sum = __reduce_add_sync(all_lanes, sum);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
    __syncwarp();
    if constexpr (ring != Ring::no_tail)
        cluster_sync();
}

template <Ring wrong>
bool weigh(bool broken) {
    constexpr int tiles = 7, blocks = 4;
    auto host = pairs::random_ints(tiles * 128);
    for (int& value : host)
        value %= 10000;
    pairs::Device<int> in(host), out(blocks);
    (broken ? weigh_kernel<wrong> : weigh_kernel<Ring::right>)<<<blocks, 64>>>(in.data(), out.data(), tiles);
    std::vector<int> expected(blocks, 0);
    for (int block = 0; block < blocks; ++block)
        for (int i = 0; i < tiles * 128; ++i)
            expected[block] += host[i] * (i % 128 % 3 + block);
    return out.read() == expected;
}

// Each block sends its rows to the next one with asynchronous stores of 16 bytes.
enum class Store { right, elements_expected, own_barrier };

template <Store store>
__global__ void __cluster_dims__(4) rotate_kernel(const int4* in, int4* out) {
    constexpr int threads = 64;
    __shared__ alignas(16) int4 inbox[threads];
    __shared__ std::uint64_t arrived;
    const unsigned next = (cluster_rank() + 1) % 4;
    if (threadIdx.x == 0) {
        init(&arrived, 1);
        arrive_expect(&arrived, store == Store::elements_expected ? threads * 4 : threads * sizeof(int4));
        fence_init();
    }
    cluster_sync();
    const std::uint32_t barrier =
        store == Store::own_barrier ? shared_address(&arrived) : peer_address(&arrived, next);
    store_async(peer_address(&inbox[threadIdx.x], next), in[blockIdx.x * threads + threadIdx.x], barrier);
    wait_cluster(&arrived, 0);
    out[blockIdx.x * threads + threadIdx.x] = inbox[threads - 1 - threadIdx.x];
    cluster_sync();
}

template <Store wrong>
bool rotate(bool broken) {
    constexpr int blocks = 8, threads = 64;
    const auto host = pairs::random_ints(blocks * threads * 4);
    pairs::Device<int> in(host), out(host.size());
    (broken ? rotate_kernel<wrong> : rotate_kernel<Store::right>)<<<blocks, threads>>>(
        reinterpret_cast<const int4*>(in.data()), reinterpret_cast<int4*>(out.data()));
    std::vector<int> expected(host.size());
    for (int block = 0; block < blocks; ++block)
        for (int i = 0; i < threads; ++i)
            for (int k = 0; k < 4; ++k)
                expected[(block * threads + i) * 4 + k] =
                    host[((block / 4 * 4 + (block + 3) % 4) * threads + threads - 1 - i) * 4 + k];
    return out.read() == expected;
}

// Block 0 squares tiles in a staging buffer and pushes them into an inbox of block 1.
template <bool broken>
__global__ void __cluster_dims__(2) push_kernel(const int* in, int* out, int tiles) {
    constexpr int threads = 64;
    __shared__ alignas(16) int staging[2][threads], inbox[2][threads];
    __shared__ std::uint64_t full[2], empty[2];
    const unsigned rank = cluster_rank();
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < 2; ++slot) {
            init(&full[slot], 1);
            init(&empty[slot], threads);
        }
        fence_init();
    }
    cluster_sync();
    for (int tile = 0; tile < tiles; ++tile) {
        const int slot = tile % 2, round = tile / 2;
        if (rank == 0) {
            if (!broken && round > 0)
                wait_cluster(&empty[slot], (round - 1) % 2);
            const int value = in[tile * threads + threadIdx.x] % 1000;
            staging[slot][threadIdx.x] = value * value;
            fence_async();
            __syncthreads();
            if (threadIdx.x == 0) {
                if (broken && round > 0)
                    wait_cluster(&empty[slot], (round - 1) % 2);
                push(inbox[slot], staging[slot], sizeof(staging[slot]), &full[slot], 1);
            }
        } else {
            if (threadIdx.x == 0)
                arrive_expect(&full[slot], sizeof(inbox[slot]));
            wait_cluster(&full[slot], round % 2);
            out[tile * threads + threadIdx.x] = inbox[slot][threads - 1 - threadIdx.x];
            arrive_peer(&empty[slot], 0);
        }
    }
    cluster_sync();
}

bool push_source_reused(bool broken) {
    constexpr int tiles = 6, threads = 64;
    const auto host = pairs::random_ints(tiles * threads);
    pairs::Device<int> in(host), out(tiles * threads);
    (broken ? push_kernel<true> : push_kernel<false>)<<<2, threads>>>(in.data(), out.data(), tiles);
    std::vector<int> expected(host.size());
    for (int i = 0; i < tiles * threads; ++i) {
        const int value = host[i / threads * threads + threads - 1 - i % threads] % 1000;
        expected[i] = value * value;
    }
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "lookup_init_own_block",
     .mistake = "__syncthreads() orders the initialisation of the barrier in this block only; block 0 "
                "multicasts to peers whose barrier may not be initialised yet, or that have not begun.",
     .fix = "A cluster barrier (arrive and wait) between the initialisation and the multicast.",
     .run = lookup<Start::own_block_only>,
     .finding = "barrier-init-not-visible",
     .says = "nothing orders its initialisation before that use",
     .remedy =
         "Put a cluster barrier (cluster.sync()) between mbarrier.init and the first use by another block"},
    {.name = "lookup_init_unfenced",
     .mistake = "The cluster barrier is arrived at with .relaxed and nothing releases the initialisation of "
                "the barriers to the peers and to the copy.",
     .fix = "fence.mbarrier_init.release.cluster after mbarrier.init.",
     .run = lookup<Start::unfenced>,
     .finding = "barrier-init-not-visible",
     .says = "arrived there with .relaxed",
     .remedy = "fence.mbarrier_init.release.cluster"},
    {.name = "weigh_half_expected",
     .mistake = "Each block expects only the bytes that it loads itself, but the peer's half is multicast "
                "into the same stage and the same barrier: the phase completes with one half missing.",
     .fix = "arrive.expect_tx with the bytes of the whole tile.",
     .run = weigh<Ring::half_expected>,
     .finding = "tx-count-mismatch",
     .says = "brings more bytes than its mbarrier was told to expect",
     .remedy = "expect_tx must announce the bytes of all copies of the phase"},
    {.name = "weigh_own_reader_only",
     .mistake = "The empty barrier counts only the reader of its own block, but the stage that the producer "
                "overwrites by multicast is read in the peer as well.",
     .fix = "Initialise empty with the number of reading blocks and let each reader arrive at the empty "
            "barriers of both blocks.",
     .run = weigh<Ring::own_reader_only>,
     .finding = "overwrite-in-flight",
     .says = "no thread of the block that is written has arrived at mbarrier empty",
     .remedy = "Let the readers of every block of the mask arrive at it"},
    {.name = "weigh_no_tail",
     .mistake = "A block ends while its peer still arrives at its empty barriers.",
     .fix = "A cluster barrier at the end of the kernel (or waiting for the last phases of empty).",
     .run = weigh<Ring::no_tail>,
     .finding = "remote-block-exited",
     .says = "whose threads have all exited: its shared memory is gone",
     .remedy = "Synchronise the cluster before a block exits"},
    {.name = "rotate_elements_expected",
     .mistake = "The barrier expects the number of elements instead of the bytes of the asynchronous stores, "
                "so its phase completes before all have arrived.",
     .fix = "Expect threads * sizeof(int4) bytes.",
     .run = rotate<Store::elements_expected>,
     .finding = "tx-count-mismatch",
     .says = "brings more bytes than its mbarrier was told to expect",
     .remedy = "expect_tx must announce the bytes of all copies of the phase"},
    {.name = "rotate_own_barrier",
     .mistake = "The asynchronous store writes into the next block but names the barrier of its own block; "
                "the barrier must lie in the block of the destination.",
     .fix = "Map the barrier's address into the destination's block with mapa, as the data's address.",
     .run = rotate<Store::own_barrier>,
     .finding = "rank-out-of-range",
     .says = "both must lie in the same block",
     .remedy = "Map both addresses to the same rank"},
    {.name = "push_source_reused",
     .mistake = "From the second round on the staging buffer is overwritten before the push that reads it is "
                "known to be complete: the wait for empty comes only before the next push.",
     .fix = "Wait for empty before writing the staging buffer again.",
     .run = push_source_reused,
     .finding = "overwrite-in-flight",
     .says = "may still read",
     .remedy =
         "Let a thread of that block answer at an mbarrier of this block, and wait for it before the write"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

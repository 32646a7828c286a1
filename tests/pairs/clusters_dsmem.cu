// Distributed shared memory: who is there, who has written, who has read, who may leave.
#include "clusters_helpers.cuh"
#include "pairs.hpp"

#include <cooperative_groups.h>

namespace {

namespace cg = cooperative_groups;
using namespace clusters;

constexpr int threads = 128;
constexpr unsigned all_lanes = 0xffffffff;

// Each row belongs to a cluster of four blocks; each value becomes its distance from the row's sum.
template <bool broken>
__global__ void __cluster_dims__(4) row_distance_kernel(const int* in, int* out, int rows) {
    __shared__ int warp_sums[threads / 32];
    __shared__ int partial[2];
    auto cluster = cg::this_cluster();
    for (int row = blockIdx.x / 4; row < rows; row += gridDim.x / 4) {
        const int slot = row / (gridDim.x / 4) % 2;
        const std::size_t index = (row * 4 + cluster.block_rank()) * threads + threadIdx.x;
        const int value = in[index];
        const int sum = __reduce_add_sync(all_lanes, value);
        if (threadIdx.x % 32 == 0)
            warp_sums[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            partial[slot] = warp_sums[0] + warp_sums[1] + warp_sums[2] + warp_sums[3];
        cluster.sync();
        int total = 0;
        for (unsigned rank = 0; rank < 4; ++rank)
            total += *cluster.map_shared_rank(&partial[slot], rank);
        out[index] = total - value;
    }
    if constexpr (!broken)
        cluster.sync();
}

bool row_distance(bool broken) {
    constexpr int rows = 5, width = 4 * threads;
    auto host = pairs::random_ints(rows * width);
    for (int& value : host)
        value %= 100000;
    pairs::Device<int> in(host), out(rows * width);
    (broken ? row_distance_kernel<true> : row_distance_kernel<false>)<<<8, threads>>>(in.data(), out.data(),
                                                                                      rows);
    std::vector<int> expected(host.size());
    for (int row = 0; row < rows; ++row) {
        int total = 0;
        for (int i = 0; i < width; ++i)
            total += host[row * width + i];
        for (int i = 0; i < width; ++i)
            expected[row * width + i] = total - host[row * width + i];
    }
    return out.read() == expected;
}

// Three-point sum of a tile that two blocks hold; each gives its edge to the other's halo.
template <bool broken>
__global__ void __cluster_dims__(2) halo_kernel(const int* in, int* out) {
    __shared__ int tile[threads + 2];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    const int index = blockIdx.x * threads + threadIdx.x;
    const int value = in[index];
    tile[threadIdx.x + 1] = value;
    if (threadIdx.x == 0)
        tile[rank == 0 ? 0 : threads + 1] = 0;
    if constexpr (!broken)
        cluster.sync();
    int* peer = cluster.map_shared_rank(tile, rank ^ 1);
    if (rank == 0 && threadIdx.x == threads - 1)
        peer[0] = value;
    if (rank == 1 && threadIdx.x == 0)
        peer[threads + 1] = value;
    cluster.sync();
    out[index] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

bool halo_before_start(bool broken) {
    constexpr int size = 4 * threads;
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), out(size);
    (broken ? halo_kernel<true> : halo_kernel<false>)<<<4, threads>>>(in.data(), out.data());
    std::vector<int> expected(size);
    for (int i = 0; i < size; ++i) {
        const int first = i / (2 * threads) * 2 * threads;
        expected[i] =
            (i > first ? host[i - 1] : 0) + host[i] + (i + 1 < first + 2 * threads ? host[i + 1] : 0);
    }
    return out.read() == expected;
}

// Transposes a matrix of which each block of the cluster holds one row in shared memory.
template <bool broken>
__global__ void __cluster_dims__(8) gather_columns_kernel(const int* in, int* out) {
    __shared__ int row[threads];
    auto cluster = cg::this_cluster();
    row[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    if constexpr (broken)
        cluster_arrive_relaxed();
    else
        cluster_arrive();
    const unsigned from = threadIdx.x % 8;
    const int column = cluster.block_rank() * (threads / 8) + threadIdx.x / 8;
    const int* source = cluster.map_shared_rank(row, from) + column;
    cluster_wait();
    out[blockIdx.x * threads + threadIdx.x] = *source;
    cluster_sync();
}

bool gather_columns(bool broken) {
    constexpr int size = 16 * threads;
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), out(size);
    (broken ? gather_columns_kernel<true> : gather_columns_kernel<false>)<<<16, threads>>>(in.data(),
                                                                                           out.data());
    std::vector<int> expected(size);
    for (int cluster = 0; cluster < 2; ++cluster)
        for (int column = 0; column < threads; ++column)
            for (int row = 0; row < 8; ++row)
                expected[(cluster * threads + column) * 8 + row] =
                    host[(cluster * 8 + row) * threads + column];
    return out.read() == expected;
}

// All-to-all by a ring: in each step a block hands on what it got from its neighbour in the step before.
template <bool broken>
__global__ void __cluster_dims__(4) ring_kernel(const int* in, int* out) {
    __shared__ int held[2][threads];
    const unsigned rank = cluster_rank();
    auto cluster = cg::this_cluster();
    int value = in[blockIdx.x * threads + threadIdx.x], sum = value;
    held[0][threadIdx.x] = value;
    cluster_sync();
    for (int step = 1; step < 4; ++step) {
        value = cluster.map_shared_rank(held[(step - 1) % 2], (rank + 1) % 4)[threadIdx.x];
        if constexpr (!broken)
            held[step % 2][threadIdx.x] = value;
        cluster_arrive();
        if constexpr (broken)
            held[step % 2][threadIdx.x] = value;
        sum += value * (step + 1); // while the others arrive
        cluster_wait();
    }
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

bool ring_write_after_arrive(bool broken) {
    constexpr int size = 8 * threads;
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), out(size);
    (broken ? ring_kernel<true> : ring_kernel<false>)<<<8, threads>>>(in.data(), out.data());
    std::vector<int> expected(size, 0);
    for (int block = 0; block < 8; ++block)
        for (int step = 0; step < 4; ++step)
            for (int i = 0; i < threads; ++i)
                expected[block * threads + i] +=
                    host[(block / 4 * 4 + (block + step) % 4) * threads + i] * (step + 1);
    return out.read() == expected;
}

// Block 0 stores prefix sums straight into block 1, whose threads wait at a barrier of their own.
template <bool broken>
__global__ void __cluster_dims__(2) handover_kernel(const int* in, int* out) {
    __shared__ int inbox[threads];
    __shared__ std::uint64_t ready;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        init(&ready, threads);
        fence_init();
    }
    cluster.sync();
    if (cluster.block_rank() == 0) {
        const int pair = in[threadIdx.x] + in[threads + threadIdx.x];
        cluster.map_shared_rank(inbox, 1)[threadIdx.x] = pair;
        arrive_peer(&ready, 1);
    } else {
        if constexpr (broken)
            wait(&ready, 0);
        else
            wait_cluster(&ready, 0);
        out[threadIdx.x] = inbox[(threadIdx.x * 5 + 3) % threads];
    }
}

bool handover_wait_scope(bool broken) {
    const auto host = pairs::random_ints(2 * threads);
    pairs::Device<int> in(host), out(threads);
    (broken ? handover_kernel<true> : handover_kernel<false>)<<<2, threads>>>(in.data(), out.data());
    std::vector<int> expected(threads);
    for (int i = 0; i < threads; ++i) {
        const int from = (i * 5 + 3) % threads;
        expected[i] = host[from] + host[threads + from];
    }
    return out.read() == expected;
}

// A histogram of the whole cluster in the shared memory of block 0, which writes it out when all have
// arrived.
template <bool broken>
__global__ void __cluster_dims__(4) histogram_kernel(const int* in, int* out, int count) {
    __shared__ int bins[64];
    __shared__ std::uint64_t counted;
    auto cluster = cg::this_cluster();
    if (threadIdx.x < 64)
        bins[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        init(&counted, 4 * threads);
        fence_init();
    }
    cluster.sync();
    int* shared_bins = cluster.map_shared_rank(bins, 0);
    for (int i = cluster.thread_rank(); i < count; i += 4 * threads)
        atomicAdd(&shared_bins[in[i] % 64], 1);
    if constexpr (broken)
        arrive_peer_default(&counted, 0);
    else
        arrive_peer(&counted, 0);
    if (cluster.block_rank() == 0) {
        wait_cluster(&counted, 0);
        if (threadIdx.x < 64)
            out[threadIdx.x] = bins[threadIdx.x];
    }
}

bool histogram_arrive_scope(bool broken) {
    constexpr int count = 1500;
    const auto host = pairs::random_ints(count);
    pairs::Device<int> in(host), out(64);
    (broken ? histogram_kernel<true> : histogram_kernel<false>)<<<4, threads>>>(in.data(), out.data(), count);
    std::vector<int> expected(64, 0);
    for (const int value : host)
        ++expected[value % 64];
    return out.read() == expected;
}

// The last cluster has only one block's worth of work: sums of pairs of chunks, the second one perhaps
// absent.
template <bool broken>
__global__ void __cluster_dims__(2) pair_sums_kernel(const int* in, int* out, int chunks) {
    __shared__ int chunk[threads];
    auto cluster = cg::this_cluster();
    const bool present = static_cast<int>(blockIdx.x) < chunks;
    chunk[threadIdx.x] = present ? in[blockIdx.x * threads + threadIdx.x] : 0;
    if (broken && !present)
        return; // nothing to write
    cluster.sync();
    const int other = cluster.map_shared_rank(chunk, cluster.block_rank() ^ 1)[threads - 1 - threadIdx.x];
    if (present)
        out[blockIdx.x * threads + threadIdx.x] = chunk[threadIdx.x] + other;
    cluster.sync();
}

bool absent_chunk_returns(bool broken) {
    constexpr int chunks = 5;
    const auto host = pairs::random_ints(chunks * threads);
    pairs::Device<int> in(host), out(chunks * threads);
    (broken ? pair_sums_kernel<true> : pair_sums_kernel<false>)<<<6, threads>>>(in.data(), out.data(),
                                                                                chunks);
    std::vector<int> expected = host;
    for (int i = 0; i < chunks * threads; ++i)
        if (const int other = (i / threads ^ 1) * threads + threads - 1 - i % threads;
            other < chunks * threads)
            expected[i] += host[other];
    return out.read() == expected;
}

// Block 0 makes tiles in a ring of two slots; block 1 reads them through the cluster and gives the slots
// back.
template <bool broken>
__global__ void __cluster_dims__(2) pull_kernel(const int* in, int* out, int tiles) {
    __shared__ int slots[2][threads];
    __shared__ std::uint64_t full[2], empty[2];
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < 2; ++slot) {
            init(&full[slot], threads);
            init(&empty[slot], 1);
        }
        fence_init();
    }
    cluster.sync();
    for (int tile = 0; tile < tiles; ++tile) {
        const int slot = tile % 2, round = tile / 2;
        if (cluster.block_rank() == 0) {
            if (round > 0)
                wait_cluster(&empty[slot], (round - 1) % 2);
            slots[slot][threadIdx.x] = 3 * in[tile * threads + threadIdx.x];
            arrive_peer(&full[slot], 1);
        } else {
            wait_cluster(&full[slot], round % 2);
            const int* from = cluster.map_shared_rank(slots[slot], 0);
            out[tile * threads + threadIdx.x] = from[threadIdx.x] - from[(threadIdx.x + 1) % threads];
            if constexpr (!broken)
                __syncthreads();
            if (threadIdx.x == 0)
                arrive_peer(&empty[slot], 0);
        }
    }
    cluster.sync();
}

bool pull_slot_released_early(bool broken) {
    constexpr int tiles = 7;
    const auto host = pairs::random_ints(tiles * threads);
    pairs::Device<int> in(host), out(tiles * threads);
    (broken ? pull_kernel<true> : pull_kernel<false>)<<<2, threads>>>(in.data(), out.data(), tiles);
    std::vector<int> expected(host.size());
    for (int i = 0; i < tiles * threads; ++i)
        expected[i] = 3 * host[i] - 3 * host[i / threads * threads + (i + 1) % threads];
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "row_distance",
     .mistake = "A block that has read all partial sums of the last row ends while its peers still read its "
                "own through distributed shared memory.",
     .fix =
         "cluster.sync() after the loop: a block may end only when nobody reads its shared memory any more.",
     .run = row_distance,
     .finding = "remote-block-exited",
     .says = "which has ended",
     .remedy = "End the kernel with a cluster barrier"},
    {.name = "halo_before_start",
     .mistake = "A block stores its edge into the shared memory of its peer without knowing that the peer "
                "has begun to run.",
     .fix = "cluster.sync() before the first access to the peer's shared memory.",
     .run = halo_before_start,
     .finding = "remote-block-not-started",
     .says = "nothing has told it that this block has started",
     .remedy = "Put a cluster barrier (cluster.sync(), barrier.cluster) before the first access"},
    {.name = "gather_columns",
     .mistake = "barrier.cluster.arrive.relaxed orders no memory: the row written before it is read by the "
                "peers after their wait as a race.",
     .fix = "barrier.cluster.arrive with release (the default) instead of .relaxed.",
     .run = gather_columns,
     .finding = "race-shared",
     .says = "arrived there with .relaxed",
     .remedy = "Arrive at the cluster barrier with .release"},
    {.name = "ring_write_after_arrive",
     .mistake = "The value handed on is stored between cluster arrive and cluster wait, so the arrival does "
                "not release it to the neighbour that reads it after its wait.",
     .fix = "Store before barrier.cluster.arrive; only work that no other block sees belongs between arrive "
            "and wait.",
     .run = ring_write_after_arrive,
     .finding = "race-shared",
     .says = "wrote after its arrival at the cluster barrier and before its wait",
     .remedy = "Move the write before barrier.cluster.arrive"},
    {.name = "handover_wait_scope",
     .mistake = "The wait acquires at CTA scope only, while the data was stored and released by a thread of "
                "another block.",
     .fix = "mbarrier.try_wait with .acquire.cluster.",
     .run = handover_wait_scope,
     .finding = "race-shared",
     .says = "waited with .acquire at .cta scope",
     .remedy = "mbarrier.try_wait with .acquire.cluster"},
    {.name = "histogram_arrive_scope",
     .mistake = "The remote arrival releases at CTA scope only (the default), so the peers' additions are "
                "not ordered before the reads of the block that waits.",
     .fix = "mbarrier.arrive.release.cluster.shared::cluster.",
     .run = histogram_arrive_scope,
     .finding = "race-shared",
     .says = "arrived with .release at .cta scope",
     .remedy = "mbarrier.arrive with .release.cluster"},
    {.name = "absent_chunk_returns",
     .mistake = "The block without a chunk returns before its peer has read its shared memory.",
     .fix = "Keep the block in the kernel until the last cluster.sync(); only its stores are predicated.",
     .run = absent_chunk_returns,
     .finding = "remote-block-exited",
     .says = "has ended before the cluster barrier",
     .remedy = "Do not return before the last cluster barrier"},
    {.name = "pull_slot_released_early",
     .mistake = "Thread 0 gives the slot back for all threads of its block without a barrier, while others "
                "still read it; the producer overwrites it in the next round.",
     .fix = "__syncthreads() before thread 0's remote arrival on empty.",
     .run = pull_slot_released_early,
     .finding = "race-shared",
     .says = "arrived at mbarrier empty",
     .remedy = "Put __syncthreads() before that arrival"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

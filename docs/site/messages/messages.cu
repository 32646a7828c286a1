/// @file messages.cu
/// For the error catalogue: a small wrong kernel for each message that no chapter's mistake shows.
///
/// Each is one block of 128 threads, or two, over 256 integers 1, 2, 3, …; the site's catalogue runs them in
/// the page.
#include "wgmma.cuh"

#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace cuda::ptx;
namespace cg = cooperative_groups;

constexpr int block_threads = 128;
constexpr int warp_threads = 32;

__device__ void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// Each block writes its half and reads the other's, and no barrier joins two blocks.
__global__ void blocks_exchange(int* data) {
    const unsigned other = 1 - blockIdx.x;
    data[blockIdx.x * block_threads + threadIdx.x] = 0; // expect: race-global
    data[blockIdx.x * block_threads + threadIdx.x] += data[other * block_threads + threadIdx.x];
}

/// Arrives at a barrier that nobody has initialised.
__global__ void init_forgotten(int* data) {
    __shared__ std::uint64_t bar;
    mbarrier_arrive(&bar); // expect: barrier-uninitialised
    wait(&bar, 0);
    data[threadIdx.x] = 0;
}

/// The barrier is initialised in each round, while others still wait for the round before.
__global__ void init_in_the_loop(int* data) {
    __shared__ std::uint64_t bar;
    for (int round = 0; round < 2; ++round) {
        if (threadIdx.x == 0)
            mbarrier_init(&bar, block_threads); // expect: barrier-reinit-in-use
        __syncthreads();
        mbarrier_arrive(&bar);
        wait(&bar, 0);
        data[threadIdx.x] += round;
    }
}

/// The barrier counts the threads of three warps, and those of all four arrive.
__global__ void one_warp_more(int* data) {
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, block_threads - warp_threads);
    __syncthreads();
    mbarrier_arrive(&bar); // expect: arrival-count-mismatch
    wait(&bar, 0);
    data[threadIdx.x] = 0;
}

/// The last thread writes behind the end of its array.
__global__ void one_too_far(int* data) {
    __shared__ int tile[block_threads];
    __shared__ int sums[block_threads];
    sums[threadIdx.x] = tile[threadIdx.x] = 0;
    __syncthreads();
    tile[threadIdx.x + 1] = data[threadIdx.x]; // expect: shared-array-overrun
    __syncthreads();
    data[threadIdx.x] = tile[threadIdx.x] + sums[threadIdx.x];
}

/// Adds to an output that nobody has set to zero.
__global__ void adds_to_anything(const int* data, int* sums) {
    sums[threadIdx.x] += data[threadIdx.x]; // expect: uninitialised-global
}

/// The first product is added to accumulators that nobody has set.
__global__ void sums_not_begun(float* out) {
    __shared__ wgmma::Operands tile;
    for (unsigned i = threadIdx.x; i < sizeof(tile) / 4; i += blockDim.x)
        reinterpret_cast<int*>(&tile)[i] = 0;
    fence_proxy_async(space_shared);
    __syncthreads();
    constexpr auto mode = workbook::Swizzle::bytes128;
    float sums[wgmma::sums_per_thread];
    workbook::wgmma_fence();
    workbook::wgmma_multiply<wgmma::bf16>(
        sums, workbook::matrix_descriptor(tile.a, workbook::k_major(mode, wgmma::tile_rows)),
        workbook::matrix_descriptor(tile.b, workbook::k_major(mode, wgmma::tile_columns)), true);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    out[threadIdx.x] = sums[0]; // expect: uninitialised-register
}

/// Warps 0 and 1, and warps 2 and 3, meet at the same named barrier.
__global__ void one_number_for_two(int* data) {
    __shared__ int tile[block_threads];
    tile[threadIdx.x] = data[threadIdx.x];
    asm volatile("bar.sync 1, 64;" ::: "memory"); // expect: barrier-overlap
    data[threadIdx.x] = tile[threadIdx.x ^ 1];
}

/// Half of the warp asks for values of the half that is not there.
__global__ void half_a_shuffle(int* data) {
    if (threadIdx.x % warp_threads < warp_threads / 2)
        data[threadIdx.x] = __shfl_down_sync(0xffff, data[threadIdx.x], 8); // expect: shuffle-inactive-lane
}

/// Divides by a part of the blocks, and one block has no quarters.
__global__ void parts_of_nothing(int* data) {
    const unsigned part = gridDim.x / 4;
    data[threadIdx.x] = static_cast<int>(threadIdx.x / part); // expect: division-by-zero
}

/// Half of each warp stays away from the barrier of the block.
__global__ void barrier_in_a_branch(int* data) {
    __shared__ int tile[block_threads];
    tile[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x % 2 == 0)
        __syncthreads(); // expect: divergent-barrier
    else
        __syncthreads();
    data[threadIdx.x] = tile[threadIdx.x ^ 1];
}

/// The block ends while the TMA may still read its tile.
__global__ void ends_too_early(int* data) {
    __shared__ alignas(16) int tile[block_threads];
    const std::uint32_t bytes = sizeof(tile);
    tile[threadIdx.x] = static_cast<int>(threadIdx.x);
    fence_proxy_async(space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk(space_global, space_shared, data, tile, bytes); // expect: exited-with-copies-in-flight
        cp_async_bulk_commit_group();
    }
}

/// Reads the neighbour's shared memory before anything says that the neighbour runs.
__global__ void __cluster_dims__(2) neighbour_not_there(int* data) {
    __shared__ int mine[block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    int* const theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    theirs[threadIdx.x] = data[threadIdx.x]; // expect: remote-block-not-started
    cluster.sync();
    data[blockIdx.x * block_threads + threadIdx.x] = mine[threadIdx.x];
}

/// st.async in a kernel that is launched without a cluster.
__global__ void cluster_forgotten(int* data) {
    __shared__ int value;
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(&bar, 1);
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &bar, sizeof(value));
        st_async(&value, data[0], &bar); // expect: no-cluster-launch
        wait(&bar, 0);
        data[0] = value;
    }
}

/// Stops where a value is not what it was thought to be.
__global__ void gives_up(int* data) {
    if (data[threadIdx.x] > 100)
        __trap(); // expect: trap
}

__device__ __noinline__ int depth_from(const int* data, int at) {
    return data[at] == 0 ? 0 : 1 + depth_from(data, data[at] - 1) / 2;
}

/// Follows links until one is 0; the first leads to itself.
__global__ void never_the_end(int* data) {
    if (threadIdx.x == 0)
        data[0] = depth_from(data, 0); // expect: stack-overflow
}

/// Waits for a flag by an ordinary load, which the compiler moves out of the loop.
__global__ void waits_for_a_flag(int* data) {
    while (threadIdx.x == 0 && data[0] == 1) // expect: watchdog
        asm volatile("");                    // else the compiler may leave out the whole loop
    data[threadIdx.x] = 0;
}

/// Launches `blocks` blocks over the integers.
template <unsigned blocks = 1>
void run(void (*kernel)(int*)) {
    std::vector<int> numbers(2 * block_threads);
    std::iota(numbers.begin(), numbers.end(), 1);
    workbook::DeviceBuffer<int> data(numbers);
    workbook::launch(kernel, {.grid = blocks, .block = block_threads}, data.data());
    workbook::synchronize();
}

void run_with_output() {
    const workbook::DeviceBuffer<int> data(std::vector<int>(block_threads, 1));
    int* sums = nullptr; // Memory as cudaMalloc gives it.
    workbook::check(cudaMalloc(&sums, block_threads * sizeof(int)));
    workbook::launch(adds_to_anything, {.block = block_threads}, data.data(), sums);
    workbook::synchronize();
    workbook::check(cudaFree(sums));
}

void run_product() {
    workbook::DeviceBuffer<float> out(block_threads);
    workbook::launch(sums_not_begun, {.block = block_threads}, out.data());
    workbook::synchronize();
}

constexpr workbook::Mistake messages[] = {
    {"blocks_exchange", "blocks that read what others write", [] { run<2>(blocks_exchange); }},
    {"init_forgotten", "a barrier that nobody initialised", [] { run(init_forgotten); }},
    {"init_in_the_loop", "a barrier initialised in each round", [] { run(init_in_the_loop); }},
    {"one_warp_more", "a warp that arrives and is not counted", [] { run(one_warp_more); }},
    {"one_too_far", "an index behind the end of a shared array", [] { run(one_too_far); }},
    {"adds_to_anything", "sums that begin with what was in memory", run_with_output},
    {"sums_not_begun", "accumulators that nobody set", run_product},
    {"one_number_for_two", "one named barrier for two groups", [] { run(one_number_for_two); }},
    {"half_a_shuffle", "a shuffle from lanes that are not there", [] { run(half_a_shuffle); }},
    {"parts_of_nothing", "a division by zero", [] { run(parts_of_nothing); }},
    {"barrier_in_a_branch", "a barrier in both branches of an if", [] { run(barrier_in_a_branch); }},
    {"ends_too_early", "a block that ends before its store", [] { run(ends_too_early); }},
    {"neighbour_not_there", "a neighbour that may not run yet", [] { run<2>(neighbour_not_there); }},
    {"cluster_forgotten", "st.async without a cluster", [] { run(cluster_forgotten); }},
    {"gives_up", "a trap", [] { run(gives_up); }},
    {"never_the_end", "recursion without an end", [] { run(never_the_end); }},
    {"waits_for_a_flag", "a loop that waits for ever", [] { run(waits_for_a_flag); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(messages, argc, argv); }

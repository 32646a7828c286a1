// Cooperative groups: tiles, groups by data, the whole grid. Passes on a GPU as well.
#include "cuda/support.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <numeric>

namespace cg = cooperative_groups;

namespace {

template <int Size>
__global__ void reduce_and_scan(int* sums, int* scans) {
    const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    const int i = static_cast<int>(threadIdx.x);
    sums[i] = cg::reduce(tile, i, cg::plus<int>());
    scans[i] = cg::inclusive_scan(tile, 1) * 100 + cg::exclusive_scan(tile, 1);
}

/// counts: threads in thirds, sum of the even, sum of the odd, threads in groups by i mod 5.
__global__ void groups_by_data(int* counts, int* packed) {
    const auto block = cg::this_thread_block();
    const int i = static_cast<int>(threadIdx.x);
    if (i % 3 == 0) {
        const auto together = cg::coalesced_threads();
        int first = 0;
        if (together.thread_rank() == 0)
            first = atomicAdd(&counts[0], static_cast<int>(together.size()));
        packed[together.shfl(first, 0) + static_cast<int>(together.thread_rank())] = i;
    }
    const auto warp = cg::tiled_partition<32>(block);
    const auto half = cg::binary_partition(warp, i % 2 == 0);
    const int sum = cg::reduce(half, i, cg::plus<int>());
    if (half.thread_rank() == 0)
        atomicAdd(&counts[1 + i % 2], sum);
    const auto fifth = cg::labeled_partition(warp, i % 5);
    if (fifth.thread_rank() == 0)
        atomicAdd(&counts[3], static_cast<int>(fifth.size()));
}

/// Every thread takes its neighbour's number and adds one, some rounds long.
__global__ void pass_on(int* values, int count, int rounds) {
    const auto grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank());
    for (int round = 0; round < rounds; ++round) {
        const int taken = values[(i + 1) % count];
        grid.sync();
        values[i] = taken + 1;
        grid.sync();
    }
}

void check_pass_on(int blocks, int threads, int rounds) {
    int count = blocks * threads;
    std::vector<int> start(static_cast<std::size_t>(count));
    std::iota(start.begin(), start.end(), 0);
    const Memory<int> values(start);
    int* data = values.data();
    void* arguments[] = {&data, &count, &rounds};
    CHECK_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(pass_on),
                                           dim3(static_cast<unsigned>(blocks)),
                                           dim3(static_cast<unsigned>(threads)), arguments, 0, nullptr));
    const auto result = values.read();
    int wrong = 0;
    for (int i = 0; i < count; ++i)
        wrong += result[static_cast<std::size_t>(i)] != (i + rounds) % count + rounds;
    CHECK(wrong == 0);
}

template <int Size>
void check_tiles() {
    INFO("tiles of " << Size);
    const Memory<int> sums(64), scans(64);
    reduce_and_scan<Size><<<1, 64>>>(sums.data(), scans.data());
    const auto s = sums.read(), c = scans.read();
    int wrong = 0;
    for (int i = 0; i < 64; ++i) {
        const int first = i / Size * Size;
        wrong += s[static_cast<std::size_t>(i)] != Size * first + Size * (Size - 1) / 2;
        wrong += c[static_cast<std::size_t>(i)] != (i - first + 1) * 100 + i - first;
    }
    CHECK(wrong == 0);
}

/// Tiles of several warps: their sums, and what a barrier of the tile lets a neighbour read.
template <int Size>
__global__ void tiles_of_warps(int* sums, int* neighbours) {
    __shared__ cg::block_tile_memory<256> scratch;
    __shared__ int numbers[256];
    const auto block = cg::this_thread_block(scratch);
    const auto tile = cg::tiled_partition<Size>(block);
    const int i = static_cast<int>(threadIdx.x);
    numbers[i] = i;
    tile.sync();
    neighbours[i] = numbers[i / Size * Size + (i + 32) % Size];
    sums[i] = cg::reduce(tile, i, cg::plus<int>());
}

template <int Size>
void check_tiles_of_warps() {
    INFO("tiles of " << Size);
    const Memory<int> sums(256), neighbours(256);
    tiles_of_warps<Size><<<1, 256>>>(sums.data(), neighbours.data());
    const auto s = sums.read(), n = neighbours.read();
    int wrong = 0;
    for (int i = 0; i < 256; ++i) {
        const int first = i / Size * Size;
        wrong += s[static_cast<std::size_t>(i)] != Size * first + Size * (Size - 1) / 2;
        wrong += n[static_cast<std::size_t>(i)] != first + (i + 32) % Size;
    }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("tiles of several warps keep their barriers in the reserved shared memory") {
    check_tiles_of_warps<64>();
    check_tiles_of_warps<128>();
    check_tiles_of_warps<256>();
}

TEST_CASE("reductions and scans in tiles of every size") {
    check_tiles<1>();
    check_tiles<2>();
    check_tiles<4>();
    check_tiles<8>();
    check_tiles<16>();
    check_tiles<32>();
}

TEST_CASE("groups that the data decide") {
    const Memory<int> counts(std::vector<int>(4, 0)), packed(128);
    groups_by_data<<<1, 128>>>(counts.data(), packed.data());
    CHECK(counts.read() == std::vector<int>{43, 64 * 63, 64 * 64, 128});
}

TEST_CASE("a barrier of the whole grid") { check_pass_on(8, 128, 5); }

TEST_CASE("a barrier of as many blocks as there are multiprocessors takes no time worth telling") {
    check_pass_on(132, 32, 4);
}

// CUB on partial tiles: it reads shared memory that nobody wrote and drops the values. Passes on a GPU as
// well.
#include "cuda/support.cuh"

#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include <algorithm>
#include <numeric>

namespace {

constexpr int threads = 128, items = 4;

struct Less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};

__global__ void sort(int* data, int count) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockMergeSort<int, threads, items>;
    using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        typename Store::TempStorage store;
    } storage;
    int values[items];
    Load(storage.load).Load(data, values, count, 0x7fffffff);
    __syncthreads();
    Sort(storage.sort).Sort(values, Less(), count, 0x7fffffff);
    __syncthreads();
    Store(storage.store).Store(data, values, count);
}

__global__ void scan(int* data, int count) {
    using Scan = cub::BlockScan<int, threads>;
    __shared__ typename Scan::TempStorage storage;
    const int i = static_cast<int>(threadIdx.x);
    int value = i < count ? data[i] : 0;
    Scan(storage).InclusiveSum(value, value);
    if (i < count)
        data[i] = value;
}

} // namespace

TEST_CASE("merge sort of a partial tile") {
    for (const int count : {1, 100, 333, 511, 512}) {
        INFO(count << " values");
        std::vector<int> values(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i)
            values[static_cast<std::size_t>(i)] = i * 7919 % 1009;
        const Memory<int> data(values);
        sort<<<1, threads>>>(data.data(), count);
        std::ranges::sort(values);
        CHECK(data.read() == values);
    }
}

TEST_CASE("scan of a partial tile") {
    std::vector<int> values(77, 3);
    const Memory<int> data(values);
    scan<<<1, threads>>>(data.data(), 77);
    std::partial_sum(values.begin(), values.end(), values.begin());
    CHECK(data.read() == values);
}

// Launches as ordinary programs make them. The same file passes on a GPU.
#include "cuda/support.cuh"

#include <cooperative_groups.h>

#include <numeric>
#include <string>

namespace cg = cooperative_groups;

namespace {

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void sum_in_shared(const int* in, int* out) {
    extern __shared__ int part[];
    part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

struct Wide {
    char c;
    double d;
    short s[3];
};

__global__ void take(Wide w, char c, long long l, const Wide* p, double* out) {
    out[0] = w.c + w.d + w.s[0] + w.s[1] + w.s[2];
    out[1] = c;
    out[2] = static_cast<double>(l);
    out[3] = p->d;
}

template <class T, int Factor>
__global__ void scale(T* data) {
    data[threadIdx.x] *= Factor;
}

__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
using Unary = int (*)(int);
__device__ Unary chosen = square;

__global__ void apply(Unary f, int* out) {
    out[0] = f(7);
    out[1] = chosen(7);
}
__global__ void pick(bool first, Unary* out) { *out = first ? twice : square; }

__global__ void grid_sum(int* data, int* total) {
    const cg::grid_group grid = cg::this_grid();
    const auto i = static_cast<unsigned>(grid.thread_rank());
    data[i] = static_cast<int>(i);
    grid.sync();
    if (i == 0)
        for (unsigned k = 0; k < grid.size(); ++k)
            *total += data[k];
}

__global__ void read_neighbour(int* out) {
    __shared__ int mine;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    if (threadIdx.x == 0)
        mine = static_cast<int>(blockIdx.x) * 10;
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *cluster.map_shared_rank(&mine, (rank + 1) % size) + static_cast<int>(size);
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) read_neighbour_fixed(int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        out[blockIdx.x] = static_cast<int>(cluster.num_blocks());
    cluster.sync();
}

__global__ void __launch_bounds__(64) bounded(int* out) { *out = 1; }

} // namespace

TEST_CASE("a launch computes") {
    constexpr int n = 1000;
    std::vector<float> a(n), b(n);
    std::iota(a.begin(), a.end(), 0.0f);
    std::iota(b.begin(), b.end(), 5.0f);
    const Memory<float> da(a), db(b), dc(n);
    add<<<(n + 255) / 256, 256>>>(da.data(), db.data(), dc.data(), n);
    CHECK_CUDA(cudaGetLastError());
    const auto c = dc.read();
    for (int i = 0; i < n; ++i)
        REQUIRE(c[i] == a[i] + b[i]);
}

TEST_CASE("dynamic shared memory and barriers") {
    constexpr int blocks = 7, threads = 128;
    std::vector<int> in(blocks * threads);
    std::iota(in.begin(), in.end(), 0);
    const Memory<int> din(in), out(blocks);
    sum_in_shared<<<blocks, threads, threads * sizeof(int)>>>(din.data(), out.data());
    const auto sums = out.read();
    for (int b = 0; b < blocks; ++b)
        CHECK(sums[b] == std::accumulate(in.begin() + b * threads, in.begin() + (b + 1) * threads, 0));
}

TEST_CASE("parameters keep their offsets") {
    const Wide w{3, 0.5, {10, 20, 30}};
    const Memory<Wide> stored(std::vector<Wide>{w});
    const Memory<double> out(4);
    take<<<1, 1>>>(w, 'x', -1234567890123ll, stored.data(), out.data());
    CHECK(out.read() == std::vector<double>{63.5, 'x', -1234567890123.0, 0.5});
}

TEST_CASE("kernels that are templates") {
    const Memory<int> ints(std::vector<int>{1, 2, 3, 4});
    const Memory<double> doubles(std::vector<double>{1.5, 2.5});
    scale<int, 3><<<1, 4>>>(ints.data());
    scale<double, -2><<<1, 2>>>(doubles.data());
    CHECK(ints.read() == std::vector<int>{3, 6, 9, 12});
    CHECK(doubles.read() == std::vector<double>{-3.0, -5.0});
}

TEST_CASE("function pointers on the device") {
    const Memory<Unary> pointer(1);
    const Memory<int> out(2);
    pick<<<1, 1>>>(true, pointer.data());
    apply<<<1, 1>>>(pointer.read()[0], out.data());
    CHECK(out.read() == std::vector<int>{14, 49});
}

TEST_CASE("a launch through cudaLaunchKernel and cudaLaunchKernelEx") {
    const Memory<int> data(std::vector<int>{1, 2, 3, 4});
    int* pointer = data.data();
    void* arguments[] = {&pointer};
    CHECK_CUDA(cudaLaunchKernel(scale<int, 3>, dim3(1), dim3(4), arguments, 0, nullptr));
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 2;
    CHECK_CUDA(cudaLaunchKernelEx(&config, scale<int, 10>, pointer));
    CHECK(data.read() == std::vector<int>{30, 60, 9, 12});
}

TEST_CASE("a cooperative launch waits for the whole grid") {
    constexpr int blocks = 8, threads = 64;
    const Memory<int> data(blocks * threads), total(std::vector<int>{0});
    int *d = data.data(), *t = total.data();
    void* arguments[] = {&d, &t};
    CHECK_CUDA(cudaLaunchCooperativeKernel(grid_sum, blocks, threads, arguments));
    CHECK(total.read()[0] == blocks * threads * (blocks * threads - 1) / 2);
    CHECK(cudaLaunchCooperativeKernel(grid_sum, 1000000, threads, arguments) ==
          cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
}

TEST_CASE("a launch with clusters") {
    const Memory<int> out(8);
    cudaLaunchConfig_t config{};
    config.gridDim = 8;
    config.blockDim = 32;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {4, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK_CUDA(cudaLaunchKernelEx(&config, read_neighbour, out.data()));
    CHECK(out.read() == std::vector<int>{14, 24, 34, 4, 54, 64, 74, 44});

    read_neighbour_fixed<<<4, 32>>>(out.data());
    CHECK(out.read()[3] == 2);

    config.gridDim = 6; // No multiple of 4.
    CHECK(cudaLaunchKernelEx(&config, read_neighbour, out.data()) != cudaSuccess);
    config.gridDim = 16;
    attribute.val.clusterDim = {16, 1, 1};
    CHECK(cudaLaunchKernelEx(&config, read_neighbour, out.data()) == cudaErrorInvalidClusterSize);
    CHECK(cudaGetLastError() != cudaSuccess);
    CHECK_CUDA(cudaFuncSetAttribute(read_neighbour, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int clusters = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveClusters(&clusters, read_neighbour, &config));
    CHECK(clusters > 0);
}

TEST_CASE("the larger the cluster, the fewer multiprocessors it can use") {
    CHECK_CUDA(cudaFuncSetAttribute(sum_in_shared, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CHECK_CUDA(cudaFuncSetAttribute(sum_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024));
    const auto active = [](int threads, std::size_t shared) {
        std::vector<int> answers;
        for (const unsigned size : {1u, 2u, 4u, 8u, 16u}) {
            cudaLaunchAttribute attribute{};
            attribute.id = cudaLaunchAttributeClusterDimension;
            attribute.val.clusterDim = {size, 1, 1};
            cudaLaunchConfig_t config{};
            config.gridDim = size;
            config.blockDim = static_cast<unsigned>(threads);
            config.dynamicSmemBytes = shared;
            config.attrs = &attribute;
            config.numAttrs = 1;
            CHECK_CUDA(cudaOccupancyMaxActiveClusters(&answers.emplace_back(), sum_in_shared, &config));
        }
        return answers;
    };
    const std::vector<int> eight_blocks = active(256, 1024), one_block = active(256, 120 * 1024);
    for (std::size_t i = 1; i < one_block.size(); ++i) {
        CHECK(eight_blocks[i] <= eight_blocks[i - 1] / 2);
        CHECK(one_block[i] <= one_block[i - 1] / 2);
    }
    cudaDeviceProp device{};
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    if (std::string(device.name) != "NVIDIA H200 (emulated)")
        return; // Which multiprocessors are switched off differs from board to board.
    CHECK(eight_blocks == std::vector<int>{1056, 528, 248, 124, 58});
    CHECK(one_block == std::vector<int>{132, 66, 30, 15, 7});
}

TEST_CASE("launches that are refused say so, and the next one works") {
    const Memory<int> out(std::vector<int>{0, 0});
    scale<int, 3><<<1, 2048>>>(out.data());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    scale<int, 3><<<0, 32>>>(out.data());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    scale<int, 3><<<1, dim3(1u << 31, 1u << 27, 64)>>>(out.data()); // 2^64 threads are not none.
    CHECK(cudaGetLastError() != cudaSuccess);
    sum_in_shared<<<1, 32, 100 * 1024>>>(out.data(), out.data());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    bounded<<<1, 128>>>(out.data());
    CHECK(cudaGetLastError() != cudaSuccess);
    bounded<<<1, 64>>>(out.data());
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(out.read()[0] == 1);
}

TEST_CASE("function attributes") {
    cudaFuncAttributes attributes{};
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, bounded));
    CHECK(attributes.maxThreadsPerBlock == 64);
    CHECK(attributes.ptxVersion == 90);
    CHECK(attributes.binaryVersion == 90);
    CHECK(attributes.numRegs > 0);
    CHECK(attributes.maxDynamicSharedSizeBytes == 48 * 1024);
    CHECK_CUDA(cudaFuncSetAttribute(sum_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    CHECK(cudaFuncSetAttribute(sum_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024) ==
          cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, sum_in_shared));
    CHECK(attributes.maxDynamicSharedSizeBytes == 227 * 1024);
    CHECK_CUDA(cudaFuncGetAttributes(&attributes, read_neighbour_fixed));
    CHECK(attributes.requiredClusterWidth == 2);
}

TEST_CASE("occupancy") {
    int blocks = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    CHECK(blocks == 8);
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 0));
    CHECK(blocks == 32);
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_in_shared, 128, 48 * 1024));
    CHECK(blocks == 4);
    int grid = 0, block = 0;
    CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0));
    CHECK(block == 1024);
    CHECK(grid % 2 == 0);
    std::size_t bytes = 0;
    CHECK_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, sum_in_shared, 2, 128));
    CHECK(bytes == 48 * 1024);
    CHECK_CUDA(cudaFuncSetAttribute(sum_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    CHECK_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, sum_in_shared, 2, 128));
    CHECK(bytes == 114 * 1024);
}

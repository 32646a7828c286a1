// Memory of the runtime API: allocation, copies, fills, symbols, pointer queries. Passes on a GPU as well.
#include "cuda/support.cuh"

#include <cstring>
#include <numeric>

namespace {

__constant__ float coefficients[4];
__device__ int counter = 41;
__device__ int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
__managed__ int shared_number = 5;

__global__ void use_symbols(float* out) {
    for (int i = 0; i < 4; ++i)
        out[i] = coefficients[i] * 2;
    ++counter;
    shared_number *= 3;
}

__global__ void increment(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        ++data[i];
}

__global__ void fill_rows(char* base, std::size_t pitch, int width, int height) {
    for (int y = static_cast<int>(threadIdx.x); y < height; y += static_cast<int>(blockDim.x))
        for (int x = 0; x < width; ++x)
            reinterpret_cast<float*>(base + y * pitch)[x] = static_cast<float>(y * 100 + x);
}

} // namespace

TEST_CASE("symbols") {
    const float values[4] = {1, 2, 3, 4};
    CHECK_CUDA(cudaMemcpyToSymbol(coefficients, values, sizeof values));
    const float last = 9;
    CHECK_CUDA(cudaMemcpyToSymbol(coefficients, &last, sizeof last, 3 * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(coefficients, values, sizeof values, 4) == cudaErrorInvalidValue);
    CHECK(shared_number == 5);
    const Memory<float> out(4);
    use_symbols<<<1, 1>>>(out.data());
    CHECK(out.read() == std::vector<float>{2, 4, 6, 18});
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(shared_number == 15);
    int number = 0;
    CHECK_CUDA(cudaMemcpyFromSymbol(&number, counter, sizeof number));
    CHECK(number == 42);
    std::size_t size = 0;
    CHECK_CUDA(cudaGetSymbolSize(&size, table));
    CHECK(size == sizeof table);
    void* address = nullptr;
    CHECK_CUDA(cudaGetSymbolAddress(&address, table));
    CHECK_CUDA(cudaMemcpy(&number, static_cast<int*>(address) + 5, sizeof number, cudaMemcpyDefault));
    CHECK(number == 6);
    int host = 0;
    CHECK(cudaGetSymbolAddress(&address, host) == cudaErrorInvalidSymbol);
}

TEST_CASE("managed memory") {
    int* data = nullptr;
    CHECK_CUDA(cudaMallocManaged(&data, 100 * sizeof(int)));
    std::iota(data, data + 100, 0);
    increment<<<1, 128>>>(data, 100);
    CHECK_CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 100; ++i)
        REQUIRE(data[i] == i + 1);
    CHECK_CUDA(cudaFree(data));
}

TEST_CASE("pinned and registered host memory is visible to kernels") {
    int* pinned = nullptr;
    CHECK_CUDA(cudaHostAlloc(&pinned, 10 * sizeof(int), cudaHostAllocMapped));
    std::fill(pinned, pinned + 10, 7);
    int* device = nullptr;
    CHECK_CUDA(cudaHostGetDevicePointer(&device, pinned, 0));
    increment<<<1, 32>>>(device, 10);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(pinned[9] == 8);
    CHECK_CUDA(cudaFreeHost(pinned));

    std::vector<int> own(1024, 1);
    CHECK_CUDA(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterMapped));
    CHECK_CUDA(cudaHostGetDevicePointer(&device, own.data(), 0));
    increment<<<8, 128>>>(device, 1024);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(own[1023] == 2);
    CHECK_CUDA(cudaHostUnregister(own.data()));
    CHECK(cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered);
}

TEST_CASE("pitched memory and copies of rows") {
    constexpr int width = 33, height = 5;
    char* base = nullptr;
    std::size_t pitch = 0;
    CHECK_CUDA(cudaMallocPitch(&base, &pitch, width * sizeof(float), height));
    CHECK(pitch >= width * sizeof(float));
    CHECK(pitch % 256 == 0);
    fill_rows<<<1, 32>>>(base, pitch, width, height);
    std::vector<float> dense(width * height);
    CHECK_CUDA(cudaMemcpy2D(dense.data(), width * sizeof(float), base, pitch, width * sizeof(float), height,
                            cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            REQUIRE(dense[y * width + x] == static_cast<float>(y * 100 + x));
    CHECK_CUDA(cudaMemset2D(base, pitch, 0, 8, height));
    CHECK_CUDA(cudaMemcpy2D(dense.data(), width * sizeof(float), base, pitch, width * sizeof(float), height,
                            cudaMemcpyDeviceToHost));
    CHECK(dense[width] == 0);
    CHECK(dense[width + 1] == 0);
    CHECK(dense[width + 2] == 102);
    CHECK(cudaMemcpy2D(dense.data(), 4, base, pitch, 8, 2, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidPitchValue);
    CHECK_CUDA(cudaFree(base));
}

TEST_CASE("boxes") {
    const cudaExtent extent = make_cudaExtent(10 * sizeof(int), 4, 3);
    cudaPitchedPtr box{};
    CHECK_CUDA(cudaMalloc3D(&box, extent));
    CHECK_CUDA(cudaMemset3D(box, 0, extent));
    std::vector<int> in(10 * 4 * 3), out(in.size());
    std::iota(in.begin(), in.end(), 1);
    cudaMemcpy3DParms there{}, back{};
    there.srcPtr = make_cudaPitchedPtr(in.data(), 10 * sizeof(int), 10, 4);
    there.dstPtr = box;
    there.extent = extent;
    there.kind = cudaMemcpyHostToDevice;
    CHECK_CUDA(cudaMemcpy3D(&there));
    back.srcPtr = box;
    back.dstPtr = make_cudaPitchedPtr(out.data(), 10 * sizeof(int), 10, 4);
    back.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
    back.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    back.kind = cudaMemcpyDeviceToHost;
    CHECK_CUDA(cudaMemcpy3D(&back));
    CHECK(out[0] == in[1 * 40 + 1 * 10 + 2]);
    CHECK(out[40 + 10 + 2] == in[2 * 40 + 2 * 10 + 4]);
    CHECK(out[3] == 0);
    CHECK_CUDA(cudaFree(box.ptr));
}

TEST_CASE("fills and overlapping queries") {
    const Memory<unsigned char> data(100);
    CHECK_CUDA(cudaMemset(data.data(), 0xab, 100));
    CHECK_CUDA(cudaMemsetAsync(data.data() + 10, 1, 5, nullptr));
    const auto bytes = data.read();
    CHECK(bytes[9] == 0xab);
    CHECK(bytes[10] == 1);
    CHECK(bytes[15] == 0xab);
}

TEST_CASE("copies outside an allocation are refused") {
    const Memory<int> data(10);
    std::vector<int> host(20);
    CHECK(cudaMemcpy(host.data(), data.data(), 20 * sizeof(int), cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host.data(), data.data(), 4, static_cast<cudaMemcpyKind>(77)) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaGetLastError() != cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("pointers tell what they are") {
    const Memory<int> data(10);
    cudaPointerAttributes attributes{};
    CHECK_CUDA(cudaPointerGetAttributes(&attributes, data.data() + 3));
    CHECK(attributes.type == cudaMemoryTypeDevice);
    CHECK(attributes.devicePointer == data.data() + 3);
    int local = 0;
    CHECK_CUDA(cudaPointerGetAttributes(&attributes, &local));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    int* managed = nullptr;
    CHECK_CUDA(cudaMallocManaged(&managed, 4));
    CHECK_CUDA(cudaPointerGetAttributes(&attributes, managed));
    CHECK(attributes.type == cudaMemoryTypeManaged);
    CHECK(attributes.hostPointer == managed);
    CHECK_CUDA(cudaFree(managed));
}

TEST_CASE("memory runs out with an error, not with a crash") {
    std::size_t free = 0, total = 0;
    CHECK_CUDA(cudaMemGetInfo(&free, &total));
    CHECK(free <= total);
    void* data = nullptr;
    CHECK(cudaMalloc(&data, total + (std::size_t{1} << 30)) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&data, ~std::size_t{0} - 100) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK_CUDA(cudaMalloc(&data, 0));
    CHECK_CUDA(cudaFree(data));
    CHECK_CUDA(cudaFree(nullptr));
}

TEST_CASE("freeing what was not allocated") {
    int* data = nullptr;
    CHECK_CUDA(cudaMalloc(&data, 64));
    CHECK(cudaFree(data + 1) == cudaErrorInvalidValue);
    CHECK_CUDA(cudaFree(data));
    CHECK(cudaFree(data) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("stream-ordered memory") {
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreate(&stream));
    int* data = nullptr;
    CHECK_CUDA(cudaMallocAsync(&data, 128 * sizeof(int), stream));
    CHECK_CUDA(cudaMemsetAsync(data, 0, 128 * sizeof(int), stream));
    increment<<<1, 128, 0, stream>>>(data, 128);
    int last = 0;
    CHECK_CUDA(cudaMemcpyAsync(&last, data + 127, sizeof last, cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaFreeAsync(data, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(last == 1);
    cudaMemPool_t pool = nullptr;
    CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 1 << 20, read = 0;
    CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    CHECK(read == threshold);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

// Errors of kernels: when they surface, which code they have, and that they stay. Passes on a GPU as well,
// where every test case is its own process, too.
#include "cuda/support.cuh"

#include <cassert>
#include <cstring>
#include <string>

namespace {

__global__ void write_to(int* p) { *p = 1; }
__global__ void write_misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }
__global__ void check_assertion(int x) { assert(x == 4); }
__global__ void give_up() { __trap(); }
__global__ void nothing() {}
__global__ void set_flag(volatile int* flag) { *flag = 1; }

/// After a fault every call returns its error; cudaGetLastError clears what the last call left, as an H200
/// does.
void check_sticky(cudaError_t expected) {
    void* p = nullptr;
    CHECK(cudaDeviceSynchronize() == expected);
    CHECK(cudaPeekAtLastError() == expected);
    CHECK(cudaGetLastError() == expected);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(&p, 16) == expected);
    CHECK(cudaStreamCreate(reinterpret_cast<cudaStream_t*>(&p)) == expected);
    nothing<<<1, 1>>>();
    CHECK(cudaGetLastError() == expected);
}

} // namespace

TEST_CASE("an illegal address") {
    write_to<<<1, 1>>>(reinterpret_cast<int*>(0x10));
    CHECK_CUDA(cudaGetLastError()); // The launch itself succeeded.
    check_sticky(cudaErrorIllegalAddress);
}

TEST_CASE("a misaligned address") {
    const Memory<char> memory(16);
    write_misaligned<<<1, 1>>>(memory.data());
    check_sticky(cudaErrorMisalignedAddress);
}

TEST_CASE("a failed assertion") {
    check_assertion<<<1, 1>>>(4);
    CHECK_CUDA(cudaDeviceSynchronize());
    check_assertion<<<1, 1>>>(5);
    check_sticky(cudaErrorAssert);
}

TEST_CASE("a trap") {
    give_up<<<1, 1>>>();
    check_sticky(cudaErrorLaunchFailure);
}

TEST_CASE("kernels behind a fault do not run") {
    int *flag = nullptr, *on_device = nullptr;
    CHECK_CUDA(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    CHECK_CUDA(cudaHostGetDevicePointer(&on_device, flag, 0));
    *flag = 0;
    give_up<<<1, 1>>>();
    set_flag<<<1, 1>>>(on_device);
    check_sticky(cudaErrorLaunchFailure);
    CHECK(*flag == 0);
}

TEST_CASE("a fault surfaces in a blocking copy") {
    int host = 0;
    const Memory<int> memory(1);
    write_to<<<1, 1>>>(nullptr);
    CHECK(cudaMemcpy(&host, memory.data(), sizeof host, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
}

TEST_CASE("an error that leaves the context intact is told once") {
    CHECK(cudaSetDevice(77) == cudaErrorInvalidDevice);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
    void* p = nullptr;
    CHECK(cudaMalloc(nullptr, 4) == cudaErrorInvalidValue);
    CHECK_CUDA(cudaMalloc(&p, 4)); // A success does not clear what is remembered.
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK_CUDA(cudaFree(p));
}

TEST_CASE("names and texts") {
    CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
    CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) ==
          "an illegal memory access was encountered");
    CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
    CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))) == "unrecognized error code");
}

TEST_CASE("the device") {
    int count = 0, device = -1, version = 0, value = 0;
    CHECK_CUDA(cudaGetDeviceCount(&count));
    CHECK(count >= 1);
    CHECK_CUDA(cudaGetDevice(&device));
    CHECK(device == 0);
    CHECK_CUDA(cudaRuntimeGetVersion(&version));
    CHECK(version / 1000 == CUDART_VERSION / 1000);
    cudaDeviceProp properties{};
    CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
    CHECK(std::string(properties.name).find("H200") != std::string::npos);
    CHECK(properties.major == 9);
    CHECK(properties.multiProcessorCount == 132);
    CHECK(properties.warpSize == 32);
    CHECK(properties.sharedMemPerBlockOptin == 227 * 1024);
    CHECK(properties.sharedMemPerMultiprocessor == 228 * 1024);
    CHECK(properties.reservedSharedMemPerBlock == 1024);
    CHECK(properties.maxThreadsDim[2] == 64);
    CHECK(properties.maxGridSize[0] == 2147483647);
    CHECK(properties.clusterLaunch == 1);
    CHECK(properties.cooperativeLaunch == 1);
    CHECK(properties.memoryBusWidth == 6016);
    CHECK_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    CHECK(value == properties.maxThreadsPerMultiProcessor);
    CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(4711), 0) == cudaErrorInvalidValue);
    std::size_t limit = 0;
    CHECK_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CHECK_CUDA(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit == 4096);
}

// Memory pools, advice about managed memory, batches of copies, values that streams write, addresses and
// memory apart. Passes on a GPU as well.
#include "cuda/support.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>
#include <string>

namespace {

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
    std::uint64_t value = 0;
    CHECK_CUDA(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

cudaMemPool_t make_pool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    CHECK_CUDA(cudaMemPoolCreate(&pool, &properties));
    return pool;
}

int range_attribute(cudaMemRangeAttribute which, const void* pointer, std::size_t bytes) {
    int value = 77;
    CHECK_CUDA(cudaMemRangeGetAttribute(&value, sizeof value, which, pointer, bytes));
    return value;
}

/// The driver's functions for addresses and memory apart.
struct VirtualMemory {
    PFN_cuMemGetAllocationGranularity_v10020 granularity =
        driver_function<PFN_cuMemGetAllocationGranularity_v10020>("cuMemGetAllocationGranularity");
    PFN_cuMemAddressReserve_v10020 reserve =
        driver_function<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve");
    PFN_cuMemAddressFree_v10020 free = driver_function<PFN_cuMemAddressFree_v10020>("cuMemAddressFree");
    PFN_cuMemCreate_v10020 create = driver_function<PFN_cuMemCreate_v10020>("cuMemCreate");
    PFN_cuMemRelease_v10020 release = driver_function<PFN_cuMemRelease_v10020>("cuMemRelease");
    PFN_cuMemMap_v10020 map = driver_function<PFN_cuMemMap_v10020>("cuMemMap");
    PFN_cuMemUnmap_v10020 unmap = driver_function<PFN_cuMemUnmap_v10020>("cuMemUnmap");
    PFN_cuMemSetAccess_v10020 set_access = driver_function<PFN_cuMemSetAccess_v10020>("cuMemSetAccess");
    PFN_cuMemGetAccess_v10020 get_access = driver_function<PFN_cuMemGetAccess_v10020>("cuMemGetAccess");
    PFN_cuMemRetainAllocationHandle_v11000 retain =
        driver_function<PFN_cuMemRetainAllocationHandle_v11000>("cuMemRetainAllocationHandle");
};

CUmemAllocationProp on_device_0() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    return properties;
}

__global__ void count_up(std::uint32_t* data, std::size_t count) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] = static_cast<std::uint32_t>(i);
}

constexpr cudaMemLocation device_0{cudaMemLocationTypeDevice, 0};
constexpr cudaMemLocation the_host{cudaMemLocationTypeHost, 0};

} // namespace

TEST_CASE("a pool counts its own memory and keeps what its threshold says") {
    constexpr std::size_t size = 32 << 20;
    const cudaMemPool_t pool = make_pool();
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreate(&stream));
    const Memory<char> other(1000); // Of the device, not of the pool.
    std::uint64_t threshold = UINT64_MAX;
    CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(attribute(pool, cudaMemPoolAttrReleaseThreshold) == UINT64_MAX);
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    void *a = nullptr, *b = nullptr;
    CHECK_CUDA(cudaMallocFromPoolAsync(&a, size, pool, stream));
    CHECK_CUDA(cudaMallocFromPoolAsync(&b, size, pool, stream));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 2 * size);
    CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) >= 2 * size);
    CHECK_CUDA(cudaFreeAsync(a, stream));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == size);
    CHECK_CUDA(cudaFreeAsync(b, stream)); // A driver does not count what cudaFree gives back.
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 2 * size);
    CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) >= 2 * size);
    CHECK_CUDA(cudaMemPoolTrimTo(pool, 0));
    CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    std::uint64_t zero = 0, one = 1;
    CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    CHECK(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 0);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one) == cudaErrorInvalidValue);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &zero) == cudaErrorInvalidValue);
    CHECK_CUDA(cudaMemPoolDestroy(pool));
    CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST_CASE("pools through the driver") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto of_device = driver_function<PFN_cuDeviceGetDefaultMemPool_v11020>("cuDeviceGetDefaultMemPool");
    const auto ask = driver_function<PFN_cuMemPoolGetAttribute_v11020>("cuMemPoolGetAttribute");
    const auto allocate = driver_function<PFN_cuMemAllocFromPoolAsync_v11020>("cuMemAllocFromPoolAsync");
    const auto free = driver_function<PFN_cuMemFreeAsync_v11020>("cuMemFreeAsync");
    const auto access = driver_function<PFN_cuMemPoolGetAccess_v11020>("cuMemPoolGetAccess");
    CUmemoryPool pool = nullptr;
    REQUIRE(of_device(&pool, 0) == CUDA_SUCCESS);
    CUdeviceptr pointer = 0;
    CHECK(allocate(&pointer, 4096, pool, nullptr) == CUDA_SUCCESS);
    cuuint64_t used = 0;
    CHECK(ask(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) == CUDA_SUCCESS);
    CHECK(used >= 4096);
    CHECK(free(pointer, nullptr) == CUDA_SUCCESS);
    CUmemAccess_flags flags{};
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CHECK(access(&flags, pool, &location) == CUDA_SUCCESS);
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_CASE("advice about managed memory is remembered") {
    constexpr std::size_t page = 2 << 20;
    char* data = nullptr;
    CHECK_CUDA(cudaMallocManaged(&data, 2 * page));
    CHECK(range_attribute(cudaMemRangeAttributeReadMostly, data, 2 * page) == 0);
    CHECK(range_attribute(cudaMemRangeAttributePreferredLocation, data, page) == cudaInvalidDeviceId);
    CHECK(range_attribute(cudaMemRangeAttributeLastPrefetchLocation, data, page) == cudaInvalidDeviceId);
    CHECK_CUDA(cudaMemAdvise(data, page, cudaMemAdviseSetReadMostly, device_0));
    CHECK_CUDA(cudaMemAdvise(data, page, cudaMemAdviseSetPreferredLocation, the_host));
    CHECK_CUDA(cudaMemAdvise(data, 2 * page, cudaMemAdviseSetAccessedBy, device_0));
    CHECK_CUDA(cudaMemPrefetchAsync(data, 2 * page, device_0, 0, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(range_attribute(cudaMemRangeAttributeReadMostly, data, page) == 1);
    CHECK(range_attribute(cudaMemRangeAttributeReadMostly, data, 2 * page) == 0);
    CHECK(range_attribute(cudaMemRangeAttributePreferredLocation, data, page) == cudaCpuDeviceId);
    CHECK(range_attribute(cudaMemRangeAttributePreferredLocationType, data, page) == cudaMemLocationTypeHost);
    CHECK(range_attribute(cudaMemRangeAttributeLastPrefetchLocation, data, 2 * page) == 0);
    int devices[3]{};
    CHECK_CUDA(
        cudaMemRangeGetAttribute(devices, sizeof devices, cudaMemRangeAttributeAccessedBy, data, page));
    CHECK((devices[0] == 0 && devices[1] == cudaInvalidDeviceId && devices[2] == cudaInvalidDeviceId));
    CHECK_CUDA(cudaMemAdvise(data, page, cudaMemAdviseUnsetReadMostly, device_0));
    CHECK(range_attribute(cudaMemRangeAttributeReadMostly, data, page) == 0);

    constexpr cudaMemLocation device_7{cudaMemLocationTypeDevice, 7}, nowhere{};
    CHECK(cudaMemAdvise(data, page, cudaMemAdviseSetPreferredLocation, device_7) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(data, page, cudaMemAdviseSetReadMostly, device_7) == cudaSuccess);
    CHECK(cudaMemAdvise(data, page, cudaMemAdviseSetReadMostly, nowhere) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(data, page, cudaMemAdviseSetAccessedBy, {cudaMemLocationTypeHostNuma, 0}) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(data, page, device_7, 0, nullptr) == cudaErrorInvalidDevice);
    CHECK(cudaMemPrefetchAsync(data, page, device_0, 1, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(data, 3 * page, cudaMemAdviseSetReadMostly, device_0) == cudaErrorInvalidValue);
    CHECK_CUDA(cudaFree(data));
}

TEST_CASE("many copies in one call") {
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreate(&stream));
    const std::vector<int> first{1, 2, 3, 4}, second{5, 6};
    const Memory<int> a(4), b(2);
    void* to[]{a.data(), b.data()};
    const void* from[]{first.data(), second.data()};
    const std::size_t sizes[]{16, 8};
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t index = 0;
    CHECK_CUDA(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(a.read() == first);
    CHECK(b.read() == second);
    index = 1; // The first attributes must be for the first copy.
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, stream) == cudaErrorInvalidValue);
    cudaGetLastError();

    std::vector<int> result(4);
    cudaMemcpy3DBatchOp box{};
    box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
    box.src.op.ptr.ptr = a.data();
    box.dst.op.ptr.ptr = result.data();
    box.src.op.ptr.locHint = device_0;
    box.dst.op.ptr.locHint = the_host;
    box.extent = {8, 2, 1};
    box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK_CUDA(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(result == first);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST_CASE("a stream writes a value and finds it") {
    const Memory<std::uint32_t> data(std::vector<std::uint32_t>(2, 0));
    const auto write = driver_function<PFN_cuStreamWriteValue32_v11070>("cuStreamWriteValue32");
    const auto wait = driver_function<PFN_cuStreamWaitValue32_v11070>("cuStreamWaitValue32");
    const auto address = reinterpret_cast<CUdeviceptr>(data.data());
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK(write(stream, address, 5, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS);
    CHECK(wait(stream, address, 5, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    CHECK(wait(stream, address, 4, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
    CHECK(wait(stream, address, 4, CU_STREAM_WAIT_VALUE_AND) == CUDA_SUCCESS);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(data.read() == std::vector<std::uint32_t>{5, 0});
    CHECK(write(stream, address + 1, 5, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_ERROR_INVALID_VALUE);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST_CASE("a batch of values is written and waited for in its order") {
    const Memory<std::uint64_t> data(std::vector<std::uint64_t>(2, 0));
    const auto batch = driver_function<PFN_cuStreamBatchMemOp_v11070>("cuStreamBatchMemOp");
    const auto address = reinterpret_cast<CUdeviceptr>(data.data());
    std::vector<CUstreamBatchMemOpParams> operations(4);
    operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operations[0].writeValue.address = address;
    operations[0].writeValue.value64 = 0x500000007;
    operations[1].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    operations[2].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operations[2].waitValue.address = address + 4;
    operations[2].waitValue.value = 5;
    operations[2].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    operations[3].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[3].writeValue.address = address + 8;
    operations[3].writeValue.value = 9;
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreate(&stream));
    const auto count = static_cast<unsigned>(operations.size());
    CHECK(batch(stream, count, operations.data(), 0) == CUDA_SUCCESS);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK(data.read() == std::vector<std::uint64_t>{0x500000007, 9});

    CHECK(batch(stream, 0, nullptr, 0) == CUDA_SUCCESS);
    CHECK(batch(stream, 256, operations.data(), 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(batch(stream, count, operations.data(), 1) == CUDA_ERROR_INVALID_VALUE);
    operations[0].writeValue.value64 = 1;
    operations[3].writeValue.address = address + 9; // No word begins there.
    CHECK(batch(stream, count, operations.data(), 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    cudaDeviceProp device{};
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    if (std::string(device.name) == "NVIDIA H200 (emulated)") // What a driver does then is not said.
        CHECK(data.read() == std::vector<std::uint64_t>{0x500000007, 9});
    CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST_CASE("an array grows at its place: memory is mapped behind memory") {
    CHECK_CUDA(cudaFree(nullptr));
    const VirtualMemory driver;
    const CUmemAllocationProp properties = on_device_0();
    std::size_t piece = 0;
    REQUIRE(driver.granularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) == CUDA_SUCCESS);
    CUdeviceptr base = 0;
    REQUIRE(driver.reserve(&base, 2 * piece, 0, 0, 0) == CUDA_SUCCESS);
    const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (const CUdeviceptr place : {base, base + piece}) {
        CUmemGenericAllocationHandle handle = 0;
        REQUIRE(driver.create(&handle, piece, &properties, 0) == CUDA_SUCCESS);
        CHECK(driver.map(place, piece, 0, handle, 0) == CUDA_SUCCESS);
        CHECK(driver.map(place, piece, 0, handle, 0) != CUDA_SUCCESS); // It is taken.
        CHECK(driver.set_access(place, piece, &access, 1) == CUDA_SUCCESS);
        CHECK(driver.release(handle) == CUDA_SUCCESS); // The mapping keeps the memory.
    }
    const std::size_t count = 2 * piece / 4;
    auto* const data = reinterpret_cast<std::uint32_t*>(base);
    count_up<<<16, 256>>>(data, count);
    std::vector<std::uint32_t> seen(count);
    CHECK_CUDA(cudaMemcpy(seen.data(), data, 2 * piece, cudaMemcpyDeviceToHost)); // Across the seam.
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
        wrong += seen[i] != i;
    CHECK(wrong == 0);
    unsigned long long rights = 0;
    CHECK(driver.get_access(&rights, &properties.location, base + piece) == CUDA_SUCCESS);
    CHECK(rights == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK(driver.unmap(base, 2 * piece) == CUDA_SUCCESS);
    CHECK(cudaMemset(data, 0, 4) != cudaSuccess);
    cudaGetLastError();
    CHECK(driver.free(base, 2 * piece) == CUDA_SUCCESS);
}

TEST_CASE("one memory at two places") {
    CHECK_CUDA(cudaFree(nullptr));
    const VirtualMemory driver;
    const CUmemAllocationProp properties = on_device_0();
    std::size_t piece = 0;
    REQUIRE(driver.granularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS);
    CUmemGenericAllocationHandle handle = 0, again = 0;
    CHECK(driver.create(&handle, piece + 1, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(driver.create(&handle, piece, &properties, 0) == CUDA_SUCCESS);
    const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr places[2]{};
    for (CUdeviceptr& place : places) {
        REQUIRE(driver.reserve(&place, piece, 0, 0, 0) == CUDA_SUCCESS);
        REQUIRE(driver.map(place, piece, 0, handle, 0) == CUDA_SUCCESS);
        REQUIRE(driver.set_access(place, piece, &access, 1) == CUDA_SUCCESS);
    }
    count_up<<<4, 256>>>(reinterpret_cast<std::uint32_t*>(places[0]), 1000);
    CHECK_CUDA(cudaDeviceSynchronize());
    std::uint32_t seen = 0;
    CHECK_CUDA(cudaMemcpy(&seen, reinterpret_cast<void*>(places[1] + 999 * 4), 4, cudaMemcpyDeviceToHost));
    CHECK(seen == 999);
    CHECK(driver.retain(&again, reinterpret_cast<void*>(places[1] + 4)) == CUDA_SUCCESS);
    CHECK(again == handle);
    CHECK(driver.release(again) == CUDA_SUCCESS);
    CHECK(driver.release(handle) == CUDA_SUCCESS);
    for (const CUdeviceptr place : places) {
        CHECK(driver.unmap(place, piece) == CUDA_SUCCESS);
        CHECK(driver.free(place, piece) == CUDA_SUCCESS);
    }
}

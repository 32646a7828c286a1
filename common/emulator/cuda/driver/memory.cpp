/// \file
/// CUDA driver: memory, copies, fills, pointer queries. Device pointers are 64-bit integers here.

#include "cuda/memory.hpp"
#include "cuda/copy.hpp"
#include "cuda/driver/device_pointer.hpp"
#include "cuda/runtime/runtime.hpp"
#include "cuda/state.hpp"

#include <cstring>

using namespace emu;
using namespace emu::cuda;
using abi::CopyKind;

namespace {

CopyOperation linear(DevicePointer to, DevicePointer from, std::size_t count, CopyKind kind) {
    return rows(host(to), count, host(from), count, count, 1, kind);
}
DevicePointer device(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

FillOperation fill(DevicePointer to, std::size_t pitch, std::uint32_t value, unsigned element,
                   std::size_t width, std::size_t height) {
    FillOperation f;
    f.destination = static_cast<std::byte*>(host(to));
    f.pitch = pitch;
    f.value = value;
    f.element_size = element;
    f.width = width;
    f.height = height;
    return f;
}

template <class AnyOperation>
Error now(const char* function, const AnyOperation& operation) {
    return context_call(function, [&](State& state) { return synchronous(state, operation); });
}
template <class AnyOperation>
Error later(const char* function, const AnyOperation& operation, void* stream) {
    return context_call(function, [&](State& state) { return asynchronous(state, stream, operation); });
}

/// CUpointer_attribute numbers.
enum PointerAttribute : int {
    attribute_context = 1,
    attribute_memory_type = 2,
    attribute_device_pointer = 3,
    attribute_host_pointer = 4,
    attribute_is_managed = 8,
    attribute_device_ordinal = 9,
    attribute_range_start = 11,
    attribute_range_size = 12,
    attribute_mapped = 13,
};

template <class T>
Error store(void* data, T value) {
    std::memcpy(data, &value, sizeof value);
    return Error::success;
}

Error pointer_attribute(State& state, void* data, int attribute, DevicePointer pointer) {
    const auto found = state.device().memory().find(pointer);
    if (!data || !found)
        return Error::invalid_value;
    const abi::PointerAttributes about = describe(state, host(pointer));
    const bool is_managed = about.type == abi::MemoryType::managed;
    switch (attribute) {
    case attribute_memory_type: // Managed memory counts as device memory.
        return store(data, about.type == abi::MemoryType::host ? 1u : 2u);
    case attribute_device_pointer:
        return store(data, pointer);
    case attribute_host_pointer:
        return about.host_pointer ? store(data, about.host_pointer) : Error::invalid_value;
    case attribute_is_managed:
        return store(data, static_cast<unsigned char>(is_managed));
    case attribute_device_ordinal:
        return store(data, 0);
    case attribute_range_start:
        return store(data, found->base);
    case attribute_range_size:
        return store(data, static_cast<std::size_t>(found->size));
    case attribute_mapped:
        return store(data, static_cast<unsigned char>(1));
    default:
        throw ApiError(Error::not_supported,
                       "pointer attribute " + std::to_string(attribute) + " is not supported");
    }
}

} // namespace

extern "C" {

Error cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { return forward(cudaMemGetInfo, free, total); }
Error cuMemAlloc_v2(DevicePointer* pointer, std::size_t size) {
    if (size == 0)
        return Error::invalid_value;
    return forward(cudaMalloc, host(pointer), size);
}
Error cuMemAllocPitch_v2(DevicePointer* pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned element) {
    if (element != 4 && element != 8 && element != 16)
        return Error::invalid_value;
    return forward(cudaMallocPitch, host(pointer), pitch, width, height);
}
Error cuMemAllocManaged(DevicePointer* pointer, std::size_t size, unsigned flags) {
    return forward(cudaMallocManaged, host(pointer), size, flags);
}
Error cuMemAllocAsync(DevicePointer* pointer, std::size_t size, void* stream) {
    return forward(cudaMallocAsync, host(pointer), size, stream);
}
Error cuMemFree_v2(DevicePointer pointer) { return forward_by_handle(cudaFree, host(pointer)); }
Error cuMemFreeAsync(DevicePointer pointer, void* stream) {
    return forward(cudaFreeAsync, host(pointer), stream);
}
Error cuMemAllocHost_v2(void** pointer, std::size_t size) { return forward(cudaMallocHost, pointer, size); }
Error cuMemHostAlloc(void** pointer, std::size_t size, unsigned flags) {
    return forward(cudaHostAlloc, pointer, size, flags);
}
Error cuMemFreeHost(void* pointer) { return forward_by_handle(cudaFreeHost, pointer); }
Error cuMemHostRegister_v2(void* pointer, std::size_t size, unsigned flags) {
    return forward(cudaHostRegister, pointer, size, flags);
}
Error cuMemHostUnregister(void* pointer) { return forward_by_handle(cudaHostUnregister, pointer); }
Error cuMemHostGetDevicePointer_v2(DevicePointer* pointer, void* from, unsigned flags) {
    return forward(cudaHostGetDevicePointer, host(pointer), from, flags);
}
Error cuMemHostGetFlags(unsigned* flags, void* pointer) { return forward(cudaHostGetFlags, flags, pointer); }
Error cuMemAdvise_v2(DevicePointer pointer, std::size_t count, int advice, abi::MemoryLocation location) {
    return forward(cudaMemAdvise, host(pointer), count, advice, location);
}
Error cuMemPrefetchAsync_v2(DevicePointer pointer, std::size_t count, abi::MemoryLocation location,
                            unsigned flags, void* stream) {
    return forward(cudaMemPrefetchAsync, host(pointer), count, location, flags, stream);
}
Error cuMemGetAddressRange_v2(DevicePointer* base, std::size_t* size, DevicePointer pointer) {
    return context_call(__func__, [&](State& state) {
        const auto found = state.device().memory().find(pointer);
        if (!found)
            return Error::symbol_not_found;
        if (base)
            *base = found->base;
        if (size)
            *size = static_cast<std::size_t>(found->size);
        return Error::success;
    });
}

Error cuPointerGetAttribute(void* data, int attribute, DevicePointer pointer) {
    return driver_call(__func__,
                       [&](State& state) { return pointer_attribute(state, data, attribute, pointer); });
}
/// Unlike the single query it succeeds for pointers CUDA does not know, with zeros.
Error cuPointerGetAttributes(unsigned count, const int* attributes, void** data, DevicePointer pointer) {
    return driver_call(__func__, [&](State& state) {
        for (unsigned i = 0; i < count; ++i)
            if (pointer_attribute(state, data[i], attributes[i], pointer) != Error::success)
                std::memset(data[i], 0, attributes[i] == attribute_is_managed ? 1 : sizeof(int));
        return Error::success;
    });
}

Error cuMemcpy(DevicePointer to, DevicePointer from, std::size_t count) {
    return now(__func__, linear(to, from, count, CopyKind::by_address));
}
Error cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t count, void* stream) {
    return later(__func__, linear(to, from, count, CopyKind::by_address), stream);
}
Error cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t count) {
    return now(__func__, linear(to, device(from), count, CopyKind::host_to_device));
}
Error cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t count, void* stream) {
    return later(__func__, linear(to, device(from), count, CopyKind::host_to_device), stream);
}
Error cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t count) {
    return now(__func__, linear(device(to), from, count, CopyKind::device_to_host));
}
Error cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t count, void* stream) {
    return later(__func__, linear(device(to), from, count, CopyKind::device_to_host), stream);
}
Error cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t count) {
    return now(__func__, linear(to, from, count, CopyKind::device_to_device));
}
Error cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t count, void* stream) {
    return later(__func__, linear(to, from, count, CopyKind::device_to_device), stream);
}
Error cuMemcpy2D_v2(const abi::DriverCopy2D* copy) {
    return context_call(__func__, [&](State& state) { return synchronous(state, box(copy)); });
}
Error cuMemcpy2DUnaligned_v2(const abi::DriverCopy2D* copy) { return cuMemcpy2D_v2(copy); }
Error cuMemcpy2DAsync_v2(const abi::DriverCopy2D* copy, void* stream) {
    return context_call(__func__, [&](State& state) { return asynchronous(state, stream, box(copy)); });
}
Error cuMemcpy3D_v2(const abi::DriverCopy3D* copy) {
    return context_call(__func__, [&](State& state) { return synchronous(state, box(copy)); });
}
Error cuMemcpy3DAsync_v2(const abi::DriverCopy3D* copy, void* stream) {
    return context_call(__func__, [&](State& state) { return asynchronous(state, stream, box(copy)); });
}

Error cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t count) {
    return now(__func__, fill(to, count, value, 1, count, 1));
}
Error cuMemsetD16_v2(DevicePointer to, unsigned short value, std::size_t count) {
    return now(__func__, fill(to, count * 2, value, 2, count, 1));
}
Error cuMemsetD32_v2(DevicePointer to, unsigned value, std::size_t count) {
    return now(__func__, fill(to, count * 4, value, 4, count, 1));
}
Error cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, void* stream) {
    return later(__func__, fill(to, count, value, 1, count, 1), stream);
}
Error cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, void* stream) {
    return later(__func__, fill(to, count * 2, value, 2, count, 1), stream);
}
Error cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, void* stream) {
    return later(__func__, fill(to, count * 4, value, 4, count, 1), stream);
}
Error cuMemsetD2D8_v2(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
    return now(__func__, fill(to, pitch, value, 1, width, height));
}
Error cuMemsetD2D16_v2(DevicePointer to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
    return now(__func__, fill(to, pitch, value, 2, width, height));
}
Error cuMemsetD2D32_v2(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
    return now(__func__, fill(to, pitch, value, 4, width, height));
}
Error cuMemsetD2D8Async(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,
                        std::size_t height, void* stream) {
    return later(__func__, fill(to, pitch, value, 1, width, height), stream);
}
Error cuMemsetD2D16Async(DevicePointer to, std::size_t pitch, unsigned short value, std::size_t width,
                         std::size_t height, void* stream) {
    return later(__func__, fill(to, pitch, value, 2, width, height), stream);
}
Error cuMemsetD2D32Async(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,
                         std::size_t height, void* stream) {
    return later(__func__, fill(to, pitch, value, 4, width, height), stream);
}

} // extern "C"

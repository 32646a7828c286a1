/// \file
/// CUDA runtime: allocation of device, managed and host memory, pointer queries.

#include "cuda/memory.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <cstring>

using namespace emu;
using namespace emu::cuda;

extern "C" {

Error cudaMalloc(void** pointer, std::size_t size) {
    return runtime_call(
        __func__, [&](State& state) { return allocate(state, pointer, size, Allocation::Kind::device); });
}

Error cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        if (size == 0 || (flags != 1 && flags != 2)) // cudaMemAttachGlobal, cudaMemAttachHost
            return Error::invalid_value;
        return allocate(state, pointer, size, Allocation::Kind::managed);
    });
}

Error cudaMallocHost(void** pointer, std::size_t size) {
    return runtime_call(__func__,
                        [&](State& state) { return allocate(state, pointer, size, Allocation::Kind::host); });
}

Error cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        if (flags > 7) // Portable, mapped, write-combined.
            return Error::invalid_value;
        return allocate(state, pointer, size, Allocation::Kind::host);
    });
}

Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    return runtime_call(
        __func__, [&](State& state) { return allocate_pitched(state, pointer, pitch, width, height, 1); });
}

Error cudaMalloc3D(abi::PitchedPointer* result, abi::Extent extent) {
    return runtime_call(__func__, [&](State& state) {
        if (!result)
            return Error::invalid_value;
        result->x_size = extent.width;
        result->y_size = extent.height;
        return allocate_pitched(state, &result->pointer, &result->pitch, extent.width, extent.height,
                                extent.depth);
    });
}

Error cudaFree(void* pointer) {
    return runtime_call(__func__, [&](State& state) {
        // Freeing waits for the device, so this is where an asynchronous error may surface.
        if (const Error error = state.synchronise(); error != Error::success)
            return error;
        if (const Error error = state.streams().check_unsafe_call(); error != Error::success)
            return error;
        return release(state, pointer);
    });
}

Error cudaFreeHost(void* pointer) {
    return runtime_call(__func__, [&](State& state) { return release_host(state, pointer); });
}

Error cudaHostRegister(void* pointer, std::size_t size, unsigned) {
    return runtime_call(__func__, [&](State& state) { return register_host(state, pointer, size); });
}

Error cudaHostUnregister(void* pointer) {
    return runtime_call(__func__, [&](State& state) {
        const bool done = state.device().memory().unregister_host(reinterpret_cast<Address>(pointer));
        return done ? Error::success : Error::host_memory_not_registered;
    });
}

Error cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        if (!device || flags != 0 || !is_host_memory(state, host))
            return Error::invalid_value;
        *device = host; // Host and device share the address.
        return Error::success;
    });
}

Error cudaHostGetFlags(unsigned* flags, void* host) {
    return runtime_call(__func__, [&](State& state) {
        if (!flags || !is_host_memory(state, host))
            return Error::invalid_value;
        *flags = 2; // cudaHostAllocMapped: always, with unified addressing.
        return Error::success;
    });
}

Error cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return runtime_call(__func__, [&](State& state) { return memory_info(state, free, total); });
}

Error cudaPointerGetAttributes(abi::PointerAttributes* attributes, const void* pointer) {
    return runtime_call(__func__, [&](State& state) {
        if (!attributes)
            return Error::invalid_value;
        *attributes = describe(state, pointer);
        return Error::success;
    });
}

Error cudaMemAdvise(const void* pointer, std::size_t count, int, abi::MemoryLocation) {
    return runtime_call(__func__, [&](State& state) { return check_managed(state, pointer, count); });
}

Error cudaMemPrefetchAsync(const void* pointer, std::size_t count, abi::MemoryLocation, unsigned, void*) {
    return runtime_call(__func__, [&](State& state) { return check_managed(state, pointer, count); });
}

Error cudaMemRangeGetAttribute(void* data, std::size_t size, int, const void* pointer, std::size_t count) {
    return runtime_call(__func__, [&](State& state) {
        if (!data || size == 0 || size % 4 != 0)
            return Error::invalid_value;
        std::memset(data, 0, size); // No advice is kept; memory never moves.
        return check_managed(state, pointer, count);
    });
}

Error cudaStreamAttachMemAsync(void*, void*, std::size_t, unsigned) {
    return runtime_call(__func__, [](State&) { return Error::success; });
}

} // extern "C"

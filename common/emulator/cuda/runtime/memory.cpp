/// \file
/// CUDA runtime: allocation of device, managed and host memory, pointer queries.

#include "cuda/memory.hpp"
#include "cuda/advice.hpp"
#include "cuda/pools.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"
#include "cuda/timeline.hpp"

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
        // Freeing waits for the device, but for memory of a pool (both seen on an H200), so this is where an
        // asynchronous error may surface.
        if (pointer && !Pools::get().has(pointer))
            state.timeline().wait_for_all();
        else if (const auto found = state.device().memory().find(reinterpret_cast<Address>(pointer)))
            state.timeline().order().host_frees(found->base, found->base + found->size);
        if (const Error error = state.synchronise(); error != Error::success)
            return error;
        if (const Error error = state.streams().check_unsafe_call(); error != Error::success)
            return error;
        return release(state, pointer);
    });
}

Error cudaFreeHost(void* pointer) {
    return runtime_call(__func__, [&](State& state) {
        if (pointer)
            state.timeline().wait_for_all();
        return release_host(state, pointer);
    });
}

Error cudaHostRegister(void* pointer, std::size_t size, unsigned) {
    return runtime_call(__func__, [&](State& state) { return register_host(state, pointer, size); });
}

Error cudaHostUnregister(void* pointer) {
    return runtime_call(__func__, [&](State& state) {
        state.timeline().wait_for_all();
        const bool done =
            state.device().memory().disown(reinterpret_cast<Address>(pointer), Allocation::Kind::registered);
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

Error cudaMemAdvise(const void* pointer, std::size_t count, int advice, abi::MemoryLocation location) {
    return runtime_call(__func__,
                        [&](State& state) { return advise(state, pointer, count, advice, location); });
}

Error cudaMemPrefetchAsync(const void* pointer, std::size_t count, abi::MemoryLocation location,
                           unsigned flags, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        if (flags != 0)
            return Error::invalid_value;
        static_cast<void>(state.streams().stream(stream)); // Throws for a wrong handle.
        return prefetch(state, pointer, count, location);
    });
}

/// The names that these two have in CUDA 12, where the plain ones take the number of a device.
Error cudaMemAdvise_v2(const void* pointer, std::size_t count, int advice, abi::MemoryLocation location) {
    return cudaMemAdvise(pointer, count, advice, location);
}
Error cudaMemPrefetchAsync_v2(const void* pointer, std::size_t count, abi::MemoryLocation location,
                              unsigned flags, void* stream) {
    return cudaMemPrefetchAsync(pointer, count, location, flags, stream);
}

Error cudaMemRangeGetAttribute(void* data, std::size_t size, int attribute, const void* pointer,
                               std::size_t count) {
    return runtime_call(__func__, [&](State& state) {
        return range_attribute(state, data, size, attribute, pointer, count);
    });
}
Error cudaMemRangeGetAttributes(void** data, std::size_t* sizes, int* attributes, std::size_t attribute_count,
                                const void* pointer, std::size_t count) {
    return runtime_call(__func__, [&](State& state) {
        if (!data || !sizes || !attributes || attribute_count == 0)
            return Error::invalid_value;
        for (std::size_t i = 0; i < attribute_count; ++i)
            if (const Error error = range_attribute(state, data[i], sizes[i], attributes[i], pointer, count);
                error != Error::success)
                return error;
        return Error::success;
    });
}

Error cudaStreamAttachMemAsync(void* stream, void* pointer, std::size_t size, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        static_cast<void>(state.streams().stream(stream));              // Throws for a wrong handle.
        const bool attachment = flags == 1 || flags == 2 || flags == 4; // Global, host, single.
        return attachment ? check_managed(state, pointer, size) : Error::invalid_value;
    });
}

} // extern "C"

/// \file
/// CUDA runtime: stream-ordered allocation and memory pools. A pool here is a set of settings: memory comes
/// from, and returns to, the device at once.

#include "cuda/memory.hpp"
#include "cuda/pools.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <cstring>

using namespace emu;
using namespace emu::cuda;

extern "C" {

Error cudaMallocAsync(void** pointer, std::size_t size, void* stream) {
    return runtime_call(__func__,
                        [&](State& state) { return allocate_in_stream(state, pointer, size, stream); });
}
Error cudaFreeAsync(void* pointer, void* stream) {
    return runtime_call(__func__, [&](State& state) { return free_in_stream(state, pointer, stream); });
}
Error cudaMallocFromPoolAsync(void** pointer, std::size_t size, void* pool, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        static_cast<void>(Pools::get().find(pool));
        return allocate_in_stream(state, pointer, size, stream);
    });
}

Error cudaDeviceGetDefaultMemPool(void** pool, int device) {
    return runtime_call(__func__, [&](State&) {
        if (device != 0)
            return Error::invalid_device;
        *pool = Pools::get().default_pool();
        return Error::success;
    });
}
Error cudaDeviceGetMemPool(void** pool, int device) {
    return runtime_call(__func__, [&](State&) {
        if (device != 0)
            return Error::invalid_device;
        *pool = Pools::get().current();
        return Error::success;
    });
}
Error cudaDeviceSetMemPool(int device, void* pool) {
    return runtime_call(__func__, [&](State&) {
        if (device != 0)
            return Error::invalid_device;
        Pools::get().make_current(pool);
        return Error::success;
    });
}
Error cudaMemPoolCreate(void** pool, const abi::PoolProperties* properties) {
    return runtime_call(__func__, [&](State&) {
        const bool on_device =
            properties && properties->location.type == static_cast<int>(abi::MemoryLocationType::device);
        if (!pool || !on_device || properties->location.id != 0)
            return Error::invalid_value;
        *pool = Pools::get().create();
        return Error::success;
    });
}
Error cudaMemPoolDestroy(void* pool) {
    return runtime_call(__func__, [&](State&) {
        Pools::get().destroy(pool);
        return Error::success;
    });
}
Error cudaMemPoolTrimTo(void* pool, std::size_t) {
    return runtime_call(__func__, [&](State&) {
        static_cast<void>(Pools::get().find(pool));
        return Error::success;
    });
}
Error cudaMemPoolSetAttribute(void* pool, abi::PoolAttribute attribute, void* value) {
    return runtime_call(__func__,
                        [&](State&) { return set_attribute(Pools::get().find(pool), attribute, value); });
}
Error cudaMemPoolGetAttribute(void* pool, abi::PoolAttribute attribute, void* value) {
    return runtime_call(__func__, [&](State& state) {
        return get_attribute(Pools::get().find(pool), attribute, value, state.device().memory().in_use());
    });
}
Error cudaMemPoolSetAccess(void* pool, const void*, std::size_t) {
    return runtime_call(__func__, [&](State&) {
        static_cast<void>(Pools::get().find(pool));
        return Error::success;
    });
}
Error cudaMemPoolGetAccess(int* flags, void* pool, abi::MemoryLocation* location) {
    return runtime_call(__func__, [&](State&) {
        static_cast<void>(Pools::get().find(pool));
        if (!flags || !location)
            return Error::invalid_value;
        *flags = 3; // cudaMemAccessFlagsProtReadWrite
        return Error::success;
    });
}

} // extern "C"

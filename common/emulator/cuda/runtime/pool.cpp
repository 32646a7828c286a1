/// \file
/// CUDA runtime: stream-ordered allocation and memory pools. A pool here is a set of settings: memory comes
/// from, and returns to, the device at once.

#include "cuda/memory.hpp"
#include "cuda/pools.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <span>

using namespace emu;
using namespace emu::cuda;

namespace {

bool is_pool_of_device(const abi::MemoryLocation* location, int type) {
    constexpr int pinned = 1; // cudaMemAllocationTypePinned
    return location && type == pinned && location->id == 0 &&
           location->type == static_cast<int>(abi::MemoryLocationType::device);
}

} // namespace

extern "C" {

Error cudaMallocAsync(void** pointer, std::size_t size, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        return allocate_in_stream(state, pointer, size, *Pools::get().current(), stream);
    });
}
Error cudaFreeAsync(void* pointer, void* stream) {
    return runtime_call(__func__, [&](State& state) { return free_in_stream(state, pointer, stream); });
}
Error cudaMallocFromPoolAsync(void** pointer, std::size_t size, void* pool, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        return allocate_in_stream(state, pointer, size, Pools::get().find(pool), stream);
    });
}

Error cudaDeviceGetDefaultMemPool(void** pool, int device) {
    return runtime_call(__func__, [&](State&) {
        if (device != 0)
            return Error::invalid_device;
        if (!pool)
            return Error::invalid_value;
        *pool = Pools::get().default_pool();
        return Error::success;
    });
}
Error cudaDeviceGetMemPool(void** pool, int device) {
    return runtime_call(__func__, [&](State&) {
        if (device != 0)
            return Error::invalid_device;
        if (!pool)
            return Error::invalid_value;
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
Error cudaMemPoolTrimTo(void* pool, std::size_t keep) {
    return runtime_call(__func__, [&](State&) {
        Pools::get().find(pool).trim(keep);
        return Error::success;
    });
}
Error cudaMemPoolSetAttribute(void* pool, abi::PoolAttribute attribute, void* value) {
    return runtime_call(__func__,
                        [&](State&) { return set_attribute(Pools::get().find(pool), attribute, value); });
}
Error cudaMemPoolGetAttribute(void* pool, abi::PoolAttribute attribute, void* value) {
    return runtime_call(__func__,
                        [&](State&) { return get_attribute(Pools::get().find(pool), attribute, value); });
}
Error cudaMemPoolSetAccess(void* pool, const abi::AccessDescription* descriptions, std::size_t count) {
    return runtime_call(__func__, [&](State&) {
        Pool& found = Pools::get().find(pool);
        if (count && !descriptions)
            return Error::invalid_value;
        for (const auto& each : std::span(descriptions, count)) {
            if (each.location.type != static_cast<int>(abi::MemoryLocationType::device))
                return Error::invalid_value;
            if (each.location.id != 0)
                return Error::invalid_device;
            if (each.flags == 0) // The pool's own device keeps its access.
                return Error::invalid_value;
            found.access = each.flags;
        }
        return Error::success;
    });
}
Error cudaMemPoolGetAccess(int* flags, void* pool, abi::MemoryLocation* location) {
    return runtime_call(__func__, [&](State&) {
        const Pool& found = Pools::get().find(pool);
        if (!flags || !location)
            return Error::invalid_value;
        if (location->id != 0)
            return Error::invalid_device;
        *flags = found.access;
        return Error::success;
    });
}

/// Of the kinds of memory that may have a pool there is one: pinned memory of the device.
Error cudaMemGetDefaultMemPool(void** pool, abi::MemoryLocation* location, int type) {
    return runtime_call(__func__, [&](State&) {
        if (!pool || !is_pool_of_device(location, type))
            return Error::invalid_value;
        *pool = Pools::get().default_pool();
        return Error::success;
    });
}
Error cudaMemGetMemPool(void** pool, abi::MemoryLocation* location, int type) {
    return runtime_call(__func__, [&](State&) {
        if (!pool || !is_pool_of_device(location, type))
            return Error::invalid_value;
        *pool = Pools::get().current();
        return Error::success;
    });
}
Error cudaMemSetMemPool(abi::MemoryLocation* location, int type, void* pool) {
    return runtime_call(__func__, [&](State&) {
        if (!is_pool_of_device(location, type))
            return Error::invalid_value;
        Pools::get().make_current(pool);
        return Error::success;
    });
}

} // extern "C"

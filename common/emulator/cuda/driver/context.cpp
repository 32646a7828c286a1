/// \file
/// CUDA driver: initialisation, errors, devices, contexts. All contexts share one memory, as they do on a
/// device that several processes do not use.

#include "cuda/device_facts.hpp"
#include "cuda/device_settings.hpp"
#include "cuda/entry_points.hpp"
#include "cuda/owner.hpp"
#include "cuda/runtime/runtime.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"
#include "cuda/thread_state.hpp"
#include "cuda/timeline.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

using namespace emu::cuda;

struct emu::cuda::Context {
    unsigned flags = 0;
    std::uint64_t id = 0;
};

namespace {

struct Contexts {
    std::mutex mutex;
    Context primary{0, 1};
    int primary_users = 0;
    std::map<const void*, std::unique_ptr<Context>> created;
    std::uint64_t last_id = 1;
};
Contexts& contexts() { return the<Contexts>(); }

void push(Context* context) { this_thread().contexts.push_back(context); }

Context* current() {
    const ThreadState& mine = this_thread();
    if (!mine.contexts.empty())
        return mine.contexts.back();
    return mine.primary_below ? &contexts().primary : nullptr;
}

/// Takes the current context from the stack; null if there is none.
Context* pop() {
    ThreadState& mine = this_thread();
    Context* const top = current();
    if (!mine.contexts.empty())
        mine.contexts.pop_back();
    else
        mine.primary_below = false;
    return top;
}

bool is_context(const void* handle) {
    Contexts& all = contexts();
    const std::lock_guard lock(all.mutex);
    return handle == &all.primary || all.created.contains(handle);
}

template <class Body>
Error with_device(const char* function, int device, Body&& body) {
    return driver_call(function,
                       [&](State& state) { return device == 0 ? body(state) : Error::invalid_device; });
}

Error create_context(const char* function, void** context, unsigned flags, int device) {
    return with_device(function, device, [&](State&) {
        if (!context)
            return Error::invalid_value;
        Contexts& all = contexts();
        const std::lock_guard lock(all.mutex);
        auto made = std::make_unique<Context>(Context{flags, ++all.last_id});
        Context* raw = made.get();
        all.created[raw] = std::move(made);
        push(raw);
        *context = raw;
        return Error::success;
    });
}

} // namespace

bool emu::cuda::has_current_context() { return current() != nullptr; }
void emu::cuda::use_primary_context() {
    ThreadState& mine = this_thread();
    if (mine.contexts.empty())
        mine.primary_below = true;
}
void emu::cuda::drop_primary_context() { this_thread().primary_below = false; }

extern "C" {

/// The private tables of the driver. Only NVIDIA's own runtime asks for them, which a program brings along
/// that was linked without -cudart shared; it cannot go on without.
Error cuGetExportTable(const void**, const void*) {
    std::fflush(stdout);
    std::fputs("emulator: the program has NVIDIA's CUDA runtime linked into it, which needs NVIDIA's driver; "
               "link the shared one: nvcc -cudart shared, in CMake CUDA_RUNTIME_LIBRARY Shared, "
               "in Meson link_args: '-cudart=shared'\n",
               stderr);
    std::_Exit(EXIT_FAILURE);
}

Error cuInit(unsigned flags) {
    if (flags != 0)
        return Error::invalid_value;
    initialise_driver();
    return Error::success;
}
Error cuDriverGetVersion(int* version) { return put(version, +abi::version); }

Error cuGetErrorName(int error, const char** name) {
    const ErrorText* found = find_error(error);
    const bool known = found && *found->driver_name;
    if (name)
        *name = known ? found->driver_name : nullptr;
    return name && known ? Error::success : Error::invalid_value;
}
Error cuGetErrorString(int error, const char** text) {
    const ErrorText* found = find_error(error);
    const bool known = found && *found->driver_name;
    if (text)
        *text = known ? found->text : nullptr;
    return text && known ? Error::success : Error::invalid_value;
}

Error cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t, int* status) {
    if (!symbol || !function)
        return Error::invalid_value;
    const EntryPoint found = find_entry_point(symbol, version);
    *function = found.address;
    if (status)
        *status = static_cast<int>(found.status);
    return found.address || status ? Error::success : Error::symbol_not_found;
}
Error cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

Error cuDeviceGet(int* device, int ordinal) {
    return with_device(__func__, ordinal, [&](State&) { return put(device, 0); });
}
Error cuDeviceGetCount(int* count) {
    return driver_call(__func__, [&](State&) { return put(count, 1); });
}
Error cuDeviceGetName(char* name, int length, int device) {
    return with_device(__func__, device, [&](State&) {
        if (!name || length <= 0)
            return Error::invalid_value;
        std::snprintf(name, static_cast<std::size_t>(length), "%s", device_name);
        return Error::success;
    });
}
Error cuDeviceGetUuid_v2(char* uuid, int device) {
    return with_device(__func__, device, [&](State&) {
        if (!uuid)
            return Error::invalid_value;
        std::memcpy(uuid, device_uuid, 16);
        return Error::success;
    });
}
Error cuDeviceGetUuid(char* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }
Error cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    return with_device(__func__, device, [&](State& state) {
        return put(bytes, static_cast<std::size_t>(state.device().memory().capacity()));
    });
}
Error cuDeviceGetAttribute(int* value, int attribute, int device) {
    return with_device(__func__, device, [&](State&) {
        const auto found = device_attribute(attribute);
        return found ? put(value, *found) : Error::invalid_value;
    });
}
Error cuDeviceComputeCapability(int* major, int* minor, int device) {
    return with_device(__func__, device, [&](State&) {
        if (!major || !minor)
            return Error::invalid_value;
        *major = *device_attribute(75);
        *minor = *device_attribute(76);
        return Error::success;
    });
}
Error cuDeviceGetPCIBusId(char* text, int length, int device) {
    return with_device(__func__, device, [&](State&) {
        if (!text || length < 13)
            return Error::invalid_value;
        std::snprintf(text, static_cast<std::size_t>(length), "%s", pci_bus_id);
        return Error::success;
    });
}
Error cuDeviceGetByPCIBusId(int* device, const char* text) {
    return driver_call(__func__, [&](State&) {
        return text && std::strcmp(text, pci_bus_id) == 0 ? put(device, 0) : Error::invalid_value;
    });
}

Error cuDevicePrimaryCtxRetain(void** context, int device) {
    return with_device(__func__, device, [&](State&) {
        const std::lock_guard lock(contexts().mutex);
        ++contexts().primary_users;
        return put<void*>(context, &contexts().primary);
    });
}
Error cuDevicePrimaryCtxRelease_v2(int device) {
    return with_device(__func__, device, [&](State&) {
        const std::lock_guard lock(contexts().mutex);
        if (contexts().primary_users == 0)
            return Error::invalid_context;
        --contexts().primary_users;
        return Error::success;
    });
}
Error cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    return with_device(__func__, device, [&](State&) {
        contexts().primary.flags = flags;
        return Error::success;
    });
}
Error cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    return with_device(__func__, device, [&](State&) {
        if (!flags || !active)
            return Error::invalid_value;
        *flags = contexts().primary.flags;
        *active = contexts().primary_users > 0 || runtime_used();
        return Error::success;
    });
}
Error cuDevicePrimaryCtxReset_v2(int device) {
    return with_device(__func__, device, [](State& state) {
        state.timeline().wait_for_all();
        return state.synchronise();
    });
}

Error cuCtxCreate_v2(void** context, unsigned flags, int device) {
    return create_context(__func__, context, flags, device);
}
Error cuCtxCreate_v3(void** context, void*, int, unsigned flags, int device) {
    return create_context(__func__, context, flags, device);
}
Error cuCtxCreate_v4(void** context, void*, unsigned flags, int device) {
    return create_context(__func__, context, flags, device);
}
Error cuCtxDestroy_v2(void* context) {
    return driver_call(__func__, [&](State&) {
        const std::lock_guard lock(contexts().mutex);
        if (contexts().created.erase(context) == 0)
            return Error::invalid_context;
        std::erase(this_thread().contexts, context);
        return Error::success;
    });
}
Error cuCtxPushCurrent_v2(void* context) {
    return driver_call(__func__, [&](State&) {
        if (!is_context(context))
            return Error::invalid_context;
        push(static_cast<Context*>(context));
        return Error::success;
    });
}
Error cuCtxPopCurrent_v2(void** context) {
    return driver_call(__func__, [&](State&) {
        Context* const popped = pop();
        if (!popped)
            return Error::invalid_context;
        if (context)
            *context = popped;
        return Error::success;
    });
}
Error cuCtxSetCurrent(void* context) {
    return driver_call(__func__, [&](State&) {
        if (context && !is_context(context))
            return Error::invalid_context;
        pop();
        if (context)
            push(static_cast<Context*>(context));
        return Error::success;
    });
}
Error cuCtxGetCurrent(void** context) {
    return driver_call(__func__, [&](State&) { return put<void*>(context, current()); });
}
Error cuCtxGetDevice(int* device) {
    return context_call(__func__, [&](State&) { return put(device, 0); });
}
Error cuCtxGetDevice_v2(int* device, void*) { return cuCtxGetDevice(device); }
Error cuCtxSetFlags(unsigned flags) {
    return context_call(__func__, [&](State&) {
        if (flags & ~0xffu)
            return Error::invalid_value;
        current()->flags = flags;
        return Error::success;
    });
}
/// The context of a stream: the current one, which all streams serve.
Error cuStreamGetCtx(void* stream, void** context) {
    return context_call(__func__, [&](State& state) {
        static_cast<void>(state.streams().stream(stream)); // Throws for a wrong handle.
        return put<void*>(context, current());
    });
}
Error cuStreamGetCtx_v2(void* stream, void** context, void** green) {
    if (green)
        *green = nullptr;
    return cuStreamGetCtx(stream, context);
}
/// Legacy: a reference more to the current context, and one less.
Error cuCtxAttach(void** context, unsigned flags) {
    return context_call(
        __func__, [&](State&) { return flags == 0 ? put<void*>(context, current()) : Error::invalid_value; });
}
Error cuCtxDetach(void* context) {
    return driver_call(__func__,
                       [&](State&) { return is_context(context) ? Error::success : Error::invalid_context; });
}
Error cuCtxGetSharedMemConfig(int* config) {
    return context_call(__func__, [&](State&) { return put(config, 1); }); // Four-byte banks.
}
Error cuCtxSetSharedMemConfig(int config) {
    return context_call(__func__, [&](State&) {
        return config >= 0 && config <= 2 ? Error::success : Error::invalid_value; // No effect since Maxwell.
    });
}
Error cuCtxGetFlags(unsigned* flags) {
    return context_call(__func__, [&](State&) { return put(flags, current()->flags); });
}
Error cuCtxGetId(void* context, unsigned long long* id) {
    return driver_call(__func__, [&](State&) {
        const Context* found = context ? static_cast<Context*>(context) : current();
        if (!found || !is_context(found))
            return Error::invalid_context;
        return put(id, static_cast<unsigned long long>(found->id));
    });
}
Error cuCtxGetApiVersion(void*, unsigned* version) {
    return driver_call(__func__, [&](State&) { return put(version, static_cast<unsigned>(abi::version)); });
}
Error cuCtxSynchronize() {
    return context_call(__func__, [](State& state) { return wait_for_device(state); });
}
Error cuCtxSynchronize_v2(void*) { return cuCtxSynchronize(); }
Error cuCtxSetLimit(int limit, std::size_t value) { return forward(cudaDeviceSetLimit, limit, value); }
Error cuCtxGetLimit(std::size_t* value, int limit) { return forward(cudaDeviceGetLimit, value, limit); }
Error cuCtxGetCacheConfig(int* config) { return forward(cudaDeviceGetCacheConfig, config); }
Error cuCtxSetCacheConfig(int config) { return forward(cudaDeviceSetCacheConfig, config); }
Error cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return forward(cudaDeviceGetStreamPriorityRange, least, greatest);
}
Error cuCtxResetPersistingL2Cache() {
    return context_call(__func__, [](State&) { return Error::success; });
}

Error cuDeviceCanAccessPeer(int* can, int device, int peer) {
    return with_device(__func__, device,
                       [&](State&) { return peer == 0 ? put(can, 0) : Error::invalid_device; });
}
/// A device is no peer of itself.
Error cuDeviceGetP2PAttribute(int*, int, int, int) {
    return driver_call(__func__, [](State&) { return Error::invalid_device; });
}
Error cuCtxEnablePeerAccess(void*, unsigned) {
    return context_call(__func__, [](State&) { return Error::invalid_device; });
}
Error cuCtxDisablePeerAccess(void*) {
    return context_call(__func__, [](State&) { return Error::peer_access_not_enabled; });
}
Error cuFlushGPUDirectRDMAWrites(int, int) {
    return context_call(__func__, [](State&) { return Error::success; });
}
Error cuProfilerStart() { return Error::success; }
Error cuProfilerStop() { return Error::success; }

} // extern "C"

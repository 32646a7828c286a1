/// \file
/// CUDA runtime: devices, limits, synchronisation of the device, peers.

#include "cuda/device_facts.hpp"
#include "cuda/device_settings.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"
#include "cuda/timeline.hpp"

#include <cstdio>
#include <cstring>

using namespace emu::cuda;

namespace {

Error check_device(int device) { return device == 0 ? Error::success : Error::invalid_device; }

} // namespace

extern "C" {

Error cudaGetDeviceCount(int* count) {
    return runtime_call(__func__, [&](State&) { return put(count, 1); });
}
Error cudaGetDevice(int* device) {
    return runtime_call(__func__, [&](State&) { return put(device, 0); });
}
Error cudaSetDevice(int device) {
    return runtime_call(__func__, [&](State&) { return check_device(device); });
}
Error cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
Error cudaSetValidDevices(int* devices, int count) {
    return runtime_call(__func__, [&](State&) {
        for (int i = 0; i < count; ++i)
            if (!devices || devices[i] != 0)
                return Error::invalid_device;
        return Error::success;
    });
}
Error cudaChooseDevice(int* device, const abi::DeviceProperties*) {
    return runtime_call(__func__, [&](State&) { return put(device, 0); });
}
Error cudaGetDeviceProperties(abi::DeviceProperties* properties, int device) {
    return runtime_call(__func__, [&](State& state) {
        if (!properties)
            return Error::invalid_value;
        if (device != 0)
            return Error::invalid_device;
        *properties = device_properties(state.device().memory().capacity());
        return Error::success;
    });
}
Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
    return runtime_call(__func__, [&](State&) {
        const auto found = device_attribute(attribute);
        if (device != 0)
            return Error::invalid_device;
        return found ? put(value, *found) : Error::invalid_value;
    });
}
Error cudaDeviceGetPCIBusId(char* text, int length, int device) {
    return runtime_call(__func__, [&](State&) {
        if (!text || length < 13)
            return Error::invalid_value;
        std::snprintf(text, static_cast<std::size_t>(length), "%s", pci_bus_id);
        return check_device(device);
    });
}
Error cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return runtime_call(__func__, [&](State&) {
        if (!text || std::strcmp(text, pci_bus_id) != 0)
            return Error::invalid_value;
        return put(device, 0);
    });
}

Error cudaDeviceSynchronize() {
    return runtime_call(__func__, [](State& state) { return wait_for_device(state); });
}
Error cudaDeviceReset() {
    // Frees nothing that the program still knows: a fault's error stays until the process ends, as CUDA says.
    return runtime_call(__func__, [](State& state) {
        state.timeline().wait_for_all();
        return state.synchronise();
    });
}
Error cudaSetDeviceFlags(unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        if (flags & ~0xffu)
            return Error::invalid_value;
        state.device_flags = flags;
        return Error::success;
    });
}
Error cudaGetDeviceFlags(unsigned* flags) {
    constexpr unsigned map_host = 8; // cudaDeviceMapHost is always on.
    return runtime_call(__func__,
                        [&](State& state) { return put(flags, state.device_flags.load() | map_host); });
}
Error cudaDeviceSetLimit(int limit, std::size_t value) {
    return runtime_call(__func__, [&](State& state) { return set_limit(state, limit, value); });
}
Error cudaDeviceGetLimit(std::size_t* value, int limit) {
    return runtime_call(__func__, [&](State& state) { return get_limit(state, limit, value); });
}
Error cudaDeviceSetCacheConfig(int config) {
    return runtime_call(__func__, [&](State& state) {
        if (config < 0 || config > 3)
            return Error::invalid_value;
        state.cache_config = config;
        return Error::success;
    });
}
Error cudaDeviceGetCacheConfig(int* config) {
    return runtime_call(__func__, [&](State& state) { return put(config, state.cache_config.load()); });
}
Error cudaDeviceSetSharedMemConfig(int config) {
    return runtime_call(__func__, [&](State&) {
        return config >= 0 && config <= 2 ? Error::success : Error::invalid_value; // No effect since Maxwell.
    });
}
Error cudaDeviceGetSharedMemConfig(int* config) {
    return runtime_call(__func__, [&](State&) { return put(config, 1); }); // Four-byte banks.
}
Error cudaCtxResetPersistingL2Cache() {
    return runtime_call(__func__, [](State&) { return Error::success; });
}
Error cudaDeviceFlushGPUDirectRDMAWrites(int, int) {
    return runtime_call(__func__, [](State&) { return Error::success; });
}
Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return runtime_call(__func__, [&](State&) {
        if (least)
            *least = least_priority;
        if (greatest)
            *greatest = greatest_priority;
        return Error::success;
    });
}

Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return runtime_call(__func__, [&](State&) {
        if (device != 0 || peer != 0)
            return Error::invalid_device;
        return put(can, 0); // A device is no peer of itself.
    });
}
Error cudaDeviceGetP2PAttribute(int* value, int, int, int) {
    return runtime_call(__func__,
                        [&](State&) { return value ? Error::invalid_device : Error::invalid_value; });
}
Error cudaDeviceEnablePeerAccess(int, unsigned) {
    return runtime_call(__func__, [](State&) { return Error::invalid_device; });
}
Error cudaDeviceDisablePeerAccess(int) {
    return runtime_call(__func__, [](State&) { return Error::peer_access_not_enabled; });
}

} // extern "C"

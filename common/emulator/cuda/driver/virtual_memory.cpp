/// \file
/// CUDA driver: virtual memory management.

#include "cuda/virtual_memory.hpp"
#include "cuda/state.hpp"

using namespace emu;
using namespace emu::cuda;
using Handle = VirtualMemory::Handle;

extern "C" {

Error cuMemGetAllocationGranularity(std::size_t* granularity, const abi::AllocationProperties* properties,
                                    int option) {
    return driver_call(__func__, [&](State&) {
        if (!granularity || !properties || option < 0 || option > 1) // Minimal and recommended are the same.
            return Error::invalid_value;
        *granularity = VirtualMemory::granularity;
        return Error::success;
    });
}
/// The wish for certain addresses is only a wish (CUDA driver API, cuMemAddressReserve).
Error cuMemAddressReserve(Address* address, std::size_t size, std::size_t alignment, Address,
                          unsigned long long flags) {
    return driver_call(__func__, [&](State&) {
        return flags == 0 ? VirtualMemory::get().reserve(address, size, alignment) : Error::invalid_value;
    });
}
Error cuMemAddressFree(Address address, std::size_t size) {
    return driver_call(__func__, [&](State&) { return VirtualMemory::get().free(address, size); });
}
Error cuMemCreate(Handle* handle, std::size_t size, const abi::AllocationProperties* properties,
                  unsigned long long flags) {
    return driver_call(__func__, [&](State& state) {
        if (!properties || flags != 0)
            return Error::invalid_value;
        const GlobalMemory& memory = state.device().memory();
        return VirtualMemory::get().create(handle, size, *properties, memory.capacity() - memory.in_use());
    });
}
Error cuMemRelease(Handle handle) {
    return driver_call(__func__, [&](State&) { return VirtualMemory::get().release(handle); });
}
Error cuMemRetainAllocationHandle(Handle* handle, void* address) {
    return driver_call(__func__, [&](State&) {
        return VirtualMemory::get().retain(handle, reinterpret_cast<Address>(address));
    });
}
Error cuMemGetAllocationPropertiesFromHandle(abi::AllocationProperties* properties, Handle handle) {
    return driver_call(__func__, [&](State&) { return VirtualMemory::get().properties(properties, handle); });
}
Error cuMemMap(Address address, std::size_t size, std::size_t offset, Handle handle,
               unsigned long long flags) {
    return driver_call(__func__, [&](State&) {
        return flags == 0 ? VirtualMemory::get().map(address, size, offset, handle) : Error::invalid_value;
    });
}
Error cuMemUnmap(Address address, std::size_t size) {
    return driver_call(__func__, [&](State& state) {
        return VirtualMemory::get().unmap(state.device().memory(), address, size);
    });
}
Error cuMemSetAccess(Address address, std::size_t size, const abi::AccessDescription* descriptions,
                     std::size_t count) {
    return driver_call(__func__, [&](State& state) {
        if (!descriptions || count == 0)
            return Error::invalid_value;
        for (std::size_t i = 0; i < count; ++i) {
            const auto& [location, access] = descriptions[i];
            if (location.type != static_cast<int>(abi::MemoryLocationType::device))
                return Error::not_supported;
            if (location.id != 0)
                return Error::invalid_device;
            const Error error =
                VirtualMemory::get().set_access(state.device().memory(), address, size, access);
            if (error != Error::success)
                return error;
        }
        return Error::success;
    });
}
Error cuMemGetAccess(unsigned long long* access, const abi::MemoryLocation* location, Address address) {
    return driver_call(__func__, [&](State&) {
        if (!location || location->type != static_cast<int>(abi::MemoryLocationType::device))
            return Error::invalid_value;
        return location->id == 0 ? VirtualMemory::get().get_access(access, address) : Error::invalid_device;
    });
}

} // extern "C"

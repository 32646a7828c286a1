#include "cuda/virtual_memory.hpp"

#include "cuda/owner.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace emu::cuda {
namespace {

bool is_multiple(std::uint64_t value) { return value % VirtualMemory::granularity == 0; }

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

} // namespace

/// Memory that may be mapped at several addresses: an anonymous file.
struct VirtualMemory::Physical {
    Physical(std::uint64_t size, const abi::AllocationProperties& properties)
        : size(size), properties(properties), file(memfd_create("emulated device memory", MFD_CLOEXEC)) {
        if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) != 0) {
            close(file);
            file = -1;
        }
    }
    ~Physical() {
        if (file >= 0)
            close(file);
    }
    Physical(const Physical&) = delete;
    Physical& operator=(const Physical&) = delete;

    std::uint64_t size;
    abi::AllocationProperties properties;
    int file;
    unsigned references = 1;
    unsigned mappings = 0;
};

VirtualMemory& VirtualMemory::get() { return the<VirtualMemory>(); }

Error VirtualMemory::reserve(Address* address, std::uint64_t size, std::uint64_t alignment) {
    if (!address || size == 0 || !is_multiple(size) || (alignment != 0 && !std::has_single_bit(alignment)))
        return Error::invalid_value;
    alignment = std::max(alignment, granularity);
    // More than is needed, so that an aligned part can be kept.
    void* const all =
        mmap(nullptr, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return Error::memory_allocation;
    const auto begin = reinterpret_cast<Address>(all);
    const Address base = (begin + alignment - 1) / alignment * alignment;
    if (base != begin)
        munmap(all, base - begin);
    munmap(pointer(base + size), begin + alignment - base);
    const std::lock_guard lock(mutex_);
    reservations_[base] = size;
    *address = base;
    return Error::success;
}

Error VirtualMemory::free(Address address, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    const auto found = reservations_.find(address);
    if (found == reservations_.end() || found->second != size)
        return Error::invalid_value;
    const auto mapped = mappings_.lower_bound(address);
    if (mapped != mappings_.end() && mapped->first < address + size)
        return Error::invalid_value;
    munmap(pointer(address), size);
    reservations_.erase(found);
    return Error::success;
}

Error VirtualMemory::create(Handle* handle, std::uint64_t size, const abi::AllocationProperties& properties,
                            std::uint64_t available) {
    constexpr int pinned = 1;
    if (!handle || size == 0 || !is_multiple(size) || properties.allocation_type != pinned)
        return Error::invalid_value;
    if (properties.location.type != static_cast<int>(abi::MemoryLocationType::device) ||
        properties.handle_types != 0)
        return Error::not_supported;
    if (properties.location.id != 0)
        return Error::invalid_device;
    const std::lock_guard lock(mutex_);
    std::uint64_t taken = 0;
    for (const auto& [number, memory] : memories_)
        taken += memory->size;
    if (size > available || taken > available - size)
        return Error::memory_allocation;
    auto memory = std::make_unique<Physical>(size, properties);
    if (memory->file < 0)
        return Error::memory_allocation;
    *handle = next_++;
    memories_[*handle] = std::move(memory);
    return Error::success;
}

VirtualMemory::Physical* VirtualMemory::find(Handle handle) {
    const auto found = memories_.find(handle);
    return found == memories_.end() ? nullptr : found->second.get();
}

void VirtualMemory::drop_if_unused(Handle handle) {
    const Physical* const memory = find(handle);
    if (memory && memory->references == 0 && memory->mappings == 0)
        memories_.erase(handle);
}

Error VirtualMemory::release(Handle handle) {
    const std::lock_guard lock(mutex_);
    Physical* const memory = find(handle);
    if (!memory || memory->references == 0)
        return Error::invalid_value;
    --memory->references;
    drop_if_unused(handle);
    return Error::success;
}

Error VirtualMemory::retain(Handle* handle, Address address) {
    const std::lock_guard lock(mutex_);
    const auto mapping = containing(address);
    if (!handle || mapping == mappings_.end())
        return Error::invalid_value;
    *handle = mapping->second.handle;
    ++find(*handle)->references;
    return Error::success;
}

Error VirtualMemory::properties(abi::AllocationProperties* properties, Handle handle) {
    const std::lock_guard lock(mutex_);
    const Physical* const memory = find(handle);
    if (!properties || !memory)
        return Error::invalid_value;
    *properties = memory->properties;
    return Error::success;
}

Error VirtualMemory::map(Address address, std::uint64_t size, std::uint64_t offset, Handle handle) {
    if (size == 0 || !is_multiple(size) || !is_multiple(offset) || !is_multiple(address))
        return Error::invalid_value;
    const std::lock_guard lock(mutex_);
    Physical* const memory = find(handle);
    if (!memory || memory->references == 0 || size > memory->size || offset > memory->size - size)
        return Error::invalid_value;
    const auto next = reservations_.upper_bound(address);
    if (next == reservations_.begin())
        return Error::invalid_value;
    const auto& [base, reserved] = *std::prev(next);
    if (address - base > reserved || size > reserved - (address - base))
        return Error::invalid_value;
    const auto behind = mappings_.lower_bound(address);
    if (containing(address) != mappings_.end() ||
        (behind != mappings_.end() && behind->first < address + size))
        return Error::invalid_value;
    if (mmap(pointer(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file,
             static_cast<off_t>(offset)) == MAP_FAILED)
        return Error::memory_allocation;
    mappings_[address] = {size, handle, 0};
    ++memory->mappings;
    return Error::success;
}

VirtualMemory::Mappings::iterator VirtualMemory::containing(Address address) {
    auto it = mappings_.upper_bound(address);
    if (it == mappings_.begin())
        return mappings_.end();
    --it;
    return address - it->first < it->second.size ? it : mappings_.end();
}

bool VirtualMemory::covered(Address address, std::uint64_t size) {
    if (size == 0 || !mappings_.contains(address))
        return false;
    const Address end = address + size;
    while (address < end) {
        const auto it = mappings_.find(address);
        if (it == mappings_.end())
            return false;
        address += it->second.size;
    }
    return address == end;
}

Error VirtualMemory::unmap(GlobalMemory& memory, Address address, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (!covered(address, size))
        return Error::invalid_value;
    // The addresses stay reserved.
    mmap(pointer(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    const auto end = mappings_.lower_bound(address + size);
    for (auto it = mappings_.find(address); it != end; it = mappings_.erase(it)) {
        --find(it->second.handle)->mappings;
        drop_if_unused(it->second.handle);
    }
    publish(memory);
    return Error::success;
}

Error VirtualMemory::set_access(GlobalMemory& memory, Address address, std::uint64_t size, int access) {
    const std::lock_guard lock(mutex_);
    if (!covered(address, size) || (access != 0 && access != 1 && access != 3))
        return Error::invalid_value;
    const auto end = mappings_.lower_bound(address + size);
    for (auto it = mappings_.find(address); it != end; ++it)
        it->second.access = access;
    publish(memory);
    return Error::success;
}

Error VirtualMemory::get_access(unsigned long long* access, Address address) {
    const std::lock_guard lock(mutex_);
    const auto mapping = containing(address);
    if (!access || mapping == mappings_.end())
        return Error::invalid_value;
    *access = static_cast<unsigned long long>(mapping->second.access);
    return Error::success;
}

void VirtualMemory::publish(GlobalMemory& memory) {
    std::map<Address, std::uint64_t> pieces;
    Address end = 0;
    for (const auto& [address, mapping] : mappings_) {
        if (mapping.access == 0)
            continue;
        if (address == end && !reservations_.contains(address))
            std::prev(pieces.end())->second += mapping.size;
        else
            pieces[address] = mapping.size;
        end = address + mapping.size;
    }
    for (const auto& [address, size] : published_)
        if (const auto kept = pieces.find(address); kept == pieces.end() || kept->second != size)
            memory.disown(address, Allocation::Kind::mapped);
    for (const auto& [address, size] : pieces)
        if (const auto known = published_.find(address); known == published_.end() || known->second != size)
            memory.adopt(address, size, Allocation::Kind::mapped);
    published_ = std::move(pieces);
}

} // namespace emu::cuda

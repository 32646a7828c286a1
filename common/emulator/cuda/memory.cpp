#include "cuda/memory.hpp"

#include "cuda/pools.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"
#include "cuda/timeline.hpp"

#include <optional>

namespace emu::cuda {
namespace {

std::optional<Allocation> find(State& state, const void* pointer) {
    return state.device().memory().find(reinterpret_cast<Address>(pointer));
}

abi::MemoryType type_of(Allocation::Kind kind) {
    switch (kind) {
    case Allocation::Kind::managed:
        return abi::MemoryType::managed;
    case Allocation::Kind::host:
    case Allocation::Kind::registered:
        return abi::MemoryType::host;
    default:
        return abi::MemoryType::device;
    }
}

bool may_free(Allocation::Kind kind) {
    return kind == Allocation::Kind::device || kind == Allocation::Kind::managed;
}

Error give_back(State& state, const Allocation& memory) {
    if (is_host_visible(memory.kind))
        state.timeline().order().forget(memory.base, memory.base + memory.size);
    return state.device().memory().release(memory.base) ? Error::success : Error::invalid_value;
}

} // namespace

Error allocate(State& state, void** pointer, std::size_t size, Allocation::Kind kind) {
    Error error = state.streams().check_unsafe_call();
    if (error == Error::success)
        error = allocate_during_capture(state, pointer, size, kind);
    if (error == Error::success && kind == Allocation::Kind::device && size != 0)
        state.device().memory().track_writes(reinterpret_cast<Address>(*pointer));
    return error;
}

Error allocate_during_capture(State& state, void** pointer, std::size_t size, Allocation::Kind kind) {
    if (!pointer)
        return Error::invalid_value;
    *pointer = nullptr;
    if (size == 0)
        return Error::success;
    const Address address = state.device().memory().allocate(size, kind);
    if (address == 0)
        return Error::memory_allocation;
    *pointer = reinterpret_cast<void*>(address);
    if (is_host_visible(kind))
        state.device().wish_for(FootprintWish::host_memory);
    return Error::success;
}

Error allocate_pitched(State& state, void** pointer, std::size_t* pitch, std::size_t width,
                       std::size_t height, std::size_t depth) {
    constexpr std::size_t alignment = 512;
    std::size_t size = 0;
    if (!pointer || !pitch || __builtin_add_overflow(width, alignment - 1, &size))
        return Error::invalid_value;
    *pitch = size / alignment * alignment;
    if (__builtin_mul_overflow(*pitch, height, &size) || __builtin_mul_overflow(size, depth, &size))
        return Error::memory_allocation;
    return allocate(state, pointer, size, Allocation::Kind::device);
}

Error release(State& state, void* pointer) {
    if (!pointer)
        return Error::success;
    const auto found = find(state, pointer);
    if (!found || found->base != reinterpret_cast<Address>(pointer) || !may_free(found->kind)) {
        if (!found && state.device().memory().find_freed(reinterpret_cast<Address>(pointer)))
            say_once("device memory is freed twice");
        return Error::invalid_value;
    }
    Pools::get().forget(pointer);
    return give_back(state, *found);
}

Error release_host(State& state, void* pointer) {
    if (!pointer)
        return Error::success;
    const auto found = find(state, pointer);
    if (!found || found->base != reinterpret_cast<Address>(pointer) || found->kind != Allocation::Kind::host)
        return Error::invalid_value;
    return give_back(state, *found);
}

Error register_host(State& state, void* pointer, std::size_t size) {
    if (!pointer || size == 0)
        return Error::invalid_value;
    if (find(state, pointer))
        return Error::host_memory_already_registered;
    state.device().memory().adopt(reinterpret_cast<Address>(pointer), size, Allocation::Kind::registered);
    state.device().wish_for(FootprintWish::host_memory);
    return Error::success;
}

bool is_host_memory(State& state, const void* pointer) {
    const auto found = find(state, pointer);
    return found && type_of(found->kind) != abi::MemoryType::device;
}

std::byte* bytes_of(State& state, const void* pointer) {
    return state.device().memory().bytes(reinterpret_cast<Address>(pointer));
}

Error memory_info(State& state, std::size_t* free, std::size_t* total) {
    if (!free || !total)
        return Error::invalid_value;
    const GlobalMemory& memory = state.device().memory();
    *total = static_cast<std::size_t>(memory.capacity());
    *free = static_cast<std::size_t>(memory.capacity() - std::min(memory.capacity(), memory.in_use()));
    return Error::success;
}

abi::PointerAttributes describe(State& state, const void* pointer) {
    abi::PointerAttributes attributes{};
    const auto found = find(state, pointer);
    attributes.type = found ? type_of(found->kind) : abi::MemoryType::unregistered;
    attributes.device = found ? 0 : -2; // cudaInvalidDeviceId is -2.
    void* const raw = const_cast<void*>(pointer);
    attributes.device_pointer = found ? raw : nullptr;
    attributes.host_pointer = attributes.type == abi::MemoryType::device ? nullptr : raw;
    return attributes;
}

Error check_managed(State& state, const void* pointer, std::size_t count) {
    const auto found = find(state, pointer);
    if (!found || found->kind != Allocation::Kind::managed)
        return Error::invalid_value;
    return count <= found->base + found->size - reinterpret_cast<Address>(pointer) ? Error::success
                                                                                   : Error::invalid_value;
}

} // namespace emu::cuda

#include "cuda/pools.hpp"

#include "cuda/memory.hpp"
#include "cuda/owner.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <algorithm>
#include <cstring>

namespace emu::cuda {
namespace {

bool is_switch(abi::PoolAttribute attribute) { return attribute < abi::PoolAttribute::release_threshold; }

} // namespace

Pools& Pools::get() { return the<Pools>(); }

Pool* Pools::current() {
    const std::lock_guard lock(mutex_);
    return current_;
}

void Pools::make_current(void* pool) {
    Pool& found = find(pool);
    const std::lock_guard lock(mutex_);
    current_ = &found;
}

Pool* Pools::create() {
    auto pool = std::make_unique<Pool>();
    const std::lock_guard lock(mutex_);
    Pool* raw = pool.get();
    pools_[raw] = std::move(pool);
    return raw;
}

void Pools::destroy(void* pool) {
    const std::lock_guard lock(mutex_);
    const auto found = pools_.find(pool);
    if (found == pools_.end())
        throw ApiError(Error::invalid_value);
    if (current_ == pool)
        current_ = &default_;
    std::erase_if(pieces_, [&](const auto& piece) { return piece.second.pool == pool; });
    pools_.erase(found);
}

Pool& Pools::find(void* pool) {
    const std::lock_guard lock(mutex_);
    if (pool == &default_)
        return default_;
    const auto found = pools_.find(pool);
    if (found == pools_.end())
        throw ApiError(Error::invalid_value);
    return *found->second;
}

void Pool::grow(std::uint64_t bytes) {
    used += bytes;
    used_high = std::max(used_high, used);
    reserved = std::max(reserved, used);
    reserved_high = std::max(reserved_high, reserved);
}
void Pool::shrink(std::uint64_t bytes) {
    used -= std::min(used, bytes);
    trim(release_threshold);
}
void Pool::trim(std::uint64_t keep) { reserved = std::max(used, std::min(reserved, keep)); }

void Pools::note(const void* pointer, std::uint64_t size, Pool& pool) {
    const std::lock_guard lock(mutex_);
    pieces_[pointer] = {&pool, size};
    pool.grow(size);
}

bool Pools::has(const void* pointer) {
    const std::lock_guard lock(mutex_);
    return pieces_.contains(pointer);
}

void Pools::forget(const void* pointer) {
    const std::lock_guard lock(mutex_);
    const auto found = pieces_.find(pointer);
    if (found == pieces_.end())
        return;
    found->second.pool->shrink(found->second.size);
    pieces_.erase(found);
}

Error set_attribute(Pool& pool, abi::PoolAttribute attribute, const void* value) {
    if (!value || attribute < abi::PoolAttribute::reuse_follow_event_dependencies)
        return Error::invalid_value;
    if (is_switch(attribute)) {
        std::memcpy(&pool.switches[static_cast<int>(attribute)], value, sizeof(int));
        return Error::success;
    }
    std::uint64_t number = 0;
    std::memcpy(&number, value, sizeof number);
    switch (attribute) {
    case abi::PoolAttribute::release_threshold:
        pool.release_threshold = number;
        return Error::success;
    case abi::PoolAttribute::reserved_high: // The high-water marks may be reset, to zero.
        pool.reserved_high = pool.reserved;
        break;
    case abi::PoolAttribute::used_high:
        pool.used_high = pool.used;
        break;
    default:
        return Error::invalid_value;
    }
    return number == 0 ? Error::success : Error::invalid_value;
}

Error get_attribute(Pool& pool, abi::PoolAttribute attribute, void* value) {
    if (!value || attribute < abi::PoolAttribute::reuse_follow_event_dependencies ||
        attribute > abi::PoolAttribute::used_high)
        return Error::invalid_value;
    if (is_switch(attribute)) {
        const auto found = pool.switches.find(static_cast<int>(attribute));
        const int on = found == pool.switches.end() ? 1 : found->second;
        std::memcpy(value, &on, sizeof on);
        return Error::success;
    }
    // From release_threshold on, in the order of cudaMemPoolAttr.
    const std::uint64_t numbers[]{pool.release_threshold, pool.reserved, pool.reserved_high, pool.used,
                                  pool.used_high};
    const auto index =
        static_cast<std::size_t>(attribute) - static_cast<std::size_t>(abi::PoolAttribute::release_threshold);
    std::memcpy(value, &numbers[index], sizeof numbers[index]);
    return Error::success;
}

Error allocate_in_stream(State& state, void** pointer, std::size_t size, Pool& pool, void* stream) {
    if (size == 0 || !pointer)
        return Error::invalid_value;
    if (!state.streams().stream(stream).capture) {
        const Error error = allocate_during_capture(state, pointer, size, Allocation::Kind::device);
        if (error == Error::success)
            Pools::get().note(*pointer, size, pool);
        return error;
    }
    const AllocationOperation operation{state.device().memory().reserve(size), size};
    if (operation.base == 0)
        return Error::memory_allocation;
    *pointer = reinterpret_cast<void*>(operation.base);
    return state.streams().submit(state, stream, operation);
}

Error free_in_stream(State& state, void* pointer, void* stream) {
    if (!pointer)
        return Error::invalid_value;
    return state.streams().submit(state, stream, FreeOperation{pointer});
}

} // namespace emu::cuda

#include "cuda/pools.hpp"

#include "cuda/memory.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <cstring>

namespace emu::cuda {
namespace {

bool is_switch(abi::PoolAttribute attribute) { return attribute < abi::PoolAttribute::release_threshold; }

} // namespace

Pools& Pools::get() {
    static Pools* const the = new Pools; // Deliberately not destroyed.
    return *the;
}

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
    if (current_ == pool)
        current_ = &default_;
    if (pools_.erase(pool) == 0)
        throw ApiError(Error::invalid_value);
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

Error set_attribute(Pool& pool, abi::PoolAttribute attribute, const void* value) {
    if (!value)
        return Error::invalid_value;
    if (is_switch(attribute))
        std::memcpy(&pool.switches[static_cast<int>(attribute)], value, sizeof(int));
    else if (attribute == abi::PoolAttribute::release_threshold)
        std::memcpy(&pool.release_threshold, value, sizeof pool.release_threshold);
    else if (attribute > abi::PoolAttribute::used_high)
        return Error::invalid_value;
    return Error::success; // The high-water marks may be reset to zero; none are kept.
}

Error get_attribute(Pool& pool, abi::PoolAttribute attribute, void* value, std::uint64_t in_use) {
    if (!value || attribute > abi::PoolAttribute::used_high)
        return Error::invalid_value;
    if (is_switch(attribute)) {
        const auto found = pool.switches.find(static_cast<int>(attribute));
        const int on = found == pool.switches.end() ? 1 : found->second;
        std::memcpy(value, &on, sizeof on);
    } else {
        const std::uint64_t number =
            attribute == abi::PoolAttribute::release_threshold ? pool.release_threshold : in_use;
        std::memcpy(value, &number, sizeof number);
    }
    return Error::success;
}

Error allocate_in_stream(State& state, void** pointer, std::size_t size, void* stream) {
    if (size == 0)
        return Error::invalid_value;
    if (!state.streams().stream(stream).capture)
        return allocate(state, pointer, size, Allocation::Kind::device);
    if (!pointer)
        return Error::invalid_value;
    const AllocationOperation operation{state.device().memory().reserve(size), size};
    if (operation.base == 0)
        return Error::memory_allocation;
    *pointer = reinterpret_cast<void*>(operation.base);
    return state.streams().submit(state, stream, operation);
}

Error free_in_stream(State& state, void* pointer, void* stream) {
    return state.streams().submit(state, stream, FreeOperation{pointer});
}

} // namespace emu::cuda

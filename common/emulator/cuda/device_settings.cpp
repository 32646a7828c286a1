#include "cuda/device_settings.hpp"

#include "cuda/state.hpp"

#include <algorithm>

namespace emu::cuda {
namespace {

std::atomic<std::uint64_t>* find(State& state, int limit) {
    switch (limit) {
    case 0:
        return &state.limits.stack;
    case 1:
        return &state.limits.printf_fifo;
    case 2:
        return &state.limits.heap;
    case 3:
        return &state.limits.sync_depth;
    case 4:
        return &state.limits.pending_launches;
    case 5:
        return &state.limits.l2_granularity;
    case 6:
        return &state.limits.persisting_l2;
    default:
        return nullptr;
    }
}

} // namespace

Error set_limit(State& state, int limit, std::size_t value) {
    std::atomic<std::uint64_t>* const found = find(state, limit);
    if (!found)
        return Error::unsupported_limit;
    constexpr std::uint64_t largest_stack = 512 * 1024;
    if (limit == 0) {
        if (value > largest_stack)
            return Error::invalid_value;
        Device& device = state.device();
        device.stack_limit = std::max(device.stack_limit, static_cast<std::uint32_t>(value));
    }
    *found = value;
    return Error::success;
}

Error get_limit(State& state, int limit, std::size_t* value) {
    const std::atomic<std::uint64_t>* const found = find(state, limit);
    if (!found)
        return Error::unsupported_limit;
    if (!value)
        return Error::invalid_value;
    *value = static_cast<std::size_t>(found->load());
    return Error::success;
}

} // namespace emu::cuda

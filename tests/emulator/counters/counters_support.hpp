#pragma once
/// \file
/// Cases that run with an observer which counts.

#include "hopper_emulator/counters.hpp"
#include "rules/check_support.hpp"

namespace counters_test {

using check_test::Case;

/// Runs a case with one more observer, which the device owns.
template <class O>
O& run_with(const Case& c, emu::Device& device, std::unique_ptr<O> observer) {
    O& result = *observer;
    device.add_observer(std::move(observer));
    const auto in = device.memory().allocate(1 << 16, emu::Allocation::Kind::device);
    const auto out = device.memory().allocate(1 << 16, emu::Allocation::Kind::device);
    const std::array<std::uint64_t, 2> parameters{in, out};
    const auto program = device.load(c.text());
    async_test::require_clean(
        device.launch(*program, "k", check_test::config_of(c), std::as_bytes(std::span(parameters))));
    return result;
}

inline emu::Settings settings(unsigned threads = 1, emu::CompletionOrder order = emu::CompletionOrder::late) {
    emu::Settings s;
    s.threads = threads;
    s.order = order;
    return s;
}

} // namespace counters_test

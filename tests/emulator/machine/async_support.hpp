/// \file
/// For the tests of asynchronous instructions: a kernel around a few lines of PTX, run on an emulated device
/// under each order of completion.
#pragma once

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/device.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace async_test {

/// One completion order with its seed.
struct Order {
    emu::CompletionOrder order;
    std::uint64_t seed;
};
inline const std::vector<Order>& all_orders() {
    static const std::vector<Order> orders = [] {
        std::vector<Order> list{{emu::CompletionOrder::late, 1}, {emu::CompletionOrder::early, 1}};
        for (std::uint64_t seed = 1; seed <= 10; ++seed)
            list.push_back({emu::CompletionOrder::random, seed});
        return list;
    }();
    return orders;
}

inline std::string name_of(const Order& order) {
    static constexpr std::array names{"late", "early", "random "};
    return names[static_cast<unsigned>(order.order)] +
           (order.order == emu::CompletionOrder::random ? std::to_string(order.seed) : "");
}

/// The kernel `k` with `parameters` 64-bit parameters in %rd0, %rd1, … and the thread's number in %r0.
/// `shared` declares shared variables, `body` is PTX. Free registers: %r1…, %rd8…, %p, %h, %f.
inline std::string kernel(unsigned parameters, const std::string& shared, const std::string& body) {
    std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(";
    for (unsigned i = 0; i < parameters; ++i)
        text += (i ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
    text +=
        ")\n{\n.reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .pred %p<8>; .reg .b16 %h<8>; .reg .f32 %f<8>;\n";
    text += shared + "\n";
    for (unsigned i = 0; i < parameters; ++i)
        text += "ld.param.u64 %rd" + std::to_string(i) + ", [p" + std::to_string(i) + "];\n";
    return text + "mov.u32 %r0, %tid.x;\n" + body + "\nret;\n}\n";
}

/// PTX that waits for phase parity `parity` of the mbarrier `barrier`. `label` must be unique.
inline std::string wait_parity(const std::string& barrier, const std::string& parity,
                               const std::string& label) {
    return label + ":\nmbarrier.try_wait.parity.shared.b64 %p7, [" + barrier + "], " + parity +
           ";\n@!%p7 bra " + label + ";\n";
}

class Machine {
  public:
    explicit Machine(const Order& order = {emu::CompletionOrder::late, 1})
        : device_(settings(order), emu::make_reporter()) {}
    explicit Machine(const emu::Settings& chosen) : device_(chosen, emu::make_reporter()) {}

    /// Global memory with these contents.
    template <class T>
    emu::Address buffer(const std::vector<T>& values) {
        const emu::Address at =
            device_.memory().allocate(values.size() * sizeof(T), emu::Allocation::Kind::device);
        REQUIRE(at != 0);
        std::memcpy(reinterpret_cast<void*>(at), values.data(), values.size() * sizeof(T));
        return at;
    }
    template <class T>
    std::vector<T> read(emu::Address at, std::size_t count) const {
        std::vector<T> values(count);
        std::memcpy(values.data(), reinterpret_cast<const void*>(at), count * sizeof(T));
        return values;
    }

    emu::LaunchOutcome run(const std::string& ptx, const std::vector<std::uint64_t>& parameters,
                           std::uint32_t threads = 32, std::uint32_t cluster = 1) {
        const auto program = device_.load(ptx);
        emu::LaunchConfig config;
        config.grid = {cluster, 1, 1};
        config.block = {threads, 1, 1};
        config.cluster = {cluster, 1, 1};
        return device_.launch(*program, "k", config, std::as_bytes(std::span(parameters)));
    }
    emu::Device& device() { return device_; }

  private:
    static emu::Settings settings(const Order& order) {
        emu::Settings s;
        s.order = order.order;
        s.seed = order.seed;
        s.threads = 1;
        return s;
    }
    emu::Device device_;
};

/// The launch found nothing.
inline void require_clean(const emu::LaunchOutcome& outcome) {
    INFO(outcome.message);
    for (const auto& d : outcome.result.diagnostics)
        UNSCOPED_INFO(d.name() << ": " << d.message);
    REQUIRE(outcome.error == emu::LaunchError::none);
    REQUIRE(outcome.result.diagnostics.empty());
    REQUIRE(outcome.result.fault == emu::Fault::none);
}

/// The launch found exactly one mistake, of this name, and the message contains `text`.
inline void require_finding(const emu::LaunchOutcome& outcome, const std::string& name,
                            const std::string& text = {}) {
    INFO(outcome.message);
    for (const auto& d : outcome.result.diagnostics)
        UNSCOPED_INFO(d.name() << ": " << d.message);
    REQUIRE(outcome.error == emu::LaunchError::none);
    REQUIRE(outcome.result.diagnostics.size() == 1);
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    REQUIRE(d.name() == name);
    REQUIRE(d.message.find(text) != std::string::npos);
    REQUIRE_FALSE(d.advice.empty());
    REQUIRE(outcome.result.fault != emu::Fault::none);
}

/// The numbers first, first + 1, …
inline std::vector<std::uint32_t> sequence(std::size_t count, std::uint32_t first = 1) {
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = first + static_cast<std::uint32_t>(i);
    return values;
}

} // namespace async_test

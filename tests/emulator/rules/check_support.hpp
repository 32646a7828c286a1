/// \file
/// For the tests of checks: a PTX kernel, run with all checks under every order of completion. Lines of the
/// kernel that a finding must name carry the comment `//!`.
#pragma once

#include "findings/log.hpp"
#include "findings/report.hpp"
#include "hopper_emulator/observer.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/async_support.hpp"

#include <set>
#include <sstream>
#include <string>

namespace check_test {

using async_test::kernel;
using async_test::Order;
using async_test::wait_parity;

/// A kernel `k` with the parameters in (%rd0), out (%rd1) and its launch.
struct Case {
    std::string shared;
    std::string body;
    std::uint32_t threads = 64;
    std::uint32_t blocks = 1;
    std::uint32_t cluster = 1;
    bool strict = false; ///< Notes are wanted too.

    std::string text() const { return kernel(2, shared, body); }
};

/// Lines, from 1, that end with the comment `//!`.
inline std::set<unsigned> marked_lines(const std::string& text) {
    std::istringstream in(text);
    std::set<unsigned> lines;
    std::string line;
    for (unsigned number = 1; std::getline(in, line); ++number)
        if (line.ends_with("//!"))
            lines.insert(number);
    return lines;
}

inline emu::LaunchConfig config_of(const Case& c) {
    emu::LaunchConfig config;
    config.grid = {c.blocks, 1, 1};
    config.block = {c.threads, 1, 1};
    config.cluster = {c.cluster, 1, 1};
    return config;
}

inline emu::LaunchOutcome run(const Case& c, const Order& order, unsigned host_threads = 1) {
    emu::Settings settings;
    settings.order = order.order;
    settings.seed = order.seed;
    settings.threads = host_threads;
    settings.strict = c.strict;
    emu::Device device(settings, emu::make_reporter());
    device.add_observer(emu::make_checks(settings));
    const auto in = device.memory().allocate(1 << 16, emu::Allocation::Kind::device);
    const auto out = device.memory().allocate(1 << 16, emu::Allocation::Kind::device);
    for (std::uint32_t i = 0; i < (1u << 14); ++i) {
        reinterpret_cast<std::uint32_t*>(in)[i] = 3 * i + 1;
        reinterpret_cast<std::uint32_t*>(out)[i] = 0;
    }
    const std::array<std::uint64_t, 2> parameters{in, out};
    const auto program = device.load(c.text());
    return device.launch(*program, "k", config_of(c), std::as_bytes(std::span(parameters)));
}

/// No order of completion gives any finding.
inline void require_silent(const Case& c) {
    for (const Order& order : async_test::all_orders()) {
        const emu::LaunchOutcome outcome = run(c, order);
        std::string findings;
        for (const auto& d : outcome.result.diagnostics)
            findings += emu::format(d);
        INFO(async_test::name_of(order) << outcome.message << findings);
        REQUIRE(findings.empty());
        async_test::require_clean(outcome);
    }
}

/// Every order gives exactly this finding, and it names exactly the marked lines.
inline void require_found(const std::string& name, const Case& c,
                          emu::Fault fault = emu::Fault::launch_failure) {
    const std::string text = c.text();
    const std::set<unsigned> expected = marked_lines(text);
    REQUIRE_FALSE(expected.empty());
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const emu::LaunchOutcome outcome = run(c, order);
        std::string findings;
        for (const auto& each : outcome.result.diagnostics)
            findings += emu::format(each);
        INFO(outcome.message << findings);
        REQUIRE(outcome.error == emu::LaunchError::none);
        REQUIRE(outcome.result.diagnostics.size() == 1);
        const emu::Diagnostic& d = outcome.result.diagnostics.front();
        REQUIRE(d.name() == name);
        REQUIRE(outcome.result.fault == fault);
        REQUIRE_FALSE(d.advice.empty());
        std::set<unsigned> lines;
        for (const emu::SourceLine& line : d.locations)
            lines.insert(line.line);
        REQUIRE(lines == expected);
    }
}

/// Addresses of the thread's word in shared `tile` (%r10), of its mirror image's word (%r11), of its words in
/// and out
/// (%rd10, %rd11). Needs `.shared .align 128 .b8 tile[…]`.
inline std::string addresses(unsigned threads) {
    return "mov.u32 %r9, tile;\nshl.b32 %r8, %r0, 2;\nadd.u32 %r10, %r9, %r8;\n"
           "mov.u32 %r7, " +
           std::to_string(4 * (threads - 1)) +
           ";\nsub.u32 %r7, %r7, %r8;\nadd.u32 %r11, %r9, %r7;\n"
           "cvt.u64.u32 %rd9, %r8;\nadd.u64 %rd10, %rd0, %rd9;\nadd.u64 %rd11, %rd1, %rd9;\n"
           "ld.global.u32 %r6, [%rd10];\nsetp.eq.u32 %p0, %r0, 0;\n";
}

/// One barrier `bar` for one arrival, initialised by thread 0 and visible to everybody and to the async
/// proxy.
inline std::string initialised_barrier() {
    return "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 fence.proxy.async.shared::cta;\nbar.sync 0;\n";
}

inline const std::string tile = ".shared .align 128 .b8 tile[1024];\n";
inline const std::string tile_and_bar = tile + ".shared .align 8 .b64 bar;\n";
/// Thread 0 loads 256 bytes of `in` into the tile; the next line may continue.
inline const std::string bulk_load =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 256, [bar];";
inline const std::string expect_256 = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n";
inline const std::string bulk_store = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;";
inline const std::string commit_and_wait_read =
    "@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk.wait_group.read 0;\n";

/// Runs a program whose `.loc 2` lines stand in `header` and were inlined into a reader's file.
inline emu::LaunchOutcome run_inlined_from(const std::string& header, const Case& c) {
    emu::Device device(emu::Settings{}, emu::make_reporter());
    device.add_observer(emu::make_checks());
    const auto in = device.memory().allocate(1 << 12, emu::Allocation::Kind::device);
    const std::array<std::uint64_t, 2> parameters{in, in + 2048};
    const auto program = device.load(c.text() + ".file 1 \"/home/reader/program.cu\"\n.file 2 \"" + header +
                                     "\"\n" + ".section .debug_str { $L__info_string0: .b8 0 }\n");
    return device.launch(*program, "k", {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, false},
                         std::as_bytes(std::span(parameters)));
}

} // namespace check_test

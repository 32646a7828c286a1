// What becomes of a launch with races that look meant. The kernels themselves: deliberate.cu.

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "rules/check_support.hpp"

#include <algorithm>
#include <string>

using namespace check_test;

namespace {

/// Searches: each thread whose word of `in` is odd leaves its number, in `count` places one after the other.
Case searches(unsigned count) {
    std::string body = addresses(64) + "and.b32 %r6, %r6, 1;\nsetp.eq.u32 %p1, %r6, 1;\n";
    for (unsigned i = 0; i < count; ++i)
        body += "@%p1 bra L" + std::to_string(i) + ";\nst.global.u32 [%rd1+" + std::to_string(4 * i) +
                "], %r0;\nL" + std::to_string(i) + ":\nbar.warp.sync -1;\n";
    return {tile, body + "bar.sync 0;\n@%p0 st.global.u32 [%rd1+4096], 77;\n", 64};
}

} // namespace

TEST_CASE("a launch with ever so many warnings runs to its end, and the first ten are told as text") {
    for (const unsigned count : {1u, 9u, 25u}) {
        emu::Device device(emu::Settings{}, emu::make_reporter());
        device.add_observer(emu::make_checks());
        const auto in = device.memory().allocate(1 << 13, emu::Allocation::Kind::device);
        std::memset(reinterpret_cast<void*>(in), 0, 1 << 13);
        for (unsigned i = 0; i < 64; ++i)
            reinterpret_cast<std::uint32_t*>(in)[i] = i;
        const std::array<std::uint64_t, 2> parameters{in, in + 1024};
        const auto program = device.load(searches(count).text());
        const auto outcome = device.launch(*program, "k", {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, false},
                                           std::as_bytes(std::span(parameters)));
        REQUIRE(outcome.result.fault == emu::Fault::none);
        REQUIRE(outcome.result.diagnostics.size() == count);
        const auto told = std::ranges::count(outcome.result.diagnostics, false, &emu::Diagnostic::surplus);
        CHECK(static_cast<unsigned>(told) == std::min(count, 10u));
        for (const auto& d : outcome.result.diagnostics) {
            CHECK(d.message.find("It looks meant: a search") != std::string::npos);
            CHECK(d.fault == emu::Fault::none);
        }
        CHECK(reinterpret_cast<std::uint32_t*>(in + 1024)[1024] == 77);
    }
}

TEST_CASE("warnings do not count among the errors that end a launch") {
    Case wrong = searches(12);
    wrong.body += "bar.sync 0;\nst.global.u32 [%rd1+4096], %r0;//!\n";
    const auto outcome = run(wrong, {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.fault == emu::Fault::launch_failure);
    REQUIRE(outcome.result.diagnostics.size() == 13);
    CHECK(!outcome.result.diagnostics.back().surplus);
    CHECK(outcome.result.diagnostics.back().fault == emu::Fault::launch_failure);
}

TEST_CASE("blocks that store the same do not race, however their host threads meet") {
    // Each thread sets the same 256 words, one after the other, so that blocks meet at words that nobody has
    // set.
    const auto program = [](const char* value) {
        return Case{"",
                    "mov.u32 %r5, %ctaid.x;\nmov.u32 %r4, 0;\nLOOP:\nmul.wide.u32 %rd9, %r4, 4;\n"
                    "add.u64 %rd10, %rd1, %rd9;\nst.global.u32 [%rd10], " +
                        std::string(value) +
                        ";\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 256;\n@%p1 bra LOOP;\n",
                    32, 8};
    };
    for (unsigned i = 0; i < 200; ++i) {
        const auto outcome = run(program("1"), {emu::CompletionOrder::late, 1}, 4);
        REQUIRE(outcome.result.diagnostics.empty());
    }
    CHECK(run(program("%r5"), {emu::CompletionOrder::late, 1}, 4).result.fault == emu::Fault::launch_failure);
}

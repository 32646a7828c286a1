// Which lines a finding names: the reader's innermost one and those of the calls that lead to it, and how
// equal findings are counted.

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "rules/check_support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <set>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string files = ".file 1 \"/home/reader/program.cu\"\n.file 2 \"/home/reader/helper.cuh\"\n"
                          ".file 3 \"/usr/local/cuda/include/cccl/cuda/std/atomic\"\n"
                          ".section .debug_str { $L__info_string0: .b8 0 }\n";

/// ".loc" of a place, inlined at another.
std::string loc(const std::string& place) { return ".loc " + place + "\n"; }
std::string loc(const std::string& place, const std::string& site) {
    return ".loc " + place + ", function_name $L__info_string0, inlined_at " + site + "\n";
}

emu::LaunchResult run_text(const std::string& text, std::uint32_t blocks = 1) {
    emu::Settings settings;
    settings.threads = 1;
    emu::Device device(settings, emu::make_reporter());
    device.add_observer(emu::make_checks(settings));
    const auto in = device.memory().allocate(1 << 12, emu::Allocation::Kind::device);
    const std::array<std::uint64_t, 2> parameters{in, in + 2048};
    const auto program = device.load(text);
    const auto outcome = device.launch(*program, "k", {{blocks, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, false},
                                       std::as_bytes(std::span(parameters)));
    REQUIRE(outcome.error == emu::LaunchError::none);
    return outcome.result;
}

/// Runs a kernel whose lines stand in program.cu (1), helper.cuh (2) and the toolkit (3).
emu::LaunchResult run_lines(const std::string& shared, const std::string& body,
                            const std::string& functions = {}, std::uint32_t blocks = 1) {
    std::string text = kernel(2, shared, body);
    const auto entry = text.find(".visible .entry");
    return run_text(text.substr(0, entry) + functions + text.substr(entry) + files, blocks);
}

/// "program.cu:10 < helper.cuh:7": a line and its callers.
std::string chain(const emu::SourceLine& line) {
    const auto place = [](const std::string& file, std::uint32_t number) {
        return file.substr(file.rfind('/') + 1) + ":" + std::to_string(number);
    };
    std::string text = place(line.file, line.line);
    for (const emu::CallSite& caller : line.callers)
        text += " < " + place(caller.file, caller.line);
    return text;
}

std::string chain(const emu::LaunchResult& result, std::size_t location, std::size_t finding = 0) {
    return chain(result.diagnostics.at(finding).locations.at(location));
}

/// Of the location with that role.
std::string chain(const emu::LaunchResult& result, const std::string& role, std::size_t finding = 0) {
    for (const emu::SourceLine& line : result.diagnostics.at(finding).locations)
        if (line.role.starts_with(role))
            return chain(line);
    return "no " + role;
}

const std::string store = "st.shared.u32 [%r10], %r6;\n";
const std::string load = "ld.shared.u32 %r5, [%r11];\n";
const std::string keep = loc("1 90 3") + "st.global.u32 [%rd11], %r5;\n";

/// A device function that stores %a, the second of two words, at the first.
const std::string put = ".func put(.param .u32 a, .param .u32 b) {\n.reg .b32 %a, %b;\n" + loc("2 40 5") +
                        "ld.param.u32 %a, [a]; ld.param.u32 %b, [b];\n" + loc("2 41 5") +
                        "st.shared.u32 [%a], %b;\nret;\n}\n";

std::string call_put(const std::string& address) {
    return "{ .param .u32 x; .param .u32 y; st.param.u32 [x], " + address +
           "; st.param.u32 [y], %r6; call put, (x, y); }\n";
}

} // namespace

TEST_CASE("a line in a helper names who called it, without the toolkit's own lines") {
    const auto result = run_lines(tile, addresses(64) + loc("1 10 3") + loc("2 5 1", "1 10 3") + store +
                                            loc("1 12 3") + loc("2 20 9", "1 12 3") +
                                            loc("3 99 1", "2 20 9") + loc("3 77 1", "3 99 1") + load + keep);
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(chain(result, "write by") == "helper.cuh:5 < program.cu:10");
    CHECK(chain(result, "read by") == "helper.cuh:20 < program.cu:12");
    CHECK_FALSE(result.diagnostics.front().lines_of_ptx);
}

TEST_CASE("a line that calls itself inlined on the same line is named once") {
    const auto result = run_lines(tile, addresses(64) + loc("1 10 3") + loc("1 10 30", "1 10 3") + store +
                                            loc("1 12 3") + load + keep);
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(chain(result, "write by") == "program.cu:10");
}

TEST_CASE("what lies above one of several calls at the same place is not guessed") {
    const std::string twice = loc("1 10 3") + loc("2 20 9", "1 10 3") + loc("2 5 1", "2 20 9") +
                              "mov.u32 %r20, 1;\n" + loc("1 11 3") + loc("2 20 9", "1 11 3") +
                              loc("2 5 1", "2 20 9") + "mov.u32 %r20, 2;\n";
    // Directly behind its call site the chain is certain,
    const auto certain = run_lines(tile, addresses(64) + twice + loc("2 20 9", "1 11 3") +
                                             loc("2 6 1", "2 20 9") + store + loc("1 12 3") + load + keep);
    REQUIRE(certain.diagnostics.size() == 1);
    CHECK(chain(certain, "write by") == "helper.cuh:6 < helper.cuh:20 < program.cu:11");
    // elsewhere it may be either.
    const auto either = run_lines(tile, addresses(64) + twice + loc("1 15 3") + loc("2 6 1", "2 20 9") +
                                            store + loc("1 12 3") + load + keep);
    REQUIRE(either.diagnostics.size() == 1);
    CHECK(chain(either, "write by") == "helper.cuh:6 < helper.cuh:20");
    // With one call at the place there is nothing to guess.
    const auto only = run_lines(tile, addresses(64) + loc("1 10 3") + loc("2 20 9", "1 10 3") +
                                          loc("2 5 1", "2 20 9") + "mov.u32 %r20, 1;\n" + loc("1 15 3") +
                                          loc("2 6 1", "2 20 9") + store + loc("1 12 3") + load + keep);
    CHECK(chain(only, "write by") == "helper.cuh:6 < helper.cuh:20 < program.cu:10");
}

TEST_CASE("a function that is called from one place has that caller, also later") {
    const std::string once = loc("1 9 3") + load + loc("1 10 3") + call_put("%r10") + keep;
    const auto result = run_lines(tile, addresses(64) + once, put);
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(chain(result, "write by") == "helper.cuh:41 < program.cu:10");
    // A function of the toolkit is seen where the reader called it.
    std::string foreign = put;
    for (auto at = foreign.find(".loc 2"); at != std::string::npos; at = foreign.find(".loc 2"))
        foreign[at + 5] = '3';
    CHECK(chain(run_lines(tile, addresses(64) + once, foreign), "write by") == "program.cu:10");
}

TEST_CASE("a thread that is in a function now came there by its own calls") {
    const std::string outer = ".func outer(.param .u32 a, .param .u32 b) {\n.reg .b32 %r<12>;\n" +
                              loc("2 60 5") + "ld.param.u32 %r10, [a]; ld.param.u32 %r6, [b];\n" +
                              loc("2 61 5") + call_put("%r10") + "ret;\n}\n";
    const std::string call_outer =
        "{ .param .u32 x; .param .u32 y; st.param.u32 [x], %r20; st.param.u32 [y], %r6; call outer, (x, y); "
        "}\n";
    const auto result = run_lines(tile,
                                  addresses(64) + loc("1 10 3") + call_put("%r10") +
                                      "mov.u32 %r20, 0x00f00000;\n" + loc("1 14 3") + call_outer + keep,
                                  put + outer);
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(result.diagnostics.front().name() == "out-of-bounds");
    CHECK(chain(result, 0) == "helper.cuh:41 < helper.cuh:61 < program.cu:14");
}

TEST_CASE("a function that is called from two places: only an access that happens now knows its call") {
    const std::string two =
        loc("1 11 3") + call_put("%r10") + loc("1 13 3") + "add.u32 %r20, %r10, 512;\n" + call_put("%r20");
    // The second warp writes what the first one has read.
    const auto now = run_lines(tile, addresses(64) + two + loc("1 15 3") + load + keep, put);
    REQUIRE(now.diagnostics.size() == 1);
    REQUIRE(now.diagnostics.front().locations.back().role.starts_with("write by"));
    CHECK(chain(now, "write by") == "helper.cuh:41 < program.cu:11");
    // The second warp reads what the first one has written.
    const auto before = run_lines(tile, addresses(64) + loc("1 10 3") + load + two + keep, put);
    REQUIRE(before.diagnostics.size() == 1);
    REQUIRE(before.diagnostics.front().locations.front().role.starts_with("write by"));
    CHECK(chain(before, "write by") == "helper.cuh:41");
}

TEST_CASE("a deadlock tells waits of different calls apart") {
    const auto result = run_lines(
        tile_and_bar, addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 65;\nbar.sync 0;\n" +
                          "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra OTHER;\n" + loc("1 10 3") +
                          loc("2 50 9", "1 10 3") + wait_parity("bar", "0", "W1") + "bra.uni END;\nOTHER:\n" +
                          loc("1 20 3") + loc("2 50 9", "1 20 3") + wait_parity("bar", "0", "W2") + "END:\n");
    REQUIRE(result.diagnostics.size() == 1);
    REQUIRE(result.diagnostics.front().name() == "deadlock");
    REQUIRE(result.diagnostics.front().locations.size() == 2);
    // That of the root comes first.
    const std::set<std::string> chains{chain(result, 0), chain(result, 1)};
    CHECK(chains == std::set<std::string>{"helper.cuh:50 < program.cu:10", "helper.cuh:50 < program.cu:20"});
}

TEST_CASE("mbarriers of one array are told apart by the line that initialised them") {
    const std::string ring = ".shared .align 8 .b8 ring[64];\n.shared .align 8 .b64 bar;\n";
    const auto init = [](unsigned offset, const std::string& site) {
        return loc("2 32 5", site) + "@%p0 mbarrier.init.shared.b64 [ring+" + std::to_string(offset) +
               "], 65;\n";
    };
    // Two of each kind, in an unrolled loop; one more that is made elsewhere.
    const std::string start = "setp.eq.u32 %p0, %r0, 0;\n" + loc("1 30 3") + loc("2 140 9", "1 30 3") +
                              init(0, "2 140 9") + loc("2 141 9", "1 30 3") + init(8, "2 141 9") +
                              init(16, "2 140 9") + init(24, "2 141 9") + loc("1 31 3") + init(32, "1 31 3") +
                              loc("1 33 3") + "@%p0 mbarrier.init.shared.b64 [bar], 65;\nbar.sync 0;\n";
    const auto message = [&](const std::string& where) {
        const auto result = run_lines(ring, start + loc("1 40 3") + wait_parity(where, "0", "W"));
        REQUIRE(result.diagnostics.size() == 1);
        return result.diagnostics.front().message;
    };
    CHECK_THAT(message("ring+16"),
               ContainsSubstring("ring + 16 (initialised at /home/reader/helper.cuh:140, the 2nd of 2), "
                                 "phase 0"));
    CHECK_THAT(message("ring+8"), ContainsSubstring("helper.cuh:141, the 1st of 2)"));
    CHECK_THAT(message("ring+32"),
               ContainsSubstring("ring + 32 (initialised at /home/reader/program.cu:31)"));
    // A variable of its own has a name that says enough.
    CHECK_THAT(message("bar"), ContainsSubstring("mbarrier bar, phase 0"));
}

TEST_CASE("copies of the same lines are told once and counted, calls of their own are told each") {
    const auto copy = [](const std::string& offset) {
        return loc("1 10 3") + "st.shared.u32 [%r10+" + offset + "], %r6;\n" + loc("1 12 3") +
               "ld.shared.u32 %r5, [%r11+" + offset + "];\n" + keep;
    };
    for (const std::uint32_t blocks : {1u, 3u}) {
        const auto unrolled =
            run_lines(tile, addresses(64) + copy("0") + copy("256") + copy("512"), {}, blocks);
        REQUIRE(unrolled.diagnostics.size() == 1);
        CHECK(unrolled.diagnostics.front().more == 2);
    }
    CHECK(run_lines(tile, addresses(64) + copy("0"), {}, 3).diagnostics.front().more == 0);
    const auto inlined = [](const std::string& offset, const std::string& site) {
        return loc(site) + loc("2 10 3", site) + "st.shared.u32 [%r10+" + offset + "], %r6;\n" +
               loc("2 12 3", site) + "ld.shared.u32 %r5, [%r11+" + offset + "];\n" + keep;
    };
    const auto calls = run_lines(tile, addresses(64) + inlined("0", "1 20 3") + inlined("256", "1 21 3"));
    REQUIRE(calls.diagnostics.size() == 2);
    CHECK(calls.diagnostics.front().more == 0);
    CHECK(chain(calls, "write by", 0) == "helper.cuh:10 < program.cu:20");
    CHECK(chain(calls, "write by", 1) == "helper.cuh:10 < program.cu:21");
}

TEST_CASE("a finding whose callers are not all known is one like those that begin in the same way") {
    const auto inner = [](const std::string& offset) {
        return "st.shared.u32 [%r10+" + offset + "], %r6;\n" + loc("1 90 3") + "ld.shared.u32 %r5, [%r11+" +
               offset + "];\n" + keep;
    };
    const std::string result = loc("1 11 3") + loc("2 20 9", "1 11 3") + loc("2 5 1", "2 20 9") + inner("0") +
                               loc("1 10 3") + loc("2 20 9", "1 10 3") + loc("2 6 1", "2 20 9") +
                               "mov.u32 %r20, 1;\n" + loc("1 15 3") + loc("2 5 1", "2 20 9") + inner("256");
    const auto both = run_lines(tile, addresses(64) + result);
    REQUIRE(both.diagnostics.size() == 1);
    CHECK(chain(both, "write by") == "helper.cuh:5 < helper.cuh:20 < program.cu:11");
    CHECK(both.diagnostics.front().more == 1);
}

TEST_CASE("a module without line information is known as such") {
    const auto result =
        run_text(kernel(2, tile, addresses(64) + store + load + "st.global.u32 [%rd11], %r5;\n"));
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(result.diagnostics.front().lines_of_ptx);
    CHECK(result.diagnostics.front().locations.front().file == "PTX");
}

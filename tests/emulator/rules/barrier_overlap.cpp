// Two uses of one numbered barrier of the block.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

/// Two groups of a warp each, of which each turns its words round, with barriers of these numbers.
Case two_groups(const std::string& first, const std::string& second) {
    const auto group = [](const std::string& number, const std::string& mark) {
        const std::string meet = "bar.sync " + number + ", 32;" + mark + "\n";
        return "st.shared.u32 [%r10], %r6;\n" + meet +
               "xor.b32 %r12, %r10, 4;\nld.shared.u32 %r5, [%r12];\n"
               "st.global.u32 [%rd11], %r5;\n" +
               "bar.sync " + number + ", 32;\n" + "st.shared.u32 [%r10], %r5;\n";
    };
    return {tile, addresses(64) + "setp.lt.u32 %p1, %r0, 32;\n@!%p1 bra SECOND;\n" + group(first, "") +
                      "bra DONE;\nSECOND:\n" + group(second, "") + "DONE:\n"};
}

/// Warp 0 fills the tile `rounds` times and hands it over at barrier 1; warp 1 reads it and hands it back at
/// barrier 2, for which warp 0 waits in every round but the first `skipped`.
Case hand_over(unsigned rounds, unsigned skipped) {
    std::string writer, reader;
    for (unsigned round = 0; round < rounds; ++round) {
        const std::string mark = skipped > 1 && round <= 1 ? "//!" : "";
        writer += (round >= skipped ? "bar.sync 2, 64;\n" : "") + std::string("add.u32 %r6, %r6, 1;\n") +
                  "st.shared.u32 [%r10], %r6;\nbar.arrive 1, 64;" + mark + "\n";
        reader += "bar.sync 1, 64;\nld.shared.u32 %r5, [%r12];\nadd.u32 %r14, %r14, %r5;\n";
        reader += round + skipped < rounds ? "bar.arrive 2, 64;\n" : "";
    }
    return {tile,
            addresses(64) +
                "mov.u32 %r14, 0;\nsub.u32 %r12, %r10, 128;\nsetp.lt.u32 %p1, %r0, 32;\n@!%p1 bra READ;\n" +
                writer + "bra DONE;\nREAD:\n" + reader + "st.global.u32 [%rd11], %r14;\nDONE:\n"};
}

} // namespace

TEST_CASE("barrier-overlap: two groups meet at one barrier number") {
    require_silent(two_groups("1", "2"));
    const Case same = two_groups("1", "1");
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const emu::LaunchOutcome outcome = run(same, order);
        REQUIRE_FALSE(outcome.result.diagnostics.empty());
        const emu::Diagnostic& d = outcome.result.diagnostics.front();
        REQUIRE(d.name() == "barrier-overlap");
        REQUIRE(d.message.find("barrier 1 can be completed by threads of two groups") != std::string::npos);
        REQUIRE(d.advice.find("a barrier number of its own") != std::string::npos);
    }
}

TEST_CASE("one group may use the barrier of another behind a barrier of both") {
    const std::string use = "bar.sync 1, 32;\n";
    const std::string body = addresses(64) + "setp.lt.u32 %p1, %r0, 32;\n@!%p1 bra MEET;\n" + use + use +
                             "MEET:\nbar.sync 0;\n@%p1 bra DONE;\n" + use + use + "DONE:\n";
    require_silent({tile, body});
    // Warps that form other groups from time to time, with a barrier of all between.
    require_silent({tile, addresses(64) + "bar.sync 1, 64;\n" + body});
}

TEST_CASE("barrier-overlap: a thread arrives twice and has not waited between") {
    require_silent(hand_over(5, 1));
    const Case wrong = hand_over(5, 2);
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const emu::LaunchOutcome outcome = run(wrong, order);
        REQUIRE_FALSE(outcome.result.diagnostics.empty());
        const emu::Diagnostic& d = outcome.result.diagnostics.front();
        REQUIRE(d.name() == "barrier-overlap");
        REQUIRE(d.message.find("arrived at barrier 1 twice") != std::string::npos);
        REQUIRE(d.advice.find("bar.sync") != std::string::npos);
        std::set<unsigned> lines;
        for (const emu::SourceLine& line : d.locations)
            lines.insert(line.line);
        REQUIRE(lines == marked_lines(wrong.text()));
    }
}

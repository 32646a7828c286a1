/// \file
/// mbarrier objects: arrivals, tx-count, phases, tokens and parity (PTX ISA 9.7.13.15).

#include "machine/async_support.hpp"

using namespace async_test;

namespace {

const std::string bar = ".shared .align 8 .b64 bar;";

/// Runs `body` with `threads` threads; %rd0 points to 64 output words.
std::vector<std::uint32_t> words(const Order& order, const std::string& body, std::uint32_t threads = 1) {
    Machine machine(order);
    const auto out = machine.buffer(std::vector<std::uint32_t>(64, 99));
    require_clean(machine.run(kernel(1, bar, body), {out}, threads));
    return machine.read<std::uint32_t>(out, 64);
}

/// PTX that stores predicate %p1 as 0 or 1 into output word `index`.
std::string store_predicate(unsigned index) {
    return "selp.u32 %r9, 1, 0, %p1; st.global.u32 [%rd0+" + std::to_string(4 * index) + "], %r9;\n";
}

void finding(const std::string& body, const std::string& name, const std::string& text = {},
             std::uint32_t threads = 1) {
    INFO(body);
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        Machine machine(order);
        const auto out = machine.buffer(std::vector<std::uint32_t>(64, 99));
        require_finding(machine.run(kernel(1, bar, body), {out}, threads), name, text);
    }
}

/// Polls and sleeps for a quarter of the time that has passed, as libraries do; `limit` sets %p2 while it
/// goes on.
std::string poll_with_back_off(const std::string& limit) {
    return "mbarrier.init.shared.b64 [bar], 1;\nmov.u64 %rd8, %globaltimer;\nmov.u32 %r4, 0;\nL:\n"
           "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@%p1 bra D;\n"
           "mov.u64 %rd9, %globaltimer;\nsub.u64 %rd10, %rd9, %rd8;\nshr.u64 %rd11, %rd10, 2;\n"
           "min.u64 %rd11, %rd11, 1000000;\ncvt.u32.u64 %r5, %rd11;\nnanosleep.u32 %r5;\n"
           "add.u32 %r4, %r4, 1;\n" +
           limit + "@%p2 bra L;\nD:\n" + store_predicate(0);
}

} // namespace

TEST_CASE("A fresh barrier passes parity 1 at once and parity 0 after its first phase") {
    const std::string body = "mbarrier.init.shared.b64 [bar], 1;\n"
                             "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;" +
                             store_predicate(0) + "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1;" +
                             store_predicate(1) + "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;" +
                             store_predicate(2) + "mbarrier.arrive.shared.b64 _, [bar];" +
                             "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p1, [bar], 0;" +
                             store_predicate(3) + "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;" +
                             store_predicate(4);
    for (const Order& order : all_orders()) {
        const auto out = words(order, body);
        REQUIRE(std::vector<std::uint32_t>(out.begin(), out.begin() + 5) ==
                std::vector<std::uint32_t>{1, 1, 0, 1, 0});
    }
}

TEST_CASE("Tokens tell the phase, and their pending count is the one before the arrival") {
    const std::string body = R"(
mbarrier.init.shared.b64 [bar], 3;
mbarrier.arrive.shared.b64 %rd8, [bar];
mbarrier.arrive.noComplete.shared.b64 %rd9, [bar], 1;
mbarrier.pending_count.b64 %r1, %rd8; st.global.u32 [%rd0], %r1;
mbarrier.pending_count.b64 %r1, %rd9; st.global.u32 [%rd0+4], %r1;
mbarrier.test_wait.shared.b64 %p1, [bar], %rd8;
)" + store_predicate(2) +
                             "mbarrier.arrive.release.cta.shared::cta.b64 %rd10, [bar], 1;"
                             "mbarrier.test_wait.shared.b64 %p1, [bar], %rd8;" +
                             store_predicate(3) +
                             "mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p1, [bar], %rd10, 1000;" +
                             store_predicate(4) +
                             "mbarrier.arrive.shared.b64 %rd11, [bar];"
                             "mbarrier.test_wait.shared.b64 %p1, [bar], %rd11;" +
                             store_predicate(5);
    const auto out = words(all_orders().front(), body);
    REQUIRE(std::vector<std::uint32_t>(out.begin(), out.begin() + 6) ==
            std::vector<std::uint32_t>{3, 2, 0, 1, 1, 0});
}

TEST_CASE("A phase ends when arrivals and bytes are both complete, in any order") {
    const std::string test = "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;";
    const std::string body =
        "mbarrier.init.shared.b64 [bar], 1;\n"
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32;" +
        test + store_predicate(0) + "mbarrier.complete_tx.shared.b64 [bar], 16;" + test + store_predicate(1) +
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;" + test + store_predicate(2) +
        "mov.u32 %r4, 80; mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], %r4;" + test +
        store_predicate(3) +
        // Completion before expectation: the tx-count is negative in between.
        "mbarrier.complete_tx.shared.b64 [bar], 48;"
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd8, [bar], 48;"
        "mbarrier.test_wait.shared.b64 %p1, [bar], %rd8;" +
        store_predicate(4);
    const auto out = words(all_orders().front(), body);
    REQUIRE(std::vector<std::uint32_t>(out.begin(), out.begin() + 5) ==
            std::vector<std::uint32_t>{0, 0, 0, 1, 1});
}

TEST_CASE("Generic addresses, offsets and arrive_drop") {
    const std::string shared = ".shared .align 8 .b64 bars[4];";
    const std::string body = R"(
mov.u64 %rd8, bars; cvta.shared.u64 %rd9, %rd8;
mbarrier.init.b64 [%rd9+16], 2;
mbarrier.arrive_drop.b64 %rd10, [%rd9+16];
mbarrier.arrive.b64 %rd11, [%rd9+16];
mbarrier.test_wait.b64 %p1, [%rd9+16], %rd11;
)" + store_predicate(0) + // From now on one arrival completes a phase.
                             "mbarrier.arrive.shared.b64 %rd11, [bars+16];"
                             "mbarrier.test_wait.shared.b64 %p1, [bars+16], %rd11;" +
                             store_predicate(1) +
                             "mbarrier.arrive_drop.expect_tx.relaxed.cta.shared.b64 %rd12, [bars+16], 16;"
                             "mbarrier.complete_tx.b64 [%rd9+16], 16;"
                             "mbarrier.test_wait.b64 %p1, [%rd9+16], %rd12;" +
                             store_predicate(2) +
                             "mbarrier.inval.shared.b64 [bars+16]; mbarrier.init.shared.b64 [bars+16], 5;";
    Machine machine;
    const auto out = machine.buffer(std::vector<std::uint32_t>(64, 99));
    require_clean(machine.run(kernel(1, shared, body), {out}, 1));
    REQUIRE(machine.read<std::uint32_t>(out, 3) == std::vector<std::uint32_t>{1, 1, 1});
}

TEST_CASE("Threads wait for the last arrival, phase after phase") {
    // 64 threads pass 8 phases; thread 0 counts in shared memory between arrival and wait of all others.
    const std::string shared = bar + ".shared .u32 counter;";
    const std::string body = R"(
setp.eq.u32 %p2, %r0, 0;
@%p2 mbarrier.init.shared.b64 [bar], 64;
@%p2 st.shared.u32 [counter], 0;
bar.sync 0;
mov.u32 %r3, 0;
LOOP:
@%p2 atom.shared.add.u32 %r6, [counter], 1;
mbarrier.arrive.shared.b64 %rd8, [bar];
and.b32 %r4, %r3, 1;
)" + wait_parity("bar", "%r4", "W") +
                             R"(
add.u32 %r3, %r3, 1;
ld.shared.u32 %r5, [counter];
mul.wide.u32 %rd9, %r0, 4; add.u64 %rd9, %rd9, %rd0;
setp.ge.u32 %p3, %r5, %r3;
@!%p3 st.global.u32 [%rd9], %r5;
setp.lt.u32 %p1, %r3, 8;
@%p1 bra LOOP;
)";
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        Machine machine(order);
        const auto out = machine.buffer(std::vector<std::uint32_t>(64, 99));
        require_clean(machine.run(kernel(1, shared, body), {out}, 64));
        REQUIRE(machine.read<std::uint32_t>(out, 64) == std::vector<std::uint32_t>(64, 99));
    }
}

TEST_CASE("try_wait gives up after a time, a single one is no deadlock") {
    const std::string body = "mbarrier.init.shared.b64 [bar], 1;\n"
                             "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0, 100;" +
                             store_predicate(0);
    for (const Order& order : all_orders())
        REQUIRE(words(order, body)[0] == 0);
}

TEST_CASE("A wait nobody ends is a deadlock") {
    finding("mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 _, [bar];" +
                wait_parity("bar", "0", "W"),
            "deadlock", "bar");
    finding("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\nL:\n"
            "mbarrier.test_wait.parity.shared.b64 %p7, [bar], 0;\n@!%p7 bra L;",
            "deadlock");
}

TEST_CASE("A deadlock at a phase in which nobody arrives names the parity that would have passed") {
    const std::string init = "mbarrier.init.shared.b64 [bar], 1;\n";
    const std::string arrive = "mbarrier.arrive.shared.b64 _, [bar];\n";
    const auto deadlock = [](const std::string& body) {
        Machine machine;
        const auto outcome = machine.run(kernel(1, bar, body), {0}, 1);
        require_finding(outcome, "deadlock", "bar");
        return outcome.result.diagnostics.front();
    };
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    // Parity 1 is that of phase 1, which nobody ends.
    emu::Diagnostic d = deadlock(init + arrive + wait_parity("bar", "1", "W"));
    REQUIRE(has(d.message, "phase 1: 1 of 1 arrival missing"));
    REQUIRE(has(d.message, "phase 0 has ended, and a wait for its parity, 0, would have returned at once"));
    REQUIRE(has(d.advice, "its parity must be 0"));
    // A fresh barrier, by a wait and by a poll.
    for (const std::string& wait : {wait_parity("bar", "0", "W"),
                                    std::string("L:\nmbarrier.test_wait.parity.shared.b64 %p7, [bar], 0;\n"
                                                "@!%p7 bra L;\n")}) {
        d = deadlock(init + wait);
        REQUIRE(has(d.message, "phase 0: 1 of 1 arrival missing"));
        REQUIRE(has(d.message, "a wait for parity 1 would have returned at once"));
        REQUIRE(has(d.advice, "begins with parity 1"));
    }
    // expect_tx is no arrival; bytes without expect_tx and arrival.
    d = deadlock(init +
                 "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32;\n"
                 "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 32;\n" +
                 wait_parity("bar", "0", "W"));
    REQUIRE(has(d.advice, "expect_tx is no arrival"));
    d = deadlock(init + "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 32;\n" +
                 wait_parity("bar", "0", "W"));
    REQUIRE(has(d.advice, "32 bytes that nobody announced"));
    // The same programs with the right parity or arrival end.
    Machine machine;
    require_clean(
        machine.run(kernel(1, bar,
                           init + wait_parity("bar", "1", "V") + arrive + wait_parity("bar", "0", "W") +
                               arrive + wait_parity("bar", "1", "X")),
                    {0}, 1));
}

TEST_CASE("A phase that got more bytes than were announced is told so") {
    const std::string body = "mbarrier.init.shared.b64 [bar], 1;\n"
                             "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 32;\n"
                             "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n" +
                             wait_parity("bar", "0", "W");
    Machine machine;
    const auto outcome = machine.run(kernel(1, bar, body), {0}, 1);
    require_finding(outcome, "deadlock", "16 expected, 32 arrived");
    REQUIRE(outcome.result.diagnostics.front().advice.find("16 bytes more than expect_tx announced") !=
            std::string::npos);
}

TEST_CASE("Mistakes with mbarriers are named") {
    const std::string init = "mbarrier.init.shared.b64 [bar], 2;\n";
    finding("mbarrier.arrive.shared.b64 _, [bar];", "barrier-uninitialised", "bar");
    finding("mbarrier.expect_tx.shared.b64 [bar], 16;", "barrier-uninitialised", "bar");
    finding(wait_parity("bar", "0", "W"), "barrier-uninitialised", "bar");
    finding(init + "mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];",
            "barrier-uninitialised", "bar");
    finding(init + "mbarrier.arrive.shared.b64 _, [bar];" + init, "barrier-reinit-in-use", "bar");
    finding(init + "mbarrier.expect_tx.shared.b64 [bar], 16;" + init, "barrier-reinit-in-use", "16 bytes");
    finding(init + "mbarrier.arrive.shared::cta.b64 _, [bar], 3;", "arrival-count-mismatch",
            "expects only 2");
    finding(init + "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; mbarrier.arrive.shared.b64 _, [bar];"
                   "mbarrier.arrive.shared.b64 _, [bar];",
            "arrival-count-mismatch", "16 bytes");
    finding(init + "mbarrier.arrive.noComplete.shared.b64 %rd8, [bar], 2;", "arrival-count-mismatch",
            "noComplete");
    finding("mbarrier.init.shared.b64 [bar], 0;", "arrival-count-mismatch", "between 1");
    finding(init + "mov.u32 %r4, 1048576; mbarrier.expect_tx.shared.b64 [bar], %r4;", "tx-count-mismatch",
            "1048576");
    finding("mbarrier.init.shared.b64 [bar+4], 1;", "misaligned", "mbarrier");
    finding("mbarrier.init.shared.b64 [bar+1048576], 1;", "out-of-bounds", "mbarrier");
    finding("mbarrier.init.b64 [%rd0], 1;", "out-of-bounds", "not a shared memory address");
    finding("mov.u32 %r4, 16777216; mbarrier.arrive.shared::cluster.b64 _, [%r4+1024];", "rank-out-of-range",
            "rank 1");
}

TEST_CASE("A wait for a parity other than 0 and 1 is named") {
    // PTX ISA, 'mbarrier.test_wait, mbarrier.try_wait': the valid values of phaseParity are 0 and 1.
    const std::string phases = "mbarrier.init.shared.b64 [bar], 1;\n"
                               "mbarrier.arrive.shared.b64 _, [bar];\nmbarrier.arrive.shared.b64 _, [bar];\n";
    // Of two phases the second has ended, whose parity is 1: these would pass or fail by their lowest bit.
    for (const std::string parity : {"2", "3", "7", "-1"})
        for (const std::string& wait : {std::string("try_wait"), std::string("test_wait")})
            finding(phases + "mov.u32 %r4, " + parity + ";\nmbarrier." + wait +
                        ".parity.shared.b64 %p1, [bar], %r4;" + store_predicate(0),
                    "invalid-size", "only 0 and 1");
    for (const Order& order : all_orders()) {
        REQUIRE(words(order, phases + "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;" +
                                 store_predicate(0))[0] == 1);
        REQUIRE(words(order, phases + "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;" +
                                 store_predicate(0))[0] == 0);
    }
}

TEST_CASE("A valid barrier at rest may be initialised again") {
    const std::string twice = "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.shared.b64 _, [bar];\n"
                              "mbarrier.init.shared.b64 [bar], 1;\n"
                              "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;" +
                              store_predicate(0);
    REQUIRE(words(all_orders().front(), twice)[0] == 1);
}

TEST_CASE("mbarrier.inval while others wait for the last phase does them no harm") {
    // The last thread comes last and goes on at once; the first warp reads its answer only then.
    const std::string meet = "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p2, %r0, 63;\n"
                             "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n"
                             "mbarrier.arrive.shared.b64 _, [bar];\n" +
                             wait_parity("bar", "0", "W");
    const std::string end = "mov.u32 %r9, 1;\n@%p0 st.global.u32 [%rd0], %r9;\n";
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        REQUIRE(words(order, meet + "@%p2 mbarrier.inval.shared.b64 [bar];\n" + end, 64)[0] == 1);
        REQUIRE(words(order, meet + "@%p2 mbarrier.init.shared.b64 [bar], 7;\n" + end, 64)[0] == 1);
        // A second time it finds nothing to do.
        REQUIRE(words(order,
                      meet +
                          "@%p2 mbarrier.inval.shared.b64 [bar];\nbar.sync 0;\n"
                          "@%p0 mbarrier.inval.shared.b64 [bar];\n" +
                          end,
                      64)[0] == 1);
    }
    finding(
        meet +
            "@%p2 mbarrier.inval.shared.b64 [bar];\nbar.sync 0;\n@%p0 mbarrier.arrive.shared.b64 _, [bar];\n",
        "barrier-uninitialised", "invalidated", 64);
}

TEST_CASE("An arrival behind cp.async comes even if its thread invalidates the barrier meanwhile") {
    const std::string body = ".shared .align 16 .b8 tile[16];\nsetp.eq.u32 %p0, %r0, 0;\n"
                             "@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n@!%p0 bra W;\n"
                             "cp.async.ca.shared.global [tile], [%rd0], 16;\n"
                             "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
                             "mbarrier.inval.shared.b64 [bar];\nbra END;\n" +
                             wait_parity("bar", "0", "W") + "END:\n";
    for (const Order& order : all_orders())
        REQUIRE(words(order, body, 64)[0] == 99);
}

TEST_CASE("A poll with a time limit ends") {
    const std::string body = "mbarrier.init.shared.b64 [bar], 1;\nmov.u64 %rd8, %globaltimer;\nL:\n"
                             "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@%p1 bra D;\n"
                             "mov.u64 %rd9, %globaltimer;\nsub.u64 %rd10, %rd9, %rd8;\n"
                             "setp.lt.u64 %p2, %rd10, 250000000;\n@%p2 bra L;\nD:\n" +
                             store_predicate(0);
    for (const Order& order : all_orders())
        REQUIRE(words(order, body)[0] == 0);
}

TEST_CASE("A poll with back-off that nothing can end is told soon, and one with a limit comes to its end") {
    for (const Order& order : all_orders()) {
        Machine machine(order);
        const auto out = machine.buffer(std::vector<std::uint32_t>(64, 99));
        const auto endless = machine.run(
            kernel(1, bar, poll_with_back_off("mov.u32 %r4, 0;\nsetp.eq.u32 %p2, %r4, 0;\n")), {out}, 1);
        INFO(name_of(order));
        require_finding(endless, "deadlock");
        REQUIRE(endless.result.instructions < 200'000);
        REQUIRE(words(order, poll_with_back_off("setp.lt.u64 %p2, %rd10, 3600000000000;\n"))[0] == 0);
        REQUIRE(words(order, poll_with_back_off("setp.lt.u32 %p2, %r4, 20000;\n"))[0] == 0);
    }
}

TEST_CASE("Forms of mbarrier that ptxas refuses are refused") {
    for (const std::string wrong :
         {"mbarrier.arrive.shared::cluster.b64 %rd8, [bar];", "mbarrier.init.shared::cluster.b64 [bar], 1;",
          "mbarrier.try_wait.parity.shared::cluster.b64 %p1, [bar], 0;",
          "mbarrier.arrive.expect_tx.shared.b64 _, [bar];",
          "mbarrier.arrive.acquire.cta.shared.b64 _, [bar];",
          "mbarrier.test_wait.release.cta.shared.b64 %p1, [bar], %rd8;"}) {
        Machine machine;
        const auto outcome = machine.run(kernel(1, bar, wrong), {0}, 1);
        INFO(wrong);
        REQUIRE(outcome.error == emu::LaunchError::unsupported);
        REQUIRE(outcome.message.find("mbarrier") != std::string::npos);
    }
}

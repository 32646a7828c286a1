// Deadlocks in which several threads wait for different things: the report names the wait from which the
// others follow, and what mends it. Names of roles: a producer fills stages and arrives at `full`, consumers
// empty them and arrive at `empty`.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <future>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string rings = ".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n"
                          ".shared .align 8 .b64 go;\n";

std::string init(const std::string& barrier, int count) {
    return "@%p0 mbarrier.init.shared.b64 [" + barrier + "], " + std::to_string(count) + ";\n";
}

std::string arrive(const std::string& barrier, const std::string& guard = "") {
    return guard + " mbarrier.arrive.shared.b64 _, [" + barrier + "];\n";
}

std::string drop(const std::string& barrier, const std::string& guard) {
    return guard + " mbarrier.arrive_drop.shared.b64 _, [" + barrier + "];\n";
}

/// The producer, thread 32, and the 32 consumers; the rest of the producer's warp ends. `releases` is the
/// count of `empty`, `fulls` that of `full`. %p3: lane 0; %p4: lane 20 and those behind it.
Case two_roles(int releases, const std::string& producer, const std::string& consumer, int starts = 1,
               int fulls = 1) {
    return {rings, "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 32;\nsetp.gt.u32 %p2, %r0, 32;\n"
                   "and.b32 %r3, %r0, 31;\nsetp.eq.u32 %p3, %r3, 0;\nsetp.ge.u32 %p4, %r3, 20;\n" +
                       init("full", fulls) + init("empty", releases) + init("go", starts) +
                       "bar.sync 0;\n@%p2 exit;\n@%p1 bra PRODUCE;\n" + consumer + "bra DONE;\nPRODUCE:\n" +
                       producer + "DONE:\n"};
}

struct Words {
    std::string root; ///< In the first wait of the list.
    std::string message;
    std::string advice;
    std::string never; ///< Stands neither in the message nor in the advice.
};

/// Every order ends in a deadlock with these words.
void require_root(const Case& c, const Words& words) {
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const emu::LaunchOutcome outcome = run(c, order);
        REQUIRE(outcome.result.diagnostics.size() == 1);
        const emu::Diagnostic& d = outcome.result.diagnostics.front();
        INFO(emu::format(d));
        REQUIRE(d.name() == "deadlock");
        const std::size_t first = d.message.find('\n');
        const std::string root = d.message.substr(first, d.message.find('\n', first + 1) - first);
        CHECK_THAT(root, ContainsSubstring(words.root));
        CHECK_THAT(d.message, ContainsSubstring(words.message));
        CHECK_THAT(d.advice, ContainsSubstring(words.advice));
        if (!words.never.empty())
            CHECK_THAT(d.message + d.advice, !ContainsSubstring(words.never));
    }
}

/// Two rounds of a ring of one stage, with what consumers do behind each wait.
Case two_rounds(int releases, const std::string& first, const std::string& second) {
    return two_roles(releases,
                     wait_parity("empty", "1", "P0") + arrive("full") + wait_parity("empty", "0", "P1") +
                         arrive("full") + wait_parity("empty", "1", "P2"),
                     wait_parity("full", "0", "C0") + first + wait_parity("full", "1", "C1") + second);
}

const std::string producer_at = "thread (32,0,0) of block (0,0,0): at mbarrier empty, ";
const std::string consumers_at = "thread (0,0,0) of block (0,0,0) and 31 more: at mbarrier full, ";

} // namespace

TEST_CASE("deadlock: a release of a round is missing, and parity is not blamed") {
    const std::string release = arrive("empty");
    require_silent(two_rounds(32, release, release));
    const std::string third = wait_parity("full", "0", "C2");
    require_root(two_rounds(32, release, third),
                 {producer_at + "phase 1", "those who arrived in phase 0 have not arrived in phase 1",
                  "For empty the release (arrive) of a round is missing: thread (0,0,0) of block (0,0,0) and "
                  "31 more must arrive in phase 1 too",
                  "parity"});
    // Of some threads: the count is right, for they have all arrived in the first round.
    require_root(
        two_rounds(32, release, arrive("empty", "@!%p4") + third),
        {producer_at + "phase 1: 12 of 32 arrivals missing", "full, phase 2",
         "the release (arrive) of a round is missing: thread (20,0,0) of block (0,0,0) and 11 more must "
         "arrive in phase 1 too",
         "initialise the mbarrier"});
    // The first one: the producer has begun with parity 1, as it should.
    require_root(two_rounds(32, "", ""), {producer_at + "phase 0", "the waiter has passed it with parity 1",
                                          "the release (arrive) of a round is missing", "begins with"});
}

TEST_CASE("deadlock: arrivals of one round that end two phases") {
    const std::string release = "bar.warp.sync 0xffffffff;\n" + arrive("empty", "@%p3");
    require_silent(two_rounds(1, release, release));
    const std::string two = "and.b32 %r4, %r0, 15;\nsetp.eq.u32 %p5, %r4, 0;\n" + arrive("empty", "@%p5");
    require_root(two_rounds(1, two, two),
                 {producer_at + "phase 2",
                  "2 arrivals at empty ended two phases, of 1 arrival each, while the waiter waited for one",
                  "must equal the count given to mbarrier.init: it is 1, and 2 arrive in a round", "parity"});
    require_silent(two_rounds(2, two, two));
}

TEST_CASE("deadlock: one thread arrives twice in a round") {
    const auto program = [](const std::string& parity) {
        return two_roles(32, arrive("full") + arrive("full") + arrive("go") + wait_parity("empty", "0", "P"),
                         wait_parity("go", "0", "G") + wait_parity("full", parity, "C") + arrive("empty"));
    };
    require_root(program("0"), {consumers_at + "phase 2",
                                "thread (32,0,0) of block (0,0,0) arrived twice at full in one round",
                                "or initialise the mbarrier with 2", "parity"});
    require_silent(program("1"));
}

TEST_CASE("deadlock: an arrival that does not wait for those who read") {
    const auto program = [](const std::string& wait, const std::string& consumer) {
        return two_roles(32,
                         "mov.u32 %r5, 0;\nP:\nxor.b32 %r6, %r5, 1;\n" + wait + arrive("full") +
                             "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p5, %r5, 2;\n@%p5 bra P;\n" + arrive("go"),
                         consumer);
    };
    const std::string rounds =
        wait_parity("full", "0", "C0") + arrive("empty") + wait_parity("full", "1", "C1") + arrive("empty");
    require_root(program("", wait_parity("go", "0", "G") + rounds),
                 {consumers_at + "phase 2",
                  "full: 2 phases ended that nobody had waited for; thread (32,0,0) of block (0,0,0) arrived",
                  "must first wait until those who read it have arrived", "its parity must be"});
    require_silent(program(wait_parity("empty", "%r6", "W"), rounds));
}

TEST_CASE("deadlock: a wait that returned at once for a phase that had been seen") {
    const auto program = [](const std::string& producer, const std::string& second) {
        return two_roles(32,
                         wait_parity("empty", "1", "P0") + arrive("full") + producer +
                             wait_parity("go", "0", "G") + wait_parity("empty", "1", "P2"),
                         wait_parity("full", "0", "C0") + arrive("empty") +
                             wait_parity("full", second, "C1") + arrive("empty") + arrive("go"),
                         32);
    };
    require_silent(program(wait_parity("empty", "0", "P1") + arrive("full"), "1"));
    const Case wrong = two_roles(32,
                                 wait_parity("empty", "1", "P0") + arrive("full") +
                                     wait_parity("go", "0", "G") + wait_parity("empty", "0", "P1"),
                                 wait_parity("full", "0", "C0") + arrive("empty") +
                                     wait_parity("full", "0", "C1") + arrive("empty") + arrive("go"),
                                 32);
    require_root(wrong, {producer_at + "phase 2", "2 phases ended that the waiter had not waited for",
                         "Check the parity of the wait of thread (0,0,0) of block (0,0,0) and 31 more",
                         "count given"});
}

TEST_CASE("deadlock: the waiter's own parity is out of step") {
    const auto program = [](const std::string& parity) {
        return two_roles(32, arrive("full") + arrive("go") + wait_parity("empty", "0", "P"),
                         wait_parity("go", "0", "G") + wait_parity("full", parity, "C") + arrive("empty"));
    };
    require_root(program("1"),
                 {consumers_at + "phase 1",
                  "phase 0 has ended, and a wait for its parity, 0, would have returned at once",
                  "its parity must be 0", "release (arrive)"});
    require_silent(program("0"));
}

TEST_CASE("deadlock: a wait may be meant for the phase that lacks an arrival, and then its parity is right") {
    const auto program = [](const std::string& second) {
        const std::string plain = arrive("full") + arrive("full"); // Phase 0, which brings nothing.
        return two_roles(32, plain + arrive("full") + second + arrive("go") + wait_parity("empty", "0", "P"),
                         wait_parity("go", "0", "G") + wait_parity("full", "1", "C") + arrive("empty"), 1, 2);
    };
    require_root(program(""),
                 {consumers_at + "phase 1: 1 of 2 arrivals missing", "1 of 2 arrivals missing",
                  "If the wait is meant for phase 1, its parity is right, and 1 of 2 arrivals is "
                  "missing there",
                  "no thread is left"});
    require_silent(program(arrive("full")));
}

TEST_CASE("deadlock: threads that the count includes have ended") {
    const std::string leave = "@%p4 exit;\n", release = arrive("empty");
    const auto program = [&](const std::string& before, const std::string& between) {
        return two_roles(32,
                         arrive("full") + wait_parity("empty", "0", "P0") + arrive("full") +
                             wait_parity("empty", "1", "P1"),
                         before + wait_parity("full", "0", "C0") + between + wait_parity("full", "1", "C1") +
                             release);
    };
    require_root(program(leave, release),
                 {producer_at + "phase 0: 12 of 32 arrivals missing",
                  "should come from thread (20,0,0) of block (0,0,0) and 11 more: they have ended without "
                  "arriving",
                  "arrive_and_drop (mbarrier.arrive_drop) at each such mbarrier before they return. A "
                  "cuda::pipeline has no call for that: its threads stay",
                  "parity"});
    require_silent(program(drop("empty", "@%p4") + leave, release));
    require_root(program("", release + leave),
                 {producer_at + "phase 1: 12 of 32 arrivals missing",
                  "thread (20,0,0) of block (0,0,0) and 11 more arrived in phases before this one and have "
                  "ended",
                  "arrive for the last time with arrive_and_drop", "parity"});
    require_silent(program("", drop("empty", "@%p4") + leave + release));
}

TEST_CASE("deadlock: one lane arrives where the count is that of the warp") {
    const std::string release = "bar.warp.sync 0xffffffff;\n" + arrive("empty", "@%p3");
    require_root(two_rounds(32, release, release),
                 {producer_at + "phase 0: 31 of 32 arrivals missing",
                  "Only 1 arrival comes to empty in a phase, from thread (0,0,0) of block (0,0,0)",
                  "If one thread arrives per phase, initialise the mbarrier with 1, not with 32", "parity"});
}

TEST_CASE("deadlock: those who arrive have ended") {
    const auto program = [](const std::string& more) {
        return two_roles(32, arrive("full") + more,
                         wait_parity("full", "0", "C0") + wait_parity("full", "1", "C1"));
    };
    require_root(program(""), {consumers_at + "phase 1",
                               "thread (32,0,0) of block (0,0,0), who arrived at it before, has ended",
                               "must go through as many rounds", "parity"});
    // At an mbarrier that has had no arrival yet, for which the same loop waits.
    const std::string loop = "mov.u32 %r5, full;\nC:\nmbarrier.try_wait.parity.shared.b64 %p7, [%r5], 0;\n"
                             "@!%p7 bra C;\nsetp.ne.u32 %p5, %r5, %r6;\nmov.u32 %r5, %r6;\n@%p5 bra C;\n";
    require_root(
        two_roles(1, arrive("full"), "mov.u32 %r6, empty;\n" + loop),
        {"thread (0,0,0) of block (0,0,0) and 31 more: at mbarrier empty, phase 0",
         "thread (32,0,0) of block (0,0,0), who arrived at the other mbarriers of the ring, has ended",
         "must go through as many rounds", "parity"});
    require_silent(two_roles(1, arrive("full") + arrive("empty"), "mov.u32 %r6, empty;\n" + loop));
}

TEST_CASE("deadlock: __syncthreads() among threads of one role") {
    const auto program = [](const std::string& barrier) {
        return two_rounds(32, barrier + arrive("empty"), arrive("empty"));
    };
    require_root(program("bar.sync 0;\n"),
                 {"thread (0,0,0) of block (0,0,0) and 31 more: at block barrier 0: 32 of 33 threads",
                  "thread (32,0,0) of block (0,0,0) never reaches the barrier of",
                  "meet at a named barrier (bar.sync ID, 32)", "must reach the same __syncthreads()"});
    require_silent(program("bar.sync 1, 32;\n"));
    // No arrival follows behind the barrier: it is not what holds the producer up.
    require_root(two_rounds(32, arrive("empty"), "bar.sync 0;\n"),
                 {producer_at + "phase 1", "block barrier 0: 32 of 33", "the release (arrive) of a round",
                  "named barrier"});
}

TEST_CASE("deadlock: a shuffle in the branch of one lane is the root, whoever waits for its warp") {
    const std::string shuffle = "shfl.sync.idx.b32 %r5, %r0, 0, 31, 0xffffffff;\n";
    const std::string branch = "@!%p3 bra OUT;\n" + shuffle + "OUT:\nbar.warp.sync 0xffffffff;\n";
    require_root(two_rounds(32, branch + arrive("empty"), arrive("empty")),
                 {"thread (0,0,0) of block (0,0,0): at a warp-synchronous instruction with mask 0xffffffff",
                  "Of the lanes that the mask names only thread (0,0,0) of block (0,0,0) came to",
                  "All lanes of the mask must execute it: move it out of the branch", "its parity"});
    require_silent(two_rounds(32, shuffle + arrive("empty"), arrive("empty")));
}

TEST_CASE("deadlock: two barriers that wait for each other's threads") {
    const auto program = [](const std::string& first_turn) {
        return Case{"", "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra SECOND;\nbar.sync 1, 64;\nbar.arrive 2, 64;\n"
                        "bra DONE;\nSECOND:\n" +
                            first_turn + "bar.sync 2, 64;\n" +
                            (first_turn.empty() ? "bar.arrive 1, 64;\n" : "") + "DONE:\n"};
    };
    require_root(program(""), {"at block barrier 1: 32 of 64 threads have arrived",
                               "waits for the half that is at the other one",
                               "must bar.arrive before its "
                               "first wait",
                               "__syncthreads"});
    require_silent(program("bar.arrive 1, 64;\n"));
}

TEST_CASE("deadlock: a barrier with a count that cannot be reached") {
    const auto program = [](const std::string& count) {
        return two_rounds(32, "bar.sync 3, " + count + ";\n" + arrive("empty"), arrive("empty"));
    };
    require_root(program("96"), {"at block barrier 3: 32 of 96 threads have arrived", "mbarrier empty",
                                 "must be the number of threads that come to it", "its parity"});
    require_silent(program("32"));
    // The other warp came once.
    require_root(
        {"", "bar.sync 3, 64;\nsetp.ge.u32 %p1, %r0, 32;\n@%p1 exit;\nbar.sync 3, 64;\n"},
        {"at block barrier 3: 32 of 64 threads have arrived",
         "Those who came to barrier 3 the last time and are missing now have ended: thread (32,0,0) of "
         "block (0,0,0) and 31 more",
         "must be the number of threads that come to it", "__syncthreads"});
}

TEST_CASE("deadlock: blocks that wait for one that cannot start") {
    // Four blocks with so much shared memory go on each of 132 multiprocessors.
    const auto program = [](const std::string& writer) {
        return Case{".shared .align 8 .b8 much[49000];\n",
                    "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, " + writer +
                        ";\n@%p1 st.release.gpu.global.u32 [%rd1], 1;\nPOLL:\n"
                        "ld.acquire.gpu.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra POLL;\n",
                    1, 540};
    };
    require_root(program("539"),
                 {"polling without anything that could change", "Some blocks of the grid have not started",
                  "let each block take its number from an atomic ticket", "__syncthreads"});
    require_silent(program("0"));
}

namespace {

/// Rank 0 arrives, rank 1 waits; both meet at the end.
Case arrive_in_cluster(const std::string& arrival) {
    Case c{".shared .align 8 .b64 bar;\n",
           "setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r9, %cluster_ctarank;\nsetp.eq.u32 %p1, %r9, 1;\n"
           "@%p0 mbarrier.init.shared.b64 [bar], 32;\n@%p0 fence.mbarrier_init.release.cluster;\n"
           "barrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u32 %r5, bar;\n@%p1 bra WAIT;\n" +
               arrival +
               "bra DONE;\nWAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [bar], 0;\n"
               "@!%p7 bra WAIT;\nDONE:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n",
           32, 2, 2};
    return c;
}

} // namespace

TEST_CASE("deadlock: the arrivals came to the same mbarrier of another block") {
    require_root(arrive_in_cluster(arrive("bar")),
                 {"thread (0,0,0) of block (1,0,0) and 31 more: at mbarrier bar, phase 0",
                  "32 arrivals came to bar of block (0,0,0), where nobody waits", "mapa", "parity"});
    require_silent(arrive_in_cluster("mapa.shared::cluster.u32 %r6, %r5, 1;\n"
                                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n"));
}

TEST_CASE("deadlock: a multicast whose bytes only one block has announced") {
    const auto program = [](const std::string& guard) {
        return Case{tile_and_bar,
                    addresses(32) +
                        "mov.u32 %r9, %cluster_ctarank;\nsetp.eq.u32 %p1, %r9, 0;\n"
                        "and.pred %p2, %p0, %p1;\nmov.u16 %h0, 3;\n" +
                        init("bar", 1) +
                        "@%p0 fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\n"
                        "barrier.cluster.wait;\n" +
                        guard +
                        " mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
                        "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                        ".multicast::cluster [tile], [%rd0], 256, [bar], %h0;\n" +
                        wait_parity("bar", "0", "W") + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
                    32, 2, 2};
    };
    require_root(program("@%p2"), {"of block (1,0,0) and 31 more: at mbarrier bar",
                                   "tx-count -256 bytes (0 expected, 256 arrived)",
                                   "in every block that the multicast reaches", "the thread that issues"});
    require_silent(program("@%p0"));
}

TEST_CASE("deadlock: the kernels behind and beside one that polls memory are named, each with its reason") {
    using Place = emu::NearbyKernel::Place;
    // For memory of another kernel to count, the kernel must use memory that others can write.
    const Case polls{
        "", "L:\nld.relaxed.sys.global.u32 %r3, [%rd1];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n", 1};
    const auto report = [&](std::vector<emu::NearbyKernel> nearby) {
        emu::Device device(emu::Settings{}, emu::make_reporter());
        const auto memory = device.memory().allocate(256, emu::Allocation::Kind::device);
        const std::array<std::uint64_t, 2> parameters{memory, memory};
        const auto module = device.load(polls.text());
        emu::LaunchOutcome refused;
        std::promise<emu::LaunchResult> result;
        device.start(device.prepare(*module, "k", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                                    std::as_bytes(std::span(parameters)), 0, false, refused),
                     {[&](emu::LaunchResult r) { result.set_value(std::move(r)); }, [&] { return nearby; }});
        return emu::format(result.get_future().get().diagnostics.at(0));
    };
    const std::string behind = report({{"a", Place::behind_in_stream},
                                       {"b", Place::behind_by_default_stream},
                                       {"c", Place::behind_by_edge},
                                       {"d", Place::beside}});
    CHECK_THAT(behind, ContainsSubstring("Kernel a was launched later and cannot begin before this one ends: "
                                         "both are in the same stream."));
    CHECK_THAT(behind, ContainsSubstring("Kernel b was launched later and cannot begin before this one ends: "
                                         "the default stream"));
    CHECK_THAT(behind, ContainsSubstring("Kernel c was launched later and cannot begin before this one ends: "
                                         "an event or an edge of a graph"));
    CHECK_THAT(behind, ContainsSubstring("Kernel d runs beside it, and waits too."));
    CHECK_THAT(behind, ContainsSubstring("launch that one first"));
    const std::string beside = report({{"d", Place::beside}});
    CHECK_THAT(beside, ContainsSubstring("Kernel d runs beside it"));
    CHECK_THAT(beside, !ContainsSubstring("launch that one first"));
    CHECK_THAT(report({}), !ContainsSubstring("Kernel "));
}

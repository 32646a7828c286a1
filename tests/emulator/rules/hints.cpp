// A wait or a barrier is there and does not help: the finding says why, and names its line.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string meet = "bar.sync 0;\n";
const std::string read_mirror = "ld.shared.u32 %r5, [%r11];//!\nst.global.u32 [%rd11], %r5;\n";

/// `require_found`, and that the message says why and the advice what instead.
void require_explained(const std::string& name, const Case& c, const std::string& why,
                       const std::string& instead) {
    require_found(name, c);
    const auto outcome = run(c, {emu::CompletionOrder::late, 1});
    CHECK_THAT(outcome.result.diagnostics.front().message, ContainsSubstring(why));
    CHECK_THAT(outcome.result.diagnostics.front().advice, ContainsSubstring(instead));
}

} // namespace

TEST_CASE("cp.async.wait_group with too large an N says which one would do") {
    const std::string three = addresses(64) + "add.u32 %r12, %r11, 256;\nadd.u32 %r13, %r10, 256;\n"
                                              "cp.async.ca.shared.global [%r10+512], [%rd10], 4;\n"
                                              "cp.async.commit_group;\n"
                                              "cp.async.ca.shared.global [%r13], [%rd10], 4;//!\n"
                                              "cp.async.commit_group;\n"
                                              "cp.async.ca.shared.global [%r10], [%rd10+256], 4;\n"
                                              "cp.async.commit_group;\n";
    const std::string read = meet + "ld.shared.u32 %r5, [%r12];//!\ncp.async.wait_all;\n";
    require_explained("read-before-completion", {tile, three + "cp.async.wait_group 2;//!\n" + read},
                      "N = 2: that leaves the 2 newest groups of 3 pending, and the copy is in one",
                      "cp.async.wait_group 1: one group was");
    require_silent({tile, three + "cp.async.wait_group 1;\n" + read});
}

TEST_CASE("a wait_group before the commit is told from one that is missing") {
    const std::string copy = addresses(64) + "cp.async.ca.shared.global [%r10], [%rd10], 4;//!\n";
    const std::string end = "cp.async.wait_all;\n";
    require_explained("read-before-completion",
                      {tile, copy + "cp.async.wait_group 0;//!\n" + meet + read_mirror + end},
                      "had not committed the copy", "commit_group between the copy and the wait");
    require_silent({tile, copy + "cp.async.commit_group;\ncp.async.wait_group 0;\n" + meet + read_mirror});
    // A wait that came before the copy explains nothing.
    const auto outcome =
        run({tile, addresses(64) + "cp.async.wait_group 0;\n" + copy + meet + read_mirror + end},
            {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    CHECK(outcome.result.diagnostics.front().locations.size() == 2);
}

TEST_CASE("a wait_group in a round that commits nothing counts other groups") {
    const std::string two = addresses(64) + "add.u32 %r12, %r11, 256;\nadd.u32 %r13, %r10, 256;\n"
                                            "cp.async.ca.shared.global [%r10], [%rd10], 4;\n"
                                            "cp.async.commit_group;\n"
                                            "cp.async.ca.shared.global [%r13], [%rd10], 4;//!\n"
                                            "cp.async.commit_group;\n";
    const auto rounds = [&](const std::string& commit) {
        return two + "mov.u32 %r14, 0;\nROUND:\ncp.async.wait_group 1;//!\n" + meet + commit +
               "add.u32 %r14, %r14, 1;\nsetp.lt.u32 %p3, %r14, 2;\n@%p3 bra ROUND;\n" + meet;
    };
    const std::string read = "ld.shared.u32 %r5, [%r12];//!\ncp.async.wait_all;\n";
    require_explained("read-before-completion", {tile, rounds("") + read},
                      "No group was committed since its wait of the round before",
                      "Commit a group in every round, an empty one too");
    require_silent({tile, rounds("cp.async.commit_group;\n") + read});
    // Two waits of the program, not one in two rounds: the second N is too great.
    require_explained(
        "read-before-completion",
        {tile, two + "cp.async.wait_group 1;\n" + meet + "cp.async.wait_group 1;//!\n" + meet + read},
        "with N = 1", "wait_group 0");
}

TEST_CASE("race-shared: each thread has waited for its own cp.async, and reads another's") {
    // In each round the threads wait for the tile of the round before; the second wait covers the copy.
    const std::string copies = addresses(64) +
                               "add.u32 %r12, %r11, 256;\nadd.u32 %r13, %r10, 256;\n"
                               "cp.async.ca.shared.global [%r10], [%rd10], 4;\n"
                               "cp.async.commit_group;\n"
                               "cp.async.ca.shared.global [%r13], [%rd10], 4;//!\n"
                               "cp.async.commit_group;\ncp.async.wait_group 1;\n" +
                               meet + "cp.async.wait_group 0;\n";
    const std::string read = "ld.shared.u32 %r5, [%r12];//!\n";
    require_explained("race-shared", {tile, copies + read},
                      "nothing orders that wait before the read by another thread", "__syncthreads()");
    require_silent({tile, copies + meet + read});
}

TEST_CASE("race-shared: the copy of a later round, where the barrier behind the wait is there") {
    // Warp 1 runs ahead and copies to its half of the tile again, which warp 0 has yet to read.
    const std::string copy = "cp.async.ca.shared.global [%r10], [%rd10], 4;\ncp.async.wait_all;\n";
    const std::string first = addresses(64) + "setp.lt.u32 %p3, %r0, 32;\n" + copy + meet;
    const std::string read = "@%p3 ld.shared.u32 %r5, [%r11];//!\n";
    const std::string again = "@!%p3 cp.async.ca.shared.global [%r10], [%rd10], 4;//!\ncp.async.wait_all;\n";
    require_explained("race-shared", {tile, first + read + again}, "the copy is one of a later round",
                      "put a __syncthreads() between its access and the issue of the copy");
    require_silent({tile, first + read + meet + again});
    // In a loop the copy may stand before the read.
    const std::string loop = addresses(64) +
                             "setp.lt.u32 %p3, %r0, 32;\nmov.u32 %r14, 0;\nROUND:\n"
                             "cp.async.ca.shared.global [%r10], [%rd10], 4;//!\n"
                             "cp.async.wait_all;\n" +
                             meet;
    const std::string next = "add.u32 %r14, %r14, 1;\nsetp.lt.u32 %p4, %r14, 3;\n@%p4 bra ROUND;\n";
    require_explained("race-shared", {tile, loop + read + next}, "the copy is one of a later round",
                      "put a __syncthreads() between its access and the issue of the copy");
    require_silent({tile, loop + read + meet + next});
}

TEST_CASE("bulk wait_group.read with too large an N") {
    const std::string store = addresses(64) + "st.shared.u32 [%r10], %r6;\nfence.proxy.async;\n" + meet +
                              "@%p0 " + bulk_store + "//!\n@%p0 cp.async.bulk.commit_group;\n";
    const std::string again = meet + "add.u32 %r6, %r6, 1;\nst.shared.u32 [%r10], %r6;//!\n";
    const std::string end = "@%p0 cp.async.bulk.wait_group 0;\n";
    require_explained("reuse-before-read-done",
                      {tile, store + "@%p0 cp.async.bulk.wait_group.read 1;//!\n" + again + end},
                      "N = 1: that leaves the newest group of 1 pending", "cp.async.bulk.wait_group 0");
    require_silent({tile, store + "@%p0 cp.async.bulk.wait_group.read 0;\n" + again + end});
}

TEST_CASE("a wait for parity 1 on a fresh mbarrier passes at once") {
    const std::string start =
        addresses(64) + initialised_barrier() + expect_256 + "@%p0 " + bulk_load + "//!\n";
    const std::string wait = "mbarrier.try_wait.parity.shared.b64 %p7, [bar], 1;//!\n";
    require_explained("read-before-completion",
                      {tile_and_bar, start + wait + meet + read_mirror + wait_parity("bar", "0", "W1")},
                      "passed at once", "Wait until phase 0 has ended (parity 0)");
    require_silent({tile_and_bar, start + wait + wait_parity("bar", "0", "W1") + read_mirror});
}

TEST_CASE("a wait whose parity was not flipped sees the phase before") {
    const std::string load = expect_256 + "@%p0 " + bulk_load;
    const std::string start = addresses(64) + initialised_barrier() + load + "\n" +
                              wait_parity("bar", "0", "W1") + "ld.shared.u32 %r5, [%r11];\n" + meet + load +
                              "//!\n";
    const std::string stale = "mbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;\n";
    // With early completion the second phase ends at once, and this wait is for the third.
    const auto outcome =
        run({tile_and_bar, start + stale + meet + read_mirror + wait_parity("bar", "1", "W2")},
            {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    CHECK(d.name() == "read-before-completion");
    CHECK(d.locations.size() == 3);
    CHECK_THAT(d.message, ContainsSubstring("saw the end of phase 0. The copy completes phase 1"));
    CHECK_THAT(d.advice, ContainsSubstring("phase 1 has ended (parity 1)"));
    require_silent({tile_and_bar, start + wait_parity("bar", "1", "W2") + read_mirror});
}

TEST_CASE("a test or try_wait whose answer nobody looks at is no wait") {
    const std::string start =
        addresses(64) + initialised_barrier() + expect_256 + "@%p0 " + bulk_load + "//!\n";
    const std::string end = meet + wait_parity("bar", "0", "W2");
    // As libcu++'s wrappers write it: the predicate becomes a register that nobody reads.
    const auto ask = [](const std::string& what) {
        return "{ .reg .pred Q; .reg .b32 unread;\nmbarrier." + what +
               ".parity.shared.b64 Q, [bar], 0;//!\nselp.b32 unread, 1, 0, Q; }\n";
    };
    for (const std::string what : {"try_wait", "test_wait"})
        require_explained("read-before-completion", {tile_and_bar, start + ask(what) + read_mirror + end},
                          "only asked whether the phase had ended", "in a loop");
    const std::string loop =
        "AGAIN:\n{ .reg .pred Q; .reg .b32 r;\nmbarrier.try_wait.parity.shared.b64 Q, [bar], 0;\n"
        "selp.b32 r, 1, 0, Q;\nsetp.eq.u32 %p2, r, 0; }\n@%p2 bra AGAIN;\n";
    require_silent({tile_and_bar, start + loop + read_mirror});
}

TEST_CASE("a wait at another mbarrier than the copy's is named") {
    const std::string two = tile_and_bar + ".shared .align 8 .b64 other;\n";
    const std::string start = addresses(64) + "@%p0 mbarrier.init.shared.b64 [other], 1;\n" +
                              initialised_barrier() + expect_256 + "@%p0 " + bulk_load +
                              "//!\n@%p0 mbarrier.arrive.shared.b64 _, [other];\n";
    const std::string wrong = "W1:\nmbarrier.try_wait.parity.shared.b64 %p7, [other], 0;//!\n@!%p7 bra W1;\n";
    const std::string end = meet + wait_parity("bar", "0", "W2");
    require_explained(
        "read-before-completion", {two, start + wrong + read_mirror + end},
        "completes at mbarrier bar, and thread (0,0,0) of block (0,0,0) waited at mbarrier other",
        "Wait at the mbarrier that the copy was given");
    require_silent({two, start + wrong + wait_parity("bar", "0", "W2") + read_mirror});
}

TEST_CASE("a wait by a thread that has no groups is named") {
    const std::string store = addresses(64) + "st.shared.u32 [%r10], %r6;\nfence.proxy.async;\n" + meet +
                              "@%p0 " + bulk_store +
                              "//!\n@%p0 cp.async.bulk.commit_group;\nsetp.eq.u32 %p1, %r0, 32;\n";
    const std::string again = meet + "add.u32 %r6, %r6, 1;\nst.shared.u32 [%r10], %r6;//!\n";
    const std::string end = "@%p0 cp.async.bulk.wait_group 0;\n";
    require_explained(
        "reuse-before-read-done", {tile, store + "@%p1 cp.async.bulk.wait_group.read 0;//!\n" + again + end},
        "thread (32,0,0) of block (0,0,0) waited, but groups belong to the thread", "issued it");
    // It has groups of its own, and waits for those.
    const std::string other = "@%p1 cp.async.bulk.prefetch.L2.global [%rd0], 16;\n"
                              "@%p1 cp.async.bulk.commit_group;\n";
    require_explained("reuse-before-read-done",
                      {tile, store + other + "@%p1 cp.async.bulk.wait_group.read 0;//!\n" + again + end},
                      "waited, but for its own groups",
                      "The thread that issued it must execute cp.async.bulk.commit_group and "
                      "cp.async.bulk.wait_group.read");
}

TEST_CASE("a relaxed arrival or a relaxed wait is named, with the barrier that lies between") {
    const std::string start = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" + meet +
                              "st.shared.u32 [%r10], %r6;//!\n";
    const std::string relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];";
    const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [bar];\n";
    const std::string wait = wait_parity("bar", "0", "W1");
    require_explained("race-shared", {tile_and_bar, start + relaxed + "//!\n" + wait + read_mirror},
                      "passed mbarrier bar, but", ".release");
    require_silent({tile_and_bar, start + arrive + wait + read_mirror});
    require_silent({tile_and_bar, start + "fence.acq_rel.cta;\n" + relaxed + "\n" + wait + read_mirror});
    const std::string relaxed_wait =
        "W1:\nmbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p7, [bar], 0;//!\n@!%p7 bra W1;\n";
    require_explained("race-shared", {tile_and_bar, start + arrive + relaxed_wait + read_mirror},
                      "waited at mbarrier bar with .relaxed", ".acquire");
    // A thread that did not pass the barrier lacks the barrier.
    const auto alone =
        run({tile_and_bar, start + "@%p0 " + relaxed + "\n" + read_mirror}, {emu::CompletionOrder::late, 1});
    REQUIRE(alone.result.diagnostics.size() == 1);
    CHECK_THAT(alone.result.diagnostics.front().advice, ContainsSubstring("__syncthreads()"));
}

TEST_CASE("the words for waiting are those of the interface that issued the copy") {
    const auto advice = [](const std::string& header) {
        const Case c{tile, addresses(64) +
                               ".loc 2 40 5, function_name $L__info_string0, inlined_at 1 7 3\n"
                               "cp.async.ca.shared.global [%r10], [%rd10], 4;\n.loc 1 8 3\n" +
                               "cp.async.commit_group;\n" + meet + read_mirror + "cp.async.wait_all;\n"};
        const auto outcome = run_inlined_from(header, c);
        INFO(outcome.message);
        REQUIRE(outcome.result.diagnostics.size() == 1);
        CHECK(outcome.result.diagnostics.front().name() == "read-before-completion");
        CHECK(outcome.result.diagnostics.front().locations.front().line == 7);
        return outcome.result.diagnostics.front().advice;
    };
    CHECK_THAT(advice("/usr/local/cuda/include/cccl/cuda/pipeline"),
               ContainsSubstring("consumer_wait()") && !ContainsSubstring("cp.async"));
    CHECK_THAT(advice("/usr/local/cuda/include/cooperative_groups/memcpy_async.h"),
               ContainsSubstring("cooperative_groups::wait"));
    CHECK_THAT(advice("/usr/local/cuda/include/cuda_pipeline_primitives.h"),
               ContainsSubstring("__pipeline_wait_prior"));
    CHECK_THAT(advice("/usr/local/cuda/include/another.h"),
               ContainsSubstring("cp.async.wait_group") && !ContainsSubstring("consumer_wait"));
}

TEST_CASE("where __pipeline_memcpy_async issued a copy, the calls of that interface are named too") {
    const auto told = [](const std::string& header, const std::string& end) {
        const Case c{tile, addresses(64) +
                               ".loc 2 40 5, function_name $L__info_string0, inlined_at 1 7 3\n"
                               "cp.async.ca.shared.global [%r10], [%rd10], 4;\n.loc 1 8 3\n" +
                               end};
        const auto outcome = run_inlined_from(header, c);
        INFO(outcome.message);
        REQUIRE(outcome.result.diagnostics.size() == 1);
        return outcome.result.diagnostics.front();
    };
    const std::string primitives = "/usr/local/cuda/include/cuda_pipeline_primitives.h";
    const std::string own = "/home/reader/copies.h";
    for (const std::string& end : {std::string(), std::string("cp.async.commit_group;\n")}) {
        CHECK(told(primitives, end).name() == "exited-with-copies-in-flight");
        CHECK_THAT(told(primitives, end).advice,
                   ContainsSubstring("__pipeline_commit() ") &&
                       ContainsSubstring("__pipeline_wait_prior(0) (cp.async."));
        CHECK_THAT(told(own, end).advice, !ContainsSubstring("__pipeline"));
    }
    const std::string wait = ".loc 2 50 5, function_name $L__info_string0, inlined_at 1 9 3\n"
                             "cp.async.wait_group 0;\n.loc 1 10 3\n";
    CHECK_THAT(told(primitives, wait + meet + read_mirror).advice,
               ContainsSubstring("Put __pipeline_commit() (cp.async.commit_group) between"));
}

TEST_CASE("deadlock at a shuffle: lanes that are missing, or not in the mask") {
    const std::string shuffle = "shfl.sync.down.b32 %r5, %r0, 1, 31, ";
    const std::string some = "setp.lt.u32 %p1, %r0, 8;\n@!%p1 bra DONE;\n";
    const std::string done = "DONE:\nbar.warp.sync 0xffffffff;\n";
    Case wrong{"", some + shuffle + "0xffffffff;//!\n" + "DONE:\nbar.sync 0;//!\n", 32};
    require_found("deadlock", wrong, emu::Fault::timeout);
    const auto outcome = run(wrong, {emu::CompletionOrder::late, 1});
    CHECK_THAT(outcome.result.diagnostics.front().message,
               ContainsSubstring("with mask 0xffffffff, for 24 lanes of it that did not come, the first of "
                                 "them lane 8"));
    require_silent({"", some + shuffle + "0x000000ff;\n" + done, 32});
    Case outside{"", shuffle + "0x000000ff;//!\n", 32};
    require_found("deadlock", outside, emu::Fault::timeout);
    CHECK_THAT(run(outside, {emu::CompletionOrder::late, 1}).result.diagnostics.front().message,
               ContainsSubstring("does not name the thread's own lane, 8"));
}

TEST_CASE("deadlock at an mbarrier whose only arrivals raised the count for themselves") {
    const auto program = [](const std::string& arrive) {
        return Case{tile_and_bar,
                    addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" + meet +
                        "cp.async.ca.shared.global [%r10], [%rd10], 4;\n" + arrive +
                        "W:\nmbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;//!\n@!%p7 bra W;\n"};
    };
    const std::string raised = "cp.async.mbarrier.arrive.shared.b64 [bar];\n";
    require_found("deadlock", program(raised), emu::Fault::timeout);
    const auto outcome = run(program(raised), {emu::CompletionOrder::late, 1});
    CHECK_THAT(outcome.result.diagnostics.front().advice, ContainsSubstring("Use the .noinc form"));
    require_silent(program("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"));
    require_silent(program(raised + "mbarrier.arrive.shared.b64 _, [bar];\n"));
}

TEST_CASE("deadlock at an mbarrier that counts threads which returned early") {
    const auto program = [](const std::string& leave) {
        return Case{tile_and_bar,
                    addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" + meet +
                        "setp.ge.u32 %p1, %r0, 40;\n" + leave +
                        "mbarrier.arrive.shared.b64 _, [bar];\n"
                        "W:\nmbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;//!\n@!%p7 bra W;\n"};
    };
    const Case wrong = program("@%p1 exit;\n");
    require_found("deadlock", wrong, emu::Fault::timeout);
    CHECK_THAT(run(wrong, {emu::CompletionOrder::late, 1}).result.diagnostics.front().advice,
               ContainsSubstring("arrive_and_drop"));
    require_silent(program("@%p1 mbarrier.arrive_drop.shared.b64 _, [bar];\n@%p1 exit;\n"));
}

TEST_CASE("deadlock: who polls is the cause when others wait for it at __syncthreads") {
    const Case wrong{tile, addresses(64) +
                               "@!%p0 bra MEET;\nPOLL:\nld.relaxed.gpu.global.u32 %r2, [%rd1+4096];//!\n"
                               "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra POLL;\nMEET:\nbar.sync 0;\n"};
    const auto outcome = run(wrong, {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    CHECK(outcome.result.diagnostics.front().name() == "deadlock");
    CHECK_THAT(outcome.result.diagnostics.front().advice,
               ContainsSubstring("waits for a value that no thread"));
}

TEST_CASE("deadlock at the cluster barrier counts who has come") {
    const std::string body = "mov.u32 %r9, %cluster_ctarank;\nsetp.eq.u32 %p1, %r9, 0;\n@!%p1 bra SPIN;\n"
                             "barrier.cluster.arrive;\nbarrier.cluster.wait;//!\nbra DONE;\nSPIN:\n"
                             "bar.sync 1, 96;//!\nDONE:\n";
    Case wrong{"", body, 64, 2, 2};
    require_found("deadlock", wrong, emu::Fault::timeout);
    CHECK_THAT(run(wrong, {emu::CompletionOrder::late, 1}).result.diagnostics.front().message,
               ContainsSubstring("64 of 128 threads of the cluster have arrived"));
}

TEST_CASE("a lock that an ordinary store releases is told which store would") {
    const auto program = [](const std::string& release) {
        return Case{"",
                    "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra DONE;\nL:\n"
                    "atom.global.cas.b32 %r5, [%rd1], 0, 1;//!\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;\n"
                    "fence.acq_rel.gpu;\n" +
                        release + "DONE:\n",
                    32, 4};
    };
    Case wrong = program("st.global.u32 [%rd1], 0;//!\n");
    require_explained("race-global", wrong, "offset 0 of a global allocation", "atomicExch(&lock, 0)");
    require_silent(program("atom.global.exch.b32 %r7, [%rd1], 0;\n"));
    require_silent(program("st.release.gpu.global.u32 [%rd1], 0;\n"));
    require_silent(program("st.volatile.global.u32 [%rd1], 0;\n"));
}

TEST_CASE("race-shared: the first write counts, though it writes what happened to be there") {
    const std::string zero = addresses(64) + "@%p0 st.shared.u32 [tile], 0;//!\n";
    const std::string add = "atom.shared.add.u32 %r5, [tile], 1;//!\n";
    require_explained("race-shared", {tile, zero + add}, "tile", "Put __syncthreads() after line");
    require_silent({tile, zero + meet + add});
    // Everybody writes the same first value, and reads what it wrote itself.
    require_silent(
        {tile, "st.shared.u32 [tile], 0;\nld.shared.u32 %r5, [tile];\nst.global.u32 [%rd1], %r5;\n"});
}

TEST_CASE("barrier-uninitialised: ordinary data over an mbarrier that is still used") {
    const std::string start = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" + meet;
    const std::string overrun = "@%p0 st.shared.u32 [bar+4], %r0;//!\n";
    const std::string arrive = meet + "mbarrier.arrive.shared.b64 _, [bar];//!\n";
    require_found("barrier-uninitialised", {tile_and_bar, start + overrun + arrive});
    require_silent({tile_and_bar, start + arrive});
    // Behind inval, and behind the last use, the memory is like any other.
    require_silent({tile_and_bar, start + arrive + meet + overrun});
    require_silent({tile_and_bar, start + arrive + meet + "@%p0 mbarrier.inval.shared.b64 [bar];\n" +
                                      overrun + meet + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" +
                                      arrive});
}

TEST_CASE("a choice by threadIdx.x alone names a thread of each row, and the advice one of the block") {
    const auto run_rows = [](const std::string& body, std::uint32_t rows) {
        emu::Device device(emu::Settings{}, emu::make_reporter());
        device.add_observer(emu::make_checks());
        const auto in = device.memory().allocate(1 << 12, emu::Allocation::Kind::device);
        const std::array<std::uint64_t, 2> parameters{in, in + 2048};
        emu::LaunchConfig config;
        config.block = {32, rows, 1};
        const auto program = device.load(Case{tile_and_bar, body}.text());
        return device.launch(*program, "k", config, std::as_bytes(std::span(parameters))).result.diagnostics;
    };
    const std::string start = "setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r15, %tid.y;\nsetp.eq.u32 %p1, %r15, 0;\n"
                              "and.pred %p1, %p1, %p0;\nsetp.eq.u32 %p2, 0, 0;\n";
    const auto copy = [&](const std::string& who, const std::string& count) {
        return start + "@%p1 mbarrier.init.shared.b64 [bar], " + count +
               ";\n@%p1 fence.proxy.async;\nbar.sync 0;\n@" + who +
               " mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n@" + who + " " + bulk_load + "\n" +
               wait_parity("bar", "0", "W1");
    };
    const auto by_row = run_rows(copy("%p0", "2"), 2);
    REQUIRE(by_row.size() == 1);
    CHECK(by_row.front().name() == "duplicate-copy");
    CHECK_THAT(by_row.front().advice,
               ContainsSubstring("if (threadIdx.x == 0 && threadIdx.y == 0), or elect.sync in one warp"));
    CHECK(run_rows(copy("%p1", "1"), 2).empty());
    // In a block of one row threadIdx.x will do.
    const auto by_all = run_rows(copy("%p2", "32"), 1);
    REQUIRE(by_all.size() == 1);
    CHECK_THAT(by_all.front().advice, ContainsSubstring("if (threadIdx.x == 0), or elect.sync in one warp"));
    const auto twice = run_rows(start + "@%p0 mbarrier.init.shared.b64 [bar], 1;\n", 2);
    REQUIRE(twice.size() == 1);
    CHECK(twice.front().name() == "barrier-reinit-in-use");
    CHECK_THAT(twice.front().advice, ContainsSubstring("if (threadIdx.x == 0 && threadIdx.y == 0)"));
}

TEST_CASE("two blocks that store the same bytes are told of the block's offset, not of one thread") {
    const std::string body = addresses(64) + "st.shared.u32 [%r10], %r0;\nfence.proxy.async;\n" + meet +
                             "@%p0 " + bulk_store + "//!\n" + commit_and_wait_read;
    require_explained("duplicate-copy", {tile, body, 64, 2}, "both issued", "look at the block's offset");
    require_silent({tile, body, 64, 1});
}

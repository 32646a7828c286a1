// mbarriers whose counts are wrong, block barriers in branches, and shared memory nobody wrote.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {
const std::string meet = "bar.sync 0;\n";
}

TEST_CASE("tx-count-mismatch: fewer bytes expected than copied") {
    const auto program = [](const std::string& bytes) {
        return Case{tile_and_bar,
                    addresses(64) + initialised_barrier() +
                        "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + bytes + ";\n@%p0 " +
                        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], "
                        "256, [bar];\n" +
                        "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+256], "
                        "[%rd0+256], "
                        "256, [bar];\n" +
                        wait_parity("bar", "0", "W1") +
                        "ld.shared.u32 %r5, [%r11];\nadd.u32 %r11, %r11, 256;\n" +
                        "ld.shared.u32 %r5, [%r11];\n"};
    };
    require_silent(program("512"));
    // Which of the two copies comes too late, and so which read is wrong, depends on the order.
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const emu::LaunchOutcome outcome = run(program("256"), order);
        REQUIRE(outcome.result.diagnostics.size() == 1);
        const emu::Diagnostic& d = outcome.result.diagnostics.front();
        REQUIRE(d.name() == "tx-count-mismatch");
        REQUIRE(d.locations.size() == 2);
        REQUIRE(outcome.result.fault == emu::Fault::launch_failure);
    }
}

TEST_CASE("tx-count-mismatch: told at the end when nobody reads the late bytes") {
    const std::string copy = "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
    const Case c{tile_and_bar, addresses(64) + initialised_barrier() +
                                   "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;//!\n" + copy +
                                   "[tile], [%rd0], 256, [bar];//!\n" + copy +
                                   "[tile+256], [%rd0+256], 256, [bar];\n" + wait_parity("bar", "0", "W1")};
    const emu::LaunchOutcome outcome = run(c, {emu::CompletionOrder::late, 1});
    for (const emu::Diagnostic& each : outcome.result.diagnostics)
        UNSCOPED_INFO(emu::format(each));
    // Once: what the machine sees when the block ends, bytes that no phase expected, is the same mistake.
    REQUIRE(outcome.result.diagnostics.size() == 1);
    const emu::Diagnostic& told = outcome.result.diagnostics.front();
    CHECK(told.name() == "tx-count-mismatch");
    CHECK(told.message.find("Phase 0 of mbarrier bar ended although") != std::string::npos);
    CHECK(outcome.result.fault == emu::Fault::launch_failure);
    std::set<unsigned> lines;
    for (const emu::SourceLine& line : told.locations)
        lines.insert(line.line);
    CHECK(lines == marked_lines(c.text()));
}

TEST_CASE("tx-count-mismatch: two copies that no phase expects are one mistake, in every order") {
    const std::string copy = "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
    const auto program = [&](const std::string& bytes) {
        return Case{tile_and_bar,
                    addresses(64) + initialised_barrier() +
                        "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + bytes + ";\n" + copy +
                        "[tile], [%rd0], 256, [bar];\n" + copy + "[tile+256], [%rd0+256], 256, [bar];\n" +
                        copy + "[tile+512], [%rd0+512], 256, [bar];\n" + wait_parity("bar", "0", "W1")};
    };
    require_silent(program("768"));
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const auto outcome = run(program("256"), order);
        for (const emu::Diagnostic& each : outcome.result.diagnostics)
            UNSCOPED_INFO(emu::format(each));
        REQUIRE(outcome.result.diagnostics.size() == 1);
        CHECK(outcome.result.diagnostics.front().name() == "tx-count-mismatch");
    }
}

TEST_CASE("deadlock: more bytes expected than copied; the report names the missing bytes") {
    const std::string body = addresses(64) + initialised_barrier() +
                             "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 272;\n@%p0 " + bulk_load +
                             "\n" +
                             "W1:\nmbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;//!\n@!%p7 bra W1;\n";
    require_found("deadlock", {tile_and_bar, body}, emu::Fault::timeout);
    const auto outcome = run({tile_and_bar, body}, {emu::CompletionOrder::late, 1});
    const std::string& message = outcome.result.diagnostics.front().message;
    REQUIRE(message.find("bar") != std::string::npos);
    REQUIRE(message.find("0 of 1 arrival missing, tx-count 16 bytes (272 expected, 256 arrived)") !=
            std::string::npos);
    REQUIRE(outcome.result.diagnostics.front().advice.find("16 bytes more") != std::string::npos);
}

TEST_CASE("deadlock: an arrival is missing, not bytes, and the advice speaks of arrivals") {
    const std::string body = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 2;\nfence.proxy.async;\n" +
                             meet + expect_256 + "@%p0 " + bulk_load + "\n" +
                             "W1:\nmbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;//!\n@!%p7 bra W1;\n";
    require_found("deadlock", {tile_and_bar, body}, emu::Fault::timeout);
    const auto outcome = run({tile_and_bar, body}, {emu::CompletionOrder::late, 1});
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    REQUIRE(d.message.find("1 of 2 arrivals missing") != std::string::npos);
    REQUIRE(d.advice.find("expected count equals the arrivals") != std::string::npos);
}

TEST_CASE("divergent-barrier: two instructions for one warp") {
    const std::string split = "and.b32 %r9, %r0, 1;\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra EVEN;\n"
                              "bar.sync 0;//!\nbra DONE;\nEVEN:\nbar.sync 0;//!\nDONE:\n";
    require_found("divergent-barrier", {"", split});
    // Whole warps may come by different instructions.
    const std::string warps = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra EVEN;\n"
                              "bar.sync 0;\nbra DONE;\nEVEN:\nbar.sync 0;\nDONE:\n";
    require_silent({"", warps});
    // barrier.sync is not aligned.
    std::string unaligned = split;
    for (std::size_t at = 0; (at = unaligned.find("bar.sync", at)) != std::string::npos; at += 12)
        unaligned.replace(at, 8, "barrier.sync");
    require_silent({"", unaligned});
    // One lane comes later, by the same instruction.
    require_silent({"", "setp.eq.u32 %p1, %r0, 5;\n@!%p1 bra MEET;\nnanosleep.u32 20;\nMEET:\n" + meet});
}

TEST_CASE("divergent-barrier: a warp split across cluster barriers") {
    const std::string split = "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra EVEN;\n"
                              "barrier.cluster.arrive.aligned;//!\nbra DONE;\nEVEN:\n"
                              "barrier.cluster.arrive.aligned;//!\nDONE:\nbarrier.cluster.wait.aligned;\n";
    require_found("divergent-barrier", {"", split, 64, 2, 2});
    std::string unaligned = split;
    for (std::size_t at = 0; (at = unaligned.find(".aligned", at)) != std::string::npos;)
        unaligned.erase(at, 8);
    require_silent({"", unaligned, 64, 2, 2});
}

TEST_CASE("remote-block-not-started: shared memory of a neighbour before the first cluster barrier") {
    const std::string sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const std::string other = addresses(64) + "mov.u32 %r20, %cluster_ctarank;\nxor.b32 %r21, %r20, 1;\n"
                                              "mapa.shared::cluster.u32 %r22, %r10, %r21;\n";
    const std::string write = "st.shared::cluster.u32 [%r22], %r6;//!\n";
    require_found("remote-block-not-started", {tile, other + write + sync, 64, 2, 2});
    require_silent({tile, other + sync + write + sync, 64, 2, 2});
    // A relaxed arrival publishes nothing, but it tells that the block runs.
    require_silent(
        {tile, other + "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n" + write + sync, 64, 2, 2});
    // The own block's memory by its address in the cluster.
    require_silent({tile,
                    addresses(64) +
                        "mov.u32 %r20, %cluster_ctarank;\n"
                        "mapa.shared::cluster.u32 %r22, %r10, %r20;\n"
                        "st.shared::cluster.u32 [%r22], %r6;\n" +
                        sync,
                    64, 2, 2});
    // A flag in global memory tells it as well.
    require_silent({tile,
                    other +
                        "st.release.cluster.global.u32 [%rd11], %r0;\nsetp.eq.u32 %p1, %r20, 1;\n"
                        "@!%p1 bra AFTER;\nAGAIN:\nld.acquire.cluster.global.u32 %r23, [%rd1+8192];\n"
                        "setp.eq.u32 %p2, %r23, 0;\n@%p2 bra AGAIN;\n" +
                        "st.shared::cluster.u32 [%r22], %r6;\n"
                        "bra DONE;\nAFTER:\nmov.u32 %r24, 1;\n"
                        "st.release.cluster.global.u32 [%rd1+8192], %r24;\nDONE:\n" +
                        sync,
                    64, 2, 2});
}

TEST_CASE("barrier-reinit-in-use: initialised in a loop, before everybody is done with it") {
    const auto program = [](const std::string& end) {
        return Case{tile_and_bar,
                    addresses(64) +
                        "mov.u32 %r1, 0;\nLOOP:\n@%p0 mbarrier.init.shared.b64 [bar], 64;//!\n"
                        "bar.sync 0;\nmbarrier.arrive.shared.b64 _, [bar];\nW:\n"
                        "mbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;//!\n@!%p7 bra W;\n" +
                        end + "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra LOOP;\n"};
    };
    require_found("barrier-reinit-in-use", program(""));
    require_silent(program("bar.sync 0;\n"));
}

TEST_CASE("a second barrier in the place of the first, as in libcu++'s tests, is silent") {
    const auto round = [](const std::string& label) {
        return "mbarrier.arrive.shared.b64 %rd12, [bar];\n" + label +
               ":\nmbarrier.try_wait.shared.b64 %p7, [bar], %rd12;\n@!%p7 bra " + label + ";\n";
    };
    const std::string init = "@%p0 mbarrier.init.shared.b64 [bar], 64;\n";
    const std::string meet = "bar.sync 0;\n";
    require_silent({tile_and_bar, addresses(64) + init + meet + round("A") + init + meet + round("B")});
}

TEST_CASE("barrier-reinit-in-use: all threads initialise, which is a warning") {
    const std::string use =
        "bar.sync 0;\nmbarrier.arrive.shared.b64 _, [bar];\n" + wait_parity("bar", "0", "W");
    require_found("barrier-reinit-in-use",
                  {tile_and_bar, addresses(64) + "mbarrier.init.shared.b64 [bar], 64;//!\n" + use},
                  emu::Fault::none);
    require_silent({tile_and_bar, addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" + use});
}

TEST_CASE("arrival-count-mismatch: an arrival too late for the phase that its thread waits for") {
    const auto program = [](const std::string& count) {
        return Case{tile_and_bar,
                    addresses(48) + "@%p0 mbarrier.init.shared.b64 [bar], " + count + ";//!\nbar.sync 0;\n" +
                        "mbarrier.arrive.shared.b64 _, [bar];//!\nW:\n"
                        "mbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;//!\n@!%p7 bra W;\n",
                    48};
    };
    require_found("arrival-count-mismatch", program("32"));
    require_silent(program("48"));
}

TEST_CASE("arrival-count-mismatch: two counts at one barrier of the block") {
    const auto program = [](const std::string& other) {
        return Case{"",
                    "setp.lt.u32 %p1, %r0, 32;\n@!%p1 bra SECOND;\nbar.sync 1, 64;//!\nbra END;\nSECOND:\n"
                    "bar.sync 1, " +
                        other + ";//!\nEND:\n"};
    };
    require_found("arrival-count-mismatch", program("96"), emu::Fault::illegal_instruction);
    require_silent(program("64"));
}

TEST_CASE("divergent-barrier: threads that go past the barrier of their warp and end, which is a warning") {
    const std::string some = addresses(64) + "setp.lt.u32 %p1, %r0, 40;\n@!%p1 bra OTHERS;\n";
    const std::string work = "st.global.u32 [%rd11], %r0;";
    require_found("divergent-barrier",
                  {tile, some + "bar.sync 0;//!\nbra END;\nOTHERS:\n" + work + "//!\nEND:\n"},
                  emu::Fault::none);
    // To return early is what many kernels do, and what hardware allows for.
    require_silent({tile, some + "bar.sync 0;\n" + work + "\nOTHERS:\n"});
    require_silent({tile, addresses(64) + "bar.sync 0;\n@!%p0 bra END;\n" + work + "\nEND:\n"});
}

TEST_CASE("divergent-barrier: a loop that threads of a warp leave at different times") {
    const auto program = [](const std::string& rounds) {
        return Case{tile, addresses(64) +
                              "mov.u32 %r1, 0;\nLOOP:\nst.global.u32 [%rd11], %r1;\nbar.sync 0;//!\n"
                              "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, " +
                              rounds + ";\n@%p1 bra LOOP;\n"};
    };
    require_found("divergent-barrier", program("%r0"), emu::Fault::none);
    require_silent(program("5"));
}

TEST_CASE("remote-block-exited: nothing makes the other block wait for the last access") {
    const auto program = [](const std::string& access, const std::string& end) {
        return Case{tile_and_bar,
                    addresses(32) +
                        "@%p0 mbarrier.init.shared.b64 [bar], 32;\n@%p0 "
                        "fence.mbarrier_init.release.cluster;\n"
                        "st.shared.u32 [%r10], %r0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                        "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\n"
                        "mov.u32 %r2, bar;\nmapa.shared::cluster.u32 %r2, %r2, 0;\n"
                        "mapa.shared::cluster.u32 %r3, %r10, 0;\n" +
                        access + "END:\n" + end,
                    32, 2, 2};
    };
    const std::string sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const std::string relaxed = "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n";
    const std::string arrive = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];//!\n";
    const std::string read = "ld.shared::cluster.u32 %r4, [%r3];//!\nst.global.u32 [%rd11], %r4;\n";
    for (const std::string& access : {arrive, read}) {
        for (const Order& order : async_test::all_orders()) {
            const auto outcome = run(program(access, ""), order);
            REQUIRE(outcome.result.diagnostics.size() == 1);
            REQUIRE(outcome.result.diagnostics.front().name() == "remote-block-exited");
        }
        require_silent(program(access, sync));
        require_silent(program(access, relaxed));
    }
    // The other block waits for the arrivals.
    const std::string wait =
        "@!%p1 bra DONE;\nW:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, "
        "[bar], 0;\n@!%p7 bra W;\nDONE:\n";
    require_silent(program(arrive, wait));
    require_silent(program(read + arrive, wait));
}

TEST_CASE("exited-with-copies-in-flight: nothing makes the sender wait until its copy has been read") {
    // Block 0 sends its tile to block 1, which waits for it. A long wait of the sender orders nothing.
    const auto program = [](const std::string& sender, const std::string& receiver, const std::string& end) {
        return Case{
            tile_and_bar + ".shared .align 128 .b8 landed[128];\n.shared .align 8 .b64 told;\n",
            addresses(32) +
                "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 mbarrier.init.shared.b64 [told], 1;\n"
                "@%p0 fence.mbarrier_init.release.cluster;\n"
                "st.shared.u32 [%r10], %r0;\nfence.proxy.async;\nbarrier.cluster.arrive;\n"
                "barrier.cluster.wait;\n"
                "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra RECEIVER;\n"
                "mov.u32 %r2, bar;\nmapa.shared::cluster.u32 %r2, %r2, 1;\n"
                "mov.u32 %r3, landed;\nmapa.shared::cluster.u32 %r3, %r3, 1;\n"
                "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], "
                "[tile], 128, [%r2];//!\n" +
                sender +
                "bra DONE;\nRECEIVER:\n"
                "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\nW:\n"
                "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [bar], 0;\n@!%p7 bra W;\n" +
                receiver + "DONE:\n" + end,
            32, 2, 2};
    };
    const std::string sleep = "mov.u32 %r4, 0;\nS:\nnanosleep.u32 1000;\nadd.u32 %r4, %r4, 1;\n"
                              "setp.lt.u32 %p3, %r4, 100;\n@%p3 bra S;\n";
    const std::string sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    for (const std::string& end : {std::string(), sleep, sleep + "bar.sync 0;\n"})
        for (const Order& order : async_test::all_orders()) {
            const auto outcome = run(program(end, "", ""), order);
            REQUIRE(outcome.result.diagnostics.size() == 1);
            REQUIRE(outcome.result.diagnostics.front().name() == "exited-with-copies-in-flight");
        }
    require_silent(program("", "", sync));
    require_silent(program("", "", "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"));
    // The receiver tells the sender.
    require_silent(program("V:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p6, [told], 0;\n"
                           "@!%p6 bra V;\n",
                           "mov.u32 %r5, told;\nmapa.shared::cluster.u32 %r5, %r5, 0;\n"
                           "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\n",
                           ""));
}

TEST_CASE("barrier-reinit-in-use: invalidated while other threads may still wait, a note of strict checks") {
    const auto program = [](const std::string& between, bool strict = true) {
        return Case{tile_and_bar,
                    addresses(64) +
                        "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n"
                        "mbarrier.arrive.shared.b64 _, [bar];\nW:\n"
                        "mbarrier.try_wait.parity.shared.b64 %p7, [bar], 0;//!\n@!%p7 bra W;\n" +
                        between + "@%p0 mbarrier.inval.shared.b64 [bar];//!\n",
                    64,
                    1,
                    1,
                    strict};
    };
    require_found("barrier-reinit-in-use", program(""), emu::Fault::none);
    require_silent(program("bar.sync 0;\n"));
    require_silent(program("", false)); // libcu++'s tests destroy barriers so.
}

// Generic proxy and async proxy: where fence.proxy.async is needed, and where not.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {
const std::string meet = "bar.sync 0;\n";
const std::string fence = "fence.proxy.async.shared::cta;\n";
const std::string generic_write = addresses(64) + "st.shared.u32 [%r10], %r6;//!\n";
const std::string store = "@%p0 " + bulk_store + "//!\n" + commit_and_wait_read;
} // namespace

TEST_CASE("missing-proxy-fence: generic writes, then a bulk store") {
    require_found("missing-proxy-fence", {tile, generic_write + meet + store});
    require_silent({tile, generic_write + fence + meet + store});
    // The issuing thread may fence after the barrier instead.
    require_silent({tile, generic_write + meet + "@%p0 fence.proxy.async;\n" + store});
}

TEST_CASE("missing-proxy-fence: the fence must come after the write") {
    require_found("missing-proxy-fence",
                  {tile, "fence.proxy.async.shared::cta;//!\n" + generic_write + meet + store});
    require_found("missing-proxy-fence", {tile, generic_write + "fence.acq_rel.cta;\n" + meet + store});
}

TEST_CASE("missing-proxy-fence: a fence in one thread covers what that thread knows") {
    // Only thread 0 fences, before the barrier: the others' writes are not covered.
    require_found("missing-proxy-fence", {tile, generic_write + "@%p0 " + fence + meet + store});
}

TEST_CASE("race-shared: a fence without a barrier orders no threads") {
    require_found("race-shared", {tile, generic_write + fence + store});
}

TEST_CASE("no proxy fence is needed after a completed load, nor for a load over bytes that were only read") {
    const std::string load = expect_256 + "@%p0 " + bulk_load + "\n" + wait_parity("bar", "0", "W0");
    const std::string again = expect_256 + "@%p0 " + bulk_load + "\n" + wait_parity("bar", "1", "W1");
    const std::string read = "ld.shared.u32 %r5, [%r11];\n";
    require_silent({tile_and_bar, addresses(64) + initialised_barrier() + load + read + meet + again + read});
    // Loaded by the async proxy, stored by the async proxy.
    require_silent({tile_and_bar, addresses(64) + initialised_barrier() + load + meet + store});
}

TEST_CASE("missing-proxy-fence: a load over generic writes is a warning") {
    const std::string body = initialised_barrier() + expect_256 + "@%p0 " + bulk_load + "//!\n" +
                             wait_parity("bar", "0", "W0") + "ld.shared.u32 %r5, [%r11];\n";
    const std::string head = addresses(64) + "st.shared.u32 [%r10], %r6;//!\n";
    // initialised_barrier() has a fence in thread 0, before the barrier: only its own write is covered.
    require_found("missing-proxy-fence", {tile_and_bar, head + body}, emu::Fault::none);
    require_silent({tile_and_bar, head + fence + body});
}

TEST_CASE("cp.async writes through the generic proxy: a bulk store of its bytes needs the fence") {
    const std::string copy =
        addresses(64) + "cp.async.ca.shared.global [%r10], [%rd10], 4;//!\ncp.async.wait_all;\n";
    require_found("missing-proxy-fence", {tile, copy + meet + store});
    require_silent({tile, copy + fence + meet + store});
}

TEST_CASE("missing-proxy-fence: global memory written by the kernel and read by a bulk load is a warning") {
    const std::string head = addresses(64) + initialised_barrier() + "st.global.u32 [%rd10], %r0;//!\n";
    const std::string load = expect_256 + "@%p0 " + bulk_load + "//!\n" + wait_parity("bar", "0", "W0") +
                             "ld.shared.u32 %r5, [%r11];\n";
    require_found("missing-proxy-fence", {tile_and_bar, head + meet + load}, emu::Fault::none);
    require_silent({tile_and_bar, head + "fence.proxy.async;\n" + meet + load});
    require_silent({tile_and_bar, head + "fence.proxy.async.global;\n" + meet + load});
}

TEST_CASE("missing-proxy-fence: the block that reads may fence for the block that wrote global memory") {
    const std::string load = "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
                             "[%rd1], 256, [bar];";
    const auto program = [&](const std::string& fence) {
        return Case{
            tile_and_bar,
            addresses(64) +
                "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra READ;\n"
                "st.global.u32 [%rd11], %r0;//!\nbar.sync 0;\n"
                "@%p0 st.release.gpu.global.u32 [%rd1+4096], 1;\nbra END;\nREAD:\n" +
                initialised_barrier() +
                "POLL:\n@%p0 ld.acquire.gpu.global.u32 %r2, [%rd1+4096];\n@%p0 setp.eq.u32 %p3, %r2, 0;\n"
                "@!%p0 setp.ne.u32 %p3, %r0, %r0;\n@%p3 bra POLL;\n" +
                fence + expect_256 + load + "//!\n" + wait_parity("bar", "0", "W") +
                "ld.shared.u32 %r5, [%r11];\nEND:\n",
            64, 2};
    };
    require_silent(program("@%p0 fence.proxy.async.global;\n"));
    require_silent(program("@%p0 fence.proxy.async;\n"));
    require_found("missing-proxy-fence", program(""), emu::Fault::none);
    require_found("missing-proxy-fence", program("@%p0 fence.proxy.async.shared::cta;\n"), emu::Fault::none);
}

TEST_CASE("a copy needs no proxy fence after init, only its issue behind it; strict checks give a note") {
    const std::string wait = wait_parity("bar", "0", "W0") + "ld.shared.u32 %r5, [%r11];\n";
    const std::string init = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 1;//!\n";
    const std::string use = expect_256 + "@%p0 " + bulk_load + "//!\n" + wait;
    const auto strict = [](const std::string& body) { return Case{tile_and_bar, body, 64, 1, 1, true}; };
    require_silent({tile_and_bar, init + meet + use});
    require_found("barrier-init-unfenced", strict(init + meet + use), emu::Fault::none);
    for (const std::string fence : {"fence.mbarrier_init.release.cluster;\n", "fence.proxy.async;\n"})
        require_silent(strict(init + "@%p0 " + fence + meet + use));
    require_silent(strict(init + meet + "@%p0 fence.proxy.async;\n" + use));

    // Another warp expects and issues.
    const std::string use_other = "setp.eq.u32 %p1, %r0, 32;\n"
                                  "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n@%p1 " +
                                  bulk_load + "\n" + meet + wait;
    require_silent({tile_and_bar, init + meet + use_other});
}

TEST_CASE("barrier-init-not-visible: another warp issues the copy, and no barrier lies between") {
    const std::string init = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 1;//!\n"
                                             "setp.eq.u32 %p1, %r0, 32;\n";
    const std::string end = meet + wait_parity("bar", "0", "W0") + "ld.shared.u32 %r5, [%r11];\n";
    const std::string expect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n";
    for (const std::string between : {"", "bar.warp.sync 0xffffffff;\n"})
        for (const std::string& use : {expect + "@%p1 " + bulk_load, expect_256 + "@%p1 " + bulk_load})
            for (const Order& order : async_test::all_orders()) {
                const auto outcome = run({tile_and_bar, init + between + use + "\n" + end}, order);
                INFO(async_test::name_of(order) << use);
                REQUIRE_FALSE(outcome.result.diagnostics.empty());
                // If the use comes first indeed, there is no barrier yet.
                const std::string name = outcome.result.diagnostics.front().name();
                const bool random = order.order == emu::CompletionOrder::random;
                CHECK((name == "barrier-init-not-visible" || (random && name == "barrier-uninitialised")));
                CHECK(outcome.result.fault == emu::Fault::launch_failure);
            }
}

TEST_CASE("barrier-init-not-visible: to other threads") {
    const std::string init = addresses(32) + "@%p0 mbarrier.init.shared.b64 [bar], 32;//!\n";
    const std::string use = "mbarrier.arrive.shared.b64 _, [bar];//!\n" + wait_parity("bar", "0", "W0");
    require_found("barrier-init-not-visible", {tile_and_bar, init + use, 32});
    require_silent({tile_and_bar, init + "bar.warp.sync 0xffffffff;\n" + use, 32});
    require_silent({tile_and_bar, init + "bar.warp.sync 0xffffffff;\n" + use, 32, 1, 1, true});
}

TEST_CASE("a fenced init and a relaxed cluster barrier make a barrier usable by the whole cluster") {
    const std::string body = addresses(64) +
                             "@%p0 mbarrier.init.shared.b64 [bar], 128;\n"
                             "@%p0 fence.mbarrier_init.release.cluster;\n"
                             "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
                             "mov.u32 %r20, bar;\nmov.u32 %r21, 0;\n"
                             "mapa.shared::cluster.u32 %r22, %r20, %r21;\n"
                             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22];\n"
                             "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    require_silent({tile_and_bar, body, 64, 2, 2});
}

TEST_CASE("missing-proxy-fence: a fence that came too early is named") {
    const auto message = [](const std::string& body) {
        const auto outcome = run({tile, body}, {emu::CompletionOrder::late, 1});
        REQUIRE(outcome.result.diagnostics.size() == 1);
        CHECK(outcome.result.diagnostics.front().name() == "missing-proxy-fence");
        return outcome.result.diagnostics.front().message + " " + outcome.result.diagnostics.front().advice;
    };
    const std::string store = meet + "@%p0 " + bulk_store + "\n" + commit_and_wait_read;
    const std::string write = addresses(64) + "st.shared.u32 [%r10], %r6;\n";
    const std::string again = "add.u32 %r6, %r6, 1;\nst.shared.u32 [%r10], %r6;\n";
    CHECK_THAT(message(write + "fence.proxy.async;\n" + again + store),
               ContainsSubstring("The fence of thread (0,0,0) of block (0,0,0) comes before that write"));
    CHECK_THAT(message(write + store), !ContainsSubstring("The fence of"));
    const std::string copy = addresses(64) + "cp.async.ca.shared.global [%r10], [%rd10], 4;\n";
    CHECK_THAT(message(copy + "fence.proxy.async;\ncp.async.wait_all;\n" + store),
               ContainsSubstring("executed its fence before it waited for its copies") &&
                   ContainsSubstring("after cp.async.wait_group"));
    CHECK_THAT(message(copy + "cp.async.wait_all;\n" + store),
               !ContainsSubstring("executed its fence") && ContainsSubstring("after cp.async.wait_group"));
    require_silent({tile, copy + "cp.async.wait_all;\nfence.proxy.async;\n" + store});
}

TEST_CASE("barrier-init-not-visible: the initialiser arrives at the cluster barrier with .relaxed") {
    const auto program = [](const std::string& fence, const std::string& semantics) {
        return Case{tile_and_bar,
                    addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 128;\n" + fence +
                        "barrier.cluster.arrive" + semantics + ";\nbarrier.cluster.wait;\n" +
                        "mov.u32 %r20, bar;\nmov.u32 %r21, 0;\nmapa.shared::cluster.u32 %r22, %r20, %r21;\n"
                        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22];\n"
                        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
                    64, 2, 2};
    };
    const auto outcome = run(program("", ".relaxed"), {emu::CompletionOrder::late, 1});
    REQUIRE_FALSE(outcome.result.diagnostics.empty());
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    CHECK(d.name() == "barrier-init-not-visible");
    CHECK_THAT(d.message, ContainsSubstring("arrived there with .relaxed"));
    CHECK_THAT(d.advice, ContainsSubstring("fence.mbarrier_init.release.cluster"));
    require_silent(program("@%p0 fence.mbarrier_init.release.cluster;\n", ".relaxed"));
    require_silent(program("", ".release"));
}

TEST_CASE("libcu++ copies first and fences never: silent, and a note of strict checks") {
    // cuda::memcpy_async issues the bulk copy, then its thread expects the bytes.
    const std::string body = addresses(64) + "st.shared.u32 [%r10], %r6;//!\n" +
                             "@%p0 mbarrier.init.shared.b64 [bar], 1;\n" + meet + "@%p0 " + bulk_load +
                             "//!\n" + expect_256 + wait_parity("bar", "0", "W0") +
                             "ld.shared.u32 %r5, [%r11];\n";
    require_silent({tile_and_bar, body});
    const auto outcome = run({tile_and_bar, body, 64, 1, 1, true}, {emu::CompletionOrder::late, 1});
    const auto& all = outcome.result.diagnostics;
    const auto noted = std::ranges::find(all, "missing-proxy-fence", [](const auto& d) { return d.name(); });
    REQUIRE(noted != all.end());
    CHECK(noted->note);
    CHECK(outcome.result.fault == emu::Fault::none);
}

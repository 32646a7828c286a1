// Registers of wgmma, and wgmma that not all warps of a warpgroup execute.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

const std::string tiles = ".shared .align 1024 .b8 tile[4096];\n";

/// Tiles of zeros, of A (64 x 16) and behind it of B (8 x 16), that everybody may multiply: their descriptors
/// are %rd20 and %rd21. %rd10 is the thread's word of out; %p0 holds in the first warp.
std::string prepared() {
    std::string text = "mov.u32 %r9, tile;\nshl.b32 %r8, %r0, 2;\nadd.u32 %r8, %r8, %r9;\n";
    for (int i = 0; i < 5; ++i)
        text += "st.shared.u32 [%r8+" + std::to_string(512 * i) + "], 0;\n";
    return text +
           "fence.proxy.async.shared::cta;\nbar.sync 0;\nshr.u32 %r9, %r9, 4;\ncvt.u64.u32 %rd20, %r9;\n"
           "or.b64 %rd20, %rd20, 0x1000080000;\nadd.u64 %rd21, %rd20, 128;\n"
           "mul.wide.u32 %rd9, %r0, 4;\nadd.u64 %rd10, %rd1, %rd9;\nsetp.lt.u32 %p0, %r0, 32;\n"
           "mov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"
           "mov.f32 %f4, %f0;\nmov.f32 %f5, %f0;\nmov.f32 %f6, %f0;\nmov.f32 %f7, %f0;\n"
           "mov.u32 %r10, 0;\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 0;\n";
}

const std::string fence = "wgmma.fence.sync.aligned;\n", commit = "wgmma.commit_group.sync.aligned;\n";
std::string wait(int pending) { return "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";"; }

/// Without the end of the line, which may be a mark.
const std::string form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 ";
const std::string multiply = form + "{%f0, %f1, %f2, %f3}, %rd20, %rd21, 1, 1, 1, 0, 0;";
const std::string multiply_second = form + "{%f4, %f5, %f6, %f7}, %rd20, %rd21, 1, 1, 1, 0, 0;";
const std::string multiply_registers =
    form + "{%f0, %f1, %f2, %f3}, {%r10, %r11, %r12, %r13}, %rd21, 1, 1, 1, 0;";
const std::string store = "st.global.f32 [%rd10], %f0;", store_second = "st.global.f32 [%rd10], %f4;";

Case of(const std::string& body, std::uint32_t threads = 128) {
    Case c{tiles, prepared() + body};
    c.threads = threads;
    return c;
}
/// A batch that is complete, so that only what comes before can be told.
const std::string end = commit + wait(0) + "\n";

void require_warning(const std::string& name, const std::string& body) {
    require_found(name, of(body), emu::Fault::none);
}
const std::string in_flight = "wgmma-register-in-flight", unfenced = "missing-wgmma-fence";

/// The text of all findings in the late order.
std::string told(const Case& c) {
    std::string all;
    for (const auto& each : run(c, async_test::all_orders().front()).result.diagnostics)
        all += emu::format(each);
    return all;
}

/// The first thread behind the consumers loads both tiles twice with one mbarrier; the consumers multiply
/// them, and the first lanes of their warps say at `empty`, which counts `arrivals`, that they may be
/// overwritten.
Case ring(const std::string& wait_for_group, int arrivals, const std::string& arrive,
          const std::string& wait_for_tiles, int consumers = 128) {
    const std::string producer = std::to_string(consumers);
    const auto load = [](const std::string& to, int bytes) {
        return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to + "], [%rd0], " +
               std::to_string(bytes) + ", [bar];\n";
    };
    Case c{tiles + ".shared .align 8 .b64 bar;\n.shared .align 8 .b64 empty;\n",
           prepared() +
               "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n"
               "@%p1 mbarrier.init.shared.b64 [empty], " +
               std::to_string(arrivals) +
               ";\n@%p1 fence.mbarrier_init.release.cluster;\nbar.sync 0;\nsetp.lt.u32 %p2, %r0, " +
               producer +
               ";\n"
               "@%p2 bra READ;\nsetp.gt.u32 %p2, %r0, " +
               producer +
               ";\n@%p2 bra END;\nmov.u32 %r20, 0;\nAGAIN:\n"
               "setp.eq.u32 %p3, %r20, 0;\n@%p3 bra LOAD;\n" +
               wait_parity("empty", "0", "FREE") +
               "LOAD:\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 2304;\n" + load("tile", 2048) +
               load("tile+2048", 256) +
               "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p4, %r20, 2;\n@%p4 bra AGAIN;\nbra END;\nREAD:\n"
               "and.b32 %r21, %r0, 31;\nsetp.eq.u32 %p5, %r21, 0;\n" +
               wait_for_tiles + wait_parity("bar", "0", "FIRST") + "FIRST_TILES:\n" + fence + multiply +
               "\n" + commit + wait_for_group + arrive + wait_parity("bar", "1", "SECOND") + multiply + "\n" +
               end + "END:\n"};
    c.threads = static_cast<std::uint32_t>(consumers) + 32;
    return c;
}
const std::string each_warp = "@%p5 mbarrier.arrive.shared.b64 _, [empty];\n";

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

} // namespace

TEST_CASE("wgmma-register-in-flight: an accumulator is read or written") {
    require_silent(of(fence + multiply + "\n" + commit + wait(0) + "\n" + store));
    require_warning(in_flight, fence + multiply + " //!\n" + commit + store + " //!\n" + end);
    require_warning(in_flight, fence + multiply + " //!\n" + commit + "mov.f32 %f1, 0f00000000; //!\n" + end);
    require_warning(in_flight, fence + multiply + " //!\n" + commit + "add.f32 %f1, %f4, %f5; //!\n" + end);
    // Once it is written it is the program's again.
    require_silent(of(fence + multiply + "\n" + end + "mov.f32 %f0, 0f00000000;\n" + store));
    // Other registers.
    require_silent(
        of(fence + multiply + "\n" + commit + "add.f32 %f4, %f5, %f5;\n" + store_second + "\n" + end));
}

TEST_CASE("wgmma-register-in-flight: a wait with N too large") {
    const std::string two = fence + multiply + "\n" + commit + multiply_second;
    require_silent(of(two + "\n" + commit + wait(1) + "\n" + store + "\n" + wait(0) + "\n" + store_second));
    require_warning(in_flight, two + " //!\n" + commit + wait(1) + " //!\n" + store_second + " //!\n" + end);
    const std::string one = told(of(two + "\n" + commit + wait(1) + "\n" + store_second + "\n" + end));
    CHECK(has(one, "with N = 1, which leaves the newest group in flight, and the wgmma is in it."));
    CHECK(has(one, "Wait with wgmma.wait_group 0 before this line."));
    // The first of them has one behind it.
    const std::string first = told(of(two + "\n" + commit + wait(2) + "\n" + store + "\n" + end));
    CHECK(has(first,
              "with N = 2, which leaves the 2 newest groups in flight, and the wgmma is in one of them."));
    CHECK(has(first, "Wait with wgmma.wait_group 1 before this line."));
}

TEST_CASE("wgmma-register-in-flight: a wgmma that was not committed") {
    const std::string waited = fence + multiply + " //!\n" + wait(0);
    require_warning(in_flight, waited + " //!\n" + store + " //!\n" + end);
    CHECK(has(told(of(waited + "\n" + store + "\n" + end)), "a wait covers committed groups only"));
    const std::string plain = told(of(fence + multiply + "\n" + store + "\n" + end));
    CHECK(has(plain, "was not committed to a group yet."));
    CHECK(has(plain, "execute wgmma.commit_group and wgmma.wait_group 0"));
}

TEST_CASE("wgmma-register-in-flight: registers of A") {
    const std::string set = "mov.u32 %r11, %r0;";
    require_silent(of(fence + multiply_registers + "\n" + commit + wait(0) + "\n" + set));
    require_silent(
        of(fence + multiply_registers + "\n" + commit + "st.global.u32 [%rd10], %r11;\n" + wait(0)));
    require_warning(in_flight,
                    fence + multiply_registers + " //!\n" + commit + "add.u32 %r11, %r0, 1; //!\n" + end);
    // A copy of a factor is the program's.
    require_silent(of(fence + multiply_registers + "\n" + commit +
                      "mov.u32 %r14, %r11;\nadd.u32 %r14, %r14, 1;\n" + wait(0) + "\nmov.u32 %r11, %r14;\n"));
    require_warning(in_flight,
                    fence + multiply_registers + " //!\n" + commit + "mov.u32 %r11, %r14; //!\n" + end);
    // Factors of one as accumulators of the next.
    const std::string into_factors = form + "{%r10, %r11, %r12, %r13}, %rd20, %rd21, 1, 1, 1, 0, 0;";
    require_silent(of(fence + multiply_registers + "\n" + end + fence + into_factors + "\n" + end));
    require_warning(in_flight, fence + multiply_registers + " //!\n" + into_factors + " //!\n" + end);
    // The results of one are the factors of the next: only behind a wait.
    const std::string next = "mov.b32 %r10, %f4;\n";
    require_silent(of(fence + multiply_second + "\n" + end + next + fence + multiply_registers + "\n" + end));
    require_warning(in_flight,
                    fence + multiply_second + " //!\n" + commit + next + multiply_registers + " //!\n" + end);
}

TEST_CASE("wgmma-register-in-flight: copies are other names of an accumulator") {
    const std::string copied = fence + multiply + "\n" + commit + "mov.f32 %f4, %f0;\n";
    require_silent(of(copied + wait(0) + "\n" + store_second));
    require_warning(in_flight, fence + multiply + " //!\n" + commit + "mov.f32 %f4, %f0;\n" + store_second +
                                   " //!\n" + end);
    // A copy of something else is a write.
    require_warning(in_flight, fence + multiply + " //!\n" + commit + "mov.f32 %f0, %f4; //!\n" + end);
}

TEST_CASE("missing-wgmma-fence: before the first wgmma") {
    require_warning(unfenced, multiply + " //!\n" + end);
    require_silent(of(fence + multiply + "\n" + multiply_second + "\n" + end));
    // The next batch goes on with the same accumulators.
    require_silent(of(fence + multiply + "\n" + end + multiply + "\n" + end));
}

TEST_CASE("missing-wgmma-fence: registers that were accessed behind the fence") {
    const std::string first = fence + multiply + "\n" + end;
    const std::string scale = "mul.f32 %f2, %f2, 0f3f000000;";
    require_silent(of(first + scale + "\n" + fence + multiply + "\n" + end));
    require_warning(unfenced, first + scale + " //!\n" + multiply + " //!\n" + end);
    require_warning(unfenced, first + fence + store + " //!\n" + multiply + " //!\n" + end);
    CHECK(has(told(of(first + scale + "\n" + multiply + "\n" + end)), "wrote a register of this wgmma"));
    CHECK(has(told(of(first + store + "\n" + multiply + "\n" + end)), "read a register of this wgmma"));
    // A constant needs none; other registers neither.
    require_silent(of(first + "mov.f32 %f2, 0f3f000000;\n" + multiply + "\n" + end));
    require_silent(of(first + "mul.f32 %f6, %f6, 0f3f000000;\n" + multiply + "\n" + end));
    // Factors.
    const std::string factor = "add.u32 %r12, %r0, 1;";
    require_silent(of(factor + "\n" + fence + multiply_registers + "\n" + end));
    require_warning(unfenced, fence + factor + " //!\n" + multiply_registers + " //!\n" + end);
}

/// An H200 stops such kernels with an illegal instruction.
void require_divergent(const Case& c) {
    require_found("divergent-wgmma", c, emu::Fault::illegal_instruction);
}

TEST_CASE("uninitialised-register: sums that begin with registers nobody has written") {
    const std::string name = "uninitialised-register";
    const auto fresh = [](const std::string& body) { return of(".reg .f32 %s<8>;\n" + body); };
    const auto multiplied = [](const std::string& scale) {
        return form + "{%s0, %s1, %s2, %s3}, %rd20, %rd21, " + scale + ", 1, 1, 0, 0;";
    };
    const std::string use = "st.global.f32 [%rd10], %s2;";
    const auto sum = [&](const std::string& first, const std::string& second) {
        return fresh("setp.eq.u32 %p1, %r9, %r9;\n" + first + fence + second + "\n" + end + use);
    };
    require_found(name, fresh(fence + multiplied("1") + " //!\n" + end + use + " //!"));
    // Of several products the first decides.
    require_found(name,
                  fresh(fence + multiplied("1") + " //!\n" + multiplied("1") + "\n" + end + use + " //!"));
    require_silent(fresh(fence + multiplied("0") + "\n" + multiplied("1") + "\n" + end + use));
    CHECK(has(told(sum("", multiplied("%p1"))), name));
    require_silent(sum("", multiplied("!%p1")));
    // A later product overwrites the sum; or nobody uses it.
    require_silent(fresh(fence + multiplied("1") + "\n" + multiplied("0") + "\n" + end + use));
    require_silent(fresh(fence + multiplied("1") + "\n" + end));
    const std::string zeros = "mov.f32 %s0, 0f00000000;\nmov.f32 %s1, %s0;\nmov.f32 %s2, %s0;\n"
                              "mov.f32 %s3, %s2;\n";
    require_silent(sum(zeros, multiplied("1")));
    // A copy of what nobody has written is no more.
    require_found(name,
                  fresh("mov.f32 %s2, %s4;\n" + fence + multiplied("1") + " //!\n" + end + use + " //!"));
    CHECK(has(told(sum("", multiplied("1"))), "scale-d false in the first step"));
}

TEST_CASE("divergent-wgmma: warps that leave it out") {
    const std::string batch = fence + multiply + "\n" + end;
    require_silent(of(batch + batch));
    // A fifth warp that does not take part; two warpgroups of which one does.
    require_silent(of("setp.ge.u32 %p1, %r0, 128;\n@%p1 bra DONE;\n" + batch + "DONE:\n", 160));
    require_silent(of("setp.ge.u32 %p1, %r0, 128;\n@%p1 bra DONE;\n" + batch + "DONE:\n", 256));
    const std::string marked = fence + multiply + " //!\n" + end;
    require_divergent(of("@%p0 bra DONE;\n" + marked + "DONE:\n"));
    require_divergent(of(batch + "@!%p0 bra DONE;\n" + marked + "DONE:\n"));
    const std::string one = told(of("@%p0 bra DONE;\n" + batch + "DONE:\n"));
    CHECK(has(one, "the warp of thread (0,0,0) of block (0,0,0) has ended without it."));
}

TEST_CASE("divergent-wgmma: a block without a whole warpgroup") {
    const std::string marked = fence + multiply + " //!\n" + end;
    require_divergent(of(marked, 96));
    CHECK(has(told(of(marked, 96)), "the block has 96 threads"));
    require_divergent(of("setp.lt.u32 %p1, %r0, 128;\n@%p1 bra DONE;\n" + marked + "DONE:\n", 160));
}

TEST_CASE("divergent-wgmma: other instructions in its place") {
    const auto branches = [](const std::string& one, const std::string& other) {
        return of(fence + "@%p0 bra FIRST;\n" + one + "\nbra DONE;\nFIRST:\n" + other + "\nDONE:\n" + end);
    };
    require_silent(branches(multiply, multiply));
    const std::string other = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
                              "%rd20, %rd21, 1, 1, 1, 0, 0;";
    const std::string text = told(branches(multiply, other));
    CHECK(has(text, "error[divergent-wgmma]"));
    CHECK(has(text, "in its place"));
}

TEST_CASE("reuse-before-read-done: a wait for groups of wgmma speaks for its warpgroup, and for no other") {
    // A word of the thread in the rows of A that its own warp reads, or the next warp.
    const auto word = [](const std::string& warp) {
        return "shr.u32 %r20, %r0, 5;\nand.b32 %r20, %r20, 3;\n" + warp +
               "shl.b32 %r20, %r20, 9;\nand.b32 %r21, %r0, 31;\nshl.b32 %r21, %r21, 2;\n"
               "add.u32 %r20, %r20, %r21;\nmov.u32 %r21, tile;\nadd.u32 %r20, %r20, %r21;\n"
               "setp.ge.u32 %p1, %r0, 128;\n";
    };
    const std::string batch = fence + multiply + "\n";
    const std::string set = "st.shared.u32 [%r20], 1;";
    for (const std::string warp : {"", "xor.b32 %r20, %r20, 1;\n"}) {
        require_silent(of(word(warp) + batch + end + set));
        const std::string text = told(of(word(warp) + batch + commit + set + "\n" + wait(0)));
        CHECK(has(text, "a wgmma issued by the warp of thread"));
        CHECK((has(text, "error[reuse-before-read-done]") || has(text, "error[race-shared]")));
    }
    const std::string other = word("") + "bar.sync 0;\n" + batch + end;
    require_silent(of(other + "bar.sync 0;\n@%p1 " + set, 256));
    CHECK(has(told(of(other + "@%p1 " + set, 256)), "__syncthreads()"));
}

TEST_CASE("missing-proxy-fence: a tile that threads wrote") {
    const std::string set = "add.u32 %r20, %r8, 1536;\nst.shared.u32 [%r20], %r8;";
    const std::string proxy = "fence.proxy.async.shared::cta;\n", barrier = "bar.sync 0;\n";
    require_silent(of(set + "\n" + proxy + barrier + fence + multiply + "\n" + end));
    const std::string text = told(of(set + "\n" + barrier + fence + multiply + "\n" + end));
    CHECK(has(text, "error[missing-proxy-fence]"));
    CHECK(has(text, "through the async proxy by a wgmma that the warp of thread (96,0,0)"));
    CHECK(has(text, "The fence of thread (0,0,0) of block (0,0,0) comes before that write."));
    require_found("race-shared", of(set + " //!\n" + proxy + fence + multiply + " //!\n" + end));
}

TEST_CASE("reuse-before-read-done: a stage of two tiles is released before wgmma.wait_group") {
    require_silent(ring(wait(0) + "\n", 4, each_warp, ""));
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const auto outcome = run(ring("", 4, each_warp, ""), order);
        REQUIRE_FALSE(outcome.result.diagnostics.empty());
        for (const auto& each : outcome.result.diagnostics) {
            INFO(emu::format(each));
            CHECK(each.name() == "reuse-before-read-done");
            CHECK(has(each.message, "arrived at the mbarrier without having waited until its wgmma"));
            CHECK(has(each.advice, "All warps of the warpgroup must execute wgmma.commit_group"));
        }
    }
}

TEST_CASE("reuse-before-read-done: a warpgroup has no part in the arrivals that release its tiles") {
    const std::string one = "setp.eq.u32 %p5, %r0, 0;\n" + each_warp;
    // One arrival is enough for a warpgroup.
    require_silent(ring(wait(0) + "\n", 1, one, ""));
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const auto outcome = run(ring(wait(0) + "\n", 1, one, "", 256), order);
        CHECK_FALSE(outcome.result.diagnostics.empty());
        for (const auto& each : outcome.result.diagnostics) {
            INFO(emu::format(each));
            CHECK(each.name() == "reuse-before-read-done");
            CHECK(has(each.message, "ended without an arrival of the wgmma's warpgroup"));
            CHECK(has(each.advice, "Let each warpgroup that reads the stage arrive at mbarrier empty"));
        }
    }
}

TEST_CASE("read-before-completion: a wgmma that comes before the copy") {
    // The first warp does not wait for the first tiles.
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const auto outcome = run(ring(wait(0) + "\n", 4, each_warp, "@%p0 bra FIRST_TILES;\n"), order);
        REQUIRE_FALSE(outcome.result.diagnostics.empty());
        // Before its issue nobody knows whether the wgmma means the copy, or what was there before.
        const emu::Diagnostic& first = outcome.result.diagnostics.front();
        INFO(emu::format(first));
        CHECK((first.name() == "read-before-completion" || first.name() == "reuse-before-read-done"));
        CHECK(has(first.message, "a wgmma issued by the warp of thread (0,0,0)"));
        CHECK(has(first.advice, "in every thread that uses the bytes"));
    }
}

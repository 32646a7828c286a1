/// \file
/// cp.async.bulk between global and shared memory, cp.reduce.async.bulk and bulk groups (PTX ISA 9.7.9.25.4).

#include "machine/async_support.hpp"

#include <cmath>
#include <limits>

using namespace async_test;

namespace {

const std::string tile = ".shared .align 128 .b8 tile[2048];\n.shared .align 8 .b64 bar;\n";

/// Thread 0 initialises the barrier and issues `issue`; everybody waits for phase 0; each thread writes its
/// word.
std::string load_and_write(const std::string& issue) {
    return "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra READY;\nmbarrier.init.shared.b64 [bar], 1;\n"
           "fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;\n" +
           issue + "\nREADY:\nbar.sync 0;\n" + wait_parity("bar", "0", "W") +
           "mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; ld.shared.u32 %r3, [%r1];\n"
           "mul.wide.u32 %rd8, %r0, 4; add.u64 %rd8, %rd8, %rd1; st.global.u32 [%rd8], %r3;";
}

/// Writes the thread's word of input %rd0 into the tile, then thread 0 goes on alone with `then`.
std::string fill_then(const std::string& then) {
    return "mov.u32 %r1, tile; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; mul.wide.u32 %rd8, %r0, 4;\n"
           "add.u64 %rd9, %rd8, %rd0; ld.global.u32 %r3, [%rd9]; st.shared.u32 [%r1], %r3;\n"
           "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 ret;\n" +
           then;
}

void finding(const std::string& body, const std::string& name, const std::string& text,
             std::uint32_t threads = 32) {
    INFO(body);
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        Machine machine(order);
        const auto in = machine.buffer(sequence(32));
        const auto out = machine.buffer(std::vector<std::uint32_t>(32, 0));
        require_finding(machine.run(kernel(2, tile, body), {in, out}, threads), name, text);
    }
}

} // namespace

TEST_CASE("A bulk load brings global memory to shared memory and completes at the mbarrier") {
    const std::string arrive = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;";
    for (const std::string& issue : std::vector<std::string>{
             arrive + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], "
                      "512, [bar];",
             // The bytes may be expected after the copy was issued.
             "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd0], 512, [bar];" +
                 arrive,
             arrive +
                 "mov.u32 %r5, 256;"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [tile], "
                 "[%rd0], "
                 "%r5, [bar], %rd8;"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+256], "
                 "[%rd0+256], %r5, [bar];"})
        for (const Order& order : all_orders()) {
            INFO(name_of(order) << issue);
            Machine machine(order);
            const auto in = machine.buffer(sequence(128));
            const auto out = machine.buffer(std::vector<std::uint32_t>(128, 0));
            require_clean(machine.run(kernel(2, tile, load_and_write(issue)), {in, out}, 128));
            REQUIRE(machine.read<std::uint32_t>(out, 128) == sequence(128));
        }
}

TEST_CASE("A bulk store, read-only and full waits, prefetch and empty copies") {
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        Machine machine(order);
        const auto in = machine.buffer(sequence(128));
        const auto out = machine.buffer(std::vector<std::uint32_t>(128, 0));
        const std::string body = fill_then(R"(
cp.async.bulk.prefetch.L2.global [%rd0], 512;
cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd0], 512, %rd10;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 0;
cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [tile], 256, %rd10;
cp.async.bulk.commit_group;
cp.async.bulk.global.shared::cta.bulk_group [%rd1+256], [tile+256], 256;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
st.shared.u32 [tile], 77;
cp.async.bulk.wait_group 1;
)");
        require_clean(machine.run(kernel(2, tile, body), {in, out}, 128));
        REQUIRE(machine.read<std::uint32_t>(out, 128) == sequence(128));
    }
}

TEST_CASE("A bulk store reads as late as wait_group.read and writes as late as wait_group") {
    Machine machine;
    const auto in = machine.buffer(sequence(32));
    const auto out = machine.buffer(std::vector<std::uint32_t>(32, 0));
    const auto seen = machine.buffer(std::vector<std::uint32_t>(4, 99));
    const std::string body = fill_then(R"(
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
cp.async.bulk.commit_group;
st.shared.u32 [tile], 55;
cp.async.bulk.wait_group.read 0;
st.shared.u32 [tile+4], 66;
ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd2], %r5;
cp.async.bulk.wait_group 0;
ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd2+4], %r5;
ld.global.u32 %r5, [%rd1+4]; st.global.u32 [%rd2+8], %r5;
)");
    require_clean(machine.run(kernel(3, tile, body), {in, out, seen}, 32));
    REQUIRE(machine.read<std::uint32_t>(seen, 3) == std::vector<std::uint32_t>{0, 55, 2});
}

TEST_CASE("Reductions into global memory: integers") {
    struct Case {
        std::string op;
        std::uint32_t result; ///< Of old 0x8000000c and value 10.
    };
    for (const Case& c :
         {Case{"add.u32", 0x80000016}, Case{"add.s32", 0x80000016}, Case{"min.u32", 10},
          Case{"min.s32", 0x8000000c}, Case{"max.u32", 0x8000000c}, Case{"max.s32", 10}, Case{"and.b32", 8},
          Case{"or.b32", 0x8000000e}, Case{"xor.b32", 0x80000006}, Case{"inc.u32", 0}, Case{"dec.u32", 10}})
        for (const Order& order : all_orders()) {
            INFO(c.op << " " << name_of(order));
            Machine machine(order);
            const auto in = machine.buffer(std::vector<std::uint32_t>(32, 10));
            const auto out = machine.buffer(std::vector<std::uint32_t>(32, 0x8000000c));
            require_clean(
                machine.run(kernel(2, tile,
                                   fill_then("cp.reduce.async.bulk.global.shared::cta.bulk_group." + c.op +
                                             " [%rd1], [tile], 128;\ncp.async.bulk.commit_group;\n"
                                             "cp.async.bulk.wait_group 0;")),
                            {in, out}, 32));
            REQUIRE(machine.read<std::uint32_t>(out, 32) == std::vector<std::uint32_t>(32, c.result));
        }
}

namespace {

/// out[i] after `op` with 32 words of raw bits.
std::vector<std::uint32_t> reduced(const std::string& op, const std::vector<std::uint32_t>& values,
                                   const std::vector<std::uint32_t>& old) {
    Machine machine;
    const auto in = machine.buffer(values);
    const auto out = machine.buffer(old);
    require_clean(machine.run(kernel(2, tile,
                                     fill_then("cp.reduce.async.bulk.global.shared::cta.bulk_group." + op +
                                               " [%rd1], [tile], 128;\ncp.async.bulk.commit_group;\n"
                                               "cp.async.bulk.wait_group 0;")),
                              {in, out}, 32));
    return machine.read<std::uint32_t>(out, 32);
}

std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }

/// All words equal to `word`.
std::vector<std::uint32_t> all(std::uint32_t word) { return std::vector<std::uint32_t>(32, word); }

} // namespace

TEST_CASE("Reductions into global memory: f32, f64, f16, bf16 and 64-bit integers") {
    REQUIRE(reduced("add.f32", all(bits(1.5f)), all(bits(2.25f))) == all(bits(3.75f)));
    // Subnormals are flushed by the f32 addition in global memory.
    REQUIRE(reduced("add.f32", all(0x00000001), all(0x00000002)) == all(0));
    // Two halves per word: 1.0 + 2^-11 rounds to even (1.0); 65504 + 65504 overflows.
    REQUIRE(reduced("add.noftz.f16", all(0x7bff1000), all(0x7bff3c00)) == all(0x7c003c00));
    // Subnormal halves are kept; -0.0 + 0.0 is +0.0.
    REQUIRE(reduced("add.noftz.f16", all(0x00018000), all(0x00020000)) == all(0x00030000));
    REQUIRE(reduced("min.f16", all(0x3c00bc00), all(0x7e003c00)) == all(0x3c00bc00)); // NaN loses.
    REQUIRE(reduced("max.bf16", all(0x3f80bf80), all(0x40003f80)) == all(0x40003f80));
    // bf16: 1 + 2^-8 is a tie and rounds to even; 3 + 1 = 4.
    REQUIRE(reduced("add.noftz.bf16", all(0x40403b80), all(0x3f803f80)) == all(0x40803f80));
    auto low_high = [](std::uint64_t v) {
        std::vector<std::uint32_t> words(32);
        for (std::size_t i = 0; i < 32; ++i)
            words[i] = static_cast<std::uint32_t>(i % 2 ? v >> 32 : v);
        return words;
    };
    REQUIRE(reduced("add.u64", low_high(0xffffffff), low_high(1)) == low_high(0x100000000));
    REQUIRE(reduced("max.s64", low_high(~0ull), low_high(5)) == low_high(5));
    REQUIRE(reduced("min.u64", low_high(~0ull), low_high(5)) == low_high(5));
    REQUIRE(reduced("xor.b64", low_high(0x500000003), low_high(0x100000001)) == low_high(0x400000002));
    REQUIRE(reduced("add.f64", low_high(std::bit_cast<std::uint64_t>(0.5)),
                    low_high(std::bit_cast<std::uint64_t>(0.25))) ==
            low_high(std::bit_cast<std::uint64_t>(0.75)));
}

TEST_CASE("Mistakes with bulk copies are named") {
    const auto load = [](const std::string& destination, const std::string& source, const std::string& size) {
        return load_and_write("mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;"
                              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" +
                              destination + "], [" + source + "], " + size + ", [bar];");
    };
    finding(load("tile", "%rd0", "120"), "invalid-size", "multiple of 16");
    finding(load("tile+8", "%rd0", "128"), "misaligned", "destination");
    finding(load("tile", "%rd0+4", "128"), "misaligned", "source");
    finding(load("tile", "%rd0+16", "128"), "out-of-bounds", "source");
    finding(load("tile+1048576", "%rd0", "128"), "out-of-bounds", "destination");
    finding(fill_then("cp.async.bulk.global.shared::cta.bulk_group [%rd1+64], [tile], 128;"), "out-of-bounds",
            "destination");
    finding(fill_then("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile+4], 64;"), "misaligned",
            "source");
    finding("mbarrier.init.shared.b64 [bar], 1;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 128, [bar+8];",
            "barrier-uninitialised", "", 1);
    finding("mov.u64 %rd9, tile; cvta.shared.u64 %rd9, %rd9; mbarrier.init.shared.b64 [bar], 1;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd9], 128, [bar];",
            "out-of-bounds", "shared memory", 1);
}

TEST_CASE("A block must not exit before its copies were waited for, whenever they land") {
    finding(fill_then("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;"
                      "cp.async.bulk.commit_group;"),
            "exited-with-copies-in-flight", "All threads of block (0,0,0) have exited");
    finding(fill_then("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;"
                      "cp.async.bulk.wait_group 0;"), // Never committed.
            "exited-with-copies-in-flight", "reads");
    finding("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 128, [bar];",
            "exited-with-copies-in-flight", "writes", 1);
    // Waiting until the source was read is enough.
    for (const Order& order : all_orders()) {
        Machine machine(order);
        const auto in = machine.buffer(sequence(32));
        const auto out = machine.buffer(std::vector<std::uint32_t>(32, 0));
        require_clean(
            machine.run(kernel(2, tile,
                               fill_then("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;"
                                         "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;")),
                        {in, out}, 32));
        REQUIRE(machine.read<std::uint32_t>(out, 32) == sequence(32));
    }
}

TEST_CASE("Too few expected bytes end the phase early: late landing shows it") {
    // The first 16 bytes complete the phase, the other copy lands after the reader looked.
    const std::string body = load_and_write(
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 64, [bar];"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+64], [%rd0+64], 64, [bar];");
    Machine machine;
    const auto in = machine.buffer(sequence(32));
    const auto out = machine.buffer(std::vector<std::uint32_t>(32, 0));
    require_finding(machine.run(kernel(2, tile, body), {in, out}, 32), "tx-count-mismatch", "64 bytes more");
    REQUIRE(machine.read<std::uint32_t>(out, 32)[0] != 1); // Not landed yet: the last issued came first.
    REQUIRE(machine.read<std::uint32_t>(out, 32)[16] == 17);
    finding(body, "tx-count-mismatch", "64 bytes more");
}

TEST_CASE("Bulk forms that ptxas refuses are refused") {
    for (const std::string wrong :
         {"cp.async.bulk.shared::cluster.global.bulk_group [tile], [%rd0], 16;",
          "cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%rd0], [tile], 16, [bar];",
          "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [tile], 16, %h1;",
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 16, [bar], "
          "%rd2;",
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%rd0], [tile], 16;",
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd0], [tile], 16;",
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.u32 [%rd0], [tile], 16;",
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%rd0], [tile], 16;",
          "st.bulk.weak.shared::cta [tile], 16, 0;"}) {
        Machine machine;
        const auto outcome = machine.run(kernel(2, tile, wrong), {0, 0});
        INFO(wrong);
        REQUIRE(outcome.error == emu::LaunchError::unsupported);
    }
}

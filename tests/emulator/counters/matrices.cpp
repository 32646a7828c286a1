// What products of matrices count, and passes over the banks of ldmatrix and stmatrix: one for each matrix of
// eight rows of 16 bytes, if no two rows share a bank.

#include "counters/counters_support.hpp"
#include "hopper_emulator/recording.hpp"
#include "json.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <set>

using namespace counters_test;
using emu::Counter;
using emu::Counts;

namespace {

Counts count(const std::string& body) {
    emu::Device device(settings(), emu::make_reporter());
    const Case c{".shared .align 128 .b8 tile[8192];\n", body, 32};
    return run_with(c, device, std::make_unique<emu::Counters>("")).launches().front().total;
}

/// %r12: the address of the lane's row, rows `pitch` bytes apart.
std::string rows(unsigned pitch) {
    return check_test::addresses(32) + "mul.lo.u32 %r12, %r0, " + std::to_string(pitch) +
           ";\nadd.u32 %r12, %r9, %r12;\n";
}

struct Access {
    std::uint64_t requests, wavefronts, conflicts, wide, bytes;
    bool operator==(const Access&) const = default;
};
Access loads(const Counts& c) {
    return {c[Counter::shared_load_requests], c[Counter::shared_load_wavefronts],
            c[Counter::shared_load_conflicts], c[Counter::shared_load_requests_wide],
            c[Counter::bytes_shared_to_registers]};
}
Access stores(const Counts& c) {
    return {c[Counter::shared_store_requests], c[Counter::shared_store_wavefronts],
            c[Counter::shared_store_conflicts], c[Counter::shared_store_requests_wide],
            c[Counter::bytes_registers_to_shared]};
}

/// Everybody multiplies zeros: A (64 x 16) and behind it B (8 x 16), or C in their places.
Case products(const std::string& instructions, std::uint32_t threads = 128) {
    std::string body = "mov.u32 %r9, tile;\nshl.b32 %r8, %r0, 2;\nadd.u32 %r8, %r8, %r9;\n";
    for (unsigned at = 0; at < 8192; at += 4 * threads)
        body += "st.shared.u32 [%r8+" + std::to_string(at) + "], 0;\n";
    body += "fence.proxy.async.shared::cta;\nbar.sync 0;\nshr.u32 %r9, %r9, 4;\ncvt.u64.u32 %rd20, %r9;\n"
            "or.b64 %rd20, %rd20, 0x1000080000;\nadd.u64 %rd21, %rd20, 128;\nmov.f32 %f0, 0f00000000;\n"
            "mov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\nmov.u32 %r10, 0;\n"
            "wgmma.fence.sync.aligned;\n";
    return {".shared .align 1024 .b8 tile[8192];\n",
            body + instructions + "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
            threads};
}
const std::string bf16_product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, ";

} // namespace

TEST_CASE("wavefronts of ldmatrix and stmatrix") {
    const std::string load_one = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r12];\n";
    const std::string load_four = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r12];\n";
    const std::string load_across =
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r2, %r3, %r4, %r5}, [%r12];\n";
    const std::string store_two = "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r12], {%r6, %r6};\n";
    CHECK(loads(count(rows(16) + load_one)) == Access{1, 1, 0, 0, 128});
    CHECK(loads(count(rows(16) + load_four)) == Access{1, 4, 0, 1, 512});
    CHECK(loads(count(rows(16) + load_across)) == Access{1, 4, 0, 1, 512});
    CHECK(stores(count(rows(16) + store_two)) == Access{1, 2, 0, 0, 256});
    // Rows of 128 bytes lie in the same four banks; 16 bytes of padding put each row into the next four.
    CHECK(loads(count(rows(128) + load_one)) == Access{1, 8, 7, 0, 128});
    CHECK(loads(count(rows(144) + load_one)) == Access{1, 1, 0, 0, 128});
    CHECK(loads(count(rows(128) + load_four)) == Access{1, 32, 28, 1, 512});
    CHECK(loads(count(rows(144) + load_four)) == Access{1, 4, 0, 1, 512});
    CHECK(stores(count(rows(128) + store_two)) == Access{1, 16, 14, 0, 256});
}

TEST_CASE("multiply-adds by the type of A") {
    const std::string start = "mov.u32 %r1, 0;\nmov.f32 %f0, 0f00000000;\n";
    const auto f32 = [&](const std::string& opcode, const std::string& a, const std::string& b,
                         const std::string& rest = "") {
        return count(start + opcode + " {%f1, %f2, %f3, %f4}, " + a + ", " + b + ", {%f0, %f0, %f0, %f0}" +
                     rest + ";\n");
    };
    const std::string two = "{%r1, %r1}", four = "{%r1, %r1, %r1, %r1}";
    const Counts bf16 = f32("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", four, two);
    CHECK(bf16[Counter::matrix_instructions] == 1);
    CHECK(bf16[Counter::multiply_adds_bf16] == 16 * 8 * 16);
    CHECK(bf16[Counter::multiply_adds_f16] == 0);
    const Counts fp8 = f32("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", four, two);
    CHECK(fp8[Counter::multiply_adds_fp8] == 16 * 8 * 32);
    const Counts sparse =
        f32("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", two, two, ", %r1, 0");
    CHECK(sparse[Counter::multiply_adds_f16] == 16 * 8 * 16); // As an H200 counts: k is 16, zeros and all.
    const Counts integers = count(start + "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%r2, %r3}, {%r1}, "
                                          "{%r1}, {%r1, %r1};\n");
    CHECK(integers[Counter::multiply_adds_int8] == 8 * 8 * 16);
    const std::string zeros = "{%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}";
    const Counts wmma = count(start +
                              "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
                              "{%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd0];\n"
                              "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r10, %r11, %r12, %r13}, " +
                              zeros + ", " + zeros + ", {%r1, %r1, %r1, %r1};\n");
    CHECK(wmma[Counter::matrix_instructions] == 1);
    CHECK(wmma[Counter::multiply_adds_f16] == 16 * 16 * 16);
    const Counts quads =
        count(start + "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r2, %r3, %r4, %r5}, "
                      "{%r1, %r1}, {%r1, %r1}, {%r1, %r1, %r1, %r1};\n");
    CHECK(quads[Counter::multiply_adds_f16] == 4 * 8 * 8 * 4);
}

TEST_CASE("wavefronts of wgmma: 128 bytes of A and of B each, B once for the four warps") {
    const auto counted = [](const std::string& instruction, std::uint32_t threads = 128) {
        emu::Device device(settings(), emu::make_reporter());
        const Case c = products(instruction, threads);
        return run_with(c, device, std::make_unique<emu::Counters>("")).launches().front().total;
    };
    const auto reads = [](const Counts& c) {
        return std::array{c[Counter::wgmma_instructions], c[Counter::wgmma_wavefronts],
                          c[Counter::bytes_shared_to_wgmma]};
    };
    using Reads = std::array<std::uint64_t, 3>;
    const std::string in_shared = bf16_product + "%rd20, %rd21, 1, 1, 1, 0, 0;\n";
    // As an H200 counts them (docs/measurements/h200_counters.json).
    CHECK(reads(counted(in_shared)) == Reads{4, 18, 18 * 128});
    CHECK(reads(counted(in_shared, 256)) == Reads{8, 36, 36 * 128});
    const std::string in_registers = bf16_product + "{%r10, %r10, %r10, %r10}, %rd21, 1, 1, 1, 0;\n";
    CHECK(reads(counted(in_registers)) == Reads{4, 2, 2 * 128});
    const std::string sparse = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, "
                               "%rd20, %rd21, %r10, 0, 1, 1, 1, 0, 0;\n";
    CHECK(reads(counted(sparse)) == Reads{4, 20, 20 * 128});
}

TEST_CASE("the tensor cores of each warpgroup are a lane of the time line") {
    const std::string product = bf16_product + "%rd20, %rd21, 1, 1, 1, 0, 0;\n";
    const std::string commit = "wgmma.commit_group.sync.aligned;\n";
    for (const auto order : {emu::CompletionOrder::late, emu::CompletionOrder::early}) {
        emu::Device device(settings(1, order), emu::make_reporter());
        const Case c = products(product + commit + product, 256);
        const auto json =
            test_support::JsonValue::parse(run_with(c, device, std::make_unique<emu::Trace>("")).json());
        double multiplied = 0;
        std::set<std::string> lanes;
        int begun = 0, ended = 0;
        for (const auto& event : json["traceEvents"].array()) {
            const std::string phase = event["ph"].string(), name = event["name"].string();
            begun += phase == "b" && name == "wgmma";
            ended += phase == "e" && name == "wgmma";
            if (phase == "M" && name == "thread_name" &&
                event["args"]["name"].string().find("tensor") != std::string::npos)
                lanes.insert(event["args"]["name"].string());
            if (phase != "X" || event["cat"].string() != "tensor core")
                continue;
            multiplied += event["args"]["products"].number();
            CHECK(event["args"]["form"].string() == "m64n8k16.f32.bf16.bf16");
        }
        CHECK(begun == 2 * 2 * 4);
        CHECK(ended == begun);
        CHECK(multiplied == 2 * 2);
        CHECK(lanes == std::set<std::string>{"block 0, tensor cores, warpgroup 0",
                                             "block 0, tensor cores, warpgroup 1"});
    }
}

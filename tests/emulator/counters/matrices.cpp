// What products of matrices count, and passes over the banks of ldmatrix and stmatrix: one for each matrix of
// eight rows of 16 bytes, if no two rows share a bank.

#include "counters/counters_support.hpp"

#include <catch2/catch_test_macros.hpp>

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
    CHECK(sparse[Counter::multiply_adds_f16] == 16 * 8 * 8);
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

// Meson benchmark: products of matrices of bf16 on one core with all checks. Exits non-zero below what is
// promised.

#include "findings/log.hpp"
#include "hopper_emulator/observer.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

using namespace emu;

namespace {

constexpr double promised_rate = 200e6;           ///< Multiply-adds of mma.sync per second.
constexpr double promised_warpgroup_rate = 500e6; ///< The same of wgmma.
constexpr unsigned steps = 512, warps = 4, warpgroup_steps = 32;

/// In each step a warp loads 32 rows of A and 32 columns of B, 16 elements each, and multiplies them.
std::string text() {
    std::string body;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) {
            const auto c = [&](int r) { return "%c" + std::to_string(16 * i + 4 * j + r); };
            const std::string d = "{" + c(0) + ", " + c(1) + ", " + c(2) + ", " + c(3) + "}";
            const auto list = [](char name, int first, int count) {
                std::string l;
                for (int r = first; r < first + count; ++r)
                    l += (r > first ? ", %" : "%") + std::string(1, name) + std::to_string(r);
                return "{" + l + "}";
            };
            body += "    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " + d + ", " +
                    list('a', 4 * i, 4) + ", " + list('b', 2 * j, 2) + ", " + d + ";\n";
        }
    std::string zeros, sum;
    for (int r = 0; r < 32; ++r) {
        zeros += "    mov.f32 %c" + std::to_string(r) + ", 0f00000000;\n";
        sum += "    add.f32 %f1, %f1, %c" + std::to_string(r) + ";\n";
    }
    return R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry products(.param .u64 out)
{
    .shared .align 128 .b8 tile[2048];
    .reg .pred %p<3>;
    .reg .b32 %r<24>;
    .reg .b32 %a<8>;
    .reg .b32 %b<8>;
    .reg .f32 %c<32>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r1, 16, %r2;
    mad.lo.u32 %r4, %r1, 0x00010003, 0x3f803f00;
    st.shared.v4.u32 [%r3], {%r4, %r4, %r4, %r4};
    bar.sync 0;
    and.b32 %r5, %r1, 31;
    mad.lo.u32 %r5, %r5, 16, %r2;
    mov.u32 %r6, 0;
)" + zeros +
           R"(STEP:
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%r5];
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a4, %a5, %a6, %a7}, [%r5+512];
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%r5+1024];
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b4, %b5, %b6, %b7}, [%r5+1536];
)" + body + "    add.u32 %r6, %r6, 1;\n    setp.lt.u32 %p1, %r6, " +
           std::to_string(steps) + ";\n    @%p1 bra STEP;\n    mov.f32 %f1, 0f00000000;\n" + sum + R"(
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f1;
    ret;
}
)";
}

/// One warpgroup, with A and B in shared memory without swizzle: 8 lines of 16 bytes together.
std::string warpgroup_text() {
    std::string d, zeros, sum;
    for (int r = 0; r < 128; ++r) {
        d += (r ? ", %c" : "%c") + std::to_string(r);
        zeros += "    mov.f32 %c" + std::to_string(r) + ", 0f00000000;\n";
        sum += "    add.f32 %f1, %f1, %c" + std::to_string(r) + ";\n";
    }
    std::string body;
    for (int i = 0; i < 4; ++i)
        body += "    wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" + d +
                "}, %rd4, %rd5, %p2, 1, 1, 0, 0;\n";
    return R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry products(.param .u64 out)
{
    .shared .align 1024 .b8 tiles[10240];
    .reg .pred %p<3>;
    .reg .b32 %r<24>;
    .reg .f32 %c<128>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tiles;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r3, %r2;
    mad.lo.u32 %r4, %r1, 0x00010003, 0x3f803f00;
    mov.u32 %r6, 0;
FILL:
    st.shared.u32 [%r3], %r4;
    add.u32 %r3, %r3, 512;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, 20;
    @%p1 bra FILL;
    fence.proxy.async;
    bar.sync 0;
    shr.u32 %r2, %r2, 4;
    cvt.u64.u32 %rd4, %r2;
    add.u64 %rd5, %rd4, 128;
    or.b64 %rd4, %rd4, 0x800400000;
    or.b64 %rd5, %rd5, 0x801000000;
    setp.eq.u32 %p2, 1, 1;
    mov.u32 %r6, 0;
)" + zeros +
           "    wgmma.fence.sync.aligned;\nSTEP:\n" + body + R"(    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, )" +
           std::to_string(warpgroup_steps) + ";\n    @%p1 bra STEP;\n    mov.f32 %f1, 0f00000000;\n" + sum +
           R"(
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f1;
    ret;
}
)";
}

/// Multiply-adds per second of the best of a few launches; 0 if something was reported.
double rate(const std::string& text, double multiply_adds) {
    Settings settings;
    settings.threads = 1;
    Device device(settings, make_reporter());
    device.add_observer(make_checks(settings));
    const Address out = device.memory().allocate(128 * warps, Allocation::Kind::device);
    const auto program = device.load(text);
    LaunchConfig config;
    config.grid = {1, 1, 1};
    config.block = {32 * warps, 1, 1};
    double best = 0;
    for (int repetition = 0; repetition < 5; ++repetition) {
        const auto start = std::chrono::steady_clock::now();
        const auto outcome = device.launch(*program, "products", config, std::as_bytes(std::span(&out, 1)));
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        if (outcome.error != LaunchError::none || !outcome.result.diagnostics.empty())
            return 0;
        best = std::max(best, multiply_adds / seconds.count());
    }
    return best;
}

} // namespace

int main() {
    bool kept = true;
    const auto tell = [&kept](const char* what, double found, double promised) {
        std::printf(
            "%.0f million multiply-adds of %s per second on one core with all checks (promised: %.0f)\n",
            found / 1e6, what, promised / 1e6);
        kept &= found >= promised;
    };
    tell("mma.sync", rate(text(), double{warps} * steps * 8 * 16 * 8 * 16), promised_rate);
    tell("wgmma", rate(warpgroup_text(), double{warpgroup_steps} * 4 * 64 * 256 * 16),
         promised_warpgroup_rate);
    return !kept;
}

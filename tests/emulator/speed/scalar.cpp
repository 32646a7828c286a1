// Meson benchmark: how fast the emulator executes an arithmetic loop without checks, on one host thread, and
// how much slower that is than the same loop compiled for the host. Exits non-zero below the promised rate.

#include "kernel.hpp"

#include <chrono>
#include <cstdio>

using namespace emu;
using namespace emu::test;

namespace {

constexpr std::uint32_t iterations = 200'000;
constexpr std::uint32_t threads = 1024;
constexpr double promised = 200e6; ///< Thread instructions per second and core.

const std::string loop =
    "  mov.u32 %r3, 0;\n  mov.u32 %r4, 12345;\n  ld.global.u32 %r7, [%rd0];\nL:\n"
    "  mad.lo.u32 %r4, %r4, %r1, %r3;\n  xor.b32 %r4, %r4, %r3;\n  add.u32 %r5, %r4, %r1;\n"
    "  shr.u32 %r6, %r5, 3;\n  xor.b32 %r4, %r4, %r6;\n  add.u32 %r3, %r3, 1;\n"
    "  setp.lt.u32 %p1, %r3, %r7;\n  @%p1 bra L;\n  mul.wide.u32 %rd8, %r1, 4;\n"
    "  add.s64 %rd9, %rd0, %rd8;\n  st.global.u32 [%rd9], %r4;\n  ret;";

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One thread's work, as the host's compiler sees it.
std::uint32_t on_host(std::uint32_t tid) {
    std::uint32_t x = 12345;
    for (std::uint32_t i = 0; i < iterations; ++i) {
        x = (x * tid + i) ^ i;
        x ^= (x + tid) >> 3;
    }
    return x;
}

} // namespace

int main() {
    std::vector<std::uint32_t> words(threads, iterations);
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = run(kernel_text(loop), words, {{1, 1, 1}, {threads, 1, 1}});
    const double emulated = seconds_since(start);
    const auto host_start = std::chrono::steady_clock::now();
    std::uint32_t wrong = 0;
    for (std::uint32_t tid = 0; tid < threads; ++tid)
        wrong += on_host(tid) != outcome.words[tid];
    const double host = seconds_since(host_start);
    const double rate = static_cast<double>(outcome.launch.result.instructions) / emulated;
    std::printf("%.0f million thread instructions per second on one core (promised: %.0f)\n", rate / 1e6,
                promised / 1e6);
    std::printf("%.1f times slower than the loop compiled for the host on one core (%.3f s against %.3f s)\n",
                emulated / host, emulated, host);
    if (wrong)
        std::printf("%u threads computed something else\n", wrong);
    return wrong || rate < promised;
}

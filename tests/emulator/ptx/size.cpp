// A module as large as a library's: 8 MB of PTX have to load in at most 3 s together with what the machine
// does.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <iostream>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

/// One kernel the way nvcc writes them, with names of its own.
void append_kernel(std::string& text, unsigned number) {
    const std::string k = "kernel_" + std::to_string(number);
    text +=
        ".visible .entry " + k + "(\n\t.param .u64 " + k + "_param_0,\n\t.param .u32 " + k +
        "_param_1\n)\n{\n"
        "\t.reg .pred \t%p<4>;\n\t.reg .b32 \t%r<200>;\n\t.reg .b64 \t%rd<20>;\n\t.shared .align 16 .b8 " +
        k + "_tile[4096];\n";
    for (unsigned i = 1; i < 60; ++i) {
        const std::string n = std::to_string(i), label = "$L__BB" + std::to_string(number) + "_" + n;
        text += "\t.loc\t1 " + n + " 3\n\t.loc\t2 " + n + " 9, function_name $L__info_string" + n +
                ", inlined_at 1 " + n + " 3\n" + label + ":\n\tadd.s64 \t%rd2, %rd1, " + n +
                ";\n\tld.global.v4.u32 \t{%r1, %r2, %r3, %r" + n +
                "}, [%rd2+16];\n\t// begin inline asm\n\t{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %r1, %r" + n +
                ";\n\t@p bra " + label + ";\n\t}\n\t// end inline asm\n";
    }
    text += "\tret;\n\n}\n";
}

} // namespace

TEST_CASE("8 MB of PTX parse in two seconds") {
#if defined(__wasm__)
    SKIP("the time is promised of hosts");
#endif
    std::string text = header;
    unsigned kernels = 0;
    while (text.size() < 8'000'000)
        append_kernel(text, kernels++);
    const double megabytes = static_cast<double>(text.size()) / 1e6;
    const auto start = std::chrono::steady_clock::now();
    const Module module = parse(std::move(text));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::cout << megabytes << " MB, " << kernels << " kernels in " << elapsed.count() << " s\n";
    CHECK(module.functions.size() == kernels);
    CHECK(module.functions.back().body.size() == 59 * 4 + 1);
    CHECK(elapsed.count() < 2.0);
}

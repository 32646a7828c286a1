/// @file wgmma_assembler_test.cpp
/// Chapter 11's does_not_assemble.cu: the assembler refuses it, with the message that the README shows.
#include "chapter.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

using Catch::Matchers::ContainsSubstring;
using namespace test_support;

namespace {

/// Compiles the file for a target, `90` or `90a`.
Finished assemble(const std::string& target) {
    const TemporaryDirectory directory;
    return run({.argv = {chapter_variable("NVCC"), "-arch=sm_" + target, "-cubin", "-o",
                         (directory.path() / "cubin").string(),
                         (chapter_source() / "does_not_assemble.cu").string()}});
}

constexpr const char* message = "Instruction 'wgmma.fence' not supported on .target 'sm_90'";

} // namespace

TEST_CASE("wgmma assembles for 90a and not for plain 90") {
    CHECK(assemble("90a").exit_code == 0);
    const Finished compiler = assemble("90");
    INFO(compiler.err);
    CHECK(compiler.exit_code != 0);
    CHECK_THAT(compiler.out + compiler.err, ContainsSubstring(message));
}

TEST_CASE("the README shows the assembler's message") {
    CHECK_THAT(read_file(chapter_source() / "README.md"), ContainsSubstring(message));
}

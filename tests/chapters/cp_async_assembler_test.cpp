/// @file cp_async_assembler_test.cpp
/// Chapter 2's does_not_assemble.cu: the assembler refuses it, with the message that the README shows.
#include "chapter.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

using Catch::Matchers::ContainsSubstring;
using namespace test_support;

namespace {

/// Compiles the file with BYTES set to `bytes`.
Finished assemble(const std::string& bytes) {
    const TemporaryDirectory directory;
    return run({.argv = {chapter_variable("NVCC"), "-arch=sm_90", "-cubin", "-DBYTES=" + bytes, "-o",
                         (directory.path() / "cubin").string(),
                         (chapter_source() / "does_not_assemble.cu").string()}});
}

} // namespace

TEST_CASE("cp.async.cg takes 16 bytes and nothing else") {
    CHECK(assemble("16").exit_code == 0);
    for (const char* bytes : {"4", "8"}) {
        const Finished compiler = assemble(bytes);
        INFO(compiler.err);
        CHECK(compiler.exit_code != 0);
        const std::string message = "unexpected value '" + std::string(bytes) + "', expected to be 16";
        CHECK_THAT(compiler.out + compiler.err, ContainsSubstring(message));
    }
}

TEST_CASE("the README shows the assembler's message") {
    CHECK_THAT(
        read_file(chapter_source() / "README.md"),
        ContainsSubstring("Argument 2 of instruction 'cp.async': unexpected value '8', expected to be 16"));
}

// Source lines, PTX ISA 11.5: a message has to name the reader's line, not the toolkit's.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

const std::string files =
    ".file 1 \"/home/reader/kernel.cu\"\n.file 2 \"/usr/local/cuda/include/cccl/cuda/barrier\", 1, 2\n"
    ".file 3 \"/home/reader/helper.cuh\"\n";

/// "file:line" of the location that a reader sees for the instruction.
std::string seen_at(const Module& module, std::size_t instruction, std::size_t function = 0) {
    const Location& at = module.reader_location(module.functions.at(function).body.at(instruction).location);
    return std::to_string(at.file) + ":" + std::to_string(at.line);
}

} // namespace

TEST_CASE("a .loc holds for what follows it, up to the next") {
    const Module module =
        module_of(files + ".entry k() { trap;\n.loc 1 10 3\n trap; trap;\n.loc 1 11 5\n ret; }");
    const auto& body = module.functions[0].body;
    CHECK(body[0].location == 0);
    CHECK(body[1].location == body[2].location);
    const Location& at = module.locations.at(body[1].location);
    CHECK(at.file == 1);
    CHECK(at.line == 10);
    CHECK(at.column == 3);
    CHECK(at.inlined_at == 0);
    CHECK(module.functions[0].location == body[1].location);
    CHECK(module.files.at(1) == "/home/reader/kernel.cu");
    CHECK(module.files.at(0).empty());
}

TEST_CASE("files may be named after their use") {
    const Module module =
        module_of(".entry k() { .loc 2 10 3\n ret; }\n.file 1 \"a.cu\"\n.file 2 \"b.cu\"\n");
    CHECK(module.files.size() == 3);
    CHECK(seen_at(module, 0) == "2:10");
}

TEST_CASE("a file's name has the bytes that its directory has") {
    const auto name_of = [](const std::string& text) {
        return module_of(".entry k() { .loc 1 10 3\n ret; }\n.file 1 \"" + text + "\"\n").files.at(1);
    };
    CHECK(name_of(R"(/home/j\303\266rg/k\303\244.cu)") == "/home/j\303\266rg/k\303\244.cu");
    CHECK(name_of("/home/j\303\266rg/k.cu") ==
          "/home/j\303\266rg/k.cu"); // other compilers leave them as they are
    CHECK(name_of(R"(C:\\a\"b\".cu)") == R"(C:\a"b".cu)");
    // No escapes: they stay as they are.
    for (const std::string plain : {R"(a\30)", R"(a\3x6)", R"(a\777)", R"(a\99b)", R"(C:\new.cu)"})
        CHECK(name_of(plain) == plain);
}

TEST_CASE("files that are never named have empty names") {
    const Module module = module_of(".entry k() { .loc 7 10 3\n ret; }\n");
    REQUIRE(module.files.size() == 8);
    CHECK(module.files[7].empty());
}

TEST_CASE("inlined code of the toolkit is seen where the reader called it") {
    const Module module =
        module_of(files + ".entry k() {\n.loc 1 10 3\n.loc 2 99 1, function_name $L__s0, inlined_at 1 10 3\n"
                          ".loc 2 55 1, function_name $L__s1+4, inlined_at 2 99 1\n ret; }");
    CHECK(seen_at(module, 0) == "1:10");
    const Location& inner = module.locations.at(first(module).location);
    CHECK(inner.line == 55);
    CHECK(module.locations.at(inner.inlined_at).line == 99);
}

TEST_CASE("the reader's own helper is the innermost line that counts") {
    const Module module =
        module_of(files + ".entry k() {\n.loc 1 10 3\n.loc 3 7 1, function_name $L__s0, inlined_at 1 10 3\n"
                          ".loc 2 55 1, function_name $L__s1, inlined_at 3 7 1\n ret; }");
    CHECK(seen_at(module, 0) == "3:7");
}

TEST_CASE("one helper inlined at two places keeps both chains") {
    const Module module =
        module_of(files + ".entry k() {\n"
                          ".loc 1 10 3\n.loc 2 99 1, function_name $L__s0, inlined_at 1 10 3\n"
                          ".loc 2 55 1, function_name $L__s1, inlined_at 2 99 1\n trap;\n"
                          ".loc 1 20 3\n.loc 2 99 1, function_name $L__s0, inlined_at 1 20 3\n"
                          ".loc 2 55 1, function_name $L__s1, inlined_at 2 99 1\n ret; }");
    CHECK(seen_at(module, 0) == "1:10");
    CHECK(seen_at(module, 1) == "1:20");
}

TEST_CASE("chains do not reach into another function") {
    const Module module = module_of(
        files + ".entry a() {\n.loc 1 10 3\n.loc 2 99 1, function_name $L__s0, inlined_at 1 10 3\n ret; }\n"
                ".entry b() {\n.loc 2 55 1, function_name $L__s1, inlined_at 2 99 1\n ret; }");
    CHECK(seen_at(module, 0, 0) == "1:10");
    CHECK(seen_at(module, 0, 1) == "2:99");
}

TEST_CASE("line 0 means that the line before goes on") {
    const Module module = module_of(files + ".entry k() {\n.loc 1 10 3\n trap;\n.loc 2 0 3\n ret; }");
    CHECK(seen_at(module, 1) == "1:10");
}

TEST_CASE("without a reader's file the outermost line is the best there is") {
    const Module module = module_of(
        files + ".entry k() {\n.loc 2 99 3\n.loc 2 55 1, function_name $L__s0, inlined_at 2 99 3\n ret; }");
    CHECK(seen_at(module, 0) == "2:99");
    CHECK(module.reader_location(0).line == 0);
    CHECK(module.reader_location(4'000'000'000u).line == 0);
}

TEST_CASE("equal places are kept once") {
    const Module module =
        module_of(files + ".entry k() {\n.loc 1 10 3\n trap;\n.loc 1 11 3\n trap;\n.loc 1 10 3\n ret; }");
    CHECK(module.locations.size() == 3);
    CHECK(module.functions[0].body[0].location == module.functions[0].body[2].location);
}

TEST_CASE("files of the toolkit, wherever it is installed") {
    CHECK(is_toolkit_file("/usr/local/cuda/include/cuda_fp16.hpp"));
    CHECK(is_toolkit_file("/usr/local/cuda-13.0/include/cccl/cuda/__barrier/barrier.h"));
    CHECK(is_toolkit_file("/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp"));
    CHECK(is_toolkit_file(
        "/home/reader/env/lib/python3.11/site-packages/nvidia/cu13/include/cccl/cuda/std/atomic"));
    CHECK(is_toolkit_file("/opt/toolkit/include/cooperative_groups/details/helpers.h"));
    CHECK(is_toolkit_file("/opt/toolkit/include/cuda_pipeline_primitives.h"));
    CHECK(is_toolkit_file("/opt/toolkit/include/crt/sm_90_rt.hpp"));
    CHECK(is_toolkit_file("/usr/include/c++/12/cmath"));
}

TEST_CASE("the reader's files, also in a clone with an unlucky name") {
    CHECK_FALSE(is_toolkit_file("/home/reader/cuda/chapters/05_tma_1d/tma_1d.cuh"));
    CHECK_FALSE(is_toolkit_file("/home/reader/nvidia/include/workbook/launch.hpp"));
    CHECK_FALSE(is_toolkit_file("/usr/local/cuda-work/include/kernel.cuh"));
    CHECK_FALSE(is_toolkit_file("/home/reader/cooperative_groups/main.cu"));
    CHECK_FALSE(is_toolkit_file("kernel.cu"));
    CHECK_FALSE(is_toolkit_file(""));
}

TEST_CASE("a malformed .loc is refused") {
    CHECK(error_in_module(".entry k() { .loc 1 2\n ret; }") ==
          "ptx:5:2: expected a column number, found 'ret'");
    CHECK(error_in_module(".entry k() { .loc 1 2 3, wrong x\n ret; }")
              .find("expected function_name or inlined_at") != std::string::npos);
    CHECK(error_in_module(".file 4000000000 \"x\"\n").find("must be at most") != std::string::npos);
}

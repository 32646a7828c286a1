// The PTX linker: what programs built with -rdc=true need.

#include "hopper_emulator/module.hpp"
#include "ptx/parser.hpp"

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>

using emu::link_ptx;

namespace {

const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

const std::string caller = header + R"(
.extern .func (.param .b32 result) twice(.param .b32 x);
.extern .global .align 4 .u32 offset;
.global .align 4 .u32 local = 1; // twice "offset" { in a comment
.visible .entry run(.param .u64 out)
{
    .reg .b32 %r<3>;
    .loc 1 7 0
    ld.global.u32 %r1, [offset];
    ld.global.u32 %r2, [local];
    ret;
}
.file 1 "caller.cu"
)";

const std::string callee = header + R"(
.visible .global .align 4 .u32 offset = 5;
.global .align 4 .u32 local = 100;
.visible .func (.param .b32 result) twice(.param .b32 x)
{
    .reg .b32 %r<3>;
    .loc 1 3 0
    ld.global.u32 %r1, [local];
    ret;
}
.file 1 "callee.cu"
)";

} // namespace

TEST_CASE("one module passes unchanged") { CHECK(link_ptx({caller}) == caller); }

TEST_CASE("external names meet their definitions, local ones stay apart") {
    const std::string linked = link_ptx({caller, callee});
    INFO(linked);
    const emu::ptx::Module module = emu::ptx::parse(linked);
    REQUIRE(module.find_variable("offset") >= 0);
    CHECK(module.variables[static_cast<std::size_t>(module.find_variable("offset"))].linkage !=
          emu::ptx::Linkage::external);
    CHECK(module.find_variable("local") >= 0);
    CHECK(module.variables.size() == 3);
    const auto twice = module.find_function("twice");
    REQUIRE(twice >= 0);
    CHECK(module.functions[static_cast<std::size_t>(twice)].has_body);
}

TEST_CASE("source lines keep their files") {
    const emu::ptx::Module module = emu::ptx::parse(link_ptx({caller, callee}));
    const auto file_of = [&](const char* function) {
        const auto& f = module.functions[static_cast<std::size_t>(module.find_function(function))];
        for (const auto& instruction : f.body)
            if (instruction.location)
                return module.files[module.locations[instruction.location].file];
        return std::string();
    };
    CHECK(file_of("run") == "caller.cu");
    CHECK(file_of("twice") == "callee.cu");
}

TEST_CASE("of weak duplicates the first is kept, strong ones are an error") {
    const std::string weak = header + ".weak .global .align 4 .u32 shared_once = 1;\n";
    const std::string strong = header + ".visible .global .align 4 .u32 once = 1;\n";
    CHECK(emu::ptx::parse(link_ptx({weak, weak})).variables.size() == 1);
    CHECK_THROWS_AS(link_ptx({strong, strong}), std::runtime_error);
}

/// The line that the linker says of a second module.
std::string complaint(const std::string& second) {
    try {
        link_ptx({caller, second});
    } catch (const emu::ptx::ParseError& error) {
        CHECK_FALSE(error.excerpt().empty());
        return error.what();
    }
    return "linked";
}

TEST_CASE("a module that is cut off is one clear error, wherever it is cut") {
    unsigned refused = 0;
    for (std::size_t size = 0; size < caller.size(); ++size) {
        INFO(size);
        try {
            // Cut between two statements it is a shorter module, which may still name what it lost.
            static_cast<void>(link_ptx({caller.substr(0, size), callee}));
        } catch (const emu::ptx::ParseError& error) {
            CHECK(std::string(error.what()).starts_with("module 1 of 2 to link: ptx:"));
            ++refused;
        }
    }
    CHECK(refused > caller.size() / 2);
}

TEST_CASE("what is damaged in a module is named with its place") {
    CHECK(complaint(header + ".visible .func f() {\n ret;\n") ==
          "module 2 of 2 to link: ptx:4:1: this statement has neither a ';' nor a closing brace");
    CHECK(complaint(header + "}\n") == "module 2 of 2 to link: ptx:4:1: expected a directive, found '}'");
    CHECK(complaint(header + ".global .u32 x };\n") ==
          "module 2 of 2 to link: ptx:4:16: this closing brace has no opening one");
    CHECK(complaint(header + ".visible .func f() { ret; } \x01") ==
          "module 2 of 2 to link: ptx:4:29: unexpected character '?'");
    CHECK(complaint(header + "/* and so on").find("this comment has no closing */") != std::string::npos);
    CHECK(complaint(header + ".file 1 \"never closed\n").find("no closing quote") != std::string::npos);
}

TEST_CASE("a file's number that is none, or is too large, is an error") {
    const auto located = [](const std::string& number) {
        return complaint(header + ".visible .func f()\n{\n .loc " + number + " 7 0\n ret;\n}\n");
    };
    CHECK(located("99999999999999999999999") ==
          "module 2 of 2 to link: ptx:6:7: '99999999999999999999999' does not fit in 64 bits");
    CHECK(located("18446744073709551615") ==
          "module 2 of 2 to link: ptx:6:7: a file number must be at most 1048576");
    CHECK(located("1.5") == "module 2 of 2 to link: ptx:6:7: a file number must be at most 1048576");
    CHECK(located("one") == "module 2 of 2 to link: ptx:6:7: expected a file number, found 'one'");
    CHECK(complaint(header + ".file 4294967296 \"x\"\n").find("at most 1048576") != std::string::npos);
    CHECK(located("0x10") == "linked");
}

TEST_CASE("inlined places and names of inlined functions belong to their module") {
    const auto module = [](const std::string& name, const std::string& file) {
        return header + ".visible .func " + name + "()\n{\n .loc 1 7 0\n add.u32 a, b, c;\n" +
               " .loc 2 3 0, function_name $L__info_string0, inlined_at 1 7 0\n ret;\n}\n.file 1 \"" + file +
               "\"\n.file 2 \"h\"\n.section .debug_str\n{\n$L__info_string0:\n.b8 102, 0\n}\n";
    };
    const std::string linked = link_ptx({module("f", "a.cu"), module("g", "b.cu")});
    INFO(linked);
    CHECK(linked.find(".loc 4 3 0, function_name $L__info_string0$m1, inlined_at 3 7 0") != linked.npos);
    CHECK(linked.find(".file 3 \"b.cu\"") != linked.npos);
    CHECK(linked.find("$L__info_string0$m1:") != linked.npos);
    CHECK(linked.find("$L__info_string0$m0:") != linked.npos);
}

TEST_CASE("words in comments, strings and longer names stay as they are") {
    const std::string other = header + ".global .align 4 .u32 local = 3;\n.global .align 4 .u32 local2 = 4;\n"
                                       ".visible .func f()\n{\n // local\n .pragma \"local\";\n"
                                       " ld.local.u32 %r1, [local+4];\n ret;\n}\n";
    const std::string linked = link_ptx({caller, other});
    INFO(linked);
    CHECK(linked.find("// local\n") != linked.npos);
    CHECK(linked.find(".pragma \"local\";") != linked.npos);
    CHECK(linked.find("ld.local.u32 %r1, [local$m1+4];") != linked.npos);
    CHECK(linked.find(".u32 local2 = 4") != linked.npos);
}

TEST_CASE("padding behind the text of a fat binary is no text") {
    CHECK(link_ptx({caller + std::string(5, '\0'), callee + std::string(3, '\0')}) ==
          link_ptx({caller, callee}));
}

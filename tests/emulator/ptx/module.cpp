// The directives of a module as a whole.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::ptx;
using namespace ptx_text;

TEST_CASE("version, target and its options are read") {
    const Module module =
        parse(".version 8.7\n.target sm_90a, texmode_independent, debug\n.address_size 64\n");
    CHECK(module.version_major == 8);
    CHECK(module.version_minor == 7);
    CHECK(module.target == "sm_90a");
    CHECK(module.functions.empty());
}

TEST_CASE("a module without version or target is refused") {
    CHECK(error_in("") == "ptx:1:1: a PTX module begins with .version, such as '.version 9.0'");
    CHECK(error_in(".target sm_90\n").find("ptx:1:1: a PTX module begins with .version") == 0);
    CHECK(error_in(".version 9.0\n").find("names no .target") != std::string::npos);
    CHECK(error_in(header + ".version 9.0\n").find("ptx:4:1: a second .version") == 0);
}

TEST_CASE("only 64-bit addresses are accepted") {
    CHECK(error_in(".version 9.0\n.target sm_90\n.address_size 32\n").find("ptx:3:15:") == 0);
}

TEST_CASE("NULs after the text are padding, NULs within are an error") {
    CHECK(error_in(header + std::string(5, '\0')).empty());
    CHECK(error_in(header + std::string(1, '\0') + ".global .u32 x;").find("unexpected character") !=
          std::string::npos);
}

TEST_CASE("comments, line markers and DWARF lines are blanks") {
    const Module module = module_of("// .entry a\n/* .entry b\n*/\n# 1 \"x.cu\"\n  # 2\n@@DWARF 1\n"
                                    ".visible .entry /* here */ k // there\n() { ret; }\n");
    REQUIRE(module.functions.size() == 1);
    CHECK(module.functions[0].name == "k");
}

TEST_CASE("sections are skipped, whatever stands in them") {
    const Module module = module_of(".section .debug_str {\n$L__info_string0:\n.b8 95,90\n.b64 .debug_x\n"
                                    ".b32 $L__a+4\n{ nested }\n}\n.global .u32 after;\n");
    REQUIRE(module.variables.size() == 1);
    CHECK(module.variables[0].name == "after");
}

TEST_CASE("linkage of variables and functions") {
    const Module module =
        module_of(".visible .global .u32 a;\n.extern .global .u32 b;\n.weak .global .u32 c;\n"
                  ".common .global .u32 d;\n.global .u32 e;\n"
                  ".visible .entry f() { ret; }\n.weak .func g() { ret; }\n.extern .func h();\n");
    REQUIRE(module.variables.size() == 5);
    CHECK(module.variables[0].linkage == Linkage::visible);
    CHECK(module.variables[1].linkage == Linkage::external);
    CHECK(module.variables[2].linkage == Linkage::weak);
    CHECK(module.variables[3].linkage == Linkage::common);
    CHECK(module.variables[4].linkage == Linkage::local);
    REQUIRE(module.functions.size() == 3);
    CHECK(module.functions[0].linkage == Linkage::visible);
    CHECK(module.functions[1].linkage == Linkage::weak);
    CHECK(module.functions[2].linkage == Linkage::external);
}

TEST_CASE("find_function and find_variable") {
    const Module module =
        module_of(".global .u32 x;\n.shared .u32 y;\n.func f() { ret; }\n.func g() { ret; }\n");
    CHECK(module.find_variable("y") == 1);
    CHECK(module.find_variable("f") == -1);
    CHECK(module.find_function("g") == 1);
    CHECK(module.find_function("x") == -1);
}

TEST_CASE("an alias stands for the function it names, everywhere") {
    const Module module = module_of(".visible .func other();\n.func real() { ret; }\n.alias other, real;\n"
                                    ".global .u64 pointer = other;\n"
                                    ".visible .entry k() { t: .calltargets other; call other; ret; }\n");
    CHECK(module.find_function("other") == module.find_function("real"));
    const Function& kernel = module.functions.at(2);
    CHECK(kernel.body.at(0).operands.at(0).index == 1);
    CHECK(kernel.tables.at(0).targets.at(0) == 1);
    CHECK(module.variables.at(0).relocations.at(0).index == 1);
    CHECK(error_in_module(".func f();\n.extern .func g();\n.alias f, g;\n") ==
          "ptx:6:11: 'g' is no function of this module with a body, so nothing can be its alias");
}

TEST_CASE("an unknown directive is named") {
    CHECK(error_in_module(".frobnicate 3;\n") == "ptx:4:1: unknown directive '.frobnicate'");
    CHECK(error_in_module("hello\n") == "ptx:4:1: expected a directive, found 'hello'");
}

TEST_CASE("the excerpt shows the line and a caret below the place") {
    try {
        parse(header + "\t.global .u32 a;\n\t.global .u32 a;\n");
        FAIL("a second definition was accepted");
    } catch (const ParseError& error) {
        CHECK(std::string(error.what()) == "ptx:5:15: 'a' is defined twice");
        CHECK(error.excerpt() == "\t.global .u32 a;\n\t             ^");
    }
}

TEST_CASE("position_of finds an instruction in the text") {
    const Module module = kernel("  trap;");
    const TextPosition position = position_of(module, first(module).text_offset);
    CHECK(position.line == 6);
    CHECK(position.column == 3);
    CHECK(position.excerpt == "  trap;\n  ^");
}

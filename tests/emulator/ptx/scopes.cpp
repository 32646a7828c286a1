// Braces, labels and names within a function, PTX ISA 4.3.1, 9.2 and 11.3: inline assembly lives on them.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::ptx;
using namespace ptx_text;

TEST_CASE("inner registers hide outer ones and are distinct from them") {
    const Module module =
        kernel(".reg .b32 r; { .reg .b64 r; mov.u64 r, 1; { .reg .pred r; @r trap; } mov.u64 r, 2; }\n"
               "{ .reg .f32 r; mov.f32 r, 1.0; } mov.u32 r, 3;");
    const auto& body = module.functions[0].body;
    CHECK(module.functions[0].registers.size() == 4);
    CHECK(body[0].operands[0].index == 1);
    CHECK(body[1].guard == 2);
    CHECK(body[2].operands[0].index == 1);
    CHECK(body[3].operands[0].index == 3);
    CHECK(body[4].operands[0].index == 0);
}

TEST_CASE("an inner range hides single outer names and the other way round") {
    const Module module =
        kernel(".reg .b32 r1; { .reg .b64 r<2>; mov.u64 r1, 1; { .reg .b16 r1; mov.u16 r1, 1; } }\n"
               "mov.u32 r1, 1;");
    const auto& body = module.functions[0].body;
    CHECK(body[0].operands[0].index == 2);
    CHECK(body[1].operands[0].index == 3);
    CHECK(body[2].operands[0].index == 0);
}

TEST_CASE("names end with their braces") {
    CHECK(error_in_kernel("{ .reg .b32 r; } mov.u32 r, 1;") == "ptx:6:26: 'r' is not declared");
    CHECK(error_in_kernel("mov.u32 r, 1; .reg .u32 r;") == "ptx:6:9: 'r' is not declared");
}

TEST_CASE("variables of every scope are in the function, each once") {
    const Module module =
        kernel(".shared .align 16 .b8 tile[64]; .local .u32 spill; { .param .b32 p; st.param.b32 [p], 1; }\n"
               "{ .param .b64 p; st.param.b64 [p], 1; }");
    const Function& function = module.functions[0];
    REQUIRE(function.variables.size() == 4);
    CHECK(function.variables[0].space == Space::shared);
    CHECK(function.variables[1].space == Space::local);
    CHECK(function.body[0].operands[0].elements.at(0).index == 2);
    CHECK(function.body[1].operands[0].elements.at(0).index == 3);
}

TEST_CASE("global and constant variables inside a function belong to the module, but not their names") {
    const Module module = module_of(".entry a() { .global .u32 x = 3; .reg .b64 d; mov.u64 d, x; ret; }\n"
                                    ".entry b() { .const .u32 x = 4; .reg .b64 d; mov.u64 d, x; ret; }\n");
    REQUIRE(module.variables.size() == 2);
    CHECK(module.functions[1].body[0].operands[1].symbol_kind == SymbolKind::module_variable);
    CHECK(module.functions[1].body[0].operands[1].index == 1);
}

TEST_CASE("the same shared name in two kernels is two variables") {
    const Module module =
        module_of(".entry a() { .shared .u32 x; ret; }\n.entry b() { .shared .u64 x; ret; }\n");
    CHECK(module.functions[0].variables.at(0).size == 4);
    CHECK(module.functions[1].variables.at(0).size == 8);
}

TEST_CASE("labels: forward, backward, out of braces, the same in two braces") {
    const Module module = kernel("A: bra B; { L: bra L; bra B; } { L: bra L; } B: bra A;");
    const auto& body = module.functions[0].body;
    const auto target = [&](std::size_t i) {
        CHECK(body.at(i).operands.at(0).kind == Operand::Kind::label);
        return body.at(i).operands.at(0).index;
    };
    CHECK(target(0) == 4);
    CHECK(target(1) == 1);
    CHECK(target(2) == 4);
    CHECK(target(3) == 3);
    CHECK(target(4) == 0);
}

TEST_CASE("a label of the own braces goes before one outside, also when it comes later") {
    const Module module = kernel("A: trap; { bra A; A: trap; }");
    CHECK(module.functions[0].body[1].operands[0].index == 2);
}

TEST_CASE("labels that are not there, or twice, are refused") {
    CHECK(error_in_kernel("{ bra A; } { A: }") == "ptx:6:7: 'A' is not a label of this function");
    CHECK(error_in_kernel("bra A; { A: }") == "ptx:6:5: 'A' is not a label of this function");
    CHECK(error_in_kernel("A: A:") == "ptx:6:4: label 'A' stands twice in this scope");
    CHECK(error_in_module(".func f() { ret; }\n.entry k() { bra f; }").find("not a label") !=
          std::string::npos);
}

TEST_CASE("a body that would run off its end returns") {
    const auto opcodes = [](std::string_view text) {
        std::string all;
        const Module module = module_of(text);
        for (const Instruction& instruction : module.functions.at(0).body)
            all += std::string(instruction.opcode) + " ";
        return all;
    };
    CHECK(opcodes(".entry k() { }") == "ret ");
    CHECK(opcodes(".entry k() { trap; }") == "trap ");
    CHECK(opcodes(".entry k() { .reg .pred p; @p ret; }") == "ret ret ");
    CHECK(opcodes(".entry k() { .reg .pred p; @p bra E; ret; E: }") == "bra ret ret ");
    CHECK(opcodes(".entry k() { .reg .pred p; { @p bra E; ret; E: } }") == "bra ret ret ");
}

TEST_CASE("lists of branch targets, before and after their use") {
    const Module module = kernel(".reg .b32 r; t: .branchtargets A, B; brx.idx r, t; A: trap; B: trap;\n"
                                 "{ brx.idx r, u; A: trap; u: .branchtargets A, B; }");
    const Function& function = module.functions[0];
    CHECK(function.tables.at(0).targets == std::vector<std::uint32_t>{1, 2});
    CHECK(function.tables.at(1).targets == std::vector<std::uint32_t>{4, 2});
    CHECK(function.body[0].operands[1].symbol_kind == SymbolKind::table);
    CHECK(function.body[3].operands[1].index == 1);
    CHECK(error_in_kernel("t: .branchtargets A, B; A:") == "ptx:6:22: 'B' is not a label of this function");
    CHECK(error_in_kernel(".branchtargets A;").find("needs the form") != std::string::npos);
}

TEST_CASE("braces nest to a limit") {
    CHECK(error_in_kernel(std::string(100, '{') + std::string(100, '}')).empty());
    CHECK(error_in_kernel(std::string(100'000, '{')).find("nested deeper than 128") != std::string::npos);
    CHECK(error_in_kernel("{ trap;").find("no closing brace") != std::string::npos);
}

TEST_CASE("a loop of inline assembly with blanks, comments and joined lines") {
    const Module module =
        kernel(".reg .b32 %r<3>;\n// begin inline asm\n{\n\t.reg .pred       P1;\nLAB_WAIT: \n"
               "mbarrier.try_wait.parity.shared::cta.b64 P1, [%r1], %r2; // wait\n"
               "@P1 bra DONE; bra     LAB_WAIT;\nDONE: \n}\n// end inline asm");
    const auto& body = module.functions[0].body;
    CHECK(body[0].modifiers == std::vector<std::string_view>{"try_wait", "parity", "shared::cta", "b64"});
    CHECK(body[1].operands[0].index == 3);
    CHECK(body[2].operands[0].index == 0);
}

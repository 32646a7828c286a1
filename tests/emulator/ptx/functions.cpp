// Headers of functions, parameters, calls and prototypes, PTX ISA 7 and 11.2 to 11.4.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

using Extents = std::array<std::uint32_t, 3>;

} // namespace

TEST_CASE("parameters of a kernel, with what their pointers promise") {
    const Module module =
        module_of(".visible .entry k(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr b,\n"
                  ".param .u64 .ptr .shared c, .param .align 64 .b8 d[128],\n"
                  ".param .u64 .ptr .align 1 e, .param .f32 f)\n{ ret; }\n");
    const auto& p = module.functions.at(0).parameters;
    REQUIRE(p.size() == 6);
    CHECK(p[0].name == "a");
    CHECK(p[0].space == Space::param);
    CHECK(p[0].alignment == 8);
    CHECK(p[3].size == 128);
    CHECK(p[3].alignment == 64);
    CHECK(p[4].name == "e");
    CHECK(p[5].type == Type::f32);
}

TEST_CASE("launch bounds and clusters") {
    const Module module =
        module_of(".entry a() .maxntid 128, 2\n.minnctapersm 2\n.maxnreg 64\n.pragma \"x\";\n{ ret; }\n"
                  ".entry b() .reqntid 32, 4, 2\n.reqnctapercluster 2, 1, 1\n.explicitcluster { ret; }\n"
                  ".entry c() .maxclusterrank 8\n.maxnctapersm 3 { ret; }\n"
                  ".entry d() .reqntid 32 .reqnctapercluster 4 .blocksareclusters { ret; }\n");
    const auto& f = module.functions;
    CHECK(f[0].max_threads == Extents{128, 2, 1});
    CHECK(f[0].required_threads == Extents{0, 0, 0});
    CHECK(f[0].min_blocks_per_sm == 2);
    CHECK(f[0].max_registers == 64);
    CHECK(f[1].required_threads == Extents{32, 4, 2});
    CHECK(f[1].required_cluster == Extents{2, 1, 1});
    CHECK(f[1].explicit_cluster);
    CHECK(f[2].max_cluster_rank == 8);
    CHECK(f[2].min_blocks_per_sm == 3);
    CHECK_FALSE(f[2].explicit_cluster);
    CHECK(f[3].blocks_are_clusters);
}

TEST_CASE("a function without parentheses has no parameters") {
    const Module module = module_of(".visible .entry a { ret; }\n.func b { ret; }\n.func c;\n");
    REQUIRE(module.functions.size() == 3);
    CHECK(module.functions[0].is_entry);
    CHECK(module.functions[0].parameters.empty());
    CHECK(module.functions[1].has_body);
    CHECK_FALSE(module.functions[2].has_body);
}

TEST_CASE("a declaration and a definition are one function") {
    const Module module =
        module_of(".func (.param .b32 r) f (.param .b32 a);\n"
                  ".visible .entry k() { .param .b32 x; .param .b32 y; call (x), f, (y); ret; }\n"
                  ".func (.param .b32 r) f (.param .b32 a) { ret; }\n");
    REQUIRE(module.functions.size() == 2);
    CHECK(module.functions[0].has_body);
    CHECK(module.functions[1].body.at(0).operands.at(1).index == 0);
    CHECK(error_in_module(".func f() { ret; }\n.func f() { ret; }") == "ptx:5:7: 'f' is defined twice");
    CHECK(error_in_module(".func f(.param .b32 a);\n.func f() { ret; }").find("was declared with 1") !=
          std::string::npos);
}

TEST_CASE("functions and variables may come after their use") {
    const Module module = module_of(".visible .entry k() { .reg .b64 d; call f; mov.u64 d, v; ret; }\n"
                                    ".func f() { ret; }\n.global .u32 v;\n");
    CHECK(first(module).operands[0].symbol_kind == SymbolKind::function);
    CHECK(first(module).operands[0].index == 1);
    CHECK(module.functions[0].body[1].operands[1].symbol_kind == SymbolKind::module_variable);
    CHECK(error_in_module(".visible .entry k() { call nothing; ret; }") ==
          "ptx:4:28: 'nothing' is not declared");
}

TEST_CASE("results and parameters as operands") {
    const Module module = module_of(".func (.param .b32 r) f (.param .b32 a, .param .b64 b) {\n"
                                    ".reg .b32 x; ld.param.b32 x, [b+4]; st.param.b32 [r+0], x; ret; }\n");
    const auto& body = module.functions[0].body;
    const Operand& b = body[0].operands[1];
    CHECK(b.kind == Operand::Kind::address);
    CHECK(b.offset == 4);
    CHECK(b.elements.at(0).symbol_kind == SymbolKind::parameter);
    CHECK(b.elements.at(0).index == 1);
    CHECK(body[1].operands[0].elements.at(0).symbol_kind == SymbolKind::result);
}

TEST_CASE("parameters in registers, the form without an ABI") {
    const Module module =
        module_of(".func (.reg .u32 r) f (.reg .u32 a, .reg .f32 b) { add.u32 r, a, 1; ret; }\n"
                  ".visible .entry k() { .reg .u32 x; .reg .f32 y; call (x), f, (3, y); ret; }\n");
    const Function& f = module.functions[0];
    CHECK(f.results.at(0).in_register);
    CHECK(f.results.at(0).register_index == 0);
    CHECK(f.parameters.at(1).register_index == 2);
    CHECK(f.register_name(1) == "a");
    CHECK(f.body.at(0).operands.at(1).index == 1);
    const auto& call = module.functions[1].body.at(0);
    CHECK(call.operands.at(2).kind == Operand::Kind::tuple);
    CHECK(call.operands.at(2).elements.at(0).kind == Operand::Kind::integer);
    CHECK(call.operands.at(2).elements.at(1).kind == Operand::Kind::reg);
}

TEST_CASE("an indirect call as nvcc writes it") {
    const Module module =
        kernel("{ .reg .b64 p; .param .b32 param0; .param .b32 retval0;\n"
               "prototype_6 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
               "call (retval0), \n p, \n (\n param0\n )\n , prototype_6;\n }");
    const Function& function = module.functions[0];
    REQUIRE(function.tables.size() == 1);
    CHECK(function.tables[0].kind == Table::Kind::prototype);
    CHECK(function.tables[0].results.size() == 1);
    CHECK(function.tables[0].parameters.size() == 2);
    const Instruction& call = function.body.at(0);
    REQUIRE(call.operands.size() == 4);
    CHECK(call.operands[0].kind == Operand::Kind::tuple);
    CHECK(call.operands[0].elements.at(0).symbol_kind == SymbolKind::function_variable);
    CHECK(call.operands[0].elements.at(0).index == 1);
    CHECK(call.operands[1].kind == Operand::Kind::reg);
    CHECK(call.operands[3].symbol_kind == SymbolKind::table);
}

TEST_CASE("prototypes without results or parameters") {
    const Module module =
        kernel("a: .callprototype ()_ (); b: .callprototype _ .noreturn; c: .callprototype _;");
    CHECK(module.functions[0].tables.size() == 3);
}

TEST_CASE("lists of call targets name functions") {
    const Module module = module_of(".func f() { ret; }\n.visible .entry k() { .reg .b64 p;\n"
                                    "t: .calltargets f, g; call p, t; ret; }\n.func g() { ret; }\n");
    CHECK(module.functions[1].tables.at(0).targets == std::vector<std::uint32_t>{0, 2});
    CHECK(error_in_module(".entry k() { t: .calltargets x; ret; }") == "ptx:4:30: 'x' is not a function");
}

TEST_CASE("functions that do not return, and functions with a variable list of arguments") {
    const Module module =
        module_of(".extern .func stop() .noreturn;\n.extern .func v(.param .b64 x, .param .b8 rest[]);\n"
                  ".func .attribute(.unified(1,2)) u() .abi_preserve 8 { ret; }\n");
    CHECK(module.functions[0].no_return);
    CHECK(module.functions[1].parameters.at(1).unsized);
    CHECK(module.functions[2].name == "u");
}

TEST_CASE("headers that make no sense are refused") {
    CHECK(error_in_module(".entry (.param .u32 a) b() { ret; }").find("returns nothing") !=
          std::string::npos);
    CHECK(error_in_module(".entry b(.param .u32 a, .param .u32 a) { ret; }").find("declared twice") !=
          std::string::npos);
    CHECK(error_in_module(".entry b(.global .u32 a) { ret; }").find("a parameter needs the form") !=
          std::string::npos);
    CHECK(error_in_module(".entry b() .frob { ret; }").find("unknown directive '.frob'") !=
          std::string::npos);
    CHECK(error_in_module(".entry b() 3") == "ptx:4:12: expected ';' or the function's body, found '3'");
    CHECK(error_in_module(".entry b() { ret;").find("no closing brace") != std::string::npos);
    CHECK(error_in_module(".entry b() { ret; }}").find("expected a directive, found '}'") !=
          std::string::npos);
}

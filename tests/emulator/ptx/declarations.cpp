// Variables and registers, PTX ISA 5.1 to 5.4.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::ptx;
using namespace ptx_text;

TEST_CASE("space, type, size and alignment of variables") {
    const Module module = module_of(".global .align 16 .b8 a[24];\n.const .f64 b;\n.shared .v4 .f32 c[2];\n"
                                    ".local .u16 d[3][5];\n.extern .shared .align 128 .b8 e[];\n");
    REQUIRE(module.variables.size() == 5);
    const auto& v = module.variables;
    CHECK(v[0].space == Space::global);
    CHECK(v[0].type == Type::b8);
    CHECK(v[0].size == 24);
    CHECK(v[0].alignment == 16);
    CHECK(v[1].space == Space::constant);
    CHECK(v[1].size == 8);
    CHECK(v[1].alignment == 8);
    CHECK(v[2].space == Space::shared);
    CHECK(v[2].size == 32);
    CHECK(v[2].alignment == 16);
    CHECK(v[3].space == Space::local);
    CHECK(v[3].size == 30);
    CHECK(v[3].alignment == 2);
    CHECK(v[4].unsized);
    CHECK(v[4].size == 0);
    CHECK(v[4].alignment == 128);
}

TEST_CASE("several names in one declaration, and sizes as expressions") {
    const Module module = module_of(".global .u32 a = 1, b, c[2*3+1];");
    REQUIRE(module.variables.size() == 3);
    CHECK(module.variables[1].name == "b");
    CHECK(module.variables[2].size == 28);
    CHECK(module_of(".global .u32 x[WARP_SZ];").variables[0].size == 128);
}

TEST_CASE("name<count> makes variables") {
    const Module module =
        module_of(".global .u32 x<3>;\n.visible .entry k() { .reg .b64 d; mov.u64 d, x2; ret; }");
    REQUIRE(module.variables.size() == 3);
    CHECK(module.variables[2].name == "x2");
    CHECK(first(module).operands[1].symbol_kind == SymbolKind::module_variable);
    CHECK(first(module).operands[1].index == 2);
    CHECK(error_in_module(".global .u32 x<3> = 1;").find("only .global and .const") != std::string::npos);
}

TEST_CASE("attributes of variables") {
    const Module module = module_of(".global .attribute(.managed) .align 4 .u32 a;\n"
                                    ".global .attribute(.unified(19,95)) .u32 b;\n"
                                    ".global .attribute(.managed, .unified(1,2)) .u32 c;\n");
    CHECK(module.variables[0].managed);
    CHECK_FALSE(module.variables[1].managed);
    CHECK(module.variables[2].managed);
}

TEST_CASE("texture, sampler and surface handles are 64 bits in global memory") {
    const Module module = module_of(".global .texref t;\n.global .surfref s;\n");
    CHECK(module.variables[0].type == Type::b64);
    CHECK(module.variables[1].size == 8);
}

TEST_CASE("a declaration and a definition are one variable") {
    const Module module =
        module_of(".extern .global .u32 v[];\n.visible .entry k() { .reg .b64 d; mov.u64 d, v; ret; }\n"
                  ".visible .global .u32 v[2] = {7, 8};\n.extern .global .u32 v[];\n");
    REQUIRE(module.variables.size() == 1);
    CHECK(module.variables[0].linkage == Linkage::visible);
    CHECK(module.variables[0].size == 8);
    CHECK(module.variables[0].initial.size() == 8);
    CHECK(first(module).operands[1].index == 0);
}

TEST_CASE("dynamic shared memory declared for each kernel is one variable with the strictest alignment") {
    const Module module =
        module_of(".extern .shared .align 16 .b8 s[];\n.extern .shared .align 128 .b8 s[];\n"
                  ".extern .shared .align 4 .b8 s[];\n");
    REQUIRE(module.variables.size() == 1);
    CHECK(module.variables[0].alignment == 128);
}

TEST_CASE("repeated .common variables merge, repeated definitions do not") {
    CHECK(module_of(".common .global .u32 x;\n.common .global .u32 x[4];").variables.at(0).size == 16);
    CHECK(error_in_module(".global .u32 x;\n.global .u32 x;") == "ptx:5:14: 'x' is defined twice");
    CHECK(error_in_module(".global .u32 x;\n.func x() { ret; }") ==
          "ptx:5:7: 'x' is declared both as a variable and as a function");
}

TEST_CASE("declarations that make no sense are refused") {
    CHECK(error_in_module(".global .align 3 .u32 x;").find("power of two") != std::string::npos);
    CHECK(error_in_module(".global x;") == "ptx:4:9: a declaration needs a type, such as .b32");
    CHECK(error_in_module(".global .pred x;").find("needs a type") != std::string::npos);
    CHECK(error_in_module(".visible .u32 x;").find("needs a state space") != std::string::npos);
    CHECK(error_in_module(".reg .u32 x;").find("needs a state space") != std::string::npos);
    CHECK(error_in_module(".global .u32 x[3][];").find("expected a size") != std::string::npos);
    CHECK(error_in_module(".global .u32 x[1000000000][1000000000];").find("2^48") != std::string::npos);
    std::string dimensions;
    for (unsigned i = 0; i < 33; ++i)
        dimensions += "[1]";
    CHECK(error_in_module(".global .u32 x" + dimensions + ";").find("deeper than 32") != std::string::npos);
}

TEST_CASE("registers: single, ranges, every type") {
    const Module module = kernel(".reg .pred %p<3>; .reg .b32 a, b; .reg .b128 q; .reg .f64 %fd<2>;");
    const auto& function = module.functions[0];
    REQUIRE(function.registers.size() == 8);
    CHECK(function.register_name(0) == "%p0");
    CHECK(function.register_name(2) == "%p2");
    CHECK(function.register_name(3) == "a");
    CHECK(function.registers[2].type == Type::pred);
    CHECK(function.registers[5].type == Type::b128);
    CHECK(function.registers[7].type == Type::f64);
}

TEST_CASE("vector registers are their parts") {
    const Module module = kernel(".reg .v4 .f32 x; .reg .b64 a; ld.global.v4.f32 x, [a]; mov.f32 x.w, x.g;");
    const auto& function = module.functions[0];
    CHECK(function.register_name(3) == "x.w");
    const Operand& whole = function.body[0].operands[0];
    CHECK(whole.kind == Operand::Kind::vector);
    REQUIRE(whole.elements.size() == 4);
    CHECK(whole.elements[2].index == 2);
    CHECK(function.body[1].operands[0].index == 3);
    CHECK(function.body[1].operands[1].index == 1);
    CHECK(error_in_kernel(".reg .v2 .f32 x; mov.f32 x.z, x.x;").find("have components") != std::string::npos);
    CHECK(error_in_kernel(".reg .f32 x; mov.f32 x.x, x;").find("have components") != std::string::npos);
}

TEST_CASE("members of ranges are found by their whole number") {
    const Module module =
        kernel(".reg .b32 r<13>; .reg .b64 r1_<3>; mov.u32 r12, 1; mov.u64 r1_2, 1; mov.u32 r01, 1;");
    CHECK(first(module).operands[0].index == 12);
    CHECK(module.functions[0].body[1].operands[0].index == 15);
    CHECK(module.functions[0].body[2].operands[0].index == 1);
    CHECK(error_in_kernel(".reg .b32 r<3>; mov.u32 r3, 1;") == "ptx:6:25: 'r3' is not declared");
    CHECK(error_in_kernel(".reg .b32 r<3>; mov.u32 r4294967297, 1;").find("is not declared") !=
          std::string::npos);
}

TEST_CASE("a name can be declared once in a scope") {
    CHECK(error_in_kernel(".reg .b32 r; .reg .b64 r;") == "ptx:6:24: 'r' is declared twice in this scope");
    CHECK(error_in_kernel(".reg .b32 r<3>; .reg .b64 r2;").find("declared twice") != std::string::npos);
    CHECK(error_in_kernel(".reg .b32 r<3>; .reg .b64 r<4>;").find("declared twice") != std::string::npos);
    CHECK(error_in_kernel(".reg .b32 r[4];").find("registers have no dimensions") != std::string::npos);
    CHECK(error_in_kernel(".reg .b32 r<1000000000>;").find("must be at most") != std::string::npos);
    CHECK(error_in_kernel(".reg .b32 r<1000000>, s<1000000>;").find("too many registers") !=
          std::string::npos);
}

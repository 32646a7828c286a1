// Instructions, guards, modifiers and every form of operand, PTX ISA 4.3.2 and 6.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

using Kind = Operand::Kind;

} // namespace

TEST_CASE("opcode and modifiers are split at dots, not at double colons") {
    const Module module =
        kernel(".reg .b64 a, b; .reg .b32 n;\n"
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b], n, [a];\n"
               "ld.global.L1::no_allocate.L2::128B.v2.f32 {_, _}, [a];\n"
               "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [a, {n, n}], [b];\n"
               "ld .global\n.u32 n, [a];");
    const auto& body = module.functions[0].body;
    CHECK(body[0].opcode == "cp");
    CHECK(body[0].modifiers == std::vector<std::string_view>{"async", "bulk", "shared::cluster", "global",
                                                             "mbarrier::complete_tx::bytes"});
    CHECK(body[1].has("L1::no_allocate"));
    CHECK(body[1].has("L2::128B"));
    CHECK(body[2].modifiers.at(3) == "2d");
    CHECK(body[3].modifiers == std::vector<std::string_view>{"global", "u32"});
}

TEST_CASE("unknown opcodes are the decoder's affair") {
    const Module module = kernel("frobnicate.b32.x::y 3, _;");
    CHECK(first(module).opcode == "frobnicate");
    CHECK(first(module).operands.size() == 2);
}

TEST_CASE("guards") {
    const Module module =
        kernel(".reg .pred %p<2>; .reg .b32 r; @%p1 trap; @!%p1 trap; trap; L: @%p0 bra.uni L;");
    const auto& body = module.functions[0].body;
    CHECK(body[0].guard == 1);
    CHECK_FALSE(body[0].guard_negated);
    CHECK(body[1].guard_negated);
    CHECK(body[2].guard == -1);
    CHECK(body[3].guard == 0);
    CHECK(error_in_kernel(".reg .b32 r; @r trap;") ==
          "ptx:6:15: the guard 'r' is not a declared register of type .pred");
    CHECK(error_in_kernel("@q trap;").find("is not a declared register") != std::string::npos);
}

TEST_CASE("addresses: register, variable, number, with offsets") {
    const Module module =
        module_of(".global .b32 v[8];\n.entry k() { .reg .b64 a; .reg .b32 r;\n"
                  "ld.b32 r, [a]; ld.b32 r, [a+4]; ld.b32 r, [a+-4]; ld.b32 r, [a-4];\n"
                  "ld.b32 r, [v]; ld.b32 r, [v+4*2+8]; ld.b32 r, [ v + 8 - 4 ]; ld.b32 r, [1024];\n"
                  "ld.b32 r, [a + (4+4)*2]; ret; }\n");
    const auto& body = module.functions[0].body;
    const std::int64_t offsets[] = {0, 4, -4, -4, 0, 16, 4, 0, 16};
    for (std::size_t i = 0; i < std::size(offsets); ++i) {
        const Operand& address = body[i].operands.at(1);
        CHECK(address.kind == Kind::address);
        CHECK(address.offset == offsets[i]);
        REQUIRE(address.elements.size() == 1);
        CHECK(address.elements[0].offset == 0);
        CHECK(address.elements[0].kind == (i < 4 || i == 8 ? Kind::reg
                                           : i == 7        ? Kind::integer
                                                           : Kind::symbol));
    }
    CHECK(body[7].operands[1].elements[0].bits == 1024);
}

TEST_CASE("a register and a constant are added before the instruction that reads the sum") {
    const Module module = kernel(".reg .b32 r, s; .reg .b64 a; L: st.b32 [a+4], r+(1+2); bra L;");
    const auto& body = module.functions[0].body;
    CHECK(body[0].opcode == "add");
    CHECK(body[0].has("u32"));
    CHECK(body[0].operands.at(1).name == "r");
    CHECK(body[0].operands.at(2).bits == 3);
    CHECK(body[1].opcode == "st");
    CHECK(body[1].operands.at(1).index == body[0].operands.at(0).index);
    CHECK(body[1].operands.at(1).index != body[0].operands.at(1).index);
    CHECK(body[2].operands.at(0).index == 0); // The label stands before the addition.
    CHECK(error_in_kernel(".reg .pred p; @p bra p+1;").find("expected") != std::string::npos);
    CHECK(error_in_kernel(".reg .f32 f; mov.f32 f, f+1;").find("expected") != std::string::npos);
}

TEST_CASE("the address of a variable as a value") {
    const Module module =
        module_of(".global .b32 v[8];\n.entry k() { .reg .b64 a; mov.u64 a, v; mov.u64 a, v+4; ret; }");
    const Operand& sum = module.functions[0].body[1].operands[1];
    CHECK(sum.kind == Kind::symbol);
    CHECK(sum.symbol_kind == SymbolKind::module_variable);
    CHECK(sum.offset == 4);
    CHECK(sum.name == "v");
}

TEST_CASE("array elements are counted in elements") {
    const Module module =
        module_of(".global .b32 v[8];\n.entry k() { .shared .u64 s[4]; .reg .b64 a; .reg .b32 r;\n"
                  "ld.global.b32 r, v[3]; mov.u64 a, s[2]; ret; }");
    const auto& body = module.functions[0].body;
    CHECK(body[0].operands[1].kind == Kind::address);
    CHECK(body[0].operands[1].offset == 12);
    CHECK(body[0].operands[1].elements.at(0).symbol_kind == SymbolKind::module_variable);
    CHECK(body[1].operands[1].kind == Kind::symbol);
    CHECK(body[1].operands[1].offset == 16);
}

TEST_CASE("a tensor map with its coordinates is one address") {
    const Module module =
        kernel(".reg .b64 map; .reg .b32 s, x, bar; .reg .b16 mask;\n"
               "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [s], [map, {x, 0}], [bar+8], mask;");
    const Instruction& copy = first(module);
    REQUIRE(copy.operands.size() == 4);
    const Operand& source = copy.operands[1];
    CHECK(source.kind == Kind::address);
    REQUIRE(source.elements.size() == 2);
    CHECK(source.elements[1].kind == Kind::vector);
    CHECK(source.elements[1].elements.at(1).kind == Kind::integer);
    CHECK(copy.operands[2].offset == 8);
}

TEST_CASE("vectors of registers, numbers and sinks, also nested") {
    const Module module = kernel(
        ".reg .b32 a, b; .reg .b64 d; mov.b64 {a, _}, d; mov.b64 d, {a, -1}; x.y {{a, b}, {0f00000000, d}};");
    const auto& body = module.functions[0].body;
    CHECK(body[0].operands[0].elements.at(1).kind == Kind::sink);
    CHECK(body[1].operands[1].elements.at(1).bits == ~std::uint64_t{0});
    CHECK(body[2].operands[0].elements.at(1).elements.at(0).kind == Kind::float32);
    CHECK(error_in_kernel("x " + std::string(1000, '{') + ";").find("nested deeper than 8") !=
          std::string::npos);
    CHECK(error_in_kernel("x " + std::string(1000, '[') + ";").find("nested deeper than 8") !=
          std::string::npos);
}

TEST_CASE("pairs of destinations") {
    const Module module =
        kernel(".reg .pred p, q, c; .reg .b32 a, b; setp.lt.and.s32 p|q, a, b, !c;\n"
               "shfl.sync.down.b32 a|p, b, 1, 31, -1; elect.sync _|p, -1; setp.lt.s32 p|_, a, b;");
    const auto& body = module.functions[0].body;
    const Operand& both = body[0].operands.at(0);
    CHECK(both.kind == Kind::pair);
    REQUIRE(both.elements.size() == 2);
    CHECK(both.elements[1].index == 1);
    CHECK(body[0].operands.at(3).negated);
    CHECK(body[0].operands.at(3).index == 2);
    CHECK(body[2].operands[0].elements.at(0).kind == Kind::sink);
    CHECK(body[3].operands[0].elements.at(1).kind == Kind::sink);
}

TEST_CASE("a sign before a register negates it, before a number it belongs to the number") {
    const Module module = kernel(".reg .b32 a; vadd.s32.s32.s32 a, -a, -3, !1;");
    const auto& operands = first(module).operands;
    CHECK(operands[1].negated);
    CHECK(operands[1].kind == Kind::reg);
    CHECK_FALSE(operands[2].negated);
    CHECK(operands[2].bits == std::uint64_t(-3));
    CHECK(operands[3].bits == 0);
}

TEST_CASE("byte and half-word selectors") {
    const Module module = kernel(
        ".reg .b32 r<4>; vadd.u32.u32.u32 r0, r1.b0, r2.h1, r3; vadd4.u32.u32.u32 r0.b20, r1.b7654, r2, r3;");
    const auto& body = module.functions[0].body;
    CHECK(body[0].operands[1].selector == "b0");
    CHECK(body[0].operands[2].selector == "h1");
    CHECK(body[0].operands[3].selector.empty());
    CHECK(body[1].operands[0].selector == "b20");
}

TEST_CASE("special registers keep their component in the name") {
    const Module module =
        kernel(".reg .b32 r; .reg .b64 d; mov.u32 r, %ntid.y; mov.u32 r, %laneid; mov.u64 d, %clock64;\n"
               "mov.u32 r, %cluster_ctaid.x; mov.u32 r, %envreg7; mov.u64 d, %pm3_64; mov.u32 r, %tid .z; "
               "mov.v4.u32 r, %tid;");
    const auto& body = module.functions[0].body;
    const std::string_view names[] = {"%ntid.y",  "%laneid", "%clock64", "%cluster_ctaid.x",
                                      "%envreg7", "%pm3_64", "%tid.z",   "%tid"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        CHECK(body[i].operands.at(1).kind == Kind::special);
        CHECK(body[i].operands.at(1).name == names[i]);
    }
    CHECK(error_in_kernel(".reg .b32 r; mov.u32 r, %nosuch;") == "ptx:6:25: '%nosuch' is not declared");
    CHECK(error_in_kernel(".reg .b32 r; mov.u32 r, %envreg32;").find("is not declared") != std::string::npos);
}

TEST_CASE("a register may have the name of a special register") {
    const Module module = kernel(".reg .b32 %laneid; mov.u32 %laneid, 1;");
    CHECK(first(module).operands[0].kind == Kind::reg);
}

TEST_CASE("names with dollar, underscore and percent") {
    const Module module = kernel(".reg .b32 $a, _b, %c, a$b; mov.u32 $a, _b; mov.u32 %c, a$b;");
    CHECK(module.functions[0].body[1].operands[1].index == 3);
}

TEST_CASE("an address may be marked unified") {
    const Module module = kernel(".reg .b64 a; .reg .b32 r; ld.global.u32 r, [a].unified;");
    CHECK(first(module).operands[1].selector == "unified");
}

TEST_CASE("wrong punctuation is pointed at") {
    CHECK(error_in_kernel(".reg .b32 r; mov.u32 r, 1") == "ptx:7:1: expected ';', found 'ret'");
    CHECK(error_in_kernel(".reg .b32 r; mov.u32 r, ;") == "ptx:6:25: expected an operand, found ';'");
    CHECK(error_in_kernel(".reg .b32 r; mov.u32 r, [r;") == "ptx:6:27: expected ']', found ';'");
    CHECK(error_in_kernel(".reg .b32 r; mov.u32 r, {r, r];") == "ptx:6:30: expected '}', found ']'");
    CHECK(error_in_kernel("3;") == "ptx:6:1: expected an instruction, found '3'");
    CHECK(error_in_kernel("`;") == "ptx:6:1: unexpected character '`'");
    CHECK(error_in_kernel("/* open").find("no closing */") != std::string::npos);
    CHECK(error_in_kernel(".pragma \"open\n;").find("no closing quote") != std::string::npos);
}

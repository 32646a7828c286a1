// Initial values of variables, PTX ISA 5.4.4. The bytes were compared with what ptxas 13.0 puts into a cubin.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

/// The initial bytes of the last variable as hexadecimal digits.
std::string bytes_of(std::string_view declarations) {
    const Module module = module_of(declarations);
    std::string text;
    for (const std::byte byte : module.variables.back().initial)
        for (const unsigned digit : {static_cast<unsigned>(byte) >> 4, static_cast<unsigned>(byte) & 15u})
            text += "0123456789abcdef"[digit];
    return text;
}

} // namespace

TEST_CASE("integers of every width, little-endian") {
    CHECK(bytes_of(".global .u8 x = 255;") == "ff");
    CHECK(bytes_of(".global .s16 x = -2;") == "feff");
    CHECK(bytes_of(".global .b32 x = 0x12345678;") == "78563412");
    CHECK(bytes_of(".const .u64 x = 0xFFFFFFFFFFFFFFFFU;") == "ffffffffffffffff");
    CHECK(bytes_of(".global .u8 x = 257;") == "01");
    CHECK(bytes_of(".global .u32 x = (1+2)*3;") == "09000000");
}

TEST_CASE("floating-point values in the widths of their variables") {
    CHECK(bytes_of(".global .f32 x = 0f3F800000;") == "0000803f");
    CHECK(bytes_of(".global .f32 x = 1.5;") == "0000c03f");
    CHECK(bytes_of(".global .f32 x = 0d3FF0000000000000;") == "0000803f");
    CHECK(bytes_of(".global .f64 x = 0d400A000000000000;") == "0000000000000a40");
    CHECK(bytes_of(".global .f64 x = 0f3F800000;") == "0000803f00000000");
    CHECK(bytes_of(".global .b32 x = 0f3F800000;") == "0000803f");
    CHECK(bytes_of(".global .b64 x = 0d3FF0000000000000;") == "000000000000f03f");
}

TEST_CASE("arrays may have fewer values than elements") {
    const Module module = module_of(".global .u16 x[4] = {1, 2};");
    CHECK(module.variables[0].size == 8);
    CHECK(module.variables[0].initial.size() == 4);
    CHECK(bytes_of(".global .u16 x[4] = {};").empty());
    CHECK(module_of(".global .u16 x[4];").variables[0].initial.empty());
}

TEST_CASE("an array without a size takes it from its values") {
    const Module module =
        module_of(".global .s8 x[] = {-1, 2, 3};\n.global .u32 y[][2] = {{1,2},{3,4},{5}};");
    CHECK(module.variables[0].size == 3);
    CHECK_FALSE(module.variables[0].unsized);
    CHECK(module.variables[1].size == 24);
}

TEST_CASE("inner braces fill their row and no more") {
    CHECK(bytes_of(".global .u8 x[2][3] = {{1,2,3},{4,5,6}};") == "010203040506");
    CHECK(bytes_of(".global .u8 x[2][3] = {{1},{4,5}};") == "0100000405");
    CHECK(bytes_of(".global .u8 x[2][2][2] = {{{1,2},{3,4}},{{5,6},{7,8}}};") == "0102030405060708");
    CHECK(bytes_of(".global .v2 .u8 x[2] = {{1,2},{3,4}};") == "01020304");
    CHECK(bytes_of(".global .v4 .u8 x = {1,2,3,4};") == "01020304");
}

TEST_CASE("addresses become relocations") {
    const Module module = module_of(".global .u32 a[4];\n.const .u64 x[3] = {a, a+4, generic(a)+8};\n");
    const Variable& x = module.variables.at(1);
    REQUIRE(x.relocations.size() == 3);
    CHECK(x.initial.size() == 24);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(x.relocations[i].offset == 8 * i);
        CHECK(x.relocations[i].width == 8);
        CHECK(x.relocations[i].addend == 4 * i);
        CHECK(x.relocations[i].generic == (i == 2));
        CHECK(x.relocations[i].kind == SymbolKind::module_variable);
        CHECK(x.relocations[i].index == 0);
    }
}

TEST_CASE("addresses among numbers, as nvcc writes structures") {
    const Module module =
        module_of(".global .b8 t[12];\n.global .align 8 .u64 s[3] = {97, generic(t)+4, 65534};");
    const Variable& s = module.variables.at(1);
    REQUIRE(s.relocations.size() == 1);
    CHECK(s.relocations[0].offset == 8);
    CHECK(s.initial[0] == std::byte{97});
    CHECK(s.initial[16] == std::byte{0xFE});
}

TEST_CASE("a mask selects one byte of an address") {
    const Module module = module_of(".global .u32 a;\n.global .u8 x[8] = {0, 0xFF(a), 0xFF00(a), "
                                    "0xFF0000(generic(a)+4), 0xFF00000000000000(a+1)};");
    const Variable& x = module.variables.at(1);
    REQUIRE(x.relocations.size() == 4);
    CHECK(x.relocations[0].offset == 1);
    CHECK(x.relocations[0].width == 1);
    CHECK(x.relocations[0].shift == 0);
    CHECK(x.relocations[1].shift == 8);
    CHECK(x.relocations[2].shift == 16);
    CHECK(x.relocations[2].generic);
    CHECK(x.relocations[2].addend == 4);
    CHECK(x.relocations[3].shift == 56);
    CHECK(error_in_module(".global .u32 a;\n.global .u8 x = 0xF0(a);").find("a mask must select one byte") !=
          std::string::npos);
}

TEST_CASE("addresses of functions, also of those that come later") {
    const Module module =
        module_of(".func f();\n.global .u64 x[2] = {f, g};\n.func f() { ret; }\n.func g() { ret; }");
    const Variable& x = module.variables.at(0);
    CHECK(x.relocations.at(0).kind == SymbolKind::function);
    CHECK(x.relocations.at(0).index == 0);
    CHECK(x.relocations.at(1).index == 1);
}

TEST_CASE("initialisers that do not fit are refused") {
    CHECK(error_in_module(".global .u32 x[2] = {1,2,3};") ==
          "ptx:4:26: more values than the variable has elements");
    CHECK(error_in_module(".global .u32 x = {1};").find("more nested braces") != std::string::npos);
    CHECK(error_in_module(".global .u32 x[2] = {{1}};").find("more nested braces") != std::string::npos);
    CHECK(error_in_module(".global .u32 x[2][2] = {1,2,3,4};").find("expected '{', found '1'") !=
          std::string::npos);
    CHECK(error_in_module(".global .u32 x[2] = {1,};").find("expected a constant, found '}'") !=
          std::string::npos);
    CHECK(error_in_module(".shared .u32 x = 1;").find("only .global and .const") != std::string::npos);
    CHECK(error_in_module(".extern .global .u32 x = 1;").find("an .extern variable") != std::string::npos);
    CHECK(error_in_module(".global .u32 x = 1.0;").find("integers initialise integer types") !=
          std::string::npos);
    CHECK(error_in_module(".global .f32 x = 1;").find("integers initialise integer types") !=
          std::string::npos);
    CHECK(error_in_module(".global .f16 x = 1.0;").find("variables of type .f16 take no initialiser") !=
          std::string::npos);
    CHECK(error_in_module(".global .u32 a; .global .u16 x = a;").find("an address needs an element") !=
          std::string::npos);
    CHECK(error_in_module(".global .u32 a; .global .f64 x = a;").find("an address can stand only") !=
          std::string::npos);
    CHECK(error_in_module(".global .u64 x = nowhere;") == "ptx:4:18: 'nowhere' is not declared");
    CHECK(error_in_module(".shared .u32 s; .global .u64 x = s;").find("neither .global nor .const") !=
          std::string::npos);
    CHECK(error_in_module(".global .u32 x[];").find("an array without a size") != std::string::npos);
}

TEST_CASE("an initialiser cannot ask for more memory than its text is worth") {
    CHECK(error_in_module(".global .u8 x[2][1000000000] = {{1},{2}};").find("more than 256 MiB") !=
          std::string::npos);
    CHECK(error_in_module(".global .u64 x[][17592186044416] = {{},{},{},{1}};").find("more than 256 MiB") !=
          std::string::npos);
}

// Literals and constant expressions, PTX ISA 4.5.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <utility>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

/// The immediate operand that an expression becomes; without its name, which lives no longer than the module.
Operand value_of(const std::string& expression) {
    const Module module = kernel(".reg .b64 d; mov.b64 d, " + expression + ";");
    Operand value = first(module).operands.at(1);
    value.name = {};
    return value;
}

std::uint64_t bits_of(const std::string& expression) {
    const Operand value = value_of(expression);
    REQUIRE(value.kind == Operand::Kind::integer);
    return value.bits;
}

std::uint64_t negative(std::uint64_t magnitude) { return 0 - magnitude; }

std::string error_of(const std::string& expression) {
    return error_in_kernel(".reg .b64 d; mov.b64 d, " + expression + ";");
}

} // namespace

TEST_CASE("integer literals of every base") {
    CHECK(bits_of("42") == 42);
    CHECK(bits_of("0") == 0);
    CHECK(bits_of("0U") == 0);
    CHECK(bits_of("0x1fU") == 31);
    CHECK(bits_of("0XFF") == 255);
    CHECK(bits_of("0b1011") == 11);
    CHECK(bits_of("017") == 15);
    CHECK(bits_of("0xFFFFFFFFFFFFFFFF") == ~std::uint64_t{0});
    CHECK(bits_of("-5") == negative(5));
    CHECK(bits_of("WARP_SZ") == 32);
}

TEST_CASE("malformed and oversized literals are refused") {
    CHECK(error_of("09") == "ptx:6:25: '09' is not a number");
    CHECK(error_of("9a") == "ptx:6:25: '9a' is not a number");
    CHECK(error_of("0x") == "ptx:6:25: '0x' is not a number");
    CHECK(error_of("0x1FFFFFFFFFFFFFFFF") == "ptx:6:25: '0x1FFFFFFFFFFFFFFFF' does not fit in 64 bits");
    CHECK(error_of("0f3F80000") ==
          "ptx:6:25: '0f3F80000' needs exactly 8 hexadecimal digits after its prefix");
    CHECK(error_of("0d3FF000000000000Z").find("needs exactly 16") != std::string::npos);
    CHECK(error_of("1.5e").find("is not a number") != std::string::npos);
}

TEST_CASE("floating-point literals keep their bits") {
    const Operand single = value_of("0f3F800000"), twice = value_of("0dC000000000000000");
    CHECK(single.kind == Operand::Kind::float32);
    CHECK(single.bits == 0x3F800000u);
    CHECK(twice.kind == Operand::Kind::float64);
    CHECK(std::bit_cast<double>(twice.bits) == -2.0);
    for (const auto& [text, value] :
         {std::pair("1.5", 1.5), std::pair("-2.5e-3", -2.5e-3), std::pair("1e3", 1e3), std::pair(".5", 0.5),
          std::pair("5.", 5.0), std::pair("1.0+2.0", 3.0)}) {
        const Operand decimal = value_of(text);
        CHECK(decimal.kind == Operand::Kind::float64);
        CHECK(std::bit_cast<double>(decimal.bits) == value);
    }
}

TEST_CASE("operators with the precedence of C") {
    CHECK(bits_of("(1+2)*3") == 9);
    CHECK(bits_of("1+2*3") == 7);
    CHECK(bits_of("20-5-3") == 12);
    CHECK(bits_of("5 << 2 | 1") == 21);
    CHECK(bits_of("7 & 3 ^ 1") == 2);
    CHECK(bits_of("17 % 5 + 17 / 5") == 5);
    CHECK(bits_of("~0") == ~std::uint64_t{0});
    CHECK(bits_of("!3 + !0") == 1);
    CHECK(bits_of("3 && 0 || 2") == 1);
    CHECK(bits_of("3 >= 2 ? 7 : 8") == 7);
    CHECK(bits_of("0 ? 7 : 1 ? 8 : 9") == 8);
    CHECK(bits_of("1 == 1 != 0") == 1);
    CHECK(bits_of("1.5 < 2.0") == 1);
    CHECK(bits_of("WARP_SZ*2-1") == 63);
    CHECK(bits_of("- -5") == 5);
}

TEST_CASE("signed and unsigned division, shift and comparison") {
    CHECK(bits_of("-7/2") == negative(3));
    CHECK(bits_of("-7 % 2") == negative(1));
    CHECK(bits_of("-1 >> 60") == ~std::uint64_t{0});
    CHECK(bits_of("0xFFFFFFFFFFFFFFFF >> 60") == 15);
    CHECK(bits_of("1 << 64") == 0);
    CHECK(bits_of("-1 < 1") == 1);
    CHECK(bits_of("(.u64)-1 < 1") == 0);
    CHECK(bits_of("(.s64)(3+4)") == 7);
    CHECK(bits_of("0x8000000000000000U / 2") == std::uint64_t{1} << 62);
    CHECK(bits_of("(-9223372036854775807 - 1) / -1") == std::uint64_t{1} << 63);
    CHECK(error_of("1/0") == "ptx:6:26: division by zero in a constant expression");
    CHECK(error_of("1 % (2-2)").find("division by zero") != std::string::npos);
}

TEST_CASE("operators that floating-point values do not have") {
    CHECK(error_of("1.5 | 2.0").find("an integer is needed") != std::string::npos);
    CHECK(error_of("~1.5").find("an integer is needed") != std::string::npos);
    CHECK(error_of("(.s64)1.5").find("an integer is needed") != std::string::npos);
}

TEST_CASE("an immediate keeps its spelling") {
    const Module module = kernel(".reg .b32 r; mov.b32 r, ( 1 + 2 ) * 3;");
    CHECK(first(module).operands.at(1).name == "( 1 + 2 ) * 3");
}

TEST_CASE("unbalanced and endless expressions end in an error") {
    CHECK(error_of("(1").find("expected ')', found ';'") != std::string::npos);
    CHECK(error_of("1 +").find("expected a constant") != std::string::npos);
    CHECK(error_of(std::string(100'000, '(') + "1").find("nested deeper than 200 levels") !=
          std::string::npos);
    CHECK(error_of(std::string(100'000, '-') + "1").find("nested deeper than 200 levels") !=
          std::string::npos);
}

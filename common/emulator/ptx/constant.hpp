#pragma once
/// \file
/// Literals and constant expressions (PTX ISA 9.0, sections 4.5.1 to 4.5.6).

#include "ptx/lexer.hpp"

#include <cstdint>

namespace emu::ptx {

/// The value of a constant expression.
struct Constant {
    enum class Kind : std::uint8_t { s64, u64, f32, f64 };
    Kind kind = Kind::s64;
    std::uint64_t bits = 0; ///< Two's complement, or the 32 or 64 bits of the floating-point number.

    bool is_integer() const { return kind == Kind::s64 || kind == Kind::u64; }
    /// The value as a double, whatever its kind.
    double as_double() const;
};

/// The value of a number token. Throws ParseError if it is malformed or too large.
Constant value_of(const Source& source, const Token& number);

/// Reads a whole constant expression (C's operators and precedence, casts, ternary, WARP_SZ).
Constant parse_constant(Lexer& lexer);

/// Reads one summand: the expression up to the next `+` or `-` outside parentheses. For `name + 4 * 8 - 2`.
Constant parse_summand(Lexer& lexer);

/// Reads a constant expression that must be an integer from 0 to `limit`; `what` names it in the error.
std::uint64_t parse_count(Lexer& lexer, std::string_view what, std::uint64_t limit);

/// Two's complement addition: offsets in damaged text may overflow, which for signed numbers C++ forbids.
constexpr std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// True if a constant expression can begin with this token.
bool begins_constant(const Token& token);

} // namespace emu::ptx

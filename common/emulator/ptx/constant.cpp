#include "ptx/constant.hpp"

#include "ptx/messages.hpp"

#include <bit>
#include <charconv>
#include <limits>

namespace emu::ptx {

namespace {

using Kind = Constant::Kind;

constexpr unsigned deepest_expression = 200;
constexpr unsigned lowest_precedence = 1;
constexpr unsigned product_precedence = 10;

Constant of_signed(std::int64_t value) { return {Kind::s64, static_cast<std::uint64_t>(value)}; }
Constant of_double(double value) { return {Kind::f64, std::bit_cast<std::uint64_t>(value)}; }

/// `.5`, which the lexer takes for a directive.
bool is_leading_point(const Token& token) {
    return token.is(Token::Kind::directive) && token.text.front() >= '0' && token.text.front() <= '9';
}

bool is_zero(const Constant& value) {
    return value.is_integer() ? value.bits == 0 : value.as_double() == 0.0;
}

unsigned precedence_of(const Token& token) {
    if (!token.is(Token::Kind::punctuation))
        return 0;
    if (token.text.size() == 2) {
        switch (token.text[0]) {
        case '|':
            return 1;
        case '&':
            return 2;
        case '=':
        case '!':
            return 6;
        case '<':
        case '>':
            return token.text[1] == '=' ? 7 : 8;
        default:
            return 0;
        }
    }
    switch (token.text[0]) {
    case '|':
        return 3;
    case '^':
        return 4;
    case '&':
        return 5;
    case '<':
    case '>':
        return 7;
    case '+':
    case '-':
        return 9;
    case '*':
    case '/':
    case '%':
        return product_precedence;
    default:
        return 0;
    }
}

/// Integer arithmetic of PTX: 64 bits that wrap around, unsigned as soon as one side is.
class IntegerOperation {
  public:
    IntegerOperation(const Lexer& lexer, const Token& sign, const Constant& a, const Constant& b)
        : lexer_(lexer), sign_(sign), a_(a), b_(b),
          kind_(a.kind == Kind::u64 || b.kind == Kind::u64 ? Kind::u64 : Kind::s64) {}

    Constant result() const {
        const bool equal = sign_.text.size() == 2 && sign_.text[1] == '=';
        switch (sign_.text[0]) {
        case '+':
            return {kind_, a_.bits + b_.bits};
        case '-':
            return {kind_, a_.bits - b_.bits};
        case '*':
            return {kind_, a_.bits * b_.bits};
        case '/':
        case '%':
            return quotient();
        case '|':
            return sign_.text.size() == 2 ? of_signed(a_.bits || b_.bits)
                                          : Constant{kind_, a_.bits | b_.bits};
        case '&':
            return sign_.text.size() == 2 ? of_signed(a_.bits && b_.bits)
                                          : Constant{kind_, a_.bits & b_.bits};
        case '^':
            return {kind_, a_.bits ^ b_.bits};
        case '=':
            return of_signed(a_.bits == b_.bits);
        case '!':
            return of_signed(a_.bits != b_.bits);
        default:
            if (sign_.text.size() == 2 && !equal)
                return shifted();
            return of_signed(compare(equal));
        }
    }

  private:
    Constant quotient() const {
        if (b_.bits == 0)
            lexer_.source().fail(sign_.offset, messages::division_by_zero);
        const bool remainder = sign_.text[0] == '%';
        if (kind_ == Kind::u64)
            return {kind_, remainder ? a_.bits % b_.bits : a_.bits / b_.bits};
        const auto a = static_cast<std::int64_t>(a_.bits), b = static_cast<std::int64_t>(b_.bits);
        if (b == -1) // the smallest integer divided by -1 wraps around
            return {kind_, remainder ? 0 : 0 - a_.bits};
        return of_signed(remainder ? a % b : a / b);
    }

    Constant shifted() const {
        const bool left = sign_.text[0] == '<';
        const bool negative = a_.kind == Kind::s64 && static_cast<std::int64_t>(a_.bits) < 0;
        if (b_.bits >= 64)
            return {a_.kind, !left && negative ? ~std::uint64_t{0} : 0};
        if (left)
            return {a_.kind, a_.bits << b_.bits};
        if (a_.kind == Kind::s64)
            return of_signed(static_cast<std::int64_t>(a_.bits) >> b_.bits);
        return {a_.kind, a_.bits >> b_.bits};
    }

    bool compare(bool equal) const {
        const bool less = kind_ == Kind::u64
                              ? a_.bits < b_.bits
                              : static_cast<std::int64_t>(a_.bits) < static_cast<std::int64_t>(b_.bits);
        const bool same = a_.bits == b_.bits;
        return sign_.text[0] == '<' ? less || (equal && same) : (!less && (equal || !same));
    }

    const Lexer& lexer_;
    const Token& sign_;
    const Constant& a_;
    const Constant& b_;
    Kind kind_;
};

Constant float_operation(const Lexer& lexer, const Token& sign, double a, double b) {
    if (sign.text == "+")
        return of_double(a + b);
    if (sign.text == "-")
        return of_double(a - b);
    if (sign.text == "*")
        return of_double(a * b);
    if (sign.text == "/") {
        if (b == 0.0)
            lexer.source().fail(sign.offset, messages::division_by_zero);
        return of_double(a / b);
    }
    if (sign.text == "<")
        return of_signed(a < b);
    if (sign.text == "<=")
        return of_signed(a <= b);
    if (sign.text == ">")
        return of_signed(a > b);
    if (sign.text == ">=")
        return of_signed(a >= b);
    if (sign.text == "==")
        return of_signed(a == b);
    if (sign.text == "!=")
        return of_signed(a != b);
    lexer.source().fail(sign.offset, messages::integer_needed);
}

/// Recursive descent over unary operators and parentheses, precedence climbing over binary ones.
class Expression {
  public:
    explicit Expression(Lexer& lexer) : lexer_(lexer) {}

    Constant ternary() {
        Constant condition = binary(lowest_precedence);
        if (!lexer_.accept('?'))
            return condition;
        const Level level(*this);
        Constant yes = ternary();
        lexer_.expect(':');
        Constant no = ternary();
        return is_zero(condition) ? no : yes;
    }

    Constant binary(unsigned weakest) {
        const Level level(*this);
        Constant left = unary();
        for (;;) {
            const unsigned strength = precedence_of(lexer_.peek());
            if (strength < weakest || strength == 0)
                return left;
            const Token sign = lexer_.next();
            const Constant right = binary(strength + 1);
            left = left.is_integer() && right.is_integer()
                       ? IntegerOperation(lexer_, sign, left, right).result()
                       : float_operation(lexer_, sign, left.as_double(), right.as_double());
        }
    }

  private:
    /// Counts nesting, so that a megabyte of parentheses is an error and not a stack overflow.
    struct Level {
        explicit Level(Expression& owner) : expression(owner) {
            if (++expression.depth_ > deepest_expression)
                expression.lexer_.source().fail(expression.lexer_.peek().offset,
                                                messages::nested_too_deep(deepest_expression));
        }
        ~Level() { --expression.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        Expression& expression;
    };

    Constant unary() {
        const Level level(*this);
        const Token token = lexer_.peek();
        if (lexer_.accept('+'))
            return unary();
        if (lexer_.accept('-'))
            return minus(unary());
        if (lexer_.accept('!'))
            return of_signed(is_zero(unary()));
        if (lexer_.accept('~')) {
            Constant value = unary();
            if (!value.is_integer())
                lexer_.source().fail(token.offset, messages::integer_needed);
            return {value.kind, ~value.bits};
        }
        if (lexer_.accept('('))
            return parenthesis();
        return primary();
    }

    static Constant minus(const Constant& value) {
        switch (value.kind) {
        case Kind::f32:
            return {Kind::f32, value.bits ^ 0x8000'0000u};
        case Kind::f64:
            return {Kind::f64, value.bits ^ 0x8000'0000'0000'0000u};
        default:
            return {value.kind, 0 - value.bits};
        }
    }

    /// After `(`: a cast such as `(.s64)` or a parenthesised expression.
    Constant parenthesis() {
        if (!lexer_.peek().is(Token::Kind::directive)) {
            Constant value = ternary();
            lexer_.expect(')');
            return value;
        }
        const Token type = lexer_.next();
        if (type.text != "s64" && type.text != "u64")
            lexer_.source().fail(type.offset, messages::expected("a cast to .s64 or .u64", type.text));
        lexer_.expect(')');
        Constant value = unary();
        if (!value.is_integer())
            lexer_.source().fail(type.offset, messages::integer_needed);
        value.kind = type.text == "u64" ? Kind::u64 : Kind::s64;
        return value;
    }

    Constant primary() {
        if (is_leading_point(lexer_.peek()))
            lexer_.reread_as_number();
        if (lexer_.peek().is(Token::Kind::number))
            return value_of(lexer_.source(), lexer_.next());
        if (lexer_.peek().is_identifier("WARP_SZ")) {
            lexer_.next();
            return of_signed(32);
        }
        lexer_.fail_expected("a constant");
    }

    Lexer& lexer_;
    unsigned depth_ = 0;
};

Constant float_bits(const Source& source, const Token& number) {
    const bool is_single = number.text[1] == 'f' || number.text[1] == 'F';
    const unsigned digits = is_single ? 8 : 16;
    const char* end = number.text.data() + number.text.size();
    std::uint64_t bits = 0;
    const auto result = std::from_chars(number.text.data() + 2, end, bits, 16);
    if (number.text.size() != digits + 2 || result.ec != std::errc{} || result.ptr != end)
        source.fail(number.offset, messages::float_digits(number.text, digits));
    return {is_single ? Kind::f32 : Kind::f64, bits};
}

Constant decimal_fraction(const Source& source, const Token& number) {
    double value = 0;
    const char* end = number.text.data() + number.text.size();
    const auto result = std::from_chars(number.text.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end)
        source.fail(number.offset, messages::malformed_number(number.text));
    return of_double(value);
}

} // namespace

double Constant::as_double() const {
    switch (kind) {
    case Kind::s64:
        return static_cast<double>(static_cast<std::int64_t>(bits));
    case Kind::u64:
        return static_cast<double>(bits);
    case Kind::f32:
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Kind::f64:
        return std::bit_cast<double>(bits);
    }
    return 0;
}

Constant value_of(const Source& source, const Token& number) {
    std::string_view digits = number.text;
    const char prefix = digits.size() > 1 && digits[0] == '0' ? static_cast<char>(digits[1] | 0x20) : ' ';
    if (prefix == 'f' || prefix == 'd')
        return float_bits(source, number);
    int base = 10;
    if (prefix == 'x' || prefix == 'b') {
        base = prefix == 'x' ? 16 : 2;
        digits.remove_prefix(2);
    } else if (digits.find_first_of(".eE") != std::string_view::npos) {
        return decimal_fraction(source, number);
    } else if (digits.size() > 1 && digits[0] == '0' && digits != "0U") {
        base = 8;
        digits.remove_prefix(1);
    }
    const bool is_unsigned = digits.ends_with('U');
    if (is_unsigned)
        digits.remove_suffix(1);
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (result.ec == std::errc::result_out_of_range)
        source.fail(number.offset, messages::number_too_large(number.text));
    if (result.ec != std::errc{} || result.ptr != digits.data() + digits.size())
        source.fail(number.offset, messages::malformed_number(number.text));
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return {is_unsigned || !fits ? Kind::u64 : Kind::s64, value};
}

Constant parse_constant(Lexer& lexer) { return Expression(lexer).ternary(); }

Constant parse_summand(Lexer& lexer) { return Expression(lexer).binary(product_precedence); }

std::uint64_t parse_count(Lexer& lexer, std::string_view what, std::uint64_t limit) {
    const Token start = lexer.peek();
    const Constant value = parse_constant(lexer);
    if (!value.is_integer())
        lexer.source().fail(start.offset, messages::integer_needed);
    if (value.bits > limit)
        lexer.source().fail(start.offset, messages::out_of_range(what, limit));
    return value.bits;
}

bool begins_constant(const Token& token) {
    if (token.is(Token::Kind::number) || token.is_identifier("WARP_SZ"))
        return true;
    return is_leading_point(token) || token.is('-') || token.is('+') || token.is('!') || token.is('~') ||
           token.is('(');
}

} // namespace emu::ptx

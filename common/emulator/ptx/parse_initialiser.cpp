/// \file
/// Initialisers of variables (PTX ISA 9.0, section 5.4.4).

#include "ptx/module_parser.hpp"

#include "ptx/messages.hpp"

#include <bit>
#include <cstring>

namespace emu::ptx {

namespace {

constexpr std::uint64_t most_initialised_bytes = std::uint64_t{256} << 20;

/// Elements in one entry of dimension `level`.
std::uint64_t stride_of(const std::vector<std::uint64_t>& dimensions, std::size_t level) {
    std::uint64_t stride = 1;
    for (std::size_t i = level + 1; i < dimensions.size(); ++i)
        stride *= dimensions[i];
    return stride;
}

bool is_float(Type type) { return type == Type::f32 || type == Type::f64; }
bool is_integer(Type type) {
    switch (type) {
    case Type::b8:
    case Type::b16:
    case Type::b32:
    case Type::b64:
    case Type::u8:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s8:
    case Type::s16:
    case Type::s32:
    case Type::s64:
        return true;
    default:
        return false;
    }
}
bool is_bits(Type type) { return type == Type::b32 || type == Type::b64; }

/// Bits of a constant as an element of `type`, or nothing if the two do not go together.
std::optional<std::uint64_t> bits_as(const Constant& value, Type type) {
    if (value.is_integer())
        return is_float(type) ? std::nullopt : std::optional(value.bits);
    if (!is_float(type) && !is_bits(type))
        return std::nullopt;
    if (value.kind == Constant::Kind::f32) // ptxas does not widen it for .f64 either
        return value.bits;
    if (size_of(type) == 8)
        return std::bit_cast<std::uint64_t>(value.as_double());
    return std::bit_cast<std::uint32_t>(static_cast<float>(value.as_double()));
}

} // namespace

void ModuleParser::initialiser(InitialiserState& state) {
    Variable& variable = *state.variable;
    if (variable.space != Space::global && variable.space != Space::constant)
        source_.fail(lexer_.peek().offset, messages::no_initialiser_here);
    if (!is_integer(variable.type) && !is_float(variable.type))
        source_.fail(lexer_.peek().offset, messages::no_initial_value(name_of(variable.type)));
    values(state, 0, 0);
    if (!variable.unsized)
        return;
    const std::uint64_t stride = stride_of(state.dimensions, 0);
    if (stride == 0)
        source_.fail(variable.name, messages::unsized_needs_values);
    variable.size = (state.end + stride - 1) / stride * stride * state.element_bytes;
    variable.unsized = false;
}

/// The values of dimension `level` and those within, from element number `start` of the variable on: one
/// value, or as many `{ … }` deep as the variable has dimensions.
void ModuleParser::values(InitialiserState& state, std::size_t level, std::uint64_t start) {
    if (level == state.dimensions.size()) {
        if (lexer_.peek().is('{'))
            source_.fail(lexer_.peek().offset, messages::braces_too_deep);
        return scalar_value(state, start);
    }
    lexer_.expect('{');
    if (lexer_.accept('}'))
        return;
    const std::uint64_t stride = stride_of(state.dimensions, level);
    const bool open_ended = level == 0 && state.variable->unsized;
    const std::uint64_t capacity = open_ended ? most_initialised_bytes : state.dimensions[level];
    std::uint64_t count = 0;
    do {
        if (count == capacity)
            source_.fail(lexer_.peek().offset, messages::too_many_values);
        if (start + count * stride > most_initialised_bytes)
            source_.fail(lexer_.peek().offset, messages::initialiser_too_large);
        values(state, level + 1, start + count * stride);
        ++count;
    } while (lexer_.accept(','));
    state.end = std::max(state.end, start + count * stride);
    lexer_.expect('}');
}

void ModuleParser::scalar_value(InitialiserState& state, std::uint64_t position) {
    state.end = std::max(state.end, position + 1);
    const Token first = lexer_.peek();
    if (first.is(Token::Kind::identifier) && first.text != "WARP_SZ")
        return address_value(state, position, 0, first.offset);
    if (first.is(Token::Kind::number)) { // `0xFF00(name)` selects a byte of an address
        Lexer ahead = lexer_;
        ahead.next();
        if (ahead.accept('(')) {
            const Constant mask = value_of(source_, first);
            if (!mask.is_integer() || mask.bits == 0 ||
                mask.bits >> (std::countr_zero(mask.bits) / 8 * 8) != 0xFF)
                source_.fail(first.offset, messages::mask_not_a_byte);
            lexer_ = ahead;
            address_value(state, position, mask.bits, first.offset);
            return lexer_.expect(')');
        }
    }
    const Constant value = parse_constant(lexer_);
    store_constant(state, position, value, first.offset);
}

/// Space for one element in the variable's initial bytes.
std::byte* ModuleParser::reserve(InitialiserState& state, std::uint64_t position) {
    std::vector<std::byte>& bytes = state.variable->initial;
    if (position >= most_initialised_bytes)
        source_.fail(lexer_.peek().offset, messages::initialiser_too_large);
    const std::uint64_t needed = (position + 1) * state.element_bytes;
    if (needed > bytes.size()) {
        initialised_bytes_ += needed - bytes.size();
        if (initialised_bytes_ > most_initialised_bytes)
            source_.fail(lexer_.peek().offset, messages::initialiser_too_large);
        bytes.resize(needed);
    }
    return bytes.data() + (needed - state.element_bytes);
}

void ModuleParser::store_constant(InitialiserState& state, std::uint64_t position, const Constant& value,
                                  std::uint32_t offset) {
    const auto bits = bits_as(value, state.variable->type);
    if (!bits)
        source_.fail(offset, messages::value_type);
    std::byte* place = reserve(state, position);
    std::memcpy(place, &*bits, std::min<std::size_t>(state.element_bytes, sizeof *bits));
}

/// `name`, `name + 4`, `generic(name)`, `generic(name) + 4`; inside a mask's parentheses the same.
void ModuleParser::address_value(InitialiserState& state, std::uint64_t position, std::uint64_t mask,
                                 std::uint32_t offset) {
    Relocation relocation;
    relocation.width = mask ? 1 : state.element_bytes;
    relocation.shift = mask ? static_cast<std::uint32_t>(std::countr_zero(mask) / 8 * 8) : 0;
    if (is_float(state.variable->type))
        source_.fail(offset, messages::address_only_in_data);
    if (!mask && state.element_bytes != 4 && state.element_bytes != 8)
        source_.fail(offset, messages::address_width);
    Token name = lexer_.expect_identifier("a name");
    if (name.text == "generic" && lexer_.accept('(')) {
        relocation.generic = true;
        name = lexer_.expect_identifier("a name");
        relocation.addend = wrapping_sum(relocation.addend, summands());
        lexer_.expect(')');
    }
    relocation.addend = wrapping_sum(relocation.addend, summands());
    reserve(state, position);
    relocation.offset = static_cast<std::uint32_t>(position * state.element_bytes);
    state.variable->relocations.push_back(relocation);
    state.names.push_back(name.text);
}

/// `+ 4 - 2 …` after a name; 0 when there is none.
std::int64_t ModuleParser::summands() {
    std::uint64_t sum = 0;
    while (lexer_.peek().is('+') || lexer_.peek().is('-')) {
        const Token sign = lexer_.next();
        const Constant value = parse_summand(lexer_);
        if (!value.is_integer())
            source_.fail(sign.offset, messages::integer_needed);
        sum += sign.is('+') ? value.bits : 0 - value.bits;
    }
    return static_cast<std::int64_t>(sum);
}

} // namespace emu::ptx

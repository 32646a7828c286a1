#pragma once
/// \file
/// Comparison operators (PTX ISA 9.0, section 9.7.6) as functions from two rows to a mask of lanes.

#include "machine/instructions/arith.hpp"
#include "machine/instructions/rounding.hpp"

#include <string_view>

namespace emu {

/// Compares the 32 values at `a` with those at `b`; bit i of the result belongs to lane i.
using Comparison = LaneMask (*)(const void* a, const void* b);

enum class Relation : std::uint8_t { eq, ne, lt, le, gt, ge, number, nan };
/// A comparison operator. `Unordered` ones are true when an operand is NaN, the others false.
template <Relation R, bool Unordered = false>
struct Compare {
    template <class T>
    constexpr bool operator()(T a, T b) const {
        if constexpr (R == Relation::number)
            return a == a && b == b;
        else if constexpr (R == Relation::nan)
            return !(a == a && b == b);
        else if constexpr (R == Relation::eq)
            return Unordered ? !(a < b || a > b) : a == b;
        else if constexpr (R == Relation::ne)
            return Unordered ? a != b : a < b || a > b;
        else if constexpr (R == Relation::lt)
            return Unordered ? !(a >= b) : a < b;
        else if constexpr (R == Relation::le)
            return Unordered ? !(a > b) : a <= b;
        else if constexpr (R == Relation::gt)
            return Unordered ? !(a <= b) : a > b;
        else
            return Unordered ? !(a < b) : a >= b;
    }
};

/// A Comparison of values of type T; `Flush` treats subnormal numbers as zero.
template <class T, class C, bool Flush = false>
LaneMask compare_rows(const void* a, const void* b) {
    const T* x = static_cast<const T*>(a);
    const T* y = static_cast<const T*>(b);
    if constexpr (Flush)
        return mask_of([x, y](unsigned i) { return C{}(flush(x[i]), flush(y[i])); });
    else
        return mask_of([x, y](unsigned i) { return C{}(x[i], y[i]); });
}

/// Calls `f(Compare<…>{})` with the operator for floating-point numbers that the modifiers name.
template <class F>
void with_float_relation(const DecodeContext& context, F&& f) {
    using enum Relation;
    bool found = false;
    const auto row = [&](std::string_view name, auto compare) {
        if (!found && context.has(name)) {
            found = true;
            f(compare);
        }
    };
    row("eq", Compare<eq>{});
    row("ne", Compare<ne>{});
    row("lt", Compare<lt>{});
    row("le", Compare<le>{});
    row("gt", Compare<gt>{});
    row("ge", Compare<ge>{});
    row("equ", Compare<eq, true>{});
    row("neu", Compare<ne, true>{});
    row("ltu", Compare<lt, true>{});
    row("leu", Compare<le, true>{});
    row("gtu", Compare<gt, true>{});
    row("geu", Compare<ge, true>{});
    row("num", Compare<number>{});
    row("nan", Compare<nan>{});
    if (!found)
        context.malformed("names no comparison operator for floating-point numbers");
}

/// The same for integers; `lo`, `ls`, `hi` and `hs` are other names for the order of unsigned numbers.
template <class F>
void with_integer_relation(const DecodeContext& context, ptx::Type type, F&& f) {
    using enum Relation;
    const auto has = [&](std::string_view name, std::string_view unsigned_name) {
        return context.has(name) || (!ptx::is_signed(type) && context.has(unsigned_name));
    };
    if (context.has("eq"))
        return f(Compare<eq>{});
    if (context.has("ne"))
        return f(Compare<ne>{});
    if (type == ptx::Type::b16 || type == ptx::Type::b32 || type == ptx::Type::b64)
        context.unsupported("a bit type has only the operators .eq and .ne");
    if (has("lt", "lo"))
        return f(Compare<lt>{});
    if (has("le", "ls"))
        return f(Compare<le>{});
    if (has("gt", "hi"))
        return f(Compare<gt>{});
    if (has("ge", "hs"))
        return f(Compare<ge>{});
    context.malformed("names no comparison operator for its type");
}

/// What follows a comparison: p = result BoolOp c, q = !result BoolOp c. The operator is four masks, so that
/// nothing is decided at run time.
struct Combination : OpExtra {
    LaneMask plain = all_lanes, both = 0, either = 0, differ = 0;
    Row c; ///< The predicate operand; unused when `plain`.
    bool c_negated = false;
    Comparison comparison = nullptr;
    Row second; ///< q, or a scratch row.

    LaneMask operator()(LaneMask result, LaneMask predicate) const {
        return (result & plain) | (result & predicate & both) | ((result | predicate) & either) |
               ((result ^ predicate) & differ);
    }
    LaneMask predicate(Warp& warp) const {
        const LaneMask value = warp.predicate(c);
        return c_negated ? ~value : value;
    }
};

/// Throws on a modifier that neither set nor setp knows, and when there is not exactly one operator of each
/// kind.
void check_comparison_modifiers(const DecodeContext& context);
/// Reads BoolOp and its predicate, the fourth operand, where there is one.
void decode_combination(DecodeContext& context, Combination& combination);
/// p or p|q as destination of setp: fills op.dst and `second`.
void decode_predicate_pair(DecodeContext& context, Op& op, Combination& combination);

/// What `set` writes for true, and in how many bits.
struct TrueValue {
    std::uint32_t bits;
    bool narrow; ///< 16 bits.
};
/// Writes `value` or zero by lane.
template <class T>
void store_truth(Warp& warp, Row destination, LaneMask mask, LaneMask truth, T value) {
    map_lanes(mask, warp.row<T>(destination), [=](unsigned i) { return truth >> i & 1 ? value : T{0}; });
}

} // namespace emu

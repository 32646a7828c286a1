/// \file
/// Extended-precision integer arithmetic (PTX ISA 9.0, section 9.7.2). The condition code CC.CF is one bit a
/// lane, Warp::carry. As on an H200, and not as in the manual, which speaks of a carry and of a borrow: a
/// subtraction is the addition of the complement plus one, so that its bit is set where nothing was borrowed,
/// and subc takes one more away where the bit is clear, whatever instruction wrote it.

#include "machine/instructions/arith.hpp"
#include "machine/instructions/scalar.hpp"

namespace emu {
namespace {

using ptx::Type;

/// Result of a step: the value and the carry or borrow out.
template <class U>
struct Step {
    U value;
    bool out;
};

template <class U>
constexpr Step<U> add_step(U a, U b, bool in) {
    const U partial = static_cast<U>(a + b);
    const U sum = static_cast<U>(partial + in);
    return {sum, partial < a || sum < partial};
}
template <class U>
constexpr Step<U> sub_step(U a, U b, bool in) {
    return add_step<U>(a, static_cast<U>(~b), in);
}

/// Runs `F(a, b, c, carry in)` in every lane; `Read` and `Write` say which ends of the chain exist, `First`
/// what comes in where the chain begins.
template <class T, bool Read, bool Write, bool First, class F>
Flow run_carry(Warp& warp, const Op& op, LaneMask mask) {
    using U = std::make_unsigned_t<T>;
    const T* a = warp.row<T>(op.a);
    const T* b = warp.row<T>(op.b);
    const T* c = warp.row<T>(op.c);
    T* d = warp.row<T>(op.dst);
    const LaneMask in = Read ? warp.carry : First ? all_lanes : 0;
    LaneMask out = 0;
    for_lanes(mask, [&](unsigned i) {
        const Step<U> step = F{}(a[i], b[i], c[i], (in >> i & 1) != 0);
        d[i] = static_cast<T>(step.value);
        out |= static_cast<LaneMask>(step.out) << i;
    });
    if constexpr (Write)
        warp.carry = (warp.carry & ~mask) | out;
    return Flow::next;
}

/// Picks the instantiation; `read` is the `c` of addc, `write` the suffix .cc.
template <class T, bool First = false, class F>
Handler carry_handler(bool read, bool write, F) {
    if (read)
        return write ? &run_carry<T, true, true, First, F> : &run_carry<T, true, false, First, F>;
    return &run_carry<T, false, true, First, F>;
}

/// Operands and type of a step without product.
Type sum_operands(DecodeContext& context, Op& op) {
    context.allow({"cc"});
    expect_types(context, 1);
    const Type type =
        require_type(context, {Type::u32, Type::s32, Type::u64, Type::s64, Type::b32, Type::b64});
    operands_binary(context, op, type);
    op.c = op.b;
    return type;
}

} // namespace

void decode_add_carry(DecodeContext& context, Op& op) {
    const bool read = context.instruction().opcode == "addc";
    with_bits(context, sum_operands(context, op), [&]<class U>(U) {
        op.handler = carry_handler<U>(read, context.has("cc"),
                                      [](U a, U b, U, bool in) { return add_step<U>(a, b, in); });
    });
}

void decode_sub_carry(DecodeContext& context, Op& op) {
    const bool read = context.instruction().opcode == "subc";
    with_bits(context, sum_operands(context, op), [&]<class U>(U) {
        op.handler = carry_handler<U, true>(read, context.has("cc"),
                                            [](U a, U b, U, bool in) { return sub_step<U>(a, b, in); });
    });
}

void decode_mad_carry(DecodeContext& context, Op& op) {
    context.allow({"cc", "lo", "hi"});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::u32, Type::s32, Type::u64, Type::s64});
    operands_ternary(context, op, type);
    if (context.has("lo") == context.has("hi"))
        context.malformed("must say either .lo or .hi");
    const bool read = context.instruction().opcode == "madc", write = context.has("cc"),
               high = context.has("hi");
    with_integer(context, type, [&]<class T>(T) {
        using U = std::make_unsigned_t<T>;
        op.handler = high ? carry_handler<T>(read, write,
                                             [](T a, T b, T c, bool in) {
                                                 return add_step<U>(static_cast<U>(mul_hi(a, b)),
                                                                    static_cast<U>(c), in);
                                             })
                          : carry_handler<T>(read, write, [](T a, T b, T c, bool in) {
                                return add_step<U>(static_cast<U>(mul_lo(a, b)), static_cast<U>(c), in);
                            });
    });
}

} // namespace emu

/// \file
/// Scalar video instructions (PTX ISA 9.0, section 9.7.18.1). They are rare, so each lane is worked out by
/// itself. The SIMD forms are in video_simd.cpp.
///
/// For sm_90 the assembler replaces each by a sequence of other instructions, on 64 bits. Where that differs
/// from the manual, in saturation, in the second operation, in .h1 of a destination and in the products of
/// vmad, the emulator does as the sequence does, and so gives what an H200 gives.

#include "machine/instructions/video.hpp"
#include "machine/instructions/scalar.hpp"

namespace emu {
namespace {

using ptx::Operand;
using ptx::Type;
using s64 = std::int64_t;
using u32 = std::uint32_t;

/// Which bits of a 32-bit operand take part: the whole, a half or a byte; and its sign.
struct Selector {
    unsigned shift = 0, bits = 32;
    bool is_signed = false;

    s64 operator()(u32 word) const {
        const u32 up = word << (32 - shift - bits);
        return is_signed ? static_cast<std::int32_t>(up) >> (32 - bits) : static_cast<s64>(up >> (32 - bits));
    }
    /// `word` with the selected bits replaced by the lowest of `value`; but .h1 by the upper half of it.
    u32 merge(u32 word, u32 value) const {
        const u32 mask = (bits == 32 ? ~u32{0} : (u32{1} << bits) - 1) << shift;
        const bool upper_half = bits == 16 && shift == 16;
        return (word & ~mask) | ((upper_half ? value : value << shift) & mask);
    }
};

Selector selector_of(const DecodeContext& context, const Operand& operand, Type type) {
    Selector selector{0, 32, ptx::is_signed(type)};
    const std::string_view name = operand.selector;
    if (name.empty())
        return selector;
    const unsigned index = name.size() == 2 ? static_cast<unsigned>(name[1] - '0') : 9;
    if (name[0] == 'b' && index < 4)
        return {8 * index, 8, selector.is_signed};
    if (name[0] == 'h' && index < 2)
        return {16 * index, 16, selector.is_signed};
    context.malformed("has an unknown selector ." + std::string(name));
}

/// The second operation: none, d = merge(result, c), or d = c op result.
enum class Second : std::uint8_t { none, merge, add, minimum, maximum };

struct VideoPlan : OpExtra {
    Selector a, b, d;
    bool saturate = false;
    bool wrap_shift = false;
    Second second = Second::none;
    bool signed_result = false;
};

constexpr s64 as_signed(u32 word) { return static_cast<std::int32_t>(word); }

constexpr s64 clamp_signed(s64 value) { return video_range(32, true)(value); }

/// .sat of a sum, difference, minimum or maximum. The manual clamps to the range of the destination; the
/// sequence lets an unsigned word wrap at its upper end, and takes for a byte or half all that is negative
/// for too large.
s64 saturate_arithmetic(const VideoPlan& plan, s64 value) {
    if (plan.d.bits == 32)
        return plan.signed_result ? clamp_signed(value) : std::max<s64>(value, 0);
    const VideoRange range = video_range(plan.d.bits, plan.signed_result);
    return value < 0 ? range.high : std::min(value, range.high);
}

/// .sat of a shift: to 32 bits, also where a byte or half is written, and of the lowest 34 bits of the value.
s64 saturate_shift(const VideoPlan& plan, s64 value) {
    constexpr unsigned lost = 64 - 34;
    const s64 seen = static_cast<s64>(static_cast<std::uint64_t>(value) << lost) >> lost;
    return as_signed(static_cast<u32>(video_range(32, plan.signed_result)(seen)));
}

/// The result of the first operation as the second one sees it, in 64 bits: a sum as its sign-extended word.
template <VideoOperation O>
s64 first_result(const VideoPlan& plan, s64 value) {
    constexpr bool shift = O == VideoOperation::shift_left || O == VideoOperation::shift_right;
    constexpr bool sum = O == VideoOperation::add || O == VideoOperation::subtract;
    if (plan.saturate)
        value = shift ? saturate_shift(plan, value) : saturate_arithmetic(plan, value);
    return sum ? as_signed(static_cast<u32>(value)) : value;
}

/// The second operation. .min and .max compare 64 bits, of which c has 32.
u32 combine(const VideoPlan& plan, s64 result, u32 c) {
    const s64 wide = plan.signed_result ? as_signed(c) : s64{c};
    const bool smaller = plan.signed_result
                             ? result < wide
                             : static_cast<std::uint64_t>(result) < static_cast<std::uint64_t>(wide);
    const auto word = static_cast<u32>(result);
    switch (plan.second) {
    case Second::none:
        return word;
    case Second::merge:
        return plan.d.merge(c, word);
    case Second::add:
        return word + c;
    case Second::minimum:
        return smaller ? word : c;
    case Second::maximum:
        return smaller ? c : word;
    }
    return word;
}

template <VideoOperation O>
Flow run_video(Warp& warp, const Op& op, LaneMask mask) {
    constexpr bool shift = O == VideoOperation::shift_left || O == VideoOperation::shift_right;
    const auto& plan = *static_cast<const VideoPlan*>(op.extra);
    const u32 *a = warp.row<u32>(op.a), *b = warp.row<u32>(op.b), *c = warp.row<u32>(op.c);
    map_lanes(mask, warp.row<u32>(op.dst), [&](unsigned i) {
        s64 second = plan.b(b[i]);
        if constexpr (shift)
            second = plan.wrap_shift ? second & 31 : std::min<s64>(second, 32);
        return combine(plan, first_result<O>(plan, video_apply<O>(plan.a(a[i]), second)), c[i]);
    });
    return Flow::next;
}

/// Reads the optional second operation and the operands after the destination.
void decode_operands(DecodeContext& context, Op& op, VideoPlan& plan, Type a, Type b) {
    const Operand& target = context.operand(0);
    const bool merges = !target.selector.empty();
    const bool add = context.has("add"), minimum = context.has("min"), maximum = context.has("max");
    if (merges + add + minimum + maximum > 1)
        context.malformed("has more than one second operation");
    plan.second = merges    ? Second::merge
                  : add     ? Second::add
                  : minimum ? Second::minimum
                  : maximum ? Second::maximum
                            : Second::none;
    expect_operands(context, plan.second == Second::none ? 3 : 4);
    op.dst = context.destination(0, Type::u32);
    op.a = context.source(1, Type::u32);
    op.b = context.source(2, Type::u32);
    op.c = plan.second == Second::none ? op.a : context.source(3, Type::u32);
    plan.a = selector_of(context, context.operand(1), a);
    plan.b = selector_of(context, context.operand(2), b);
    plan.d = selector_of(context, target, Type::u32);
}

/// vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr: vop.dtype.atype.btype{.sat}{.op2}.
template <VideoOperation O>
void decode_video(DecodeContext& context, Op& op) {
    constexpr bool shift = O == VideoOperation::shift_left || O == VideoOperation::shift_right;
    if constexpr (shift)
        context.allow({"sat", "add", "min", "max", "clamp", "wrap"});
    else
        context.allow({"sat", "add", "min", "max"});
    expect_types(context, 3);
    const auto words = {Type::u32, Type::s32};
    const Type d = require_type(context, words, 0), a = require_type(context, words, 1);
    const Type b = require_type(context, words, 2);
    auto plan = std::make_unique<VideoPlan>();
    if (shift && context.has("clamp") == context.has("wrap"))
        context.malformed("must say either .clamp or .wrap");
    plan->wrap_shift = context.has("wrap");
    plan->saturate = context.has("sat");
    plan->signed_result = ptx::is_signed(d);
    decode_operands(context, op, *plan, a, b);
    op.handler = &run_video<O>;
    op.extra = context.keep(std::move(plan));
}

/// vset.atype.btype.cmp{.op2}: the second operation has the sign of atype.
void decode_vset(DecodeContext& context, Op& op) {
    context.allow({"eq", "ne", "lt", "le", "gt", "ge", "add", "min", "max"});
    expect_types(context, 2);
    const auto words = {Type::u32, Type::s32};
    const Type a = require_type(context, words, 0), b = require_type(context, words, 1);
    auto plan = std::make_unique<VideoPlan>();
    plan->signed_result = ptx::is_signed(a);
    decode_operands(context, op, *plan, a, b);
    using enum VideoOperation;
    switch (video_comparison(context)) {
    case compare_eq:
        op.handler = &run_video<compare_eq>;
        break;
    case compare_ne:
        op.handler = &run_video<compare_ne>;
        break;
    case compare_lt:
        op.handler = &run_video<compare_lt>;
        break;
    case compare_le:
        op.handler = &run_video<compare_le>;
        break;
    case compare_gt:
        op.handler = &run_video<compare_gt>;
        break;
    default:
        op.handler = &run_video<compare_ge>;
        break;
    }
    op.extra = context.keep(std::move(plan));
}

// -- vmad

struct VmadPlan : OpExtra {
    Selector a, b;
    bool negate_product = false, negate_c = false, plus_one = false;
    bool is_signed = false; ///< The sum, for the shift and for .sat.
    bool saturate = false;
    unsigned scale = 0;
};

/// d = (±(a * b) ± c + 1 if .po) >> scale. The sequence multiplies and adds words as signed ones, of any
/// type, in 64 bits that wrap; it takes the complement of c, of 32 bits, and adds one for -c.
u32 multiply_add(const VmadPlan& plan, u32 a, u32 b, u32 c) {
    using u64 = std::uint64_t;
    const auto word = [](s64 part) { return as_signed(static_cast<u32>(part)); };
    const auto product = static_cast<u64>(word(plan.a(a)) * word(plan.b(b)));
    u64 sum = (plan.negate_product ? 0 - product : product) +
              static_cast<u64>(as_signed(plan.negate_c ? ~c : c)) + (plan.negate_c || plan.plus_one);
    sum = plan.is_signed ? static_cast<u64>(static_cast<s64>(sum) >> plan.scale) : sum >> plan.scale;
    if (!plan.saturate)
        return static_cast<u32>(sum);
    return static_cast<u32>(video_range(32, plan.is_signed)(static_cast<s64>(sum)));
}

Flow run_vmad(Warp& warp, const Op& op, LaneMask mask) {
    const auto& plan = *static_cast<const VmadPlan*>(op.extra);
    const u32 *a = warp.row<u32>(op.a), *b = warp.row<u32>(op.b), *c = warp.row<u32>(op.c);
    map_lanes(mask, warp.row<u32>(op.dst), [&](unsigned i) { return multiply_add(plan, a[i], b[i], c[i]); });
    return Flow::next;
}

void decode_vmad(DecodeContext& context, Op& op) {
    context.allow({"po", "sat", "shr7", "shr15"});
    expect_types(context, 3);
    expect_operands(context, 4);
    const auto words = {Type::u32, Type::s32};
    require_type(context, words, 0);
    const Type a = require_type(context, words, 1), b = require_type(context, words, 2);
    auto plan = std::make_unique<VmadPlan>();
    plan->a = selector_of(context, context.operand(1), a);
    plan->b = selector_of(context, context.operand(2), b);
    plan->negate_product = context.operand(1).negated != context.operand(2).negated;
    plan->negate_c = context.operand(3).negated;
    plan->plus_one = context.has("po");
    if (plan->plus_one && (context.operand(1).negated || context.operand(2).negated || plan->negate_c))
        context.malformed("takes no negated operand with .po");
    // The result is signed when an operand of the product is or something is negated.
    plan->is_signed = ptx::is_signed(a) || ptx::is_signed(b) || plan->negate_product || plan->negate_c;
    plan->saturate = context.has("sat");
    plan->scale = context.has("shr7") ? 7 : context.has("shr15") ? 15 : 0;
    op.dst = context.destination(0, Type::u32);
    op.a = context.source(1, Type::u32);
    op.b = context.source(2, Type::u32);
    op.c = context.source(3, Type::u32);
    op.handler = &run_vmad;
    op.extra = context.keep(std::move(plan));
}

} // namespace

std::span<const InstructionRow> video_instructions() {
    using enum VideoOperation;
    static constexpr InstructionRow rows[] = {
        {"vadd", "9.7.18.1.1", decode_video<add>},
        {"vsub", "9.7.18.1.1", decode_video<subtract>},
        {"vabsdiff", "9.7.18.1.1", decode_video<absolute_difference>},
        {"vmin", "9.7.18.1.1", decode_video<minimum>},
        {"vmax", "9.7.18.1.1", decode_video<maximum>},
        {"vshl", "9.7.18.1.2", decode_video<shift_left>},
        {"vshr", "9.7.18.1.2", decode_video<shift_right>},
        {"vmad", "9.7.18.1.3", decode_vmad},
        {"vset", "9.7.18.1.4", decode_vset},
        {"vadd2", "9.7.18.2.1", decode_simd_video},
        {"vsub2", "9.7.18.2.1", decode_simd_video},
        {"vavrg2", "9.7.18.2.1", decode_simd_video},
        {"vabsdiff2", "9.7.18.2.1", decode_simd_video},
        {"vmin2", "9.7.18.2.1", decode_simd_video},
        {"vmax2", "9.7.18.2.1", decode_simd_video},
        {"vset2", "9.7.18.2.2", decode_simd_video},
        {"vadd4", "9.7.18.2.3", decode_simd_video},
        {"vsub4", "9.7.18.2.3", decode_simd_video},
        {"vavrg4", "9.7.18.2.3", decode_simd_video},
        {"vabsdiff4", "9.7.18.2.3", decode_simd_video},
        {"vmin4", "9.7.18.2.3", decode_simd_video},
        {"vmax4", "9.7.18.2.3", decode_simd_video},
        {"vset4", "9.7.18.2.4", decode_simd_video},
    };
    return rows;
}

} // namespace emu

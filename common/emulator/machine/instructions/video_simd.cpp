/// \file
/// SIMD video instructions on two halves or four bytes (PTX ISA 9.0, section 9.7.18.2).

#include "machine/instructions/scalar.hpp"
#include "machine/instructions/video.hpp"

#include <array>

namespace emu {
namespace {

using ptx::Operand;
using ptx::Type;
using s64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct SimdPlan : OpExtra {
    unsigned count = 2; ///< Elements: 2 halves or 4 bytes.
    unsigned bits = 16;
    std::array<std::uint8_t, 4> a{}, b{}; ///< Which element of [b:a] is element i of the operand.
    bool a_signed = false, b_signed = false;
    std::array<bool, 4> written{}; ///< The mask of the destination.
    bool accumulate = false;
    bool saturate = false;
    VideoRange range;

    s64 element(u64 words, unsigned index, bool is_signed) const {
        const u64 up = words >> (bits * index) << (64 - bits);
        return is_signed ? static_cast<s64>(up) >> (64 - bits) : static_cast<s64>(up >> (64 - bits));
    }
};

template <VideoOperation O>
Flow run_simd(Warp& warp, const Op& op, LaneMask mask) {
    const auto& plan = *static_cast<const SimdPlan*>(op.extra);
    const u32 *a = warp.row<u32>(op.a), *b = warp.row<u32>(op.b), *c = warp.row<u32>(op.c);
    const u32 ones = (u32{1} << plan.bits) - 1;
    map_lanes(mask, warp.row<u32>(op.dst), [&](unsigned lane) {
        const u64 words = u64{b[lane]} << 32 | a[lane];
        u32 result = c[lane];
        for (unsigned i = 0; i < plan.count; ++i) {
            if (!plan.written[i])
                continue;
            s64 value = video_apply<O>(plan.element(words, plan.a[i], plan.a_signed),
                                       plan.element(words, plan.b[i], plan.b_signed));
            if (plan.saturate)
                value = plan.range(value);
            const unsigned shift = plan.bits * i;
            if (plan.accumulate)
                result += static_cast<u32>(value);
            else
                result = (result & ~(ones << shift)) | (static_cast<u32>(value) & ones) << shift;
        }
        return result;
    });
    return Flow::next;
}

/// The digits of a selector such as h10 or b3210; the last digit belongs to element 0. Empty: `fallback`.
std::string_view digits_of(const DecodeContext& context, const Operand& operand, const SimdPlan& plan,
                           std::string_view fallback, bool all) {
    const std::string_view name = operand.selector;
    if (name.empty())
        return fallback;
    const char letter = plan.count == 2 ? 'h' : 'b';
    const char limit = static_cast<char>('0' + (all ? 2 * plan.count : plan.count));
    bool good = name[0] == letter && name.size() > 1 && name.size() <= plan.count + 1 &&
                (!all || name.size() == plan.count + 1);
    for (const char digit : name.substr(1))
        good = good && digit >= '0' && digit < limit;
    if (!good)
        context.malformed("has an unknown selector ." + std::string(name));
    return name.substr(1);
}

void decode_selectors(DecodeContext& context, SimdPlan& plan) {
    const bool halves = plan.count == 2;
    const std::string_view a = digits_of(context, context.operand(1), plan, halves ? "10" : "3210", true);
    const std::string_view b = digits_of(context, context.operand(2), plan, halves ? "32" : "7654", true);
    for (unsigned i = 0; i < plan.count; ++i) {
        plan.a[i] = static_cast<std::uint8_t>(a[plan.count - 1 - i] - '0');
        plan.b[i] = static_cast<std::uint8_t>(b[plan.count - 1 - i] - '0');
    }
    for (const char digit : digits_of(context, context.operand(0), plan, halves ? "10" : "3210", false))
        plan.written[static_cast<unsigned>(digit - '0')] = true;
}

template <VideoOperation O>
Handler simd() {
    return &run_simd<O>;
}

/// The operation an opcode without its digit stands for.
Handler handler_of(const DecodeContext& context, std::string_view name) {
    using enum VideoOperation;
    constexpr std::pair<std::string_view, Handler (*)()> arithmetic[] = {
        {"vadd", simd<add>},      {"vsub", simd<subtract>},
        {"vavrg", simd<average>}, {"vabsdiff", simd<absolute_difference>},
        {"vmin", simd<minimum>},  {"vmax", simd<maximum>}};
    for (const auto& [each, handler] : arithmetic)
        if (each == name)
            return handler();
    constexpr std::pair<VideoOperation, Handler (*)()> comparisons[] = {
        {compare_eq, simd<compare_eq>}, {compare_ne, simd<compare_ne>}, {compare_lt, simd<compare_lt>},
        {compare_le, simd<compare_le>}, {compare_gt, simd<compare_gt>}, {compare_ge, simd<compare_ge>}};
    const VideoOperation comparison = video_comparison(context);
    for (const auto& [each, handler] : comparisons)
        if (each == comparison)
            return handler();
    return nullptr;
}

} // namespace

void decode_simd_video(DecodeContext& context, Op& op) {
    const std::string_view opcode = context.instruction().opcode;
    const std::string_view name = opcode.substr(0, opcode.size() - 1);
    const bool comparison = name == "vset";
    if (comparison)
        context.allow({"eq", "ne", "lt", "le", "gt", "ge", "add"});
    else
        context.allow({"sat", "add"});
    expect_types(context, comparison ? 2 : 3);
    expect_operands(context, 4);
    for (unsigned i = 0; i < (comparison ? 2u : 3u); ++i)
        require_type(context, {Type::u32, Type::s32}, i);
    auto plan = std::make_unique<SimdPlan>();
    plan->count = opcode.back() == '2' ? 2 : 4;
    plan->bits = 32 / plan->count;
    plan->a_signed = ptx::is_signed(context.type(comparison ? 0 : 1));
    plan->b_signed = ptx::is_signed(context.type(comparison ? 1 : 2));
    plan->accumulate = context.has("add");
    plan->saturate = context.has("sat");
    if (plan->accumulate && plan->saturate)
        context.malformed("takes .sat without .add only");
    plan->range = video_range(plan->bits, !comparison && ptx::is_signed(context.type(0)));
    decode_selectors(context, *plan);
    op.dst = context.destination(0, Type::u32);
    op.a = context.source(1, Type::u32);
    op.b = context.source(2, Type::u32);
    op.c = context.source(3, Type::u32);
    op.handler = handler_of(context, name);
    op.extra = context.keep(std::move(plan));
}

} // namespace emu

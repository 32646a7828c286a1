#pragma once
/// \file
/// What scalar and SIMD video instructions share (PTX ISA 9.0, section 9.7.18).

#include "machine/instructions/arith.hpp"

#include <algorithm>
#include <optional>

namespace emu {

/// The operation of a video instruction on two extracted operands.
enum class VideoOperation : std::uint8_t {
    add,
    subtract,
    absolute_difference,
    minimum,
    maximum,
    average,
    shift_left,
    shift_right,
    compare_eq,
    compare_ne,
    compare_lt,
    compare_le,
    compare_gt,
    compare_ge,
};

/// a OP b as the manual defines it, before saturation. Shift amounts are `b` clamped or wrapped already.
template <VideoOperation O>
constexpr std::int64_t video_apply(std::int64_t a, std::int64_t b) {
    using enum VideoOperation;
    if constexpr (O == add)
        return a + b;
    else if constexpr (O == subtract)
        return a - b;
    else if constexpr (O == absolute_difference)
        return a < b ? b - a : a - b;
    else if constexpr (O == minimum)
        return std::min(a, b);
    else if constexpr (O == maximum)
        return std::max(a, b);
    else if constexpr (O == average) {
        // Halves are rounded away from zero.
        const std::int64_t sum = a + b;
        return sum < 0 ? sum >> 1 : (sum + 1) >> 1;
    } else if constexpr (O == shift_left)
        return a << b;
    else if constexpr (O == shift_right)
        return a >> b;
    else if constexpr (O == compare_eq)
        return a == b;
    else if constexpr (O == compare_ne)
        return a != b;
    else if constexpr (O == compare_lt)
        return a < b;
    else if constexpr (O == compare_le)
        return a <= b;
    else if constexpr (O == compare_gt)
        return a > b;
    else
        return a >= b;
}

/// The comparison a vset names by its modifier.
inline VideoOperation video_comparison(const DecodeContext& context) {
    using enum VideoOperation;
    constexpr std::pair<std::string_view, VideoOperation> names[] = {{"eq", compare_eq}, {"ne", compare_ne},
                                                                     {"lt", compare_lt}, {"le", compare_le},
                                                                     {"gt", compare_gt}, {"ge", compare_ge}};
    std::optional<VideoOperation> found;
    for (const auto& [name, operation] : names)
        if (context.has(name))
            found = operation;
    if (!found)
        context.malformed("names no comparison");
    return *found;
}

/// A range to saturate to.
struct VideoRange {
    std::int64_t low = 0, high = 0;
    constexpr std::int64_t operator()(std::int64_t value) const { return std::clamp(value, low, high); }
};
/// The range of `bits` bits of a sign.
constexpr VideoRange video_range(unsigned bits, bool is_signed) {
    const std::int64_t span = std::int64_t{1} << (is_signed ? bits - 1 : bits);
    return {is_signed ? -span : 0, span - 1};
}

} // namespace emu

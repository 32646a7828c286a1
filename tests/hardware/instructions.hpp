#pragma once
/// \file
/// The instructions that random programs are made of.

#include <span>
#include <string_view>

namespace hardware {

/// One instruction, or a few in braces that make one result.
///
/// `kinds` names the kind of the result and then of each operand:
///   i, l, h: integers of 32, 64 and 16 bits          f, d: f32 and f64
///   s, x: f16 and f16x2                                t, y: bf16 and bf16x2
///   I: i, sometimes a constant                         F, D: f and d, but never a result: the sign of a NaN
///   is
///                                                      defined only if it was loaded
/// In `text`, $d is the result, $a, $b, $c and $e are the operands, <x|y> is one of x and y, and #N is a
/// constant below N. `cell` and `word` are addresses of 16 bytes of the thread's own in shared and in global
/// memory.
struct Instruction {
    std::string_view kinds;
    std::string_view text;
};

/// All whose results PTX defines to the bit, but for the payload and sign of a NaN.
std::span<const Instruction> instructions();
/// Those of them that work on integers, bits, lanes and pixels.
std::span<const Instruction> integer_rows();

} // namespace hardware

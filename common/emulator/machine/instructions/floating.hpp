#pragma once
/// \file
/// What the floating-point instructions share (PTX ISA 9.0, section 9.7.3).

#include "machine/instructions/rounding.hpp"

namespace emu {

/// The one type, f32 or f64, of a floating-point instruction; refuses what belongs to later architectures.
ptx::Type floating_type(const DecodeContext& context);

/// The rounding modifier of an instruction that must have one (section 9.7.3: fma, and the IEEE forms of div,
/// rcp and sqrt).
inline Rounding required_rounding(const DecodeContext& context) {
    const Rounding rounding = rounding_of(context, Rounding::away);
    if (rounding == Rounding::away)
        context.malformed("must say how it rounds");
    return rounding;
}

} // namespace emu

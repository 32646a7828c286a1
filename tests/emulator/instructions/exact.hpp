#pragma once
/// \file
/// Reference rounding for tests of floating-point instructions: results are worked out with 113 bits by the
/// compiler's own software arithmetic and rounded by neighbours, never by the code under test.

#include <cmath>
#include <cstdint>
#include <string>

namespace emu::test {

__extension__ using Exact = __float128;

enum class Mode { nearest, zero, down, up };
inline constexpr Mode all_modes[] = {Mode::nearest, Mode::zero, Mode::down, Mode::up};
inline std::string name_of(Mode mode) {
    return mode == Mode::nearest ? "rn" : mode == Mode::zero ? "rz" : mode == Mode::down ? "rm" : "rp";
}

/// The number of type T that `exact` rounds to. The host must round to nearest, as it does outside handlers.
template <class T>
T round_to(Exact exact, Mode mode) {
    const T near = static_cast<T>(exact);
    const Exact back = near;
    if (mode == Mode::nearest || back == exact || std::isnan(near))
        return near;
    const bool upward = mode == Mode::up || (mode == Mode::zero && exact < 0);
    // A finite number that overflowed lies below infinity.
    if (upward)
        return back < exact ? std::nextafter(near, static_cast<T>(INFINITY)) : near;
    return back > exact ? std::nextafter(near, static_cast<T>(-INFINITY)) : near;
}

} // namespace emu::test

#pragma once
/// \file
/// IEEE arithmetic in integers, rounded in any direction: for hosts that only round to nearest, as
/// WebAssembly does, and the same arithmetic by the host. Both have the same functions, so that an
/// instruction is written once for both.

#include <cmath>
#include <cstdint>

namespace emu {

/// `.rn`, `.rz`, `.rm`, `.rp`, and `.rna` (nearest, ties away from zero).
enum class Rounding : std::uint8_t { nearest, zero, down, up, away };

/// a * b + c with one rounding, to nearest. WebAssembly has no such instruction, and its C library, musl,
/// does not round as IEEE 754 wants: fmaf() rounds ties by a rounding mode that does not exist there, and
/// fma() loses the sign of a product that is too small for any number.
float fused_host(float a, float b, float c);
double fused_host(double a, double b, double c);

/// By the host, in the rounding mode that it is in.
struct HostArithmetic {
    template <class T>
    static T add(T a, T b) {
        return a + b;
    }
    template <class T>
    static T subtract(T a, T b) {
        return a - b;
    }
    template <class T>
    static T multiply(T a, T b) {
        return a * b;
    }
    template <class T>
    static T divide(T a, T b) {
        return a / b;
    }
    template <class T>
    static T fused(T a, T b, T c) {
#if defined(__wasm__)
        return fused_host(a, b, c);
#else
        return std::fma(a, b, c);
#endif
    }
    template <class T>
    static T root(T a) {
        return std::sqrt(a);
    }
    /// A number or an integer as the floating-point type `T`.
    template <class T, class From>
    static T convert(From value) {
        return static_cast<T>(value);
    }
};

/// By integers. `T` is float or double; results that are NaN have the host's payload and sign.
class SoftwareArithmetic {
  public:
    explicit SoftwareArithmetic(Rounding rounding) : rounding_(rounding) {}
    template <class T>
    T add(T a, T b) const {
        return fused(a, T{1}, b);
    }
    template <class T>
    T subtract(T a, T b) const {
        return b == b ? fused(a, T{1}, -b) : a - b;
    }
    template <class T>
    T multiply(T a, T b) const;
    template <class T>
    T divide(T a, T b) const;
    /// a * b + c with one rounding.
    template <class T>
    T fused(T a, T b, T c) const;
    template <class T>
    T root(T a) const;
    /// From double or a 64-bit integer.
    template <class T, class From>
    T convert(From value) const;

  private:
    Rounding rounding_;
};

} // namespace emu

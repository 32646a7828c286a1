#pragma once
/// \file
/// Four numbers at once, in a vector register of any processor.

#include <bit>
#include <cstdint>
#include <cstring>

namespace emu::matrix {

using Floats [[gnu::vector_size(16)]] = float;
using Integers [[gnu::vector_size(16)]] = std::int32_t;
using Shorts [[gnu::vector_size(16)]] = std::int16_t; ///< Eight.

/// a + b modulo 2^32: for sums that are not used where they do not fit.
inline Integers wrapped(Integers a, Integers b) {
    using Unsigned [[gnu::vector_size(16)]] = std::uint32_t;
    return std::bit_cast<Integers>(std::bit_cast<Unsigned>(a) + std::bit_cast<Unsigned>(b));
}

template <class Vector, class Value>
Vector load(const Value* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class Vector, class Value>
void store(Vector vector, Value* into) {
    std::memcpy(into, &vector, sizeof vector);
}

/// The lower four of eight numbers.
inline Integers lower(Shorts shorts) {
    return std::bit_cast<Integers>(__builtin_shufflevector(shorts, shorts, 0, 0, 1, 1, 2, 2, 3, 3)) >> 16;
}
inline Integers upper(Shorts shorts) {
    return std::bit_cast<Integers>(__builtin_shufflevector(shorts, shorts, 4, 4, 5, 5, 6, 6, 7, 7)) >> 16;
}

/// Eight numbers that 16 bits hold.
inline Shorts narrowed(Integers low, Integers high) {
    return __builtin_shufflevector(std::bit_cast<Shorts>(low), std::bit_cast<Shorts>(high), 0, 2, 4, 6, 8, 10,
                                   12, 14);
}

template <class Vector>
Vector smaller(Vector a, Vector b) {
    return a < b ? a : b;
}

template <class Vector>
Vector larger(Vector a, Vector b) {
    return a > b ? a : b;
}

} // namespace emu::matrix

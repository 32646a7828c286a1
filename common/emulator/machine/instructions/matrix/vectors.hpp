#pragma once
/// \file
/// Four numbers at once, in a vector register of any processor.

#include <cstdint>
#include <cstring>

namespace emu::matrix {

using Floats [[gnu::vector_size(16)]] = float;
using Integers [[gnu::vector_size(16)]] = std::int32_t;
using Shorts [[gnu::vector_size(16)]] = std::int16_t; ///< Eight.

template <class Vector, class Value>
Vector load(const Value* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class Vector, class Value>
void store(const Vector& vector, Value* into) {
    std::memcpy(into, &vector, sizeof vector);
}

template <class Vector>
Vector larger(const Vector& a, const Vector& b) {
    return a > b ? a : b;
}

} // namespace emu::matrix

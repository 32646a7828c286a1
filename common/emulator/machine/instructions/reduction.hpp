#pragma once
/// \file
/// The reductions of cp.reduce.async.bulk, cp.reduce.async.bulk.tensor and red.async (PTX ISA 9.7.9.25).

#include "ptx/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace emu {

enum class ReduceOp : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

/// The operation a modifier such as "add" names, or nothing.
std::optional<ReduceOp> reduce_op_from_name(std::string_view name);

/// An operation on elements of a type.
struct Reduction {
    ReduceOp op = ReduceOp::add;
    ptx::Type type = ptx::Type::u32;
    bool flush = false; ///< Subnormal inputs and results of an f32 addition become zero.

    /// Combines each element of `to` with the element of `from`. Element by element atomic, because blocks on
    /// other host threads may update the same global memory. `bytes` is a multiple of the element size and
    /// `to` is aligned to it.
    void apply(std::byte* to, const std::byte* from, std::size_t bytes) const;
};

} // namespace emu

#include "counters/products.hpp"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace emu {
namespace {

struct Shape {
    std::uint32_t m = 0, n = 0, k = 0;
};

/// `m16n8k16`; nothing if the modifier is no shape.
std::optional<Shape> shape_of(std::string_view modifier) {
    Shape shape;
    for (const auto& [letter, number] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
        if (modifier.empty() || modifier.front() != letter)
            return {};
        modifier.remove_prefix(1);
        while (!modifier.empty() && modifier.front() >= '0' && modifier.front() <= '9') {
            *number = 10 * *number + static_cast<std::uint32_t>(modifier.front() - '0');
            modifier.remove_prefix(1);
        }
    }
    return modifier.empty() && shape.m && shape.n && shape.k ? std::optional(shape) : std::nullopt;
}

std::optional<Counter> counter_of(std::string_view type) {
    static constexpr std::pair<std::string_view, Counter> counters[] = {
        {"f16", Counter::multiply_adds_f16},   {"bf16", Counter::multiply_adds_bf16},
        {"tf32", Counter::multiply_adds_tf32}, {"f64", Counter::multiply_adds_f64},
        {"e4m3", Counter::multiply_adds_fp8},  {"e5m2", Counter::multiply_adds_fp8},
        {"s8", Counter::multiply_adds_int8},   {"u8", Counter::multiply_adds_int8},
        {"s4", Counter::multiply_adds_int4},   {"u4", Counter::multiply_adds_int4},
        {"b1", Counter::multiply_adds_b1},
    };
    for (const auto& [name, counter] : counters)
        if (name == type)
            return counter;
    return {};
}

} // namespace

std::optional<Products> products_of(const ptx::Instruction& instruction) {
    const std::string_view opcode = instruction.opcode;
    if (opcode != "mma" && opcode != "wmma" && opcode != "wgmma")
        return {};
    std::optional<Shape> shape;
    std::vector<std::string_view> types;
    for (const std::string_view modifier : instruction.modifiers) {
        if (const auto found = shape_of(modifier))
            shape = found;
        else if (counter_of(modifier) || modifier == "f32" || modifier == "s32")
            types.push_back(modifier);
    }
    // One type is that of a load or store; two are those of D and C where A and B are f16; else A is second.
    if (!shape || types.size() < 2)
        return {};
    const auto counter = counter_of(types.size() == 2 ? "f16" : types[1]);
    if (!counter)
        return {};
    const bool sparse = instruction.has("sp") || instruction.has("sp::ordered_metadata");
    Products products{*counter, shape->m * shape->n * shape->k};
    if (opcode == "wgmma") {
        products.of_a_warp /= 4; // Warps.
        // Every type fills 32 bytes of a row of A.
        constexpr std::uint32_t row_bytes = 32;
        if (instruction.operands.size() > 1 && instruction.operands[1].kind != ptx::Operand::Kind::vector)
            products.bytes_of_a = shape->m / 4 * row_bytes;
        products.bytes_of_b = shape->n * row_bytes * (sparse ? 2 : 1);
    }
    if (opcode == "mma" && shape->k == 4 && shape->m == 8 && types[1] == "f16")
        products.of_a_warp *= 4; // Four products at once.
    return products;
}

} // namespace emu

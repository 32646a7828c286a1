/// @file store_ring.cpp
/// Judge of chapter 5's store_ring.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 512;
constexpr std::size_t tiles_per_block = 8;
constexpr std::size_t many = 40 * tile; // more than shared memory has room for

/// As the exercise declares it.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;
};

/// The usual slip: a tile that was not squared, or squared before it came.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& in) {
    if (wrong.actual == in[wrong.index])
        return "That is the element of `in` itself: the store took the tile before turn had squared it.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(Stream)> kernel("store_ring");
    for (const std::size_t size :
         {8 * tile, tile, 2 * tile, std::size_t{4}, 7 * tile - 4, 50 * tile + 100, many, std::size_t{0}}) {
        const bool in_one_block = size == many;
        trying(with_elements(size) + (in_one_block ? " for one block" : ""));
        const auto values =
            workbook::random_values<float>(size, size + 9, {.low = -100, .high = 100, .specials = true});
        const auto in = input(values, 4);
        auto out = output<float>(size, 8);
        kernel({.grid = in_one_block ? 1 : workbook::blocks_for(size, tiles_per_block * tile), .block = 128},
               Stream{in.data(), out.data(), size});
        std::vector<float> squares = values;
        for (float& value : squares)
            value *= value;
        expect_near<float>("out", out, squares, {},
                           [&](const auto& wrong) { return explain(wrong, values); });
    }
}

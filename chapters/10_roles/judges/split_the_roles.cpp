/// @file split_the_roles.cpp
/// Judge of chapter 10's split_the_roles.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 512;
constexpr std::size_t tiles_per_block = 8;
constexpr unsigned threads = 160;

/// As the exercise declares it.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;
};

/// The usual slips: an element that was not squared, or that of another lap of the ring.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& in) {
    if (wrong.actual == in[wrong.index])
        return "That is the element of `in` itself, not its square.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(Stream)> kernel("split_the_roles");
    for (const std::size_t size :
         {8 * tile, tile, 2 * tile, std::size_t{4}, 7 * tile - 4, 50 * tile + 100, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 9, {.low = -100, .high = 100});
        const auto in = input(values, 4);
        auto out = output<float>(size, 3);
        kernel({.grid = workbook::blocks_for(size, tiles_per_block * tile), .block = threads},
               Stream{in.data(), out.data(), size});
        std::vector<float> squares = values;
        for (float& value : squares)
            value *= value;
        expect_near<float>("out", out, squares, {},
                           [&](const auto& wrong) { return explain(wrong, values); });
    }
}

/// @file two_stages.cpp
/// Judge of chapter 4's two_stages.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t tile = 1024;
constexpr std::size_t tiles_per_block = 4;

/// As the exercise declares it.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;
};

} // namespace

void judge::run() {
    const Kernel<void(Stream)> kernel("two_stages");
    struct Case {
        std::size_t size;
        std::size_t offset;
    };
    for (const auto [size, offset] :
         {Case{4 * tile, 0}, {1, 0}, {tile + 1, 0}, {1000, 1}, {11 * tile + 17, 3}, {40 * tile, 0}, {0, 0}}) {
        trying(with_elements(size) + (offset == 0 ? "" : ", not at a multiple of 16 bytes"));
        std::vector<float> values =
            workbook::random_values<float>(size, size + 4, {.low = -1000, .high = 1000, .specials = true});
        const auto in = input(values, offset);
        auto out = output<float>(size, offset);
        kernel({.grid = workbook::blocks_for(size, tiles_per_block * tile), .block = 128},
               Stream{in.data(), out.data(), size});
        for (float& value : values)
            value += 1;
        expect_near<float>("out", out, workbook::reversed_tiles(values, tile), {});
    }
}

/// @file lost_writes.cu
/// Judge of chapter 5's lost_writes.
#include "judge.hpp"

#include <cstddef>
#include <span>
#include <vector>

void launch_lost_writes(std::span<const int> in, std::span<int> out);

void judge::run() {
    constexpr std::size_t tile = 512;
    for (const std::size_t size :
         {tile, 3 * tile, std::size_t{4}, 2 * tile - 4, 20 * tile + 60, std::size_t{0}}) {
        trying(with_elements(size));
        std::vector<int> values = workbook::random_integers<int>(size, size + 8, -1'000'000, 1'000'000);
        const auto in = input(values, 4);
        auto out = output<int>(size, 8);
        launch_lost_writes(in.span(), out.span());
        for (int& value : values)
            value *= 3;
        expect_exact<int>("out", out, values);
    }
}

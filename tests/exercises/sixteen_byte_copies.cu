/// @file sixteen_byte_copies.cu
/// Judge of chapter 2's sixteen_byte_copies.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_sixteen_byte_copies(std::span<const float> in, std::span<float> out);

namespace {

constexpr std::size_t tile = 1024;

std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& in) {
    if (wrong.expected == 0)
        return "This element stands for one behind the end of the array: it must be filled with zero.";
    const std::size_t start = wrong.index - wrong.index % tile;
    const std::size_t from = start + tile - 1 - wrong.index % tile;
    if (wrong.actual == 0)
        return "in[" + std::to_string(from) + "] is there and was not copied: " +
               std::to_string((in.size() - from / 4 * 4 < 4 ? in.size() : from / 4 * 4 + 4) - from / 4 * 4) +
               " of the four elements of its copy exist.";
    return "";
}

} // namespace

void judge::run() {
    for (const std::size_t size : {1024, 1027, 1, 6, 8190, 0}) {
        trying(with_elements(size));
        std::vector<float> values = workbook::random_values<float>(size, size + 1, {.low = 1, .high = 2});
        const auto in = input(values);
        values.resize((size + tile - 1) / tile * tile);
        auto out = output<float>(values.size());
        launch_sixteen_byte_copies(in.span(), out.span());
        const std::vector<float> given(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size));
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile),
                            [&](const auto& wrong) { return explain(wrong, given); });
    }
}

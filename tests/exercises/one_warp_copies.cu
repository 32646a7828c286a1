/// @file one_warp_copies.cu
/// Judge of chapter 4's one_warp_copies.
#include "judge.hpp"

#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_one_warp_copies(std::span<const float> in, std::span<float> out, std::span<int> copied_by,
                            std::span<int> computed_by);

namespace {

constexpr std::size_t tile = 512;

/// Fails unless `first` is the lowest thread of every part that did the work on a tile.
void expect_part(const workbook::DeviceBuffer<int>& by, int first, const std::string& did,
                 const std::string& who) {
    const std::vector<int> threads = by.download();
    for (std::size_t t = 0; t < threads.size(); ++t)
        if (judge::is_poison(threads[t]))
            judge::fail("No thread with rank 0 in its part " + did + " tile " + std::to_string(t) + ".");
        else if (threads[t] != first)
            judge::fail("Thread " + std::to_string(threads[t]) + " was the first of those that " + did +
                        " tile " + std::to_string(t) + "; it should be thread " + std::to_string(first) +
                        ", as " + who + ".");
}

/// The usual slip: ranks that do not begin at 0, so that every tile's first elements have no owner.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& out) {
    const bool some =
        std::any_of(out.begin(), out.end(), [](float value) { return !judge::is_poison(value); });
    if (judge::is_poison(wrong.actual) && some)
        return "No thread wrote this element, though others were written: the ranks of a part count from 0, "
               "and `threads` is the number of its threads.";
    return "";
}

} // namespace

void judge::run() {
    struct Case {
        std::size_t size;
        std::size_t offset;
    };
    for (const auto [size, offset] :
         {Case{5 * tile, 0}, {1, 0}, {tile - 1, 0}, {1000, 1}, {16 * tile + 3, 2}, {40 * tile, 0}, {0, 0}}) {
        trying(with_elements(size) + (offset == 0 ? "" : ", not at a multiple of 16 bytes"));
        std::vector<float> values =
            workbook::random_values<float>(size, size + 6, {.low = -1000, .high = 1000, .specials = true});
        const auto in = input(values, offset);
        auto out = output<float>(size, offset);
        auto copied_by = output<int>(workbook::blocks_for(size, tile));
        auto computed_by = output<int>(workbook::blocks_for(size, tile));
        launch_one_warp_copies(in.span(), out.span(), copied_by.span(), computed_by.span());
        for (float& value : values)
            value += 1;
        expect_near<float>("out", out, workbook::reversed_tiles(values, tile), {},
                           [&](const auto& wrong) { return explain(wrong, out.download()); });
        expect_part(copied_by, 0, "copied", "warp 0 is the producer");
        expect_part(computed_by, 32, "computed", "warps 1 to 3 are the consumers");
    }
}

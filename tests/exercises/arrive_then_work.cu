/// @file arrive_then_work.cu
/// Judge of chapter 3's arrive_then_work.
#include "judge.hpp"

#include "workbook/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_arrive_then_work(std::span<const unsigned> in, std::span<unsigned> out, std::span<int> early);

namespace {

constexpr std::size_t tile = 128;
constexpr int fast_threads = 96;

unsigned own_work(unsigned value, const std::vector<unsigned>& in) {
    for (int step = 0; step < 8; ++step)
        value = value * 1664525u + in[value % in.size()];
    return value;
}

/// The element at the opposite place of its tile.
unsigned opposite(const std::vector<unsigned>& in, std::size_t i) {
    const std::size_t start = i - i % tile;
    return in[start + std::min(tile, in.size() - start) - 1 - i % tile];
}

/// Fails unless the other threads of every block had done their work when its slow warp arrived.
void expect_worked_early(const std::vector<int>& early) {
    for (std::size_t block = 0; block < early.size(); ++block) {
        const std::string whose = "of block " + std::to_string(block);
        if (judge::is_poison(early[block]))
            judge::fail("The result is right, but the slow warp " + whose +
                        " did not note how many threads had worked: leave the lines that do it.");
        if (early[block] != fast_threads)
            judge::fail("The result is right, but when the slow warp " + whose + " arrived, " +
                        std::to_string(early[block]) + " of the " + std::to_string(fast_threads) +
                        " other threads had done their work; all of them should have.\nWhoever waits before "
                        "own_work is idle until the slowest thread has arrived: arrive before the work, and "
                        "wait after it.");
    }
}

} // namespace

void judge::run() {
    for (const std::size_t size : {128, 200, 1, 1000, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        std::vector<unsigned> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = own_work(values[i], values) ^ opposite(values, i);
        const auto in = input(values);
        auto out = output<unsigned>(size);
        auto early = output<int>(workbook::blocks_for(size, tile));
        launch_arrive_then_work(in.span(), out.span(), early.span());
        expect_exact<unsigned>("out", out, expected, [&](const auto& wrong) -> std::string {
            return wrong.actual == own_work(values[wrong.index], values)
                       ? "The tile's element at the opposite place was still 0."
                       : "";
        });
        expect_worked_early(early.download());
    }
}

/// @file moving_sum.cpp
/// Judge of chapter 4's moving_sum.
#include "judge.hpp"

#include "workbook/check.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

constexpr std::size_t tile = 128;
constexpr std::size_t tiles_per_block = 8;
constexpr std::size_t reach = 32;
constexpr std::size_t least_stages = 5; ///< a window reads three tiles while two are on their way
constexpr std::size_t barriers = 128;   ///< bytes that a pipeline may have beside the ring

/// As the exercise declares it.
struct Stream {
    const unsigned* in;
    unsigned* out;
    std::size_t size;
};

/// The sum around element i of what lies from `first` to before `last`.
unsigned around(const std::vector<unsigned>& in, std::size_t i, std::size_t first, std::size_t last) {
    unsigned sum = 0;
    for (std::size_t k = std::max(first + reach, i) - reach; k < std::min(last, i + reach + 1); ++k)
        sum += in[k];
    return sum;
}

/// The usual slips: a window that ends where its tile or its block does.
std::string explain(const judge::Wrong<unsigned>& wrong, const std::vector<unsigned>& in) {
    const std::size_t i = wrong.index;
    const auto is_sum = [&](std::size_t first, std::size_t last) {
        return wrong.actual == around(in, i, first, std::min(last, in.size()));
    };
    const std::size_t begin = i / tile * tile;
    if (is_sum(begin, in.size()))
        return "That is the sum without the elements of the tile before.";
    if (is_sum(0, begin + tile))
        return "That is the sum without the elements of the tile after: a tile can be summed when the next "
               "one "
               "has landed too.";
    if (is_sum(begin, begin + tile))
        return "That is the sum of the elements of its own tile: the window reaches into those on both "
               "sides.";
    return "";
}

/// Fails if the kernel keeps more tiles than it needs.
void expect_no_more_stages() {
    constexpr std::size_t sizes[] = {sizeof(Stream)};
    cudaFuncAttributes of{};
    workbook::check(
        cudaFuncGetAttributes(&of, judge::find_kernel("moving_sum", sizes, typeid(void(Stream)).name())),
        "cudaFuncGetAttributes");
    const std::size_t most = least_stages * tile * sizeof(unsigned);
    if (of.sharedSizeBytes > most + barriers)
        judge::fail("The sums are right, but the kernel has " + std::to_string(of.sharedSizeBytes) +
                    " bytes of shared memory, and " + std::to_string(most) +
                    " are enough: how many tiles does a window touch, and how many are on their way?");
}

} // namespace

void judge::run() {
    const Kernel<void(Stream)> kernel("moving_sum");
    for (const std::size_t size :
         {8 * tile, std::size_t{1}, tile, 3 * tile + 1, 16 * tile, 18 * tile + 100, std::size_t{0}}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<unsigned>(size, size + 7);
        const auto in = input(values, 1);
        auto out = output<unsigned>(size, 3);
        kernel({.grid = workbook::blocks_for(size, tiles_per_block * tile), .block = 128},
               Stream{in.data(), out.data(), size});
        std::vector<unsigned> expected;
        for (std::size_t i = 0; i < size; ++i)
            expected.push_back(around(values, i, 0, size));
        expect_exact<unsigned>("out", out, expected,
                               [&](const auto& wrong) { return explain(wrong, values); });
    }
    trying(""); // what comes now is about the kernel, and not about the last size
    expect_no_more_stages();
}

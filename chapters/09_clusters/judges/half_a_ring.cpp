/// @file half_a_ring.cpp
/// Judge of chapter 9's half_a_ring.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t batch_words = 64;
constexpr unsigned reading_threads = 128;

struct Case {
    std::size_t batches;
    unsigned pairs;
};

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, unsigned, const unsigned*, unsigned*)> kernel("half_a_ring");
    for (const auto& [batches, pairs] : {Case{7, 1}, Case{1, 1}, Case{2, 1}, Case{24, 2}, Case{0, 1}}) {
        trying("with " + std::to_string(batches) + " batches for " + std::to_string(2 * pairs) + " blocks");
        const std::size_t numbers = std::size_t{2} * pairs * reading_threads;
        const auto values = workbook::random_values<unsigned>(batches * batch_words, batches + 9);
        const auto limit_values = workbook::random_values<unsigned>(numbers, batches + 10);
        const auto in = input(values, 4);
        const auto limits = input(limit_values, 1);
        auto below = output<unsigned>(numbers, 1);
        kernel({.grid = 2 * pairs, .block = reading_threads + 32, .cluster = 2}, in.data(),
               static_cast<unsigned>(batches), limits.data(), below.data());
        std::vector<unsigned> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        std::vector<unsigned> expected;
        for (const unsigned limit : limit_values) {
            const auto first = std::lower_bound(sorted.begin(), sorted.end(), limit);
            expected.push_back(static_cast<unsigned>(first - sorted.begin()));
        }
        expect_exact<unsigned>("below", below, expected);
    }
}

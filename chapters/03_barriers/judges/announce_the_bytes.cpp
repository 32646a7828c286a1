/// @file announce_the_bytes.cpp
/// Judge of chapter 3's announce_the_bytes.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t block_rows = 32;
constexpr unsigned most_numbers = 64;

using Answer = judge::Kernel<void(const unsigned*, const unsigned*, unsigned*, unsigned)>;

/// Launches the kernel for rows of these lengths.
void try_rows(const Answer& kernel, const std::string& what, const std::vector<unsigned>& lengths) {
    judge::trying(what);
    std::vector<unsigned> starts{0};
    for (const unsigned length : lengths)
        starts.push_back(starts.back() + length);
    const std::size_t size = starts.back();
    const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
    std::vector<unsigned> expected = values;
    for (std::size_t r = 0; r < lengths.size(); ++r)
        std::reverse(expected.begin() + starts[r], expected.begin() + starts[r + 1]);
    const auto value_buffer = judge::input(values, 4);
    const auto start_buffer = judge::input(starts);
    auto out = judge::output<unsigned>(size, 1);
    kernel({.grid = workbook::blocks_for(lengths.size(), block_rows), .block = 128}, value_buffer.data(),
           start_buffer.data(), out.data(), static_cast<unsigned>(lengths.size()));
    judge::expect_exact("out", out, expected);
}

/// Lengths from 0 to 64 numbers; about every fourth row is empty.
std::vector<unsigned> random_lengths(std::size_t rows) {
    std::vector<unsigned> lengths = workbook::random_values<unsigned>(rows, rows);
    for (unsigned& length : lengths)
        length = length % 4 == 0 ? 0 : length / 4 % (most_numbers / 4 + 1) * 4;
    return lengths;
}

} // namespace

void judge::run() {
    const Answer kernel("announce_the_bytes");
    try_rows(kernel, "with 32 rows of 64 numbers", std::vector<unsigned>(block_rows, most_numbers));
    for (const std::size_t rows : {std::size_t{32}, std::size_t{200}, std::size_t{5}})
        try_rows(kernel, "with " + std::to_string(rows) + " rows of different length, some of them empty",
                 random_lengths(rows));
    try_rows(kernel, "with 32 rows, the first and the last empty", [] {
        std::vector<unsigned> lengths(block_rows, 4);
        lengths.front() = lengths.back() = 0;
        return lengths;
    }());
    try_rows(kernel, "with 33 empty rows", std::vector<unsigned>(block_rows + 1, 0));
    try_rows(kernel, "with no row", {});
}

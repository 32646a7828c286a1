/// @file micro_turn.cpp
/// Judge of chapter 8's micro_turn.
#include "transposed.hpp"

#include "workbook/check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <typeinfo>

namespace {

constexpr std::size_t tile_rows = 16; // of the matrix that is read
constexpr std::size_t tile_columns = 64;
constexpr std::size_t tile_bytes = tile_rows * tile_columns * sizeof(float);
using Turn = void(const float*, float*, std::size_t, std::size_t);

/// What a wrong element means: which chunk of the turned tile should be there, and which one is.
std::string explain(const judge::Wrong<float>& wrong, const judge::HostMatrix& in) {
    const auto chunk = [](std::size_t row_of_in, std::size_t column_of_in) {
        return "chunk " + std::to_string(row_of_in % tile_rows / 4) + " of row " +
               std::to_string(column_of_in % tile_columns);
    };
    const std::size_t row = wrong.index % in.rows; // of in
    const std::size_t column = wrong.index / in.rows;
    std::string text = "It belongs to " + chunk(row, column) + " of a turned tile. ";
    if (judge::is_poison(wrong.actual))
        return text + "No thread wrote it.";
    const auto same = [&](float value) { return std::memcmp(&value, &wrong.actual, sizeof(float)) == 0; };
    if (std::count_if(in.values.begin(), in.values.end(), same) != 1)
        return text;
    const auto found =
        static_cast<std::size_t>(std::find_if(in.values.begin(), in.values.end(), same) - in.values.begin());
    const std::string there = chunk(found / in.columns, found % in.columns);
    return text + "What is there is from " + there +
           ": a chunk must be read where it was written. Both places follow from the row r and the number of "
           "the chunk, and each of the eight in a line needs a place of its own.";
}

/// Fails if shared memory holds more than the tile.
void expect_no_pad() {
    constexpr std::array<std::size_t, 4> sizes{sizeof(float*), sizeof(float*), sizeof(std::size_t),
                                               sizeof(std::size_t)};
    cudaFuncAttributes of{};
    workbook::check(cudaFuncGetAttributes(&of, judge::find_kernel("micro_turn", sizes, typeid(Turn).name())),
                    "cudaFuncGetAttributes");
    if (of.sharedSizeBytes > tile_bytes)
        judge::fail("The matrices are right, but the kernel has " + std::to_string(of.sharedSizeBytes) +
                    " bytes of shared memory. A tile takes " + std::to_string(tile_bytes) +
                    ": find another order of the places, without a pad.");
}

} // namespace

void judge::run() {
    const Kernel<Turn> kernel("micro_turn");
    const auto launch = [&](const float* in, float* out, std::size_t rows, std::size_t columns) {
        const dim3 grid(workbook::blocks_for(rows, tile_rows), workbook::blocks_for(columns, tile_columns));
        kernel({.grid = grid, .block = 64}, in, out, rows, columns);
    };
    const HostMatrix shapes[] = {{16, 64, {}}, {32, 64, {}}, {16, 128, {}}, {48, 192, {}}};
    expect_transposed(launch, shapes, explain);
    expect_no_pad();
}

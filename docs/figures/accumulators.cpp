/// @file accumulators.cpp
/// Prints which thread of a warpgroup holds each element of the upper left corner of D, and as which
/// accumulator, as JSON: the figure of chapter 11 is made from it, and so from the functions that the kernels
/// call.
#include "workbook/matrix_layout.hpp"

#include <cstdio>

namespace {

constexpr int rows = 18; ///< the first warp's, and the first of the second
constexpr int columns = 16;

/// [thread, accumulator] of an element.
void print_holder(int row, int column) {
    for (int thread = 0; thread < workbook::warpgroup_threads; ++thread)
        for (int i = 0; i < columns / 2; ++i)
            if (workbook::accumulator_row(thread, i) == row &&
                workbook::accumulator_column(thread, i) == column)
                std::printf("[%d, %d]", thread, i);
}

} // namespace

int main() {
    std::printf("[");
    for (int row = 0; row < rows; ++row) {
        std::printf("%s[", row > 0 ? ",\n " : "");
        for (int column = 0; column < columns; ++column) {
            std::printf("%s", column > 0 ? ", " : "");
            print_holder(row, column);
        }
        std::printf("]");
    }
    std::printf("]\n");
}

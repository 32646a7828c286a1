/// @file swizzle_banks.cpp
/// Prints, for each swizzle mode, where the 16-byte chunks of its first eight rows lie in shared memory, as
/// JSON: the figures of chapter 7 are made from it, and so from the same function that the kernels call.
#include "workbook/swizzle.hpp"

#include <cstdint>
#include <cstdio>
#include <initializer_list>

using workbook::Swizzle;

namespace {

constexpr std::uint32_t rows = 8; ///< what eight lanes read together, a row each

/// One row of chunk numbers, counted from the start of the tile. Rows of `width` bytes begin every `pitch`.
void print_row(Swizzle mode, std::uint32_t width, std::uint32_t pitch, std::uint32_t row) {
    std::printf("%s[", row > 0 ? ", " : "");
    for (std::uint32_t offset = 0; offset < width; offset += workbook::swizzle_chunk_bytes) {
        const std::uint32_t address = workbook::swizzled_address(row * pitch + offset, mode);
        std::printf("%s%u", offset > 0 ? ", " : "",
                    static_cast<unsigned>(address / workbook::swizzle_chunk_bytes));
    }
    std::printf("]");
}

/// The places of all chunks of rows `width` bytes wide.
void print_tile(const char* name, Swizzle mode, std::uint32_t width, std::uint32_t pitch) {
    std::printf("\"%s\": [", name);
    for (std::uint32_t row = 0; row < rows; ++row)
        print_row(mode, width, pitch, row);
    std::printf("]");
}

} // namespace

int main() {
    std::printf("[\n");
    for (const Swizzle mode : {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
        const std::uint32_t width = workbook::swizzle_width(mode);
        std::printf("{\"width\": %u, ", static_cast<unsigned>(width));
        print_tile("plain", Swizzle::none, width, width);
        std::printf(", ");
        print_tile("swizzled", mode, width, width);
        std::printf(", ");
        print_tile("narrow", mode, width / 2, width);
        std::printf(", ");
        print_tile("padded", Swizzle::none, width, width + workbook::swizzle_chunk_bytes);
        std::printf("}%s\n", mode == Swizzle::bytes128 ? "" : ",");
    }
    std::printf("]\n");
}

/// @file swizzle.cpp
/// Writes the data of the interactive picture of the swizzle modes: where each 16-byte chunk of a tile lands,
/// and how many passes a warp needs to read a column. The places come from the function that the chapters
/// use.
#include "workbook/swizzle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace {

using workbook::Swizzle;

constexpr std::uint32_t rows = 32;
constexpr std::array modes{Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128};
constexpr std::array element_sizes{1u, 2u, 4u, 8u, 16u};
constexpr std::uint32_t last_offset = 896; ///< bytes; offsets are the multiples of 128 that a tile may have

/// Bytes in a row of the tile. Without swizzle a box may be wider than 16 bytes; 128 compares best.
std::uint32_t row_bytes(Swizzle mode) { return mode == Swizzle::none ? 128 : swizzle_width(mode); }

std::uint32_t address(Swizzle mode, std::uint32_t offset, std::uint32_t row, std::uint32_t byte) {
    return swizzled_address(offset + row * row_bytes(mode) + byte, mode);
}

/// Passes that shared memory needs for a warp whose lane r reads the element of row r in this column. It
/// serves 128 bytes at a time: 32 lanes with up to 4 bytes each, 16 with 8, 8 with 16. In a pass each bank
/// gives one word.
std::uint32_t passes(Swizzle mode, std::uint32_t offset, std::uint32_t size, std::uint32_t column) {
    const std::uint32_t together = std::min(rows, 128 / size);
    std::uint32_t sum = 0;
    for (std::uint32_t first = 0; first < rows; first += together) {
        std::array<std::set<std::uint32_t>, workbook::shared_banks> words;
        for (std::uint32_t row = first; row < first + together; ++row)
            for (std::uint32_t byte = 0; byte < size; ++byte) {
                const std::uint32_t place = address(mode, offset, row, column * size + byte);
                words[workbook::bank_of(place)].insert(place / 4);
            }
        sum += static_cast<std::uint32_t>(std::ranges::max(words, {}, &std::set<std::uint32_t>::size).size());
    }
    return sum;
}

template <class T, class F>
std::string list(const T& values, F&& text) {
    std::string joined;
    for (const auto& value : values)
        joined += (joined.empty() ? "" : ",") + text(value);
    return "[" + joined + "]";
}

std::vector<std::uint32_t> count_to(std::uint32_t end, std::uint32_t step = 1) {
    std::vector<std::uint32_t> values;
    for (std::uint32_t value = 0; value < end; value += step)
        values.push_back(value);
    return values;
}

/// One mode at one offset: the addresses of the chunks by row, and the passes by element size and column.
std::string layout(Swizzle mode, std::uint32_t offset) {
    const auto chunk = [&](std::uint32_t row) {
        return list(count_to(row_bytes(mode), workbook::swizzle_chunk_bytes),
                    [&](std::uint32_t byte) { return std::to_string(address(mode, offset, row, byte)); });
    };
    const auto columns = [&](std::uint32_t size) {
        return list(count_to(row_bytes(mode) / size),
                    [&](std::uint32_t column) { return std::to_string(passes(mode, offset, size, column)); });
    };
    return "{\"offset\":" + std::to_string(offset) + ",\"chunks\":" + list(count_to(rows), chunk) +
           ",\"passes\":" + list(element_sizes, columns) + "}";
}

} // namespace

int main() {
    const auto mode = [](Swizzle each) {
        return "\n{\"row_bytes\":" + std::to_string(row_bytes(each)) +
               ",\"period\":" + std::to_string(swizzle_period(each)) + ",\"layouts\":" +
               list(count_to(last_offset + 1, 128),
                    [&](std::uint32_t offset) { return "\n" + layout(each, offset); }) +
               "}";
    };
    std::cout << "{\"rows\":" << rows << ",\"element_sizes\":"
              << list(element_sizes, [](std::uint32_t size) { return std::to_string(size); })
              << ",\"modes\":" << list(modes, mode) << "}\n";
}

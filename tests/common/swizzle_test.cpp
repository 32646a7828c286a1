/// @file swizzle_test.cpp
/// The swizzle functions against tables written by hand, against CUTLASS's definition, and for what they are
/// there for: accesses down a column without bank conflicts.
#include "workbook/swizzle.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

using namespace workbook;

namespace {

constexpr std::array modes{Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128};
constexpr std::array real_modes{Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128};

/// CUTLASS's Swizzle<bits, base, shift> as its documentation defines it: the `bits` bits above base + shift
/// are XORed into the `bits` bits above base.
template <int bits, int base, int shift>
constexpr std::uint32_t cutlass_swizzle(std::uint32_t offset) {
    constexpr std::uint32_t mask = ((1u << bits) - 1) << (base + shift);
    return offset ^ ((offset & mask) >> shift);
}

/// The most requests that one bank gets when 8 lanes read 16 bytes each, which the hardware serves together.
std::uint32_t conflicts(const std::vector<std::uint32_t>& addresses) {
    std::array<std::uint32_t, shared_banks> requests{};
    for (const std::uint32_t address : addresses)
        for (std::uint32_t word = 0; word < 4; ++word)
            ++requests[bank_of(address + 4 * word)];
    return *std::max_element(requests.begin(), requests.end());
}

static_assert(swizzled_address(0x80, Swizzle::bytes128) == 0x90, "usable at compile time");

/// The index relation of the CUDA Programming Guide, 'Swizzle Pattern Pointer Offset Computation': shared
/// memory is lines y of 128 bytes, and x counts the chunks of a line; an aligned tile has offset 0.
constexpr std::uint32_t guides_address(std::uint32_t address, std::uint32_t lines) {
    const std::uint32_t y = address / 128;
    const std::uint32_t x = address % 128 / 16;
    return y * 128 + ((y % lines) ^ x) * 16 + address % 16;
}

/// Whether the guide's relation is swizzled_address where y counts lines and x the chunks of a line.
constexpr bool guide_agrees(Swizzle mode) {
    for (std::uint32_t address = 0; address < 4096; ++address)
        if (guides_address(address, swizzle_chunks(mode)) != swizzled_address(address, mode))
            return false;
    return true;
}

/// Whether its right side is swizzled_chunk also where y counts rows and x the chunks of a row.
constexpr bool guide_agrees_by_rows(Swizzle mode) {
    for (std::uint32_t row = 0; row < 64; ++row)
        for (std::uint32_t chunk = 0; chunk < swizzle_chunks(mode); ++chunk)
            if (((row % swizzle_chunks(mode)) ^ chunk) != swizzled_chunk(row, chunk, mode))
                return false;
    return true;
}

static_assert(guide_agrees(Swizzle::bytes32) && guide_agrees(Swizzle::bytes64) &&
                  guide_agrees(Swizzle::bytes128),
              "(y % 2) ^ x, (y % 4) ^ x and (y % 8) ^ x hold for lines");
static_assert(!guide_agrees_by_rows(Swizzle::bytes32) && !guide_agrees_by_rows(Swizzle::bytes64),
              "rows of 32 and 64 bytes share a line: for them the relation is another");
static_assert(guide_agrees_by_rows(Swizzle::bytes128), "a row of 128 bytes is a line");

} // namespace

TEST_CASE("widths, periods and numbers of the modes") {
    CHECK(swizzle_width(Swizzle::bytes32) == 32);
    CHECK(swizzle_width(Swizzle::bytes64) == 64);
    CHECK(swizzle_width(Swizzle::bytes128) == 128);
    CHECK(swizzle_period(Swizzle::none) == 128);
    CHECK(swizzle_period(Swizzle::bytes32) == 256);
    CHECK(swizzle_period(Swizzle::bytes64) == 512);
    CHECK(swizzle_period(Swizzle::bytes128) == 1024);
}

TEST_CASE("rows of a box lie a width of the mode apart, and without swizzle their own size") {
    for (const std::uint32_t row_bytes : {16u, 32u, 48u, 128u, 144u})
        CHECK(box_row_pitch(row_bytes, Swizzle::none) == row_bytes);
    CHECK(box_row_pitch(16, Swizzle::bytes32) == 32);
    CHECK(box_row_pitch(16, Swizzle::bytes64) == 64);
    CHECK(box_row_pitch(64, Swizzle::bytes64) == 64);
    CHECK(box_row_pitch(16, Swizzle::bytes128) == 128);
    CHECK(box_row_pitch(112, Swizzle::bytes128) == 128);
}

TEST_CASE("each mode is CUTLASS's Swizzle<B, 4, 3> of the byte address") {
    for (std::uint32_t address = 0; address < 8192; ++address) {
        REQUIRE(swizzled_address(address, Swizzle::none) == address);
        REQUIRE(swizzled_address(address, Swizzle::bytes32) == cutlass_swizzle<1, 4, 3>(address));
        REQUIRE(swizzled_address(address, Swizzle::bytes64) == cutlass_swizzle<2, 4, 3>(address));
        REQUIRE(swizzled_address(address, Swizzle::bytes128) == cutlass_swizzle<3, 4, 3>(address));
    }
    CHECK(swizzled_address(0xFFFFFFF0u, Swizzle::bytes128) == 0xFFFFFF80u);
}

TEST_CASE("(y % n) ^ x of the programming guide counts lines of 128 bytes, not rows") {
    CHECK(guides_address(4 * 32, 2) == 128 + 16);                            // row 4 is the first of line 1
    CHECK(swizzled_index<std::uint8_t>(4, 0, Swizzle::bytes32) == 128 + 16); // and its chunks change places
    CHECK(swizzled_index<std::uint8_t>(1, 0, Swizzle::bytes32) == 32);       // those of row 1 do not
    CHECK(guide_agrees(Swizzle::bytes32));
    CHECK_FALSE(guide_agrees_by_rows(Swizzle::bytes32));
}

TEST_CASE("the chunks of the first rows, written out by hand") {
    const std::vector<std::vector<std::uint32_t>> of_128{
        {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5},
        {3, 2, 1, 0, 7, 6, 5, 4}, {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2},
        {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 5, 6, 7}};
    const std::vector<std::vector<std::uint32_t>> of_64{{0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 3, 2},
                                                        {1, 0, 3, 2}, {2, 3, 0, 1}, {2, 3, 0, 1},
                                                        {3, 2, 1, 0}, {3, 2, 1, 0}, {0, 1, 2, 3}};
    const std::vector<std::vector<std::uint32_t>> of_32{{0, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 0},
                                                        {1, 0}, {1, 0}, {1, 0}, {0, 1}};
    const auto check = [](Swizzle mode, const auto& table) {
        for (std::uint32_t row = 0; row < table.size(); ++row)
            for (std::uint32_t chunk = 0; chunk < table[row].size(); ++chunk) {
                INFO("mode " << swizzle_width(mode) << ", row " << row << ", chunk " << chunk);
                CHECK(swizzled_chunk(row, chunk, mode) == table[row][chunk]);
            }
    };
    check(Swizzle::bytes128, of_128);
    check(Swizzle::bytes64, of_64);
    check(Swizzle::bytes32, of_32);
}

TEST_CASE("element (5, 12) in the layouts of chapter 7's table") {
    CHECK(swizzled_address(688, Swizzle::bytes128) == 736);
    CHECK(swizzled_address(128 + 688, Swizzle::bytes128) == 128 + 720);
    CHECK(swizzled_address(368, Swizzle::bytes64) == 336);
    CHECK(swizzled_address(1200, Swizzle::bytes32) == 1184);
    CHECK(bank_of(816 + 32) == 20);
    CHECK(bank_of(5 * 144 + 48) == 0);
    CHECK(bank_of(5 * 132 + 48) == 17);
}

TEST_CASE("the index of an element and the address of its bytes say the same") {
    for (const Swizzle mode : real_modes)
        for (std::uint32_t row = 0; row < 64; ++row)
            for (std::uint32_t byte = 0; byte < swizzle_width(mode); ++byte) {
                const std::uint32_t address = swizzled_address(row * swizzle_width(mode) + byte, mode);
                REQUIRE(swizzled_index<std::uint8_t>(row, byte, mode) == address);
                if (byte % 2 == 0)
                    REQUIRE(swizzled_index<std::uint16_t>(row, byte / 2, mode) * 2 == address);
                if (byte % 4 == 0)
                    REQUIRE(swizzled_index<float>(row, byte / 4, mode) * 4 == address);
                if (byte % 8 == 0)
                    REQUIRE(swizzled_index<double>(row, byte / 8, mode) * 8 == address);
            }
}

TEST_CASE("swizzling twice leads back, stays in its line, and keeps the bytes of a chunk together") {
    for (const Swizzle mode : modes)
        for (std::uint32_t address = 0; address < 4096; ++address) {
            const std::uint32_t moved = swizzled_address(address, mode);
            REQUIRE(swizzled_address(moved, mode) == address);
            REQUIRE(moved / 128 == address / 128);
            REQUIRE(moved % 16 == address % 16);
        }
}

TEST_CASE("the pattern repeats after its period and not before") {
    const auto repeats_after = [](Swizzle mode, std::uint32_t distance) {
        for (std::uint32_t address = 0; address < 2048; address += 16)
            if (swizzled_address(address + distance, mode) != swizzled_address(address, mode) + distance)
                return false;
        return true;
    };
    for (const Swizzle mode : real_modes) {
        CHECK(repeats_after(mode, swizzle_period(mode)));
        for (std::uint32_t distance = 128; distance < swizzle_period(mode); distance += 128)
            CHECK_FALSE(repeats_after(mode, distance));
    }
}

TEST_CASE("a tile that begins elsewhere has another pattern: the address counts, not the offset") {
    for (const Swizzle mode : real_modes)
        for (std::uint32_t base = 128; base < swizzle_period(mode); base += 128)
            CHECK(swizzled_address(base, mode) - base != swizzled_address(0, mode));
}

TEST_CASE("16 bytes down a column: every swizzle makes eight rows conflict-free") {
    for (const Swizzle mode : real_modes)
        for (std::uint32_t row = 0; row < 64; row += 8)
            for (std::uint32_t chunk = 0; chunk < swizzle_chunks(mode); ++chunk) {
                std::vector<std::uint32_t> plain;
                std::vector<std::uint32_t> swizzled;
                for (std::uint32_t i = row; i < row + 8; ++i) {
                    plain.push_back(i * swizzle_width(mode) + chunk * 16);
                    swizzled.push_back(swizzled_address(plain.back(), mode));
                }
                CHECK(conflicts(swizzled) == 1);
                CHECK(conflicts(plain) == swizzle_chunks(mode));
            }
}

TEST_CASE("rows padded by 16 bytes: 16 bytes down a column are free of conflicts, 4 bytes meet fours") {
    constexpr std::uint32_t pitch = 128 + 16;
    for (std::uint32_t row = 0; row < 32; row += 8)
        for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
            std::vector<std::uint32_t> addresses;
            for (std::uint32_t i = row; i < row + 8; ++i)
                addresses.push_back(i * pitch + chunk * 16);
            CHECK(conflicts(addresses) == 1);
        }
    const auto banks = [](std::uint32_t bytes_a_row) {
        std::set<std::uint32_t> found;
        for (std::uint32_t row = 0; row < 32; ++row)
            found.insert(bank_of(row * bytes_a_row));
        return found.size();
    };
    CHECK(banks(128) == 1);
    CHECK(banks(pitch) == 8);
    CHECK(banks(128 + 4) == 32);
}

TEST_CASE("4 bytes down a column of 32 rows: four rows share a bank in every mode") {
    for (const Swizzle mode : real_modes)
        for (std::uint32_t column = 0; column < swizzle_width(mode) / 4; ++column) {
            std::set<std::uint32_t> banks;
            for (std::uint32_t row = 0; row < 32; ++row)
                banks.insert(bank_of(4 * swizzled_index<float>(row, column, mode)));
            CHECK(banks.size() == 8);
        }
}

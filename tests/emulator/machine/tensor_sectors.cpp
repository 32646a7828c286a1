/// \file
/// How many 32-byte sectors a tensor copy moves, against what Nsight Compute counted on an H200
/// (l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld and
/// l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st).

#include "machine/tensor_tile.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdint>

using emu::Delivery;
using emu::TensorMap;
using emu::TensorSwizzle;
using emu::TensorTile;
using emu::TensorType;

namespace {

/// A box of `width` × 32 ints that begins at column x of a matrix of 1024 × 32.
struct Counted {
    TensorSwizzle swizzle;
    std::uint32_t width;
    std::int32_t x;
    int load; ///< Sectors.
    int store;
};

constexpr auto none = TensorSwizzle::none;
constexpr auto b32 = TensorSwizzle::bytes32;
constexpr auto b64 = TensorSwizzle::bytes64;
constexpr auto b128 = TensorSwizzle::bytes128;

constexpr Counted on_an_h200[] = {
    {none, 4, 0, 32, 32},      {none, 4, 4, 32, 32},       {none, 8, 0, 32, 32},
    {none, 8, 4, 64, 64},      {none, 12, 0, 68, 68},      {none, 12, 4, 68, 68},
    {none, 16, 0, 64, 64},     {none, 16, 4, 96, 96},      {none, 20, 0, 104, 104},
    {none, 20, 4, 104, 104},   {none, 20, 1012, 116, 68},  {none, 24, 0, 96, 96},
    {none, 24, 4, 144, 144},   {none, 28, 0, 140, 140},    {none, 28, 4, 140, 140},
    {none, 32, 0, 128, 128},   {none, 32, 4, 160, 160},    {none, 32, 1012, 160, 64},
    {none, 36, 0, 176, 176},   {none, 36, 4, 176, 176},    {none, 36, 1012, 180, 68},
    {none, 40, 0, 160, 160},   {none, 40, 4, 224, 224},    {none, 44, 0, 212, 212},
    {none, 44, 4, 212, 212},   {none, 48, 0, 192, 192},    {none, 48, 4, 256, 256},
    {none, 48, 1012, 224, 64}, {none, 52, 0, 248, 248},    {none, 52, 4, 248, 248},
    {none, 60, 0, 284, 284},   {none, 60, 4, 284, 284},    {none, 64, 0, 256, 256},
    {none, 64, 4, 320, 320},   {none, 72, 0, 288, 288},    {none, 72, 4, 384, 384},
    {none, 100, 0, 464, 464},  {none, 100, 4, 464, 464},   {none, 132, 0, 608, 608},
    {none, 132, 4, 608, 608},  {none, 132, 1012, 564, 68}, {b32, 4, 0, 32, 32},
    {b32, 4, 4, 32, 32},       {b32, 8, 0, 32, 32},        {b32, 8, 4, 64, 64},
    {b64, 4, 0, 32, 32},       {b64, 4, 4, 32, 32},        {b64, 12, 0, 64, 64},
    {b64, 12, 4, 64, 64},      {b64, 16, 0, 64, 64},       {b64, 16, 4, 96, 96},
    {b128, 4, 0, 32, 32},      {b128, 4, 4, 32, 32},       {b128, 12, 0, 64, 64},
    {b128, 12, 4, 64, 64},     {b128, 20, 0, 96, 96},      {b128, 20, 4, 96, 96},
    {b128, 20, 1012, 128, 64}, {b128, 28, 0, 128, 128},    {b128, 28, 4, 128, 128},
    {b128, 32, 0, 128, 128},   {b128, 32, 4, 160, 160},    {b128, 32, 1012, 160, 64},
};

/// A box of 32 rows of `width` bytes, of which `inside` bytes lie in the tensor; its rows begin 0, 16, 32 …
/// bytes after a line of 128 bytes. Sectors of a row for each block that gets them.
struct AtEachStart {
    Delivery delivery;
    TensorSwizzle swizzle;
    std::uint32_t width;
    std::uint32_t inside;
    std::array<std::uint32_t, 8> load;
};

constexpr auto one_block = Delivery::one_block;
constexpr auto multicast = Delivery::multicast;

constexpr AtEachStart at_each_start[] = {
    {one_block, b128, 128, 16, {5, 5, 5, 5, 5, 5, 5, 5}},
    {one_block, b128, 128, 32, {4, 5, 4, 5, 4, 5, 4, 5}},
    {one_block, b128, 128, 48, {5, 5, 5, 5, 5, 5, 5, 5}},
    {one_block, b128, 128, 64, {4, 5, 4, 5, 4, 5, 4, 5}},
    {one_block, b128, 128, 80, {5, 5, 5, 5, 5, 5, 5, 5}},
    {one_block, b128, 128, 96, {4, 5, 4, 5, 4, 5, 4, 5}},
    {one_block, b128, 128, 112, {5, 5, 5, 5, 5, 5, 5, 5}},
    {one_block, b128, 128, 128, {4, 5, 4, 5, 4, 5, 4, 5}},
    {multicast, b128, 128, 16, {6, 6, 6, 6, 6, 6, 6, 6}},
    {multicast, b128, 128, 32, {5, 5, 5, 5, 5, 5, 5, 7}},
    {multicast, b128, 128, 48, {5, 5, 5, 5, 5, 5, 7, 7}},
    {multicast, b128, 128, 64, {5, 6, 5, 6, 5, 7, 7, 7}},
    {multicast, b128, 128, 80, {6, 6, 6, 6, 7, 7, 7, 7}},
    {multicast, b128, 128, 96, {6, 7, 6, 8, 7, 7, 7, 8}},
    {multicast, b128, 128, 112, {7, 7, 8, 8, 7, 7, 8, 8}},
    {multicast, b128, 128, 128, {4, 6, 5, 5, 4, 5, 5, 6}},
    {multicast, none, 64, 64, {2, 3, 2, 3, 2, 4, 4, 4}},
    {multicast, none, 128, 128, {4, 6, 5, 5, 4, 5, 5, 6}},
};

/// The same for one block, of all 32 rows: that begin at a line, and 16 bytes after it.
struct AcrossTheEdge {
    TensorSwizzle swizzle;
    std::uint32_t width;
    std::uint32_t inside;
    std::uint32_t at_0;
    std::uint32_t at_16;
};

constexpr AcrossTheEdge across_the_edge[] = {
    {none, 32, 16, 64, 64},     {none, 48, 16, 80, 80},     {none, 48, 32, 68, 96},
    {none, 64, 16, 96, 96},     {none, 64, 32, 64, 96},     {none, 64, 48, 96, 96},
    {none, 80, 16, 112, 112},   {none, 80, 32, 100, 128},   {none, 80, 48, 116, 116},
    {none, 80, 64, 104, 132},   {none, 96, 16, 128, 128},   {none, 96, 32, 96, 128},
    {none, 96, 48, 128, 136},   {none, 96, 64, 96, 136},    {none, 96, 80, 128, 144},
    {none, 112, 16, 144, 144},  {none, 112, 32, 132, 160},  {none, 112, 48, 148, 148},
    {none, 112, 64, 136, 164},  {none, 112, 80, 152, 152},  {none, 112, 96, 140, 168},
    {none, 128, 16, 160, 160},  {none, 128, 32, 128, 160},  {none, 128, 48, 160, 160},
    {none, 128, 64, 128, 160},  {none, 128, 80, 160, 160},  {none, 128, 96, 128, 160},
    {none, 128, 112, 160, 160}, {none, 144, 16, 176, 176},  {none, 144, 32, 164, 192},
    {none, 144, 48, 180, 180},  {none, 144, 64, 168, 196},  {none, 144, 80, 184, 184},
    {none, 144, 96, 172, 200},  {none, 144, 112, 188, 188}, {none, 144, 128, 176, 204},
    {none, 160, 16, 192, 192},  {none, 160, 32, 160, 192},  {none, 160, 48, 192, 200},
    {none, 160, 64, 160, 200},  {none, 160, 80, 192, 208},  {none, 160, 96, 160, 208},
    {none, 160, 112, 192, 216}, {none, 160, 128, 160, 216}, {none, 160, 144, 192, 224},
    {none, 176, 16, 208, 208},  {none, 176, 32, 196, 224},  {none, 176, 48, 212, 212},
    {none, 176, 64, 200, 228},  {none, 176, 80, 216, 216},  {none, 176, 96, 204, 232},
    {none, 176, 112, 220, 220}, {none, 176, 128, 208, 236}, {none, 176, 144, 224, 224},
    {none, 176, 160, 212, 240}, {none, 192, 16, 224, 224},  {none, 192, 32, 192, 224},
    {none, 192, 48, 224, 224},  {none, 192, 64, 192, 224},  {none, 192, 80, 224, 240},
    {none, 192, 96, 192, 240},  {none, 192, 112, 224, 240}, {none, 192, 128, 192, 240},
    {none, 192, 144, 224, 256}, {none, 192, 160, 192, 256}, {none, 192, 176, 224, 256},
    {none, 208, 16, 240, 240},  {none, 208, 32, 228, 256},  {none, 208, 48, 244, 244},
    {none, 208, 64, 232, 260},  {none, 208, 80, 248, 248},  {none, 208, 96, 236, 264},
    {none, 208, 112, 252, 252}, {none, 208, 128, 240, 268}, {none, 208, 144, 256, 256},
    {none, 208, 160, 244, 272}, {none, 208, 176, 260, 260}, {none, 208, 192, 248, 276},
    {b128, 32, 16, 64, 64},     {b128, 48, 16, 96, 96},     {b128, 48, 32, 64, 96},
    {b128, 64, 16, 96, 96},     {b128, 64, 32, 64, 96},     {b128, 64, 48, 96, 96},
    {b128, 80, 16, 128, 128},   {b128, 80, 32, 96, 128},    {b128, 80, 48, 128, 128},
    {b128, 80, 64, 96, 128},    {b128, 96, 16, 128, 128},   {b128, 96, 32, 96, 128},
    {b128, 96, 48, 128, 128},   {b128, 96, 64, 96, 128},    {b128, 96, 80, 128, 128},
    {b128, 112, 16, 160, 160},  {b128, 112, 32, 128, 160},  {b128, 112, 48, 160, 160},
    {b128, 112, 64, 128, 160},  {b128, 112, 80, 160, 160},  {b128, 112, 96, 128, 160},
    {b128, 128, 16, 160, 160},  {b128, 128, 32, 128, 160},  {b128, 128, 48, 160, 160},
    {b128, 128, 64, 128, 160},  {b128, 128, 80, 160, 160},  {b128, 128, 96, 128, 160},
    {b128, 128, 112, 160, 160}};

/// A box of `rows` rows of `width` bytes, the first of which begins `start` bytes into a tensor whose rows
/// have `start` + `inside`.
TensorTile tile(TensorSwizzle swizzle, std::uint32_t width, std::uint32_t start, std::uint32_t inside,
                std::uint64_t stride = 4096, std::uint32_t rows = 32) {
    TensorMap map;
    map.type = TensorType::s32;
    map.rank = 2;
    map.address = 0x100000;
    map.dims = {(start + inside) / 4, rows, 0, 0, 0};
    map.strides = {stride, 0, 0, 0};
    map.box = {width / 4, rows, 0, 0, 0};
    map.element_strides = {1, 1, 0, 0, 0};
    map.swizzle = swizzle;
    return TensorTile(map, {static_cast<std::int32_t>(start / 4), 0, 0, 0, 0});
}

TensorTile tile(const Counted& counted) {
    const auto start = static_cast<std::uint32_t>(counted.x) * 4;
    return tile(counted.swizzle, counted.width * 4, start, 4096 - start);
}

} // namespace

TEST_CASE("Rows are cut where lines of shared memory end: sectors of loads and stores as on an H200") {
    for (const Counted& counted : on_an_h200) {
        INFO("width " << counted.width << ", x " << counted.x << ", swizzle "
                      << static_cast<int>(counted.swizzle));
        CHECK(tile(counted).load_sectors() == static_cast<std::uint32_t>(counted.load));
        CHECK(tile(counted).store_sectors() == static_cast<std::uint32_t>(counted.store));
    }
}

TEST_CASE("Loads across the right edge, for one block and for several: sectors as on an H200") {
    for (const AtEachStart& counted : at_each_start)
        for (std::uint32_t i = 0; i < counted.load.size(); ++i) {
            INFO((counted.delivery == multicast ? "multicast" : "one block")
                 << ", swizzle " << static_cast<int>(counted.swizzle) << ", width " << counted.width
                 << ", inside " << counted.inside << ", start " << 16 * i);
            CHECK(
                tile(counted.swizzle, counted.width, 16 * i, counted.inside).load_sectors(counted.delivery) ==
                32 * counted.load[i]);
        }
    for (const AcrossTheEdge& counted : across_the_edge) {
        INFO("swizzle " << static_cast<int>(counted.swizzle) << ", width " << counted.width << ", inside "
                        << counted.inside);
        CHECK(tile(counted.swizzle, counted.width, 0, counted.inside).load_sectors() == counted.at_0);
        CHECK(tile(counted.swizzle, counted.width, 16, counted.inside).load_sectors() == counted.at_16);
    }
}

TEST_CASE("Rows of 720 bytes, every other of which begins inside a sector: sectors as on an H200") {
    constexpr std::uint32_t rows = 64, bytes = 720; // twice the sectors of a row, in each box of 128 bytes
    constexpr std::array<std::uint32_t, 6> alone = {9, 9, 9, 9, 9, 10}, several = {10, 10, 10, 10, 10, 13};
    for (std::uint32_t i = 0; i < alone.size(); ++i) {
        const TensorTile box = tile(b128, 128, 128 * i, bytes - 128 * i, bytes, rows);
        CHECK(box.load_sectors() == rows / 2 * alone[i]);
        CHECK(box.load_sectors(multicast) == rows / 2 * several[i]);
    }
}

TEST_CASE("Pixels of a column count as rows of a box do: those of a column that stays in a row of the box") {
    for (const std::int32_t channel : {0, 4, 20})
        for (const TensorSwizzle swizzle : {none, b64, b128}) {
            TensorMap map;
            map.type = TensorType::s32;
            map.rank = 3;
            map.address = 0x100000;
            map.dims = {24, 40, 2, 0, 0};
            map.strides = {96, 3840, 0, 0};
            map.element_strides = {1, 1, 1, 0, 0};
            map.swizzle = swizzle;
            map.box = {12, 16, 1, 0, 0};
            const TensorTile box(map, {channel, 3, 1, 0, 0});
            map.im2col = true;
            map.pixels_per_column = 16;
            const TensorTile column(map, {channel, 1, 1, 0, 0}, {2});
            CHECK(column.bytes() == box.bytes());
            CHECK(column.load_sectors() == box.load_sectors());
            CHECK(column.store_sectors() == box.store_sectors());
        }
}

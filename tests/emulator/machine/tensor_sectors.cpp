/// \file
/// How many 32-byte sectors a tensor copy moves, against what Nsight Compute counted on an H200
/// (l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld and
/// l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st).

#include "machine/tensor_tile.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>

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
    int load; ///< Sectors; unknown where a piece lies on both sides of the edge and nothing explains the
              ///< count.
    int store;
};

constexpr int unknown = -1;
constexpr auto none = TensorSwizzle::none;
constexpr auto b32 = TensorSwizzle::bytes32;
constexpr auto b64 = TensorSwizzle::bytes64;
constexpr auto b128 = TensorSwizzle::bytes128;

constexpr Counted on_an_h200[] = {
    {none, 4, 0, 32, 32},          {none, 4, 4, 32, 32},          {none, 8, 0, 32, 32},
    {none, 8, 4, 64, 64},          {none, 12, 0, 68, 68},         {none, 12, 4, 68, 68},
    {none, 16, 0, 64, 64},         {none, 16, 4, 96, 96},         {none, 20, 0, 104, 104},
    {none, 20, 4, 104, 104},       {none, 20, 1012, unknown, 68}, {none, 24, 0, 96, 96},
    {none, 24, 4, 144, 144},       {none, 28, 0, 140, 140},       {none, 28, 4, 140, 140},
    {none, 32, 0, 128, 128},       {none, 32, 4, 160, 160},       {none, 32, 1012, 160, 64},
    {none, 36, 0, 176, 176},       {none, 36, 4, 176, 176},       {none, 36, 1012, unknown, 68},
    {none, 40, 0, 160, 160},       {none, 40, 4, 224, 224},       {none, 44, 0, 212, 212},
    {none, 44, 4, 212, 212},       {none, 48, 0, 192, 192},       {none, 48, 4, 256, 256},
    {none, 48, 1012, 224, 64},     {none, 52, 0, 248, 248},       {none, 52, 4, 248, 248},
    {none, 60, 0, 284, 284},       {none, 60, 4, 284, 284},       {none, 64, 0, 256, 256},
    {none, 64, 4, 320, 320},       {none, 72, 0, 288, 288},       {none, 72, 4, 384, 384},
    {none, 100, 0, 464, 464},      {none, 100, 4, 464, 464},      {none, 132, 0, 608, 608},
    {none, 132, 4, 608, 608},      {none, 132, 1012, 564, 68},    {b32, 4, 0, 32, 32},
    {b32, 4, 4, 32, 32},           {b32, 8, 0, 32, 32},           {b32, 8, 4, 64, 64},
    {b64, 4, 0, 32, 32},           {b64, 4, 4, 32, 32},           {b64, 12, 0, 64, 64},
    {b64, 12, 4, 64, 64},          {b64, 16, 0, 64, 64},          {b64, 16, 4, 96, 96},
    {b128, 4, 0, 32, 32},          {b128, 4, 4, 32, 32},          {b128, 12, 0, 64, 64},
    {b128, 12, 4, 64, 64},         {b128, 20, 0, 96, 96},         {b128, 20, 4, 96, 96},
    {b128, 20, 1012, unknown, 64}, {b128, 28, 0, 128, 128},       {b128, 28, 4, 128, 128},
    {b128, 32, 0, 128, 128},       {b128, 32, 4, 160, 160},       {b128, 32, 1012, 160, 64},
};

TensorTile tile(const Counted& counted) {
    TensorMap map;
    map.type = TensorType::s32;
    map.rank = 2;
    map.address = 0x100000;
    map.dims = {1024, 32, 0, 0, 0};
    map.strides = {4096, 0, 0, 0};
    map.box = {counted.width, 32, 0, 0, 0};
    map.element_strides = {1, 1, 0, 0, 0};
    map.swizzle = counted.swizzle;
    return TensorTile(map, {counted.x, 0, 0, 0, 0});
}

} // namespace

TEST_CASE("Rows are cut where lines of shared memory end: sectors of loads and stores as on an H200") {
    for (const Counted& counted : on_an_h200) {
        INFO("width " << counted.width << ", x " << counted.x << ", swizzle "
                      << static_cast<int>(counted.swizzle));
        if (counted.load != unknown)
            CHECK(tile(counted).load_sectors() == static_cast<std::uint32_t>(counted.load));
        CHECK(tile(counted).store_sectors() == static_cast<std::uint32_t>(counted.store));
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

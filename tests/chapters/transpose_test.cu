/// @file transpose_test.cu
/// Every rung of chapter 8's ladder, on matrices of many shapes: bit for bit, and nothing else is written.
#include "any_transpose.cuh"
#include "kept_transpose.cuh"
#include "roles_transpose.cuh"
#include "tma_transpose.cuh"
#include "transpose.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cuda_bf16.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace transpose;
using workbook::DeviceBuffer;
using workbook::Guards;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9, .dynamic_shared = sizeof(Ring)};

/// Empty, one element, single rows and columns, multiples of 16 bytes or not, whole tiles of 32, 64 and 128
/// and such that hang over by the least and the most; never square but for two.
constexpr Extent extents[] = {{0, 0},   {0, 5},    {7, 0},     {1, 1},    {1, 1000}, {1000, 1},  {3, 5},
                              {4, 8},   {8, 4},    {31, 33},   {32, 32},  {32, 64},  {64, 32},   {33, 1025},
                              {36, 68}, {60, 124}, {128, 256}, {132, 64}, {64, 132}, {100, 300}, {264, 520}};

/// Random bits: every kind of NaN is among them.
template <class T>
std::vector<T> random_bits(std::size_t size, std::uint64_t seed) {
    const auto words = workbook::random_values<std::uint16_t>(size * sizeof(T) / 2, seed);
    std::vector<T> values(size);
    if (size > 0)
        std::memcpy(static_cast<void*>(values.data()), words.data(), size * sizeof(T));
    return values;
}

/// Element by element, by the definition; the program's reference goes tile by tile.
template <class T>
std::vector<T> by_definition(const std::vector<T>& in, Extent extent) {
    std::vector<T> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
        out[i % extent.columns * extent.rows + i / extent.columns] = in[i];
    return out;
}

/// Transposes one matrix with `launch` and returns which rung did it.
template <class T, class Launch>
std::string check_matrix(const Launch& launch, Extent extent, std::size_t offset = 0,
                         Guards guards = Guards::filled) {
    INFO(extent.rows << " x " << extent.columns << ", offset " << offset);
    const std::vector<T> values = random_bits<T>(extent.size(), extent.rows + offset);
    const DeviceBuffer<T> in(values, offset, guards);
    DeviceBuffer<T> out(values.size(), offset, guards);
    out.poison();
    const std::string ran = launch(in.span(), out.span(), extent);
    CHECK(workbook::compare_bits<T>(by_definition(values, extent), out.download()).summary() == "ok");
    CHECK(workbook::compare_bits<T>(values, in.download()).summary() == "ok");
    CHECK(in.check_guards() == "");
    CHECK(out.check_guards() == "");
    return ran;
}

/// A rung that takes any matrix, at any address.
template <class T, class Launch>
void check_any(const Launch& launch, std::string_view name) {
    for (const Extent& extent : extents)
        for (const std::size_t offset : {0, 1, 3}) {
            CHECK(check_matrix<T>(launch, extent, offset) == name);
            CHECK(check_matrix<T>(launch, extent, offset, Guards::none) == name);
        }
}

/// A rung that takes rows and columns of multiples of 16 bytes; padded_tile must take the others.
template <class T, class Launch>
void check_wide(const Launch& launch, std::string_view name) {
    for (const Extent& extent : extents) {
        const bool multiple = extent.rows % micro_edge<T> == 0 && extent.columns % micro_edge<T> == 0;
        for (const Guards guards : {Guards::filled, Guards::none}) {
            CHECK(check_matrix<T>(launch, extent, 0, guards) == (multiple ? name : "padded_tile"));
            CHECK(check_matrix<T>(launch, extent, micro_edge<T>, guards) ==
                  (multiple ? name : "padded_tile"));
            CHECK(check_matrix<T>(launch, extent, 1, guards) == "padded_tile"); // begins beside 16 bytes
        }
    }
}

} // namespace

TEST_CASE("the reference is the definition") {
    for (const Extent& extent : extents) {
        const std::vector<float> values = random_bits<float>(extent.size(), 1);
        const auto fast = transposed<float>(values, extent);
        CHECK(workbook::compare_bits<float>(by_definition(values, extent), fast).summary() == "ok");
    }
}

TEST_CASE("both walks visit every tile once") {
    const Tiling tiles = tiling({100, 300}, 64);
    CHECK(tiles.count() == 2 * 5);
    for (const Walk walk : {Walk::along_rows, Walk::down_columns}) {
        std::set<std::pair<std::size_t, std::size_t>> corners;
        for (unsigned tile = 0; tile < tiles.count(); ++tile) {
            const auto [row, column] = tiles.corner(tile, walk);
            CHECK((row % 64 == 0 && row < 100 && column % 64 == 0 && column < 300));
            corners.insert({row, column});
        }
        CHECK(corners.size() == tiles.count());
    }
    CHECK(tiles.corner(1, Walk::along_rows).column == 64);
    CHECK(tiles.corner(1, Walk::down_columns).row == 64);
}

TEST_CASE("global_only, shared_tile and padded_tile take any matrix") {
    require_device(hopper);
    check_any<float>(launch_global_only<float>, "global_only");
    check_any<float>(launch_shared_tile<float>, "shared_tile");
    check_any<float>(launch_padded_tile<float>, "padded_tile");
    check_any<__nv_bfloat16>(launch_padded_tile<__nv_bfloat16>, "padded_tile");
}

TEST_CASE("tma_plain, tma_swizzled and tma_batched") {
    require_device(hopper);
    check_wide<float>(launch_tma_plain, "tma_plain");
    check_wide<float>(launch_tma_swizzled, "tma_swizzled");
    check_wide<float>(launch_tma_batched, "tma_batched");
}

TEST_CASE("micro_tiles and column_walk, for float and bf16") {
    require_device(hopper);
    check_wide<float>(launch_micro_tiles<float>, "micro_tiles");
    check_wide<float>(launch_column_walk<float>, "column_walk");
    check_wide<__nv_bfloat16>(launch_micro_tiles<__nv_bfloat16>, "micro_tiles");
    check_wide<__nv_bfloat16>(launch_column_walk<__nv_bfloat16>, "column_walk");
}

TEST_CASE("kept_reads with far_columns and tma_kept_reads") {
    require_device(hopper);
    check_wide<float>(launch_kept_reads<float>, "kept_reads");
    check_wide<__nv_bfloat16>(launch_kept_reads<__nv_bfloat16>, "kept_reads");
    check_wide<float>(launch_far_columns<float>, "far_columns");
    check_wide<__nv_bfloat16>(launch_far_columns<__nv_bfloat16>, "far_columns");
    check_wide<float>(launch_tma_kept_reads, "tma_kept_reads");
    // So many columns of tiles, and so many from one to the next: whole groups, an incomplete one, more than
    // there are.
    for (const std::size_t columns : {64 * 15 + 4, 64 * 16, 64 * 16 + 4, 64 * 33})
        for (const unsigned apart : {1, 2, 3, 16, 40}) {
            const auto launch = [=](auto in, auto out, Extent extent) {
                return launch_columns_apart<float>(in, out, extent, apart);
            };
            CHECK(check_matrix<float>(launch, {68, columns}) == "far_columns");
        }
    // One column of tiles on four blocks for each of 132 SMs: far apart from more than half of them on.
    const auto sms = static_cast<std::size_t>(workbook::device_attribute(cudaDevAttrMultiProcessorCount));
    CHECK(columns_apart(tiling({64 * sms * 2, 32768}, 64)) == 1);
    CHECK(columns_apart(tiling({64 * sms * 2 + 1, 32768}, 64)) == 32);
    CHECK(check_matrix<float>(launch_far_columns<float>, {33, 6553}) == "padded_tile");
    CHECK(check_matrix<float>(launch_kept_reads<float>, {33, 6553}) == "padded_tile");
    CHECK(check_matrix<float>(launch_tma_kept_reads, {33, 6553}) == "padded_tile");
}

TEST_CASE("tma_micro_tiles and tma_persistent") {
    require_device(hopper);
    check_wide<float>(launch_tma_micro_tiles, "tma_micro_tiles");
    check_wide<float>([](auto in, auto out, Extent extent) { return launch_tma_persistent(in, out, extent); },
                      "tma_persistent");
}

TEST_CASE("tma_persistent goes around its ring several times") {
    require_device(hopper);
    const auto few_blocks = [](auto in, auto out, Extent extent) {
        return launch_tma_persistent(in, out, extent, 1);
    };
    const auto sms = static_cast<std::size_t>(workbook::device_attribute(cudaDevAttrMultiProcessorCount));
    const std::size_t tiles_down = (sms * (2 * stages + 1) + 1) / 2; // in two columns of tiles
    CHECK(check_matrix<float>(few_blocks, {tiles_down * 64 - 60, 68}) == "tma_persistent");
}

TEST_CASE("floats of any matrix at any address") {
    require_device(hopper);
    // Few are 255 rows, of multiples of 16 only 144, and 207 columns, of multiples of 32 only 96. Small as
    // these matrices are, a piece has eight of the others, or sixteen. Tiles that lean have 80 rows and 64
    // columns, and read 88 rows; they are walked row by row, or down in bands.
    constexpr Extent more[] = {
        {80, 1030}, {1030, 48}, {88, 90},   {89, 90},   {90, 49},   {63, 129},  {65, 130},  {71, 200},
        {72, 64},   {73, 65},   {129, 63},  {135, 128}, {136, 64},  {137, 191}, {8, 2049},  {2049, 8},
        {9, 770},   {770, 9},   {200, 331}, {32, 300},  {33, 300},  {4, 2049},  {2049, 4},  {5, 2049},
        {331, 200}, {81, 81},   {80, 80},   {60, 48},   {48, 48},   {60, 49},   {300, 33},  {90, 100},
        {300, 90},  {1, 777},   {777, 1},   {2, 33000}, {33000, 2}, {300, 80},  {300, 81},  {200, 65},
        {300, 64},  {128, 47},  {135, 47},  {136, 47},  {33000, 5}, {5, 33000}, {159, 160}, {160, 160},
        {160, 161}, {161, 159}, {161, 160}, {300, 128}, {449, 160}, {449, 207}, {449, 208}, {300, 129},
        {144, 449}, {192, 449}, {255, 257}, {256, 256}, {257, 321}, {449, 193}, {400, 170}, {321, 321},
        {401, 320}};
    std::vector<Extent> all(std::begin(extents), std::end(extents));
    all.insert(all.end(), std::begin(more), std::end(more));
    for (const Extent& extent : all) {
        const auto [rows, columns] = extent;
        const bool wide = rows <= (rows % 16 == 0 ? 144u : 255u) && rows <= columns;
        const bool tall = columns <= (columns % 32 == 0 ? 96u : 207u) && columns < rows;
        const std::string expected = extent.size() == 0            ? "leaning_tiles"
                                     : wide || extent.columns == 1 ? "few_rows"
                                     : tall                        ? "few_columns"
                                                                   : "leaning_tiles";
        for (std::size_t offset = 0; offset < 8; ++offset)
            CHECK(check_matrix<float>(launch_any_matrix, extent, offset) == expected);
        CHECK(check_matrix<float>(launch_any_matrix, extent, 1, Guards::none) == expected);
    }
}

TEST_CASE("few rows and few columns in large pieces") {
    require_device(hopper);
    // In the first a thread has several rounds of loads; the last pieces are whole, or cut.
    CHECK(few_width({255, 6400}) * 255 > few_threads * few_batch);
    for (const Extent& extent : {Extent{255, 6400}, Extent{144, 4300}, Extent{98, 4230}, Extent{3, 300'001}})
        for (const std::size_t offset : {0, 1, 4})
            CHECK(check_matrix<float>(launch_any_matrix, extent, offset) == "few_rows");
    for (const Extent& extent :
         {Extent{4224, 159}, Extent{4300, 96}, Extent{9000, 47}, Extent{9001, 16}, Extent{300'001, 3}})
        for (const std::size_t offset : {0, 1, 4})
            CHECK(check_matrix<float>(launch_any_matrix, extent, offset) == "few_columns");
}

TEST_CASE("leaning tiles in bands of any height") {
    require_device(hopper);
    constexpr Extent more[] = {{200, 331}, {331, 200}, {161, 63}, {649, 70}, {70, 449}, {88, 64}, {81, 65}};
    for (const Extent& extent : more)
        for (const unsigned band : {1u, 2u, 3u, 7u, 100u})
            CHECK(check_matrix<float>(
                      [band](std::span<const float> in, std::span<float> out, Extent e) {
                          launch_leaning_tiles(in, out, e, band);
                          return "leaning_tiles";
                      },
                      extent, 3) == "leaning_tiles");
}

TEST_CASE("what any_matrix chooses") {
    CHECK(lean_band({65'537, 1023}) == 1);
    CHECK(lean_band({65'537, 4095}) == 204);
    CHECK(lean_band({1023, 65'537}) == 204);
    CHECK(few_width({2, 65'537}) == 504); // one block on each of 132 SMs, too little for two
    CHECK(few_width({5, 65'537}) == 256);
    CHECK(few_width({32, 65'537}) == 128);
    CHECK(few_width({100, 65'537}) == 64); // two waves
    CHECK(few_width({2, 67'108'865}) == 6056);
    CHECK(few_width({97, 1'383'687}) == 120);
    CHECK(few_width({96, 1'398'101}) == 120);
    CHECK(few_width({255, 526'345}) == 48);
    CHECK(few_width({3, 100}) == 8);
    CHECK(few_height({65'537, 2}) == 504);
    CHECK(few_height({65'537, 47}) == 256);
    CHECK(few_height({65'537, 159}) == 128);
    CHECK(few_height({67'108'865, 2}) == 12'112);
    CHECK(few_height({4'194'305, 80}) == 296);
    CHECK(few_height({4'194'305, 159}) == 144);
    CHECK(few_height({100, 40}) == 8);
    for (std::size_t i = 1; i <= 207; ++i) {
        CHECK((few_height({134'217'728 / i, i}) + 8) * columns_pitch(i) * sizeof(float) <= 96 * 1024);
        CHECK(few_height({134'217'728 / i, i}) > 0);
    }
    for (std::size_t i = 1; i <= 255; ++i)
        CHECK(few_width({i, 134'217'728 / i}) * rows_pitch(i) * sizeof(float) <= 48 * 1024);
}

TEST_CASE("at most eight lanes of few_rows and few_columns meet in a bank") {
    for (unsigned columns = 1; columns <= 207; ++columns) {
        std::array<int, 32> met{};
        for (unsigned row = 0; row < 16; ++row)
            ++met[row * columns_pitch(columns) % 32];
        CHECK(*std::max_element(met.begin(), met.end()) <= 8);
    }
    for (unsigned rows = 1; rows <= 255; ++rows) {
        std::array<int, 32> met{};
        for (unsigned column = 0; column < 32; ++column)
            ++met[column * rows_pitch(rows) % 32];
        CHECK(*std::max_element(met.begin(), met.end()) <= 8);
    }
}

TEST_CASE("odd and long matrices") {
    require_device(hopper);
    CHECK(check_matrix<float>(launch_column_walk<float>, {1000, 300}) == "column_walk");
    CHECK(check_matrix<float>(launch_column_walk<float>, {33, 6553}) == "padded_tile");
    CHECK(check_matrix<float>(launch_tma_micro_tiles, {4, 65'536}) == "tma_micro_tiles");
    CHECK(check_matrix<float>(launch_tma_micro_tiles, {65'536, 4}) == "tma_micro_tiles");
}

TEST_CASE("arrays of another size are refused") {
    require_device(hopper);
    const DeviceBuffer<float> in(100);
    DeviceBuffer<float> out(99);
    CHECK_THROWS_AS(launch_padded_tile<float>(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_column_walk<float>(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_kept_reads<float>(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_far_columns<float>(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_any_matrix(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_tma_plain(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_tma_kept_reads(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_tma_micro_tiles(in.span(), out.span(), {10, 10}), std::invalid_argument);
    CHECK_THROWS_AS(launch_tma_persistent(in.span(), out.span(), {10, 10}), std::invalid_argument);
}

TEST_CASE("eight lanes with 16 bytes each meet eight groups of banks in turn_panels") {
    // The lanes of a quarter warp go together; the group of banks is the place of the chunk in its line.
    for (int first = 0; first < micro_threads; first += 8)
        for (int i = 0; i < 4; ++i) {
            std::set<unsigned> read;
            std::set<unsigned> written;
            for (int thread = first; thread < first + 8; ++thread) {
                const int across = thread % chunks_per_row;
                const int down = micro_down(thread);
                const auto group = [](int row, int chunk) {
                    return workbook::swizzled_chunk(static_cast<unsigned>(row),
                                                    static_cast<unsigned>(chunk % 8), Swizzle::bytes128);
                };
                read.insert(group(down * 4 + i, across));
                written.insert(group(across * 4 + i, down));
            }
            CHECK(read.size() == 8);
            CHECK(written.size() == 8);
        }
}

TEST_CASE("blocks that stay, with a warp for each job, transpose every matrix") {
    require_device(hopper);
    check_wide<float>(launch_tma_roles<3, 3, Deal::fixed, false>, "tma_roles");
    check_wide<float>(launch_tma_roles<2, 4, Deal::claimed, true>, "tma_roles");
    check_wide<float>(launch_tma_roles_direct<2, Deal::fixed, true>, "tma_roles_direct");
    check_wide<float>(launch_tma_roles_direct<4, Deal::claimed, false>, "tma_roles_direct");
}

TEST_CASE("blocks that stay use every stage again") {
    require_device(hopper);
    const Extent large{2048, 4096}; // 2048 tiles, more than blocks and stages together
    CHECK(check_matrix<float>(launch_tma_roles<1, 1, Deal::fixed, false>, large) == "tma_roles");
    CHECK(check_matrix<float>(launch_tma_roles<2, 1, Deal::claimed, true>, large) == "tma_roles");
    CHECK(check_matrix<float>(launch_tma_roles_direct<2, Deal::claimed, false>, large) == "tma_roles_direct");
}

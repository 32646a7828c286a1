/// @file main.cu
/// Chapter 7: the swizzle modes of tensor copies, shown, checked and measured.
#include "swizzle.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace swizzle;
using workbook::Comparison;
using workbook::DeviceBuffer;
using workbook::Shape;

constexpr int shifted_base = 384; // no multiple of 256, 512 or 1024: the tile begins inside of every pattern

/// A tile whose elements are their number modulo 32: the bank where each of them lies without swizzle.
std::vector<int> numbered_tile() {
    std::vector<int> numbers(static_cast<std::size_t>(tile_elements(Swizzle::none)));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<int>(i % workbook::shared_banks);
    return numbers;
}

/// The matrices that the kernels work on.
struct Matrices {
    explicit Matrices(const workbook::RunContext& run)
        : shape(workbook::shape_of(run.size)),
          host(workbook::random_values<int>(shape.padded_size<int>(), run.seed)), in(host), out(host.size()),
          sums(shape.width), numbered(numbered_tile()), raw(numbered.size()) {}

    [[nodiscard]] Matrix<const int> input() const { return shape.view(in.data()); }
    [[nodiscard]] Matrix<int> output() { return shape.view(out.data()); }

    Shape shape;
    std::vector<int> host;
    DeviceBuffer<int> in;
    DeviceBuffer<int> out;
    DeviceBuffer<unsigned> sums;
    DeviceBuffer<int> numbered; ///< read as a tile of any mode: as many columns as it has
    DeviceBuffer<int> raw;      ///< shared memory as it was
};

std::size_t bytes_of_two(const Matrices& matrices) {
    return 2 * matrices.shape.width * matrices.shape.height * sizeof(int);
}

int wrapping_add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

// ---- the picture ----

/// Raw shared memory as the formula has it.
template <Swizzle mode>
Comparison check_banks(Matrices& matrices) {
    const auto elements = static_cast<std::uint32_t>(tile_elements(mode));
    const std::vector<int> numbers = numbered_tile();
    std::vector<int> expected(matrices.raw.size());
    std::memset(expected.data(), DeviceBuffer<int>::poison_byte, matrices.raw.size_bytes());
    for (std::uint32_t i = 0; i < elements; ++i)
        expected[workbook::swizzled_address(i * sizeof(int), mode) / sizeof(int)] = numbers[i];
    return workbook::check_exact(matrices.raw, expected);
}

/// The banks where the elements of the first eight rows were found: after eight rows every pattern begins
/// anew. An element is sought in its 128-byte line of the raw memory, by its number.
template <Swizzle mode>
std::string bank_picture(Matrices& matrices) {
    constexpr int rows = 8;
    const std::vector<int> raw = matrices.raw.download();
    const std::string width = std::to_string(tile_columns(mode) * static_cast<int>(sizeof(int)));
    std::string text = mode == Swizzle::none ? "no swizzle, rows of " + width + " bytes"
                                             : width + "-byte swizzle, rows as wide";
    text += "; the bank of each element, a line for each row";
    for (int i = 0; i < rows * tile_columns(mode); ++i) {
        const int line = i / 32 * 32;
        int bank = 0;
        while (bank < 32 && raw[static_cast<std::size_t>(line + bank)] != i % 32)
            ++bank;
        std::array<char, 16> cell{};
        std::snprintf(cell.data(), cell.size(), bank < 32 ? "%3d" : "  ?", bank);
        if (i % tile_columns(mode) == 0)
            text += "\n ";
        else if (i % 4 == 0)
            text += " "; // between chunks of 16 bytes
        text += cell.data();
    }
    return text + "\n";
}

template <Swizzle mode>
constexpr workbook::KernelEntry<Matrices> banks(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Matrices&) { return std::size_t{0}; },
            .prepare = [](Matrices& matrices) { matrices.raw.poison(); },
            .launch =
                [](Matrices& matrices) {
                    const Shape tile{static_cast<std::size_t>(tile_columns(mode)), tile_rows};
                    launch_read_raw_tile<mode>(
                        tile.view(std::as_const(matrices.numbered).data()), 0, 0, 0,
                        matrices.raw.span().first(static_cast<std::size_t>(tile_elements(mode))));
                },
            .check = check_banks<mode>,
            .note = bank_picture<mode>};
}

// ---- elements ----

/// Compares the output with value(element, x, y) for each element of the input.
template <class Value>
Comparison check_elements(Matrices& matrices, Value value) {
    std::vector<int> expected(matrices.out.size());
    const auto [width, height] = matrices.shape;
    const std::size_t pitch = matrices.input().pitch;
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x)
            expected[y * pitch + x] = value(matrices.host[y * pitch + x], x, y);
    return workbook::check_matrix(matrices.out, expected, matrices.shape);
}

Comparison check_add_one(Matrices& matrices) {
    return check_elements(matrices,
                          [](int element, std::size_t, std::size_t) { return wrapping_add(element, 1); });
}

template <Swizzle mode>
Comparison check_add_place(Matrices& matrices) {
    return check_elements(matrices, [](int element, std::size_t x, std::size_t y) {
        const std::size_t columns = static_cast<std::size_t>(tile_columns(mode));
        return wrapping_add(element, static_cast<int>(y % tile_rows * columns + x % columns));
    });
}

template <Swizzle mode>
constexpr workbook::KernelEntry<Matrices> add_one(const char* name, const char* shows) {
    return {
        .name = name,
        .shows = shows,
        .bytes = bytes_of_two,
        .prepare = [](Matrices& matrices) { matrices.out.poison(); },
        .launch =
            [](Matrices& matrices) { launch_add_one_swizzled<mode>(matrices.input(), matrices.output()); },
        .check = check_add_one};
}

template <Swizzle mode>
constexpr workbook::KernelEntry<Matrices> add_place(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = bytes_of_two,
            .prepare = [](Matrices& matrices) { matrices.out.upload(matrices.host); },
            .launch =
                [](Matrices& matrices) { launch_add_place_swizzled<mode>(matrices.output(), shifted_base); },
            .check = check_add_place<mode>};
}

// ---- column sums ----

Comparison check_sums_of(Matrices& matrices) {
    std::vector<unsigned> expected(matrices.shape.width);
    for (std::size_t y = 0; y < matrices.shape.height; ++y)
        for (std::size_t x = 0; x < matrices.shape.width; ++x)
            expected[x] += static_cast<unsigned>(matrices.host[y * matrices.input().pitch + x]);
    return workbook::check_exact(matrices.sums, expected);
}

template <void (*launch)(Matrix<const int>, std::span<unsigned>)>
constexpr workbook::KernelEntry<Matrices> sums(const char* name, const char* shows) {
    return {
        .name = name,
        .shows = shows,
        .bytes =
            [](const Matrices& matrices) { return bytes_of_two(matrices) / 2 + matrices.sums.size_bytes(); },
        .prepare = [](Matrices& matrices) { matrices.sums.poison(); },
        .launch = [](Matrices& matrices) { launch(matrices.input(), matrices.sums.span()); },
        .check = check_sums_of};
}

constexpr auto wide = Access::bytes16;
constexpr auto narrow = Access::bytes4;

constexpr workbook::KernelEntry<Matrices> kernels[] = {
    banks<Swizzle::none>("banks_none", "raw shared memory, no swizzle"),
    banks<Swizzle::bytes32>("banks_32", "raw shared memory, 32-byte swizzle"),
    banks<Swizzle::bytes64>("banks_64", "raw shared memory, 64-byte swizzle"),
    banks<Swizzle::bytes128>("banks_128", "raw shared memory, 128-byte swizzle"),
    add_one<Swizzle::bytes32>("add_one_swizzled_32", "swizzled in, through the index function"),
    add_one<Swizzle::bytes64>("add_one_swizzled_64", "the same, 64-byte swizzle"),
    add_one<Swizzle::bytes128>("add_one_swizzled_128", "the same, 128-byte swizzle"),
    add_place<Swizzle::bytes32>("add_place_swizzled_32", "swizzled in and out, tile inside of the pattern"),
    add_place<Swizzle::bytes64>("add_place_swizzled_64", "the same, 64-byte swizzle"),
    add_place<Swizzle::bytes128>("add_place_swizzled_128", "the same, 128-byte swizzle"),
    sums<launch_column_sums<Swizzle::none, wide>>("column_sums_none", "16 bytes a lane: 8 rows in a bank"),
    sums<launch_column_sums_padded<wide>>("column_sums_padded", "rows padded by 16 bytes: no conflicts"),
    sums<launch_column_sums<Swizzle::bytes32, wide>>("column_sums_32", "32-byte swizzle: no conflicts"),
    sums<launch_column_sums<Swizzle::bytes64, wide>>("column_sums_64", "64-byte swizzle: no conflicts"),
    sums<launch_column_sums<Swizzle::bytes128, wide>>("column_sums_128", "128-byte swizzle: no conflicts"),
    sums<launch_column_sums<Swizzle::none, narrow>>("column_sums_none_4_bytes",
                                                    "4 bytes a lane: 32 rows in a bank"),
    sums<launch_column_sums_padded<narrow>>("column_sums_padded_4_bytes",
                                            "rows padded by 4 bytes: no conflicts"),
    sums<launch_column_sums<Swizzle::bytes32, narrow>>("column_sums_32_4_bytes", "4 rows in a bank"),
    sums<launch_column_sums<Swizzle::bytes64, narrow>>("column_sums_64_4_bytes", "4 rows in a bank"),
    sums<launch_column_sums<Swizzle::bytes128, narrow>>("column_sums_128_4_bytes", "4 rows in a bank"),
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "swizzle",
                                     .summary = "the swizzle modes of tensor copies",
                                     .size_unit = "elements (a matrix twice as wide as high)",
                                     .size_with_clock = 100'000'000,
                                     .size_without_clock = 60'001,
                                     .device_bytes_per_element = 3 * sizeof(int),
                                     .host_bytes_per_element = 4 * sizeof(int),
                                     .needs = {.compute_major = 9}};
    return workbook::run_program<Matrices>(info, kernels, argc, argv);
}

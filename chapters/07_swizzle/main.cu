/// @file main.cu
/// Chapter 7: the swizzle modes of tensor copies, shown, checked and measured.
#include "swizzle.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <algorithm>
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

/// The matrices that the kernels work on. The same memory serves with rows that are padded to 16 bytes, as
/// every tensor map wants it, and to 128 bytes, for those that cut it into panels.
struct Matrices {
    explicit Matrices(const workbook::RunContext& run)
        : shape(workbook::shape_of(run.size)), pitch(workbook::panel_pitch(shape.width, sum_columns)),
          host(workbook::random_values<int>(pitch * shape.height, run.seed)), in(host), out(host.size()),
          sums(shape.width), numbered(numbered_tile()), raw(numbered.size()) {}

    [[nodiscard]] Matrix<const int> input() const { return shape.view(in.data()); }
    [[nodiscard]] Matrix<int> output() { return shape.view(out.data()); }
    [[nodiscard]] Matrix<const int> panels() const { return {in.data(), shape.width, shape.height, pitch}; }
    [[nodiscard]] Matrix<int> output_panels() { return {out.data(), shape.width, shape.height, pitch}; }

    Shape shape;
    std::size_t pitch; ///< of panels()
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

/// Raw shared memory as the formula has it: a row of the box at every swizzle width, narrow or not.
template <Swizzle mode, int columns>
Comparison check_banks(Matrices& matrices) {
    constexpr int pitch = tile_columns(mode);
    std::vector<int> expected(matrices.raw.size());
    std::memset(expected.data(), DeviceBuffer<int>::poison_byte, matrices.raw.size_bytes());
    std::fill_n(expected.begin(), tile_elements(mode), untouched);
    for (int row = 0; row < tile_rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const auto offset = static_cast<std::uint32_t>((row * pitch + column) * sizeof(int));
            expected[workbook::swizzled_address(offset, mode) / sizeof(int)] = (row * pitch + column) % 32;
        }
    return workbook::check_exact(matrices.raw, expected);
}

/// The banks where the elements of the first eight rows were found: after eight rows every pattern begins
/// anew. An element is sought in its 128-byte line of the raw memory, by its number.
template <Swizzle mode, int columns>
std::string bank_picture(Matrices& matrices) {
    constexpr int rows = 8;
    constexpr int pitch = tile_columns(mode);
    const std::vector<int> raw = matrices.raw.download();
    const std::string mode_bytes = std::to_string(pitch * static_cast<int>(sizeof(int)));
    const std::string row_bytes = std::to_string(columns * static_cast<int>(sizeof(int)));
    std::string text = mode == Swizzle::none ? "no swizzle" : mode_bytes + "-byte swizzle";
    text += ", rows of " + row_bytes + " bytes; the bank of each element, a line for each row";
    for (int i = 0; i < rows * columns; ++i) {
        const int place = i / columns * pitch + i % columns;
        const int line = place / 32 * 32;
        int bank = 0;
        while (bank < 32 && raw[static_cast<std::size_t>(line + bank)] != place % 32)
            ++bank;
        std::array<char, 16> cell{};
        std::snprintf(cell.data(), cell.size(), bank < 32 ? "%3d" : "  ?", bank);
        if (i % columns == 0)
            text += "\n ";
        else if (i % 4 == 0)
            text += " "; // between chunks of 16 bytes
        text += cell.data();
    }
    return text + "\n";
}

template <Swizzle mode, int columns = tile_columns(mode)>
constexpr workbook::KernelEntry<Matrices> banks(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Matrices&) { return std::size_t{0}; },
            .prepare = [](Matrices& matrices) { matrices.raw.poison(); },
            .launch =
                [](Matrices& matrices) {
                    const Matrix<const int> tile{matrices.numbered.data(), columns, tile_rows,
                                                 tile_columns(mode)};
                    launch_read_raw_tile<mode>(
                        tile, 0, 0, 0,
                        matrices.raw.span().first(static_cast<std::size_t>(tile_elements(mode))), columns);
                },
            .check = check_banks<mode, columns>,
            .note = bank_picture<mode, columns>};
}

// ---- elements ----

/// Compares the output with value(element, x, y) for each element of the input. `before` is what the output
/// held before the launch, which it must still hold behind the matrix.
template <class Value>
Comparison check_elements(Matrices& matrices, std::vector<int> before, Matrix<const int> in, Value value) {
    for (std::size_t y = 0; y < in.height; ++y)
        for (std::size_t x = 0; x < in.width; ++x) {
            const std::size_t i = y * in.pitch + x;
            before[i] = value(matrices.host[i], x, y);
        }
    return workbook::check_matrix(matrices.out, std::move(before), {in.width, in.height});
}

Comparison check_add_one(Matrices& matrices) {
    std::vector<int> poisoned(matrices.out.size());
    std::memset(poisoned.data(), DeviceBuffer<int>::poison_byte, matrices.out.size_bytes());
    return check_elements(matrices, std::move(poisoned), matrices.input(),
                          [](int element, std::size_t, std::size_t) { return wrapping_add(element, 1); });
}

template <Swizzle mode>
Comparison check_add_place(Matrices& matrices) {
    return check_elements(
        matrices, matrices.host, matrices.input(), [](int element, std::size_t x, std::size_t y) {
            const std::size_t columns = static_cast<std::size_t>(tile_columns(mode));
            return wrapping_add(element, static_cast<int>(y % tile_rows * columns + x % columns));
        });
}

/// A map of panels has elements as far as the pitch goes.
Comparison check_add_place_padded(Matrices& matrices) {
    Matrix<const int> all = matrices.panels();
    all.width = all.pitch;
    return check_elements(matrices, matrices.host, all, [](int element, std::size_t x, std::size_t y) {
        const std::size_t place = y % tile_rows * (sum_columns + map_pad) + x % sum_columns;
        return wrapping_add(element, static_cast<int>(place));
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
            expected[x] += static_cast<unsigned>(matrices.host[y * matrices.pitch + x]);
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
        .launch = [](Matrices& matrices) { launch(matrices.panels(), matrices.sums.span()); },
        .check = check_sums_of};
}

constexpr auto wide = Access::bytes16;
constexpr auto narrow = Access::bytes4;

constexpr workbook::KernelEntry<Matrices> kernels[] = {
    banks<Swizzle::none>("banks_none", "raw shared memory, no swizzle"),
    banks<Swizzle::bytes32>("banks_32", "raw shared memory, 32-byte swizzle"),
    banks<Swizzle::bytes64>("banks_64", "raw shared memory, 64-byte swizzle"),
    banks<Swizzle::bytes128>("banks_128", "raw shared memory, 128-byte swizzle"),
    banks<Swizzle::bytes128, 16>("narrow_box_128", "raw shared memory, rows half as wide as the mode"),
    add_one<Swizzle::bytes32>("add_one_swizzled_32", "swizzled in, through the index function"),
    add_one<Swizzle::bytes64>("add_one_swizzled_64", "the same, 64-byte swizzle"),
    add_one<Swizzle::bytes128>("add_one_swizzled_128", "the same, 128-byte swizzle"),
    add_place<Swizzle::bytes32>("add_place_swizzled_32", "swizzled in and out, tile inside of the pattern"),
    add_place<Swizzle::bytes64>("add_place_swizzled_64", "the same, 64-byte swizzle"),
    add_place<Swizzle::bytes128>("add_place_swizzled_128", "the same, 128-byte swizzle"),
    {.name = "add_place_padded",
     .shows = "padded on the way in by the map, cut on the way out",
     .bytes = [](const Matrices& matrices) { return 2 * matrices.out.size_bytes(); },
     .prepare = [](Matrices& matrices) { matrices.out.upload(matrices.host); },
     .launch = [](Matrices& matrices) { launch_add_place_padded(matrices.output_panels()); },
     .check = check_add_place_padded},
    sums<launch_column_sums<Swizzle::none, 0, wide>>("column_sums_none",
                                                     "16 bytes a lane: 32 rows in a bank"),
    sums<launch_column_sums_padded<wide>>("column_sums_padded", "threads pad rows by 16 bytes: no conflicts"),
    sums<launch_column_sums<Swizzle::none, map_pad, wide>>("column_sums_padded_by_map",
                                                           "the map pads rows by 16 bytes: no conflicts"),
    sums<launch_column_sums<Swizzle::bytes32, 0, wide>>("column_sums_32", "32-byte swizzle: no conflicts"),
    sums<launch_column_sums<Swizzle::bytes64, 0, wide>>("column_sums_64", "64-byte swizzle: no conflicts"),
    sums<launch_column_sums<Swizzle::bytes128, 0, wide>>("column_sums_128", "128-byte swizzle: no conflicts"),
    sums<launch_column_sums<Swizzle::none, 0, narrow>>("column_sums_none_4_bytes",
                                                       "4 bytes a lane: 32 rows in a bank"),
    sums<launch_column_sums_padded<narrow>>("column_sums_padded_4_bytes",
                                            "threads pad rows by 4 bytes: no conflicts"),
    sums<launch_column_sums<Swizzle::none, map_pad, narrow>>("column_sums_padded_by_map_4_bytes",
                                                             "the map pads by 16 bytes: 4 rows in a bank"),
    sums<launch_column_sums<Swizzle::bytes32, 0, narrow>>("column_sums_32_4_bytes", "4 rows in a bank"),
    sums<launch_column_sums<Swizzle::bytes64, 0, narrow>>("column_sums_64_4_bytes", "4 rows in a bank"),
    sums<launch_column_sums<Swizzle::bytes128, 0, narrow>>("column_sums_128_4_bytes", "4 rows in a bank"),
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

/// @file convolution.cpp
/// Judge of chapter 8's convolution.
#include "judge.hpp"
#include "layout.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile_width = 32;
constexpr std::size_t tile_height = 16;
constexpr std::size_t tiles_per_block = 5;
constexpr std::uint32_t margin = 4;

/// As the exercise declares it.
struct Weights {
    float weight[3][3];
};

/// As the exercise declares it.
struct Tiles {
    int across;
    int count;
};

/// As the exercise declares it.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
};

/// Not symmetric, and small enough for exact sums.
constexpr Weights weights{{{1, -2, 3}, {5, 7, -11}, {-13, 17, 19}}};

/// A matrix on the host, whose rows are `pitch` elements apart.
struct Image {
    int width;
    int height;
    int pitch;
    std::vector<float> values;

    [[nodiscard]] float at(int x, int y) const {
        const bool inside = x >= 0 && y >= 0 && x < width && y < height;
        return inside ? values[static_cast<std::size_t>(y * pitch + x)] : 0;
    }
    /// The result at (x, y); `weight(j, i)` gives the weights.
    template <class Weight>
    [[nodiscard]] float convolved(int x, int y, Weight weight) const {
        float sum = 0;
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i)
                sum += weight(j, i) * at(x + i - 1, y + j - 1);
        return sum;
    }
};

float straight(int j, int i) { return weights.weight[j][i]; }
float turned(int j, int i) { return weights.weight[2 - j][2 - i]; }
float transposed(int j, int i) { return weights.weight[i][j]; }

/// Results of other places and other weights, which the usual slips give.
std::string explain(const judge::Wrong<float>& wrong, const Image& in) {
    const int x = static_cast<int>(wrong.index) % in.pitch;
    const int y = static_cast<int>(wrong.index) / in.pitch;
    if (x >= in.width)
        return "It lies in the padding behind a row, which belongs to nobody.";
    const std::string place = "It is element (" + std::to_string(x) + ", " + std::to_string(y) + ") of " +
                              std::to_string(in.width) + " × " + std::to_string(in.height) + ". ";
    if (judge::is_poison(wrong.actual))
        return place +
               "Nobody wrote it. The first result is seen when load, filter and the kernel are there; until "
               "then a part that is missing shows as a wait without end, or as memory that nobody wrote.";
    if (std::isnan(wrong.actual) && std::ranges::none_of(in.values, [](float v) { return std::isnan(v); }))
        return place +
               "That is no number, though `in` has only numbers: the store took a buffer that filter had not "
               "written.";
    if (wrong.actual == in.convolved(x, y, turned))
        return place + "That is the sum with weight[2 - j][2 - i]: the weights are not to be turned round.";
    if (wrong.actual == in.convolved(x, y, transposed))
        return place + "That is the sum with weight[i][j]: j counts rows, i counts columns.";
    if (wrong.actual == Image{in.pitch, in.height, in.pitch, in.values}.convolved(x, y, straight))
        return place +
               "Padding behind a row came into the sum: dims[0] is the number of elements that belong to a "
               "row, not the distance of two rows.";
    const std::string begin =
        ": the input of a tile begins 4 columns left of it and 1 row above, and the first "
        "column that counts is column 3 of it.";
    if (wrong.actual == 0)
        return place + "That is the result for a place outside of the matrix" + begin;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -5; dx <= 5; ++dx)
            if ((dx != 0 || dy != 0) && wrong.actual == in.convolved(x + dx, y + dy, straight))
                return place + "That is the result for (" + std::to_string(x + dx) + ", " +
                       std::to_string(y + dy) + ")" + begin;
    return place;
}

/// Small integers, whose sums are exact; where `specials`, a few NaN and infinities among them.
Image random_image(int width, int height, int padding, bool specials) {
    const auto pitch = static_cast<std::size_t>(width + padding);
    const std::size_t size = pitch * static_cast<std::size_t>(height);
    const auto integers = workbook::random_integers<int>(size, size + pitch, -1000, 1000);
    Image image{width, height, width + padding, {integers.begin(), integers.end()}};
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; specials && i < size; i += 61)
        image.values[i] = i % 3 == 0   ? std::numeric_limits<float>::quiet_NaN()
                          : i % 3 == 1 ? infinity
                                       : -infinity;
    return image;
}

/// The result; what lies behind the rows stays as `before` had it.
std::vector<float> convolved(const Image& in, std::vector<float> before) {
    for (int y = 0; y < in.height; ++y)
        for (int x = 0; x < in.width; ++x)
            before[static_cast<std::size_t>(y * in.pitch + x)] = in.convolved(x, y, straight);
    return before;
}

} // namespace

void judge::run() {
    using Matrix = workbook::Matrix<const float>;
    const Kernel<void(Matrix, std::uint32_t, std::uint32_t, Layout*)> layout("layout");
    const Kernel<void(CUtensorMap, CUtensorMap, Weights, Tiles)> kernel("convolution");
    struct Case {
        int width;
        int height;
        int padding;
        bool specials;
    };
    for (const auto [width, height, padding, specials] : {Case{32, 16, 0, false},
                                                          {64, 32, 0, false},
                                                          {160, 64, 0, false},
                                                          {100, 37, 12, false},
                                                          {4, 1, 0, false},
                                                          {36, 250, 4, true}}) {
        trying("matrices of " + std::to_string(width) + " × " + std::to_string(height));
        const Image image = random_image(width, height, padding, specials);
        const auto in = input(image.values, 4);
        auto out = output<float>(image.values.size(), 8);
        const auto map = [&](const float* data, std::uint32_t box_width, std::uint32_t box_height) {
            auto described = output<Layout>(1);
            layout({},
                   Matrix{data, static_cast<std::size_t>(width), static_cast<std::size_t>(height),
                          static_cast<std::size_t>(image.pitch)},
                   box_width, box_height, described.data());
            return map_of(data, described.download().front());
        };
        const unsigned across = workbook::blocks_for(static_cast<std::size_t>(width), tile_width);
        const unsigned count = across * workbook::blocks_for(static_cast<std::size_t>(height), tile_height);
        const std::vector<float> expected = convolved(image, out.download());
        kernel({.grid = workbook::blocks_for(count, tiles_per_block), .block = 128},
               map(in.data(), tile_width + 2 * margin, tile_height + 2),
               map(out.data(), tile_width, tile_height), weights,
               Tiles{static_cast<int>(across), static_cast<int>(count)});
        expect_near<float>("out", out, expected, {.absolute = 1e-30},
                           [&](const auto& wrong) { return explain(wrong, image); });
    }
}

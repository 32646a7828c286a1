/// @file convolution.cu
/// Judge of chapter 9's convolution.
#include "overlap.hpp"

#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// As the learner's file has it.
struct Weights {
    float weight[3][3];
};

void launch_convolution(workbook::Matrix<const float> in, workbook::Matrix<float> out, const Weights& weights,
                        std::span<unsigned> asked);

namespace {

constexpr std::size_t tile_width = 32;
constexpr std::size_t tile_height = 16;
constexpr std::size_t tiles_per_block = 5;

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
    const std::string place = "It is element (" + std::to_string(x) + ", " + std::to_string(y) + ") of " +
                              std::to_string(in.width) + " × " + std::to_string(in.height) + ". ";
    if (judge::is_poison(wrong.actual))
        return place +
               "Nobody wrote it. The first result is seen when load, filter and the kernel are there; until "
               "then a part that is missing shows as a wait without end, or as memory that nobody wrote.";
    if (std::isnan(wrong.actual))
        return place +
               "That is no number, though `in` has only numbers: the store took a buffer that filter had not "
               "written.";
    if (wrong.actual == in.convolved(x, y, turned))
        return place + "That is the sum with weight[2 - j][2 - i]: the weights are not to be turned round.";
    if (wrong.actual == in.convolved(x, y, transposed))
        return place + "That is the sum with weight[i][j]: j counts rows, i counts columns.";
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -5; dx <= 5; ++dx)
            if ((dx != 0 || dy != 0) && wrong.actual == in.convolved(x + dx, y + dy, straight))
                return place + "That is the result for (" + std::to_string(x + dx) + ", " +
                       std::to_string(y + dy) +
                       "): the input of a tile begins 4 columns left of it and 1 row above, and the first "
                       "column that counts is column 3 of it.";
    return place;
}

} // namespace

void judge::run() {
    struct Shape {
        int width;
        int height;
    };
    for (const auto [width, height] : {Shape{32, 16}, {64, 32}, {160, 64}, {100, 37}, {4, 1}, {36, 250}}) {
        trying("matrices of " + std::to_string(width) + " × " + std::to_string(height));
        const auto columns = static_cast<std::size_t>(width);
        const auto rows = static_cast<std::size_t>(height);
        const std::size_t pitch = workbook::row_pitch<float>(columns);
        const auto integers = workbook::random_integers<int>(pitch * rows, pitch + rows, -1000, 1000);
        const Image image{width, height, static_cast<int>(pitch), {integers.begin(), integers.end()}};
        const auto in = input(image.values, 4);
        auto out = output<float>(pitch * rows, 8);
        auto asked = output<unsigned>(workbook::blocks_for(columns, tile_width) *
                                      std::size_t{workbook::blocks_for(rows, tile_height)});
        launch_convolution({in.data(), columns, rows, pitch}, {out.data(), columns, rows, pitch}, weights,
                           asked.span());
        std::vector<float> expected;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) // width is a multiple of 4: no padding
                expected.push_back(image.convolved(x, y, straight));
        expect_near<float>("out", out, expected, {.absolute = 1e-30},
                           [&](const auto& wrong) { return explain(wrong, image); });
        expect_overlap(asked.download(), tiles_per_block);
    }
}

/// @file references.hpp
/// What chapter 10's kernels compute, computed plainly.
#pragma once

#include "roles.cuh"

#include <cstddef>
#include <span>
#include <vector>

namespace roles {

/// A matrix on the host, whose rows are `pitch` words apart.
struct HostMatrix {
    std::size_t width;
    std::size_t height;
    std::size_t pitch;
    std::span<const unsigned> words;
};

/// `count` fingerprints of every column by each of `blocks` blocks, which begin with the block's rank; side
/// by side. Of the first heights[p] words only of panel p, if there are any heights.
template <int count>
std::vector<unsigned> fingerprints(const HostMatrix& matrix, std::span<const unsigned> heights = {},
                                   unsigned blocks = 1) {
    const std::size_t in_all = std::size_t{blocks} * count;
    std::vector<unsigned> prints(matrix.width * in_all);
    for (std::size_t i = 0; i < prints.size() && matrix.height > 0; ++i)
        prints[i] = static_cast<unsigned>(i % in_all / count);
    for (std::size_t y = 0; y < matrix.height; ++y)
        for (std::size_t x = 0; x < matrix.width; ++x) {
            if (!heights.empty() && y >= heights[x / panel_columns])
                continue;
            const unsigned word = matrix.words[y * matrix.pitch + x];
            for (unsigned* of = &prints[x * in_all]; of != &prints[x * in_all] + in_all; of += count)
                for (int k = 0; k < count; ++k)
                    of[k] = of[k] * base_of(static_cast<unsigned>(k)) + word;
        }
    return prints;
}

/// Their weighted sums.
inline std::vector<unsigned> mixed(std::span<const unsigned> prints, std::span<const unsigned> weights) {
    std::vector<unsigned> sums(prints.size() / weights.size());
    for (std::size_t i = 0; i < prints.size(); ++i)
        sums[i / weights.size()] += prints[i] * weights[i % weights.size()];
    return sums;
}

/// A height for each panel: most are short, some have all rows, and one has none. The last is the tallest.
inline std::vector<unsigned> uneven_heights(std::size_t width, std::size_t height) {
    const auto panels = static_cast<unsigned>((width + panel_columns - 1) / panel_columns);
    const auto most = static_cast<unsigned>(height);
    std::vector<unsigned> heights(panels);
    for (unsigned p = 0; p < panels; ++p)
        heights[p] = p + 1 == panels || p % 8 == 3 ? most : p % 8 == 5 ? 0 : most / (2 + p % 7);
    return heights;
}

} // namespace roles

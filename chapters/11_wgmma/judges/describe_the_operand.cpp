/// @file describe_the_operand.cpp
/// Judge of chapter 11's describe_the_operand.
#include "judge.hpp"
#include "matrices.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace {

using Values = std::vector<__nv_bfloat16>;

constexpr std::size_t windows = 64, hop = 8, filters = 32;
constexpr std::size_t samples = (windows - 1) * hop + judge::depth;

/// Where in the signal A(row, k) would be, by three distances in samples: to the next core matrix along k, to
/// that of the next eight rows, and to the next step.
struct Layout {
    std::size_t leading = 8, stride = 8 * hop, step = 16;

    [[nodiscard]] std::size_t sample(std::size_t row, std::size_t k) const {
        return k / 16 * step + k % 16 / 8 * leading + row / 8 * stride + row % 8 * 8 + k % 8;
    }
};

/// An element of A times B, with A found in that way; a sample that does not exist counts as 0.
float sum_of(const Values& signal, const Values& b, std::size_t index, const Layout& layout) {
    float sum = 0;
    for (std::size_t k = 0; k < judge::depth; ++k)
        if (const std::size_t at = layout.sample(index / filters, k); at < signal.size())
            sum += static_cast<float>(signal[at]) * static_cast<float>(b[index % filters * judge::depth + k]);
    return sum;
}

/// A result, and the operands that it is of.
struct Result {
    std::vector<float> sums;
    const Values &signal, &b;

    /// Whether this row is what it would be with such a layout.
    [[nodiscard]] bool has(std::size_t row, const Layout& layout) const {
        for (std::size_t at = row * filters; at < (row + 1) * filters; ++at)
            if (sums[at] != sum_of(signal, b, at, layout))
                return false;
        return true;
    }

    /// The leading offset and the step that explain row 0, the right ones first.
    [[nodiscard]] std::optional<Layout> of_row_0() const {
        for (const std::size_t leading : {8, 0, 64, 16, 24, 32, 40, 48, 56, 128, 256, 512})
            for (const std::size_t step : {16, 0, 8, 32, 64, 128})
                if (const Layout layout{.leading = leading, .step = step}; has(0, layout))
                    return layout;
        return std::nullopt;
    }
};

/// Recognises what is known of wrong descriptors.
std::string explain(const judge::Wrong<float>& wrong, const Result& result) {
    const std::size_t row = wrong.index / filters;
    if (row > 0 && row < 8)
        return "Row 0 is right, and row " + std::to_string(row) +
               " is not: its window begins 16 bytes behind the one before. In which mode are the rows of "
               "a core matrix 16 bytes apart?";
    if (row >= 8)
        return "Rows 0 to 7 are right, and row 8 is not. Its window begins at sample 64.";
    const std::optional<Layout> found = result.of_row_0();
    if (!found)
        return "Row 0 is the window of samples 0 to 63. The core matrix at the start of the signal has "
               "samples 0 to 7 as row 0, and 8 to 15 as row 1. Which sample is A(0, 8), the first of the "
               "next along k?";
    const std::size_t leading = found->leading, step = found->step;
    if (leading == 0 && result.has(8, {.leading = 0, .stride = 0, .step = step}))
        return "leading and stride lead nowhere. They are bytes, and `windows` divides them by 16.";
    if (leading == 64 && result.has(8, {.leading = 64, .stride = 8, .step = step}))
        return "The two offsets are exchanged: leading leads along k, stride to the next eight rows.";
    if (leading != 8)
        return "leading leads " + std::to_string(leading) +
               " samples on, but A(0, 8), the first of the next core matrix along k, is 8 samples on.";
    if (step == 0)
        return "All four steps begin at the same sample.";
    return "Each step begins " + std::to_string(step) +
           " samples behind the one before, but one wgmma takes 16 of k.";
}

} // namespace

void judge::run() {
    const Kernel<void(const __nv_bfloat16*, CUtensorMap, float*)> kernel("describe_the_operand");
    for (const std::uint64_t seed : {1, 2}) {
        trying("64 windows and 32 filters");
        Values signal_values = small_integers((samples + depth - 1) / depth, seed);
        signal_values.resize(samples);
        Values a_values;
        for (std::size_t row = 0; row < windows; ++row)
            for (std::size_t k = 0; k < depth; ++k)
                a_values.push_back(signal_values[Layout{}.sample(row, k)]);
        const Values b_values = small_integers(filters, seed + 10);
        const auto signal = input(signal_values), b = input(b_values);
        auto out = output<float>(windows * filters);
        kernel({.block = 128}, signal.data(), tile_map(b.data(), filters, workbook::Swizzle::bytes128),
               out.data());
        expect_exact<float>("out", out, product(a_values, b_values), [&](const auto& wrong) {
            return explain(wrong, {out.download(), signal_values, b_values});
        });
    }
}

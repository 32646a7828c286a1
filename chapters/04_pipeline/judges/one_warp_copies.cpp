/// @file one_warp_copies.cpp
/// Judge of chapter 4's one_warp_copies.
#include "judge.hpp"

#include "workbook/check.hpp"
#include "workbook/tile_reference.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

constexpr std::size_t tile = 512;
constexpr std::size_t tiles_per_block = 5;
constexpr std::size_t enough_stages = 3; ///< 1.50 / 0.60, rounded up
constexpr std::size_t barriers = 256;    ///< bytes that a pipeline may have beside the stages

/// As the exercise declares it.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;
};

/// The usual slip: ranks that do not begin at 0, so that every tile's first elements have no owner.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& out) {
    const bool some =
        std::any_of(out.begin(), out.end(), [](float value) { return !judge::is_poison(value); });
    if (judge::is_poison(wrong.actual) && some)
        return "No thread wrote this element, though others were written: the ranks of a part count from 0, "
               "and `threads` is the number of its threads.";
    return "";
}

/// Fails if the kernel has more stages than the rule asks for.
void expect_no_more_stages() {
    constexpr std::size_t sizes[] = {sizeof(Stream)};
    cudaFuncAttributes of{};
    workbook::check(
        cudaFuncGetAttributes(&of, judge::find_kernel("one_warp_copies", sizes, typeid(void(Stream)).name())),
        "cudaFuncGetAttributes");
    const std::size_t most = enough_stages * tile * sizeof(float);
    if (of.sharedSizeBytes > most + barriers)
        judge::fail(
            "The result is right, but the kernel has " + std::to_string(of.sharedSizeBytes) +
            " bytes of shared memory, and " + std::to_string(most) +
            " beside the barriers are enough: 1.50 µs is L + C, 0.60 µs is C, and a stage comes round "
            "once in L + C. How many tiles could be used in that time?");
}

} // namespace

void judge::run() {
    const Kernel<void(Stream)> kernel("one_warp_copies");
    struct Case {
        std::size_t size;
        std::size_t offset;
    };
    for (const auto [size, offset] :
         {Case{5 * tile, 0}, {1, 0}, {tile - 1, 0}, {1000, 1}, {16 * tile + 3, 2}, {40 * tile, 0}, {0, 0}}) {
        trying(with_elements(size) + (offset == 0 ? "" : ", not at a multiple of 16 bytes"));
        std::vector<float> values =
            workbook::random_values<float>(size, size + 6, {.low = -1000, .high = 1000, .specials = true});
        const auto in = input(values, offset);
        auto out = output<float>(size, offset);
        kernel({.grid = workbook::blocks_for(size, tiles_per_block * tile), .block = 128},
               Stream{in.data(), out.data(), size});
        for (float& value : values)
            value += 1;
        expect_near<float>("out", out, workbook::reversed_tiles(values, tile), {},
                           [&](const auto& wrong) { return explain(wrong, out.download()); });
    }
    trying(""); // what comes now is about the kernel, and not about the last size
    expect_no_more_stages();
}

/// @file swizzled_turn.cpp
/// Judge of chapter 8's swizzled_turn.
#include "transposed.hpp"

#include "workbook/tensor_map.hpp"

#include <cstddef>
#include <string>

namespace {

constexpr unsigned edge = 32; // of a tile

/// The map of a matrix of rows × columns floats for swizzled tiles.
CUtensorMap map_of(const float* data, std::size_t rows, std::size_t columns) {
    return workbook::make_tensor_map(data, workbook::TensorLayout<2>{.dims = {columns, rows},
                                                                     .strides = {columns * sizeof(float)},
                                                                     .box = {edge, edge},
                                                                     .swizzle = workbook::Swizzle::bytes128});
}

/// Adds what two wrong corners leave. Square matrices came first, and were right.
std::string explain(const judge::Wrong<float>& wrong, const judge::HostMatrix& in) {
    std::string text = judge::explain_transposed(wrong, in);
    if (judge::is_poison(wrong.actual) && in.rows != in.columns)
        text +=
            " Square matrices were right, and would be with both corners exchanged, too: does the load begin "
            "in row `row` and column `column` of in? (x counts columns.)";
    return text;
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap)> kernel("swizzled_turn");
    const auto launch = [&](const float* in, const float* out, std::size_t rows, std::size_t columns) {
        const dim3 grid(workbook::blocks_for(columns, edge), workbook::blocks_for(rows, edge));
        kernel({.grid = grid, .block = 256}, map_of(in, rows, columns), map_of(out, columns, rows));
    };
    const HostMatrix shapes[] = {{32, 32, {}}, {64, 64, {}}, {64, 32, {}}, {32, 96, {}},
                                 {40, 56, {}}, {4, 100, {}}, {68, 4, {}}};
    expect_transposed(launch, shapes, explain);
}

/// @file panels.hpp
/// A matrix cut into panels by its tensor map: columns side by side become a dimension of their own.
///
/// A swizzled box is at most as wide as its mode, and a box without swizzle that is to leave a gap behind
/// each row would bring the next columns instead. Both end where the innermost dimension ends, so the map
/// lets it end after `panel` columns: dimension 0 is a column of a panel, 1 the row, 2 the panel. One tensor
/// copy then brings panels one after the other, and what its box is wider than a panel does not exist: loads
/// fill it with zeros, stores leave it out. The box that begins at column x and row y has the coordinates
/// {0, y, x / panel}.
#pragma once

#include "matrix.hpp"
#include "tensor_map.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace workbook {

/// Panels that a matrix has, the last of which may be cut.
[[nodiscard]] constexpr std::size_t panels_of(std::size_t width, std::uint32_t panel) {
    return (width + panel - 1) / panel;
}

/// The fewest elements from row to row with which every panel of a row lies within its row.
[[nodiscard]] constexpr std::size_t panel_pitch(std::size_t width, std::uint32_t panel) {
    return panels_of(width, panel) * panel;
}

/// What one copy takes of a matrix that is cut into panels. Numbers are elements, rows, panels.
struct PanelBox {
    std::uint32_t panel = 0;  ///< columns of a panel; a multiple of 16 bytes, at most the mode's width
    std::uint32_t rows = 0;   ///< rows of the box
    std::uint32_t panels = 1; ///< panels side by side in the matrix; in shared memory one after the other
    std::uint32_t pad = 0;    ///< elements after each row that do not exist; a multiple of 16 bytes
    Swizzle swizzle = Swizzle::none;
};

/// The layout of a matrix in panels. Each dimension is cut by itself, and no panel is cut at the matrix's
/// width: a load of the last one brings what lies between width and pitch, a store overwrites it. Throws
/// std::invalid_argument if the last panel is longer than that.
template <class T>
[[nodiscard]] TensorLayout<3> panel_layout(Matrix<T> matrix, const PanelBox& box) {
    if (matrix.pitch < panel_pitch(matrix.width, box.panel))
        throw std::invalid_argument("panels of " + std::to_string(box.panel) + " columns: a row of " +
                                    std::to_string(matrix.width) + " elements takes " +
                                    std::to_string(panel_pitch(matrix.width, box.panel)) + ", the pitch is " +
                                    std::to_string(matrix.pitch));
    return {.dims = {box.panel, matrix.height, panels_of(matrix.width, box.panel)},
            .strides = {matrix.pitch * sizeof(T), box.panel * sizeof(T)},
            .box = {box.panel + box.pad, box.rows, box.panels},
            .swizzle = box.swizzle};
}

} // namespace workbook

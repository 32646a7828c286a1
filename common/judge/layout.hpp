/// @file layout.hpp
/// For exercises in which the learner's code describes a matrix to the tensor memory accelerator.
#pragma once

#include "judge.hpp"

#include "workbook/tensor_map.hpp"

#include <stdexcept>
#include <string>

namespace judge {

/// The map that the driver makes of a layout; a layout that it refuses is a wrong answer.
/// @param data the first element, at a multiple of 16 bytes
/// @param layout `dims[2]`, innermost first, `strides[1]` in bytes, `box[2]`, and `swizzle` where it has one
template <class T, class Layout>
CUtensorMap map_of(const T* data, const Layout& layout) {
    workbook::TensorLayout<2> wanted{.dims = {layout.dims[0], layout.dims[1]},
                                     .strides = {layout.strides[0]},
                                     .box = {layout.box[0], layout.box[1]}};
    if constexpr (requires { layout.swizzle; }) {
        if (layout.swizzle > workbook::Swizzle::bytes128)
            fail("layout_of returns a swizzle that is none of the four modes.");
        wanted.swizzle = layout.swizzle;
    }
    try {
        return workbook::make_tensor_map(data, wanted);
    } catch (const std::invalid_argument& error) {
        fail("There is no tensor map with this layout: " + std::string(error.what()));
    }
}

} // namespace judge

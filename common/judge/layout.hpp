/// @file layout.hpp
/// For exercises in which the learner's code describes a matrix to the tensor memory accelerator.
#pragma once

#include "judge.hpp"

#include "workbook/tensor_map.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace judge {

/// The map that the driver makes of a layout; a layout that it refuses is a wrong answer.
/// @param data the first element, at a multiple of 16 bytes
/// @param layout `dims[rank]`, innermost first, `strides[rank - 1]` in bytes, `box[rank]`; perhaps `swizzle`
template <class T, class Layout>
CUtensorMap map_of(const T* data, const Layout& layout) {
    workbook::TensorLayout<std::extent_v<decltype(layout.dims)>> wanted;
    wanted.dims = std::to_array(layout.dims);
    wanted.strides = std::to_array(layout.strides);
    wanted.box = std::to_array(layout.box);
    if constexpr (requires { layout.swizzle; }) {
        if (layout.swizzle > workbook::Swizzle::bytes128)
            fail("layout_of returns a swizzle that is none of the four modes.");
        wanted.swizzle = layout.swizzle;
    }
    try {
        return workbook::make_tensor_map(data, wanted);
    } catch (const std::invalid_argument& error) {
        // What it says begins with the place of the call above, which is none of the learner's.
        const std::string said = error.what();
        fail("There is no tensor map with this layout, which layout_of returns: " +
             said.substr(said.find(": ") + 2));
    }
}

} // namespace judge

/// @file make.cuh
/// A candidate out of its choices.
#pragma once

#include "candidates.hpp"
#include "general.cuh"

namespace gemm::tuner {

template <int consumers, int columns, int stages, int down, int across, int panels>
[[nodiscard]] Candidate make() {
    using C = general::Choice<consumers, columns, stages, down, across, panels>;
    constexpr std::size_t most_shared = 227 * 1024; // of a block, compute capability 9.0
    static_assert(sizeof(typename C::Memory) <= most_shared);
    return {C::T::rows, columns, stages, down, across, panels, [](const Operands& of, unsigned band) {
                general::launch<C>(of, band);
            }};
}

} // namespace gemm::tuner

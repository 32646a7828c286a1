/// @file make.cuh
/// A candidate out of its choices.
#pragma once

#include "../rungs/tuned.cuh"
#include "candidates.hpp"

namespace gemm::tuner {

template <int consumers, int columns, int stages, int down, int across, int panels>
[[nodiscard]] Candidate make() {
    using C = tuned::Choice<consumers, columns, stages, down, across, panels>;
    return {C::T::rows, columns, stages, down, across, panels, [](const Operands& of, unsigned band) {
                tuned::launch<C>(of, band, tuned::all_clusters);
            }};
}

} // namespace gemm::tuner

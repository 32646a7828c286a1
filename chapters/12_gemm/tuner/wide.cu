/// @file wide.cu
/// Tiles of 256 and 192 columns.
#include "make.cuh"

namespace gemm::tuner {

std::vector<Candidate> wide_candidates() {
    return {make<2, 256, 4, 1, 1, 2>(), make<2, 256, 4, 2, 1, 2>(), make<2, 256, 4, 1, 2, 2>(),
            make<2, 256, 4, 2, 2, 2>(), make<2, 256, 4, 4, 1, 2>(), make<2, 256, 3, 1, 1, 4>(),
            make<2, 256, 3, 2, 1, 4>(), make<2, 256, 3, 1, 2, 4>(), make<2, 192, 4, 1, 1, 3>(),
            make<2, 192, 4, 2, 1, 3>(), make<1, 256, 5, 1, 1, 2>(), make<1, 256, 5, 2, 1, 2>()};
}

} // namespace gemm::tuner

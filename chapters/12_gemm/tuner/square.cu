/// @file square.cu
/// Tiles of 128 columns, and of 192 by 192.
#include "make.cuh"

namespace gemm::tuner {

std::vector<Candidate> square_candidates() {
    return {make<2, 128, 6, 1, 1, 2>(), make<2, 128, 6, 2, 1, 2>(), make<2, 128, 6, 1, 2, 2>(),
            make<3, 128, 4, 1, 1, 2>(), make<3, 128, 4, 2, 1, 2>(), make<3, 128, 4, 1, 2, 2>(),
            make<3, 192, 3, 1, 1, 3>(), make<3, 192, 3, 2, 1, 3>(), make<4, 128, 4, 1, 1, 1>(),
            make<4, 128, 4, 2, 1, 1>(), make<4, 128, 4, 1, 2, 1>()};
}

} // namespace gemm::tuner

/// @file tensor_direct.cu
/// Tensor loads, stores straight from registers.
#include "tensor_kernel.cuh"

namespace tuner {

std::vector<Candidate> tensor_direct() {
    return {
        ring_candidate<RingShape<64, 64, 128, 1, Store::hinted>>(),
        ring_candidate<RingShape<64, 64, 256, 1, Store::hinted>>(),
        ring_candidate<RingShape<64, 64, 256, 2, Store::hinted>>(),
        ring_candidate<RingShape<64, 64, 256, 4, Store::hinted>>(),
        ring_candidate<RingShape<128, 64, 256, 1, Store::hinted>>(),
        ring_candidate<RingShape<128, 64, 256, 3, Store::hinted>>(),
        ring_candidate<RingShape<64, 128, 256, 1, Store::hinted>>(),
        ring_candidate<RingShape<128, 128, 512, 1, Store::hinted>>(),
        ring_candidate<RingShape<128, 128, 512, 3, Store::hinted>>(),
        ring_candidate<RingShape<256, 32, 256, 1, Store::hinted>>(),
        ring_candidate<RingShape<256, 64, 512, 1, Store::hinted>>(),
        ring_candidate<RingShape<256, 64, 512, 3, Store::hinted>>(),
    };
}

} // namespace tuner

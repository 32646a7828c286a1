/// @file tensor_stored.cu
/// Tensor loads and tensor stores.
#include "tensor_kernel.cuh"

namespace tuner {

std::vector<Candidate> tensor_stored() {
    return {
        ring_candidate<RingShape<64, 64, 256, 1, Store::tensor>>(),
        ring_candidate<RingShape<64, 64, 256, 2, Store::tensor>>(),
        ring_candidate<RingShape<64, 64, 256, 3, Store::tensor>>(),
        ring_candidate<RingShape<128, 64, 256, 1, Store::tensor>>(),
        ring_candidate<RingShape<64, 128, 256, 1, Store::tensor>>(),
        ring_candidate<RingShape<128, 128, 512, 1, Store::tensor>>(),
        ring_candidate<RingShape<256, 64, 512, 1, Store::tensor>>(),
    };
}

} // namespace tuner

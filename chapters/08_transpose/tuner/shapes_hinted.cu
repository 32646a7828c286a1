/// @file shapes_hinted.cu
/// Shapes of tiles up to 16 KiB, with policies for the L2 cache.
#include "tile_kernel.cuh"

namespace tuner {

namespace {
template <int rows, int columns, int threads>
Candidate hinted() {
    return one_tile_candidate<Shape<4, rows, columns, threads, Load::hinted, Store::hinted>>();
}
} // namespace

std::vector<Candidate> shapes_hinted() {
    return {hinted<32, 64, 128>(),  hinted<64, 32, 128>(),  hinted<64, 64, 128>(),
            hinted<64, 64, 256>(),  hinted<128, 32, 128>(), hinted<128, 32, 256>(),
            hinted<32, 128, 256>(), hinted<256, 32, 256>(), hinted<32, 256, 256>()};
}

} // namespace tuner

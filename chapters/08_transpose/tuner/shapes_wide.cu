/// @file shapes_wide.cu
/// Shapes of tiles from 32 to 128 KiB, with policies for the L2 cache.
#include "tile_kernel.cuh"

namespace tuner {

namespace {
template <int rows, int columns, int threads>
Candidate hinted() {
    return one_tile_candidate<Shape<4, rows, columns, threads, Load::hinted, Store::hinted>>();
}
} // namespace

std::vector<Candidate> shapes_wide() {
    return {hinted<128, 64, 256>(),   hinted<128, 64, 512>(),  hinted<64, 128, 256>(),
            hinted<64, 128, 512>(),   hinted<128, 128, 512>(), hinted<256, 64, 512>(),
            hinted<64, 256, 512>(),   hinted<512, 32, 512>(),  hinted<128, 256, 1024>(),
            hinted<256, 128, 1024>(), hinted<128, 128, 1024>()};
}

} // namespace tuner

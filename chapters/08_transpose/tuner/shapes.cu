/// @file shapes.cu
/// Shapes of tiles: plain accesses.
#include "tile_kernel.cuh"

namespace tuner {

namespace {
template <int rows, int columns, int threads>
Candidate plain() {
    return one_tile_candidate<Shape<4, rows, columns, threads, Load::plain, Store::plain>>();
}
} // namespace

std::vector<Candidate> shapes_plain() {
    return {plain<32, 32, 64>(),   plain<64, 64, 64>(),    plain<64, 64, 128>(),   plain<64, 64, 256>(),
            plain<128, 32, 128>(), plain<32, 128, 128>(),  plain<256, 32, 256>(),  plain<32, 256, 256>(),
            plain<128, 64, 128>(), plain<128, 64, 256>(),  plain<128, 64, 512>(),  plain<64, 128, 256>(),
            plain<64, 128, 512>(), plain<128, 128, 256>(), plain<128, 128, 512>(), plain<128, 128, 1024>(),
            plain<256, 64, 512>(), plain<64, 256, 512>(),  plain<256, 128, 1024>()};
}

} // namespace tuner

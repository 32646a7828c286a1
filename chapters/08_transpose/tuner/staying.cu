/// @file staying.cu
/// Bulk copies that store whole rows of a tile, and blocks that stay for many tiles.
#include "tile_kernel.cuh"

namespace tuner {

namespace {
template <int rows, int columns, int threads>
Candidate by_rows() {
    return one_tile_candidate<Shape<4, rows, columns, threads, Load::hinted, Store::rows>>();
}
template <int rows, int columns, int threads>
Candidate stays() {
    return many_tiles_candidate<Shape<4, rows, columns, threads, Load::hinted, Store::hinted>>();
}
} // namespace

std::vector<Candidate> row_copies() {
    return {by_rows<64, 64, 256>(),   by_rows<128, 64, 256>(), by_rows<64, 128, 256>(),
            by_rows<128, 128, 512>(), by_rows<256, 64, 512>(), by_rows<512, 32, 512>()};
}

std::vector<Candidate> staying() {
    return {stays<64, 64, 256>(), stays<128, 64, 256>(), stays<64, 128, 256>(), stays<128, 128, 512>(),
            stays<256, 64, 512>()};
}

} // namespace tuner

/// @file modes.cu
/// One shape, all forms of loads and stores, and accesses of 4, 8 and 16 bytes.
#include "tile_kernel.cuh"

namespace tuner {

namespace {
template <Load load, Store store, int words = 4>
Candidate mode() {
    return one_tile_candidate<Shape<words, 64, 64, 256, load, store>>();
}
} // namespace

std::vector<Candidate> access_modes() {
    return {mode<Load::no_allocate, Store::plain>(),
            mode<Load::ahead_128, Store::plain>(),
            mode<Load::ahead_256, Store::plain>(),
            mode<Load::streaming, Store::plain>(),
            mode<Load::plain, Store::streaming>(),
            mode<Load::plain, Store::no_allocate>(),
            mode<Load::plain, Store::through>(),
            mode<Load::streaming, Store::streaming>(),
            mode<Load::plain, Store::plain, 1>(),
            mode<Load::plain, Store::plain, 2>(),
            mode<Load::hinted_128, Store::hinted>(),
            mode<Load::hinted_alone, Store::hinted>(),
            mode<Load::hinted_in_l1, Store::hinted>(),
            mode<Load::hinted_in_l1, Store::plain>(),
            mode<Load::hinted_alone, Store::plain>(),
            mode<Load::hinted_in_l1, Store::plain, 2>(),
            one_tile_candidate<Shape<1, 32, 32, 256, Load::plain, Store::plain>>()};
}

std::vector<Candidate> probes() {
    using Square = Shape<4, 64, 64, 256, Load::plain, Store::plain>;
    using Wide = Shape<4, 128, 128, 512, Load::plain, Store::plain>;
    using Hinted = Shape<4, 64, 64, 256, Load::hinted, Store::hinted>;
    return {probe_candidate<Hinted, Probe::in_place>("tiles stay in place, hinted"),
            probe_candidate<Hinted, Probe::read_only>("reads only, hinted"),
            probe_candidate<Square, Probe::in_place>("tiles stay in place"),
            probe_candidate<Square, Probe::read_only>("reads only"),
            probe_candidate<Square, Probe::write_only>("writes only"),
            probe_candidate<Wide, Probe::in_place>("tiles stay in place"),
            probe_candidate<Wide, Probe::read_only>("reads only"),
            probe_candidate<Wide, Probe::write_only>("writes only")};
}

} // namespace tuner

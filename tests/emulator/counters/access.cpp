// Sectors, wavefronts and bank conflicts against values worked out by hand.

#include "hopper_emulator/counters.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <functional>

using namespace emu;

namespace {

std::array<Address, 32> addresses(const std::function<Address(unsigned)>& of) {
    std::array<Address, 32> a{};
    for (unsigned lane = 0; lane < 32; ++lane)
        a[lane] = of(lane);
    return a;
}

struct Expected {
    unsigned taken, fewest;
};
void require_wavefronts(const std::function<Address(unsigned)>& of, unsigned bytes, Expected expected,
                        LaneMask lanes = all_lanes) {
    const Wavefronts w = shared_wavefronts(addresses(of), lanes, bytes);
    REQUIRE(w.taken == expected.taken);
    REQUIRE(w.fewest == expected.fewest);
}

} // namespace

TEST_CASE("wavefronts of 4-byte accesses") {
    require_wavefronts([](unsigned i) { return 4 * i; }, 4, {1, 1});
    require_wavefronts([](unsigned) { return 64; }, 4, {1, 1}); // One word for all.
    require_wavefronts([](unsigned i) { return 128 * i; }, 4, {32, 1});
    require_wavefronts([](unsigned i) { return 132 * i; }, 4, {1, 1}); // A padded column.
    require_wavefronts([](unsigned i) { return 8 * i; }, 4, {2, 1});
    require_wavefronts([](unsigned i) { return 128 * (i % 4); }, 4, {4, 1});
    require_wavefronts([](unsigned i) { return 128 * i; }, 4, {3, 1}, 0x111);
}

TEST_CASE("wavefronts of narrower accesses: bytes of one word are one word") {
    require_wavefronts([](unsigned i) { return i; }, 1, {1, 1});
    require_wavefronts([](unsigned i) { return 2 * i; }, 2, {1, 1});
    require_wavefronts([](unsigned i) { return 128 * i + 1; }, 1, {32, 1});
}

TEST_CASE("wavefronts of 8- and 16-byte accesses go by halves and quarters of the warp") {
    require_wavefronts([](unsigned i) { return 8 * i; }, 8, {2, 2});
    require_wavefronts([](unsigned i) { return 16 * i; }, 16, {4, 4});
    require_wavefronts([](unsigned i) { return 8 * i; }, 8, {1, 1}, 0x0000ffff);
    require_wavefronts([](unsigned i) { return 128 * i; }, 16, {32, 4});
    require_wavefronts([](unsigned i) { return 16 * i; }, 8, {4, 2});
}

TEST_CASE("sectors of 32 bytes, each once") {
    const auto count = [](const std::function<Address(unsigned)>& of, unsigned bytes,
                          LaneMask lanes = all_lanes) { return global_sectors(addresses(of), lanes, bytes); };
    REQUIRE(count([](unsigned i) { return 4 * i; }, 4) == 4);
    REQUIRE(count([](unsigned i) { return 4096 + 4 * i + 4; }, 4) == 5);
    REQUIRE(count([](unsigned i) { return 128 * i; }, 4) == 32);
    REQUIRE(count([](unsigned i) { return 16 * i; }, 16) == 16);
    REQUIRE(count([](unsigned) { return 4; }, 4) == 1);
    REQUIRE(count([](unsigned i) { return 4 * (31 - i); }, 4) == 4);
    REQUIRE(count([](unsigned i) { return 8 * i; }, 4, 0xff) == 2);
}

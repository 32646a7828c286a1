// Pieces of a footprint that overlap.

#include "happens_before/footprint.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace emu;

namespace {

constexpr Address end = 64;

/// What byte `at` remembers: of all that cover it, the touch that disturbs others most.
Touch touch_at(const std::vector<FootprintPiece>& pieces, Address at, int& count) {
    Touch most = Touch::strong_read;
    count = 0;
    for (const FootprintPiece& each : pieces)
        if (each.begin <= at && at < each.end) {
            most = std::max(most, each.touch);
            ++count;
        }
    return most;
}

} // namespace

TEST_CASE("pieces that overlap become disjoint, and each byte keeps what disturbs others most") {
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
        std::vector<FootprintPiece> pieces(random() % 12);
        for (FootprintPiece& each : pieces) {
            each.begin = random() % (end - 1);
            each.end = each.begin + 1 + random() % (end - each.begin - 1 + 1);
            each.touch = static_cast<Touch>(random() % 5);
            each.line = static_cast<std::uint32_t>(each.touch); // Of equal ones any may be named.
        }
        const auto result = check::disjoint(pieces);
        for (std::size_t i = 1; i < result.size(); ++i)
            REQUIRE(result[i - 1].end <= result[i].begin);
        for (Address at = 0; at < end + 1; ++at) {
            int before = 0, after = 0;
            const Touch most = touch_at(pieces, at, before), kept = touch_at(result, at, after);
            REQUIRE(after == (before ? 1 : 0));
            REQUIRE(kept == most);
        }
    }
}

TEST_CASE("pieces of one instruction side by side become one") {
    const auto result = check::disjoint(
        {{8, 12, Touch::read, 3}, {0, 4, Touch::read, 3}, {4, 8, Touch::read, 3}, {12, 16, Touch::read, 4}});
    REQUIRE(result.size() == 2);
    CHECK(result[0].begin == 0);
    CHECK(result[0].end == 12);
    CHECK(result[1].line == 4);
}

/// @file sync_copy_test.cu
/// The kernels of chapter 1, at all sizes and base addresses: what they write, and that they write nothing
/// else.
#include "sync_copy.cuh"
#include "turnover.cuh"

#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "sizes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <vector>

using namespace sync_copy;
using workbook::Comparison;
using workbook::DeviceBuffer;
using workbook::Guards;

namespace {

using Copy = std::function<void(std::span<const float>, std::span<float>)>;

std::vector<float> reversed_tiles(std::vector<float> values, std::size_t tile) {
    for (std::size_t start = 0; start < values.size(); start += tile)
        std::reverse(values.begin() + static_cast<std::ptrdiff_t>(start),
                     values.begin() + static_cast<std::ptrdiff_t>(std::min(start + tile, values.size())));
    return values;
}

std::vector<float> neighbour_sums(const std::vector<float>& values, std::size_t tile) {
    std::vector<float> sums(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t start = i / tile * tile;
        const std::size_t count = std::min(tile, values.size() - start);
        sums[i] = values[i] + values[start + (i + 1 - start) % count];
    }
    return sums;
}

/// What a result is compared by: every bit of a copy, the value of a sum (whose NaNs depend on the
/// processor).
enum class Compare { bits, values };

/// Runs a copy on random data at one place and compares with `reference(input)`; the input must stay as it
/// was.
template <class Reference>
void check_copy(const Copy& copy, const Reference& reference, std::size_t size, std::size_t offset,
                Compare by = Compare::bits, Guards guards = Guards::filled) {
    const auto input = workbook::random_values<float>(size, size + offset, {.specials = true});
    const DeviceBuffer<float> in(input, offset, guards);
    DeviceBuffer<float> out(size, (offset * 3) % 5, guards); // often aligned otherwise than the input
    out.poison();
    copy(in.span(), out.span());
    const std::vector<float> expected = reference(input);
    const std::vector<float> actual = out.download();
    const Comparison result = by == Compare::bits ? workbook::compare_bits<float>(expected, actual)
                                                  : workbook::compare_near<float>(expected, actual);
    CHECK(result.summary() == "ok");
    CHECK(workbook::compare_bits<float>(input, in.download()).summary() == "ok");
    CHECK(in.check_guards() == "");
    CHECK(out.check_guards() == "");
}

void check_reversing(const Copy& copy, std::size_t tile) {
    for_each_place([&](std::size_t size, std::size_t offset) {
        const auto reference = [&](const auto& input) { return reversed_tiles(input, tile); };
        check_copy(copy, reference, size, offset);
        check_copy(copy, reference, size, offset, Compare::bits, Guards::none);
    });
}

std::vector<unsigned> reversed_words(std::vector<unsigned> words, std::size_t tile) {
    for (auto first = words.begin(); first != words.end(); first += static_cast<std::ptrdiff_t>(tile))
        std::reverse(first, first + static_cast<std::ptrdiff_t>(tile));
    return words;
}

/// move_tiles on `tiles` whole tiles, by `grid` blocks: each element comes from its partner's place.
template <Between between>
void check_moving(unsigned block, unsigned tiles, unsigned grid) {
    CAPTURE(static_cast<int>(between), block, tiles, grid);
    const std::size_t size = std::size_t{block} * tiles;
    const auto input = workbook::random_values<unsigned>(size, size + grid);
    const DeviceBuffer<unsigned> in(input);
    DeviceBuffer<unsigned> out(size);
    out.poison();
    const workbook::LaunchShape shape{
        .grid = grid, .block = block, .dynamic_shared = 2 * block * sizeof(unsigned)};
    workbook::launch(move_tiles<unsigned, between>, shape, in.data(), out.data(), size);
    std::vector<unsigned> expected(size);
    for (unsigned i = 0; i < size; ++i)
        expected[i] = input[i - i % block + partner<between>(i % block, block)];
    CHECK(workbook::compare_bits<unsigned>(expected, out.download()).summary() == "ok");
    CHECK(out.check_guards() == "");
}

} // namespace

TEST_CASE("move_tiles brings every element from its partner's place, whatever the grid") {
    require_device({.compute_major = 8});
    for (const unsigned block : {64u, 256u})
        for (const unsigned grid : {1u, 2u, 5u, 7u}) {
            check_moving<Between::nothing>(block, 7, grid);
            check_moving<Between::warp>(block, 7, grid);
            check_moving<Between::block>(block, 7, grid);
            check_moving<Between::twice>(block, 7, grid);
        }
}

TEST_CASE("watch_tiles moves what move_tiles moves, and notes one tile in sixteen") {
    require_device({.compute_major = 8});
    constexpr unsigned block = 64;
    constexpr unsigned tiles = 200;
    const auto input = workbook::random_values<unsigned>(std::size_t{block} * tiles, 3);
    const DeviceBuffer<unsigned> in(input);
    DeviceBuffer<unsigned> out(input.size());
    DeviceBuffer<Passage> passages(std::vector<Passage>(input.size() / 32));
    out.poison();
    workbook::launch(watch_tiles<unsigned, Between::block>,
                     {.grid = 9, .block = block, .dynamic_shared = 2 * block * sizeof(unsigned)}, in.data(),
                     out.data(), input.size(), passages.data());
    CHECK(workbook::compare_bits<unsigned>(reversed_words(input, block), out.download()).summary() == "ok");
    const std::vector<Passage> found = passages.download();
    int noted = 0;
    for (unsigned warp = 0; warp < found.size(); ++warp) {
        const Passage& passage = found[warp];
        CHECK((passage.begun != 0) == is_watched(warp * 32 / block));
        noted += passage.begun != 0 ? 1 : 0;
        CHECK(passage.begun <= passage.loaded);
        CHECK(passage.loaded <= passage.stored);
    }
    CHECK(noted >= static_cast<int>(found.size()) / 32);
    CHECK(noted <= static_cast<int>(found.size()) / 8);
}

TEST_CASE("one_per_thread reverses tiles of 256") {
    require_device();
    check_reversing(launch_one_per_thread, 256);
}

TEST_CASE("loop_strided reverses tiles, whatever the number per thread") {
    require_device();
    for (const int number : {1, 2, 3, 4, 7})
        check_reversing([=](auto in, auto out) { launch_loop_strided(in, out, number); },
                        256 * static_cast<std::size_t>(number));
}

TEST_CASE("loop_coalesced reverses tiles, whatever the number per thread") {
    require_device();
    for (const int number : {1, 2, 3, 4, 7})
        check_reversing([=](auto in, auto out) { launch_loop_coalesced(in, out, number); },
                        256 * static_cast<std::size_t>(number));
}

TEST_CASE("the loops take tiles of more than 48 KiB") {
    require_device({.dynamic_shared = 50 * 1024});
    const auto reference = [](const auto& input) { return reversed_tiles(input, 256 * 50); };
    check_copy([](auto in, auto out) { launch_loop_strided(in, out, 50); }, reference, 30'000, 0);
    check_copy([](auto in, auto out) { launch_loop_coalesced(in, out, 50); }, reference, 30'000, 1);
}

TEST_CASE("vectorized reverses tiles of 1024, aligned or not") {
    require_device();
    check_reversing(launch_vectorized, 1024);
}

TEST_CASE("without_memcpy_async sums neighbours, whatever the number of batches") {
    require_device();
    const auto reference = [](const auto& input) { return neighbour_sums(input, 256); };
    for (const int batches : {1, 2, 5, 1000})
        for_each_place([&](std::size_t size, std::size_t offset) {
            const auto copy = [=](auto in, auto out) { launch_without_memcpy_async(in, out, batches); };
            check_copy(copy, reference, size, offset, Compare::values);
            check_copy(copy, reference, size, offset, Compare::values, Guards::none);
        });
}

TEST_CASE("a large array, many blocks") {
    require_device();
    constexpr std::size_t size = 1'000'003;
    check_copy(
        launch_one_per_thread, [](const auto& input) { return reversed_tiles(input, 256); }, size, 0);
    check_copy(
        launch_vectorized, [](const auto& input) { return reversed_tiles(input, 1024); }, size, 0);
    check_copy([](auto in, auto out) { launch_without_memcpy_async(in, out, 8); },
               [](const auto& input) { return neighbour_sums(input, 256); }, size, 3, Compare::values);
}

TEST_CASE("random_cycle visits every node once and comes back") {
    for (const std::size_t nodes : {1, 2, 3, 100, 1024}) {
        const auto next = random_cycle(nodes, 8, 5);
        REQUIRE(next.size() == nodes * 8);
        std::set<unsigned> seen;
        unsigned at = 0;
        for (std::size_t step = 0; step < nodes; ++step) {
            CHECK(at % 8 == 0);
            CHECK(seen.insert(at).second);
            at = next[at];
        }
        CHECK(at == 0);
    }
}

TEST_CASE("the probes follow their chains to the right end, at any number of steps") {
    require_device();
    const auto far = random_cycle(3000, 32, 7);
    const DeviceBuffer<unsigned> far_device(far);
    const auto chain = random_cycle(shared_nodes, 1, 8);
    const DeviceBuffer<unsigned> chain_device(chain);
    for (const int steps : {0, 1, 2, 3, 4, 5, 1000, 2999, 3000}) {
        INFO(steps);
        CHECK(launch_chase_global(far_device.span(), steps).end == follow(far, steps));
        CHECK(launch_chase_shared(chain_device.span(), steps).end == follow(chain, steps));
        unsigned expected = 1;
        for (int step = 0; step < steps; ++step)
            expected = expected * 5 + 1;
        CHECK(launch_chase_registers(5, steps).end == expected);
    }
}

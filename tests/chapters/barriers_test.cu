/// @file barriers_test.cu
/// The kernels of chapter 3, at all sizes and base addresses: what they write, and that they write nothing
/// else.
#include "barriers.cuh"
#include "host_barrier.hpp"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "sizes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

using namespace barriers;
using workbook::DeviceBuffer;

namespace {

using Map = std::function<void(std::span<const unsigned>, std::span<unsigned>)>;
using Reference = std::function<std::vector<unsigned>(const std::vector<unsigned>&)>;

constexpr workbook::DeviceNeeds hopper{.compute_major = 9};

/// Runs a kernel on random data at one place; every bit counts.
void check_map(const Map& map, const Reference& reference, std::size_t size, std::size_t offset) {
    const auto input = workbook::random_values<unsigned>(size, size + offset);
    const DeviceBuffer<unsigned> in(input, offset);
    DeviceBuffer<unsigned> out(size, (offset * 3) % 5);
    out.poison();
    map(in.span(), out.span());
    CHECK(workbook::compare_bits<unsigned>(reference(input), out.download()).summary() == "ok");
    CHECK(out.check_guards() == "");
}

void check_map(const Map& map, const Reference& reference) {
    require_device(hopper);
    for_each_place([&](std::size_t size, std::size_t offset) { check_map(map, reference, size, offset); });
}

Reference reversing(std::size_t tile) {
    return [=](const auto& values) { return workbook::reversed_tiles(values, tile); };
}

/// One step to the left within tiles, `places` times.
std::vector<unsigned> rotated(std::vector<unsigned> values, std::size_t tile, std::size_t places) {
    for (std::size_t start = 0; start < values.size(); start += tile) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(start);
        const auto count = static_cast<std::ptrdiff_t>(std::min(tile, values.size() - start));
        for (std::size_t k = 0; k < places; ++k)
            std::rotate(first, first + 1, first + count);
    }
    return values;
}

std::vector<unsigned> block_sums(const std::vector<unsigned>& values) {
    std::vector<unsigned> sums((values.size() + block_threads - 1) / block_threads, 0);
    for (std::size_t i = 0; i < values.size(); ++i)
        sums[i / block_threads] += values[i];
    return sums;
}

using PairSum = void (*)(std::span<const unsigned>, std::span<const unsigned short>, std::span<unsigned>);

void check_pair_sum(PairSum launch, std::size_t size, std::size_t aligned_steps) {
    const auto values = workbook::random_values<unsigned>(size, size + aligned_steps);
    const auto codes = workbook::random_values<unsigned short>(size, size + aligned_steps + 1);
    const DeviceBuffer<unsigned> values_in(values, 4 * aligned_steps); // steps of 16 bytes
    const DeviceBuffer<unsigned short> codes_in(codes, 8 * aligned_steps);
    DeviceBuffer<unsigned> out(size, 1);
    out.poison();
    launch(values_in.span(), codes_in.span(), out.span());
    std::vector<unsigned> sums = values;
    for (std::size_t i = 0; i < size; ++i)
        sums[i] += codes[i];
    const auto expected = workbook::reversed_tiles(sums, pair_tile);
    CHECK(workbook::compare_bits<unsigned>(expected, out.download()).summary() == "ok");
    CHECK(out.check_guards() == "");
}

void check_pair_sum(PairSum launch) {
    require_device(hopper);
    for (const std::size_t size : test_sizes)
        for (const std::size_t steps : {0u, 1u, 3u}) {
            INFO("size " << size << ", " << steps << " times 16 bytes off");
            check_pair_sum(launch, size, steps);
        }
    for (std::size_t size = 6; size <= 24; ++size) {
        INFO("size " << size);
        check_pair_sum(launch, size, 0);
    }
}

} // namespace

TEST_CASE("threads of the host rotate their values with std::barrier") {
    for (const std::size_t count : {0u, 1u, 2u, 3u, 8u, 17u})
        for (const unsigned iterations : {0u, 1u, 2u, 9u, 100u}) {
            INFO(count << " threads, " << iterations << " iterations");
            std::vector<unsigned> values = workbook::random_values<unsigned>(count, count);
            const auto expected = rotated(values, 17, iterations);
            rotate_with_threads(values, iterations);
            CHECK(values == expected);
        }
}

TEST_CASE("simple_sync rotates tiles, whatever the number of iterations") {
    require_device(hopper);
    for (const unsigned iterations : {0u, 1u, 2u, 7u})
        check_map([=](auto in, auto out) { launch_simple_sync(in, out, iterations); },
                  [=](const auto& values) { return rotated(values, block_threads, iterations); });
}

TEST_CASE("vote_at_barrier counts, and knows all and any") {
    require_device(hopper);
    for (const std::size_t size : test_sizes)
        for (const unsigned mask : {0u, 1u, ~0u}) { // all even, all odd, anything
            INFO("size " << size << ", mask " << mask);
            std::vector<unsigned> values = workbook::random_values<unsigned>(size, size);
            for (unsigned& value : values)
                value = mask == ~0u ? value : value / 2 * 2 + mask;
            const DeviceBuffer<unsigned> in(values);
            DeviceBuffer<Votes> votes((size + block_threads - 1) / block_threads);
            votes.poison();
            launch_vote_at_barrier(in.span(), votes.span());
            for (unsigned& value : values)
                value %= 2;
            const std::vector<unsigned> counts = block_sums(values);
            const std::vector<Votes> actual = votes.download();
            for (std::size_t block = 0; block < counts.size(); ++block) {
                CHECK(actual[block].count == static_cast<int>(counts[block]));
                CHECK((actual[block].all != 0) == (counts[block] == block_threads));
                CHECK((actual[block].any != 0) == (counts[block] > 0));
            }
            CHECK(votes.check_guards() == "");
        }
}

TEST_CASE("sync_one_warp reverses pieces of 32") { check_map(launch_sync_one_warp, reversing(32)); }

TEST_CASE("hand_over reverses tiles of 128") { check_map(launch_hand_over<Fence::block>, reversing(128)); }

TEST_CASE("hand_over is right with every fence of CUDA and of libcu++") {
    require_device(hopper);
    for (const auto launch : {launch_hand_over<Fence::device>, launch_hand_over<Fence::system>,
                              launch_hand_over<Fence::cuda_block>, launch_hand_over<Fence::cuda_device>,
                              launch_hand_over<Fence::cuda_system>})
        for (const std::size_t size : {1u, 127u, 129u, 12'345u}) {
            INFO("size " << size);
            check_map(launch, reversing(128), size, 1);
        }
}

TEST_CASE("last_block_sums sums everything, launch after launch") {
    require_device(hopper);
    for (const std::size_t size : test_sizes) {
        if (size == 0)
            continue; // no block, no sum
        INFO("size " << size);
        const auto values = workbook::random_values<unsigned>(size, size);
        const DeviceBuffer<unsigned> in(values);
        DeviceBuffer<unsigned> partial((size + block_threads - 1) / block_threads);
        DeviceBuffer<unsigned> taken(std::vector<unsigned>{0});
        for (int launch = 0; launch < 2; ++launch) {
            DeviceBuffer<unsigned> total(1);
            total.poison();
            launch_last_block_sums(in.span(), partial.span(), taken.data(), total.data());
            CHECK(total.download().front() == std::accumulate(values.begin(), values.end(), 0u));
            CHECK(total.check_guards() == "");
        }
        CHECK(partial.check_guards() == "");
    }
}

TEST_CASE("split_arrive_wait combines own work with the opposite element") {
    check_map(launch_split_arrive_wait, [](const auto& values) {
        std::vector<unsigned> expected = workbook::reversed_tiles(values, block_threads);
        for (std::size_t i = 0; i < values.size(); ++i)
            expected[i] ^= own_work(values[i]);
        return expected;
    });
}

TEST_CASE("with_barrier sums neighbours, whatever the number of batches") {
    for (const unsigned batches : {1u, 2u, 5u})
        check_map(
            [=](auto in, auto out) { launch_with_barrier(in, out, batches); },
            [](const auto& values) { return workbook::neighbour_sums<unsigned>(values, block_threads); });
}

TEST_CASE("drop_out sums blocks") {
    require_device(hopper);
    for_each_place([](std::size_t size, std::size_t offset) {
        const auto values = workbook::random_values<unsigned>(size, size + offset);
        const DeviceBuffer<unsigned> in(values, offset);
        const auto expected = block_sums(values);
        DeviceBuffer<unsigned> sums(expected.size());
        sums.poison();
        launch_drop_out(in.span(), sums.span());
        CHECK(workbook::compare_bits<unsigned>(expected, sums.download()).summary() == "ok");
        CHECK(sums.check_guards() == "");
    });
}

TEST_CASE("two_copies_one_barrier adds values and codes") { check_pair_sum(launch_two_copies_one_barrier); }
TEST_CASE("two_copies_native_handle adds values and codes") {
    check_pair_sum(launch_two_copies_native_handle);
}

TEST_CASE("bulk copies refuse inputs that are not 16-byte aligned, or not of one size") {
    require_device(hopper);
    const DeviceBuffer<unsigned> values(64);
    const DeviceBuffer<unsigned short> codes(64);
    DeviceBuffer<unsigned> out(64);
    const auto launch = launch_two_copies_one_barrier;
    const auto all = values.span();
    const auto all_codes = codes.span();
    CHECK_THROWS_AS(launch(all.subspan(1), all_codes.first(63), out.span()), std::invalid_argument);
    CHECK_THROWS_AS(launch(all.first(60), all_codes.subspan(4), out.span()), std::invalid_argument);
    CHECK_THROWS_AS(launch(all, all_codes.first(63), out.span()), std::invalid_argument);
    CHECK_NOTHROW(launch(all.subspan(8), all_codes.subspan(8), out.span()));
}

TEST_CASE("producer_consumer reverses tiles of 512") {
    check_map(launch_producer_consumer, reversing(buffer_size));
}

TEST_CASE("producer_consumer_mbarrier reverses tiles of 512") {
    check_map(launch_producer_consumer_mbarrier, reversing(buffer_size));
}

TEST_CASE("complete_by_group and complete_by_mbarrier reverse tiles of 256") {
    check_map(launch_complete_by_group, reversing(block_threads));
    check_map(launch_complete_by_mbarrier, reversing(block_threads));
}

TEST_CASE("a large array, many blocks") {
    require_device(hopper);
    constexpr std::size_t size = 1'000'003;
    check_map(
        launch_split_arrive_wait,
        [](const auto& values) {
            std::vector<unsigned> expected = workbook::reversed_tiles(values, block_threads);
            for (std::size_t i = 0; i < values.size(); ++i)
                expected[i] ^= own_work(values[i]);
            return expected;
        },
        size, 1);
    check_map(launch_producer_consumer_mbarrier, reversing(buffer_size), size, 0);
    check_pair_sum(launch_two_copies_native_handle, size, 0);
}

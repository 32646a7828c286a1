/// @file tma_1d_test.cu
/// The kernels of chapter 5, at all sizes and base addresses: what they write, and that they write nothing
/// else.
#include "copy_paths.cuh"
#include "issuers.cuh"
#include "tma_1d.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "sizes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

using namespace tma_1d;
using workbook::DeviceBuffer;
using workbook::Guards;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9};

std::vector<int> random_ints(std::size_t size, std::uint64_t seed) {
    return workbook::random_integers<int>(size, seed, -1'000'000, 1'000'000);
}

/// Runs one spelling of add_one on random data and checks each element and the guard zones.
template <class AddOne>
void check_add_one(const AddOne& add_one, std::size_t size, std::size_t offset,
                   Guards guards = Guards::filled) {
    std::vector<int> values = random_ints(size, size + offset);
    DeviceBuffer<int> data(values, offset, guards);
    add_one(data.span());
    for (int& value : values)
        value += 1;
    CHECK(workbook::compare_bits<int>(values, data.download()).summary() == "ok");
    CHECK(data.check_guards() == "");
}

template <class AddOne>
void check_add_one_everywhere(const AddOne& add_one) {
    for_each_place([&](std::size_t size, std::size_t offset) {
        check_add_one(add_one, size, offset);
        check_add_one(add_one, size, offset, Guards::none);
    });
    check_add_one(add_one, 1'000'003, 0);
}

using Axpy = void (*)(float, std::span<const float>, std::span<float>);

void check_axpy(Axpy axpy, std::size_t size, std::size_t x_offset, std::size_t y_offset,
                Guards guards = Guards::filled) {
    const auto x_host = workbook::random_values<float>(size, size + x_offset, {.specials = true});
    auto expected = workbook::random_values<float>(size, size + y_offset + 100, {.specials = true});
    const DeviceBuffer<float> x(x_host, x_offset, guards);
    DeviceBuffer<float> y(expected, y_offset, guards);
    axpy(-0.3f, x.span(), y.span());
    for (std::size_t i = 0; i < size; ++i)
        expected[i] = std::fma(-0.3f, x_host[i], expected[i]);
    CHECK(workbook::compare_near<float>(expected, y.download()).summary() == "ok");
    CHECK(workbook::compare_bits<float>(x_host, x.download()).summary() == "ok");
    CHECK(x.check_guards() == "");
    CHECK(y.check_guards() == "");
}

/// x and y alike and unlike within their 16 bytes.
void check_axpy_everywhere(Axpy axpy) {
    for_each_place([&](std::size_t size, std::size_t offset) {
        check_axpy(axpy, size, offset, offset);
        check_axpy(axpy, size, offset, offset, Guards::none);
        check_axpy(axpy, size, offset, (offset + 1) % 4);
    });
}

void check_sum_tiles(std::size_t size, std::size_t offset, std::size_t totals_offset,
                     Guards guards = Guards::filled) {
    const std::vector<int> values = random_ints(size, size + offset);
    const std::vector<int> before = random_ints(tile_elements, 3);
    std::vector<unsigned> sums(before.begin(), before.end());
    for (std::size_t i = 0; i < size; ++i)
        sums[i % tile_elements] += static_cast<unsigned>(values[i]);
    const DeviceBuffer<int> data(values, offset, guards);
    DeviceBuffer<int> totals(before, totals_offset, guards);
    launch_sum_tiles(data.span(), totals.span());
    const std::vector<int> expected(sums.begin(), sums.end());
    CHECK(workbook::compare_bits<int>(expected, totals.download()).summary() == "ok");
    CHECK(totals.check_guards() == "");
}

} // namespace

TEST_CASE("split_for_bulk cuts at 16 bytes and loses nothing") {
    alignas(16) static int storage[64];
    for (std::size_t offset = 0; offset < 8; ++offset)
        for (std::size_t size = 0; size < 20; ++size) {
            INFO("size " << size << ", offset " << offset);
            const std::span<int> all(storage + offset, size);
            const BulkParts<int> parts = split_for_bulk(all);
            CHECK(parts.head.size() + parts.body.size() + parts.tail.size() == size);
            CHECK(parts.head.data() == all.data());
            CHECK(parts.body.data() == all.data() + parts.head.size());
            CHECK(parts.tail.data() == parts.body.data() + parts.body.size());
            CHECK(parts.body.size() % 4 == 0);
            CHECK((parts.body.empty() || reinterpret_cast<std::uintptr_t>(parts.body.data()) % 16 == 0));
            CHECK(parts.head.size() < 4);
            CHECK(parts.tail.size() < 4);
        }
}

TEST_CASE("add_one with cuda::memcpy_async") {
    require_device(hopper);
    check_add_one_everywhere(launch_add_one_memcpy_async);
}

TEST_CASE("add_one with cuda::device::memcpy_async_tx") {
    require_device(hopper);
    check_add_one_everywhere(launch_add_one_memcpy_async_tx);
}

TEST_CASE("add_one with cuda::ptx") {
    require_device(hopper);
    check_add_one_everywhere(launch_add_one_ptx);
}

TEST_CASE("add_one with several tiles per block") {
    require_device(hopper);
    check_add_one_everywhere(launch_add_one_loop);
}

TEST_CASE("add_one with the next tile prefetched") {
    require_device(hopper);
    check_add_one_everywhere(launch_add_one_prefetch);
}

TEST_CASE("add_one from registers, with the next tile on its way into the same place") {
    require_device(hopper);
    check_add_one_everywhere(launch_add_one_from_registers);
}

TEST_CASE("whoever issues, the tile is loaded once and reversed") {
    require_device(hopper);
    for (const auto kernel :
         {issue_first_thread, issue_elected, issue_one_of_block, issue_one_of_warp, issue_one_of_coalesced})
        for (const std::size_t size : {0, 4, 1020, 1024, 1028, 10'000}) {
            INFO("size " << size);
            const std::vector<int> values = random_ints(size, size + 3);
            const DeviceBuffer<int> in(values, 4);
            DeviceBuffer<int> out(size, 3);
            out.poison();
            launch_issue(kernel, in.span(), out.span());
            CHECK(workbook::compare_bits<int>(workbook::reversed_tiles(values, tile_elements), out.download())
                      .summary() == "ok");
            CHECK(out.check_guards() == "");
        }
}

TEST_CASE("launch_issue refuses what no bulk copy can take") {
    require_device(hopper);
    const DeviceBuffer<int> in(std::vector<int>(8, 1), 1);
    DeviceBuffer<int> out(8);
    CHECK_THROWS_AS(launch_issue(issue_elected, in.span().first(4), out.span()), std::invalid_argument);
    CHECK_THROWS_AS(launch_issue(issue_elected, in.span().subspan(3, 3), out.span()), std::invalid_argument);
    CHECK_NOTHROW(launch_issue(issue_elected, in.span().subspan(3, 4), out.span()));
}

TEST_CASE("add_one_at_offset changes its tile and nothing else") {
    require_device(hopper);
    for (const std::size_t offset : {0, 4, 8, 1020, 1024, 2000})
        for (const std::size_t count : {0, 4, 128, 1000, 1024}) {
            INFO("offset " << offset << ", count " << count);
            std::vector<int> values = random_ints(4000, offset + count);
            DeviceBuffer<int> data(values);
            launch_add_one_at_offset(data.span(), offset, count);
            for (std::size_t i = offset; i < offset + count; ++i)
                values[i] += 1;
            CHECK(workbook::compare_bits<int>(values, data.download()).summary() == "ok");
            CHECK(data.check_guards() == "");
        }
}

TEST_CASE("add_one_at_offset refuses a tile that is misplaced, too large or outside") {
    require_device(hopper);
    DeviceBuffer<int> data(4000);
    const auto call = [&](std::size_t offset, std::size_t count) {
        launch_add_one_at_offset(data.span(), offset, count);
    };
    CHECK_THROWS_AS(call(1, 4), std::invalid_argument);
    CHECK_THROWS_AS(call(0, 5), std::invalid_argument);
    CHECK_THROWS_AS(call(0, 1028), std::invalid_argument);
    CHECK_THROWS_AS(call(3996, 8), std::invalid_argument);
    CHECK_THROWS_AS(call(4004, 0), std::invalid_argument);
    DeviceBuffer<int> shifted(4000, 1);
    CHECK_THROWS_AS(launch_add_one_at_offset(shifted.span(), 0, 4), std::invalid_argument);
    CHECK_NOTHROW(launch_add_one_at_offset(shifted.span(), 3, 4));
}

TEST_CASE("copy_by_ring reverses the chunks of each whole tile and copies the rest") {
    require_device(hopper);
    constexpr std::size_t tile = copy_paths::ring_tile_bytes / sizeof(int);
    constexpr std::size_t chunk = copy_paths::chunk_bytes / sizeof(int);
    // A block takes four tiles, two laps of its ring; some sizes leave the last block fewer.
    for (const std::size_t size : {0, 1, 3, 4, 1023, 1024, 1025, 1028, 4096, 5120, 12'345, 100'001}) {
        INFO("size " << size);
        const std::vector<int> values = random_ints(size, size + 7);
        std::vector<int> expected = values;
        for (std::size_t i = 0; i < size / tile * tile; ++i) {
            const std::size_t in_tile = i % tile;
            expected[i] = values[i - in_tile + (tile - chunk - in_tile / chunk * chunk) + in_tile % chunk];
        }
        for (const std::size_t offset : {0, 4}) {
            const DeviceBuffer<int> in(values, offset);
            DeviceBuffer<int> out(size, 4 - offset);
            out.poison();
            copy_paths::launch_copy_by_ring(in.span(), out.span());
            CHECK(workbook::compare_bits<int>(expected, out.download()).summary() == "ok");
            CHECK(out.check_guards() == "");
        }
    }
}

TEST_CASE("copy_by_ring refuses what does not begin at a multiple of 16 bytes") {
    require_device(hopper);
    const DeviceBuffer<int> in(std::vector<int>(2048, 1), 1);
    DeviceBuffer<int> out(2048);
    const auto call = [&](std::span<const int> from, std::span<int> to) {
        copy_paths::launch_copy_by_ring(from, to);
    };
    CHECK_THROWS_AS(call(in.span().first(1024), out.span()), std::invalid_argument);
    CHECK_THROWS_AS(call(in.span().subspan(3, 1024), out.span().subspan(1, 1024)), std::invalid_argument);
    CHECK_NOTHROW(call(in.span().subspan(3, 1024), out.span().first(1024)));
}

TEST_CASE("axpy_ring at all sizes and places") {
    require_device(hopper);
    check_axpy_everywhere(launch_axpy_ring);
}

TEST_CASE("axpy_full_empty at all sizes and places") {
    require_device(hopper);
    check_axpy_everywhere(launch_axpy_full_empty);
}

TEST_CASE("the rings of axpy go around several times") {
    require_device(hopper);
    for (const Axpy axpy : {launch_axpy_ring, launch_axpy_full_empty}) {
        check_axpy(axpy, 1'000'003, 0, 0);
        check_axpy(axpy, tile_elements * 3 * stages * 2, 4, 8);
    }
}

TEST_CASE("axpy_full_empty at random sizes and places") {
    require_device(hopper);
    const auto draws = workbook::random_integers<int>(40, 5, 0, 1'000'000);
    for (std::size_t i = 0; i < draws.size(); i += 2) {
        const auto size = static_cast<std::size_t>(draws[i] % 150'000);
        const auto offset = static_cast<std::size_t>(draws[i + 1] % 8);
        INFO("size " << size << ", offset " << offset);
        check_axpy(launch_axpy_full_empty, size, offset, offset + 4);
    }
}

TEST_CASE("sum_tiles adds every tile to what was there") {
    require_device(hopper);
    for_each_place([](std::size_t size, std::size_t offset) {
        check_sum_tiles(size, offset, offset % 3 == 2 ? 1 : 0);
        check_sum_tiles(size, offset, offset % 3 == 2 ? 1 : 0, Guards::none);
    });
    check_sum_tiles(1'000'003, 0, 0);
}

TEST_CASE("sum_tiles wraps around, as 32-bit addition does") {
    require_device(hopper);
    const DeviceBuffer<int> data(std::vector<int>(2 * tile_elements, std::numeric_limits<int>::max()));
    DeviceBuffer<int> totals(std::vector<int>(tile_elements, 5));
    launch_sum_tiles(data.span(), totals.span());
    CHECK(totals.download() == std::vector<int>(tile_elements, 3));
}

TEST_CASE("sum_tiles refuses totals of another size") {
    require_device(hopper);
    DeviceBuffer<int> totals(tile_elements - 1);
    CHECK_THROWS_AS(launch_sum_tiles({}, totals.span()), std::invalid_argument);
}

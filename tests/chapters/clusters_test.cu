/// @file clusters_test.cu
/// The kernels of chapter 9, at all sizes and cluster sizes: what they write, and that they write nothing
/// else.
#include "bench_rings.cuh"
#include "clusters.cuh"
#include "multicast_ring.cuh"
#include "references.hpp"
#include "remote_async.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "backend.hpp"
#include "device_case.hpp"
#include "sizes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

using namespace clusters;
using workbook::DeviceBuffer;
using workbook::Guards;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9, .cluster_size = 2};

/// Cluster sizes of 2 and more that this device can run; 3 is no power of two and allowed all the same.
std::vector<int> runnable_sizes() {
    std::vector<int> sizes{2, 3, 4, 8};
    if (max_active_clusters(largest_cluster) > 0)
        sizes.push_back(largest_cluster);
    return sizes;
}

std::vector<unsigned> random_words(std::size_t size, std::uint64_t seed) {
    return workbook::random_values<unsigned>(size, seed);
}

template <class T>
void check_result(const std::vector<T>& expected, const DeviceBuffer<T>& buffer) {
    CHECK(workbook::compare_bits<T>(expected, buffer.download()).summary() == "ok");
    CHECK(buffer.check_guards() == "");
}

/// Calls `test(size, offset, cluster_size, guards)` for some sizes.
template <class Test>
void for_some_sizes(int cluster_size, Test test) {
    for (const std::size_t size : {0, 1, 255, 257, 1024, 4097, 70'001}) {
        INFO("size " << size << ", cluster of " << cluster_size);
        test(size, 0, cluster_size, Guards::filled);
    }
}

/// The same for clusters of two and more blocks: all sizes and offsets with clusters of four, some sizes with
/// the others.
template <class Test>
void for_each_real_cluster(Test test) {
    for_each_place([&](std::size_t size, std::size_t offset) {
        test(size, offset, 4, Guards::filled);
        test(size, offset, 4, Guards::none);
    });
    for (const int cluster_size : runnable_sizes())
        for_some_sizes(cluster_size, test);
}

/// The same for clusters of one block too.
template <class Test>
void for_each_cluster(Test test) {
    for_some_sizes(1, test);
    for_each_real_cluster(test);
}

/// What checks a kernel that makes words from words; `reference(values, cluster_size)` gives the expected
/// ones.
template <class Launch, class Reference>
auto words_check(Launch launch, Reference reference) {
    return [=](std::size_t size, std::size_t offset, int cluster_size, Guards guards) {
        const std::vector<unsigned> values = random_words(size, size + offset);
        const std::vector<unsigned> expected = reference(values, cluster_size);
        const DeviceBuffer<unsigned> in(values, offset, guards);
        DeviceBuffer<unsigned> out(expected.size(), offset, guards);
        out.poison();
        launch(in.span(), out.span(), cluster_size);
        check_result(expected, out);
        check_result(values, in);
    };
}

template <class Launch, class Reference>
void check_words(Launch launch, Reference reference) {
    for_each_cluster(words_check(launch, reference));
}

} // namespace

TEST_CASE("neighbour_variable: each block receives from the left and reads back from the right") {
    require_device(hopper);
    for (const std::size_t size : {0, 1, 2, 3, 4, 5, 63, 64, 1000}) {
        INFO(size);
        const std::vector<unsigned> values = random_words(size, size);
        const DeviceBuffer<unsigned> in(values);
        DeviceBuffer<Exchange> seen(size);
        seen.poison();
        launch_neighbour_variable(in.span(), seen.span());
        check_result(exchanges(values), seen);
    }
}

TEST_CASE("initialise_sync_use_sync reverses the chunks of clusters") {
    require_device(hopper);
    for_each_cluster([](std::size_t size, std::size_t offset, int cluster_size, Guards guards) {
        const auto values = workbook::random_values<float>(size, size + offset, {.specials = true});
        const DeviceBuffer<float> in(values, offset, guards);
        DeviceBuffer<float> out(size, offset, guards);
        out.poison();
        launch_initialise_sync_use_sync(in.span(), out.span(), cluster_size);
        check_result(workbook::reversed_tiles(values, chunk_elements(cluster_size)), out);
    });
}

TEST_CASE("split_arrive_wait adds what it loaded while the others arrived") {
    require_device(hopper);
    for_each_cluster([](std::size_t size, std::size_t offset, int cluster_size, Guards guards) {
        const auto x_host = workbook::random_values<float>(size, size + offset, {.specials = true});
        const auto y_host = workbook::random_values<float>(size, size + offset + 1, {.specials = true});
        const DeviceBuffer<float> x(x_host, offset, guards);
        const DeviceBuffer<float> y(y_host, offset, guards);
        DeviceBuffer<float> sums(size, offset, guards);
        sums.poison();
        launch_split_arrive_wait(x.span(), y.span(), sums.span(), cluster_size);
        const std::vector<float> expected = reversed_plus(x_host, y_host, cluster_size);
        CHECK(workbook::compare_near<float>(expected, sums.download()).summary() == "ok");
        CHECK(sums.check_guards() == "");
    });
}

TEST_CASE("ring_exchange shows every tile to every block, in order") {
    require_device(hopper);
    check_words(launch_ring_exchange, ring_results);
}

TEST_CASE("cluster_sum and remote_arrive make one sum per cluster") {
    require_device(hopper);
    check_words(launch_cluster_sum, chunk_sums);
    check_words(launch_remote_arrive, chunk_sums);
}

TEST_CASE("store_async and bulk_to_neighbour move tiles one block to the right") {
    require_device(hopper);
    for_each_real_cluster(words_check(launch_store_async, shifted_tiles));
    for_each_real_cluster(words_check(launch_bulk_to_neighbour, shifted_tiles));
}

TEST_CASE("store_async and bulk_to_neighbour in a cluster of one block move its tile to itself") {
    require_device(hopper);
    if (!test_support::environment_variable("WORKBOOK_MEMCHECK").empty())
        SKIP("memcheck calls st.async in a cluster of one block an error; an H200 executes it as meant");
    for_some_sizes(1, words_check(launch_store_async, shifted_tiles));
    for_some_sizes(1, words_check(launch_bulk_to_neighbour, shifted_tiles));
}

TEST_CASE("multicast_tile and tile_for_each bring the same tile to every block") {
    require_device(hopper);
    check_words(launch_multicast_tile, turned_copies);
    check_words(launch_tile_for_each, turned_copies);
}

namespace {

/// Streams arrays of several sizes, up to 94, 7 and 12 batches, through rings of several shapes; every block
/// must see all of it, whether stages are used once, often, or never.
void check_stream(void (*launch)(std::span<const unsigned>, std::span<unsigned>, BatchRing, int)) {
    for (const int cluster_size : {2, 8})
        for (const BatchRing ring : {BatchRing{32, 2}, BatchRing{1024, 3}, BatchRing{256, 48}})
            for (const std::size_t size : {0, 31, 1024, ring.words == 1024 ? 7003 : 3003})
                for (const std::size_t offset : {0, 1}) { // with 1 no bulk copy can take it
                    INFO("size " << size << ", offset " << offset << ", cluster of " << cluster_size << ", "
                                 << ring.stages << " stages of " << ring.words << " words");
                    const std::vector<unsigned> values = random_words(size, size + 1);
                    const auto blocks = static_cast<std::size_t>(2 * cluster_size);
                    std::vector<unsigned> expected = random_words(blocks, 3);
                    const DeviceBuffer<unsigned> in(values, offset, Guards::filled);
                    DeviceBuffer<unsigned> sums(expected, 0, Guards::filled);
                    for (unsigned& sum : expected)
                        sum = std::accumulate(values.begin(), values.end(), sum);
                    launch(in.span(), sums.span(), ring, cluster_size);
                    check_result(expected, sums);
                }
}

} // namespace

TEST_CASE("stream_multicast: every block sees every batch, each loading a share for all") {
    require_device(hopper);
    check_stream(launch_stream_multicast);
}

TEST_CASE("stream_batches: every block sees every batch, each loading for itself") {
    require_device(hopper);
    check_stream(launch_stream_batches<Loads::alone, Handover::plain>);
    check_stream(launch_stream_batches<Loads::alone, Handover::letter>);
}

TEST_CASE("stream_batches by multicast, stages handed back by production code's arrival") {
    require_device(hopper);
    check_stream(launch_stream_batches<Loads::shared, Handover::plain>);
    check_stream(launch_stream_batches<Loads::shared, Handover::gathered>);
}

TEST_CASE("stream_batches by multicast, stages handed back by the letter of PTX") {
    require_device(hopper);
    check_stream(launch_stream_batches<Loads::shared, Handover::wait_cluster>);
    check_stream(launch_stream_batches<Loads::shared, Handover::letter>);
    check_stream(launch_stream_batches<Loads::shared, Handover::gathered_letter>);
}

TEST_CASE("stream_multicast refuses batches that cannot be shared, and blocks that are no whole clusters") {
    require_device(hopper);
    DeviceBuffer<unsigned> sums(8);
    const auto stream = [&](BatchRing ring, std::size_t blocks) {
        launch_stream_multicast({}, sums.span().first(blocks), ring, 4);
    };
    CHECK_THROWS_AS(stream({1000, 2}, 8), std::invalid_argument); // 1000 words are no 16 bytes for each of 4
    CHECK_THROWS_AS(stream({0, 2}, 8), std::invalid_argument);
    CHECK_THROWS_AS(stream({1024, 0}, 8), std::invalid_argument);
    CHECK_THROWS_AS(stream({16, most_stages + 1}, 8), std::invalid_argument);
    CHECK_THROWS_AS(stream({1024, 2}, 6), std::invalid_argument);
}

TEST_CASE("multicast refuses an output that is not one copy per block") {
    require_device(hopper);
    const DeviceBuffer<unsigned> in(random_words(100, 1));
    DeviceBuffer<unsigned> out(399);
    CHECK_THROWS_AS(launch_multicast_tile(in.span(), out.span(), 4), std::invalid_argument);
    CHECK_THROWS_AS(launch_tile_for_each(in.span(), out.span(), 4), std::invalid_argument);
}

TEST_CASE("histogram adds every value to its bin, wherever that is") {
    require_device(hopper);
    for_each_cluster([](std::size_t size, std::size_t offset, int cluster_size, Guards guards) {
        const std::vector<unsigned> values = random_words(size, size + offset);
        const std::vector<unsigned> before = random_words(bin_count, 9);
        std::vector<unsigned> expected = counts(values);
        for (std::size_t bin = 0; bin < expected.size(); ++bin)
            expected[bin] += before[bin];
        const DeviceBuffer<unsigned> in(values, offset, guards);
        DeviceBuffer<unsigned> bins(before, offset, guards);
        launch_histogram(in.span(), bins.span(), cluster_size);
        check_result(expected, bins);
    });
}

TEST_CASE("histogram with every value in the first bin, and in the last") {
    require_device(hopper);
    for (const unsigned value : {0u, 0xffffffffu})
        for (const int cluster_size : runnable_sizes()) {
            const std::vector<unsigned> values(10'000, value);
            const DeviceBuffer<unsigned> in(values);
            DeviceBuffer<unsigned> bins(std::vector<unsigned>(bin_count, 0));
            launch_histogram(in.span(), bins.span(), cluster_size);
            std::vector<unsigned> expected(bin_count);
            expected[value == 0 ? 0 : bin_count - 1] = 10'000;
            check_result(expected, bins);
        }
}

TEST_CASE("sizes that no cluster has, and arrays of the wrong size, are refused") {
    require_device(hopper);
    DeviceBuffer<unsigned> bins(bin_count - 1);
    CHECK_THROWS_AS(launch_histogram({}, bins.span(), 4), std::invalid_argument);
    CHECK_THROWS_AS(cluster_shape(1, 0), std::invalid_argument);
    CHECK_THROWS_AS(cluster_shape(1, 17), std::invalid_argument);
    CHECK(cluster_shape(1, 8).non_portable_cluster == false);
    CHECK(cluster_shape(1, 9).non_portable_cluster == true);
}

TEST_CASE("the chain through a block's memory ends where it should, whoever owns it") {
    require_device(hopper);
    for (const int steps : {0, 1, 2, 1000, chain_nodes}) {
        unsigned expected = 0;
        for (int step = 0; step < steps; ++step)
            expected = next_node(expected);
        for (int owner = 0; owner < 4; ++owner)
            CHECK(launch_chase_dsmem(steps, owner, 4).end == expected);
        CHECK((steps != chain_nodes || expected == 0)); // the chain visits every node and comes back
    }
    CHECK_THROWS_AS(launch_chase_dsmem(1, 4, 4), std::invalid_argument);
    CHECK_THROWS_AS(launch_chase_dsmem(1, -1, 4), std::invalid_argument);
}

TEST_CASE("the larger the cluster, the fewer run at a time") {
    require_device(hopper);
    int previous = max_active_clusters(1);
    CHECK(previous > 0);
    for (const int cluster_size : {2, 4, 8, 16}) {
        const int active = max_active_clusters(cluster_size);
        CHECK(active <= previous);
        CHECK((active > 0 || cluster_size > portable_cluster));
        previous = active;
    }
}

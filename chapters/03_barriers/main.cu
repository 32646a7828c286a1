/// @file main.cu
/// Chapter 3: barriers and fences, checked and measured.
#include "barriers.cuh"
#include "host_barrier.hpp"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace {

using namespace barriers;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr unsigned iterations = 3; ///< of simple_sync
constexpr unsigned batches = 8;    ///< of with_barrier
constexpr std::size_t host_threads = 8;
constexpr unsigned host_iterations = 5;
constexpr unsigned zero[] = {0};

std::size_t blocks(std::size_t size) { return workbook::blocks_for(size, block_threads); }

/// The arrays that the kernels work on.
struct Arrays {
    explicit Arrays(const workbook::RunContext& run)
        : values_host(workbook::random_values<unsigned>(run.size, run.seed)),
          codes_host(workbook::random_values<unsigned short>(run.size, run.seed + 1)), values(values_host),
          codes(codes_host), out(run.size), per_block(blocks(run.size)), votes(blocks(run.size)), taken(1),
          total(1) {}

    std::vector<unsigned> values_host;
    std::vector<unsigned short> codes_host;
    std::vector<unsigned> ring{}; ///< what the host's threads rotate
    DeviceBuffer<unsigned> values;
    DeviceBuffer<unsigned short> codes;
    DeviceBuffer<unsigned> out;
    DeviceBuffer<unsigned> per_block; ///< one sum per block
    DeviceBuffer<Votes> votes;        ///< one per block
    DeviceBuffer<unsigned> taken;     ///< for last_block_sums
    DeviceBuffer<unsigned> total;     ///< for last_block_sums
};

std::size_t bytes(const Arrays& arrays) { return arrays.values.size_bytes() + arrays.out.size_bytes(); }
void prepare(Arrays& arrays) { arrays.out.poison(); }

template <std::size_t tile>
Comparison check_reversed(Arrays& arrays) {
    return workbook::check_exact(arrays.out, workbook::reversed_tiles(arrays.values_host, tile));
}

/// The first threads' values, which the threads of the host rotate.
std::span<const unsigned> ring_values(const Arrays& arrays) {
    return std::span(arrays.values_host).first(std::min(host_threads, arrays.values_host.size()));
}

/// `values` rotated to the left within tiles of `tile`.
std::vector<unsigned> rotated(std::span<const unsigned> values, std::size_t tile, std::size_t places) {
    std::vector<unsigned> result(values.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::size_t start = i - i % tile;
        const std::size_t count = std::min(tile, values.size() - start);
        result[i] = values[start + (i - start + places) % count];
    }
    return result;
}

Comparison check_host_threads(Arrays& arrays) {
    const auto expected = rotated(ring_values(arrays), host_threads, host_iterations);
    return workbook::compare_bits<unsigned>(expected, arrays.ring);
}

Comparison check_rotated(Arrays& arrays) {
    return workbook::check_exact(arrays.out, rotated(arrays.values_host, block_threads, iterations));
}

Comparison check_votes(Arrays& arrays) {
    std::vector<Votes> expected(arrays.votes.size(), Votes{0, 1, 0});
    for (std::size_t i = 0; i < expected.size() * block_threads; ++i) {
        Votes& votes = expected[i / block_threads];
        const int odd = i < arrays.values_host.size() ? static_cast<int>(arrays.values_host[i] % 2) : 0;
        votes = {votes.count + odd, votes.all & odd, votes.any | odd};
    }
    return workbook::check_exact(arrays.votes, expected);
}

Comparison check_total(Arrays& arrays) {
    const auto& values = arrays.values_host;
    if (values.empty())
        return {}; // no block, no sum
    const unsigned expected = std::accumulate(values.begin(), values.end(), 0u);
    return workbook::check_exact(arrays.total, std::vector<unsigned>{expected});
}

Comparison check_split(Arrays& arrays) {
    std::vector<unsigned> expected = workbook::reversed_tiles(arrays.values_host, block_threads);
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] ^= own_work(arrays.values_host[i]);
    return workbook::check_exact(arrays.out, expected);
}

Comparison check_neighbour_sums(Arrays& arrays) {
    return workbook::check_exact(arrays.out,
                                 workbook::neighbour_sums<unsigned>(arrays.values_host, block_threads));
}

Comparison check_block_sums(Arrays& arrays) {
    std::vector<unsigned> expected(arrays.per_block.size(), 0);
    for (std::size_t i = 0; i < arrays.values_host.size(); ++i)
        expected[i / block_threads] += arrays.values_host[i];
    return workbook::check_exact(arrays.per_block, expected);
}

Comparison check_pairs(Arrays& arrays) {
    std::vector<unsigned> sums = arrays.values_host;
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += arrays.codes_host[i];
    return workbook::check_exact(arrays.out, workbook::reversed_tiles(sums, pair_tile));
}

/// hand_over with each fence in turn; every one of them reverses the same tiles.
Comparison check_hand_over(Arrays& arrays) {
    using Launch = void (*)(std::span<const unsigned>, std::span<unsigned>);
    constexpr Launch others[] = {launch_hand_over<Fence::device>, launch_hand_over<Fence::system>,
                                 launch_hand_over<Fence::cuda_block>, launch_hand_over<Fence::cuda_device>,
                                 launch_hand_over<Fence::cuda_system>};
    Comparison result = check_reversed<block_threads / 2>(arrays); // of Fence::block, launched before
    for (const Launch launch : others) {
        if (!result)
            break;
        prepare(arrays);
        launch(arrays.values.span(), arrays.out.span());
        result = check_reversed<block_threads / 2>(arrays);
    }
    return result;
}

/// An entry for a kernel that turns values into an output of the same size.
template <void (*launch)(std::span<const unsigned>, std::span<unsigned>), Comparison (*check)(Arrays&)>
constexpr workbook::KernelEntry<Arrays> mapping(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = bytes,
            .prepare = prepare,
            .launch = [](Arrays& arrays) { launch(arrays.values.span(), arrays.out.span()); },
            .check = check};
}

/// An entry for a kernel that adds values and codes.
template <void (*launch)(std::span<const unsigned>, std::span<const unsigned short>, std::span<unsigned>)>
constexpr workbook::KernelEntry<Arrays> adding_pairs(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Arrays& arrays) { return bytes(arrays) + arrays.codes.size_bytes(); },
            .prepare = prepare,
            .launch =
                [](Arrays& arrays) { launch(arrays.values.span(), arrays.codes.span(), arrays.out.span()); },
            .check = check_pairs};
}

constexpr workbook::KernelEntry<Arrays> kernels[] = {
    {.name = "host_threads",
     .shows = "std::barrier, 8 threads of the host",
     .bytes = [](const Arrays&) { return std::size_t{0}; },
     .prepare =
         [](Arrays& arrays) {
             const auto values = ring_values(arrays);
             arrays.ring.assign(values.begin(), values.end());
         },
     .launch = [](Arrays& arrays) { rotate_with_threads(arrays.ring, host_iterations); },
     .check = check_host_threads},
    {.name = "simple_sync",
     .shows = "block.sync() twice per iteration",
     .bytes = bytes,
     .prepare = prepare,
     .launch =
         [](Arrays& arrays) { launch_simple_sync(arrays.values.span(), arrays.out.span(), iterations); },
     .check = check_rotated},
    {.name = "vote_at_barrier",
     .shows = "__syncthreads_count, _and, _or",
     .bytes = [](const Arrays& arrays) { return arrays.values.size_bytes() + arrays.votes.size_bytes(); },
     .prepare = [](Arrays& arrays) { arrays.votes.poison(); },
     .launch = [](Arrays& arrays) { launch_vote_at_barrier(arrays.values.span(), arrays.votes.span()); },
     .check = check_votes},
    mapping<launch_sync_one_warp, check_reversed<32>>("sync_one_warp", "__syncwarp"),
    mapping<launch_hand_over<Fence::block>, check_hand_over>("hand_over",
                                                             "flag and fence: six fences, no barrier"),
    {.name = "last_block_sums",
     .shows = "__threadfence between blocks",
     .bytes = [](const Arrays& arrays) { return arrays.values.size_bytes(); },
     .prepare =
         [](Arrays& arrays) {
             arrays.per_block.poison();
             arrays.total.poison();
             arrays.taken.upload(zero);
         },
     .launch =
         [](Arrays& arrays) {
             launch_last_block_sums(arrays.values.span(), arrays.per_block.span(), arrays.taken.data(),
                                    arrays.total.data());
         },
     .check = check_total},
    mapping<launch_split_arrive_wait, check_split>("split_arrive_wait", "work between arrive and wait"),
    {.name = "with_barrier",
     .shows = "copies and threads on one cuda::barrier",
     .bytes = bytes,
     .prepare = prepare,
     .launch = [](Arrays& arrays) { launch_with_barrier(arrays.values.span(), arrays.out.span(), batches); },
     .check = check_neighbour_sums},
    {.name = "drop_out",
     .shows = "arrive_and_drop",
     .bytes = [](const Arrays& arrays) { return arrays.values.size_bytes() + arrays.per_block.size_bytes(); },
     .prepare = [](Arrays& arrays) { arrays.per_block.poison(); },
     .launch = [](Arrays& arrays) { launch_drop_out(arrays.values.span(), arrays.per_block.span()); },
     .check = check_block_sums},
    adding_pairs<launch_two_copies_one_barrier>("two_copies_one_barrier",
                                                "two types, one total tx-count, elect.sync"),
    adding_pairs<launch_two_copies_native_handle>("two_copies_native_handle", "expect_tx is no arrival"),
    mapping<launch_producer_consumer, check_reversed<buffer_size>>("producer_consumer",
                                                                   "full[2], empty[2], one warp copies"),
    mapping<launch_producer_consumer_mbarrier, check_reversed<buffer_size>>("producer_consumer_mbarrier",
                                                                            "the same in PTX, by parity"),
    mapping<launch_complete_by_group, check_reversed<block_threads>>("complete_by_group",
                                                                     "cp.async, async-group"),
    mapping<launch_complete_by_mbarrier, check_reversed<block_threads>>("complete_by_mbarrier",
                                                                        "cp.async, mbarrier"),
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "barriers",
                                     .summary = "barriers relate threads, fences relate memory operations",
                                     .size_unit = "elements",
                                     .size_with_clock = 100'000'000,
                                     .size_without_clock = 50'001,
                                     .device_bytes_per_element = 11,
                                     .host_bytes_per_element = 19,
                                     .needs = {.compute_major = 9}};
    return workbook::run_program<Arrays>(info, kernels, argc, argv);
}

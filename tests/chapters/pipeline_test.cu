/// @file pipeline_test.cu
/// The kernels of chapter 4, at all sizes and base addresses: what they write, and that they write nothing
/// else.
#include "pipeline.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "sizes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

using namespace pipeline;
using workbook::DeviceBuffer;

namespace {

using Launch = void (*)(std::span<const float>, std::span<float>, int);

constexpr workbook::DeviceNeeds ampere{.compute_major = 8};

/// Each tile reversed, then `work` times x / 2 + 1.
std::vector<float> streamed(const std::vector<float>& values, int work) {
    std::vector<float> result = workbook::reversed_tiles(values, tile_floats);
    for (float& value : result)
        for (int k = 0; k < work; ++k)
            value = std::fma(value, 0.5f, 1.0f);
    return result;
}

/// Compares by value where something is computed (NaNs depend on the processor), else by bit.
workbook::Comparison compare(const std::vector<float>& input, const DeviceBuffer<float>& out, int work) {
    const std::vector<float> expected = streamed(input, work);
    const std::vector<float> actual = out.download();
    return work > 0 ? workbook::compare_near<float>(expected, actual)
                    : workbook::compare_bits<float>(expected, actual);
}

void check_stream(Launch launch, std::size_t size, std::size_t offset, int work) {
    const auto input = workbook::random_values<float>(size, size + offset, {.specials = true});
    const DeviceBuffer<float> in(input, offset);
    DeviceBuffer<float> out(size, (offset * 3) % 5);
    out.poison();
    launch(in.span(), out.span(), work);
    CHECK(compare(input, out, work).summary() == "ok");
    CHECK(workbook::compare_bits<float>(input, in.download()).summary() == "ok");
    CHECK(out.check_guards() == "");
}

void check_stream(Launch launch) {
    require_device(ampere);
    for_each_place([&](std::size_t size, std::size_t offset) { check_stream(launch, size, offset, 0); });
    for (const std::size_t size : {1u, 4097u})
        for (const int work : {1, 3})
            check_stream(launch, size, 0, work);
}

/// Data and order of events of a time line; the clock may stand still where there is none.
template <int stages>
void check_timeline(std::size_t size) {
    INFO(stages << " stages, size " << size);
    const auto input = workbook::random_values<float>(size, size, {.specials = true});
    const DeviceBuffer<float> in(input);
    DeviceBuffer<float> out(size);
    DeviceBuffer<Interval> intervals(std::min<std::size_t>(5, first_block_tiles(size)));
    out.poison();
    launch_timeline<stages>(in.span(), out.span(), 2, intervals.span());
    CHECK(compare(input, out, 2).summary() == "ok");
    CHECK(intervals.check_guards() == "");
    const std::vector<Interval> tiles = intervals.download();
    for (std::size_t k = 0; k < tiles.size(); ++k) {
        CHECK(tiles[k].issued <= tiles[k].landed);
        CHECK(tiles[k].landed <= tiles[k].computed);
        if (k + 1 < tiles.size() && stages == 1)
            CHECK(tiles[k + 1].issued >= tiles[k].computed);
        if (k + 1 < tiles.size() && stages > 1)
            CHECK(tiles[k + 1].issued <= tiles[k].landed);
    }
}

template <bool diverged>
Entangled check_entanglement() {
    const auto input = workbook::random_values<float>(entangled_floats, 5, {.specials = true});
    const DeviceBuffer<float> in(input);
    DeviceBuffer<float> out(entangled_floats);
    DeviceBuffer<Entangled> result(1);
    out.poison();
    result.poison();
    launch_entanglement<diverged>(in.span(), out.span(), result.data());
    const auto expected = workbook::reversed_tiles(input, warp_threads);
    CHECK(workbook::compare_bits<float>(expected, out.download()).summary() == "ok");
    CHECK(out.check_guards() == "");
    return result.download().front();
}

} // namespace

TEST_CASE("single_stage streams") { check_stream(launch_single_stage); }
TEST_CASE("with_staging streams") { check_stream(launch_with_staging); }
TEST_CASE("n_stages streams with 2 to 4 stages") {
    check_stream(launch_n_stages<2>);
    check_stream(launch_n_stages<3>);
    check_stream(launch_n_stages<4>);
}
TEST_CASE("n_stages streams with 5 to 8 stages") {
    check_stream(launch_n_stages<5>);
    check_stream(launch_n_stages<6>);
    check_stream(launch_n_stages<7>);
    check_stream(launch_n_stages<8>);
}
TEST_CASE("thread_scope streams with 1, 2 and 4 stages") {
    check_stream(launch_thread_scope<1>);
    check_stream(launch_thread_scope<2>);
    check_stream(launch_thread_scope<4>);
}
TEST_CASE("with_specialized_staging_unified streams") {
    check_stream(launch_with_specialized_staging_unified);
}
TEST_CASE("specialized_warps streams with 1, 2 and 4 stages") {
    check_stream(launch_specialized_warps<1>);
    check_stream(launch_specialized_warps<2>);
    check_stream(launch_specialized_warps<4>);
}
TEST_CASE("four_at_a_time streams with 1, 2 and 4 stages") {
    check_stream(launch_four_at_a_time<1>);
    check_stream(launch_four_at_a_time<2>);
    check_stream(launch_four_at_a_time<4>);
}

TEST_CASE("the time line shows what the number of stages allows") {
    require_device(ampere);
    for (const std::size_t size : {0u, 1u, 1024u, 1025u, 10'000u, 70'001u}) {
        check_timeline<1>(size);
        check_timeline<2>(size);
        check_timeline<4>(size);
    }
}

TEST_CASE("first_block_tiles is what the first block takes") {
    CHECK(first_block_tiles(0) == 0);
    CHECK(first_block_tiles(1) == 1);
    CHECK(first_block_tiles(8 * tile_floats) == 8);
    CHECK(first_block_tiles(8 * tile_floats + 1) == 5); // nine tiles for two blocks
}

TEST_CASE("a converged warp waits for its older copies only") {
    require_device(ampere);
    const Entangled entangled = check_entanglement<false>();
    CHECK(entangled.commits == 2);
    CHECK(entangled.waited_for == 32);
}

TEST_CASE("a diverged warp waits for nearly all of its copies") {
    require_device(ampere);
    const Entangled entangled = check_entanglement<true>();
    CHECK(entangled.commits == 64);
    CHECK(entangled.waited_for == 63);
}

TEST_CASE("a large array, many blocks") {
    require_device(ampere);
    constexpr std::size_t size = 1'000'003;
    check_stream(launch_with_staging, size, 1, 0);
    check_stream(launch_n_stages<4>, size, 0, 2);
    check_stream(launch_specialized_warps<4>, size, 0, 0);
    check_stream(launch_four_at_a_time<4>, size, 0, 2);
}

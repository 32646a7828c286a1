/// @file cp_async_test.cu
/// The kernels of chapter 2, at all sizes and base addresses: what they write, and that they write nothing
/// else.
#include "cp_async.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "sizes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

using namespace cp_async;
using workbook::DeviceBuffer;

namespace {

using Copy = std::function<void(std::span<const float>, std::span<float>)>;

constexpr workbook::DeviceNeeds ampere{.compute_major = 8};

std::vector<float> random_floats(std::size_t size, std::size_t seed) {
    return workbook::random_values<float>(size, seed, {.specials = true});
}

/// One copy of 16 bytes of which none is read: by a `src-size` of 0, or by `ignore-src`. Both are values that
/// the assembler does not know.
__global__ void copy_nothing(const float* from, bool ignored, float* out) {
    __shared__ alignas(16) float tile[4];
    for (int i = 0; i < 4; ++i)
        tile[i] = 1;
    const int ignore = ignored ? 1 : 0;
    const int src_size = ignored ? 16 : 0;
    if (ignored)
        asm volatile("{\n\t"
                     ".reg .pred ignore;\n\t"
                     "setp.ne.s32 ignore, %2, 0;\n\t"
                     "cp.async.cg.shared.global [%0], [%1], 16, ignore;\n\t"
                     "}" ::"r"(shared_address(tile)),
                     "l"(from), "r"(ignore)
                     : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(tile)), "l"(from),
                     "r"(src_size)
                     : "memory");
    cp_async_wait_all();
    for (int i = 0; i < 4; ++i)
        out[i] = tile[i];
}

/// Runs a copy on random data at one place; every bit counts.
void check_reversing(const Copy& copy, std::size_t size, std::size_t offset) {
    const auto input = random_floats(size, size + offset);
    const DeviceBuffer<float> in(input, offset);
    DeviceBuffer<float> out(size, (offset * 3) % 5);
    out.poison();
    copy(in.span(), out.span());
    const auto expected = workbook::reversed_tiles(input, tile_floats);
    CHECK(workbook::compare_bits<float>(expected, out.download()).summary() == "ok");
    CHECK(workbook::compare_bits<float>(input, in.download()).summary() == "ok");
    CHECK(in.check_guards() == "");
    CHECK(out.check_guards() == "");
}

void check_reversing(const Copy& copy) {
    require_device(ampere);
    for_each_place([&](std::size_t size, std::size_t offset) { check_reversing(copy, size, offset); });
}

/// Sums of neighbours in tiles of block_threads, by value.
void check_summing(const Copy& copy, std::size_t size, std::size_t offset) {
    const auto input = random_floats(size, size + offset);
    const DeviceBuffer<float> in(input, offset);
    DeviceBuffer<float> out(size, (offset * 3) % 5);
    out.poison();
    copy(in.span(), out.span());
    const auto expected = workbook::neighbour_sums<float>(input, block_threads);
    CHECK(workbook::compare_near<float>(expected, out.download()).summary() == "ok");
    CHECK(out.check_guards() == "");
}

void check_summing(const std::function<void(std::span<const float>, std::span<float>, unsigned)>& launch) {
    require_device(ampere);
    for (const unsigned batches : {1u, 2u, 5u})
        for_each_place([&](std::size_t size, std::size_t offset) {
            check_summing([&](auto in, auto out) { launch(in, out, batches); }, size, offset);
        });
    check_summing([&](auto in, auto out) { launch(in, out, 1000); }, 70'001, 0);
}

using ByteCopy = void (*)(std::span<const unsigned char>, std::span<unsigned char>);

/// Runs a copy of bytes between addresses with any distance to a multiple of 16.
void check_bytes(ByteCopy copy) {
    require_device(ampere);
    for (const std::size_t size : {0u, 1u, 3u, 4u, 15u, 16u, 17u, 255u, 4095u, 4096u, 4097u, 20'003u})
        for (const std::size_t offset : {0u, 1u, 2u, 4u, 7u, 8u, 12u, 16u}) {
            INFO("size " << size << ", offset " << offset);
            const auto input = workbook::random_values<unsigned char>(size, size + offset);
            const DeviceBuffer<unsigned char> in(input, offset);
            DeviceBuffer<unsigned char> out(size, offset % 3);
            out.poison();
            copy(in.span(), out.span());
            const auto expected = workbook::reversed_tiles(input, tile_bytes);
            CHECK(workbook::compare_bits<unsigned char>(expected, out.download()).summary() == "ok");
            CHECK(out.check_guards() == "");
        }
}

} // namespace

TEST_CASE("the references do what their names say") {
    const std::vector<int> values{1, 20, 300, 4000, 50000};
    CHECK(workbook::reversed_tiles(values, 2) == std::vector{20, 1, 4000, 300, 50000});
    CHECK(workbook::reversed_tiles(values, 9) == std::vector{50000, 4000, 300, 20, 1});
    CHECK(workbook::neighbour_sums<int>(values, 3) == std::vector{21, 320, 301, 54000, 54000});
    CHECK(workbook::neighbour_sums<int>(values, 2) == std::vector{21, 21, 4300, 4300, 100000});
    CHECK(workbook::reversed_tiles(std::vector<int>{}, 2).empty());
    CHECK(workbook::tile_count(0, 4, 10) == 4);
    CHECK(workbook::tile_count(8, 4, 10) == 2);
    CHECK(workbook::tile_count(10, 4, 10) == 0);
    CHECK(workbook::tile_count(12, 4, 10) == 0);
}

TEST_CASE("copy_4_bytes reverses tiles") { check_reversing(launch_copy_4_bytes); }
TEST_CASE("copy_8_bytes reverses tiles, aligned or not") { check_reversing(launch_copy_8_bytes); }
TEST_CASE("copy_16_bytes reverses tiles, aligned or not") { check_reversing(launch_copy_16_bytes); }
TEST_CASE("l2_prefetch changes no data") {
    check_reversing(launch_l2_prefetch<64>);
    check_reversing(launch_l2_prefetch<128>);
    check_reversing(launch_l2_prefetch<256>);
}
TEST_CASE("evict_first changes no data") { check_reversing(launch_evict_first); }
TEST_CASE("groups_in_flight reverses tiles, whatever the number of stages") {
    check_reversing(launch_groups_in_flight<1>);
    check_reversing(launch_groups_in_flight<2>);
    check_reversing(launch_groups_in_flight<3>);
    check_reversing(launch_groups_in_flight<4>);
}
TEST_CASE("pipeline_primitives reverses tiles") { check_reversing(launch_pipeline_primitives); }
TEST_CASE("memcpy_async_barrier reverses tiles") { check_reversing(launch_memcpy_async_barrier); }
TEST_CASE("memcpy_async_pipeline reverses tiles") { check_reversing(launch_memcpy_async_pipeline); }

TEST_CASE("with_memcpy_async sums neighbours, whatever the number of batches") {
    check_summing(launch_with_memcpy_async);
}
TEST_CASE("with_wait_prior sums neighbours, whatever the number of batches") {
    check_summing(launch_with_wait_prior);
}

TEST_CASE("zero_filled_tail pads the last tile with zeros") {
    require_device(ampere);
    for (const std::size_t size : test_sizes) {
        INFO("size " << size);
        std::vector<float> padded = random_floats(size, size);
        const DeviceBuffer<float> in(padded, 4); // 16 bytes after the aligned base
        DeviceBuffer<float> out(whole_tiles(size), 1);
        out.poison();
        launch_zero_filled_tail(in.span(), out.span());
        padded.resize(out.size(), 0.0f);
        const auto expected = workbook::reversed_tiles(padded, tile_floats);
        CHECK(workbook::compare_bits<float>(expected, out.download()).summary() == "ok");
        CHECK(out.check_guards() == "");
    }
}

TEST_CASE("zero_filled_tail refuses what it cannot do") {
    using Catch::Matchers::ContainsSubstring;
    require_device(ampere);
    const DeviceBuffer<float> in(100, 1);
    DeviceBuffer<float> out(tile_floats);
    CHECK_THROWS_AS(launch_zero_filled_tail(in.span(), out.span()), std::invalid_argument);
    const DeviceBuffer<float> aligned(100);
    CHECK_THROWS_AS(launch_zero_filled_tail(aligned.span(), out.span().first(100)), std::invalid_argument);
}

TEST_CASE("ignore_src writes zeros where there is no flag") {
    require_device(ampere);
    for_each_place([](std::size_t size, std::size_t offset) {
        std::vector<float> values = random_floats(size, size + offset);
        const auto flags = workbook::random_integers<unsigned char>(size, size + offset, 0, 2);
        const DeviceBuffer<float> in(values, offset);
        const DeviceBuffer<unsigned char> keep(flags, offset);
        DeviceBuffer<float> out(size);
        out.poison();
        launch_ignore_src(in.span(), keep.span(), out.span());
        for (std::size_t i = 0; i < size; ++i)
            values[i] = flags[i] != 0 ? values[i] : 0.0f;
        const auto expected = workbook::reversed_tiles(values, tile_floats);
        CHECK(workbook::compare_bits<float>(expected, out.download()).summary() == "ok");
        CHECK(out.check_guards() == "");
    });
}

TEST_CASE("a source of which nothing is read may have any address") {
    require_device(ampere);
    const std::vector<float> zeros(4, 0.0f);
    const DeviceBuffer<float> in(random_floats(4, 1));
    // Nowhere, in no allocation, no canonical address, and not a multiple of the copy's size.
    for (const std::uintptr_t address : {std::uintptr_t{0}, std::uintptr_t{1} << 45, std::uintptr_t{7} << 60,
                                         reinterpret_cast<std::uintptr_t>(in.data()) + 2})
        for (const bool ignored : {false, true}) {
            CAPTURE(address, ignored);
            DeviceBuffer<float> out(4);
            out.poison();
            workbook::launch(copy_nothing, {}, reinterpret_cast<const float*>(address), ignored, out.data());
            CHECK(workbook::compare_bits<float>(zeros, out.download()).summary() == "ok");
            CHECK(out.check_guards() == "");
        }
}

TEST_CASE("unaligned_fallback reverses bytes at any address") { check_bytes(launch_unaligned_fallback); }
TEST_CASE("synchronous_fallback reverses bytes at any address") { check_bytes(launch_synchronous_fallback); }

TEST_CASE("a large array, many blocks") {
    require_device(ampere);
    constexpr std::size_t size = 1'000'003;
    check_reversing(launch_copy_4_bytes, size, 1);
    check_reversing(launch_copy_16_bytes, size, 0);
    check_reversing(launch_groups_in_flight<4>, size, 0);
    check_summing([](auto in, auto out) { launch_with_memcpy_async(in, out, 8); }, size, 0);
}

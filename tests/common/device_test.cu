/// @file device_test.cu
/// Checks, buffers, launches and timing, on whatever device the backend gives.
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/device.hpp"
#include "workbook/launch.hpp"
#include "workbook/random.hpp"
#include "workbook/timing.hpp"

#include "device_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using namespace workbook;

namespace {

__global__ void write_at(int* data, long long index, int value) { data[index] = value; }

__global__ void write_shape(unsigned* shape) {
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1) {
        shape[0] = gridDim.x;
        shape[1] = blockDim.x;
        asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shape[2]));
        asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(shape[3]));
    }
}

__global__ void add_up(double* sum, std::int8_t a, double b, const float* c) { *sum = a + b + *c; }

/// 40 KiB of static shared memory, beside what the launch gives.
__global__ void write_both(unsigned* result) {
    extern __shared__ unsigned given[];
    __shared__ unsigned fixed[10 * 1024];
    fixed[threadIdx.x * 320] = threadIdx.x;
    given[threadIdx.x * 128] = 100;
    __syncthreads();
    result[threadIdx.x] = fixed[(31 - threadIdx.x) * 320] + given[(31 - threadIdx.x) * 128];
}

std::vector<unsigned> shape_of(const LaunchShape& shape) {
    DeviceBuffer<unsigned> result(4);
    launch(write_shape, shape, result.data());
    synchronize();
    return result.download();
}

} // namespace

TEST_CASE("check says what failed, where, and what to do") {
    CHECK_NOTHROW(check(cudaSuccess));
    try {
        check(cudaErrorMemoryAllocation, "allocating");
        FAIL("no exception");
    } catch (const CudaError& error) {
        CHECK(error.code() == cudaErrorMemoryAllocation);
        CHECK_THAT(error.what(), ContainsSubstring("allocating failed at "));
        CHECK_THAT(error.what(), ContainsSubstring("device_test.cu:" + std::to_string(__LINE__ - 5)));
        CHECK_THAT(error.what(), ContainsSubstring("cudaErrorMemoryAllocation"));
        CHECK_THAT(error.what(), ContainsSubstring("smaller --size"));
        CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
}

TEST_CASE("errors that spoil the process are told apart from others") {
    CHECK(is_sticky(cudaErrorIllegalAddress));
    CHECK(is_sticky(cudaErrorLaunchFailure));
    CHECK_FALSE(is_sticky(cudaErrorInvalidValue));
    CHECK_FALSE(is_sticky(cudaErrorMemoryAllocation));
}

TEST_CASE("needs that the device does not meet are named") {
    DeviceFacts facts;
    facts.name = "Old";
    facts.compute_major = 7;
    facts.compute_minor = 5;
    facts.shared_per_block_opt_in = 65'536;
    CHECK_NOTHROW(require({.compute_major = 7, .compute_minor = 5}, facts));
    CHECK_THROWS_AS(require({.compute_major = 8}, facts), DeviceLacks);
    CHECK_THROWS_AS(require({.dynamic_shared = 65'537}, facts), DeviceLacks);
    CHECK_THROWS_AS(require({.cluster_size = 2}, facts), DeviceLacks);
    try {
        require({.compute_major = 9}, facts);
    } catch (const DeviceLacks& error) {
        CHECK(error.what() ==
              std::string("needs compute capability 9.0 or newer, but 'Old' has compute capability 7.5"));
    }
}

TEST_CASE("the peak bandwidth is two transfers per clock over the bus") {
    DeviceFacts facts;
    facts.memory_clock_hz = 1e9;
    facts.bus_width_bits = 8 * 100;
    CHECK(facts.peak_bandwidth() == 2e11);
}

TEST_CASE("the device's facts are those of a real one") {
    require_device();
    const DeviceFacts facts = require(DeviceNeeds{});
    CHECK_FALSE(facts.name.empty());
    CHECK(facts.compute_major >= 7);
    CHECK(facts.multiprocessors > 0);
    CHECK(facts.l2_bytes > 0);
    CHECK(facts.shared_per_block_opt_in >= 48 * 1024);
    CHECK(free_device_memory() > 0);
    CHECK(free_device_memory() <= facts.memory_bytes);
}

TEST_CASE("data goes to the device and comes back, at every offset from the aligned base") {
    require_device();
    for (const std::size_t offset : {0, 1, 2, 3, 5, 64}) {
        const auto values = random_values<int>(1000, offset);
        DeviceBuffer<int> buffer(values, offset);
        CHECK(buffer.download() == values);
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256 == offset * sizeof(int) % 256);
        CHECK(buffer.check_guards().empty());
    }
}

TEST_CASE("an empty buffer is a buffer") {
    require_device();
    DeviceBuffer<double> buffer(0);
    buffer.poison();
    buffer.upload({});
    CHECK(buffer.download().empty());
    CHECK(buffer.check_guards().empty());
    CHECK(DeviceBuffer<int>().check_guards().empty());
}

TEST_CASE("poison fills the data and spares the guard zones") {
    require_device();
    DeviceBuffer<std::uint32_t> buffer(100, 3);
    buffer.poison();
    CHECK(buffer.download() == std::vector<std::uint32_t>(100, 0xFBFBFBFB));
    CHECK(buffer.check_guards().empty());
}

TEST_CASE("a write outside of the data is noticed, on both sides, the offset included") {
    require_device();
    for (const long long index : {-1LL, -64LL, -66LL, 10LL, 73LL}) {
        INFO(index);
        DeviceBuffer<int> buffer(10, 2);
        launch(write_at, {}, buffer.data(), index, 1);
        synchronize();
        CHECK_THAT(buffer.check_guards(), ContainsSubstring(index < 0 ? "before" : "after"));
    }
    DeviceBuffer<int> buffer(10, 2);
    launch(write_at, {}, buffer.data(), 9LL, 1);
    CHECK(buffer.check_guards().empty());
}

TEST_CASE("a buffer without guard zones holds its data, at every offset, and may be empty") {
    require_device();
    for (const std::size_t offset : {0, 1, 64}) {
        const auto values = random_values<int>(1000, offset);
        DeviceBuffer<int> buffer(values, offset, Guards::none);
        CHECK(buffer.download() == values);
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256 == offset * sizeof(int) % 256);
        CHECK(buffer.check_guards().empty());
    }
    CHECK(DeviceBuffer<int>(0, 0, Guards::none).download().empty());
}

TEST_CASE("too much data for a buffer, and a size that overflows, are refused") {
    require_device();
    DeviceBuffer<int> buffer(2);
    CHECK_THROWS_AS(buffer.upload(std::vector<int>(3)), std::length_error);
    CHECK_THROWS_AS(DeviceBuffer<int>(SIZE_MAX / 2), std::bad_array_new_length);
}

TEST_CASE("a buffer moves and does not copy") {
    require_device();
    static_assert(!std::is_copy_constructible_v<DeviceBuffer<int>>);
    DeviceBuffer<int> first(std::vector<int>{1, 2, 3});
    const DeviceBuffer<int> second = std::move(first);
    CHECK(second.download() == std::vector<int>{1, 2, 3});
}

TEST_CASE("a failed allocation is an error with advice, and not the end") {
    require_device();
    CHECK_THROWS_AS(DeviceBuffer<std::byte>(std::size_t{1} << 46), CudaError);
    CHECK_NOTHROW(DeviceBuffer<std::byte>(16));
}

TEST_CASE("a launch has the shape that was asked for") {
    require_device();
    CHECK(shape_of({.grid = 3, .block = 64}) == std::vector<unsigned>{3, 64, 0, 1});
    CHECK(shape_of({.grid = 2, .block = 32, .dynamic_shared = 1000}) ==
          std::vector<unsigned>{2, 32, 1000, 1});
}

TEST_CASE("a launch may have more than 48 KiB of dynamic shared memory") {
    require_device({.dynamic_shared = 100'000});
    CHECK(shape_of({.block = 32, .dynamic_shared = 100'000}) == std::vector<unsigned>{1, 32, 100'000, 1});
}

TEST_CASE("static shared memory counts against the limit of 48 KiB") {
    require_device({.dynamic_shared = 56 * 1024});
    DeviceBuffer<unsigned> result(32);
    launch(write_both, {.block = 32, .dynamic_shared = 16 * 1024}, result.data());
    synchronize();
    CHECK(result.download().front() == 131);
    CHECK(result.download().back() == 100);
    // More than the device has beside the static part.
    CHECK_THROWS_AS(launch(write_both, {.block = 32, .dynamic_shared = 200 * 1024}, result.data()),
                    CudaError);
}

TEST_CASE("a launch may have clusters") {
    require_device({.compute_major = 9, .cluster_size = 4});
    CHECK(shape_of({.grid = 8, .block = 32, .cluster = 4}) == std::vector<unsigned>{8, 32, 0, 4});
}

TEST_CASE("arguments are converted to the types of the parameters") {
    require_device();
    DeviceBuffer<double> sum(1);
    DeviceBuffer<float> c(std::vector<float>{0.25f});
    launch(add_up, {}, sum.data(), -3, 1.5f,
           c.data()); // int to int8_t, float to double, float* to const float*
    CHECK(sum.download().front() == -1.25);
}

TEST_CASE("an empty grid launches nothing") {
    require_device();
    DeviceBuffer<int> data(std::vector<int>{7});
    launch(write_at, {.grid = 0}, data.data(), 0LL, 1);
    synchronize();
    CHECK(data.download().front() == 7);
}

TEST_CASE("a launch that the device cannot do is an error that names the line") {
    require_device();
    DeviceBuffer<int> data(1);
    try {
        launch(write_at, {.block = 4096}, data.data(), 0LL, 1);
        FAIL("no exception");
    } catch (const CudaError& error) {
        CHECK_THAT(error.what(), ContainsSubstring("device_test.cu:" + std::to_string(__LINE__ - 3)));
        CHECK_FALSE(is_sticky(error.code()));
    }
    CHECK(shape_of({.grid = 1, .block = 32}) == std::vector<unsigned>{1, 32, 0, 1});
}

TEST_CASE("blocks_for rounds up and refuses what no grid can have") {
    CHECK(blocks_for(0, 256) == 0);
    CHECK(blocks_for(1, 256) == 1);
    CHECK(blocks_for(256, 256) == 1);
    CHECK(blocks_for(257, 256) == 2);
    CHECK(blocks_for(SIZE_MAX, SIZE_MAX) == 1);
    CHECK_THROWS_AS(blocks_for(std::size_t{1} << 31, 1), std::length_error);
}

TEST_CASE("the median is the middle, the extremes are kept") {
    const Timing odd = summarize({3, 1, 2});
    CHECK(odd.median_ms == 2);
    CHECK(odd.min_ms == 1);
    CHECK(odd.max_ms == 3);
    CHECK(odd.repetitions == 3);
    CHECK(odd.spread() == 1);
    CHECK(odd.bytes_per_second(4'000'000) == 2e9);
    CHECK(summarize({4, 1, 2, 8}).median_ms == 3);
}

TEST_CASE("quartiles lie between the samples next to them") {
    const Timing five = summarize({50, 10, 30, 20, 40});
    CHECK(five.lower_ms == 20);
    CHECK(five.upper_ms == 40);
    const Timing four = summarize({1, 2, 3, 4});
    CHECK(four.lower_ms == 1.75);
    CHECK(four.upper_ms == 3.25);
    const Timing one = summarize({7});
    CHECK(one.lower_ms == 7);
    CHECK(one.upper_ms == 7);
}

TEST_CASE("what buffers give back is noted until somebody has waited for the device") {
    require_device();
    workbook::wait_for_freed_memory();
    CHECK(workbook::freed_bytes == 0);
    {
        DeviceBuffer<int> first(1000, 4);
        DeviceBuffer<int> second(std::move(first));
    }
    CHECK(workbook::freed_bytes == 1004 * sizeof(int) + 2 * DeviceBuffer<int>::guard_bytes);
    workbook::wait_for_freed_memory();
    CHECK(workbook::freed_bytes == 0);
}

TEST_CASE("a device with a clock gives times, one without gives none and does no work for them") {
    require_device();
    int calls = 0;
    DeviceBuffer<int> data(1);
    const auto timing = measure(
        [&](cudaStream_t stream) {
            ++calls;
            launch(write_at, {.stream = stream}, data.data(), 0LL, 1);
        },
        {.warm_up = 2, .repetitions = 5});
    const auto ceiling = copy_ceiling(1 << 20);
    CHECK(timing.has_value() == device_has_clock());
    CHECK(ceiling.has_value() == device_has_clock());
    CHECK(calls == (device_has_clock() ? 7 : 0));
    if (timing) {
        CHECK(timing->min_ms > 0);
        CHECK(timing->min_ms <= timing->median_ms);
        CHECK(timing->median_ms <= timing->max_ms);
    }
    CHECK_FALSE(copy_ceiling(0).has_value());
}

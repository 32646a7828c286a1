/// @file wgmma_test.cu
/// Every form of workbook/wgmma.cuh: each N, with A in shared memory and in registers, each operand along and
/// across k, in every mode, and tiles that begin inside of a swizzle's pattern. Elements are small integers,
/// so that sums are exact.
#include "workbook/wgmma.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/launch.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace workbook;

namespace {

constexpr DeviceNeeds hopper{.compute_major = 9};
constexpr int depth = 16;
constexpr std::uint32_t room = 16384; // bytes of shared memory for a tile and what lies before it

/// Where element (line, k) of an operand lies, written out here so that the descriptor is compared with
/// something else: panels as wide as the mode, or 16 bytes, each of `rows` rows; then the bits of the address
/// are exchanged as if the pattern began at `origin`.
struct Place {
    Swizzle mode;
    Major major;
    std::uint32_t lines;
    std::uint32_t start;  ///< of the tile
    std::uint32_t origin; ///< of the pattern

    __host__ __device__ std::uint32_t operator()(std::uint32_t line, std::uint32_t k) const {
        const std::uint32_t width = mode == Swizzle::none ? 16 : 16U << static_cast<unsigned>(mode);
        const std::uint32_t row = major == Major::k ? line : k;
        const std::uint32_t byte = 2 * (major == Major::k ? k : line);
        const std::uint32_t rows = major == Major::k ? lines : depth;
        const std::uint32_t at = start + byte / width * rows * width + row * width + byte % width;
        const std::uint32_t mask = (1U << static_cast<unsigned>(mode)) - 1;
        return at ^ ((at - origin) / 128 & mask) * 16;
    }
};

/// The threads write the tile; `from` has a row of `depth` elements for each line.
__device__ void write_tile(std::byte* memory, const Place& place, const __nv_bfloat16* from) {
    for (std::uint32_t i = threadIdx.x; i < place.lines * depth; i += blockDim.x)
        *reinterpret_cast<__nv_bfloat16*>(memory + place(i / depth, i % depth)) = from[i];
}

/// What wgmma makes of tiles that begin `start` bytes after a 1024-byte boundary and are swizzled as if
/// `origin` were one.
template <int n, Swizzle mode, Major major_a, Major major_b>
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* d, std::uint32_t start,
                        std::uint32_t origin) {
    extern __shared__ __align__(1024) std::byte memory[];
    const Place of_a{mode, major_a, 64, start, origin}, of_b{mode, major_b, n, start, origin};
    write_tile(memory, of_a, a);
    write_tile(memory + room, of_b, b);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const auto descriptor = [&](std::byte* tile, Major major, std::uint32_t lines) {
        MatrixLayout layout = major == Major::k ? k_major(mode, lines) : mn_major(mode, depth);
        layout.base_offset = origin / 128 % 8;
        return matrix_descriptor(tile + start, layout);
    };
    float sums[n / 2];
    wgmma_fence();
    wgmma_multiply<MatrixType::bf16, major_a, major_b>(sums, descriptor(memory, major_a, 64),
                                                       descriptor(memory + room, major_b, n), false);
    wgmma_commit();
    wgmma_wait<0>(sums);
#pragma unroll
    for (int i = 0; i < n / 2; ++i)
        d[accumulator_row(threadIdx.x, i) * n + accumulator_column(threadIdx.x, i)] = sums[i];
}

/// The same with A in registers, added to what D holds. A lane takes its fragment from global memory.
template <int n>
__global__ void product_of_registers(const __nv_bfloat16* a, const __nv_bfloat16* b, float* d) {
    extern __shared__ __align__(1024) std::byte memory[];
    const Place of_b{Swizzle::bytes32, Major::k, n, 0, 0};
    write_tile(memory, of_b, b);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    std::uint32_t fragment[4];
    for (int i = 0; i < 4; ++i) {
        const int row = accumulator_row(threadIdx.x, i % 2 * 2);
        const int k = static_cast<int>(threadIdx.x) % 4 * 2 + i / 2 * 8;
        fragment[i] = *reinterpret_cast<const std::uint32_t*>(a + row * depth + k);
    }
    float sums[n / 2];
#pragma unroll
    for (int i = 0; i < n / 2; ++i)
        sums[i] = d[accumulator_row(threadIdx.x, i) * n + accumulator_column(threadIdx.x, i)];
    wgmma_tie(sums);
    wgmma_fence();
    wgmma_multiply<MatrixType::bf16>(sums, fragment, matrix_descriptor(memory, k_major(Swizzle::bytes32, n)),
                                     true);
    wgmma_commit();
    wgmma_wait<0>(sums);
#pragma unroll
    for (int i = 0; i < n / 2; ++i)
        d[accumulator_row(threadIdx.x, i) * n + accumulator_column(threadIdx.x, i)] = sums[i];
}

std::vector<__nv_bfloat16> small_integers(std::size_t count, std::uint64_t seed) {
    std::vector<__nv_bfloat16> values;
    for (const int value : random_integers<int>(count, seed, -9, 9))
        values.emplace_back(static_cast<float>(value));
    return values;
}

/// A, B, their product and where it goes.
struct Problem {
    explicit Problem(std::size_t columns)
        : n(columns), a(small_integers(64 * depth, n)), b(small_integers(n * depth, n + 1)), of_a(a), of_b(b),
          d(64 * n) {
        for (std::size_t row = 0; row < 64; ++row)
            for (std::size_t column = 0; column < n; ++column) {
                float sum = 0;
                for (std::size_t k = 0; k < depth; ++k)
                    sum += static_cast<float>(a[row * depth + k]) * static_cast<float>(b[column * depth + k]);
                expected.push_back(sum);
            }
    }

    /// Compares D with the product, `times` times. The numbers say which case it was.
    void check(float times, Swizzle mode, std::uint32_t start, std::uint32_t origin) const {
        INFO("N " << n << ", mode " << static_cast<int>(mode));
        INFO("tile at " << start << ", pattern at " << origin);
        std::vector<float> wanted = expected;
        for (float& value : wanted)
            value = value * times + 0.0F; // no product is -0
        CHECK(compare_bits<float>(wanted, d.download()).summary() == "ok");
        CHECK(d.check_guards() == "");
    }

    std::size_t n;
    std::vector<__nv_bfloat16> a, b;
    DeviceBuffer<__nv_bfloat16> of_a, of_b;
    DeviceBuffer<float> d;
    std::vector<float> expected;
};

template <int n, Swizzle mode, Major major_a, Major major_b>
void check_product(std::uint32_t start = 0, std::uint32_t origin = 0) {
    Problem problem(n);
    problem.d.poison();
    launch(product<n, mode, major_a, major_b>, {.block = warpgroup_threads, .dynamic_shared = 2 * room},
           problem.of_a.data(), problem.of_b.data(), problem.d.data(), start, origin);
    problem.check(1, mode, start, origin);
}

template <int n>
void check_n() {
    check_product<n, Swizzle::none, Major::k, Major::k>();
    check_product<n, Swizzle::bytes32, Major::k, Major::k>();
    Problem problem(n);
    problem.d.upload(problem.expected);
    launch(product_of_registers<n>, {.block = warpgroup_threads, .dynamic_shared = room}, problem.of_a.data(),
           problem.of_b.data(), problem.d.data());
    problem.check(2, Swizzle::bytes32, 0, 0);
}

template <Swizzle mode>
void check_mode() {
    check_product<64, mode, Major::mn, Major::k>();
    check_product<64, mode, Major::k, Major::mn>();
    check_product<64, mode, Major::mn, Major::mn>();
}

} // namespace

TEST_CASE("every N of wgmma.cuh, with A in shared memory and in registers") {
    require_device(hopper);
    check_n<8>();
    check_n<16>();
    check_n<32>();
    check_n<64>();
    check_n<128>();
    check_n<192>();
    check_n<256>();
}

TEST_CASE("each operand along and across k, in every mode") {
    require_device(hopper);
    check_mode<Swizzle::none>();
    check_mode<Swizzle::bytes32>();
    check_mode<Swizzle::bytes64>();
    check_mode<Swizzle::bytes128>();
}

TEST_CASE("a tile may begin inside of a pattern of absolute addresses, and needs no base offset then") {
    require_device(hopper);
    for (std::uint32_t start = 0; start < 1024; start += 128) {
        check_product<64, Swizzle::bytes128, Major::mn, Major::mn>(start, 0);
        check_product<64, Swizzle::bytes64, Major::mn, Major::mn>(start, 0);
        check_product<64, Swizzle::bytes128, Major::k, Major::k>(start, 0);
        check_product<64, Swizzle::bytes32, Major::k, Major::k>(start, 0);
    }
}

TEST_CASE("a pattern that begins with the tile needs its place as base offset") {
    require_device(hopper);
    for (std::uint32_t start = 0; start < 1024; start += 128) {
        check_product<64, Swizzle::bytes128, Major::mn, Major::mn>(start, start);
        check_product<64, Swizzle::bytes64, Major::mn, Major::mn>(start, start);
        check_product<64, Swizzle::bytes128, Major::k, Major::k>(start, start);
        check_product<64, Swizzle::bytes32, Major::k, Major::k>(start, start);
    }
}

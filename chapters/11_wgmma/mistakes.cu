/// @file mistakes.cu
/// Chapter 11, wrong on purpose: products of which somebody does not wait for the beginning or the end, and
/// operands that are described wrongly.
#include "wgmma.cuh"

#include "workbook/buffer.hpp"
#include "workbook/mistakes.hpp"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace wgmma;
using workbook::DeviceBuffer;
using workbook::MatrixLayout;

constexpr int rows = 64; // one tile
constexpr auto mode = Swizzle::bytes128;
using Sums = float[sums_per_thread];

/// The multiplications of a whole tile, neither fenced nor committed.
__device__ void multiply_tile(Sums& sums, const Operands& tile, bool adds) {
    const std::uint64_t a = matrix_descriptor(tile.a, k_major(mode, tile_rows));
    const std::uint64_t b = matrix_descriptor(tile.b, k_major(mode, tile_columns));
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k)
        wgmma_multiply<bf16>(sums, advanced(a, 32 * k), advanced(b, 32 * k), adds || k > 0);
}

/// One thread: lets a tensor copy bring the tile.
__device__ void ask_for(void* tile, const CUtensorMap& map, std::uint64_t* bar) {
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, bar,
                            std::uint32_t{tile_bytes});
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, {0, 0, 0}, bar);
}

/// The accumulators are stored although nobody has waited for the group.
__global__ void used_before_the_wait(const __grid_constant__ CUtensorMap a_map,
                                     const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    Sums sums;
    wgmma_fence();
    multiply_tile(sums, tile, false); // expect: wgmma-register-in-flight
    wgmma_commit();                   // should be followed by wgmma_wait<0>(sums)
    store_sums(sums, d, rows);        // expect: wgmma-register-in-flight
    wgmma_wait<0>();
}

/// The sums are scaled before more is added to them, and nothing orders the scaling before the second
/// product.
__global__ void scaled_without_a_fence(const __grid_constant__ CUtensorMap a_map,
                                       const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    Sums sums;
    wgmma_fence();
    multiply_tile(sums, tile, false);
    wgmma_commit();
    wgmma_wait<0>(sums);
#pragma unroll
    for (int i = 0; i < sums_per_thread; ++i)
        sums[i] *= 0.5F; // expect: missing-wgmma-fence
    // should be followed by workbook::wgmma_tie(sums) and wgmma_fence()
    multiply_tile(sums, tile, true); // expect: missing-wgmma-fence
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// The next tile of A is asked for while the product may still read this one.
__global__ void overwritten_while_read(const __grid_constant__ CUtensorMap a_map,
                                       const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    Sums sums;
    wgmma_fence();
    multiply_tile(sums, tile, false); // expect: reuse-before-read-done
    wgmma_commit();                   // should be followed by wgmma_wait<0>(sums)
    if (threadIdx.x == 0) {
        ask_for(tile.a, a_map, &tile.bar); // expect: reuse-before-read-done
        ptx::mbarrier_arrive(&tile.bar);
    }
    wait(&tile.bar, 1);
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// Threads double A in shared memory. wgmma reads it through the other proxy.
__global__ void written_without_a_proxy_fence(const __grid_constant__ CUtensorMap a_map,
                                              const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    auto* pairs = reinterpret_cast<__nv_bfloat162*>(tile.a);
    for (std::uint32_t i = threadIdx.x; i < tile_bytes / 4; i += block_threads)
        pairs[i] = pairs[i] + pairs[i]; // expect: missing-proxy-fence
    // should be followed by ptx::fence_proxy_async(ptx::space_shared)
    __syncthreads();
    Sums sums;
    wgmma_fence();
    multiply_tile(sums, tile, false); // expect: missing-proxy-fence
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// The copies are asked for, and nobody waits for their bytes.
__global__ void not_yet_arrived(const __grid_constant__ CUtensorMap a_map,
                                const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&tile.bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ask_for(tile.a, a_map, &tile.bar); // expect: read-before-completion
        ask_for(tile.b, b_map, &tile.bar); // expect: read-before-completion
        ptx::mbarrier_arrive(&tile.bar);
    }
    __syncthreads(); // should be followed by wait(&tile.bar, 0)
    Sums sums;
    wgmma_fence();
    multiply_tile(sums, tile, false); // expect: read-before-completion
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
    wait(&tile.bar, 0);
}

/// The offset of eight rows in the field as it is, and not in units of 16 bytes.
__global__ void stride_in_bytes(const __grid_constant__ CUtensorMap a_map,
                                const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    constexpr std::uint64_t stride = 8 * row_bytes; // should be divided by 16
    const std::uint64_t a = matrix_descriptor(tile.a, {.swizzle = mode}) | stride << 32;
    const std::uint64_t b = matrix_descriptor(tile.b, {.swizzle = mode}) | stride << 32;
    Sums sums;
    wgmma_fence();
    wgmma_multiply<bf16>(sums, a, b, false); // expect: out-of-bounds
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// The mode as the tensor map counts it: 3 is 128 bytes there, and 32 bytes here.
__global__ void mode_of_the_map(const __grid_constant__ CUtensorMap a_map,
                                const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    const MatrixLayout layout{.leading = 16, .stride = 8 * row_bytes};
    constexpr auto code = static_cast<std::uint64_t>(mode); // should be descriptor_swizzle(mode)
    const std::uint64_t a = matrix_descriptor(tile.a, layout) | code << 62;
    const std::uint64_t b = matrix_descriptor(tile.b, layout) | code << 62;
    Sums sums;
    wgmma_fence();
    wgmma_multiply<bf16>(sums, a, b, false); // expect: swizzle-mismatch
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// Nothing is wrong with this kernel. It is launched with two warps.
__global__ void half_a_warpgroup(const __grid_constant__ CUtensorMap a_map,
                                 const __grid_constant__ CUtensorMap b_map, float* d) {
    __shared__ Operands tile;
    load_operands(tile, a_map, b_map);
    Sums sums;
    wgmma_fence();
    multiply_tile(sums, tile, false); // expect: divergent-wgmma
    wgmma_commit();
    wgmma_wait<0>(sums);
    store_sums(sums, d, rows);
}

/// Launches one block of so many threads with an A and a B of ones.
void run(void (*kernel)(CUtensorMap, CUtensorMap, float*), unsigned threads = block_threads) {
    const std::vector<__nv_bfloat16> ones(64 * 64, 1.F);
    const DeviceBuffer<__nv_bfloat16> a(ones), b(ones);
    DeviceBuffer<float> d(64 * 64);
    const auto map = [](const auto& buffer) {
        return panels_map(Matrix<const __nv_bfloat16>{buffer.data(), 64, 64, 64}, mode);
    };
    workbook::launch(kernel, {.block = threads}, map(a), map(b), d.data());
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"used_before_the_wait", "accumulators stored before the wait", [] { run(used_before_the_wait); }},
    {"scaled_without_a_fence", "accumulators changed, and no wgmma.fence before the next product",
     [] { run(scaled_without_a_fence); }},
    {"overwritten_while_read", "an operand overwritten while it is read",
     [] { run(overwritten_while_read); }},
    {"written_without_a_proxy_fence", "an operand written by threads, without a proxy fence",
     [] { run(written_without_a_proxy_fence); }},
    {"not_yet_arrived", "an operand that has not arrived", [] { run(not_yet_arrived); }},
    {"stride_in_bytes", "a descriptor whose stride leads out of shared memory", [] { run(stride_in_bytes); }},
    {"mode_of_the_map", "a descriptor with another swizzle than the map", [] { run(mode_of_the_map); }},
    {"half_a_warpgroup", "a block of 64 threads", [] { run(half_a_warpgroup, 64); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }

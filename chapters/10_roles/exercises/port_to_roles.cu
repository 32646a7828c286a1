/// @file port_to_roles.cu
/// Exercise: port this kernel from cp.async to a ring with roles, fed by TMA.
///
/// Given    A product of a matrix and a vector, out = a · x, which works: every block takes panels of 64 rows
///          in turn, brings them slice by slice (64 × 32 ints of `a`, 32 of `x`) through two buffers with
///          cp.async, all 96 threads copy, threads 0 to 63 have a row each, and all meet twice for a slice.
///          Rows of a buffer are padded with 16 bytes against bank conflicts; rows beyond the matrix are
///          filled with zeros. `columns` is a multiple of 32; `a` and `x` begin at multiples of 16 bytes.
///          `map` is the tensor map that the judge makes of what layout_of says.
/// Wanted   The same result by roles: one thread of warp 2 asks for the slices, a tensor copy for `a` and a
///          bulk copy for `x`, and warps 0 and 1 multiply. There are four stages.
/// Missing  1. the box and the swizzle. A tensor copy pads no rows: what keeps the banks apart now?
///          2. all of the kernel's parts: what is to be thrown away, and what takes its place?
/// Judged   By the result for matrices of several shapes; by counters: two copies for a slice, by warp 2,
///          and no cp.async; one barrier of the block; one arrival for each warp and slice; loads that are
///          ahead of their use; no bank conflict.
#include "workbook/ring.cuh"
#include "workbook/swizzle.hpp"

#include <cuda.h>
#include <cuda/ptx>
#include <cuda_pipeline_primitives.h>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::RingState;

constexpr int panel_rows = 64;
constexpr int slice = 32; ///< columns that come at a time: 128 bytes of each row
constexpr int chunks = slice / 4;
constexpr int consumer_warps = panel_rows / 32;
constexpr int block_threads = panel_rows + 32;
constexpr int stages = 4;

/// A matrix of rows × columns, stored by rows, a vector of `columns` and one of `rows`.
struct Product {
    const int* a;
    const int* x;
    int* out;
    unsigned rows;
    unsigned columns;

    __device__ unsigned panels() const { return (rows + panel_rows - 1) / panel_rows; }
    __device__ unsigned slices() const { return columns / slice; }
};

/// A tensor in global memory and the box that one copy moves.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
    workbook::Swizzle swizzle;
};

/// The layout of `a`.
__host__ __device__ inline Layout layout_of(Product product) {
    return {.dims = {product.columns, product.rows},
            .strides = {product.columns * sizeof(int)},
            .box = {4, 1}, // YOUR CODE (1)
            .swizzle = workbook::Swizzle::none};
}

/// For the judge; one thread.
__global__ void layout(Product product, Layout* result) { *result = layout_of(product); }

/// The sum of four products.
__device__ inline int dot(int4 a, int4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// YOUR CODE (2): from here to the end. This is how it works with cp.async.
struct Buffer {
    alignas(16) int a[panel_rows][slice + 4]; // padded: eight lanes that read a chunk each hit all banks
    alignas(16) int x[slice];
};

/// All threads: start the copies of slice k of a panel.
__device__ void fetch(Buffer& buffer, const Product& product, unsigned panel, unsigned k) {
    for (unsigned i = threadIdx.x; i < panel_rows * chunks; i += block_threads) {
        const unsigned row = panel * panel_rows + i / chunks;
        const std::size_t from = std::size_t{row} * product.columns + k * slice + i % chunks * 4;
        __pipeline_memcpy_async(&buffer.a[i / chunks][i % chunks * 4], product.a + from, 16,
                                row < product.rows ? 0 : 16);
    }
    if (threadIdx.x < chunks)
        __pipeline_memcpy_async(&buffer.x[threadIdx.x * 4], product.x + k * slice + threadIdx.x * 4, 16);
}

/// This thread's row of a slice, times the slice of x.
__device__ int multiply(const Buffer& buffer, unsigned row) {
    int sum = 0;
    for (unsigned chunk = 0; chunk < chunks; ++chunk)
        sum += dot(reinterpret_cast<const int4*>(buffer.a[row])[chunk],
                   reinterpret_cast<const int4*>(buffer.x)[chunk]);
    return sum;
}

__global__ void port_to_roles(const __grid_constant__ CUtensorMap map, Product product) {
    __shared__ Buffer buffers[2];
    for (unsigned panel = blockIdx.x; panel < product.panels(); panel += gridDim.x) {
        int sum = 0;
        fetch(buffers[0], product, panel, 0);
        __pipeline_commit();
        for (unsigned k = 0; k < product.slices(); ++k) {
            if (k + 1 < product.slices())
                fetch(buffers[(k + 1) % 2], product, panel, k + 1);
            __pipeline_commit();
            __pipeline_wait_prior(1);
            __syncthreads();
            if (threadIdx.x < panel_rows)
                sum += multiply(buffers[k % 2], threadIdx.x);
            __syncthreads();
        }
        const unsigned row = panel * panel_rows + threadIdx.x;
        if (threadIdx.x < panel_rows && row < product.rows)
            product.out[row] = sum;
    }
}

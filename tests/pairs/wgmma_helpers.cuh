#pragma once
/// \file
/// What kernels with wgmma share: the instructions, descriptors, tiles of bf16 that TMA loads in swizzled
/// form, and products on the host. The matrices hold small integers, so every sum is exact.

#include "roles_helpers.cuh"

#include <bit>

namespace wg {

using Bf16 = std::uint16_t; ///< Its bits.

constexpr int group_threads = 128;
constexpr int group_warps = group_threads / 32;
constexpr int rows = 64, columns = 32, depth = 64; ///< A tile of A is rows x depth, one of B columns x depth.
constexpr int step = 16;                           ///< k of one wgmma.

__device__ inline void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// A thread's share of D: 64 x 32.
using Sums = float[columns / 2];

/// Keeps the compiler from moving uses of the accumulators over a wait.
__device__ inline void tie(Sums& d) {
#pragma unroll
    for (float& each : d)
        asm volatile("" : "+f"(each)::"memory");
}

__device__ inline void multiply(Sums& d, std::uint64_t a, std::uint64_t b, bool adds) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %18, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                 "%16, %17, p, 1, 1, 0, 0;\n\t}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                   "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
                   "+f"(d[14]), "+f"(d[15])
                 : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
}
/// A in registers.
__device__ inline void multiply(Sums& d, const std::uint32_t (&a)[4], std::uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                 "{%16, %17, %18, %19}, %20, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                   "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
                   "+f"(d[14]), "+f"(d[15])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/// A descriptor of a tile in rows of 128 bytes, in the 128-byte swizzle: 1024 bytes from eight rows to the
/// next.
__device__ inline std::uint64_t swizzled_tile(const void* tile) {
    return roles::smem(tile) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
/// From one step of k to the next in such a tile.
constexpr std::uint64_t next_step = step * sizeof(Bf16) >> 4;

__device__ inline void multiply_tiles(Sums& d, const Bf16* a, const Bf16* b, bool adds) {
    const std::uint64_t of_a = swizzled_tile(a), of_b = swizzled_tile(b);
#pragma unroll
    for (int k = 0; k < depth / step; ++k)
        multiply(d, of_a + k * next_step, of_b + k * next_step, adds || k > 0);
}

/// Which element of D the thread has as its i-th.
__device__ inline int row_of(int i) {
    return static_cast<int>(threadIdx.x % group_threads / 32 * 16 + threadIdx.x % 32 / 4) + i / 2 % 2 * 8;
}
__device__ inline int column_of(int i) { return i / 4 * 8 + static_cast<int>(threadIdx.x % 4) * 2 + i % 2; }

__device__ inline void store_sums(float* out, const Sums& d) {
#pragma unroll
    for (int i = 0; i < columns / 2; ++i)
        out[row_of(i) * columns + column_of(i)] = d[i];
}

struct Tiles {
    alignas(1024) Bf16 a[rows * depth];
    alignas(1024) Bf16 b[columns * depth];
};

/// Both tiles of one k.
__device__ inline void load_tiles(Tiles& into, const CUtensorMap& a, const CUtensorMap& b, int k,
                                  roles::Barrier& full) {
    roles::arrive_expect(full, sizeof into.a + sizeof into.b);
    roles::load_2d(into.a, a, k * depth, 0, full);
    roles::load_2d(into.b, b, k * depth, 0, full);
}

// -- the host's part

inline Bf16 bf16(int value) {
    return static_cast<Bf16>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

/// A row-major matrix of small integers.
struct Matrix {
    int height, width;
    std::vector<int> values;

    Matrix(int h, int w, unsigned seed) : height(h), width(w), values(pairs::random_ints(h * w, seed)) {
        for (int& value : values)
            value = value % 9 - 4;
    }
    int at(int row, int column) const { return values[row * width + column]; }
    std::vector<Bf16> bits() const {
        std::vector<Bf16> result;
        for (const int value : values)
            result.push_back(bf16(value));
        return result;
    }
};

/// A times B transposed, over k from `from` on.
inline std::vector<float> product(const Matrix& a, const Matrix& b, int from, int to) {
    std::vector<float> result;
    for (int row = 0; row < a.height; ++row)
        for (int column = 0; column < b.height; ++column) {
            int sum = 0;
            for (int k = from; k < to; ++k)
                sum += a.at(row, k) * b.at(column, k);
            result.push_back(static_cast<float>(sum));
        }
    return result;
}

/// A matrix as a tensor, to be loaded in tiles of `box_rows` rows of 128 bytes, swizzled.
inline CUtensorMap tile_map(Bf16* data, int height, int width, int box_rows) {
    void* function = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
    pairs::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                  cudaEnableDefault, &found),
                 "cudaGetDriverEntryPointByVersion");
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(width), static_cast<cuuint64_t>(height)};
    const cuuint64_t strides[] = {width * sizeof(Bf16)};
    const cuuint32_t box[] = {depth, static_cast<cuuint32_t>(box_rows)};
    const cuuint32_t steps[] = {1, 1};
    CUtensorMap map{};
    const auto code = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    pairs::check(code == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "cuTensorMapEncodeTiled");
    return map;
}

using TmaKernel = void (*)(CUtensorMap, CUtensorMap, float*, int);

/// Whether `kernel` gives the product of a 64 x 64*tiles and a 32 x 64*tiles matrix.
inline bool is_product(TmaKernel kernel, int tiles, int threads) {
    const Matrix a(rows, tiles * depth, 1), b(columns, tiles * depth, 2);
    pairs::Device<Bf16> of_a(a.bits()), of_b(b.bits());
    pairs::Device<float> out(rows * columns);
    kernel<<<1, threads>>>(tile_map(of_a.data(), rows, a.width, rows),
                           tile_map(of_b.data(), columns, b.width, columns), out.data(), tiles);
    return out.read() == product(a, b, 0, a.width);
}

} // namespace wg

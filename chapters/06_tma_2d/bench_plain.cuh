/// @file bench_plain.cuh
/// Chapter 6's measurements: add_one_matrix and box_filter_3x3 without any tensor copy. The matrix, the tiles
/// and the threads of a block are the same; every thread asks where the matrix ends. The filters are measured
/// in bench_filter.cuh.
#pragma once

#include "tma_2d.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tma_2d {

using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

// ---- adding one ----

/// Whether a thread has all its elements on their way before it stores the first.
enum class Loads { one_by_one, all_first };

/// As add_one_matrix: each thread loads and stores the elements of the tile that are its own. They need no
/// shared memory.
template <Loads loads>
__global__ void __launch_bounds__(block_threads) add_one_plain(Matrix<int> matrix) {
    constexpr int each = tile_elements / block_threads;
    const int width = static_cast<int>(matrix.width);
    const int height = static_cast<int>(matrix.height);
    const auto x = static_cast<int>(blockIdx.x * tile_width + threadIdx.x % tile_width);
    const auto y = static_cast<int>(blockIdx.y * tile_height + threadIdx.x / tile_width);
    constexpr int step = block_threads / tile_width; // rows from one element of a thread to its next
    int* const first = matrix.data + y * matrix.pitch + x;
    const auto inside = [&](int k) { return x < width && y + k * step < height; };
    if constexpr (loads == Loads::one_by_one) {
#pragma unroll
        for (int k = 0; k < each; ++k)
            if (inside(k))
                first[k * step * matrix.pitch] += 1;
    } else {
        int values[each];
#pragma unroll
        for (int k = 0; k < each; ++k)
            if (inside(k))
                values[k] = first[k * step * matrix.pitch];
#pragma unroll
        for (int k = 0; k < each; ++k)
            if (inside(k))
                first[k * step * matrix.pitch] = values[k] + 1;
    }
}

// ---- the 3×3 filter ----

/// The element (x, y), 0 where the matrix has none. A negative coordinate becomes one that is too large: two
/// tests instead of four, and no branch.
__device__ inline unsigned element_or_zero(const Matrix<const unsigned>& matrix, int x, int y) {
    const bool in_row = static_cast<unsigned>(x) < static_cast<unsigned>(matrix.width);
    const bool in_column = static_cast<unsigned>(y) < static_cast<unsigned>(matrix.height);
    unsigned value = 0;
    if (in_row & in_column)
        value = matrix.data[y * static_cast<std::ptrdiff_t>(matrix.pitch) + x];
    return value;
}

/// As box_filter_3x3, with the halo brought by plain loads, all of a thread's before it stores the first to
/// shared memory. It brings one column on each side, which is all that is needed.
__global__ void __launch_bounds__(block_threads)
    box_filter_plain(Matrix<const unsigned> from, Matrix<unsigned> to) {
    constexpr int margin = 1;
    constexpr int row = tile_width + 2 * margin;
    constexpr int elements = row * halo_height;
    constexpr int each = (elements + block_threads - 1) / block_threads;
    __shared__ unsigned halo[elements];
    const auto left = static_cast<int>(blockIdx.x * tile_width);
    const auto top = static_cast<int>(blockIdx.y * tile_height);
    // Only a thread's last element may be one too many: the compiler must see that, or it branches each time.
    const auto has = [](int k, int i) { return k < each - 1 || i < elements; };
    unsigned values[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = static_cast<int>(threadIdx.x) + k * block_threads;
        if (has(k, i))
            values[k] = element_or_zero(from, left - margin + i % row, top - 1 + i / row);
    }
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = static_cast<int>(threadIdx.x) + k * block_threads;
        if (has(k, i))
            halo[i] = values[k];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < tile_elements; i += block_threads) {
        const unsigned* corner = halo + i / tile_width * row + i % tile_width + margin - 1;
        unsigned sum = 0;
        for (int k = 0; k < 9; ++k)
            sum += corner[k / 3 * row + k % 3];
        const int x = left + i % tile_width;
        const int y = top + i / tile_width;
        if (x < static_cast<int>(to.width) && y < static_cast<int>(to.height))
            to.data[y * to.pitch + x] = sum;
    }
}

/// The same sums with no tile at all: a thread loads the nine elements of each of its sums from global
/// memory, and what its neighbours load too comes from L1.
__global__ void __launch_bounds__(block_threads)
    box_filter_from_l1(Matrix<const unsigned> from, Matrix<unsigned> to) {
    const auto left = static_cast<int>(blockIdx.x * tile_width);
    const auto top = static_cast<int>(blockIdx.y * tile_height);
    for (int i = threadIdx.x; i < tile_elements; i += block_threads) {
        const int x = left + i % tile_width;
        const int y = top + i / tile_width;
        unsigned sum = 0;
        for (int k = 0; k < 9; ++k)
            sum += element_or_zero(from, x + k % 3 - 1, y + k / 3 - 1);
        if (x < static_cast<int>(to.width) && y < static_cast<int>(to.height))
            to.data[y * to.pitch + x] = sum;
    }
}

/// The same with as little work as we can: a thread has eight elements one below the other, so that it tests
/// its three columns once, and each sum of three in a row serves three results.
__global__ void __launch_bounds__(block_threads)
    box_filter_by_columns(Matrix<const unsigned> from, Matrix<unsigned> to) {
    constexpr int each = tile_elements / block_threads;
    const int height = static_cast<int>(to.height);
    const auto x = static_cast<int>(blockIdx.x * tile_width + threadIdx.x % tile_width);
    const auto y = static_cast<int>(blockIdx.y * tile_height + threadIdx.x / tile_width * each);
    unsigned sums[each + 2]; // of the rows y - 1 to y + each
#pragma unroll
    for (int k = 0; k < each + 2; ++k)
        sums[k] = element_or_zero(from, x - 1, y + k - 1) + element_or_zero(from, x, y + k - 1) +
                  element_or_zero(from, x + 1, y + k - 1);
    unsigned* const first = to.data + y * to.pitch + x;
#pragma unroll
    for (int k = 0; k < each; ++k)
        if (x < static_cast<int>(to.width) && y + k < height)
            first[k * to.pitch] = sums[k] + sums[k + 1] + sums[k + 2];
}

// ---- the measurement ----

/// Adds to *wrong how many elements of two matrices of one shape differ. What a tensor store wrote behind the
/// end of a row is not looked at.
__global__ void count_different_elements(Matrix<const unsigned> a, Matrix<const unsigned> b,
                                         unsigned long long* wrong) {
    for (std::size_t y = blockIdx.x; y < a.height; y += gridDim.x)
        for (std::size_t x = threadIdx.x; x < a.width; x += blockDim.x)
            if (a.data[y * a.pitch + x] != b.data[y * b.pitch + x])
                atomicAdd(wrong, 1ull);
}

/// A matrix of random words, room for a result, and the result of the chapter's kernel to compare it with.
struct PlainTiles {
    explicit PlainTiles(workbook::Shape of)
        : shape(of), in(of.padded_size<unsigned>()), out(in.size()), chapters(in.size()) {
        randomize(in);
    }
    static void randomize(DeviceBuffer<unsigned>& words) {
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(words.size()),
                         words.data(), words.size());
    }
    /// As the chapter's program counts them: each element read once and written once.
    [[nodiscard]] std::size_t bytes() const { return 2 * shape.width * shape.height * sizeof(unsigned); }
    [[nodiscard]] Matrix<const unsigned> input() const { return shape.view(in.data()); }

    workbook::Shape shape;
    DeviceBuffer<unsigned> in;
    DeviceBuffer<unsigned> out;
    DeviceBuffer<unsigned> chapters;
};

/// A kernel with its name. It reads `in` where it does not add one in place.
struct PlainKernel {
    const char* name;
    void (*launch)(Matrix<const unsigned> in, Matrix<unsigned> out);
};

inline Matrix<int> as_ints(Matrix<unsigned> matrix) {
    return {reinterpret_cast<int*>(matrix.data), matrix.width, matrix.height, matrix.pitch};
}

template <Loads loads>
void launch_add_one_plain(Matrix<const unsigned>, Matrix<unsigned> matrix) {
    workbook::launch(add_one_plain<loads>, {.grid = tiles_of(matrix), .block = block_threads},
                     as_ints(matrix));
}

template <auto kernel>
void launch_filter(Matrix<const unsigned> in, Matrix<unsigned> out) {
    workbook::launch(kernel, {.grid = tiles_of(out), .block = block_threads}, in, out);
}

/// Runs the chapter's kernel, which comes first, and its opponents, compares their results, and adds the
/// times.
inline void plain_rows(Bench& bench, PlainTiles& tiles, const std::vector<PlainKernel>& kernels,
                       double ceiling) {
    for (const PlainKernel& kernel : kernels) {
        const bool is_chapters = &kernel == &kernels.front();
        DeviceBuffer<unsigned>& result = is_chapters ? tiles.chapters : tiles.out;
        PlainTiles::randomize(result); // what is added to, and what no filter leaves as it is
        kernel.launch(tiles.input(), tiles.shape.view(result.data()));
        DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
        workbook::launch(count_different_elements, {.grid = 132, .block = 256},
                         tiles.shape.view<const unsigned>(result.data()),
                         tiles.shape.view<const unsigned>(tiles.chapters.data()), wrong.data());
        if (const auto found = wrong.download().front(); found > 0)
            bench.wrong(std::string(kernel.name) + ": " + std::to_string(found) +
                        " elements differ from those of " + kernels.front().name);
        // Timed, all work on the same memory. The chapter's results stay as they are.
        const auto timing = bench.time_checked(tiles.bytes(), [&](cudaStream_t) {
            kernel.launch(tiles.input(), tiles.shape.view(tiles.out.data()));
        });
        bench.row("plain_tiles",
                  workbook::joined<BenchCell>({{"kernel", kernel.name}},
                                              workbook::timing_cells(timing, tiles.bytes(), ceiling)));
    }
}

inline void plain_tiles(Bench& bench) {
    bench.table("plain_tiles",
                "Adding one to a matrix in tiles of 64 × 16: by tensor copies, and by plain loads",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"}}, workbook::timing_columns()));
    PlainTiles tiles(workbook::shape_of(bench.size<std::size_t>(100'000'000, 60'001)));
    const auto copy = [&](const char* name) {
        const auto timing = bench.ceiling(tiles.bytes());
        const double rate = timing ? timing->bytes_per_second(tiles.bytes()) : 0;
        bench.row("plain_tiles",
                  workbook::joined<BenchCell>({{"kernel", name}},
                                              workbook::timing_cells(timing, tiles.bytes(), rate)));
        return rate;
    };
    const double ceiling = copy("copy before");
    plain_rows(bench, tiles,
               {{"add_one_matrix",
                 [](Matrix<const unsigned>, Matrix<unsigned> out) { launch_add_one_matrix(as_ints(out)); }},
                {"add_one_plain, one by one", launch_add_one_plain<Loads::one_by_one>},
                {"add_one_plain, all loads first", launch_add_one_plain<Loads::all_first>}},
               ceiling);
    copy("copy after");
}

} // namespace tma_2d

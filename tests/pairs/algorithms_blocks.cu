// Classic algorithms within a block and a warp: reductions, scans, sorts, histograms, stencils, queues.
#include "pairs.hpp"

#include <cuda/atomic>

#include <algorithm>

namespace {

constexpr unsigned full_warp = 0xffffffff;

// --- Sums of blocks by shuffles; the last warp is not full.

template <bool broken>
__global__ void sum_kernel(const int* in, unsigned* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    if constexpr (broken) {
        if (i >= count)
            return;
        sum = in[i];
    } else {
        if (i < count)
            sum = in[i];
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(full_warp, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}

bool sum_of_all(bool broken) {
    const auto host = pairs::random_ints(300);
    unsigned expected = 0;
    for (int each : host)
        expected += each;
    pairs::Device<int> in(host);
    pairs::Device<unsigned> out(std::vector<unsigned>(1));
    (broken ? sum_kernel<true> : sum_kernel<false>)<<<3, 128>>>(in.data(), out.data(), int(host.size()));
    return out.read() == std::vector{expected};
}

// --- How far each element is below its row's greatest: warps first, then the warps' results.

template <int warps, bool broken>
__global__ void row_max_kernel(const int* matrix, int* out, int width) {
    __shared__ int partial[warps];
    const int t = threadIdx.x;
    int best = 0;
    for (int i = t; i < width; i += warps * 32)
        best = max(best, matrix[blockIdx.x * width + i]);
    for (int offset = 16; offset > 0; offset /= 2)
        best = max(best, __shfl_xor_sync(full_warp, best, offset));
    if (t % 32 == 0)
        partial[t / 32] = best;
    __syncthreads();
    if (t < warps) {
        constexpr unsigned mask = broken ? full_warp : (1u << warps) - 1;
        best = partial[t];
        for (int offset = warps / 2; offset > 0; offset /= 2)
            best = max(best, __shfl_xor_sync(mask, best, offset));
        if (t == 0)
            partial[0] = best;
    }
    __syncthreads();
    for (int i = t; i < width; i += warps * 32)
        out[blockIdx.x * width + i] = partial[0] - matrix[blockIdx.x * width + i];
}

bool row_max(bool broken) {
    constexpr int warps = 4, width = 300, rows = 3;
    const auto host = pairs::random_ints(rows * width);
    std::vector<int> expected(host.size());
    for (int i = 0; i < rows * width; ++i) {
        const auto row = host.begin() + i / width * width;
        expected[i] = *std::max_element(row, row + width) - host[i];
    }
    pairs::Device<int> matrix(host), out(host.size());
    (broken ? row_max_kernel<warps, true>
            : row_max_kernel<warps, false>)<<<rows, warps * 32>>>(matrix.data(), out.data(), width);
    return out.read() == expected;
}

// --- A bitonic sort that pays for block barriers only where elements cross warps.

constexpr int sort_size = 128;

template <bool broken>
__global__ void sort_kernel(int* data) {
    __shared__ int key[sort_size];
    const int t = threadIdx.x;
    key[t] = data[blockIdx.x * sort_size + t];
    __syncthreads();
    for (int length = 2; length <= sort_size; length *= 2)
        for (int step = length / 2; step > 0; step /= 2) {
            const int other = t ^ step;
            if (other > t) {
                const bool ascending = (t & length) == 0;
                const int a = key[t], b = key[other];
                if ((a > b) == ascending) {
                    key[t] = b;
                    key[other] = a;
                }
            }
            if (step >= 32 || (!broken && step == 1))
                __syncthreads();
            else
                __syncwarp();
        }
    data[blockIdx.x * sort_size + t] = key[t];
}

bool sort(bool broken) {
    auto host = pairs::random_ints(2 * sort_size);
    pairs::Device<int> data(host);
    (broken ? sort_kernel<true> : sort_kernel<false>)<<<2, sort_size>>>(data.data());
    std::sort(host.begin(), host.begin() + sort_size);
    std::sort(host.begin() + sort_size, host.end());
    return data.read() == host;
}

// --- One histogram a chunk; the bins are cleared as they are written out.

constexpr int bins = 64, histogram_threads = 96, chunk = 500;

template <bool broken>
__global__ void histogram_kernel(const int* in, int* out, int chunks) {
    __shared__ int count[bins];
    for (int b = threadIdx.x; b < bins; b += histogram_threads)
        count[b] = 0;
    __syncthreads();
    for (int c = blockIdx.x; c < chunks; c += gridDim.x) {
        for (int i = threadIdx.x; i < chunk; i += histogram_threads)
            atomicAdd(&count[in[c * chunk + i] % bins], 1);
        __syncthreads();
        for (int b = threadIdx.x; b < bins; b += histogram_threads) {
            out[c * bins + b] = count[b];
            count[b] = 0;
        }
        if constexpr (!broken)
            __syncthreads();
    }
}

bool histogram(bool broken) {
    constexpr int chunks = 5;
    const auto host = pairs::random_ints(chunks * chunk);
    std::vector<int> expected(chunks * bins);
    for (int i = 0; i < chunks * chunk; ++i)
        ++expected[i / chunk * bins + host[i] % bins];
    pairs::Device<int> in(host), out(expected.size());
    (broken ? histogram_kernel<true> : histogram_kernel<false>)<<<2, histogram_threads>>>(in.data(),
                                                                                          out.data(), chunks);
    return out.read() == expected;
}

// --- An inclusive scan of a long array by one block, tile after tile, with a carry.

constexpr int scan_threads = 128;

template <bool broken>
__global__ void scan_kernel(const unsigned* in, unsigned* out, int tiles) {
    __shared__ unsigned warp_sums[scan_threads / 32], carry;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0)
        carry = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        unsigned sum = in[tile * scan_threads + t];
        for (int offset = 1; offset < 32; offset *= 2) {
            const unsigned below = __shfl_up_sync(full_warp, sum, offset);
            sum += lane >= offset ? below : 0;
        }
        if (lane == 31)
            warp_sums[warp] = sum;
        __syncthreads();
        for (int w = 0; w < warp; ++w)
            sum += warp_sums[w];
        sum += carry;
        out[tile * scan_threads + t] = sum;
        if constexpr (!broken)
            __syncthreads();
        if (t == scan_threads - 1)
            carry = sum;
        if constexpr (broken)
            __syncthreads();
    }
}

bool scan(bool broken) {
    constexpr int tiles = 4;
    const auto ints = pairs::random_ints(tiles * scan_threads);
    std::vector<unsigned> host(ints.begin(), ints.end());
    pairs::Device<unsigned> in(host), out(host.size());
    (broken ? scan_kernel<true> : scan_kernel<false>)<<<1, scan_threads>>>(in.data(), out.data(), tiles);
    for (int i = 1; i < int(host.size()); ++i)
        host[i] += host[i - 1];
    return out.read() == host;
}

// --- A stencil: the tile of the block and a halo on either side.

constexpr int stencil_width = 128, radius = 3;

template <int capacity>
__global__ void stencil_kernel(const int* in, const int* coefficients, int* out, int count) {
    __shared__ int tile[capacity];
    __shared__ int weight[2 * radius + 1];
    const int t = threadIdx.x, i = blockIdx.x * stencil_width + t;
    const auto at = [&](int k) { return k < 0 || k >= count ? 0 : in[k]; };
    if (t <= 2 * radius)
        weight[t] = coefficients[t];
    tile[t + radius] = at(i);
    if (t >= stencil_width - radius)
        tile[t + 2 * radius] = at(i + radius);
    if (t < radius)
        tile[t] = at(i - radius);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k <= 2 * radius; ++k)
        sum += weight[k] * tile[t + k];
    out[i] = sum;
}

bool stencil(bool broken) {
    constexpr int count = 3 * stencil_width;
    auto host = pairs::random_ints(count);
    const std::vector<int> weights{1, -2, 5, 9, 4, 3, -7};
    std::vector<int> expected(count);
    for (int& each : host)
        each &= 0xffff;
    for (int i = 0; i < count; ++i)
        for (int k = 0; k <= 2 * radius; ++k)
            if (const int j = i + k - radius; j >= 0 && j < count)
                expected[i] += weights[k] * host[j];
    pairs::Device<int> in(host), coefficients(weights), out(count);
    (broken ? stencil_kernel<stencil_width + radius>
            : stencil_kernel<stencil_width + 2 * radius>)<<<3, stencil_width>>>(
        in.data(), coefficients.data(), out.data(), count);
    return out.read() == expected;
}

// --- Two arrays carved out of dynamic shared memory: a matrix tile with padded rows, and the rows' sums.

constexpr int carve_rows = 16, carve_width = 24, carve_pitch = carve_width + 1, carve_threads = 32;

template <bool broken>
__global__ void row_shares_kernel(const int* in, int* out) {
    extern __shared__ int shared[];
    int* tile = shared;
    int* sums = shared + carve_rows * (broken ? carve_width : carve_pitch);
    const int t = threadIdx.x;
    in += blockIdx.x * carve_rows * carve_width;
    out += blockIdx.x * carve_rows * carve_width;
    for (int i = t; i < carve_rows * carve_width; i += carve_threads)
        tile[i / carve_width * carve_pitch + i % carve_width] = in[i];
    __syncthreads();
    if (t < carve_rows) {
        int sum = 0;
        for (int k = 0; k < carve_width; ++k)
            sum += tile[t * carve_pitch + k];
        sums[t] = sum;
    }
    __syncthreads();
    for (int i = t; i < carve_rows * carve_width; i += carve_threads)
        out[i] = tile[i / carve_width * carve_pitch + i % carve_width] - sums[i / carve_width];
}

bool row_shares(bool broken) {
    const auto host = pairs::random_ints(2 * carve_rows * carve_width);
    auto expected = host;
    for (std::size_t row = 0; row < host.size() / carve_width; ++row) {
        int sum = 0;
        for (int k = 0; k < carve_width; ++k)
            sum += host[row * carve_width + k];
        for (int k = 0; k < carve_width; ++k)
            expected[row * carve_width + k] -= sum;
    }
    pairs::Device<int> in(host), out(host.size());
    constexpr int bytes = (carve_rows * carve_pitch + carve_rows) * sizeof(int);
    (broken ? row_shares_kernel<true> : row_shares_kernel<false>)<<<2, carve_threads, bytes>>>(in.data(),
                                                                                               out.data());
    return out.read() == expected;
}

// --- Warps take items from a queue; lane 0 tells the others which.

constexpr int queue_warps = 3, item_size = 40;

template <bool broken>
__global__ void queue_kernel(const int* in, int* next, int* out, int items) {
    __shared__ int taken[queue_warps];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    while (true) {
        if (lane == 0)
            taken[warp] = atomicAdd(next, 1);
        __syncwarp();
        const int item = taken[warp];
        if constexpr (!broken)
            __syncwarp();
        if (item >= items)
            return;
        for (int i = lane; i < item_size; i += 32)
            out[item * item_size + i] = in[item * item_size + i] % (item + 2);
    }
}

bool queue(bool broken) {
    constexpr int items = 17;
    auto host = pairs::random_ints(items * item_size);
    pairs::Device<int> in(host), next(std::vector<int>(1)), out(host.size());
    (broken ? queue_kernel<true> : queue_kernel<false>)<<<2, queue_warps * 32>>>(in.data(), next.data(),
                                                                                 out.data(), items);
    for (int i = 0; i < int(host.size()); ++i)
        host[i] %= i / item_size + 2;
    return out.read() == host;
}

// --- Smoothing in two passes over global memory; the second pass reads through the read-only cache.

constexpr int smooth_threads = 128;

template <bool broken>
__global__ void smooth_kernel(const int* in, int* scratch, int* out) {
    const int t = threadIdx.x, first = blockIdx.x * smooth_threads;
    const int left = (t + smooth_threads - 1) % smooth_threads, right = (t + 1) % smooth_threads;
    scratch[first + t] = (__ldg(&in[first + left]) + __ldg(&in[first + t]) + __ldg(&in[first + right])) / 3;
    __syncthreads();
    const auto read = [&](int i) { return broken ? __ldg(&scratch[first + i]) : scratch[first + i]; };
    out[first + t] = (read(left) + read(t) + read(right)) / 3;
}

bool smooth(bool broken) {
    auto host = pairs::random_ints(2 * smooth_threads);
    pairs::Device<int> in(host), scratch(host.size()), out(host.size());
    (broken ? smooth_kernel<true> : smooth_kernel<false>)<<<2, smooth_threads>>>(in.data(), scratch.data(),
                                                                                 out.data());
    for (int pass = 0; pass < 2; ++pass) {
        const auto old = host;
        for (int i = 0; i < int(host.size()); ++i) {
            const int first = i / smooth_threads * smooth_threads, t = i - first;
            host[i] = (old[first + (t + smooth_threads - 1) % smooth_threads] + old[i] +
                       old[first + (t + 1) % smooth_threads]) /
                      3;
        }
    }
    return out.read() == host;
}

// --- Warp 0 prepares a table for warp 1 and says so by a flag in shared memory.

template <bool broken>
__global__ void table_kernel(const int* in, int* out) {
    __shared__ int table[32], ready;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (warp == 0) {
        table[lane] = in[blockIdx.x * 32 + lane] / (lane + 1);
        __syncwarp();
        if (lane == 0) {
            if constexpr (broken)
                *static_cast<volatile int*>(&ready) = 1;
            else
                cuda::atomic_ref<int, cuda::thread_scope_block>(ready).store(1, cuda::memory_order_release);
        }
    } else {
        if (lane == 0) {
            if constexpr (broken)
                while (*static_cast<volatile int*>(&ready) == 0) {
                }
            else
                while (cuda::atomic_ref<int, cuda::thread_scope_block>(ready).load(
                           cuda::memory_order_acquire) == 0) {
                }
        }
        __syncwarp();
        out[blockIdx.x * 32 + lane] = table[(lane * 7 + 3) % 32];
    }
}

bool table(bool broken) {
    const auto host = pairs::random_ints(64);
    std::vector<int> expected(64);
    for (int i = 0; i < 64; ++i) {
        const int from = (i % 32 * 7 + 3) % 32;
        expected[i] = host[i / 32 * 32 + from] / (from + 1);
    }
    pairs::Device<int> in(host), out(64);
    (broken ? table_kernel<true> : table_kernel<false>)<<<2, 64>>>(in.data(), out.data());
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "sum_of_all",
     .mistake = "Threads past the end have returned, but the shuffles name them in their mask and the "
                "remaining lanes "
                "read from them: what they get is undefined.",
     .fix = "Do not return before the shuffles; threads past the end add 0.",
     .run = sum_of_all,
     .finding = "shuffle-inactive-lane",
     .says = "has exited",
     .remedy = "keep all lanes of the mask until the shuffle"},
    {.name = "row_max",
     .mistake = "Only the first 4 lanes reach the second round of shuffles, but its mask names all 32, and "
                "the others have not exited: they are already at the next barrier.",
     .fix = "A mask of the lanes that take part: (1u << warps) - 1.",
     .run = row_max,
     .finding = "deadlock",
     .says = "with mask 0xffffffff, for 28 lanes of it that did not come",
     .remedy = "mask of the lanes that take part"},
    {.name = "sort",
     .mistake =
         "After the last step of a stage (step 1) there is only a __syncwarp, but the first step of the next "
         "stage may read across warps.",
     .fix = "__syncthreads() also after step 1.",
     .run = sort,
     .finding = "race-shared",
     .says = "__syncwarp() orders the threads of one warp only",
     .remedy = "__syncthreads()"},
    {.name = "histogram",
     .mistake =
         "Warps that are done count the next chunk into bins that others have yet to write out and clear.",
     .fix = "__syncthreads() after the bins are cleared, at the end of the loop.",
     .run = histogram,
     .finding = "race-shared",
     .says = "4 bytes at count",
     .remedy = "__syncthreads()"},
    {.name = "scan",
     .mistake = "The last thread updates the carry while other threads may still read the old one.",
     .fix = "__syncthreads() between the reads of carry and its update.",
     .run = scan,
     .finding = "race-shared",
     .says = "A read and a write of 4 bytes at carry",
     .remedy = "__syncthreads()"},
    {.name = "stencil",
     .mistake =
         "The shared tile has room for one halo, not two: the right halo runs into the array behind it.",
     .fix = "__shared__ int tile[width + 2 * radius].",
     .run = stencil,
     .finding = "shared-array-overrun",
     .says = "right behind tile (524 bytes), in weight",
     .remedy = "the array is too small"},
    {.name = "row_shares",
     .mistake =
         "The offset of the second array in dynamic shared memory forgets the padding of the tile's rows, so "
         "the arrays overlap.",
     .fix = "Place sums at rows * pitch.",
     .run = row_shares,
     .finding = "race-shared",
     .says = "at dynamic shared memory + 1536",
     .remedy = "two arrays overlap"},
    {.name = "queue",
     .mistake = "Lane 0 may write the next item into the slot before the other lanes have read this one.",
     .fix = "__syncwarp() after the read of taken[warp].",
     .run = queue,
     .finding = "race-shared",
     .says = "A read and a write of 4 bytes at taken",
     .remedy = "__syncwarp()"},
    {.name = "smooth",
     .mistake =
         "__ldg (ld.global.nc) reads data that the same kernel has written; the read-only path need not see "
         "it.",
     .fix = "An ordinary load of scratch.",
     .run = smooth,
     .finding = "race-global",
     .says = "ld.global.nc",
     .remedy = "ordinary load"},
    {.name = "table",
     .mistake =
         "A volatile flag orders nothing: the table may be read before it is seen written, although the flag "
         "is set.",
     .fix = "Release store and acquire load of the flag (cuda::atomic_ref), or a fence on both sides.",
     .run = table,
     .finding = "race-shared",
     .says = "volatile",
     .remedy = "cuda::memory_order_release"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

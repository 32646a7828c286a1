// Several arrays in shared memory, and an index or a copy that leaves one of them.
#include "pairs.hpp"

#include <algorithm>
#include <cstdint>

namespace {

constexpr int threads = 128;

__device__ unsigned smem(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ void init(std::uint64_t* barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(barrier)), "r"(count) : "memory");
}
__device__ void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(barrier)) : "memory");
}
__device__ void arrive_expecting(std::uint64_t* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(barrier)), "r"(bytes)
                 : "memory");
}
__device__ void wait(std::uint64_t* barrier, unsigned parity) {
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n}" ::"r"(smem(barrier)),
                 "r"(parity)
                 : "memory");
}
__device__ void bulk_load(void* to, const void* from, unsigned bytes, std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            smem(to)),
        "l"(from), "r"(bytes), "r"(smem(barrier))
        : "memory");
}

/// The weighted sum of each element and its neighbours; zeros outside.
template <bool broken>
__global__ void smooth_kernel(const int* in, const int* weights, int* out, int n) {
    constexpr int radius = 2;
    __shared__ int row[threads + 2 * radius];
    __shared__ int weight[2 * radius + 1];
    const int mine = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * threads;
    if (mine < 2 * radius + 1)
        weight[mine] = weights[mine];
    for (int i = mine; i < threads + 2 * radius + (broken ? radius : 0); i += threads) {
        const int from = first + i - radius;
        row[i] = from >= 0 && from < n ? in[from] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k <= 2 * radius; ++k)
        sum += weight[k] * row[mine + k];
    out[first + mine] = sum;
}

bool smooth(bool broken) {
    const int n = 3 * threads;
    const auto host = pairs::random_ints(n);
    const std::vector<int> weights{1, 3, 5, 7, 11};
    pairs::Device<int> in(host), factors(weights), out(n);
    (broken ? smooth_kernel<true> : smooth_kernel<false>)<<<3, threads>>>(in.data(), factors.data(),
                                                                          out.data(), n);
    std::vector<int> expected(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 5; ++k)
            if (i + k - 2 >= 0 && i + k - 2 < n)
                expected[i] += weights[k] * host[i + k - 2];
    return out.read() == expected;
}

/// Counts values of [0, 1] in `bins` equal parts. 1 belongs to the last.
template <bool broken>
__global__ void histogram_kernel(const float* in, int* out, int n) {
    constexpr int bins = 32;
    __shared__ int count[bins];
    __shared__ int outside[1];
    const int mine = static_cast<int>(threadIdx.x);
    if (mine < bins)
        count[mine] = 0;
    if (mine == bins)
        outside[0] = 0;
    __syncthreads();
    for (int i = mine; i < n; i += threads) {
        int bin = static_cast<int>(in[i] * bins);
        if (in[i] < 0 || in[i] > 1) {
            atomicAdd(&outside[0], 1);
            continue;
        }
        if (!broken && bin == bins)
            bin = bins - 1;
        atomicAdd(&count[bin], 1);
    }
    __syncthreads();
    if (mine < bins)
        out[mine] = count[mine];
    if (mine == bins)
        out[bins] = outside[0];
}

bool histogram(bool broken) {
    std::vector<float> host(1000);
    for (std::size_t i = 0; i < host.size(); ++i)
        host[i] = static_cast<float>(i % 101) / 100;
    pairs::Device<float> in(host);
    pairs::Device<int> out(33);
    (broken ? histogram_kernel<true>
            : histogram_kernel<false>)<<<1, threads>>>(in.data(), out.data(), static_cast<int>(host.size()));
    std::vector<int> expected(33);
    for (const float value : host)
        ++expected[std::min(static_cast<int>(value * 32), 31)];
    return out.read() == expected;
}

/// A ring of two stages; thread 0 loads, the others add.
template <bool broken>
__global__ void ring_kernel(const int* in, int* out, int rounds) {
    constexpr int stages = 2;
    __shared__ alignas(16) int stage[stages][threads];
    __shared__ std::uint64_t full[stages];
    __shared__ std::uint64_t empty[stages];
    const int mine = static_cast<int>(threadIdx.x);
    if (mine == 0) {
        for (int i = 0; i < stages + (broken ? 1 : 0); ++i)
            init(&full[i], 1);
        for (int i = 0; i < stages; ++i)
            init(&empty[i], threads);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        const int s = round % stages;
        const unsigned parity = round / stages % 2;
        if (mine == 0) {
            if (round >= stages)
                wait(&empty[s], parity ^ 1);
            arrive_expecting(&full[s], sizeof stage[s]);
            bulk_load(stage[s], in + round * threads, sizeof stage[s], &full[s]);
        }
        wait(&full[s], parity);
        sum += stage[s][mine];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        arrive(&empty[s]);
    }
    out[mine] = sum;
}

bool ring(bool broken) {
    const int rounds = 7;
    const auto host = pairs::random_ints(rounds * threads);
    pairs::Device<int> in(host), out(threads);
    (broken ? ring_kernel<true> : ring_kernel<false>)<<<1, threads>>>(in.data(), out.data(), rounds);
    std::vector<int> expected(threads);
    for (int i = 0; i < rounds * threads; ++i)
        expected[i % threads] += host[i];
    return out.read() == expected;
}

/// Rows of 32 elements, `rows` of them in one copy, and their scale.
template <bool broken>
__global__ void tile_kernel(const int* in, const int* scales, int* out) {
    constexpr int rows = 8, columns = 32;
    __shared__ alignas(128) int tile[broken ? rows - 1 : rows][columns];
    __shared__ alignas(128) int scale[columns];
    __shared__ std::uint64_t full;
    const int mine = static_cast<int>(threadIdx.x);
    if (mine == 0) {
        init(&full, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (mine == 0) {
        arrive_expecting(&full, 4 * rows * columns);
        bulk_load(tile, in, 4 * rows * columns, &full);
    }
    wait(&full, 0);
    if (mine < columns)
        scale[mine] = scales[mine];
    __syncthreads();
    if (mine < columns) {
        int sum = 0;
        for (int r = 0; r < rows - 1; ++r)
            sum += tile[r][mine];
        out[mine] = sum * scale[mine];
    }
}

bool tile(bool broken) {
    auto host = pairs::random_ints(8 * 32);
    for (int& each : host)
        each &= 1023;
    std::vector<int> scales(32, 3);
    pairs::Device<int> in(host), factors(scales), out(32);
    (broken ? tile_kernel<true> : tile_kernel<false>)<<<1, threads>>>(in.data(), factors.data(), out.data());
    std::vector<int> expected(32);
    for (int i = 0; i < 7 * 32; ++i)
        expected[i % 32] += 3 * host[i];
    return out.read() == expected;
}

/// Differences of neighbours; the first has none.
template <bool broken>
__global__ void differences_kernel(const int* in, int* out) {
    __shared__ int before[threads];
    __shared__ int value[threads];
    const int mine = static_cast<int>(threadIdx.x);
    before[mine] = 0;
    value[mine] = in[mine];
    __syncthreads();
    if (broken || mine > 0)
        before[mine] = value[mine - 1];
    __syncthreads();
    out[mine] = value[mine] - before[mine];
}

bool differences(bool broken) {
    const auto host = pairs::random_ints(threads);
    pairs::Device<int> in(host), out(threads);
    (broken ? differences_kernel<true> : differences_kernel<false>)<<<1, threads>>>(in.data(), out.data());
    std::vector<int> expected(host);
    for (int i = 1; i < threads; ++i)
        expected[i] = host[i] - host[i - 1];
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "smooth_halo",
     .mistake = "The loop that fills the row with its halo goes two elements too far, over the weights.",
     .fix = "The row has threads + 2 * radius elements.",
     .run = smooth,
     .finding = "shared-array-overrun",
     .says = "right behind row (528 bytes), in weight",
     .remedy = "index against the size of row"},
    {.name = "histogram_upper_end",
     .mistake = "The value 1 is counted in bin 32 of 32, which is another counter.",
     .fix = "The last bin has the upper end of the interval.",
     .run = histogram,
     .finding = "shared-array-overrun",
     .says = "right behind count (128 bytes), in outside",
     .remedy = "index against the size of count"},
    {.name = "ring_one_barrier_too_many",
     .mistake = "Three barriers are initialised in an array of two.",
     .fix = "The loop ends at the number of stages.",
     .run = ring,
     .finding = "shared-array-overrun",
     .says = "initialises an mbarrier right behind full (16 bytes), in empty",
     .remedy = "index against the size of full"},
    {.name = "tile_one_row_short",
     .mistake = "The copy brings a row more than the tile has; it lands in the scales.",
     .fix = "The tile has as many rows as the copy.",
     .run = tile,
     .finding = "shared-array-overrun",
     .says = "the last 128 bytes lie past the end of tile (896 bytes), in scale",
     .remedy = "Make the array larger"},
    {.name = "differences_before_first",
     .mistake = "Thread 0 reads the element before the first.",
     .fix = "Thread 0 reads nothing.",
     .run = differences,
     .finding = "shared-array-overrun",
     .says = "begin 4 bytes before value (512 bytes), in before",
     .remedy = "index against the size of value"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

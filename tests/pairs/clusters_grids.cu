// Cooperative groups, barriers of the whole grid, and programmatic dependent launch.
#include "pairs.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>

namespace {

namespace cg = cooperative_groups;

constexpr int threads = 128;

std::vector<int> small_ints(std::size_t count, unsigned seed = 1) {
    std::vector<int> values = pairs::random_ints(count, seed);
    for (int& value : values)
        value %= 10000;
    return values;
}

/// Launches so that the kernel may begin before its predecessor in the stream has ended.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), int blocks, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    pairs::check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
                 "cudaLaunchKernelEx");
}

// Sixteen threads add up the elements of a row whose length is no multiple of sixteen.
template <bool broken>
__global__ void row_sum_kernel(const int* in, int* out, int columns) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int row = blockIdx.x * (threads / 16) + tile.meta_group_rank();
    const int rounded = broken ? columns : (columns + 15) / 16 * 16;
    int sum = 0;
    for (int i = tile.thread_rank(); i < rounded; i += 16) {
        int value = i < columns ? in[row * columns + i] : 0;
        for (int offset = 8; offset > 0; offset /= 2)
            value += tile.shfl_down(value, offset);
        sum += tile.shfl(value, 0);
    }
    if (tile.thread_rank() == 0)
        out[row] = sum;
}

bool row_sum_ragged(bool broken) {
    constexpr int rows = 16, columns = 41;
    const auto host = small_ints(rows * columns);
    pairs::Device<int> in(host), out(rows);
    (broken ? row_sum_kernel<true> : row_sum_kernel<false>)<<<2, threads>>>(in.data(), out.data(), columns);
    std::vector<int> expected(rows, 0);
    for (int i = 0; i < rows * columns; ++i)
        expected[i / columns] += host[i];
    return out.read() == expected;
}

// Counts the odd numbers and adds them up, with one atomic operation for each group of threads that found
// one.
template <bool broken>
__global__ void compact_kernel(const int* in, int* out, int* count) {
    const int value = in[blockIdx.x * threads + threadIdx.x];
    auto warp = cg::coalesced_threads();
    if (value % 2 != 0) {
        auto found = broken ? warp : cg::coalesced_threads();
        int first = 0;
        if (found.thread_rank() == 0)
            first = atomicAdd(count, static_cast<int>(found.size()));
        first = found.shfl(first, 0);
        out[first + found.thread_rank()] = value;
    }
}

bool compact_wrong_group(bool broken) {
    constexpr int size = 4 * threads;
    const auto host = small_ints(size);
    pairs::Device<int> in(host), out(size), count(std::vector<int>(1, 0));
    (broken ? compact_kernel<true> : compact_kernel<false>)<<<4, threads>>>(in.data(), out.data(),
                                                                            count.data());
    std::vector<int> odd;
    for (const int value : host)
        if (value % 2 != 0)
            odd.push_back(value);
    std::vector<int> result = out.read();
    const std::vector<int> counted = count.read();
    if (counted != std::vector<int>(1, static_cast<int>(odd.size())))
        return false;
    result.resize(odd.size());
    std::sort(result.begin(), result.end());
    std::sort(odd.begin(), odd.end());
    return result == odd;
}

// Each round gives every block the sum of the blocks before it, and the next round starts from the result.
template <bool broken>
__global__ void offsets_kernel(int* values, int* totals, int rounds) {
    __shared__ int warp_sums[threads / 32];
    auto grid = cg::this_grid();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int value = values[grid.thread_rank()];
    for (int round = 0; round < rounds; ++round) {
        int* slot = broken ? totals : totals + round % 2 * gridDim.x;
        const int sum = cg::reduce(warp, value, cg::plus<int>());
        if (warp.thread_rank() == 0)
            warp_sums[warp.meta_group_rank()] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            slot[blockIdx.x] = warp_sums[0] + warp_sums[1] + warp_sums[2] + warp_sums[3];
        grid.sync();
        int before = 0;
        for (unsigned block = 0; block < blockIdx.x; ++block)
            before += slot[block];
        value = (value + before) % 1000;
    }
    values[grid.thread_rank()] = value;
}

bool offsets_second_round(bool broken) {
    constexpr int blocks = 4;
    auto host = small_ints(blocks * threads);
    pairs::Device<int> values(host), totals(2 * blocks);
    int* value_data = values.data();
    int* total_data = totals.data();
    int rounds = 3;
    void* arguments[] = {&value_data, &total_data, &rounds};
    pairs::check(cudaLaunchCooperativeKernel(broken ? offsets_kernel<true> : offsets_kernel<false>,
                                             dim3(blocks), dim3(threads), arguments, 0, nullptr),
                 "cudaLaunchCooperativeKernel");
    for (int round = 0; round < rounds; ++round) {
        int before = 0;
        for (int block = 0; block < blocks; ++block) {
            int total = 0;
            for (int i = block * threads; i < (block + 1) * threads; ++i) {
                total += host[i];
                host[i] = (host[i] + before) % 1000;
            }
            before += total;
        }
    }
    return values.read() == host;
}

// The tiles are dealt out to the blocks in rounds; each round uses what the round before has written.
template <bool broken>
__global__ void wavefront_kernel(int* cells, int tiles) {
    auto grid = cg::this_grid();
    const int blocks = static_cast<int>(gridDim.x);
    const int rounds =
        broken ? (tiles - static_cast<int>(blockIdx.x) + blocks - 1) / blocks : (tiles + blocks - 1) / blocks;
    for (int round = 0; round < rounds; ++round) {
        const int tile = round * blocks + static_cast<int>(blockIdx.x);
        if (round > 0 && tile < tiles) {
            const int left = round * blocks - 1 - static_cast<int>(blockIdx.x);
            cells[tile * threads + threadIdx.x] += cells[left * threads + threads - 1 - threadIdx.x];
        }
        grid.sync();
    }
}

bool wavefront_unequal_rounds(bool broken) {
    constexpr int blocks = 4, tiles = 10;
    auto host = small_ints(tiles * threads);
    pairs::Device<int> cells(host);
    int* data = cells.data();
    int count = tiles;
    void* arguments[] = {&data, &count};
    pairs::check(cudaLaunchCooperativeKernel(broken ? wavefront_kernel<true> : wavefront_kernel<false>,
                                             dim3(blocks), dim3(threads), arguments, 0, nullptr),
                 "cudaLaunchCooperativeKernel");
    for (int tile = blocks; tile < tiles; ++tile) {
        const int left = tile / blocks * blocks - 1 - tile % blocks;
        for (int i = 0; i < threads; ++i)
            host[tile * threads + i] += host[left * threads + threads - 1 - i];
    }
    return cells.read() == host;
}

// A scale that the first kernel finds, and weights that were there before; both are read by the second
// kernel.
__global__ void find_scale_kernel(const int* in, int* scaled, int* scale) {
    cudaTriggerProgrammaticLaunchCompletion();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int largest = 0;
    for (int i = warp.thread_rank(); i < threads; i += 32)
        largest = max(largest, in[blockIdx.x * threads + i]);
    largest = cg::reduce(warp, largest, cg::greater<int>());
    if (threadIdx.x == 0)
        scale[blockIdx.x] = largest;
    scaled[blockIdx.x * threads + threadIdx.x] = in[blockIdx.x * threads + threadIdx.x] * 2;
}

template <bool broken>
__global__ void apply_scale_kernel(const int* scaled, const int* scale, const int* weights, int* out) {
    const int index = blockIdx.x * threads + threadIdx.x;
    const int weight = weights[index]; // not written by the kernel before
    int factor;
    if constexpr (broken)
        factor = scale[blockIdx.x];
    cudaGridDependencySynchronize();
    if constexpr (!broken)
        factor = scale[blockIdx.x];
    out[index] = scaled[index] * weight + factor;
}

bool scale_read_in_preamble(bool broken) {
    constexpr int blocks = 4, size = blocks * threads;
    const auto host = small_ints(size), weight = small_ints(size, 2);
    pairs::Device<int> in(host), weights(weight), scaled(size), scale(blocks), out(size);
    find_scale_kernel<<<blocks, threads>>>(in.data(), scaled.data(), scale.data());
    launch_early(broken ? apply_scale_kernel<true> : apply_scale_kernel<false>, blocks, nullptr,
                 scaled.data(), scale.data(), weights.data(), out.data());
    std::vector<int> expected(size);
    for (int i = 0; i < size; ++i) {
        int largest = 0;
        for (int k = 0; k < threads; ++k)
            largest = std::max(largest, host[i / threads * threads + k]);
        expected[i] = host[i] * 2 * weight[i] + largest;
    }
    return out.read() == expected;
}

// Partial sums in a workspace: one kernel adds them up, the next clears the workspace for the next step.
__global__ void sum_partials_kernel(const int* workspace, int* out) {
    cudaTriggerProgrammaticLaunchCompletion();
    const int index = blockIdx.x * threads + threadIdx.x, size = gridDim.x * threads;
    out[index] = workspace[index] + workspace[size + index] + workspace[2 * size + index];
}

template <bool broken>
__global__ void clear_and_double_kernel(int* workspace, int* out) {
    const int index = blockIdx.x * threads + threadIdx.x, size = gridDim.x * threads;
    if constexpr (!broken)
        cudaGridDependencySynchronize();
    for (int part = 0; part < 3; ++part)
        workspace[part * size + index] = 0;
    if constexpr (broken)
        cudaGridDependencySynchronize();
    out[index] *= 2;
}

bool workspace_cleared_early(bool broken) {
    constexpr int blocks = 4, size = blocks * threads;
    const auto host = small_ints(3 * size);
    pairs::Device<int> workspace(host), out(size);
    sum_partials_kernel<<<blocks, threads>>>(workspace.data(), out.data());
    launch_early(broken ? clear_and_double_kernel<true> : clear_and_double_kernel<false>, blocks, nullptr,
                 workspace.data(), out.data());
    std::vector<int> expected(size);
    for (int i = 0; i < size; ++i)
        expected[i] = 2 * (host[i] + host[size + i] + host[2 * size + i]);
    return out.read() == expected && workspace.read() == std::vector<int>(3 * size, 0);
}

// Queries, then keys, then their products; the keys do not depend on the queries.
__global__ void queries_kernel(const int* in, int* queries) {
    cudaTriggerProgrammaticLaunchCompletion();
    const int index = blockIdx.x * threads + threadIdx.x;
    queries[index] = in[index] * 3 + 1;
}

template <bool broken>
__global__ void keys_kernel(const int* in, int* keys) {
    cudaTriggerProgrammaticLaunchCompletion();
    const int index = blockIdx.x * threads + threadIdx.x;
    keys[index] = in[index] * 5 + 2;
    if constexpr (!broken)
        cudaGridDependencySynchronize();
}

__global__ void products_kernel(const int* queries, const int* keys, int* out) {
    cudaGridDependencySynchronize();
    const int index = blockIdx.x * threads + threadIdx.x;
    out[index] = queries[index] * keys[blockIdx.x * threads + threads - 1 - threadIdx.x];
}

bool chain_without_wait(bool broken) {
    constexpr int blocks = 4, size = blocks * threads;
    auto host = small_ints(size);
    pairs::Device<int> in(host), queries(size), keys(size), out(size);
    queries_kernel<<<blocks, threads>>>(in.data(), queries.data());
    launch_early(broken ? keys_kernel<true> : keys_kernel<false>, blocks, nullptr, in.data(), keys.data());
    launch_early(products_kernel, blocks, nullptr, queries.data(), keys.data(), out.data());
    std::vector<int> expected(size);
    for (int i = 0; i < size; ++i)
        expected[i] = (host[i] * 3 + 1) * (host[i / threads * threads + threads - 1 - i % threads] * 5 + 2);
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "row_sum_ragged",
     .mistake = "In the last round only some threads of the tile reach its shuffles, although all of the "
                "tile's threads must take part.",
     .fix =
         "Round the loop's bound up to a multiple of the tile, and let threads beyond the row contribute 0.",
     .run = row_sum_ragged,
     .finding = "shuffle-inactive-lane",
     .says = "takes no part in the shuffle",
     .remedy = "All lanes of the mask must reach the shuffle"},
    {.name = "compact_wrong_group",
     .mistake = "Inside the branch the group of the whole warp is used: its size counts, and its shuffle "
                "waits for, threads that did not enter the branch.",
     .fix = "Form coalesced_threads() inside the branch.",
     .run = compact_wrong_group,
     .finding = "shuffle-inactive-lane",
     .says = "takes no part in the shuffle",
     .remedy = "Form the group inside the branch"},
    {.name = "offsets_second_round",
     .mistake = "A block overwrites its total for the next round while slower blocks still read the total of "
                "this round; one grid.sync() a round does not protect the reads.",
     .fix = "Alternate between two arrays of totals, or a second grid.sync() after the reads.",
     .run = offsets_second_round,
     .finding = "race-global",
     .says = "nothing orders one before the other",
     .remedy = "Put a grid.sync() between the two lines"},
    {.name = "wavefront_unequal_rounds",
     .mistake = "The blocks call grid.sync() different numbers of times: those without a tile in the last "
                "round leave and the others wait for ever.",
     .fix = "The same number of rounds in all blocks; only the work is predicated by tile < tiles.",
     .run = wavefront_unequal_rounds,
     .finding = "deadlock",
     .says = "at the barrier of the grid (grid.sync()), which not all blocks have reached",
     .remedy = "must reach the same grid.sync(), equally often"},
    {.name = "scale_read_in_preamble",
     .mistake = "The dependent kernel reads the scale, which the kernel before writes, before it has waited "
                "for that kernel.",
     .fix = "Read it after cudaGridDependencySynchronize(); only what the kernel before does not write may "
            "be read earlier.",
     .run = scale_read_in_preamble,
     .finding = "race-kernels",
     .says = "has not waited for the kernel before",
     .remedy = "Move the read after cudaGridDependencySynchronize()"},
    {.name = "workspace_cleared_early",
     .mistake = "The dependent kernel clears the workspace before it has waited, while the kernel before "
                "still reads it.",
     .fix = "cudaGridDependencySynchronize() before the stores to the workspace.",
     .run = workspace_cleared_early,
     .finding = "race-kernels",
     .says = "has not waited for the kernel before",
     .remedy = "Move the write after cudaGridDependencySynchronize()"},
    {.name = "chain_without_wait",
     .mistake =
         "The middle kernel never waits for its predecessor, so it can end before it; the third kernel's "
         "wait covers only the middle kernel, and the queries are read while they are written.",
     .fix =
         "cudaGridDependencySynchronize() in the middle kernel too: dependence is not transitive without it.",
     .run = chain_without_wait,
     .finding = "race-kernels",
     .says = "the kernel between them never waits",
     .remedy = "cudaGridDependencySynchronize() in the kernel between"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

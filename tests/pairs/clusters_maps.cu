// Compile for compute_90a: tensor maps that are changed on the device or lie in global memory.
#include "clusters_helpers.cuh"
#include "pairs.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>

namespace {

using namespace clusters;

constexpr int columns = 32, rows = 8, threads = 64, tile_bytes = columns * rows * sizeof(int);

/// Map of a matrix of `columns` columns; boxes are `rows` high.
CUtensorMap make_map(const int* base, int height) {
    void* function = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
    pairs::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                  cudaEnableDefault, &found),
                 "cudaGetDriverEntryPointByVersion");
    CUtensorMap map{};
    const cuuint64_t dims[] = {columns, static_cast<cuuint64_t>(height)}, strides[] = {columns * sizeof(int)};
    const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
    if (reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
            &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, const_cast<int*>(base), dims, strides, box, steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        std::exit(2);
    return map;
}

__device__ void load_tile(void* destination, const CUtensorMap* map, int row, std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(shared_address(destination)),
        "l"(map), "r"(0), "r"(row), "r"(shared_address(barrier))
        : "memory");
}

__device__ void replace_address(CUtensorMap* shared_map, const int* base) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                     shared_address(shared_map)),
                 "l"(__cvta_generic_to_global(base))
                 : "memory");
}

__device__ void replace_height(CUtensorMap* shared_map, int height) {
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(
                     shared_address(shared_map)),
                 "r"(height)
                 : "memory");
}

/// Copies a changed map to global memory and releases it; by all threads of a warp.
__device__ void publish(CUtensorMap* map, const CUtensorMap* shared_map) {
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], "
        "[%1], 128;" ::"l"(__cvta_generic_to_global(map)),
        "r"(shared_address(shared_map))
        : "memory");
}

__device__ void acquire_gpu(const CUtensorMap* map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// The host has made one map for each block and copied them to global memory.
template <bool broken>
__global__ void table_of_maps_kernel(const CUtensorMap* maps, int* out) {
    __shared__ alignas(128) int tile[rows][columns];
    __shared__ std::uint64_t full;
    const CUtensorMap* map = maps + blockIdx.x;
    if (threadIdx.x == 0) {
        init(&full, 1);
        fence_init();
        if constexpr (!broken)
            asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(map) : "memory");
        arrive_expect(&full, tile_bytes);
        load_tile(tile, map, 0, &full);
    }
    __syncthreads();
    wait(&full, 0);
    if (threadIdx.x < columns) {
        int sum = 0;
        for (int row = 0; row < rows; ++row)
            sum += tile[row][threadIdx.x];
        out[blockIdx.x * columns + threadIdx.x] = sum;
    }
}

/// Sums of the columns of `rows` rows, which begin at `first` and of which those from `end` on are zero.
std::vector<int> column_sums(const std::vector<int>& matrix, int first, int end) {
    std::vector<int> sums(columns, 0);
    for (int row = first; row < first + rows && row < end; ++row)
        for (int column = 0; column < columns; ++column)
            sums[column] += matrix[row * columns + column];
    return sums;
}

bool table_of_maps(bool broken) {
    constexpr int groups = 4;
    const auto host = pairs::random_ints(groups * rows * columns);
    pairs::Device<int> in(host), out(groups * columns);
    std::vector<CUtensorMap> maps;
    for (int group = 0; group < groups; ++group)
        maps.push_back(make_map(in.data() + group * rows * columns, rows));
    pairs::Device<CUtensorMap> table(maps);
    (broken ? table_of_maps_kernel<true> : table_of_maps_kernel<false>)<<<groups, threads>>>(table.data(),
                                                                                             out.data());
    std::vector<int> expected;
    for (int group = 0; group < groups; ++group)
        for (const int sum : column_sums(host, group * rows, groups * rows))
            expected.push_back(sum);
    return out.read() == expected;
}

// Each block adapts a map to its own group of rows, whose number is no multiple of the box.
template <bool broken>
__global__ void own_map_kernel(const __grid_constant__ CUtensorMap pattern, CUtensorMap* maps, const int* in,
                               const int* first_rows, int* out) {
    __shared__ alignas(128) CUtensorMap changed;
    __shared__ alignas(128) int tile[rows][columns];
    __shared__ std::uint64_t full;
    const int first = first_rows[blockIdx.x], height = first_rows[blockIdx.x + 1] - first;
    CUtensorMap* map = maps + blockIdx.x;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            changed = pattern;
            replace_address(&changed, in + first * columns);
            replace_height(&changed, height);
        }
        __syncwarp();
        publish(map, &changed);
        if (threadIdx.x == 0) {
            init(&full, 1);
            fence_init();
            if constexpr (!broken)
                acquire_gpu(map);
            arrive_expect(&full, tile_bytes);
            load_tile(tile, map, 0, &full);
        }
    }
    __syncthreads();
    wait(&full, 0);
    if (threadIdx.x < columns) {
        int sum = 0;
        for (int row = 0; row < rows; ++row)
            sum += tile[row][threadIdx.x];
        out[blockIdx.x * columns + threadIdx.x] = sum;
    }
}

bool own_map_unacquired(bool broken) {
    const std::vector<int> first_rows{0, 5, 13, 16};
    constexpr int groups = 3;
    const auto host = pairs::random_ints(first_rows.back() * columns);
    pairs::Device<int> in(host), first(first_rows), out(groups * columns);
    pairs::Device<CUtensorMap> maps(groups);
    (broken ? own_map_kernel<true> : own_map_kernel<false>)<<<groups, threads>>>(
        make_map(in.data(), rows), maps.data(), in.data(), first.data(), out.data());
    std::vector<int> expected;
    for (int group = 0; group < groups; ++group)
        for (const int sum : column_sums(host, first_rows[group], first_rows[group + 1]))
            expected.push_back(sum);
    return out.read() == expected;
}

// One block of the cluster changes the map for all: it looks up where the matrix is; each loads its own rows.
enum class Handover { right, unreleased, acquired_in_block };

template <Handover handover>
__global__ void __cluster_dims__(4) common_map_kernel(const __grid_constant__ CUtensorMap pattern,
                                                      CUtensorMap* map, const int* const* bases, int* out) {
    __shared__ alignas(128) CUtensorMap changed;
    __shared__ alignas(128) int tile[rows][columns];
    __shared__ std::uint64_t full;
    map += blockIdx.x / 4;
    if (threadIdx.x == 0) {
        init(&full, 1);
        fence_init();
        if (cluster_rank() == 0) {
            changed = pattern;
            replace_address(&changed, bases[blockIdx.x / 4]);
            *map = changed;
            if constexpr (handover != Handover::unreleased)
                asm volatile("fence.proxy.tensormap::generic.release.cluster;" ::: "memory");
        }
    }
    cluster_sync();
    if (threadIdx.x == 0) {
        if constexpr (handover == Handover::acquired_in_block)
            asm volatile("fence.proxy.tensormap::generic.acquire.cta [%0], 128;" ::"l"(map) : "memory");
        else
            asm volatile("fence.proxy.tensormap::generic.acquire.cluster [%0], 128;" ::"l"(map) : "memory");
        arrive_expect(&full, tile_bytes);
        load_tile(tile, map, static_cast<int>(cluster_rank()) * rows, &full);
    }
    wait(&full, 0);
    if (threadIdx.x < columns) {
        int sum = 0;
        for (int row = 0; row < rows; ++row)
            sum += tile[row][threadIdx.x];
        out[blockIdx.x * columns + threadIdx.x] = sum;
    }
}

template <Handover wrong>
bool common_map(bool broken) {
    constexpr int matrices = 2, height = 4 * rows;
    const auto host = pairs::random_ints(matrices * height * columns);
    pairs::Device<int> in(host), out(matrices * 4 * columns);
    pairs::Device<CUtensorMap> maps(matrices);
    const std::vector<const int*> bases{in.data(), in.data() + height * columns};
    pairs::Device<const int*> device_bases(bases);
    (broken ? common_map_kernel<wrong> : common_map_kernel<Handover::right>)<<<matrices * 4, threads>>>(
        make_map(in.data(), height), maps.data(), device_bases.data(), out.data());
    std::vector<int> expected;
    for (int first = 0; first < matrices * height; first += rows)
        for (const int sum : column_sums(host, first, matrices * height))
            expected.push_back(sum);
    return out.read() == expected;
}

// One block works through all groups and loads the next group's tile while it adds up the last one's.
template <bool broken>
__global__ void walk_groups_kernel(const __grid_constant__ CUtensorMap pattern, CUtensorMap* maps,
                                   const int* in, const int* order, int groups, int* out) {
    __shared__ alignas(128) CUtensorMap changed;
    __shared__ alignas(128) int tiles[2][rows][columns];
    __shared__ std::uint64_t full[2];
    const auto start = [&](int group) {
        CUtensorMap* map = maps + (broken ? 0 : group % 2);
        if (threadIdx.x == 0)
            replace_address(&changed, in + order[group] * rows * columns);
        __syncwarp();
        publish(map, &changed);
        if (threadIdx.x == 0) {
            acquire_gpu(map);
            arrive_expect(&full[group % 2], tile_bytes);
            load_tile(tiles[group % 2], map, 0, &full[group % 2]);
        }
        __syncwarp();
    };
    if (threadIdx.x == 0) {
        changed = pattern;
        init(&full[0], 1);
        init(&full[1], 1);
        fence_init();
    }
    __syncthreads();
    if (threadIdx.x < 32)
        start(0);
    for (int group = 0; group < groups; ++group) {
        if (threadIdx.x < 32 && group + 1 < groups)
            start(group + 1);
        wait(&full[group % 2], group / 2 % 2);
        if (threadIdx.x < columns) {
            int sum = 0;
            for (int row = 0; row < rows; ++row)
                sum += tiles[group % 2][row][threadIdx.x];
            out[group * columns + threadIdx.x] = sum;
        }
        __syncthreads();
    }
}

bool map_changed_in_flight(bool broken) {
    const std::vector<int> order{2, 0, 4, 1, 3};
    const int groups = static_cast<int>(order.size());
    const auto host = pairs::random_ints(groups * rows * columns);
    pairs::Device<int> in(host), device_order(order), out(groups * columns);
    pairs::Device<CUtensorMap> maps(2);
    (broken ? walk_groups_kernel<true> : walk_groups_kernel<false>)<<<1, threads>>>(
        make_map(in.data(), rows), maps.data(), in.data(), device_order.data(), groups, out.data());
    std::vector<int> expected;
    for (const int group : order)
        for (const int sum : column_sums(host, group * rows, groups * rows))
            expected.push_back(sum);
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "table_of_maps",
     .mistake = "The tensor map lies in global memory, where the host copied it, and no thread of the block "
                "acquires it for the tensormap proxy before using it.",
     .fix = "fence.proxy.tensormap::generic.acquire.sys on the map (128 bytes) before the copy, or pass the "
            "map as const __grid_constant__.",
     .run = table_of_maps,
     .finding = "missing-proxy-fence",
     .says = "no thread of its block has acquired",
     .remedy = "fence.proxy.tensormap::generic.acquire.sys"},
    {.name = "own_map_unacquired",
     .mistake = "The changed map is released with tensormap.cp_fenceproxy, but never acquired before the "
                "copy uses it.",
     .fix = "fence.proxy.tensormap::generic.acquire.gpu on the map before cp.async.bulk.tensor.",
     .run = own_map_unacquired,
     .finding = "missing-proxy-fence",
     .says = "no thread of its block has acquired the change",
     .remedy = "fence.proxy.tensormap::generic.acquire"},
    {.name = "common_map_unreleased",
     .mistake = "The map is changed with generic stores and handed over by a cluster barrier, which does not "
                "release it to the tensormap proxy.",
     .fix = "fence.proxy.tensormap::generic.release.cluster after the last store to the map, by the thread "
            "that stored it.",
     .run = common_map<Handover::unreleased>,
     .finding = "missing-proxy-fence",
     .says = "nothing releases the change to that proxy",
     .remedy = "fence.proxy.tensormap::generic.release"},
    {.name = "common_map_acquire_scope",
     .mistake = "The map was changed by another block, but is acquired at CTA scope.",
     .fix = "fence.proxy.tensormap::generic.acquire.cluster (or .gpu).",
     .run = common_map<Handover::acquired_in_block>,
     .finding = "missing-proxy-fence",
     .says = "acquired at .cta scope",
     .remedy = "fence.proxy.tensormap::generic.acquire.cluster"},
    {.name = "map_changed_in_flight",
     .mistake = "The map in global memory is overwritten for the next group while the copy of this group, "
                "which still reads the map, is in flight.",
     .fix = "One map for each stage (or wait for the copy before changing its map).",
     .run = map_changed_in_flight,
     .finding = "overwrite-in-flight",
     .says = "may still read the tensor map",
     .remedy = "a map of its own for each stage"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

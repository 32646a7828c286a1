// Compile for compute_90a and sm_90a: tiles of wgmma that threads write themselves, in core matrices of 8
// rows of 16 bytes and without a swizzle, and what comes behind the products.
#include "wgmma_helpers.cuh"

#include <algorithm>

using namespace wg;

namespace {

constexpr int core_columns = 8, core = 8 * core_columns; // elements
constexpr int cores_in_depth = depth / core_columns;

/// Core matrices lie one behind the other along k, and then those of the next eight rows.
__device__ std::uint64_t plain_tile(const Bf16* tile) {
    constexpr std::uint64_t along = core * sizeof(Bf16), next_rows = cores_in_depth * along;
    return roles::smem(tile) >> 4 | along >> 4 << 16 | next_rows >> 4 << 32;
}

/// `count` threads write the tile k of a matrix.
__device__ void write_tile(Bf16* tile, const Bf16* from, int height, int width, int k,
                           int count = group_threads) {
    for (int i = static_cast<int>(threadIdx.x); i < height * cores_in_depth; i += count) {
        const int row = i / cores_in_depth, at = i % cores_in_depth;
        *reinterpret_cast<uint4*>(tile + (row / 8 * cores_in_depth + at) * core + row % 8 * core_columns) =
            *reinterpret_cast<const uint4*>(from + row * width + k * depth + at * core_columns);
    }
}

/// `cores_a` core matrices of A from one step of k to the next.
template <int cores_a = step / core_columns>
__device__ void multiply_plain(Sums& d, const Bf16* a, const Bf16* b, bool adds) {
    const std::uint64_t of_a = plain_tile(a), of_b = plain_tile(b);
#pragma unroll
    for (int k = 0; k < depth / step; ++k) {
        const auto behind = [k](int cores) { return k * cores * core * sizeof(Bf16) >> 4; };
        multiply(d, of_a + behind(cores_a), of_b + behind(step / core_columns), adds || k > 0);
    }
}

struct PlainTiles {
    alignas(128) Bf16 b[columns * depth];
    alignas(128) Bf16 a[rows * depth];
};

__device__ void write_tiles(PlainTiles& into, const Bf16* a, const Bf16* b, int tiles, int k) {
    write_tile(into.a, a, rows, tiles * depth, k);
    write_tile(into.b, b, columns, tiles * depth, k);
}

// -- The loop over k ---------------------------------------------------------------------------------------

template <bool broken>
__global__ void overwrite_kernel(const Bf16* a, const Bf16* b, float* out, int tiles) {
    __shared__ PlainTiles tile;
    Sums d;
    for (int k = 0; k < tiles; ++k) {
        write_tiles(tile, a, b, tiles, k);
        roles::fence_async_shared();
        __syncthreads();
        fence();
        multiply_plain(d, tile.a, tile.b, k > 0);
        commit();
        if constexpr (!broken)
            wait<0>();
        __syncthreads();
    }
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// Two stages: while one is multiplied the other is written.
template <bool broken>
__global__ void overwrite_stage_kernel(const Bf16* a, const Bf16* b, float* out, int tiles) {
    __shared__ PlainTiles stage[2];
    Sums d;
    for (int k = 0; k < tiles; ++k) {
        write_tiles(stage[k % 2], a, b, tiles, k);
        roles::fence_async_shared();
        __syncthreads();
        fence();
        multiply_plain(d, stage[k % 2].a, stage[k % 2].b, k > 0);
        commit();
        if constexpr (broken)
            wait<2>();
        else
            wait<1>();
    }
    wait<0>();
    tie(d);
    store_sums(out, d);
}

template <bool broken>
__global__ void proxy_kernel(const Bf16* a, const Bf16* b, float* out, int tiles) {
    __shared__ PlainTiles tile;
    Sums d;
    for (int k = 0; k < tiles; ++k) {
        write_tiles(tile, a, b, tiles, k);
        if constexpr (!broken)
            roles::fence_async_shared();
        __syncthreads();
        fence();
        multiply_plain(d, tile.a, tile.b, k > 0);
        commit();
        wait<0>();
        __syncthreads();
    }
    tie(d);
    store_sums(out, d);
}

template <bool broken>
__global__ void barrier_kernel(const Bf16* a, const Bf16* b, float* out, int tiles) {
    __shared__ PlainTiles tile;
    Sums d;
    for (int k = 0; k < tiles; ++k) {
        write_tiles(tile, a, b, tiles, k);
        roles::fence_async_shared();
        if constexpr (!broken)
            __syncthreads();
        fence();
        multiply_plain(d, tile.a, tile.b, k > 0);
        commit();
        wait<0>();
        __syncthreads();
    }
    tie(d);
    store_sums(out, d);
}

// Each warp writes the 16 rows of A that it multiplies itself, as attention does with its probabilities.
template <bool broken>
__global__ void own_rows_kernel(const Bf16* a, const Bf16* b, float* out, int) {
    constexpr int tiles = 2;
    alignas(128) __shared__ Bf16 tile_a[rows * depth];
    alignas(128) __shared__ Bf16 tile_b[tiles][columns * depth];
    for (int k = 0; k < tiles; ++k)
        write_tile(tile_b[k], b, columns, tiles * depth, k);
    roles::fence_async_shared();
    __syncthreads();
    Sums d;
    for (int k = 0; k < tiles; ++k) {
        for (int i = roles::lane(); i < 16 * cores_in_depth; i += 32) {
            const int row = roles::warp() * 16 + i / cores_in_depth, at = i % cores_in_depth;
            *reinterpret_cast<uint4*>(tile_a + (row / 8 * cores_in_depth + at) * core +
                                      row % 8 * core_columns) =
                *reinterpret_cast<const uint4*>(a + (row * tiles + k) * depth + at * core_columns);
        }
        roles::fence_async_shared();
        if constexpr (!broken)
            __syncwarp();
        fence();
        multiply_plain(d, tile_a, tile_b[k], k > 0);
        commit();
        wait<0>();
    }
    tie(d);
    store_sums(out, d);
}

template <bool broken>
__global__ void overrun_kernel(const Bf16* a, const Bf16* b, float* out, int tiles) {
    alignas(128) __shared__ Bf16 tile_a[rows * depth];
    alignas(128) __shared__ Bf16 tile_b[columns * depth];
    Sums d;
    for (int k = 0; k < tiles; ++k) {
        write_tile(tile_a, a, rows, tiles * depth, k);
        write_tile(tile_b, b, columns, tiles * depth, k);
        roles::fence_async_shared();
        __syncthreads();
        fence();
        multiply_plain<broken ? 4 : 2>(d, tile_a, tile_b, k > 0);
        commit();
        wait<0>();
        __syncthreads();
    }
    tie(d);
    store_sums(out, d);
}

// -- The epilogue ------------------------------------------------------------------------------------------

__device__ void multiply_all(Sums& d, PlainTiles& tile, const Bf16* a, const Bf16* b, int tiles) {
    for (int k = 0; k < tiles; ++k) {
        __syncthreads();
        write_tiles(tile, a, b, tiles, k);
        roles::fence_async_shared();
        __syncthreads();
        fence();
        multiply_plain(d, tile.a, tile.b, k > 0);
        commit();
        wait<0>();
    }
    tie(d);
}

template <bool broken>
__global__ void bulk_store_kernel(const Bf16* a, const Bf16* b, float* out, int tiles) {
    __shared__ PlainTiles tile;
    alignas(128) __shared__ float staged[rows * columns];
    Sums d;
    multiply_all(d, tile, a, b, tiles);
    store_sums(staged, d);
    if constexpr (!broken)
        roles::fence_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
        roles::store(out, staged, sizeof staged);
        roles::commit();
        roles::wait_read<0>();
    }
}

// Two warpgroups share the tile of B, and put their sums where the tiles were.
template <bool broken>
__global__ void overlay_kernel(const Bf16* a, const Bf16* b, float* out, int) {
    constexpr int groups = 2, count = groups * group_threads;
    struct Shared {
        alignas(128) Bf16 b[columns * depth];
        alignas(128) Bf16 a[groups][rows * depth];
    };
    __shared__ Shared tile;
    write_tile(tile.a[0], a, groups * rows, depth, 0, count);
    write_tile(tile.b, b, columns, depth, 0, count);
    roles::fence_async_shared();
    __syncthreads();
    const int group = roles::warp() / group_warps;
    Sums d;
    fence();
    multiply_plain(d, tile.a[group], tile.b, false);
    commit();
    wait<0>();
    tie(d);
    if constexpr (!broken)
        __syncthreads();
    float* const staged = reinterpret_cast<float*>(&tile);
    store_sums(staged + group * rows * columns, d);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < groups * rows * columns; i += count)
        out[i] = staged[i];
}

// -- Warpgroups --------------------------------------------------------------------------------------------

/// Each of `count` threads, of which the first 128 multiply.
__global__ void threads_kernel(const Bf16* a, const Bf16* b, float* out, int tiles) {
    __shared__ PlainTiles tile;
    const int count = static_cast<int>(blockDim.x);
    write_tile(tile.a, a, rows, tiles * depth, 0, count);
    write_tile(tile.b, b, columns, tiles * depth, 0, count);
    roles::fence_async_shared();
    __syncthreads();
    Sums d;
    fence();
    multiply_plain(d, tile.a, tile.b, false);
    commit();
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// Of the last tile of a matrix only some rows exist.
template <bool broken>
__global__ void guard_kernel(const Bf16* a, const Bf16* b, float* out, int height) {
    __shared__ PlainTiles tile;
    write_tile(tile.a, a, rows, depth, 0);
    write_tile(tile.b, b, columns, depth, 0);
    roles::fence_async_shared();
    __syncthreads();
    const bool has_rows = roles::warp() * 16 < height;
    Sums d;
    if (!broken || has_rows) {
        fence();
        multiply_plain(d, tile.a, tile.b, false);
        commit();
        wait<0>();
        tie(d);
    }
    if (has_rows)
        store_sums(out, d);
}

// One warp writes the tiles, the others multiply.
template <bool broken>
__global__ void warp_roles_kernel(const Bf16* a, const Bf16* b, float* out, int) {
    __shared__ PlainTiles tile;
    const bool writes = roles::warp() == (broken ? 3 : group_warps);
    if (writes) {
        for (int i = roles::lane(); i < (rows + columns) * depth; i += 32) {
            const int row = i / depth % rows, column = i % depth;
            const bool of_a = i < rows * depth;
            (of_a ? tile.a : tile.b)[(row / 8 * cores_in_depth + column / core_columns) * core +
                                     row % 8 * core_columns + column % core_columns] =
                (of_a ? a : b)[row * depth + column];
        }
        roles::fence_async_shared();
    }
    __syncthreads();
    if (writes)
        return;
    Sums d;
    fence();
    multiply_plain(d, tile.a, tile.b, false);
    commit();
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// -- launches ----------------------------------------------------------------------------------------------

using Kernel = void (*)(const Bf16*, const Bf16*, float*, int);

/// Whether the first `height` rows of D are right.
bool is_right(Kernel kernel, int tiles, int last, int threads = group_threads, int height = rows) {
    const Matrix a(std::max(rows, height), tiles * depth, 1), b(columns, tiles * depth, 2);
    pairs::Device<Bf16> of_a(a.bits()), of_b(b.bits());
    pairs::Device<float> out(a.height * columns);
    kernel<<<1, threads>>>(of_a.data(), of_b.data(), out.data(), last);
    std::vector<float> result = out.read(), expected = product(a, b, 0, a.width);
    expected.resize(height * columns);
    result.resize(std::min(result.size(), expected.size()));
    return result == expected;
}

bool overwrite(bool broken) {
    return is_right(broken ? overwrite_kernel<true> : overwrite_kernel<false>, 3, 3);
}
bool overwrite_stage(bool broken) {
    return is_right(broken ? overwrite_stage_kernel<true> : overwrite_stage_kernel<false>, 4, 4);
}
bool proxy(bool broken) { return is_right(broken ? proxy_kernel<true> : proxy_kernel<false>, 3, 3); }
bool barrier(bool broken) { return is_right(broken ? barrier_kernel<true> : barrier_kernel<false>, 3, 3); }
bool own_rows(bool broken) { return is_right(broken ? own_rows_kernel<true> : own_rows_kernel<false>, 2, 2); }
bool overrun(bool broken) { return is_right(broken ? overrun_kernel<true> : overrun_kernel<false>, 3, 3); }
bool bulk_store(bool broken) {
    return is_right(broken ? bulk_store_kernel<true> : bulk_store_kernel<false>, 2, 2);
}
bool overlay(bool broken) {
    return is_right(broken ? overlay_kernel<true> : overlay_kernel<false>, 1, 1, 2 * group_threads, 2 * rows);
}
bool threads(bool broken) { return is_right(threads_kernel, 1, 1, broken ? 96 : 128); }
bool guard(bool broken) {
    return is_right(broken ? guard_kernel<true> : guard_kernel<false>, 1, 40, group_threads, 40);
}
bool warp_roles(bool broken) {
    return is_right(broken ? warp_roles_kernel<true> : warp_roles_kernel<false>, 1, 1,
                    broken ? group_threads : group_threads + 32);
}

constexpr pairs::Pair list[] = {
    {.name = "wgmma_overwrite",
     .mistake =
         "The next tiles are written while the wgmma of the round may still read these: the barrier says "
         "that it was issued, not that it is complete.",
     .fix = "wgmma.wait_group 0 before the barrier at the end of the round.",
     .run = overwrite,
     .finding = "reuse-before-read-done",
     .says = "without having waited until its wgmma had read the bytes",
     .remedy = "wgmma.wait_group 0 before the barrier",
     .also = {{.finding = "reuse-before-read-done",
               .says = "overwrites what a wgmma issued by the warp of",
               .remedy = "must execute wgmma.commit_group and wgmma.wait_group"}}},
    {.name = "wgmma_overwrite_stage",
     .mistake =
         "With two stages one group may stay in flight, not two: the older one reads the stage that is "
         "written next.",
     .fix = "wgmma.wait_group 1.",
     .run = overwrite_stage,
     .finding = "reuse-before-read-done",
     .says = "The issuing warp did wait, but with N = 2: that leaves the",
     .remedy = "Wait with wgmma.wait_group"},
    {.name = "wgmma_proxy",
     .mistake =
         "Threads write the tiles that wgmma reads through the async proxy, and no fence.proxy.async lies "
         "between.",
     .fix = "fence.proxy.async by each writing thread, before the barrier.",
     .run = proxy,
     .finding = "missing-proxy-fence",
     .says = "read through the async proxy by a wgmma",
     .remedy = "each writing thread must execute fence.proxy.async"},
    {.name = "wgmma_barrier",
     .mistake = "Each warp multiplies tiles that the other three write, and no barrier lies between.",
     .fix = "__syncthreads() behind the fence.",
     .run = barrier,
     .finding = "race-shared",
     .says = "then a wgmma issued by the warp of",
     .remedy = "Put __syncthreads()"},
    {.name = "wgmma_own_rows",
     .mistake =
         "The lanes of a warp write rows of A that only their own warp multiplies, and no __syncwarp() lies "
         "between.",
     .fix = "__syncwarp() behind the fence.",
     .run = own_rows,
     .finding = "race-shared",
     .says = "then a wgmma issued by the warp of",
     .remedy = "__syncwarp() is enough if no other warp uses these bytes"},
    {.name = "wgmma_overrun",
     .mistake = "The descriptors of A go on by four core matrices for each step of k, which is two; the last "
                "lies outside of the tile.",
     .fix = "Go on by two.",
     .run = overrun,
     .finding = "shared-array-overrun",
     .says = "lie past the end of tile_a (8192 bytes), in tile_b",
     .remedy = "what each step of k adds to it"},
    {.name = "wgmma_bulk_store",
     .mistake =
         "The sums are written to shared memory and stored by a bulk copy, and no fence.proxy.async lies "
         "between.",
     .fix = "fence.proxy.async by each thread, before the barrier.",
     .run = bulk_store,
     .finding = "missing-proxy-fence",
     .says = "read through the async proxy by a bulk store",
     .remedy = "each writing thread must execute fence.proxy.async"},
    {.name = "wgmma_overlay",
     .mistake =
         "A warpgroup that has waited for its own wgmma writes its sums over the tile of B, which that of "
         "the other may still read.",
     .fix = "__syncthreads() behind the wait.",
     .run = overlay,
     .finding = "race-shared",
     .says = "a wgmma issued by the warp of",
     .remedy = "Put __syncthreads()",
     .also = {{.finding = "reuse-before-read-done",
               .says = "overwrites what a wgmma issued by the warp of",
               .remedy = "after that tells the others. Put __syncthreads()"}}},
    {.name = "wgmma_threads",
     .mistake = "The block has 96 threads; a warpgroup has 128.",
     .fix = "Launch 128.",
     .run = threads,
     .finding = "divergent-wgmma",
     .says = "the block has 96 threads",
     .remedy = "launch a multiple of 128 threads"},
    {.name = "wgmma_guard",
     .mistake =
         "A warp whose rows lie outside of the matrix leaves out the wgmma, which all four must execute.",
     .fix = "Guard the stores alone.",
     .run = guard,
     .finding = "divergent-wgmma",
     .says = "the warp of thread (96,0,0) of block (0,0,0) has ended without it",
     .remedy = "Let all four warps of a warpgroup execute the same wgmma"},
    {.name = "wgmma_warp_roles",
     .mistake = "One warp of the warpgroup writes the tiles, and only the other three multiply.",
     .fix = "Let a fifth warp write them.",
     .run = warp_roles,
     .finding = "divergent-wgmma",
     .says = "has ended without it",
     .remedy = "let roles be whole warpgroups"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

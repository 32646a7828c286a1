/// @file ladder.cuh
/// Chapter 12: how each rung is launched, and the list of all of them.
#pragma once

#include "launching.cuh"
#include "rungs/eight_bits.cuh"
#include "rungs/multicast.cuh"
#include "rungs/naive.cuh"
#include "rungs/one_stage.cuh"
#include "rungs/ordered.cuh"
#include "rungs/overlapped.cuh"
#include "rungs/roles.cuh"
#include "rungs/shared_tile.cuh"
#include "rungs/staged.cuh"
#include "rungs/staying.cuh"
#include "rungs/stored.cuh"
#include "rungs/tuned_choices.cuh"
#include "rungs/warp_products.cuh"
#include "rungs/wide_tile.cuh"

#include <cmath>
#include <iterator>

namespace gemm {

inline void launch_naive(const Operands& of) {
    if (!anything_to_do(of))
        return;
    constexpr unsigned edge = naive::edge;
    workbook::launch(naive::naive_gemm,
                     {.grid = {pieces(of.extent.n, edge), pieces(of.extent.m, edge)}, .block = {edge, edge}},
                     of.extent, of.a, of.b, of.out);
}

inline void launch_shared_tile(const Operands& of) {
    if (anything_to_do(of))
        workbook::launch(shared_tile::shared_tile_gemm,
                         {.grid = grid_of<shared_tile::T>(of.extent), .block = shared_tile::threads},
                         of.extent, of.a, of.b, of.out);
}

inline void launch_warp_products(const Operands& of) {
    if (anything_to_do(of))
        workbook::launch(warp_products::warp_products_gemm,
                         {.grid = grid_of<warp_products::T>(of.extent),
                          .block = warp_products::threads,
                          .dynamic_shared = warp_products::stage_count * sizeof(Stage<warp_products::T>)},
                         of.extent, of.a, of.b, of.out);
}

/// The rungs with one block for each tile of the result, and operands by TMA.
template <class Tile, class Kernel>
void launch_tiles(Kernel* kernel, unsigned threads, std::size_t shared, const Operands& of) {
    if (!anything_to_do(of))
        return;
    const auto [m, n, k] = of.extent;
    workbook::launch(kernel, {.grid = grid_of<Tile>(of.extent), .block = threads, .dynamic_shared = shared},
                     of.extent, operand_map(of.a, m, k, Tile::rows), operand_map(of.b, n, k, Tile::columns),
                     of.out);
}

inline void launch_one_stage(const Operands& of) {
    launch_tiles<one_stage::T>(one_stage::one_stage_gemm, workbook::warpgroup_threads, 0, of);
}
template <int stages = 3>
void launch_staged(const Operands& of) {
    launch_tiles<staged::T>(staged::staged_gemm<stages>, workbook::warpgroup_threads,
                            sizeof(staged::Memory<stages>), of);
}
template <int stages = 6>
void launch_roles(const Operands& of) {
    launch_tiles<roles::T>(roles::roles_gemm<stages>, roles::threads, sizeof(roles::Memory<stages>), of);
}
inline void launch_wide_tile(const Operands& of) {
    launch_tiles<wide_tile::T>(wide_tile::wide_tile_gemm, wide_tile::threads, sizeof(wide_tile::Memory), of);
}

inline void launch_ordered(const Operands& of) {
    if (!anything_to_do(of))
        return;
    using T = ordered::T;
    const auto [m, n, k] = of.extent;
    const TileOrder order = order_of(of.extent, T::rows, T::columns);
    workbook::launch(
        ordered::ordered_gemm,
        {.grid = order.count(), .block = ordered::threads, .dynamic_shared = sizeof(ordered::Memory)},
        of.extent, order, operand_map(of.a, m, k, T::rows), operand_map(of.b, n, k, T::columns), of.out);
}

/// Rung 9 with `band` rows of tiles in a band.
inline void launch_staying_in_bands(const Operands& of, unsigned band) {
    if (!anything_to_do(of))
        return;
    using T = staying::T;
    const auto [m, n, k] = of.extent;
    const TileOrder order = order_of(of.extent, T::rows, T::columns, band);
    workbook::launch(staying::staying_gemm,
                     {.grid = std::min(order.count(), multiprocessors()),
                      .block = staying::threads,
                      .dynamic_shared = sizeof(staying::Memory)},
                     of.extent, order, operand_map(of.a, m, k, T::rows), operand_map(of.b, n, k, T::columns),
                     of.out);
}

inline void launch_staying(const Operands& of) { launch_staying_in_bands(of, default_band); }

/// Rung 10 with `band` rows of clusters, each two rows of tiles, in a band.
inline void launch_multicast_in_bands(const Operands& of, unsigned band) {
    if (!anything_to_do(of))
        return;
    namespace r = multicast;
    const auto [m, n, k] = of.extent;
    const TileOrder order = order_of(of.extent, r::blocks * r::T::rows, r::T::columns, band);
    workbook::launch(r::multicast_gemm, clusters_that_stay(order, r::blocks, r::threads, sizeof(r::Memory)),
                     of.extent, order, operand_map(of.a, m, k, r::T::rows),
                     operand_map(of.b, n, k, r::T::columns / r::blocks), of.out);
}

inline void launch_multicast(const Operands& of) { launch_multicast_in_bands(of, default_band); }

/// The rungs of clusters whose result leaves by tensor copies.
template <class Tile, class Kernel, class T>
void launch_storing(Kernel* kernel, unsigned blocks, unsigned threads, std::size_t shared,
                    const OperandsOf<T>& of) {
    if (!anything_to_do(of))
        return;
    const auto [m, n, k] = of.extent;
    const TileOrder order = order_of(of.extent, blocks * Tile::rows, Tile::columns);
    workbook::launch(kernel, clusters_that_stay(order, blocks, threads, shared), k, order,
                     operand_map(of.a, m, k, Tile::rows), operand_map(of.b, n, k, Tile::columns / blocks),
                     operand_map(of.out, m, n, 64));
}

inline void launch_stored(const Operands& of) {
    namespace r = stored;
    launch_storing<r::T>(r::stored_gemm, r::blocks, r::threads, sizeof(r::Memory), of);
}
inline void launch_overlapped(const Operands& of) {
    namespace r = overlapped;
    launch_storing<r::T>(r::overlapped_gemm, r::blocks, r::threads, sizeof(r::Memory), of);
}

/// How far apart two sizes are: how often each edge must be doubled or halved, in all.
[[nodiscard]] inline double apart(Extent one, Extent other) {
    const auto doublings = [](unsigned a, unsigned b) { return std::abs(std::log2(double(a) / double(b))); };
    return doublings(one.m, other.m) + doublings(one.n, other.n) + doublings(one.k, other.k);
}

/// What the tuner found best for the nearest of its sizes. No edge is 0.
[[nodiscard]] inline const tuned::Tuned& tuned_for(Extent extent) {
    return *std::min_element(std::begin(tuned::choices), std::end(tuned::choices),
                             [&](const tuned::Tuned& one, const tuned::Tuned& other) {
                                 return apart(one.extent, extent) < apart(other.extent, extent);
                             });
}

inline void launch_tuned(const Operands& of) {
    if (!anything_to_do(of))
        return;
    const tuned::Tuned& choice = tuned_for(of.extent);
    choice.launch(of, choice.band, tuned::all_clusters);
}

inline void launch_eight_bits(const OperandsOf<e4m3>& of) {
    namespace r = eight_bits;
    launch_storing<r::T>(r::eight_bits_gemm, r::blocks, r::threads, sizeof(r::Memory), of);
}

/// A rung of the ladder.
struct Rung {
    const char* name;
    const char* shows; ///< what this step changes
    void (*launch)(const Operands&);
};

inline constexpr Rung rungs[] = {
    {"naive", "a thread per element", launch_naive},
    {"shared_tile", "tiles in shared memory, 8x8 sums a thread", launch_shared_tile},
    {"warp_products", "mma.sync, fed by a ring of cp.async", launch_warp_products},
    {"one_stage", "TMA, then wgmma", launch_one_stage},
    {"staged", "a ring of three stages", launch_staged<>},
    {"roles", "one warp loads, four multiply", launch_roles<>},
    {"wide_tile", "128x256, registers by role", launch_wide_tile},
    {"ordered", "tiles in bands, for L2", launch_ordered},
    {"staying", "blocks that stay", launch_staying},
    {"multicast", "two blocks share a tile of b", launch_multicast},
    {"stored", "results by stmatrix and TMA", launch_stored},
    {"overlapped", "stores while multiplying", launch_overlapped},
    {"tuned", "tile and cluster by size", launch_tuned},
};

} // namespace gemm

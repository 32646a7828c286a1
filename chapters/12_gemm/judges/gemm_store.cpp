/// @file gemm_store.cpp
/// Judge of chapter 12's gemm_store.
#include "products.hpp"

void judge::run() {
    const Kernel<void(int, CUtensorMap, CUtensorMap, CUtensorMap)> kernel("gemm_store");
    constexpr unsigned columns = 2 * edge;
    for (const Extent extent : {Extent{64, 128, 64}, {64, 64, 192}, {130, 200, 328}, {1, 8, 8}}) {
        trying(with_extent(extent));
        Product product(extent);
        const dim3 grid((extent.n + columns - 1) / columns, (extent.m + edge - 1) / edge);
        kernel({.grid = grid, .block = 128}, static_cast<int>((extent.k + edge - 1) / edge), product.map_a(),
               product.map_b(columns), product.map_out());
        product.expect();
    }
}

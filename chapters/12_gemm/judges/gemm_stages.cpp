/// @file gemm_stages.cpp
/// Judge of chapter 12's gemm_stages.
#include "products.hpp"

void judge::run() {
    const Kernel<void(Extent, CUtensorMap, CUtensorMap, bf16*)> kernel("gemm_stages");
    constexpr std::size_t shared = 4 * 2 * edge * edge * sizeof(bf16) + 1024;
    for (const Extent extent :
         {Extent{64, 64, 1024}, {64, 64, 64}, {64, 64, 192}, {130, 72, 712}, {1, 8, 8}, {65, 136, 328}}) {
        trying(with_extent(extent));
        Product product(extent);
        kernel({.grid = product.grid(), .block = 128, .dynamic_shared = shared}, extent, product.map_a(),
               product.map_b(), product.out.data());
        product.expect();
    }
}

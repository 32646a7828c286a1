/// @file gemm_roles.cpp
/// Judge of chapter 12's gemm_roles.
#include "products.hpp"

void judge::run() {
    const Kernel<void(Extent, CUtensorMap, CUtensorMap, bf16*)> kernel("gemm_roles");
    constexpr std::size_t shared = 4 * 2 * edge * edge * sizeof(bf16) + 1024;
    for (const Extent extent :
         {Extent{64, 64, 1024}, {64, 64, 64}, {64, 64, 192}, {130, 72, 712}, {1, 8, 8}, {65, 136, 328}}) {
        trying(with_extent(extent));
        Product product(extent);
        kernel({.grid = product.grid(), .block = 160, .dynamic_shared = shared}, extent, product.map_a(),
               product.map_b(), product.out.data());
        product.expect({.all_zero =
                            "Nothing was multiplied yet: the first result is seen when (1), (2) and (3) "
                            "are all there."});
    }
}

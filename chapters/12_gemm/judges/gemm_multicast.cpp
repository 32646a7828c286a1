/// @file gemm_multicast.cpp
/// Judge of chapter 12's gemm_multicast.
#include "products.hpp"

void judge::run() {
    const Kernel<void(Extent, CUtensorMap, CUtensorMap, bf16*)> kernel("gemm_multicast");
    constexpr std::size_t shared = 4 * 2 * edge * edge * sizeof(bf16) + 1024;
    for (const Extent extent :
         {Extent{128, 64, 1024}, {128, 64, 64}, {128, 64, 192}, {130, 72, 712}, {1, 8, 8}, {65, 136, 328}}) {
        trying(with_extent(extent));
        Product product(extent);
        dim3 grid = product.grid();
        grid.y += grid.y % 2; // whole clusters; what is beyond the last row gets nothing
        kernel({.grid = grid, .block = 160, .dynamic_shared = shared, .cluster = dim3(1, 2)}, extent,
               product.map_a(), product.map_b(edge / 2), product.out.data());
        product.expect({.columns_left = edge / 2,
                        .of_the_left = "both halves of b's tile are the same rows of b. What goes to row "
                                       "`first` of the tile begins with row `column + first` of b."});
    }
}

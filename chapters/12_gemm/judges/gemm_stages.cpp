/// @file gemm_stages.cpp
/// Judge of chapter 12's gemm_stages.
#include "products.hpp"

#include <array>
#include <string>
#include <utility>

void judge::run() {
    const Kernel<void(Extent, CUtensorMap, CUtensorMap, bf16*)> kernel("gemm_stages");
    constexpr std::size_t shared = 4 * 2 * edge * edge * sizeof(bf16) + 1024;
    // The products, and the blocks that share a row of tiles.
    const std::array<std::pair<Extent, unsigned>, 7> cases{{{{64, 512, 128}, 1},
                                                            {{64, 64, 64}, 2},
                                                            {{70, 520, 64}, 2},
                                                            {{64, 192, 192}, 1},
                                                            {{1, 8, 8}, 1},
                                                            {{65, 136, 328}, 2},
                                                            {{64, 328, 712}, 1}}};
    for (const auto& [extent, blocks] : cases) {
        trying(with_extent(extent) + " and " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks") +
               " for each row of tiles");
        Product product(extent);
        kernel({.grid = {blocks, product.grid().y}, .block = 128, .dynamic_shared = shared}, extent,
               product.map_a(), product.map_b(), product.out.data());
        product.expect(
            {.columns_left = 2 * edge,
             .of_the_left = "of which tile is the step that was asked for?",
             .otherwise =
                 "Of which tile is the step that was asked for, and which place along k has it there?"});
    }
}

/// @file bench_causes.cuh
/// Chapter 12's experiments: each changes one thing.
#pragma once

#include "bench_data.cuh"
#include "bench_halves.cuh"
#include "cublas.hpp"
#include "ladder.cuh"

#include <string>
#include <utility>
#include <vector>

namespace gemm {

/// A contender, and the cells that tell it from others in its table.
struct Labelled {
    workbook::Contender contender;
    std::vector<workbook::BenchCell> cells;
};

/// Measures them in turns with cuBLAS, if that is there, and writes a row for each.
inline void compare_labelled(workbook::Bench& bench, const char* table, Product<bf16>& product,
                             const std::vector<Labelled>& labelled) {
    const Cublas cublas(!bench.dry());
    const Operands of = product.operands();
    std::vector<workbook::Contender> contenders;
    for (const Labelled& each : labelled)
        contenders.push_back(each.contender);
    if (cublas.available())
        contenders.push_back({"cuBLAS", [&] { cublas.multiply(of.a, of.b, of.out, of.extent); }});
    const auto timings = in_turns(bench, contenders, turns(of.extent, 11));
    const auto reference = cublas.available() ? timings.back() : std::nullopt;
    for (std::size_t i = 0; i < labelled.size(); ++i)
        bench.row(table, workbook::joined<workbook::BenchCell>(
                             workbook::joined<workbook::BenchCell>(
                                 {{"extent", product.name()}, {"kernel", labelled[i].contender.name}},
                                 labelled[i].cells),
                             product_cells(timings[i], of.extent, reference)));
}

/// How many blocks of a kernel an SM holds.
template <class... Params>
double blocks_on_an_sm(void (*kernel)(Params...), unsigned threads, std::size_t shared) {
    workbook::raise_limits(kernel, {.block = threads, .dynamic_shared = shared});
    int blocks = 0;
    workbook::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), shared),
        "asking for the occupancy");
    return blocks;
}

template <int stages>
void add_stages(std::vector<Labelled>& all, const Operands& of) {
    const auto label = [](double blocks) {
        return std::vector<workbook::BenchCell>{{"stages", stages}, {"blocks_per_sm", blocks}};
    };
    all.push_back({{"staged", [of] { launch_staged<stages>(of); }},
                   label(blocks_on_an_sm(staged::staged_gemm<stages>, workbook::warpgroup_threads,
                                         sizeof(staged::Memory<stages>)))});
    all.push_back(
        {{"roles", [of] { launch_roles<stages>(of); }},
         label(blocks_on_an_sm(roles::roles_gemm<stages>, roles::threads, sizeof(roles::Memory<stages>)))});
}

inline void compare_stages(workbook::Bench& bench, Product<bf16>& product) {
    const Operands of = product.operands();
    std::vector<Labelled> all;
    all.push_back(
        {{"one_stage", [of] { launch_one_stage(of); }},
         {{"stages", 1},
          {"blocks_per_sm", blocks_on_an_sm(one_stage::one_stage_gemm, workbook::warpgroup_threads, 0)}}});
    add_stages<2>(all, of);
    add_stages<3>(all, of);
    add_stages<4>(all, of);
    add_stages<6>(all, of);
    compare_labelled(bench, "gemm_stages", product, all);
}

using Alone = tuned::Choice<2, 256, 4, 1, 1, 2>;     ///< rung 12 without a cluster
using Clustered = tuned::Choice<2, 256, 4, 2, 1, 2>; ///< rung 12
inline constexpr const char* alone_name = "128x256 alone";
inline constexpr const char* clustered_name = "128x256, clusters of 2";

template <class Choice>
void add_halves(std::vector<Labelled>& all, const Operands& of, const char* name) {
    using halves::Part;
    all.push_back(
        {{name, [of] { tuned::launch<Choice>(of, default_band, tuned::all_clusters); }}, {{"part", "all"}}});
    all.push_back(
        {{name, [of] { halves::launch<Choice, Part::loads>(of, default_band); }}, {{"part", "loads"}}});
    all.push_back(
        {{name, [of] { halves::launch<Choice, Part::products>(of, default_band); }}, {{"part", "products"}}});
}

inline void compare_halves(workbook::Bench& bench, Product<bf16>& product) {
    std::vector<Labelled> all;
    add_halves<Alone>(all, product.operands(), alone_name);
    add_halves<Clustered>(all, product.operands(), clustered_name);
    compare_labelled(bench, "gemm_halves", product, all);
}

/// Rung 3, whole and with stages that are filled once.
inline void compare_filled_once(workbook::Bench& bench, Product<bf16>& product) {
    const Operands of = product.operands();
    const workbook::LaunchShape shape{.grid = grid_of<warp_products::T>(of.extent),
                                      .block = warp_products::threads,
                                      .dynamic_shared =
                                          warp_products::stage_count * sizeof(Stage<warp_products::T>)};
    const auto filled_once = [of, shape] {
        workbook::launch(halves::warp_products_filled_once, shape, of.extent, of.a, of.b, of.out);
    };
    compare_labelled(bench, "gemm_rung3", product,
                     {{{"warp_products", [of] { launch_warp_products(of); }}, {{"part", "all"}}},
                      {{"warp_products, each stage filled once", filled_once}, {{"part", "products"}}}});
}

inline void compare_bands(workbook::Bench& bench, Product<bf16>& product) {
    const Operands of = product.operands();
    std::vector<Labelled> all;
    for (const unsigned band : {1u, 2u, 4u, 8u, 16u, 64u}) {
        const auto cell = std::vector<workbook::BenchCell>{{"band", static_cast<double>(band)}};
        all.push_back(
            {{alone_name, [of, band] { tuned::launch<Alone>(of, band, tuned::all_clusters); }}, cell});
        all.push_back(
            {{clustered_name, [of, band] { tuned::launch<Clustered>(of, band, tuned::all_clusters); }},
             cell});
    }
    compare_labelled(bench, "gemm_bands", product, all);
}

} // namespace gemm

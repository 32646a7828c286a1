/// @file main.cu
/// Searches the fastest product for each of some sizes: every candidate with every band, in turns with
/// cuBLAS, then the best of them once more with more turns. Everything that was tried is written down.
#include "../bench_data.cuh"
#include "../cublas.hpp"
#include "../ladder.cuh"
#include "candidates.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace gemm;
using tuner::Candidate;
using workbook::Bench;

constexpr Extent extents[] = {
    {8192, 8192, 8192}, {4096, 4096, 4096}, {2048, 2048, 2048}, {8192, 8192, 1024}, {16384, 1024, 4096}};
constexpr unsigned bands[] = {2, 4, 8, 16};
constexpr std::size_t finalists = 8;

/// A candidate with a band, and the time that it took last.
struct Trial {
    Candidate candidate;
    unsigned band;
    double median_ms = 0;
};

std::vector<Trial> all_trials(const Bench& bench) {
    std::vector<Candidate> candidates = tuner::wide_candidates();
    const std::vector<Candidate> more = tuner::square_candidates();
    candidates.insert(candidates.end(), more.begin(), more.end());
    std::vector<Trial> trials;
    for (const Candidate& candidate : candidates)
        for (const unsigned band : bands)
            if (!bench.dry() || band == bands[0])
                trials.push_back({candidate, band});
    return trials;
}

/// One phase: all trials in turns with cuBLAS. Each gets a row.
void run(Bench& bench, const Cublas& cublas, Product<bf16>& product, std::vector<Trial>& trials,
         const char* phase, const workbook::TurnPlan& plan) {
    const Operands of = product.operands();
    std::vector<workbook::Contender> contenders;
    for (const Trial& trial : trials)
        contenders.push_back({"", [&trial, of] { trial.candidate.launch(of, trial.band); }});
    if (cublas.available())
        contenders.push_back({"cuBLAS", [&] { cublas.multiply(of.a, of.b, of.out, of.extent); }});
    const auto timings = in_turns(bench, contenders, plan);
    const std::vector<std::optional<workbook::Timing>> none(1);
    const auto& reference = cublas.available() ? timings.back() : none.back();
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto& [rows, columns, stages, down, across, panels, launch] = trials[i].candidate;
        trials[i].median_ms = timings[i] ? timings[i]->median_ms : 0;
        bench.row("gemm_tuner",
                  workbook::joined<workbook::BenchCell>({{"extent", product.name()},
                                                         {"phase", phase},
                                                         {"rows", rows},
                                                         {"columns", columns},
                                                         {"stages", stages},
                                                         {"down", down},
                                                         {"across", across},
                                                         {"panels", panels},
                                                         {"band", static_cast<double>(trials[i].band)}},
                                                        product_cells(timings[i], of.extent, reference)));
    }
}

/// Leaves out what is wrong.
void check(Bench& bench, Product<bf16>& product, std::vector<Trial>& trials) {
    launch_one_stage(product.expecting());
    std::erase_if(trials, [&](const Trial& trial) {
        product.poison();
        trial.candidate.launch(product.operands(), trial.band);
        const auto differences = product.differences();
        if (differences.bits > 0)
            bench.wrong("a tile of " + std::to_string(trial.candidate.rows) + " x " +
                        std::to_string(trial.candidate.columns) + " at " + product.name() + ": " +
                        std::to_string(differences.bits) + " elements differ");
        return differences.bits > 0;
    });
}

void search(Bench& bench) {
    bench.table("gemm_tuner", "Tiles, stages, clusters, panels and bands, in turns with cuBLAS",
                workbook::joined<workbook::BenchColumn>({{"extent", "m x n x k"},
                                                         {"phase", "phase"},
                                                         {"rows", "rows of a tile"},
                                                         {"columns", "columns of a tile"},
                                                         {"stages", "stages"},
                                                         {"down", "blocks of a cluster, down"},
                                                         {"across", "blocks of a cluster, across"},
                                                         {"panels", "panels"},
                                                         {"band", "rows of a band"}},
                                                        product_columns()));
    const Cublas cublas(!bench.dry());
    for (const Extent extent : extents) {
        Product<bf16> product(bench.dry() ? Extent{520, 264, 136} : extent);
        std::vector<Trial> trials = all_trials(bench);
        check(bench, product, trials);
        workbook::TurnPlan quick = turns(product.extent(), 4);
        quick.launches = std::max(2, quick.launches / 2);
        run(bench, cublas, product, trials, "all", quick);
        if (bench.dry())
            return;
        std::sort(trials.begin(), trials.end(),
                  [](const Trial& a, const Trial& b) { return a.median_ms < b.median_ms; });
        trials.resize(std::min(trials.size(), finalists));
        run(bench, cublas, product, trials, "finalists", turns(product.extent(), 21));
    }
}

constexpr workbook::BenchPart parts[] = {{"search", "everything at five sizes", search}};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("gemm_tuner", parts, argc, argv); }

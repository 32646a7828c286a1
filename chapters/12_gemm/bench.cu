/// @file bench.cu
/// Chapter 12's measurements: the ladder against cuBLAS, and what limits its rungs.
#include "bench_causes.cuh"
#include "bench_clock.cuh"
#include "bench_data.cuh"
#include "conditions.hpp"
#include "cublas.hpp"

#include <iterator>

namespace {

using namespace gemm;
using workbook::Bench;
using workbook::BenchMode;
using workbook::Contender;

constexpr const char* cublas_name = "cuBLAS";
constexpr Extent extents[] = {
    {8192, 8192, 8192}, {4096, 4096, 4096}, {2048, 2048, 2048}, {8192, 8192, 1024}, {16384, 1024, 4096}};
constexpr std::size_t slow_rungs = 2; ///< the first: too slow for turns

/// The sizes of a part; small where results alone are looked at.
Extent sized(const Bench& bench, Extent extent) { return bench.dry() ? Extent{264, 272, 144} : extent; }

/// How bursts follow each other.
struct Pace {
    const char* name;
    int rounds;
    int pause_ms;
};
constexpr Pace paces[] = {{"without pauses", 21, 0}, {"with pauses", 11, 40}};

/// The expected result: cuBLAS's, or where there is none a rung's.
void expect(const Cublas& cublas, Product<bf16>& product) {
    const Operands of = product.expecting();
    if (cublas.available())
        cublas.multiply(of.a, of.b, of.out, of.extent);
    else
        launch_one_stage(of);
}

/// Every rung's result against cuBLAS's: rungs with tensor cores have its bits, the others add up in another
/// order.
void compare(Bench& bench, Product<bf16>& product) {
    for (std::size_t i = 0; i < std::size(rungs); ++i) {
        product.poison();
        rungs[i].launch(product.operands());
        const auto [bits, far] = product.differences();
        if (far > 0)
            bench.wrong(std::string(rungs[i].name) + " at " + product.name() + ": " + std::to_string(far) +
                        " wrong elements");
        bench.row("gemm_bits", {{"extent", product.name()},
                                {"kernel", rungs[i].name},
                                {"different", static_cast<double>(bits)}});
    }
}

void ladder_at(Bench& bench, const Cublas& cublas, Extent extent) {
    Product<bf16> product(extent);
    const Operands of = product.operands();
    if (bench.mode() != BenchMode::once) {
        expect(cublas, product);
        compare(bench, product);
    }
    std::vector<Contender> contenders;
    if (cublas.available())
        contenders.push_back({cublas_name, [&] { cublas.multiply(of.a, of.b, of.out, of.extent); }});
    for (std::size_t i = slow_rungs; i < std::size(rungs); ++i)
        contenders.push_back({rungs[i].name, [&, i] { rungs[i].launch(of); }});
    const Management management(!bench.dry());
    for (const Pace& pace : paces) {
        workbook::TurnPlan plan = turns(extent, pace.rounds);
        plan.pause_ms = pace.pause_ms;
        const auto timings = bench.dry() // compare() had each of them run
                                 ? std::vector<std::optional<workbook::Timing>>(contenders.size())
                                 : in_turns(bench, contenders, plan);
        const auto found = bench.mode() == BenchMode::measure ? management.now() : std::nullopt;
        const auto reference = cublas.available() ? timings.front() : std::nullopt;
        const auto write = [&](const std::string& kernel, const std::optional<workbook::Timing>& timing) {
            auto cells = workbook::joined<workbook::BenchCell>(
                {{"extent", product.name()}, {"pace", pace.name}, {"kernel", kernel}},
                product_cells(timing, extent, reference));
            if (found) {
                cells.emplace_back("sm_mhz", static_cast<double>(found->sm_mhz));
                cells.emplace_back("watts", found->watts);
            }
            bench.row("gemm_ladder", cells);
        };
        for (std::size_t i = 0; i < slow_rungs && pace.pause_ms == 0; ++i)
            write(rungs[i].name, bench.time_checked(
                                     0, [&](cudaStream_t) { rungs[i].launch(of); }, 3));
        for (std::size_t i = 0; i < contenders.size(); ++i)
            write(contenders[i].name, timings[i]);
        if (bench.mode() == BenchMode::once)
            break;
    }
}

void ladder(Bench& bench) {
    bench.table("gemm_ladder", "The rungs of the ladder, and cuBLAS in the same turns",
                workbook::joined<workbook::BenchColumn>(
                    {{"extent", "m x n x k"}, {"pace", "bursts"}, {"kernel", "rung"}},
                    workbook::joined<workbook::BenchColumn>(
                        product_columns(), {{"sm_mhz", "SM clock after all turns", "MHz"},
                                            {"watts", "power in the last second of them", "W"}})));
    bench.table("gemm_bits", "Elements of each rung's result that differ from cuBLAS's",
                {{"extent", "m x n x k"}, {"kernel", "rung"}, {"different", "elements that differ"}});
    const Cublas cublas(!bench.dry());
    for (const Extent extent : extents) {
        ladder_at(bench, cublas, sized(bench, extent));
        if (bench.mode() != BenchMode::measure)
            break;
    }
}

void stages(Bench& bench) {
    bench.table("gemm_stages",
                "One warpgroup, with and without a warp that loads: stages, and blocks on an SM",
                workbook::joined<workbook::BenchColumn>({{"extent", "m x n x k"},
                                                         {"kernel", "rung"},
                                                         {"stages", "stages"},
                                                         {"blocks_per_sm", "blocks on an SM"}},
                                                        product_columns()));
    Product<bf16> product(sized(bench, {4096, 4096, 4096}));
    compare_stages(bench, product);
}

void halves(Bench& bench) {
    bench.table("gemm_halves", "The last rung, whole and with one half left out",
                workbook::joined<workbook::BenchColumn>(
                    {{"extent", "m x n x k"}, {"kernel", "tile and cluster"}, {"part", "what is done"}},
                    product_columns()));
    for (const Extent extent : {extents[0], extents[1], extents[3]}) {
        Product<bf16> product(sized(bench, extent));
        compare_halves(bench, product);
        if (bench.dry()) // all are of one size
            break;
    }
}

/// Is it the copies that hold rung 3 back?
void rung_3(Bench& bench) {
    bench.table(
        "gemm_rung3", "Rung 3, whole and with stages that are filled once",
        workbook::joined<workbook::BenchColumn>(
            {{"extent", "m x n x k"}, {"kernel", "rung"}, {"part", "what is done"}}, product_columns()));
    Product<bf16> product(sized(bench, extents[0]));
    compare_filled_once(bench, product);
}

void bands(Bench& bench) {
    bench.table("gemm_bands", "Rows of tiles in a band, by size",
                workbook::joined<workbook::BenchColumn>(
                    {{"extent", "m x n x k"}, {"kernel", "tile and cluster"}, {"band", "rows of a band"}},
                    product_columns()));
    for (const Extent extent : {extents[0], extents[1], extents[4]}) {
        Product<bf16> product(sized(bench, extent));
        compare_bands(bench, product);
        if (bench.dry())
            break;
    }
}

/// A thousand products without a pause, more than a second of them: the power that is reported is a mean.
/// Time and clock are those of the second half, by the SMs' counters.
template <class Multiply>
std::vector<workbook::BenchCell> sustained(Bench& bench, const Management& management, Extent extent,
                                           Multiply&& multiply) {
    const int half = bench.mode() == BenchMode::measure ? 500 : 1;
    Counters counters(2);
    counters.forget();
    for (int i = 0; i < half; ++i)
        multiply();
    counters.read(0);
    for (int i = 0; i < half; ++i)
        multiply();
    counters.read(1);
    workbook::synchronize("products in a row");
    const auto found = management.now();
    ClockSamples clock;
    clock.add(counters.passed().front(), half);
    auto cells = clock.cells(bench, extent);
    if (found) {
        cells.emplace_back("nvml_mhz", static_cast<double>(found->sm_mhz));
        cells.emplace_back("watts", found->watts);
    }
    return cells;
}

std::vector<workbook::BenchColumn> sustained_columns() {
    return {{"median_ms", "time", "ms"},          {"tflops", "rate", "TFLOP/s"},
            {"sm_mhz", "SM clock", "MHz"},        {"cycles", "cycles", "thousands"},
            {"nvml_mhz", "clock by NVML", "MHz"}, {"watts", "power", "W"}};
}

/// The same product of different numbers.
void data(Bench& bench) {
    bench.table(
        "gemm_data", "What the matrices hold: rate, clock and power",
        workbook::joined<workbook::BenchColumn>(
            {{"extent", "m x n x k"}, {"kernel", "kernel"}, {"fill", "elements"}}, sustained_columns()));
    const Cublas cublas(!bench.dry());
    const Management management(!bench.dry());
    const std::pair<Fill, const char*> fills[] = {{Fill::normal, "normal random numbers"},
                                                  {Fill::small_integers, "integers from -2 to 2"},
                                                  {Fill::ones, "ones"},
                                                  {Fill::zeros, "zeros"}};
    for (const auto& [fill, name] : fills) {
        Product<bf16> product(sized(bench, extents[0]), fill);
        const Operands of = product.operands();
        const auto run = [&](const char* kernel, auto&& multiply) {
            bench.row("gemm_data", workbook::joined<workbook::BenchCell>(
                                       {{"extent", product.name()}, {"kernel", kernel}, {"fill", name}},
                                       sustained(bench, management, of.extent, multiply)));
        };
        if (cublas.available())
            run(cublas_name, [&] { cublas.multiply(of.a, of.b, of.out, of.extent); });
        run("overlapped", [&] { launch_overlapped(of); });
    }
}

/// Each rung for itself, until its clock and power have settled: what it takes in cycles, and what in watts.
void clocks(Bench& bench) {
    bench.table("gemm_clocks", "Each rung for more than a second: rate, clock and power",
                workbook::joined<workbook::BenchColumn>({{"extent", "m x n x k"}, {"kernel", "rung"}},
                                                        sustained_columns()));
    const Cublas cublas(!bench.dry());
    const Management management(!bench.dry());
    Product<bf16> product(sized(bench, extents[0]));
    const Operands of = product.operands();
    const auto run = [&](const char* kernel, auto&& multiply) {
        bench.row("gemm_clocks",
                  workbook::joined<workbook::BenchCell>({{"extent", product.name()}, {"kernel", kernel}},
                                                        sustained(bench, management, of.extent, multiply)));
    };
    if (cublas.available())
        run(cublas_name, [&] { cublas.multiply(of.a, of.b, of.out, of.extent); });
    for (std::size_t i = slow_rungs; i < std::size(rungs); ++i)
        run(rungs[i].name, [&] { rungs[i].launch(of); });
}

/// The clock within bursts: of all rungs, and from launch to launch of some.
void bursts(Bench& bench) {
    bench.table("gemm_burst_clock", "Cycles and clock within a burst, of each rung in turns",
                workbook::joined<workbook::BenchColumn>(
                    {{"extent", "m x n x k"}, {"pace", "bursts"}, {"kernel", "rung"}}, clock_columns()));
    bench.table("gemm_burst_course", "A burst after a pause of 40 ms, launch by launch",
                workbook::joined<workbook::BenchColumn>(
                    {{"extent", "m x n x k"}, {"kernel", "rung"}, {"launch", "launch"}}, clock_columns()));
    const Cublas cublas(!bench.dry());
    const auto rounds = [&](int real) { return bench.mode() == BenchMode::measure ? real : 1; };
    for (const Extent extent : {extents[0], extents[3]}) {
        Product<bf16> product(sized(bench, extent));
        const auto contenders = clock_contenders(cublas, product.operands(), slow_rungs);
        for (const Pace& pace : paces) {
            const auto found = clocks_in_turns(bench, contenders, bench.dry() ? 1 : turns(extent).launches,
                                               rounds(pace.rounds), pace.pause_ms, false);
            for (std::size_t i = 0; i < contenders.size(); ++i)
                bench.row(
                    "gemm_burst_clock",
                    workbook::joined<workbook::BenchCell>(
                        {{"extent", product.name()}, {"pace", pace.name}, {"kernel", contenders[i].name}},
                        found[i].front().cells(bench, product.extent())));
            if (bench.mode() == BenchMode::once)
                return;
        }
    }
    const int launches = bench.dry() ? 1 : 24;
    Product<bf16> product(sized(bench, extents[0]));
    const auto contenders =
        clock_contenders(cublas, product.operands(), slow_rungs,
                         {"warp_products", "one_stage", "staged", "ordered", "overlapped"});
    const auto found =
        clocks_in_turns(bench, contenders, launches, rounds(paces[1].rounds), paces[1].pause_ms, true);
    for (std::size_t i = 0; i < contenders.size(); ++i)
        for (int launch = 0; launch < launches; ++launch)
            bench.row(
                "gemm_burst_course",
                workbook::joined<workbook::BenchCell>(
                    {{"extent", product.name()}, {"kernel", contenders[i].name}, {"launch", launch + 1}},
                    found[i][static_cast<std::size_t>(launch)].cells(bench, product.extent())));
}

/// What of rung 10 is multicast, and what the height of its bands: rungs 9 and 10, both with 8 and with 16
/// rows of tiles in a band.
void band_clocks(Bench& bench) {
    bench.table("gemm_band_clock", "Multicast and the height of a band, one at a time",
                workbook::joined<workbook::BenchColumn>({{"extent", "m x n x k"},
                                                         {"pace", "bursts"},
                                                         {"kernel", "rung"},
                                                         {"rows", "rows of tiles in a band"}},
                                                        clock_columns()));
    struct Banded {
        const char* name;
        void (*launch)(const Operands&, unsigned band);
        unsigned rows;
        unsigned band;
    };
    constexpr Banded banded[] = {{"staying", launch_staying_in_bands, 8, 8},
                                 {"staying", launch_staying_in_bands, 16, 16},
                                 {"multicast", launch_multicast_in_bands, 8, 4},
                                 {"multicast", launch_multicast_in_bands, 16, 8}};
    const Pace& pace = paces[1];
    const int rounds = bench.mode() == BenchMode::measure ? pace.rounds : 1;
    for (const Extent extent : {extents[0], extents[3]}) {
        Product<bf16> product(sized(bench, extent));
        const Operands of = product.operands();
        std::vector<workbook::Contender> contenders;
        launch_one_stage(product.expecting());
        for (const Banded& each : banded) {
            product.poison();
            each.launch(of, each.band);
            if (product.differences().bits > 0)
                return bench.wrong(std::string(each.name) + ", bands of " + std::to_string(each.rows) +
                                   ": not the result of one_stage");
            contenders.push_back({each.name, [&each, of] { each.launch(of, each.band); }});
        }
        const auto found = clocks_in_turns(bench, contenders, bench.dry() ? 1 : turns(extent).launches,
                                           rounds, pace.pause_ms, false);
        for (std::size_t i = 0; i < contenders.size(); ++i)
            bench.row("gemm_band_clock",
                      workbook::joined<workbook::BenchCell>({{"extent", product.name()},
                                                             {"pace", pace.name},
                                                             {"kernel", banded[i].name},
                                                             {"rows", static_cast<int>(banded[i].rows)}},
                                                            found[i].front().cells(bench, product.extent())));
    }
}

/// The best of the algorithms that cuBLASLt proposes, by a few launches of each.
std::size_t best_algorithm(const CublasLt& lt, const OperandsOf<e4m3>& of, std::span<std::byte> workspace) {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < lt.algorithms(); ++i) {
        const auto timing = workbook::measure_in_turns(
            {{"", [&] { lt.multiply(of.a, of.b, of.out, i, workspace); }}}, {.rounds = 3, .launches = 5});
        if (i == 0 || timing.front().median_ms < least) {
            best = i;
            least = timing.front().median_ms;
        }
    }
    return best;
}

void eight_bits_at(Bench& bench, Extent extent) {
    Product<e4m3> product(extent);
    const auto of = product.operands(), expecting = product.expecting();
    workbook::DeviceBuffer<std::byte> workspace(CublasLt::workspace_bytes());
    std::vector<Contender> contenders;
    const CublasLt fast(extent, true, !bench.dry()), precise(extent, false, !bench.dry());
    for (const auto& [lt, name] : {std::pair{&fast, "cuBLASLt, fast sums"}, std::pair{&precise, "cuBLASLt"}})
        if (lt->available()) {
            const std::size_t best = best_algorithm(*lt, expecting, workspace.span());
            contenders.push_back({name, [lt, best, &workspace, expecting] {
                                      lt->multiply(expecting.a, expecting.b, expecting.out, best,
                                                   workspace.span());
                                  }});
        }
    contenders.push_back({"eight_bits", [&] { launch_eight_bits(of); }});
    const auto timings = in_turns(bench, contenders, turns(extent));
    for (std::size_t i = 0; i < contenders.size(); ++i)
        bench.row("gemm_eight_bits", workbook::joined<workbook::BenchCell>(
                                         {{"extent", product.name()}, {"kernel", contenders[i].name}},
                                         product_cells(timings[i], extent, timings.front())));
}

void eight_bits(Bench& bench) {
    bench.table("gemm_eight_bits",
                "Operands of 8 bits (e4m3), and cuBLASLt's fastest proposal in the same turns",
                workbook::joined<workbook::BenchColumn>({{"extent", "m x n x k"}, {"kernel", "kernel"}},
                                                        product_columns()));
    for (const Extent extent : {extents[0], extents[1]}) {
        eight_bits_at(bench, sized(bench, extent));
        if (bench.dry())
            break;
    }
}

constexpr workbook::BenchPart parts[] = {
    {"ladder", "all rungs and cuBLAS at five sizes", ladder},
    {"stages", "stages and blocks on an SM", stages},
    {"halves", "loads alone, products alone", halves},
    {"rung3", "what holds rung 3 back", rung_3},
    {"bands", "the order of tiles", bands},
    {"eight_bits", "operands of 8 bits", eight_bits},
    {"data", "zeros, ones and random numbers", data},
    {"clocks", "each rung's clock and power", clocks},
    {"bursts", "the clock within a burst", bursts},
    {"band_clocks", "multicast and the height of a band", band_clocks},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("gemm_bench", parts, argc, argv); }

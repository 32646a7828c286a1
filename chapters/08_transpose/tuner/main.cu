/// @file main.cu
/// Searches what transposes fastest: every kernel in every order of blocks, then what else can be chosen for
/// the best of them, then the finalists side by side with the copy. Everything that was tried is written
/// down.
#include "search.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace tuner;
using workbook::Bench;

constexpr int quick = 9;    ///< repetitions while there are many trials
constexpr int careful = 31; ///< repetitions of the finalists, three times

std::vector<Candidate> all_candidates() {
    std::vector<Candidate> all;
    for (const auto& list : {shapes_plain, shapes_hinted, shapes_wide, access_modes, row_copies, staying,
                             tensor_direct, tensor_stored}) {
        const std::vector<Candidate> some = list();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

bool faster(const Trial& a, const Trial& b) { return a.median_ms < b.median_ms; }

/// The best `count` trials, at most `per_kernel` of each kernel.
std::vector<Trial> best(std::vector<Trial> trials, std::size_t count, int per_kernel) {
    std::stable_sort(trials.begin(), trials.end(), faster);
    std::vector<Trial> chosen;
    for (const Trial& trial : trials) {
        const auto same = std::count_if(chosen.begin(), chosen.end(), [&](const Trial& other) {
            return other.candidate == trial.candidate;
        });
        if (same < per_kernel && chosen.size() < count)
            chosen.push_back(trial);
    }
    return chosen;
}

/// The same with the best few of each family in front, so that no family drops out early.
std::vector<Trial> best_of_all(const std::vector<Trial>& trials, std::size_t count, int per_kernel) {
    std::vector<Trial> chosen = best(trials, count, per_kernel);
    for (const char* family : {"persistent", "tensor", "tensor ring"}) {
        std::vector<Trial> relatives;
        for (const Trial& trial : trials)
            if (trial.candidate->family == family)
                relatives.push_back(trial);
        for (const Trial& trial : best(relatives, 3, 1))
            if (std::none_of(chosen.begin(), chosen.end(),
                             [&](const Trial& other) { return other.candidate == trial.candidate; }))
                chosen.push_back(trial);
    }
    return chosen;
}

/// Every kernel in every order; without times each kernel in one order, all orders in turn.
std::vector<Trial> coarse(Search& search, const Bench& bench, const std::vector<Candidate>& candidates) {
    const std::vector<OrderSpec> orders = Search::orders();
    std::vector<Trial> done;
    std::size_t turn = 0;
    for (const Candidate& candidate : candidates) {
        search.measure_copy("coarse");
        for (std::size_t i = 0; i < (bench.dry() ? 1 : orders.size()); ++i) {
            const OrderSpec& order = orders[bench.dry() ? turn++ % orders.size() : i];
            const int policy = candidate.takes_policies ? evict_last : 0;
            if (Trial trial{&candidate, {.order = order, .load_policy = policy}};
                search.run(trial, "coarse", quick))
                done.push_back(trial);
            if (Trial trial{&candidate, {.order = order, .load_policy = policy, .tiles_per_block = 4}};
                candidate.stages > 1 && search.run(trial, "coarse", quick))
                done.push_back(trial);
        }
    }
    return done;
}

/// What else can be chosen, one choice at a time.
std::vector<Setting> neighbours(const Candidate& candidate, const Setting& from) {
    std::vector<Setting> settings;
    const auto add = [&](auto change) {
        Setting setting = from;
        change(setting);
        settings.push_back(setting);
    };
    for (const int blocks : {1, 2, 3, 4, 5, 6, 7})
        add([&](Setting& s) { s.blocks_per_sm = blocks; });
    if (candidate.family == "registers" || candidate.family == "tensor")
        for (const int cluster : {2, 4, 8})
            add([&](Setting& s) { s.cluster = cluster; });
    if (candidate.takes_policies)
        for (int load = 0; load < policy_count; ++load)
            for (int store = 0; store < store_policies; ++store)
                add([&](Setting& s) {
                    s.load_policy = load;
                    s.store_policy = store;
                });
    if (candidate.stages > 1)
        for (const int each : {2, 3, 4, 8, 16})
            add([&](Setting& s) { s.tiles_per_block = each; });
    if (candidate.takes_promotion)
        for (const int promotion : {0, 1, 2})
            add([&](Setting& s) { s.promotion = promotion; });
    return settings;
}

/// Follows the best trials through their neighbours, round after round.
std::vector<Trial> refine(Search& search, const Bench& bench, std::vector<Trial> done) {
    for (int round = 1; round <= (bench.dry() ? 1 : 3); ++round) {
        const std::string phase = "refine " + std::to_string(round);
        std::vector<Trial> found;
        for (const Trial& start :
             best_of_all(done, bench.dry() ? 2 : (round == 1 ? 16 : 8), round == 1 ? 2 : 1)) {
            search.measure_copy(phase);
            std::size_t turn = 0;
            for (const Setting& setting : neighbours(*start.candidate, start.setting)) {
                if (bench.dry() && turn++ % 8 != 0)
                    continue; // a few are enough to see that they work
                if (Trial trial{start.candidate, setting}; search.run(trial, phase, quick))
                    found.push_back(trial);
            }
        }
        done.insert(done.end(), found.begin(), found.end());
    }
    return done;
}

/// The chapter's own fastest rung, to compare with.
Trial baseline(const std::vector<Candidate>& candidates) {
    const auto same = [](const Candidate& c) { return c.name == "registers 64x64/256, ld.nc, st"; };
    const auto found = std::find_if(candidates.begin(), candidates.end(), same);
    if (found == candidates.end())
        throw std::logic_error("the kernel to compare with has another name");
    return {&*found, {.order = {.name = "down columns"}}};
}

void search_extent(Bench& bench, std::uint32_t rows, std::uint32_t columns, const std::string& table) {
    Matrices matrices(rows, columns);
    Search search(bench, matrices, table);
    search.begin("What was tried at " + matrices.extent() + " float32");
    const std::vector<Candidate> candidates = all_candidates();
    search.measure_copy("start");
    std::vector<Trial> done = coarse(search, bench, candidates);
    done = refine(search, bench, std::move(done));
    std::vector<Trial> finalists = best_of_all(done, bench.dry() ? 2 : 16, 2);
    finalists.push_back(baseline(candidates));
    for (int round = 1; round <= (bench.dry() ? 1 : 3); ++round) {
        const std::string phase = "final " + std::to_string(round);
        search.measure_copy(phase);
        for (Trial& trial : finalists)
            (void)search.run(trial, phase, careful);
        search.measure_copy(phase);
    }
    std::stable_sort(finalists.begin(), finalists.end(), faster);
    if (bench.mode() == workbook::BenchMode::measure)
        for (const Trial& trial : finalists)
            std::printf("%8.1f GB/s  %s; %s; %d per SM; cluster %d; %d tiles a block; %s/%s; promotion %d\n",
                        static_cast<double>(matrices.bytes()) / trial.median_ms * 1e-6,
                        trial.candidate->name.c_str(), trial.setting.order.name.c_str(),
                        trial.setting.blocks_per_sm, trial.setting.cluster, trial.setting.tiles_per_block,
                        policy_names[trial.setting.load_policy], policy_names[trial.setting.store_policy],
                        trial.setting.promotion);
}

/// The part of L2 that is set aside for lines which shall stay, from nothing to all that can be.
void set_aside(Bench& bench) {
    const int most = bench.dry() ? 0 : workbook::device_attribute(cudaDevAttrMaxPersistingL2CacheSize);
    Matrices matrices(bench.size(32768u, 512u), bench.size(32768u, 512u));
    const std::vector<Candidate> candidates = shapes_hinted();
    for (int quarter = 0; quarter <= (bench.dry() ? 0 : 4); ++quarter) {
        const std::size_t bytes = static_cast<std::size_t>(most) / 4 * static_cast<std::size_t>(quarter);
        if (!bench.dry())
            workbook::check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes), "setting L2 aside");
        Search search(bench, matrices, "set_aside_" + std::to_string(quarter));
        search.begin("With " + std::to_string(bytes) + " bytes of L2 set aside");
        search.measure_copy("set aside");
        for (const Candidate& candidate : candidates)
            for (const int policy : {0, 1, 2, 5})
                for (const int blocks : {0, 4})
                    if (Trial trial{&candidate,
                                    {.order = {.name = "down columns"},
                                     .blocks_per_sm = blocks,
                                     .load_policy = policy}};
                        candidate.tile_rows == 64 && candidate.tile_columns == 64)
                        (void)search.run(trial, "set aside", careful);
    }
    if (!bench.dry()) {
        workbook::check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "setting L2 aside");
        workbook::check(cudaCtxResetPersistingL2Cache(), "resetting L2");
    }
}

void search_large(Bench& bench) {
    search_extent(bench, bench.size(32768u, 512u), bench.size(32768u, 1024u), "tuner");
}

void search_middle(Bench& bench) {
    search_extent(bench, bench.size(8192u, 512u), bench.size(8192u, 512u), "tuner_8192");
}

/// Where the time goes: reads alone, writes alone, tiles that keep their place, and pitches that are no power
/// of two.
void limits(Bench& bench) {
    const std::uint32_t extents[][2] = {{32768, 32768}, {32768, 33024}, {33024, 32768}, {33024, 33024}};
    std::vector<Candidate> candidates = probes();
    const std::vector<Candidate> plain = shapes_plain();
    for (const Candidate& c : plain)
        if (c.name.find("64x64/256") != std::string::npos || c.name.find("128x128/512") != std::string::npos)
            candidates.push_back(c);
    for (const auto& [rows, columns] : extents) {
        const auto small = [](std::uint32_t edge) { return edge == 32768 ? 512u : 640u; };
        Matrices matrices(bench.size(rows, small(rows)), bench.size(columns, small(columns)));
        Search search(bench, matrices, "limits_" + std::to_string(rows) + "_" + std::to_string(columns));
        search.begin("What a transposition consists of at " + matrices.extent() +
                     " float32 (rates count reads and writes, also where one is left out)");
        search.measure_copy("limits");
        for (const Candidate& candidate : candidates)
            for (const OrderSpec& order : Search::orders())
                if (Trial trial{&candidate,
                                {.order = order, .load_policy = candidate.takes_policies ? evict_last : 0}};
                    !bench.dry() || order.name == "down columns")
                    (void)search.run(trial, "limits", careful);
        search.measure_copy("limits");
    }
}

constexpr workbook::BenchPart parts[] = {
    {"search", "every kernel, order and setting at 32768 x 32768", search_large},
    {"set_aside", "a part of L2 set aside for lines that shall stay", set_aside},
    {"limits", "reads alone, writes alone, tiles in place, other pitches", limits},
    {"middle", "the search at 8192 x 8192", search_middle},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("transpose_tuner", parts, argc, argv); }

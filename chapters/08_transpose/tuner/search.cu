/// @file search.cu
#include "search.hpp"

#include "workbook/bench_data.cuh"

#include <utility>

namespace tuner {

namespace {

/// The hardware's encoding of each policy; only createpolicy knows it (PTX ISA, 'createpolicy').
__global__ void make_policies(std::uint64_t* policies) {
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policies[0]));
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policies[1]));
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policies[2]));
    asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(policies[3]));
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 0.75;" : "=l"(policies[4]));
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policies[5]));
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 0.25;" : "=l"(policies[6]));
    asm("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, 0.5;" : "=l"(policies[7]));
}

} // namespace

Matrices::Matrices(std::uint32_t rows, std::uint32_t columns)
    : rows_(rows), columns_(columns), in_(std::size_t{rows} * columns), out_(std::size_t{rows} * columns),
      wrong_(1) {
    workbook::launch(workbook::fill_random_words<std::uint32_t>, workbook::striding(in_.size()), in_.data(),
                     in_.size());
    workbook::DeviceBuffer<std::uint64_t> policies(policy_count);
    workbook::launch(make_policies, {}, policies.data());
    const std::vector<std::uint64_t> made = policies.download();
    std::copy(made.begin(), made.end(), context_.policies);
    context_.multiprocessors = workbook::device_attribute(cudaDevAttrMultiProcessorCount);
}

unsigned long long Matrices::wrong_words() {
    wrong_.upload(std::vector<unsigned long long>{0});
    workbook::launch(workbook::count_not_transposed<std::uint32_t>, workbook::striding(out_.size()),
                     out_.data(), rows_, columns_, wrong_.data());
    return wrong_.download().front();
}

void Search::begin(const std::string& title) {
    bench_->table(
        table_, title,
        workbook::joined<workbook::BenchColumn>({{"phase", "phase"},
                                                 {"kernel", "kernel"},
                                                 {"family", "family"},
                                                 {"tile", "tile", "rows x columns"},
                                                 {"threads", "threads"},
                                                 {"access", "access", "bytes"},
                                                 {"stages", "stages"},
                                                 {"load", "load"},
                                                 {"store", "store"},
                                                 {"order", "order of blocks"},
                                                 {"blocks_per_sm", "blocks per SM at most"},
                                                 {"cluster", "cluster"},
                                                 {"tiles_per_block", "tiles per block, 0: blocks stay"},
                                                 {"load_policy", "loads"},
                                                 {"store_policy", "stores"},
                                                 {"promotion", "L2 promotion"}},
                                                workbook::timing_columns()));
}

void Search::write(const Trial& trial, const std::string& phase,
                   const std::optional<workbook::Timing>& timing) {
    const Candidate& c = *trial.candidate;
    const Setting& s = trial.setting;
    std::vector<workbook::BenchCell> cells{
        {"phase", phase},
        {"kernel", c.name},
        {"family", c.family},
        {"tile", std::to_string(c.tile_rows) + " x " + std::to_string(c.tile_columns)},
        {"threads", c.threads},
        {"access", c.access},
        {"stages", c.stages},
        {"load", c.load},
        {"store", c.store},
        {"order", s.order.name},
        {"blocks_per_sm", s.blocks_per_sm},
        {"cluster", s.cluster},
        {"tiles_per_block", s.tiles_per_block}};
    if (c.takes_policies) {
        cells.emplace_back("load_policy", policy_names[s.load_policy]);
        cells.emplace_back("store_policy", policy_names[s.store_policy]);
    }
    if (c.takes_promotion)
        cells.emplace_back("promotion", s.promotion);
    bench_->row(table_, workbook::joined(std::move(cells),
                                         workbook::timing_cells(timing, matrices_->bytes(), copy_rate_)));
}

bool Search::run(Trial& trial, const std::string& phase, int repetitions) {
    const auto launch = [&] {
        trial.candidate->launch(*trial.candidate, matrices_->problem(), trial.setting, matrices_->context());
    };
    const std::string what = trial.candidate->name + ", " + trial.setting.order.name;
    try {
        if (trial.candidate->transposes) {
            matrices_->poison();
            launch();
            workbook::synchronize(what);
            if (const unsigned long long wrong = matrices_->wrong_words(); wrong > 0) {
                bench_->wrong(what + ": " + std::to_string(wrong) + " wrong words");
                return false;
            }
        }
        std::optional<workbook::Timing> timing;
        if (bench_->mode() == workbook::BenchMode::measure)
            timing = workbook::measure(
                [&](cudaStream_t) { launch(); },
                {.warm_up = 1, .repetitions = repetitions, .working_set = matrices_->bytes()});
        else if (!trial.candidate->transposes)
            launch();
        workbook::synchronize(what);
        trial.median_ms = timing ? timing->median_ms : 0;
        write(trial, phase, timing);
        return true;
    } catch (const workbook::CudaError& error) {
        if (workbook::is_sticky(error.code()))
            throw;
        return false; // a shape that this setting leaves no room for
    } catch (const std::invalid_argument&) {
        return false; // an order that this kernel does not take
    }
}

void Search::measure_copy(const std::string& phase) {
    const auto timing = bench_->ceiling(matrices_->bytes());
    copy_rate_ = timing ? timing->bytes_per_second(matrices_->bytes()) : 0;
    bench_->row(table_, workbook::joined<workbook::BenchCell>(
                            {{"phase", phase}, {"kernel", "device-to-device copy"}, {"family", "copy"}},
                            workbook::timing_cells(timing, matrices_->bytes(), copy_rate_)));
}

std::vector<OrderSpec> Search::orders() {
    return {
        {.name = "along rows", .high = 1, .wide = 0, .groups_down = true, .tiles_down = false},
        {.name = "down columns"},
        {.name = "strips 128 wide", .wide = 128, .tiles_down = false},
        {.name = "strips 256 wide", .wide = 256, .tiles_down = false},
        {.name = "strips 512 wide", .wide = 512, .tiles_down = false},
        {.name = "strips 1024 wide", .wide = 1024, .tiles_down = false},
        {.name = "strips 2048 wide", .wide = 2048, .tiles_down = false},
        {.name = "strips 128 high", .high = 128, .wide = 0},
        {.name = "strips 256 high", .high = 256, .wide = 0},
        {.name = "strips 512 high", .high = 512, .wide = 0},
        {.name = "strips 1024 high", .high = 1024, .wide = 0},
        {.name = "strips 4096 high", .high = 4096, .wide = 0},
        {.name = "strips 8192 high", .high = 8192, .wide = 0},
        {.name = "strips 16384 high", .high = 16384, .wide = 0},
        {.name = "groups 4096x256, along", .high = 4096, .wide = 256, .tiles_down = false},
        {.name = "groups 2048x512, down", .high = 2048, .wide = 512},
        {.name = "groups 4096x512, down", .high = 4096, .wide = 512},
        {.name = "groups 8192x256, along", .high = 8192, .wide = 256, .tiles_down = false},
        {.name = "groups 2048x2048, down", .high = 2048, .wide = 2048},
        {.name = "groups 1024x1024, along", .high = 1024, .wide = 1024, .tiles_down = false},
        {.name = "down, each tile shifted", .shift_rows = 1, .shift_columns = 1},
        {.name = "down, shifted every 1024", .shift_rows = 1024, .shift_columns = 1},
        {.name = "down, every 1024 by 1024", .shift_rows = 1024, .shift_columns = 1024},
        {.name = "down, every 8192 by 8192", .shift_rows = 8192, .shift_columns = 8192},
        {.name = "strips 256 wide, every 1024 by 256",
         .wide = 256,
         .tiles_down = false,
         .shift_rows = 1024,
         .shift_columns = 256},
    };
}

} // namespace tuner

/// @file enough_in_flight.cpp
/// Judge of chapter 1's enough_in_flight.
#include "judge.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int load_bytes = 16;
constexpr int wanted_in_flight = 32 * 1024;
constexpr int wanted_per_block = 4 * 1024;

/// As the exercise declares it.
struct Plan {
    int loads;
    int tiles;
};

/// What is known of a kernel. In each case of the list CUDA's occupancy calculator finds as many blocks as
/// the three limits of the exercise.
struct Case {
    int registers;
    int threads;

    [[nodiscard]] int blocks() const { return std::min({32, 2048 / threads, 65536 / (registers * threads)}); }
    [[nodiscard]] int bytes_at_once() const { return blocks() * threads * load_bytes; }
    [[nodiscard]] int loads() const { return (wanted_in_flight + bytes_at_once() - 1) / bytes_at_once(); }
    [[nodiscard]] int tile(int loads) const { return threads * loads * load_bytes; }
    [[nodiscard]] int tiles(int loads) const { return (wanted_per_block + tile(loads) - 1) / tile(loads); }
};

std::string kib(long long bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g KiB", static_cast<double>(bytes) / 1024);
    return text;
}

std::string counted(int number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

void expect_plan(const Case& kernel, const Plan& plan) {
    if (judge::is_poison(plan))
        judge::fail("There is no plan: plan_of has to return one.");
    if (plan.loads < 1 || plan.tiles < 1 || plan.loads > 4096 || plan.tiles > 4096)
        judge::fail("A plan of " + counted(plan.loads, "load") + " and " + counted(plan.tiles, "tile") +
                    " is none: at least one of each.");
    const std::string fit = counted(kernel.blocks(), "block") + " of " + std::to_string(kernel.threads) +
                            " threads fit on an SM. With " + counted(plan.loads, "load") +
                            " of 16 bytes from each thread they ask for " +
                            kib(static_cast<long long>(plan.loads) * kernel.bytes_at_once()) +
                            " before they wait";
    if (plan.loads < kernel.loads())
        judge::fail(fit + ", and 32 are wanted.");
    if (plan.loads > kernel.loads())
        judge::fail(fit + ". Fewer do: with " + counted(kernel.loads(), "load") + " it is " +
                    kib(static_cast<long long>(kernel.loads()) * kernel.bytes_at_once()) + ".");
    const std::string bring = "A block brings " + kib(kernel.tile(plan.loads)) + " in a tile (" +
                              std::to_string(kernel.threads) + " threads, " + counted(plan.loads, "load") +
                              " of 16 bytes), so in " + counted(plan.tiles, "tile") + " " +
                              kib(static_cast<long long>(plan.tiles) * kernel.tile(plan.loads));
    if (plan.tiles < kernel.tiles(plan.loads))
        judge::fail(bring + ", and 4 are wanted before it ends.");
    if (plan.tiles > kernel.tiles(plan.loads))
        judge::fail(bring + ". Fewer do: " + counted(kernel.tiles(plan.loads), "tile") + ".");
}

} // namespace

void judge::run() {
    const Kernel<void(int, int, Plan*)> kernel("enough_in_flight");
    const std::vector<Case> cases{{32, 256},  {64, 128},  {32, 128},  {32, 64}, {32, 32},  {128, 128},
                                  {40, 256},  {64, 96},   {56, 640},  {24, 96}, {64, 512}, {96, 640},
                                  {168, 384}, {16, 1024}, {128, 512}, {80, 96}};
    for (const Case& given : cases) {
        trying("with " + std::to_string(given.registers) + " registers for each thread, in blocks of " +
               std::to_string(given.threads));
        auto plan = output<Plan>(1);
        kernel({.grid = 1, .block = 1}, given.registers, given.threads, plan.data());
        expect_plan(given, plan.download().front());
    }
}

/// @file wait_for_the_grid.cpp
/// Judge of chapter 10's wait_for_the_grid.
#include "judge.hpp"
#include "program.hpp"

#include "workbook/check.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

constexpr unsigned block = 128;
constexpr std::size_t table_floats = 64;

using Second = void(const float*, const float*, float*, float*, std::size_t);

/// Launches the second kernel so that it may begin before the first one has ended.
void launch_early(const void* kernel, unsigned grid, const float* doubled, const float* table, float* pending,
                  float* out, std::size_t size) {
    if (grid == 0)
        return;
    std::array<void*, 5> arguments{&doubled, &table, &pending, &out, &size};
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = &early;
    config.numAttrs = 1;
    workbook::check(cudaLaunchKernelExC(&config, kernel, arguments.data()), "kernel launch");
}

/// Fails if the second kernel waits before it loads anything. Its results are the same then, and its counts
/// too, so the text of the kernel has to tell; it has no loop.
void expect_that_it_begins_early() {
    const std::string text = judge::program_text();
    const std::size_t wait = text.find("griddepcontrol.wait"), entry = text.rfind(".entry", wait);
    if (entry < wait && text.find("ld.global", entry) > wait && text.find("st.shared", entry) < text.size())
        judge::fail(
            "The results are right, but the wait stands above the load of the table: `factors` is filled "
            "when the first kernel has ended, and nothing overlaps.\nFill `factors` before the wait.");
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> first("double_all");
    constexpr std::array<std::size_t, 5> sizes{sizeof(float*), sizeof(float*), sizeof(float*), sizeof(float*),
                                               sizeof(std::size_t)};
    const void* second = find_kernel("wait_for_the_grid", sizes, typeid(Second).name());
    for (const std::size_t size : {1024, 128, 1, 300, 20'000, 0}) {
        trying(with_elements(size));
        const auto values = workbook::random_values<float>(size, size + 4, {.low = -100, .high = 100});
        const auto table_values = workbook::random_values<float>(table_floats, size + 5);
        auto pending = input(values, 1);
        const auto table = input(table_values, 4);
        auto doubled = output<float>(size, 2);
        auto out = output<float>(size, 3);
        const unsigned grid = workbook::blocks_for(size, block);
        first({.grid = grid, .block = block}, pending.data(), doubled.data(), size);
        launch_early(second, grid, doubled.data(), table.data(), pending.data(), out.data(), size);
        std::vector<float> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = 2 * values[size - 1 - i] * table_values[i % table_floats];
        expect_near<float>("out", out, expected, {});
        expect_exact<float>("pending", pending, std::vector<float>(size, 0.0F));
    }
    trying("where it waits");
    expect_that_it_begins_early();
}

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

/// The text of the kernel with this name, from its .entry to the next one.
std::string kernel_text(const std::string& text, const std::string& name) {
    for (std::size_t entry = text.find(".entry"); entry != std::string::npos;) {
        const std::size_t next = text.find(".entry", entry + 1);
        if (text.substr(entry, text.find('(', entry) - entry).find(name) != std::string::npos)
            return text.substr(entry, next - entry);
        entry = next;
    }
    return "";
}

/// Fails if the first kernel does not let the second one begin before it loads, or if the second one waits
/// before it loads anything, or twice. The results are the same then, and the counts too, so the text of the
/// kernels has to tell; they have no loop.
void expect_that_they_overlap() {
    const std::string text = judge::program_text();
    const std::string first = kernel_text(text, "double_all"),
                      second = kernel_text(text, "wait_for_the_grid");
    if (first.find("griddepcontrol.launch_dependents") >= first.find("ld.global"))
        judge::fail(
            "The results are right, but `double_all` no longer begins with let_next_begin(): the second "
            "kernel begins later, and less overlaps.\nThe first kernel stays as it is.");
    const std::string wait_words = "griddepcontrol.wait";
    const std::size_t wait = second.find(wait_words);
    if (wait == std::string::npos)
        return;
    if (second.find("ld.global") > wait && second.find("st.shared") != std::string::npos)
        judge::fail(
            "The results are right, but the wait stands above the load of the table: `factors` is filled "
            "when the first kernel has ended, and nothing overlaps.\nFill `factors` before the wait.");
    if (second.find(wait_words, wait + 1) != std::string::npos)
        judge::fail(
            "The results are right, but the second kernel waits more than once. The first wait lasts until "
            "the kernel before has ended; a second one has nothing to wait for.\nWait once.");
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
    trying("where the kernels begin and wait");
    expect_that_they_overlap();
}

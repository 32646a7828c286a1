/// @file groups.cu
/// Groups of `cp.async` for an interactive picture of chapter 2: a thread commits some groups, of which one
/// may be empty, waits for all but the newest N and reads every tile at once. With EMULATOR_CHECKS=none the
/// reads that come too early are let through, so that it can be seen what they find; EMULATOR_ORDER decides
/// when the copies land.
#include "cp_async.cuh"

#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <array>
#include <exception>
#include <iostream>
#include <utility>
#include <vector>

namespace {

using workbook::DeviceBuffer;

constexpr int most_groups = 5;
constexpr float old_value = -1;

/// One thread. Group `g` copies 16 bytes into tile `g`, but group `empty` copies nothing; `out[g]` is what is
/// in the tile right after the wait.
template <int pending>
__global__ void wait_and_look(const float4* in, float* out, int groups, int empty) {
    __shared__ float4 tiles[most_groups];
    for (int g = 0; g < most_groups; ++g)
        tiles[g].x = old_value;
    for (int g = 0; g < groups; ++g) {
        if (g != empty)
            cp_async::cp_async_cg(&tiles[g], &in[g]);
        cp_async::cp_async_commit_group();
    }
    cp_async::cp_async_wait_group<pending>();
    for (int g = 0; g < groups; ++g)
        out[g] = tiles[g].x;
    cp_async::cp_async_wait_all(); // so that no copy outlives the block
}

using Launch = void (*)(const float4*, float*, int, int);

template <int... pending>
constexpr std::array<Launch, sizeof...(pending)> launches(std::integer_sequence<int, pending...>) {
    return {wait_and_look<pending>...};
}

void write() {
    DeviceBuffer<float4> in(most_groups);
    workbook::check(cudaMemset(in.data(), 0, in.size() * sizeof(float4)));
    const char* separator = "[";
    constexpr auto all = launches(std::make_integer_sequence<int, most_groups>{});
    for (int groups = 1; groups <= most_groups; ++groups)
        for (int empty = -1; empty < groups; ++empty)
            for (int pending = 0; pending < most_groups; ++pending) {
                DeviceBuffer<float> out(most_groups);
                workbook::launch(all[pending], {.block = 1}, in.data(), out.data(), groups, empty);
                const std::vector<float> seen = out.download();
                std::cout << separator << "{\"groups\":" << groups << ",\"empty\":" << empty
                          << ",\"pending\":" << pending << ",\"landed\":[";
                for (int g = 0; g < groups; ++g)
                    std::cout << (g ? "," : "") << (seen[g] != old_value);
                std::cout << "]}";
                separator = ",\n";
            }
    std::cout << "]\n";
}

} // namespace

int main() {
    try {
        write();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "groups: " << error.what() << '\n';
        return 1;
    }
}

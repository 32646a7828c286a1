/// @file bench_branch.cuh
/// A measurement: what a branch more in the machine code is worth, that is never taken.
#pragma once

#include "bench_data.cuh"
#include "roles.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace roles {

/// meeting_ring with a line more, in front of each tile: warps pause, if `pauses` says so. It never does.
template <int count>
__global__ void __launch_bounds__(consumer_threads, 1)
    meeting_with_branch(const __grid_constant__ CUtensorMap map, Work work, unsigned* out, unsigned pauses) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    const unsigned tiles = work.tiles();
    const auto load = [&](unsigned k) { // the k-th tile of this block, if there is one
        const unsigned panel = blockIdx.x + k / tiles * gridDim.x;
        if (panel < work.panels())
            load_tile(ring.tiles[k % stages], &ring.full[k % stages], map, panel * panel_columns,
                      k % tiles * tile_rows);
    };
    if (threadIdx.x == 0) {
        ring.initialise(1, 1);
        for (int k = 0; k < stages; ++k)
            load(k);
    }
    __syncthreads();
    unsigned k = 0;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        for (unsigned tile = 0; tile < tiles; ++tile, ++k) {
            workbook::wait_parity(&ring.full[k % stages], k / stages % 2);
            if (pauses > 0)
                __nanosleep(pauses);
            prints.absorb(ring.tiles[k % stages], threadIdx.x, work.rows_of(tile));
            ptx::fence_proxy_async(ptx::space_shared);
            __syncthreads();
            if (threadIdx.x == 0)
                load(k + stages);
        }
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

template <int count>
void branch_of_count(workbook::Bench& bench, const Words& words) {
    const Work work{static_cast<unsigned>(words.shape.width), static_cast<unsigned>(words.shape.height)};
    workbook::DeviceBuffer<unsigned> expected(words.shape.width * std::size_t{count});
    workbook::DeviceBuffer<unsigned> out(expected.size());
    launch_meeting_ring<count>(words.matrix(), expected.span(), unsigned{sms});
    const workbook::LaunchShape shape{.grid = std::min(work.panels(), unsigned{sms}),
                                      .block = consumer_threads,
                                      .dynamic_shared = sizeof(Ring<>)};
    const std::vector<workbook::Contender> contenders{
        {"meeting_ring", [&] { launch_meeting_ring<count>(words.matrix(), out.span(), unsigned{sms}); }},
        {"the same with a branch more",
         [&] {
             workbook::launch(meeting_with_branch<count>, shape, words_map(words.matrix()), work, out.data(),
                              0u);
         }},
        {"roles_ring", [&] { launch_roles_ring<count>(words.matrix(), out.span(), unsigned{sms}); }}};
    rows_in_turns(bench, "roles_branch", contenders, expected, out, count);
}

/// One block on each SM.
inline void branch(workbook::Bench& bench) {
    bench.table(
        "roles_branch", "meeting_ring with a branch more, that is never taken; one block on each SM",
        workbook::joined<workbook::BenchColumn>(
            {{"kernel", "kernel"}, {"prints", "multiplications per word"}}, workbook::timing_columns(false)));
    const Words words(bench.size(sms * 6, std::size_t{2}) * panel_columns, bench.size(512, 70));
    branch_of_count<16>(bench, words);
    branch_of_count<32>(bench, words);
    branch_of_count<48>(bench, words);
    branch_of_count<64>(bench, words);
    branch_of_count<96>(bench, words);
    branch_of_count<128>(bench, words);
}

} // namespace roles

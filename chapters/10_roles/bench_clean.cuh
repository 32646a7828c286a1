/// @file bench_clean.cuh
/// A measurement: what of the gain of roles is left against a meeting ring that asks for tiles as cheaply as
/// it can.
///
/// meeting_ring's thread 0 divides for each tile, while the others wait for it, and the compiler does not
/// know that it is the only thread of its warp that copies. Here are twins without the one and without both.
#pragma once

#include "bench_data.cuh"
#include "bench_waits.cuh"
#include "roles.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roles {

/// meeting_ring that steps from tile to tile and never divides. With `elected` one warp decides as a whole
/// whether it asks, and elects the lane that does: the compiler then copies without a loop over lanes.
template <int count, bool elected>
__global__ void __launch_bounds__(consumer_threads, 1)
    meeting_stepped(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    const unsigned tiles = work.tiles();
    const bool leads = elected ? workbook::warp_index() == 0 : threadIdx.x == 0;
    if (threadIdx.x == 0)
        ring.initialise(1, 1); // nobody waits for an empty stage here
    __syncthreads();
    NextTile next{blockIdx.x};
    if (leads)
        for (int k = 0; k < stages; ++k)
            next.ask<elected>(ring, map, work, tiles, k);
    unsigned k = 0;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        for (unsigned tile = 0; tile < tiles; ++tile, ++k) {
            workbook::wait_parity(&ring.full[k % stages], k / stages % 2);
            prints.absorb(ring.tiles[k % stages], threadIdx.x, work.rows_of(tile));
            ptx::fence_proxy_async(ptx::space_shared);
            __syncthreads();
            if (leads)
                next.ask<elected>(ring, map, work, tiles, k % stages);
        }
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

template <int count>
void clean_of_count(workbook::Bench& bench, const Words& words) {
    workbook::DeviceBuffer<unsigned> expected(words.shape.width * std::size_t{count});
    workbook::DeviceBuffer<unsigned> out(expected.size());
    launch_meeting_ring<count>(words.matrix(), expected.span(), unsigned{sms});
    const auto ring = [&](const char* name, RingKernel kernel, int threads) {
        return workbook::Contender{name, [&words, &out, kernel, threads] {
                                       launch_ring(kernel, threads, words.matrix(), out.span(), count,
                                                   unsigned{sms});
                                   }};
    };
    const std::vector<workbook::Contender> contenders{
        ring("meeting_ring", meeting_ring<count>, consumer_threads),
        ring("steps", meeting_stepped<count, false>, consumer_threads),
        ring("steps, elects", meeting_stepped<count, true>, consumer_threads),
        ring("roles_ring", roles_ring<count>, roles_threads)};
    rows_in_turns(bench, "roles_clean", contenders, expected, out, count);
}

/// The same three with a clock in each warp.
template <int count>
void clean_waits_of_count(workbook::Bench& bench, const Words& words) {
    WaitsOf(bench, words, count, "roles_clean_waits")
        .rows({{"meeting_ring", Hands::meet, meeting_ring<count>, noted_ring<count, Hands::meet>},
               {"steps, elects", Hands::meet_clean, meeting_stepped<count, true>,
                noted_ring<count, Hands::meet_clean>},
               {"roles_ring", Hands::pair_nine, roles_ring<count>, noted_ring<count, Hands::pair_nine>}});
}

/// One block on each SM.
inline void clean(workbook::Bench& bench) {
    bench.table(
        "roles_clean",
        "meeting_ring, twins of it that ask for tiles with less work, and roles_ring; one block on "
        "each SM",
        workbook::joined<workbook::BenchColumn>(
            {{"kernel", "kernel"}, {"prints", "multiplications per word"}}, workbook::timing_columns(false)));
    bench.table("roles_clean_waits",
                "Where the time of these goes, one block on each SM: cycles for each tile", waits_columns());
    const Words words(bench.size(sms * 6, std::size_t{2}) * panel_columns, bench.size(512, 70));
    clean_of_count<4>(bench, words);
    clean_of_count<8>(bench, words);
    clean_of_count<16>(bench, words);
    clean_of_count<32>(bench, words);
    clean_of_count<48>(bench, words);
    clean_of_count<64>(bench, words);
    clean_of_count<96>(bench, words);
    clean_of_count<128>(bench, words);
    clean_waits_of_count<8>(bench, words);
    clean_waits_of_count<32>(bench, words);
    clean_waits_of_count<96>(bench, words);
}

} // namespace roles

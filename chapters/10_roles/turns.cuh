/// @file turns.cuh
/// Chapter 10: two groups of consumers that take turns at the ring ('ping-pong').
///
/// In roles_ring all warps compute a panel together, at most a ring apart, and then all of them store its
/// results. Here each group has panels of its own. While one stores, the other one computes. Whose turn it is
/// they tell each other at named barriers.
#pragma once

#include "registers.cuh"

namespace roles {

inline constexpr int turn_columns = group_threads; ///< a panel for one group: half as wide
inline constexpr int turn_rows = 2 * tile_rows;    ///< and tiles twice as high: the same bytes
inline constexpr int group_warps = group_threads / 32;
inline constexpr int both_groups = 2 * group_threads;

using TurnRing = Ring<turn_columns, turn_rows>;

/// The named barrier at which group 0 or 1 waits for its turn. Barrier 0 is __syncthreads().
__device__ constexpr int turn_of(int group) { return 1 + group; }

/// One of two groups: every other panel of the block. It goes past the stages of the other one, and comes to
/// the ring only when that is done: a parity tells this lap of the ring from the last, not from the one
/// before.
template <int count>
__device__ void consume_in_turns(TurnRing& ring, const Work& work, unsigned* out) {
    const int group = static_cast<int>(workbook::warp_index()) / group_warps;
    const int other = 1 - group;
    const int thread = static_cast<int>(threadIdx.x) % group_threads;
    const unsigned panels = work.panels(turn_columns);
    const unsigned tiles = work.tiles(turn_rows);
    RingState<stages> from;
    if (group == 1) {
        from.skip(tiles);                                    // the first panel is not mine,
        workbook::named_arrive(turn_of(other), both_groups); // nor the first turn
    }
    for (unsigned panel = blockIdx.x + group * gridDim.x; panel < panels; panel += 2 * gridDim.x) {
        workbook::named_sync(turn_of(group), both_groups);
        const Prints<count> prints = use_panel<count>(ring, from, thread, work);
        from.skip(tiles);
        if (panel + gridDim.x < panels) // the other group has another panel
            workbook::named_arrive(turn_of(other), both_groups);
        if (const unsigned column = panel * turn_columns + thread; column < work.width)
            prints.store(place_of(column, out, count)); // while the other group computes
    }
}

/// Two groups of consumers, each with panels of its own.
template <int count>
__global__ void __launch_bounds__(roles_threads, 1)
    groups_in_turns(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    TurnRing& ring = *reinterpret_cast<TurnRing*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, group_warps); // only one group reads a stage
    __syncthreads();
    if (workbook::warp_index() < consumer_warps)
        consume_in_turns<count>(ring, work, out);
    else if (workbook::elect_one())
        produce(ring, map, work);
}

/// As launch_ring.
template <int count = few_prints>
void launch_groups_in_turns(Matrix<const unsigned> words, std::span<unsigned> out,
                            unsigned most = all_blocks) {
    if (const Work work = work_of(words, out, count); work.width > 0)
        workbook::launch(groups_in_turns<count>,
                         staying_shape(groups_in_turns<count>, roles_threads, sizeof(TurnRing),
                                       std::min((work.panels(turn_columns) + 1) / 2, most)),
                         words_map(words, turn_columns, turn_rows), work, out.data());
}

} // namespace roles

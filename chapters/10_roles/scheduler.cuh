/// @file scheduler.cuh
/// Chapter 10: blocks that stay, and panels of uneven work: dealt out beforehand, or claimed one by one.
///
/// Each panel has a height of its own, so that nobody can deal the work out evenly without looking. The
/// producer claims the next panel from a counter in global memory, and hands its number to the consumers
/// through a second, tiny ring.
#pragma once

#include "roles.cuh"

namespace roles {

inline constexpr int notes = 2; ///< numbers that the producer may be ahead of the consumers

/// Numbers of panels on their way from the producer to the consumers.
struct Desk : workbook::RingBarriers<notes> {
    unsigned panel[notes];
};

/// Shared memory of both kernels.
struct SchedulerMemory {
    Ring<> ring;
    Desk desk;
};

/// A panel with its own height.
__device__ inline Work of_panel(const Work& work, const unsigned* heights, unsigned panel) {
    return {work.width, heights[panel]};
}

/// Stores the fingerprints of this thread's column.
template <int count>
__device__ void store_prints(const Prints<count>& prints, const Work& work, unsigned panel, unsigned* out) {
    if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
        prints.store(place_of(column, out, count));
}

/// Every role knows which panels the block has: every gridDim.x-th.
template <int count>
__global__ void __launch_bounds__(roles_threads, 1)
    dealt_panels(const __grid_constant__ CUtensorMap map, Work work, const unsigned* heights, unsigned* out) {
    Ring<>& ring = reinterpret_cast<SchedulerMemory*>(ring_memory)->ring;
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    if (workbook::warp_index() < consumer_warps) {
        RingState<stages> from;
        for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
            const Work mine = of_panel(work, heights, panel);
            store_prints(use_panel<count>(ring, from, threadIdx.x, mine), work, panel, out);
        }
    } else if (workbook::elect_one()) {
        auto to = workbook::producer_start<stages>();
        for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x)
            ask_for_panel(ring, to, map, panel, of_panel(work, heights, panel).tiles());
    }
}

/// One thread: claims panel after panel, notes its number for the consumers and asks for its tiles. A number
/// beyond the last panel says that there are no more.
__device__ inline void claim_panels(SchedulerMemory& memory, const CUtensorMap& map, const Work& work,
                                    const unsigned* heights, unsigned* next) {
    Desk& desk = memory.desk;
    auto to = workbook::producer_start<stages>();
    auto note = workbook::producer_start<notes>();
    for (bool more = true; more; note.advance()) {
        const unsigned panel = atomicAdd(next, 1u);
        more = panel < work.panels();
        workbook::wait_parity(&desk.empty[note.index], note.phase);
        desk.panel[note.index] = panel;
        ptx::mbarrier_arrive(&desk.full[note.index]);
        if (more)
            ask_for_panel(memory.ring, to, map, panel, of_panel(work, heights, panel).tiles());
    }
}

/// The consumers: take the next number from the desk, and use that panel.
template <int count>
__device__ void use_claimed(SchedulerMemory& memory, const Work& work, const unsigned* heights,
                            unsigned* out) {
    Desk& desk = memory.desk;
    RingState<stages> from;
    for (RingState<notes> note;; note.advance()) {
        workbook::wait_parity(&desk.full[note.index], note.phase);
        const unsigned panel = desk.panel[note.index];
        workbook::arrive_as_warp(&desk.empty[note.index]);
        if (panel >= work.panels())
            return;
        const Work mine = of_panel(work, heights, panel);
        store_prints(use_panel<count>(memory.ring, from, threadIdx.x, mine), work, panel, out);
    }
}

/// Whoever is done takes the next panel.
template <int count>
__global__ void __launch_bounds__(roles_threads, 1)
    claimed_panels(const __grid_constant__ CUtensorMap map, Work work, const unsigned* heights, unsigned* out,
                   unsigned* next) {
    SchedulerMemory& memory = *reinterpret_cast<SchedulerMemory*>(ring_memory);
    if (threadIdx.x == 0) {
        memory.ring.initialise(1, consumer_warps);
        memory.desk.initialise(1, consumer_warps);
    }
    __syncthreads();
    if (workbook::warp_index() < consumer_warps)
        use_claimed<count>(memory, work, heights, out);
    else if (workbook::elect_one())
        claim_panels(memory, map, work, heights, next);
}

/// Throws std::invalid_argument unless there is a height for each panel.
inline void check_heights(Matrix<const unsigned> words, std::span<const unsigned> heights) {
    const Work work{static_cast<unsigned>(words.width), 0};
    if (heights.size() != work.panels())
        throw std::invalid_argument("uneven panels: there must be one height for each of " +
                                    std::to_string(work.panels()) + " panels");
}

/// Fingerprints as launch_ring makes them, of the first heights[p] words of the columns of panel p; none may
/// be more than the matrix has. `heights` lies in device memory.
template <int count = few_prints>
void launch_dealt_panels(Matrix<const unsigned> words, std::span<const unsigned> heights,
                         std::span<unsigned> out, unsigned most = all_blocks) {
    check_heights(words, heights);
    if (const Work work = work_of(words, out, count); work.width > 0)
        workbook::launch(dealt_panels<count>,
                         staying_shape(dealt_panels<count>, roles_threads, sizeof(SchedulerMemory),
                                       std::min(work.panels(), most)),
                         words_map(words), work, heights.data(), out.data());
}

/// @param next one word of device memory, for the counter
template <int count = few_prints>
void launch_claimed_panels(Matrix<const unsigned> words, std::span<const unsigned> heights,
                           std::span<unsigned> out, unsigned* next, unsigned most = all_blocks) {
    check_heights(words, heights);
    if (const Work work = work_of(words, out, count); work.width > 0) {
        workbook::check(cudaMemsetAsync(next, 0, sizeof *next), "setting the counter of panels to 0");
        workbook::launch(claimed_panels<count>,
                         staying_shape(claimed_panels<count>, roles_threads, sizeof(SchedulerMemory),
                                       std::min(work.panels(), most)),
                         words_map(words), work, heights.data(), out.data(), next);
    }
}

} // namespace roles

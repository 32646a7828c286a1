#include "machine/block.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/mistake.hpp"

#include <cstring>

namespace emu {
namespace {

constexpr std::byte shared_poison{
    0xff}; ///< Shared memory starts with whatever was there: NaN and -1 show best.
constexpr std::uint32_t shared_granule_bytes = 128; ///< What hardware hands out at once.

} // namespace

Block::Block(Cluster& cluster, unsigned rank, Dim3 index)
    : cluster_(cluster), rank_(rank), index_(index),
      thread_count_(static_cast<std::uint32_t>(cluster.info().config.block.volume())),
      live_threads_(thread_count_), shared_size_(cluster.info().shared_size),
      shared_((shared_size_ + shared_granule_bytes - 1) / shared_granule_bytes * shared_granule_bytes,
              shared_poison) {
    std::fill_n(shared_.begin(), shared_reserved, std::byte{}); // Cooperative groups expect zeros there.
    for (std::uint32_t first = 0; first < thread_count_; first += warp_size) {
        const std::uint32_t lanes = std::min(warp_size, thread_count_ - first);
        const LaneMask present = lanes == warp_size ? all_lanes : (1u << lanes) - 1;
        warps_.push_back(std::make_unique<Warp>(*this, first / warp_size, present));
    }
}

std::uint64_t Block::linear_index() const {
    const Dim3 grid = cluster_.info().config.grid;
    return index_.x + std::uint64_t{grid.x} * (index_.y + std::uint64_t{grid.y} * index_.z);
}

void Block::thread_exited(const WarpLanes& lanes) {
    live_threads_ -= static_cast<std::uint32_t>(std::popcount(lanes.mask));
    cluster_.made_progress();
    if (cluster_.listening())
        cluster_.emit(&ClusterListener::on_thread_exit, lanes);
    for (unsigned id = 0; id < barriers_.size(); ++id)
        if (!barriers_[id].arrivals.empty() && is_complete(barriers_[id]))
            complete(id);
    cluster_.cluster_barrier_recheck();
    if (live_threads_ == 0)
        cluster_.block_finished(*this);
}

bool Block::is_complete(const BlockBarrier& barrier) const {
    return barrier.arrived >= (barrier.all_threads ? live_threads_ : barrier.expected);
}

namespace {

void report_other_count(unsigned id, const BlockBarrier& barrier, std::uint32_t threads,
                        const WarpLanes& lanes) {
    const WarpLanes& first = barrier.arrivals.front();
    const auto lane_of = [](const WarpLanes& w) { return static_cast<unsigned>(std::countr_zero(w.mask)); };
    lanes.warp->cluster().report({.finding = Finding::arrival_count_mismatch,
                                  .fault = Fault::illegal_instruction,
                                  .kind = "barrier-counts-differ",
                                  .warp = lanes.warp,
                                  .lane = lane_of(lanes),
                                  .pc = lanes.pc,
                                  .facts = {{"id", id},
                                            {"first", Thread{first.warp, lane_of(first)}},
                                            {"expected", barrier.expected},
                                            {"threads", threads}},
                                  .other_pc = first.pc});
}

} // namespace

Flow Block::arrive(unsigned id, std::uint32_t threads, const WarpLanes& lanes, bool wait,
                   LaneMask predicate) {
    BlockBarrier& barrier = barriers_[id];
    if (barrier.arrivals.empty()) {
        barrier.all_threads = threads == 0;
        barrier.expected = threads;
    }
    if (threads != 0 && !barrier.all_threads && threads != barrier.expected) {
        report_other_count(id, barrier, threads, lanes);
        return Flow::next;
    }
    const Warp& warp = *lanes.warp;
    const LaneMask live = warp.present() & ~warp.exited();
    const auto count = static_cast<std::uint32_t>(std::popcount(lanes.mask));
    // PTX ISA 9.7.13.1: with a thread count the barrier counts whole warps.
    barrier.arrived += !barrier.all_threads && lanes.mask == live ? warp_size : count;
    barrier.participants += count;
    barrier.predicate_count += static_cast<std::uint32_t>(std::popcount(predicate & lanes.mask));
    barrier.arrivals.push_back(lanes);
    cluster_.made_progress();
    if (cluster_.listening())
        cluster_.emit(&ClusterListener::on_barrier_arrive, ClusterListener::BarrierKind::block, id, lanes,
                      Semantics::acq_rel);
    Flow flow = Flow::next;
    if (wait) {
        barrier.waiting.push_back(lanes);
        flow = lanes.warp->block_lanes(lanes.mask, Wait::block_barrier, id);
    }
    if (is_complete(barrier))
        complete(id);
    return flow;
}

void Block::complete(unsigned id) {
    BlockBarrier done = std::move(barriers_[id]);
    barriers_[id] = {};
    ++ended_barriers_;
    if (cluster_.listening())
        cluster_.emit(&ClusterListener::on_barrier_complete, ClusterListener::BarrierKind::block, id,
                      std::span<const WarpLanes>(done.arrivals), std::span<const WarpLanes>(done.waiting));
    for (const WarpLanes& lanes : done.waiting) {
        const Op& op = cluster_.info().kernel->code[lanes.pc];
        switch (static_cast<BarrierReduction>(op.flags)) {
        case BarrierReduction::none:
            break;
        case BarrierReduction::popc:
            for_lanes(lanes.mask,
                      [&](unsigned i) { lanes.warp->row<std::uint32_t>(op.dst)[i] = done.predicate_count; });
            break;
        case BarrierReduction::all:
            lanes.warp->set_predicate(op.dst, lanes.mask,
                                      done.predicate_count == done.participants ? all_lanes : 0);
            break;
        case BarrierReduction::any:
            lanes.warp->set_predicate(op.dst, lanes.mask, done.predicate_count ? all_lanes : 0);
            break;
        }
        lanes.warp->release_after(lanes.mask);
    }
    last_arrivals_[id] = std::move(done.arrivals);
    cluster_.made_progress();
}

} // namespace emu

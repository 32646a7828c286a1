#include "machine/warp.hpp"

#include "machine/cluster.hpp"
#include "machine/decoder.hpp"

#include <algorithm>

namespace emu {
namespace {

constexpr std::uint64_t fairness_slice =
    65536; ///< Instructions a diverged group may loop before the others get a turn.
constexpr std::uint32_t row_bytes = 256;

} // namespace

Warp::Warp(Block& block, unsigned index, LaneMask present)
    : Lanes(present), LocalMemory(block.cluster().info().kernel->local_need,
                                  block.cluster().info().kernel->entry().local_bytes),
      block_(block), index_(index) {
    const Kernel& kernel = *block.cluster().info().kernel;
    frames_.resize(kernel.entry().frame_bytes);
    specials_.resize((static_cast<std::size_t>(Special::count_) + kernel.address_rows.size()) * row_bytes);
    bases_ = {frames_.data(), const_cast<std::byte*>(kernel.constants.data()), specials_.data()};
    lane_pc_.fill(kernel.entry().first);
    fill_specials();
}

Cluster& Warp::cluster() const { return block_.cluster(); }

template <class T>
void Warp::fill(Row row, T value) {
    std::fill_n(this->row<T>(row), warp_size, value);
}

void Warp::fill_specials() {
    const LaunchInfo& info = cluster().info();
    const LaunchConfig& c = info.config;
    const auto set = [&](Special s, std::uint32_t value) { fill(special_row(s), value); };
    const auto set3 = [&](Special s, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        set(s, x);
        set(static_cast<Special>(static_cast<unsigned>(s) + 1), y);
        set(static_cast<Special>(static_cast<unsigned>(s) + 2), z);
    };
    const Dim3 at = block_.index();
    set(Special::shared_base32, block_.shared_base());
    fill<std::uint64_t>(special_row(Special::shared_base64), block_.shared_base());
    set(Special::dynamic_shared32, block_.shared_base() + info.kernel->dynamic_shared_offset);
    fill<std::uint64_t>(special_row(Special::dynamic_shared64),
                        block_.shared_base() + info.kernel->dynamic_shared_offset);
    fill<std::uint64_t>(special_row(Special::parameters64), info.parameters);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        const std::uint32_t t = thread_of(lane);
        row<std::uint32_t>(special_row(Special::tid_x))[lane] = t % c.block.x;
        row<std::uint32_t>(special_row(Special::tid_y))[lane] = t / c.block.x % c.block.y;
        row<std::uint32_t>(special_row(Special::tid_z))[lane] = t / c.block.x / c.block.y;
        row<std::uint32_t>(special_row(Special::laneid))[lane] = lane;
        const std::uint32_t bit = 1u << lane;
        row<std::uint32_t>(special_row(Special::lanemask_eq))[lane] = bit;
        row<std::uint32_t>(special_row(Special::lanemask_lt))[lane] = bit - 1;
        row<std::uint32_t>(special_row(Special::lanemask_le))[lane] = bit | (bit - 1);
        row<std::uint32_t>(special_row(Special::lanemask_gt))[lane] = ~(bit | (bit - 1));
        row<std::uint32_t>(special_row(Special::lanemask_ge))[lane] = ~(bit - 1);
    }
    set3(Special::ntid_x, c.block.x, c.block.y, c.block.z);
    set3(Special::ctaid_x, at.x, at.y, at.z);
    set3(Special::nctaid_x, c.grid.x, c.grid.y, c.grid.z);
    set(Special::warpid, index_);
    set(Special::nwarpid, (block_.thread_count() + warp_size - 1) / warp_size);
    set(Special::nsmid, 132);
    set(Special::smid, static_cast<std::uint32_t>(block_.linear_index() % 132));
    const Dim3 k = c.cluster;
    set3(Special::clusterid_x, at.x / k.x, at.y / k.y, at.z / k.z);
    set3(Special::nclusterid_x, c.grid.x / k.x, c.grid.y / k.y, c.grid.z / k.z);
    set3(Special::cluster_ctaid_x, at.x % k.x, at.y % k.y, at.z % k.z);
    set3(Special::cluster_nctaid_x, k.x, k.y, k.z);
    set(Special::cluster_ctarank, block_.rank());
    set(Special::cluster_nctarank, static_cast<std::uint32_t>(k.volume()));
    set(Special::dynamic_smem_size, c.dynamic_shared);
    set(Special::total_smem_size, info.shared_size);
    fill<std::uint64_t>(special_row(Special::gridid64), info.serial);
    fill_address_rows();
}

void Warp::fill_address_rows() {
    const Kernel& kernel = *cluster().info().kernel;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        row<std::uint32_t>(special_row(Special::local_base32))[lane] = local_base_[lane];
        row<std::uint64_t>(special_row(Special::local_base64))[lane] = local_base_[lane];
    }
    // Before the first group runs, all rows; then those of the frame, which belong to the function in it.
    const bool started = active_ != 0;
    const std::uint32_t function = kernel.function_of[pc_];
    for (std::size_t i = 0; i < kernel.address_rows.size(); ++i) {
        const Kernel::AddressRow& wanted = kernel.address_rows[i];
        if (started && (wanted.shared || wanted.function != function))
            continue;
        const Row r{(static_cast<std::uint32_t>(Special::count_) + static_cast<std::uint32_t>(i)) * row_bytes,
                    Row::Base::specials};
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            const Address base = wanted.shared                      ? block_.shared_base()
                                 : wanted.function == parameter_row ? cluster().info().parameters
                                                                    : local_base_[lane];
            if (wanted.bytes == 8)
                row<std::uint64_t>(r)[lane] = base + wanted.offset;
            else
                row<std::uint32_t>(r)[lane] = static_cast<std::uint32_t>(base + wanted.offset);
        }
    }
}

void Warp::run(std::uint64_t budget) {
    yielded_ = false;
    while (budget > 0 && !yielded_ && !cluster().stopped() && select_group())
        run_group(budget);
}

std::uint64_t Warp::state_hash(bool with_clocks) const {
    std::uint64_t hash = index_ + 1 + (std::uint64_t{block_.rank()} << 32);
    const auto mix = [&](std::uint64_t value) {
        hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    };
    const auto mix_frames = [&](std::size_t i, std::size_t end) {
        for (; i + 8 <= end; i += 8) {
            std::uint64_t value = 0;
            std::memcpy(&value, frames_.data() + i, sizeof value);
            mix(value);
        }
        for (; i < end; ++i)
            mix(static_cast<std::uint64_t>(frames_[i]));
    };
    std::size_t begin = 0;
    if (!with_clocks)
        for (const FrameBytes& each : cluster().info().kernel->clock_registers) {
            mix_frames(begin, each.begin);
            begin = each.end;
        }
    mix_frames(begin, frames_.size());
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        mix(std::uint64_t{lane_pc_[lane]} << 32 | lane_frame_[lane]);
        mix(std::uint64_t{local_top_[lane]} << 32 | returns_[lane].size());
        mix(static_cast<std::uint64_t>(wait_[lane]));
    }
    mix(std::uint64_t{exited_} << 32 | blocked_);
    mix(carry);
    return hash;
}

bool Warp::spins() {
    constexpr unsigned enough = 8;
    const std::uint64_t progress = cluster().progress();
    const bool same = poll_.now == poll_.last && progress == poll_.progress;
    poll_ = {0, poll_.now, progress, same ? poll_.repeated + 1 : 0};
    if (poll_.repeated < enough)
        return false;
    poll_.repeated = 0;
    return true;
}

bool Warp::select_group() {
    LaneMask candidates = runnable() & ~deferred_;
    if (!candidates) {
        deferred_ = 0;
        candidates = runnable();
        if (!candidates)
            return false;
    }
    // Deeper calls first, so that callers wait for their callees; within a frame the lowest place first.
    std::uint32_t best_frame = 0, best_pc = ~0u;
    for_lanes(candidates, [&](unsigned lane) {
        if (lane_frame_[lane] > best_frame || (lane_frame_[lane] == best_frame && lane_pc_[lane] < best_pc)) {
            best_frame = lane_frame_[lane];
            best_pc = lane_pc_[lane];
        }
    });
    LaneMask group = 0;
    std::uint32_t stop = ~0u;
    for_lanes(candidates, [&](unsigned lane) {
        if (lane_frame_[lane] != best_frame)
            return;
        if (lane_pc_[lane] == best_pc)
            group |= 1u << lane;
        else
            stop = std::min(stop, lane_pc_[lane]);
    });
    active_ = group;
    pc_ = best_pc;
    stop_pc_ = stop;
    if (best_frame != frame_ || best_frame != 0)
        set_frame(best_frame);
    return true;
}

void Warp::set_frame(std::uint32_t frame) {
    frame_ = frame;
    bases_[0] = frames_.data() + frame;
    fill_address_rows();
}

void Warp::leave_group(std::uint32_t next_pc) {
    for_lanes(active_ & ~exited_ & ~blocked_, [&](unsigned lane) { lane_pc_[lane] = next_pc; });
}

void Warp::run_group(std::uint64_t& budget) {
    const Op* const code = cluster().info().kernel->code.data();
    const bool listening = cluster().listening();
    const auto lanes = static_cast<std::uint64_t>(std::popcount(active_));
    std::uint64_t executed = 0;
    while (true) {
        if (pc_ >= stop_pc_) {
            if (yielded_)
                deferred_ |= active_;
            leave_group(pc_);
            break;
        }
        const Op& op = code[pc_];
        const LaneMask mask = guarded(op, active_);
        ++executed;
        if (mask == 0) {
            if (listening) [[unlikely]]
                cluster().emit(&ClusterListener::on_skipped, *this, pc_);
            ++pc_;
            continue;
        }
        if (listening) [[unlikely]]
            cluster().emit(&ClusterListener::on_instruction, *this, pc_, mask);
        const Flow flow = op.handler(*this, op, mask);
        if (flow == Flow::next) [[likely]] {
            ++pc_;
        } else if (flow == Flow::jump) {
            const bool backward = jump_target_ <= pc_;
            pc_ = jump_target_;
            if (backward && (executed >= budget || cluster().stopped())) {
                leave_group(pc_);
                break;
            }
            if (backward && poll_.now != 0 && spins()) {
                deferred_ |= active_;
                yielded_ = true;
                leave_group(pc_);
                break;
            }
            if (backward && diverged_for_ + executed >= fairness_slice && active_ != runnable()) {
                deferred_ |= active_;
                diverged_for_ = 0;
                instructions_ += executed * lanes;
                budget -= std::min(budget, executed);
                leave_group(pc_);
                return;
            }
        } else {
            break;
        }
    }
    diverged_for_ = active_ == runnable() ? 0 : diverged_for_ + executed;
    instructions_ += executed * lanes;
    budget -= std::min(budget, executed);
}

Flow Warp::branch(LaneMask taken, std::uint32_t target) {
    if (taken == active_)
        return jump(target);
    for_lanes(active_, [&](unsigned lane) { lane_pc_[lane] = taken >> lane & 1 ? target : pc_ + 1; });
    return Flow::reselect;
}

Flow Warp::scatter(LaneMask mask, const std::array<std::uint32_t, warp_size>& targets) {
    for_lanes(active_, [&](unsigned lane) { lane_pc_[lane] = mask >> lane & 1 ? targets[lane] : pc_ + 1; });
    return Flow::reselect;
}

Flow Warp::block_lanes(LaneMask mask, Wait why, std::uint64_t tag, std::uint64_t phase) {
    for_lanes(active_, [&](unsigned lane) {
        const bool waits = mask >> lane & 1;
        lane_pc_[lane] = waits ? pc_ : pc_ + 1;
        if (waits) {
            wait_[lane] = why;
            wait_tag_[lane] = tag;
            wait_phase_[lane] = phase;
        }
    });
    blocked_ |= mask;
    return Flow::reselect;
}

Flow Warp::retry(LaneMask mask) {
    for_lanes(active_ & ~blocked_ & ~exited_,
              [&](unsigned lane) { lane_pc_[lane] = mask >> lane & 1 ? pc_ : pc_ + 1; });
    return Flow::reselect;
}

Flow Warp::exit_lanes(LaneMask mask) {
    for_lanes(active_, [&](unsigned lane) { lane_pc_[lane] = mask >> lane & 1 ? pc_ : pc_ + 1; });
    for_lanes(mask, [&](unsigned lane) { wait_[lane] = Wait::exited; });
    exited_ |= mask;
    for (LiveFrame& each : live_frames_)
        each.lanes &= ~mask;
    std::erase_if(live_frames_, [](const LiveFrame& each) { return each.lanes == 0; });
    block_.thread_exited({this, mask, pc_});
    if (finished() && cluster().info().kernel->has_wgmma)
        cluster().async().warpgroup_changed(*this);
    meet_again();
    return Flow::reselect;
}

LaneMask Warp::met(unsigned lane) const {
    for (const Meeting& each : meetings_)
        if (each.arrived >> lane & 1)
            return each.arrived;
    return 0;
}

Flow Warp::meet(const Op& op, LaneMask mask, LaneMask members, MeetingAction action) {
    const LaneMask expected = members & present_ & ~exited_;
    if (mask == expected) { // the common case: everybody is here already
        action(*this, op, mask);
        return Flow::next;
    }
    for (Meeting& m : meetings_) {
        if (m.action == action && m.members == members) {
            m.arrived |= mask;
            m.places.push_back({&op, frame_, mask});
            const Flow flow = block_lanes(mask, Wait::warp_sync, members);
            meet_again();
            return flow;
        }
    }
    meetings_.push_back({&op, members, mask, action, {{&op, frame_, mask}}});
    return block_lanes(mask, Wait::warp_sync, members);
}

void Warp::meet_again() {
    for (std::size_t i = 0; i < meetings_.size();) {
        const LaneMask expected = meetings_[i].members & present_ & ~exited_;
        if ((meetings_[i].arrived & expected) != expected) {
            ++i;
            continue;
        }
        const Meeting done = std::move(meetings_[i]);
        meetings_.erase(meetings_.begin() + static_cast<std::ptrdiff_t>(i));
        const bool one_place = std::ranges::all_of(done.places, [&](const MeetingPlace& each) {
            return each.op == done.op && each.frame == frame_;
        });
        if (!one_place)
            meeting_ = done.places;
        done.action(*this, *done.op, done.arrived);
        meeting_ = {};
        cluster().made_progress();
        release_after(done.arrived);
    }
}

} // namespace emu

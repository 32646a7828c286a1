/// \file
/// Writes down what happens in a cluster, event by event.

#include "hopper_emulator/moments.hpp"

#include "hopper_emulator/counters.hpp"
#include "machine/cluster.hpp"
#include "machine/mbarrier.hpp"
#include "recording/recorded_moments.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <optional>

namespace emu {
namespace moments {
namespace {

using Head = ClusterMoments::Head;

class Writer final : public ClusterListener {
  public:
    Writer(Moments::Recorded& all, Cluster& cluster) : all_(all), cluster_(cluster) {
        mine_.cluster = cluster.linear_index();
    }
    ~Writer() override {
        tell_instruction();
        const std::lock_guard lock(all_.mutex);
        all_.clusters.push_back(std::move(mine_));
    }

    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask lanes) override {
        tell_instruction();
        tell_wait();
        told_.erase(&warp);
        last_ = &warp;
        untold_ = WarpLanes{&warp, lanes, pc};
    }
    void on_access(const AccessEvent& e) override {
        if (e.space == Space::shared)
            shared_access(e);
        else if (e.space == Space::global)
            global_access(e);
    }
    void on_fence(const FenceEvent& e) override {
        add(Moment::fence, {e.warp, e.mask, e.pc},
            {number(e.kind), number(e.scope), e.covers_shared, e.covers_global});
    }

    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics) override {
        if (kind != BarrierKind::warp)
            add(Moment::barrier_arrive, lanes, {number(kind), id});
    }
    void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes>) override {
        if (kind == BarrierKind::warp || arrived.empty())
            return;
        // Whoever comes last does not wait.
        if (arrived.back().warp == last_)
            told_.insert(last_);
        add(Moment::barrier_complete, {}, {number(kind), id, arrived.front().warp->block().rank()});
    }

    void on_mbarrier_init(const MbarrierEvent& e) override {
        mine_.barriers.insert(e.address);
        add(Moment::mbarrier_init, of(e), {e.address, e.count});
    }
    void on_mbarrier_inval(const MbarrierEvent& e) override {
        add(Moment::mbarrier_inval, of(e), {e.address});
    }
    void on_mbarrier_arrive(const MbarrierEvent& e) override {
        const Mbarrier* const barrier = cluster_.mbarrier(e.address);
        // The event comes before the barrier has taken it in.
        const std::int64_t pending = barrier ? std::int64_t{barrier->pending} - e.count : 0;
        const std::int64_t bytes = barrier ? barrier->tx + e.tx : 0;
        const std::int64_t phase = static_cast<std::int64_t>(e.phase);
        const std::int64_t copy = e.operation ? static_cast<std::int64_t>(e.operation->id) : 0;
        if (copy == 0 && e.tx == 0 && joins(Moment::mbarrier_arrive, of(e), {e.address, phase})) {
            numbers(2) += e.count;
            numbers(5) = pending;
            return;
        }
        add(Moment::mbarrier_arrive, of(e), {e.address, phase, e.count, e.tx, copy, pending, bytes});
    }
    void on_mbarrier_phase(const MbarrierEvent& e) override {
        const Mbarrier* const barrier = cluster_.mbarrier(e.address);
        add(Moment::mbarrier_phase, of(e),
            {e.address, static_cast<std::int64_t>(e.phase), barrier ? barrier->expected : 0});
    }
    void on_mbarrier_observed(const MbarrierEvent& e) override {
        join_or_add(Moment::mbarrier_observed, of(e), {e.address, static_cast<std::int64_t>(e.phase)});
    }
    void on_mbarrier_passed_fresh(const MbarrierEvent& e) override {
        join_or_add(Moment::mbarrier_fresh, of(e), {e.address});
    }

    void on_async_issue(const AsyncOperation& operation) override { issue(operation); }
    void on_async_source_read(const AsyncOperation& o) override { stage(Moment::source_read, o); }
    void on_async_landed(const AsyncOperation& o) override { stage(Moment::landed, o); }
    void on_async_commit(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t group) override {
        join_or_add(Moment::commit, {&warp, LaneMask{1} << lane, warp.pc()},
                    {number(kind), static_cast<std::int64_t>(group)});
    }
    void on_async_wait(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t pending, std::uint64_t,
                       std::uint32_t pc) override {
        join_or_add(Moment::group_wait, {&warp, LaneMask{1} << lane, pc},
                    {number(kind), static_cast<std::int64_t>(pending)});
    }
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last,
                                 bool read_only, std::uint32_t pc) override {
        join_or_add(Moment::group_observed, {&warp, LaneMask{1} << lane, pc},
                    {number(kind), static_cast<std::int64_t>(last), read_only});
    }

    void on_finding(Finding finding, std::span<const std::uint32_t> pcs) override {
        found_.push_back({finding, {pcs.begin(), pcs.end()}, 0});
    }
    void on_deadlock(const Deadlock&) override {
        tell_instruction();
        add(Moment::deadlock, {}, {});
    }
    void on_thread_exit(const WarpLanes& lanes) override { add(Moment::exit, lanes, {}); }
    void on_block_start(Block& block) override {
        mine_.blocks.resize(std::max<std::size_t>(mine_.blocks.size(), block.rank() + 1));
        mine_.blocks[block.rank()] = block.index();
        add(Moment::block_start, {}, {block.rank()});
    }
    void on_block_exit(Block& block) override {
        tell_instruction();
        last_ = nullptr; // Its warps may be gone when the next event comes.
        add(Moment::block_exit, {}, {block.rank()});
    }

  private:
    using Numbers = std::initializer_list<std::int64_t>;

    template <class Enumeration>
    static std::int64_t number(Enumeration value) {
        return static_cast<std::int64_t>(value);
    }
    static WarpLanes of(const MbarrierEvent& e) {
        return {e.operation ? nullptr : e.warp, e.warp && !e.operation ? LaneMask{1} << e.lane : 0, e.pc};
    }
    static std::int64_t track(const Warp* warp) {
        return warp ? std::int64_t{warp->block().rank()} * warp_size + warp->index() : -1;
    }
    /// A number of the last event, by its place behind the head.
    std::int64_t& numbers(std::size_t place) {
        return mine_.numbers[mine_.begins.back() + Head::head_size + place];
    }

    // -- The order of what is told

    /// What happened by the last instruction is told when the next one begins: the plain instruction if it
    /// was nothing else, then what was found at it.
    void tell_instruction() {
        if (untold_.warp)
            put(Moment::instruction, untold_, {});
        untold_ = {};
        for (ClusterMoments::Noted& each : found_) {
            each.event = mine_.begins.empty() ? 0 : mine_.begins.size() - 1;
            if (!mine_.cut)
                mine_.noted.push_back(std::move(each));
        }
        found_.clear();
    }
    /// Lanes of the warp that ran last have begun to wait, and nobody has told so.
    void tell_wait() {
        if (!last_ || told_.contains(last_) || !last_->blocked())
            return;
        told_.insert(last_);
        const LaneMask lanes = last_->blocked();
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        put(Moment::wait, {last_, lanes, last_->lane_pc(lane)},
            {last_->runnable() == 0, number(last_->wait_of(lane)),
             static_cast<std::int64_t>(last_->wait_tag(lane))});
    }

    void add(Moment kind, const WarpLanes& who, Numbers more) {
        const bool same = untold_.warp && who.warp == untold_.warp && who.pc == untold_.pc;
        if (same)
            untold_ = {};
        else if (untold_.warp) {
            put(Moment::instruction, untold_, {});
            untold_ = {};
        }
        if (!same)
            tell_wait();
        put(kind, who, more);
    }
    void put(Moment kind, const WarpLanes& who, std::span<const std::int64_t> more) {
        if (mine_.cut || all_.events.fetch_add(1, std::memory_order_relaxed) >= all_.most) {
            mine_.cut = true;
            return;
        }
        mine_.begins.push_back(mine_.numbers.size());
        const auto size = static_cast<std::int64_t>(Head::head_size - 1 + more.size());
        for (const std::int64_t each :
             {size, number(kind), track(who.warp), std::int64_t{who.pc}, std::int64_t{who.mask}})
            mine_.numbers.push_back(each);
        mine_.numbers.insert(mine_.numbers.end(), more.begin(), more.end());
    }
    void put(Moment kind, const WarpLanes& who, Numbers more) {
        put(kind, who, std::span(more.begin(), more.size()));
    }

    /// What lanes do one after the other by one instruction is one event. If the last event is the same but
    /// for its lanes, adds these to it.
    bool joins(Moment kind, const WarpLanes& who, Numbers more) {
        if (mine_.cut || mine_.begins.empty() || untold_.warp)
            return false;
        const auto last = mine_.begins.size() - 1;
        if (mine_.at(last, Head::kind) != number(kind) || mine_.at(last, Head::warp) != track(who.warp) ||
            mine_.at(last, Head::pc) != who.pc || (mine_.at(last, Head::lanes) & who.mask) != 0)
            return false;
        for (std::size_t i = 0; i < more.size(); ++i)
            if (numbers(i) != more.begin()[i])
                return false;
        mine_.numbers[mine_.begins.back() + Head::lanes] |= who.mask;
        return true;
    }
    void join_or_add(Moment kind, const WarpLanes& who, Numbers more) {
        if (!joins(kind, who, more))
            add(kind, who, more);
    }

    // -- Accesses

    void shared_access(const AccessEvent& e) {
        const Wavefronts w = shared_wavefronts({e.addresses, warp_size}, e.mask, e.bytes);
        std::vector<std::int64_t> more{number(e.kind), e.bytes, w.taken, w.fewest};
        std::vector<std::int64_t> addresses;
        for_lanes(e.mask, [&](unsigned lane) {
            addresses.push_back(static_cast<std::int64_t>(e.addresses[lane] & 0xffffffffu));
        });
        const std::int64_t step = addresses.size() > 1 ? addresses[1] - addresses[0] : 0;
        bool regular = true;
        for (std::size_t i = 1; i < addresses.size(); ++i)
            regular = regular && addresses[i] - addresses[i - 1] == step;
        more.push_back(regular);
        if (regular)
            more.insert(more.end(), {addresses[0], step});
        else
            more.insert(more.end(), addresses.begin(), addresses.end());
        add_list(Moment::shared_access, {e.warp, e.mask, e.pc}, more);
    }
    void global_access(const AccessEvent& e) {
        const Address first = e.addresses[std::countr_zero(e.mask)];
        const auto allocation = cluster_.memory().find(first);
        const std::int64_t offset = allocation ? static_cast<std::int64_t>(first - allocation->base) : 0;
        add(Moment::global_access, {e.warp, e.mask, e.pc},
            {number(e.kind), e.bytes, global_sectors({e.addresses, warp_size}, e.mask, e.bytes),
             allocation ? static_cast<std::int64_t>(allocation->serial) : -1, offset});
    }
    void add_list(Moment kind, const WarpLanes& who, const std::vector<std::int64_t>& more) {
        add(kind, who, {});
        if (mine_.cut)
            return;
        mine_.numbers[mine_.begins.back()] += static_cast<std::int64_t>(more.size());
        mine_.numbers.insert(mine_.numbers.end(), more.begin(), more.end());
    }

    // -- Copies

    static std::vector<std::int64_t> pieces(const std::vector<AsyncPiece>& all, bool there) {
        std::vector<std::int64_t> list{0};
        for (const AsyncPiece& each : all) {
            if (!there || each.bytes == 0)
                continue;
            if (list.size() > 1 && list[list.size() - 2] + list.back() == each.shared) {
                list.back() += each.bytes;
                continue;
            }
            list.insert(list.end(), {each.shared, each.bytes});
            ++list[0];
        }
        return list;
    }
    /// The bytes of a copy: those that it writes or reads, and those of A and B for a product.
    static std::int64_t bytes_of(const AsyncOperation& o) {
        std::int64_t bytes = 0;
        for (const AsyncPiece& each : o.pieces)
            bytes += each.bytes;
        for (const AsyncPiece& each : o.source_pieces)
            bytes += o.kind == AsyncKind::wgmma ? each.bytes : 0;
        return bytes;
    }
    void issue(const AsyncOperation& o) {
        const WarpLanes who{o.warp, LaneMask{1} << o.lane, o.pc};
        std::vector<std::int64_t> more{static_cast<std::int64_t>(o.id),
                                       1,
                                       number(o.kind),
                                       number(o.completion),
                                       o.barrier,
                                       o.tx_bytes,
                                       static_cast<std::int64_t>(o.group),
                                       bytes_of(o),
                                       is_of_async_proxy(o.kind)};
        const auto written = pieces(o.pieces, o.writes_shared);
        auto read = pieces(o.source_pieces, !o.source_pieces.empty());
        if (o.reads_shared && !o.writes_shared) {
            const auto others = pieces(o.pieces, true);
            read[0] += others[0];
            read.insert(read.end(), others.begin() + 1, others.end());
        }
        more.insert(more.end(), written.begin(), written.end());
        more.insert(more.end(), read.begin(), read.end());
        if (o.kind != AsyncKind::cp_async || !joins_issue(who, more))
            add_list(Moment::issue, who, more);
    }
    /// cp.async of the lanes of one instruction are one event, if one copies as much as the other.
    bool joins_issue(const WarpLanes& who, const std::vector<std::int64_t>& more) {
        if (mine_.cut || mine_.begins.empty() || untold_.warp || more[9] != 1)
            return false;
        const auto last = mine_.begins.size() - 1;
        const bool same = mine_.at(last, Head::kind) == number(Moment::issue) &&
                          mine_.at(last, Head::warp) == track(who.warp) &&
                          mine_.at(last, Head::pc) == who.pc && !(mine_.at(last, Head::lanes) & who.mask);
        if (!same || numbers(0) + numbers(1) != more[0] || numbers(2) != more[2] || numbers(6) != more[6])
            return false;
        ++numbers(1);
        numbers(7) += more[7];
        ++numbers(9);
        mine_.numbers[mine_.begins.back() + Head::lanes] |= who.mask;
        mine_.numbers[mine_.begins.back()] += 2;
        // In front of the number of read pieces, which is 0.
        mine_.numbers.insert(mine_.numbers.end() - 1, {more[10], more[11]});
        return true;
    }
    /// A copy that lands as soon as it has read its source does both in one event.
    void forget_reading(std::int64_t id) {
        if (mine_.cut || mine_.begins.empty() ||
            mine_.at(mine_.begins.size() - 1, Head::kind) != number(Moment::source_read) ||
            numbers(0) != id || numbers(1) != 1)
            return;
        mine_.numbers.resize(mine_.begins.back());
        mine_.begins.pop_back();
        all_.events.fetch_sub(1, std::memory_order_relaxed);
    }
    void stage(Moment kind, const AsyncOperation& o) {
        const auto id = static_cast<std::int64_t>(o.id);
        if (kind == Moment::landed && untold_.warp == nullptr)
            forget_reading(id);
        const bool follows = !mine_.cut && !untold_.warp && !mine_.begins.empty() &&
                             mine_.at(mine_.begins.size() - 1, Head::kind) == number(kind) &&
                             numbers(0) + numbers(1) == id;
        if (follows)
            ++numbers(1);
        else
            add(kind, {}, {id, 1});
    }

    Moments::Recorded& all_;
    Cluster& cluster_;
    ClusterMoments mine_;
    WarpLanes untold_{};         ///< The instruction that is being executed, until something is told of it.
    Warp* last_ = nullptr;       ///< That executed an instruction last.
    std::set<const Warp*> told_; ///< Warps whose wait was told.
    std::vector<ClusterMoments::Noted> found_;
};

} // namespace
} // namespace moments

Moments::Moments(std::size_t most) : recorded_(std::make_unique<Recorded>()) { recorded_->most = most; }
Moments::~Moments() = default;

void Moments::on_launch_begin(const LaunchInfo& info) {
    const std::lock_guard lock(recorded_->mutex);
    recorded_->clusters.clear();
    recorded_->events = 0;
    recorded_->launched = false;
    recorded_->config = info.config;
}

std::unique_ptr<ClusterListener> Moments::listen(Cluster& cluster) {
    if (cluster.linear_index() >= most_clusters || recorded_->events >= recorded_->most)
        return nullptr;
    return std::make_unique<moments::Writer>(*recorded_, cluster);
}

void Moments::on_launch_end(const LaunchInfo& info) {
    const std::lock_guard lock(recorded_->mutex);
    // By cluster, so that the recording does not depend on which of them ended first.
    std::ranges::sort(recorded_->clusters, {}, &ClusterMoments::cluster);
    recorded_->head = describe_launch(info, recorded_->clusters);
    recorded_->launched = true;
}

} // namespace emu

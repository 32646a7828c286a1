#include "findings/report.hpp"
#include "hopper_emulator/recording.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "machine/cluster.hpp"
#include "recording/tensor_cores.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

namespace emu {
namespace {

const char* name_of(AsyncKind kind) {
    constexpr const char* names[] = {"cp.async",    "bulk load",   "bulk store",   "bulk to cluster",
                                     "bulk reduce", "tensor load", "tensor store", "tensor reduce",
                                     "st.async",    "red.async",   "prefetch",     "cp.async arrive",
                                     "wgmma"};
    static_assert(std::size(names) == static_cast<unsigned>(AsyncKind::wgmma) + 1);
    return names[static_cast<unsigned>(kind)];
}

/// Writes the events of one cluster. Process: the cluster; thread: block rank * 32 + warp.
class ClusterTrace final : public ClusterListener {
  public:
    ClusterTrace(Trace& owner, Cluster& cluster)
        : owner_(owner), cluster_(cluster),
          process_(cluster.info().serial * 1'000'000 + cluster.linear_index()) {
        add("\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":" +
            json_string(cluster.info().kernel->name + ", launch " + std::to_string(cluster.info().serial) +
                        ", cluster " + std::to_string(cluster.linear_index())) +
            "}");
    }
    ~ClusterTrace() override {
        for (const auto& [barrier, open] : at_barrier_)
            stage("e", open.operation, ",\"args\":{\"end\":\"the cluster's end\"}");
        for (const auto& [group, open] : in_group_)
            stage("e", open.operation, ",\"args\":{\"end\":\"the cluster's end\"}");
        tell_lives();
        owner_.add(cluster_.info().serial, cluster_.linear_index(), std::move(events_));
    }

    void on_instruction(Warp& warp, std::uint32_t, LaneMask) override {
        const unsigned number = track(warp);
        if (lives_.size() <= number)
            lives_.resize(number + 1);
        Life& life = lives_[number];
        if (life.instructions++ == 0)
            life.first = now_;
        life.last = ++now_;
    }

    void on_async_issue(const AsyncOperation& operation) override {
        std::uint64_t bytes = 0;
        for (const AsyncPiece& piece : operation.pieces)
            bytes += piece.bytes;
        if (operation.kind == AsyncKind::wgmma)
            tensor_cores_.issued(operation, now_);
        const SourceLine line = source_line(cluster_, operation.pc);
        stage("b", operation,
              ",\"args\":{\"bytes\":" + std::to_string(bytes) +
                  ",\"line\":" + json_string(line.file + ":" + std::to_string(line.line)) +
                  ",\"by\":" + json_string(thread_name(*operation.warp, operation.lane)) + "}");
        if (operation.completion == CompletionKind::mbarrier)
            at_barrier_.emplace(operation.barrier, Open{copy(operation), 0});
        else if (operation.completion != CompletionKind::none)
            in_group_.emplace(key(*operation.warp, operation.lane, operation.completion),
                              Open{copy(operation), operation.group});
    }
    void on_async_landed(const AsyncOperation& operation) override {
        stage("n", operation, ",\"args\":{\"stage\":\"landed\"}");
        if (operation.kind == AsyncKind::wgmma)
            if (const auto busy = tensor_cores_.landed(operation))
                tell(*busy);
        if (operation.completion == CompletionKind::none)
            stage("e", operation, "");
    }
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                                 bool read_only, std::uint32_t) override {
        if (read_only)
            return;
        const auto [first, last] = in_group_.equal_range(key(warp, lane, kind));
        for (auto it = first; it != last;)
            if (it->second.group <= last_group) {
                stage("e", it->second.operation, ",\"args\":{\"end\":\"observed by wait_group\"}");
                it = in_group_.erase(it);
            } else {
                ++it;
            }
    }

    void on_mbarrier_init(const MbarrierEvent& e) override {
        phase_start_[e.address] = now_;
        mark("init", e);
    }
    void on_mbarrier_arrive(const MbarrierEvent& e) override { mark("arrive", e); }
    void on_mbarrier_phase(const MbarrierEvent& e) override {
        mark("complete", e);
        span("barrier", mbarrier_name(e) + " phase " + std::to_string(e.phase), phase_start_[e.address],
             2'000'000 + e.address);
        phase_start_[e.address] = now_;
    }
    void on_mbarrier_observed(const MbarrierEvent& e) override {
        mark("observed", e);
        const auto [first, last] = at_barrier_.equal_range(e.address);
        for (auto it = first; it != last;)
            if (landed_.contains(it->second.operation.id)) {
                stage("e", it->second.operation, ",\"args\":{\"end\":\"observed at the mbarrier\"}");
                it = at_barrier_.erase(it);
            } else {
                ++it;
            }
    }
    void on_async_retired(const AsyncOperation& operation) override { landed_.insert({operation.id, true}); }

    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics) override {
        if (kind != BarrierKind::warp)
            first_arrival_.try_emplace(
                {kind, kind == BarrierKind::block ? lanes.warp->block().rank() : 0, id}, now_);
    }
    void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes>) override {
        if (kind == BarrierKind::warp || arrived.empty())
            return;
        const unsigned rank = kind == BarrierKind::block ? arrived.front().warp->block().rank() : 0;
        const auto first = first_arrival_.find({kind, rank, id});
        if (first == first_arrival_.end())
            return;
        const bool of_block = kind == BarrierKind::block;
        const std::string name = of_block ? "block barrier " + std::to_string(id) : "cluster barrier";
        const std::uint64_t number = 1'000'000 + rank * 16 + id + (of_block ? 0 : 100'000);
        name_track(number,
                   of_block ? "block " + std::to_string(rank) + ", barrier " + std::to_string(id) : name);
        span("barrier", name, first->second, number);
        first_arrival_.erase(first);
    }

  private:
    /// What is kept of an operation, which dies when it is retired.
    struct Known {
        std::uint64_t id;
        AsyncKind kind;
        unsigned thread;
    };
    struct Open {
        Known operation;
        std::uint64_t group;
    };
    using GroupKey = std::tuple<unsigned, unsigned, unsigned, CompletionKind>;

    /// What a warp did: one slice on its track.
    struct Life {
        std::uint64_t first = 0, last = 0, instructions = 0;
    };

    static unsigned track(const Warp& warp) { return warp.block().rank() * 32 + warp.index(); }
    std::string mbarrier_name(const MbarrierEvent& e) const {
        std::string name = "mbarrier " + shared_name(cluster_.info(), shared_offset(e.address));
        if (cluster_.blocks().size() > 1)
            name += " of cluster block " + std::to_string(shared_rank(e.address));
        return name;
    }
    static Known copy(const AsyncOperation& o) { return {o.id, o.kind, track(*o.warp)}; }
    static GroupKey key(const Warp& warp, unsigned lane, CompletionKind kind) {
        return {warp.block().rank(), warp.index(), lane, kind};
    }
    void add(const std::string& body) {
        events_.push_back("{\"pid\":" + std::to_string(process_) + ",\"ts\":" + std::to_string(now_) + "," +
                          body + "}");
    }
    /// A track has a name, once.
    void name_track(std::uint64_t number, const std::string& name) {
        if (!named_.insert(number).second)
            return;
        add("\"ph\":\"M\",\"name\":\"thread_name\",\"tid\":" + std::to_string(number) +
            ",\"args\":{\"name\":" + json_string(name) + "}");
        add("\"ph\":\"M\",\"name\":\"thread_sort_index\",\"tid\":" + std::to_string(number) +
            ",\"args\":{\"sort_index\":" + std::to_string(number) + "}");
    }
    void tell_lives() {
        for (std::size_t number = 0; number < lives_.size(); ++number) {
            const Life& life = lives_[number];
            if (life.instructions == 0)
                continue;
            name_track(number,
                       "block " + std::to_string(number / 32) + ", warp " + std::to_string(number % 32));
            events_.push_back(
                "{\"pid\":" + std::to_string(process_) + ",\"ts\":" + std::to_string(life.first) +
                ",\"dur\":" + std::to_string(life.last - life.first) +
                ",\"ph\":\"X\",\"cat\":\"warp\",\"name\":\"warp\",\"tid\":" + std::to_string(number) +
                ",\"args\":{\"instructions\":" + std::to_string(life.instructions) + "}}");
        }
    }
    void tell(const BusyTensorCores& busy) {
        name_track(busy.lane, TensorCores::name_of(busy.lane));
        span("tensor core", "wgmma", busy.since, busy.lane,
             ",\"args\":{\"products\":" + std::to_string(busy.products) +
                 ",\"form\":" + json_string(busy.form) + "}");
    }
    void stage(const char* phase, const Known& o, const std::string& more) {
        add("\"ph\":\"" + std::string(phase) + "\",\"cat\":\"async\",\"id\":" + std::to_string(o.id) +
            ",\"name\":" + json_string(name_of(o.kind)) + ",\"tid\":" + std::to_string(o.thread) + more);
    }
    void stage(const char* phase, const AsyncOperation& o, const std::string& more) {
        stage(phase, copy(o), more);
    }
    /// One step in the life of an mbarrier, with what it changes: arrivals and bytes.
    void mark(const char* step, const MbarrierEvent& e) {
        name_track(2'000'000 + e.address, mbarrier_name(e));
        const std::string by = e.operation || !e.warp ? "a copy" : thread_name(*e.warp, e.lane);
        add("\"ph\":\"i\",\"s\":\"t\",\"cat\":\"mbarrier\",\"name\":" + json_string(mbarrier_name(e)) +
            ",\"tid\":" + std::to_string(2'000'000 + e.address) + ",\"args\":{\"step\":\"" + step +
            "\",\"phase\":" + std::to_string(e.phase) + ",\"count\":" + std::to_string(e.count) +
            ",\"tx\":" + std::to_string(e.tx) + ",\"by\":" + json_string(by) + "}");
    }
    void span(const char* category, const std::string& name, std::uint64_t start, std::uint64_t track,
              const std::string& more = "") {
        events_.push_back("{\"pid\":" + std::to_string(process_) + ",\"ts\":" + std::to_string(start) +
                          ",\"dur\":" + std::to_string(now_ - start) + ",\"ph\":\"X\",\"cat\":\"" + category +
                          "\",\"name\":" + json_string(name) + ",\"tid\":" + std::to_string(track) + more +
                          "}");
    }

    Trace& owner_;
    Cluster& cluster_;
    std::uint64_t process_;
    std::uint64_t now_ = 0;
    std::vector<std::string> events_;
    std::vector<Life> lives_;       ///< By track.
    std::set<std::uint64_t> named_; ///< Tracks.
    TensorCores tensor_cores_;
    std::multimap<std::uint32_t, Open> at_barrier_;
    std::multimap<GroupKey, Open> in_group_;
    std::map<std::uint64_t, bool> landed_;
    std::map<std::uint32_t, std::uint64_t> phase_start_;
    std::map<std::tuple<BarrierKind, unsigned, unsigned>, std::uint64_t> first_arrival_;
};

} // namespace

std::unique_ptr<ClusterListener> Trace::listen(Cluster& cluster) {
    if (cluster.linear_index() >= traced_clusters)
        return nullptr;
    return std::make_unique<ClusterTrace>(*this, cluster);
}

void Trace::add(std::uint64_t serial, std::uint64_t cluster, std::vector<std::string> events) {
    const std::lock_guard lock(mutex_);
    launches_[serial].emplace_back(cluster, std::move(events));
}

std::string Trace::json() const {
    std::string text =
        "{\"otherData\":{\"axis\":\"warp instructions executed by the cluster, not time\",\"traced\":"
        "\"clusters 0 to " +
        std::to_string(traced_clusters - 1) +
        " of each launch\",\"truncated\":" + (truncated_ ? "true" : "false") + "},\"traceEvents\":[\n";
    const char* separator = "";
    for (const std::string& event : events_) {
        text += separator + event;
        separator = ",\n";
    }
    return text + "\n]}\n";
}

void Trace::on_launch_end(const LaunchInfo& info) {
    const std::lock_guard lock(mutex_);
    auto ended = launches_.extract(info.serial);
    if (ended.empty())
        return;
    ByCluster& launch = ended.mapped();
    // By cluster, so that the file does not depend on host threads.
    std::ranges::sort(launch, {}, [](const auto& each) { return each.first; });
    for (auto& [cluster, events] : launch) {
        truncated_ |= events_.size() + events.size() > max_events;
        if (!truncated_)
            std::ranges::move(events, std::back_inserter(events_));
    }
    if (file_.empty())
        return;
    std::ofstream out(file_, std::ios::trunc);
    out << json() << std::flush;
    if (!out)
        lose_output(Output::trace, file_);
}

} // namespace emu

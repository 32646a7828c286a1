// Tensor maps in global memory and the proxy through which the TMA reads them.

#include "rules/tensor_maps.hpp"
#include "machine/device.hpp"
#include "machine/reports.hpp"
#include "rules/race.hpp"

#include <algorithm>

namespace emu::check {
namespace {

constexpr std::uint32_t map_bytes = TensorMapHistory::map_bytes;

const char* const how_to_acquire =
    "In each block that uses the map, a thread executes fence.proxy.tensormap::generic.acquire on it "
    "(cuda::ptx::fence_proxy_tensormap_generic with sem_acquire) behind the change and before the copy; "
    "other threads of the block follow behind a __syncthreads().";

bool is_map_in_global_memory(const Cluster& cluster, Address map) {
    const auto allocation = cluster.launch().device().memory().find(map);
    if (!allocation || allocation->kind == Allocation::Kind::parameters)
        return false;
    if (allocation->kind != Allocation::Kind::module)
        return true;
    const Program& program = *cluster.info().kernel->program;
    const auto& variables = program.module().variables;
    for (std::uint32_t i = 0; i < variables.size(); ++i)
        if (variables[i].space == ptx::Space::constant && program.variable_address(i) == allocation->base)
            return false;
    return true;
}

} // namespace

void TensorMapHistory::changed(Address map, std::span<const std::byte> bytes, SourceLine line) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[map];
    entry.changed_now = std::move(line);
    std::ranges::copy(bytes, entry.left.begin());
}

std::optional<TensorMapHistory::Stale> TensorMapHistory::use(Address map, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[map];
    const auto holds = [&](const Bytes& old) { return std::ranges::equal(old, bytes); };
    if (!entry.used_now)
        std::ranges::copy(bytes, entry.used_now.emplace().begin());
    if (entry.changed && holds(entry.left))
        return Stale{true, *entry.changed};
    if (entry.used_before && !holds(*entry.used_before))
        return Stale{};
    return std::nullopt;
}

void TensorMapHistory::end_launch() {
    const std::lock_guard lock(mutex_);
    for (auto& [address, entry] : entries_) {
        if (entry.used_now)
            entry.used_before = std::exchange(entry.used_now, std::nullopt);
        if (entry.changed_now)
            entry.changed = std::exchange(entry.changed_now, std::nullopt);
    }
}

bool TensorMapFences::Fence::knows(std::uint32_t in_cluster, Component component,
                                   Epoch epoch_of_access) const {
    if (in_cluster == cluster)
        return (component == first + lane && epoch >= epoch_of_access) ||
               (knowledge && knowledge->clock.get(order, component) >= epoch_of_access);
    if (!knowledge || !knowledge->foreign)
        return false;
    const auto found = knowledge->foreign->find(in_cluster);
    return found != knowledge->foreign->end() && found->second->get(order, component) >= epoch_of_access;
}

void TensorMapFences::add(std::vector<Fence>& fences, Fence fence) {
    const auto same = [&](const Fence& f) {
        return f.first == fence.first && f.lane == fence.lane && f.map == fence.map;
    };
    if (static_cast<std::size_t>(std::ranges::count_if(fences, same)) >= kept)
        fences.erase(std::ranges::find_if(fences, same));
    fences.push_back(std::move(fence));
}

void TensorMapReleases::add(const TensorMapFences::Fence& fence) {
    TensorMapFences::Fence plain = fence;
    plain.knowledge = {};
    const std::lock_guard lock(mutex_);
    by_cluster_[fence.cluster].add_release(std::move(plain));
}

std::vector<TensorMapFences::Fence> TensorMapReleases::of(std::uint32_t cluster) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_cluster_.find(cluster);
    if (found == by_cluster_.end())
        return {};
    const auto releases = found->second.releases();
    return {releases.begin(), releases.end()};
}

// -- the checker's part

void Checker::note_tensor_map_fence(const FenceEvent& event) {
    WarpClock& clock = threads_.of(*event.warp);
    for_lanes(event.mask, [&](unsigned lane) {
        TensorMapFences::Fence fence;
        fence.cluster = threads_.cluster();
        fence.first = clock.first;
        fence.lane = lane;
        fence.epoch = clock.now;
        fence.knowledge = clock.base[lane];
        fence.rank = event.warp->block().rank();
        if (event.release) {
            launch_.tensor_map_releases.add(fence);
            tensor_map_fences_.add_release(fence);
        }
        if (event.acquire && event.addresses) {
            fence.map = event.addresses[lane];
            tensor_map_fences_.add_acquire(std::move(fence));
        }
    });
    threads_.advance(clock);
}

void Checker::on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map,
                                   AccessKind kind) {
    WarpClock& clock = threads_.of(warp);
    Actor actor;
    actor.clock = &clock;
    actor.lane = lane;
    actor.is_write = kind == AccessKind::write;
    actor.shared = in_shared_window(map);
    unsigned flags = Record::by_lane;
    if (actor.is_write)
        flags |= Record::write;
    if (actor.shared)
        flags |= Record::local;
    const std::uint32_t id = record_for(clock, pc, flags);
    actor.record = &store(actor.shared)[id];
    actor.ref = make_ref(id, lane);
    const Address base = actor.shared ? shared_window : 0;
    access_one(actor, map - base, map_bytes);
    if (!actor.is_write || actor.shared)
        return;
    if (const std::byte* const bytes = cluster_.global_bytes(map, map_bytes))
        launch_.tensor_maps.changed(map, {bytes, map_bytes},
                                    cluster_.source_line(pc, "changed by " + thread_name(warp, lane)));
}

/// Whether a release fence that the acquire knows of covers the write.
bool Checker::is_released(const Record& write, Component writer,
                          const TensorMapFences::Fence& acquire) const {
    if (cluster_.info().kernel->sources[write.pc]->has("cp_fenceproxy"))
        return true;
    const auto known = [&](const TensorMapFences::Fence& release) {
        return acquire.knows(release.cluster, release.first + release.lane, release.epoch);
    };
    if (write.cluster != threads_.cluster()) // What those knew is not kept.
        return std::ranges::any_of(launch_.tensor_map_releases.of(write.cluster), known);
    return std::ranges::any_of(tensor_map_fences_.releases(), [&](const TensorMapFences::Fence& release) {
        return known(release) && release.knows(write.cluster, writer, write.epoch);
    });
}

/// What a block lacks that uses a map which this launch has changed; nothing if all is well.
const char* Checker::lacking_for_map(const Record& write, Ref ref,
                                     std::span<const TensorMapFences::Fence* const> acquires) const {
    const char* lacking = "no thread of its block has acquired the change";
    // A map is copied by a whole warp: whoever knows of one lane knows of it.
    const bool by_warp = cluster_.info().kernel->sources[write.pc]->has("cp_fenceproxy");
    const Component writer = Threads::component_of(write, ref, 0);
    for (const TensorMapFences::Fence* acquire : acquires) {
        bool known = acquire->knows(write.cluster, writer, write.epoch);
        for (unsigned i = 0; by_warp && i < warp_size; ++i)
            known |= acquire->knows(write.cluster, write.component + i, write.epoch);
        if (!known)
            lacking = "the acquire in its block does not come behind the change";
        else if (!is_released(write, writer, *acquire))
            lacking = "nothing releases the change to that proxy";
        else
            return nullptr;
    }
    return lacking;
}

void Checker::check_tensor_map(const AsyncOperation& operation, const WarpClock& clock) {
    const Address map = operation.tensor_map;
    if (!is_map_in_global_memory(cluster_, map))
        return;
    const std::byte* const bytes = cluster_.global_bytes(map, map_bytes);
    if (!bytes)
        return;
    const auto stale = launch_.tensor_maps.use(map, {bytes, map_bytes});
    std::vector<const TensorMapFences::Fence*> acquires;
    for (const TensorMapFences::Fence& fence : tensor_map_fences_.acquires()) {
        Record executed;
        executed.cluster = fence.cluster;
        executed.epoch = fence.epoch;
        if (fence.map == map && fence.rank == operation.warp->block().rank() &&
            threads_.sees(clock, operation.lane, executed, fence.first + fence.lane))
            acquires.push_back(&fence);
    }
    const std::vector<Ref> writes = writes_of(map, map_bytes);
    for (const Ref ref : writes)
        if (const Record& write = launch_.records[record_of(ref)];
            write.epoch && !write.is(Record::same_value) && !write.is(Record::async))
            if (const char* lacking = lacking_for_map(write, ref, acquires))
                return tell_stale_map(
                    operation, "changed in this launch, and " + std::string(lacking),
                    cluster_.source_line(write.pc, "changed by " + who(write, ref, 0)),
                    std::string_view(lacking).starts_with("nothing")
                        ? "The thread that changed the map executes fence.proxy.tensormap::generic.release "
                          "behind the change and before the barrier or flag that tells others "
                          "(cuda::ptx::fence_proxy_tensormap_generic with sem_release), or changes it in "
                          "shared memory and copies it with tensormap.cp_fenceproxy."
                        : how_to_acquire,
                    false);
    if (writes.empty() && stale && acquires.empty())
        tell_stale_map(
            operation,
            stale->by_kernel
                ? "changed by an earlier launch, and no thread of its block has acquired the change"
                : "changed after an earlier launch had used it, and no thread of its block has acquired the "
                  "change",
            stale->by_kernel ? std::optional(stale->line) : std::nullopt, how_to_acquire, !stale->by_kernel);
}

void Checker::tell_stale_map(const AsyncOperation& operation, const std::string& what,
                             std::optional<SourceLine> change, const char* advice, bool warning) {
    if (!first_time(Finding::missing_proxy_fence, operation.pc, change ? change->line : operation.pc))
        return;
    const auto allocation = cluster_.launch().device().memory().find(operation.tensor_map);
    const std::string offset = std::to_string(operation.tensor_map - allocation->base);
    const std::string user = thread_name(*operation.warp, operation.lane);
    std::vector<SourceLine> lines;
    if (change)
        lines.push_back(std::move(*change));
    lines.push_back(cluster_.source_line(operation.pc, "tensor copy issued by " + user));
    publish(Finding::missing_proxy_fence,
            "The tensor copy that " + user + " issues reads the tensor map at " +
                (allocation->name.empty() ? "offset " + offset + " of a global allocation of " +
                                                std::to_string(allocation->size) + " bytes"
                                          : allocation->name + " + " + offset + " in global memory") +
                ". The map was " + what +
                ". Tensor copies read maps through the tensormap proxy, which may still hold the map from "
                "before.",
            advice, std::move(lines), warning);
}

} // namespace emu::check

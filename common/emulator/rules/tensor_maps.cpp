// Tensor maps in global memory and the proxy through which the TMA reads them.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/device.hpp"
#include "rules/analysis/tensor_map_history.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace emu::check {
namespace {

constexpr std::uint32_t map_bytes = TensorMapHistory::map_bytes;

const char* const how_to_acquire =
    "In each block that uses the map, a thread executes fence.proxy.tensormap::generic.acquire on it "
    "(cuda::ptx::fence_proxy_tensormap_generic with sem_acquire) after the change and before the copy; "
    "other threads of the block follow after a __syncthreads().";
const char* const how_to_release =
    "The thread that changed the map executes fence.proxy.tensormap::generic.release after the change and "
    "before the barrier or flag that tells others (cuda::ptx::fence_proxy_tensormap_generic with "
    "sem_release), or changes it in shared memory and copies it with tensormap.cp_fenceproxy.";

/// What a block lacks that uses a map which this launch has changed.
struct Lacking {
    std::string what;
    std::string advice;
    explicit operator bool() const { return !what.empty(); }
};

Scope scope_of(const ptx::Instruction& instruction) {
    for (const auto& [name, scope] :
         {std::pair{"cta", Scope::cta}, std::pair{"cluster", Scope::cluster}, std::pair{"gpu", Scope::gpu}})
        if (instruction.has(name))
            return scope;
    return Scope::sys;
}

class TensorMaps final : public Rule {
  public:
    explicit TensorMaps(const Desk& desk)
        : Rule(desk), history_(launch_.device.get<TensorMapHistory>()),
          releases_(launch_.shelf.get<TensorMapReleases>(std::make_shared<TensorMapReleases>)) {}
    void on_fence(const FenceEvent& event) override;
    void on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map,
                              AccessKind kind) override;
    void on_async_issue(const AsyncOperation& operation) override;

  private:
    using Fence = TensorMapFences::Fence;

    std::optional<Scope> released_at(const Record& write, Component writer, const Fence* acquire) const;
    bool reaches(Scope scope, const Record& write, unsigned rank) const;
    Lacking lacking_in(const Record& write, Ref ref, const Fence& acquire) const;
    Lacking lacking_for_map(const Record& write, Ref ref, std::span<const Fence* const> acquires) const;
    void tell_stale_map(const AsyncOperation& operation, const std::string& what,
                        std::optional<SourceLine> change, const std::string& advice, bool warning);

    TensorMapHistory& history_;
    TensorMapReleases& releases_;
    TensorMapFences fences_;
};

void TensorMaps::on_fence(const FenceEvent& event) {
    if (event.kind != FenceKind::proxy_tensormap)
        return;
    const WarpClock& clock = threads_.of(*event.warp);
    for_lanes(event.mask, [&](unsigned lane) {
        TensorMapFences::Fence fence;
        fence.cluster = threads_.cluster();
        fence.first = clock.first;
        fence.lane = lane;
        fence.epoch = clock.now;
        fence.knowledge = clock.base[lane];
        fence.rank = event.warp->block().rank();
        fence.scope = event.scope;
        if (event.release) {
            releases_.add(fence);
            fences_.add_release(fence);
        }
        if (event.acquire && event.addresses) {
            fence.map = event.addresses[lane];
            fences_.add_acquire(std::move(fence));
        }
    });
}

void TensorMaps::on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map,
                                      AccessKind kind) {
    if (kind != AccessKind::write || in_shared_window(map))
        return;
    if (const std::byte* const bytes = cluster_.global_bytes(map, map_bytes))
        history_.changed(map, {bytes, map_bytes}, line(pc, "changed by " + thread_name(warp, lane)));
}

/// The scope of the widest release fence that covers the write and of which the acquire (if there is one)
/// knows.
std::optional<Scope> TensorMaps::released_at(const Record& write, Component writer,
                                             const Fence* acquire) const {
    if (instruction(write.pc).has("cp_fenceproxy"))
        return scope_of(instruction(write.pc));
    std::optional<Scope> widest;
    const auto take = [&](const Fence& release) {
        if (!acquire || acquire->knows(release.cluster, release.first + release.lane, release.epoch))
            widest = std::max(widest.value_or(Scope::cta), release.scope);
    };
    if (write.cluster != threads_.cluster()) // What those knew is not kept.
        std::ranges::for_each(releases_.of(write.cluster), take);
    else
        for (const Fence& release : fences_.releases())
            if (release.knows(write.cluster, writer, write.epoch))
                take(release);
    return widest;
}

/// Whether a fence of this scope orders the writer and the block of this rank.
bool TensorMaps::reaches(Scope scope, const Record& write, unsigned rank) const {
    if (write.cluster != threads_.cluster())
        return scope >= Scope::gpu;
    return write.rank() == rank || scope >= Scope::cluster;
}

/// What is wrong with an acquire of the map; nothing if all is well.
Lacking TensorMaps::lacking_in(const Record& write, Ref ref, const Fence& acquire) const {
    const Component writer = Threads::component_of(write, ref, 0);
    bool known = acquire.knows(write.cluster, writer, write.epoch);
    // A map is copied by a whole warp: whoever knows of one lane knows of it.
    if (instruction(write.pc).has("cp_fenceproxy"))
        for (unsigned i = 0; i < warp_size; ++i)
            known |= acquire.knows(write.cluster, write.component + i, write.epoch);
    if (!known)
        return {"the acquire in its block does not come after the change", how_to_acquire};
    const std::optional<Scope> released = released_at(write, writer, &acquire);
    if (!released)
        return {"nothing releases the change to that proxy", how_to_release};
    const bool far = write.cluster != threads_.cluster();
    const std::string needed = far ? "gpu" : "cluster";
    const std::string other = far ? "cluster" : "block";
    const auto at = [](Scope scope) {
        return std::string(scope == Scope::cta ? ".cta" : ".cluster") + " scope";
    };
    if (!reaches(acquire.scope, write, acquire.rank))
        return {"the change was acquired at " + at(acquire.scope) + ", but made in another " + other,
                "Acquire it at a scope that takes in both: fence.proxy.tensormap::generic.acquire." + needed +
                    (far ? "." : " (or .gpu).")};
    if (!reaches(*released, write, acquire.rank))
        return {"the change was released at " + at(*released) + ", but is used in another " + other,
                "Release it at a scope that takes in both: fence.proxy.tensormap::generic.release." + needed +
                    ", or that scope in tensormap.cp_fenceproxy."};
    return {};
}

/// What a block lacks that uses a map which this launch has changed; nothing if all is well.
Lacking TensorMaps::lacking_for_map(const Record& write, Ref ref,
                                    std::span<const Fence* const> acquires) const {
    Lacking lacking{"no thread of its block has acquired the change", how_to_acquire};
    if (acquires.empty() && !released_at(write, Threads::component_of(write, ref, 0), nullptr))
        lacking = {lacking.what + ", and nothing has released it to that proxy",
                   std::string(how_to_release) + " Then: " + how_to_acquire};
    for (const Fence* acquire : acquires)
        if (lacking = lacking_in(write, ref, *acquire); !lacking)
            break;
    return lacking;
}

void TensorMaps::on_async_issue(const AsyncOperation& operation) {
    const Address map = operation.tensor_map;
    const WarpClock& clock = threads_.of(*operation.warp);
    if (!map || !is_map_in_global_memory(cluster_, map))
        return;
    const std::byte* const bytes = cluster_.global_bytes(map, map_bytes);
    if (!bytes)
        return;
    const auto stale = history_.use(map, {bytes, map_bytes});
    std::vector<const TensorMapFences::Fence*> acquires;
    for (const TensorMapFences::Fence& fence : fences_.acquires()) {
        Record executed;
        executed.cluster = fence.cluster;
        executed.epoch = fence.epoch;
        if (fence.map == map && fence.rank == operation.warp->block().rank() &&
            threads_.sees(clock, operation.lane, executed, fence.first + fence.lane))
            acquires.push_back(&fence);
    }
    const std::vector<Ref> writes = engine_.writes_of(map, map_bytes);
    for (const Ref ref : writes)
        if (const Record& write = launch_.records[record_of(ref)];
            write.epoch && !write.is(Record::same_value) && !write.is(Record::async))
            if (const Lacking lacking = lacking_for_map(write, ref, acquires))
                return tell_stale_map(operation, "changed in this launch, and " + lacking.what,
                                      line(write.pc, "changed by " + who(cluster_, write, ref, 0)),
                                      lacking.advice, false);
    if (!writes.empty() || !acquires.empty())
        return;
    if (!stale)
        return tell_stale_map(
            operation,
            "written by the host or by an earlier launch, and no thread of its block has "
            "acquired it",
            std::nullopt,
            "One thread of each block executes fence.proxy.tensormap::generic.acquire.sys on "
            "the map (128 bytes) before the copy, and the others follow after a "
            "__syncthreads(); or pass the map as a const __grid_constant__ CUtensorMap "
            "parameter, which needs none.",
            true);
    tell_stale_map(
        operation,
        stale->by_kernel
            ? "changed by an earlier launch, and no thread of its block has acquired the change"
            : "changed after an earlier launch had used it, and no thread of its block has acquired the "
              "change",
        stale->by_kernel ? std::optional(stale->line) : std::nullopt, how_to_acquire, !stale->by_kernel);
}

void TensorMaps::tell_stale_map(const AsyncOperation& operation, const std::string& what,
                                std::optional<SourceLine> change, const std::string& advice, bool warning) {
    if (!first_time(Finding::missing_proxy_fence, operation.pc, change ? change->line : operation.pc))
        return;
    const auto allocation = cluster_.launch().device().memory().find(operation.tensor_map);
    const std::string offset = std::to_string(operation.tensor_map - allocation->base);
    const std::string user = thread_name(*operation.warp, operation.lane);
    std::vector<SourceLine> lines;
    if (change)
        lines.push_back(std::move(*change));
    lines.push_back(line(operation.pc, "tensor copy issued by " + user));
    publish(Finding::missing_proxy_fence,
            "The tensor copy that " + user + " issues reads the tensor map at " +
                (allocation->name.empty()
                     ? "offset " + offset + " of a global allocation of " + count_of(allocation->size, "byte")
                     : allocation->name + " + " + offset + " in global memory") +
                ". The map was " + what +
                ". Tensor copies read maps through the tensormap proxy, which may still hold the map from "
                "before.",
            advice, std::move(lines), warning);
}

} // namespace

std::unique_ptr<Rule> make_tensor_maps(const Desk& desk) { return std::make_unique<TensorMaps>(desk); }

} // namespace emu::check

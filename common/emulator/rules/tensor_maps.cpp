// Tensor maps in global memory and the proxy through which the TMA reads them.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "machine/device.hpp"
#include "rules/analysis/tensor_map_history.hpp"
#include "rules/rule.hpp"

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
    bool is_released(const Record& write, Component writer, const TensorMapFences::Fence& acquire) const;
    const char* lacking_for_map(const Record& write, Ref ref,
                                std::span<const TensorMapFences::Fence* const> acquires) const;
    void tell_stale_map(const AsyncOperation& operation, const std::string& what,
                        std::optional<SourceLine> change, const char* advice, bool warning);

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

/// Whether a release fence that the acquire knows of covers the write.
bool TensorMaps::is_released(const Record& write, Component writer,
                             const TensorMapFences::Fence& acquire) const {
    if (instruction(write.pc).has("cp_fenceproxy"))
        return true;
    const auto known = [&](const TensorMapFences::Fence& release) {
        return acquire.knows(release.cluster, release.first + release.lane, release.epoch);
    };
    if (write.cluster != threads_.cluster()) // What those knew is not kept.
        return std::ranges::any_of(releases_.of(write.cluster), known);
    return std::ranges::any_of(fences_.releases(), [&](const TensorMapFences::Fence& release) {
        return known(release) && release.knows(write.cluster, writer, write.epoch);
    });
}

/// What a block lacks that uses a map which this launch has changed; nothing if all is well.
const char* TensorMaps::lacking_for_map(const Record& write, Ref ref,
                                        std::span<const TensorMapFences::Fence* const> acquires) const {
    const char* lacking = "no thread of its block has acquired the change";
    // A map is copied by a whole warp: whoever knows of one lane knows of it.
    const bool by_warp = instruction(write.pc).has("cp_fenceproxy");
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
            if (const char* lacking = lacking_for_map(write, ref, acquires))
                return tell_stale_map(
                    operation, "changed in this launch, and " + std::string(lacking),
                    line(write.pc, "changed by " + who(cluster_, write, ref, 0)),
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

void TensorMaps::tell_stale_map(const AsyncOperation& operation, const std::string& what,
                                std::optional<SourceLine> change, const char* advice, bool warning) {
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
                (allocation->name.empty() ? "offset " + offset + " of a global allocation of " +
                                                std::to_string(allocation->size) + " bytes"
                                          : allocation->name + " + " + offset + " in global memory") +
                ". The map was " + what +
                ". Tensor copies read maps through the tensormap proxy, which may still hold the map from "
                "before.",
            advice, std::move(lines), warning);
}

} // namespace

std::unique_ptr<Rule> make_tensor_maps(const Desk& desk) { return std::make_unique<TensorMaps>(desk); }

} // namespace emu::check

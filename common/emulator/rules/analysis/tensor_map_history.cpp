#include "rules/analysis/tensor_map_history.hpp"

#include "machine/device.hpp"

#include <algorithm>

namespace emu::check {

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

void TensorMapHistory::end_launches() {
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

} // namespace emu::check

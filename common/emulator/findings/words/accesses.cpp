#include "findings/words/accesses.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "machine/device.hpp"
#include "machine/variable_names.hpp"

namespace emu::check {
namespace {

std::string triple(const Dim3& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

Dim3 position(std::uint64_t linear, const Dim3& shape) {
    return {static_cast<std::uint32_t>(linear % shape.x),
            static_cast<std::uint32_t>(linear / shape.x % shape.y),
            static_cast<std::uint32_t>(linear / shape.x / shape.y)};
}

} // namespace

const char* name_of(AsyncKind kind) {
    switch (kind) {
    case AsyncKind::cp_async:
    case AsyncKind::cp_async_arrive:
        return "cp.async";
    case AsyncKind::bulk_load:
        return "bulk load";
    case AsyncKind::bulk_store:
        return "bulk store";
    case AsyncKind::bulk_shared:
        return "bulk copy to shared memory of the cluster";
    case AsyncKind::bulk_reduce:
        return "bulk reduction";
    case AsyncKind::tensor_load:
        return "tensor load";
    case AsyncKind::tensor_store:
        return "tensor store";
    case AsyncKind::tensor_reduce:
        return "tensor reduction";
    case AsyncKind::st_async:
        return "st.async";
    case AsyncKind::red_async:
        return "red.async";
    case AsyncKind::wgmma:
        return "wgmma";
    case AsyncKind::prefetch:
        return "prefetch";
    }
    return "asynchronous operation";
}

std::string verb(const Record& record) {
    if (record.is(Record::async))
        return record.is(Record::write) ? "written by" : "read by";
    if (record.is(Record::strong) && record.is(Record::write))
        return "atomic access by";
    return record.is(Record::write) ? "write by" : "read by";
}

std::string who(Cluster& cluster, const Record& record, Ref ref, unsigned k) {
    const LaunchConfig& c = cluster.info().config;
    const Dim3 clusters{c.grid.x / c.cluster.x, c.grid.y / c.cluster.y, c.grid.z / c.cluster.z};
    const Dim3 corner = position(record.cluster, clusters);
    const Dim3 within = position(record.rank(), c.cluster);
    const Dim3 block{corner.x * c.cluster.x + within.x, corner.y * c.cluster.y + within.y,
                     corner.z * c.cluster.z + within.z};
    const Dim3 thread = position(record.warp_in_block() * warp_size + lane_at(ref, record, k), c.block);
    const auto& sources = cluster.info().kernel->sources;
    const bool is_warp =
        record.is(Record::async) && record.pc < sources.size() && sources[record.pc]->opcode == "wgmma";
    return (is_warp ? "the warp of thread " : "thread ") + triple(thread) + " of block " + triple(block);
}

std::string who(Cluster& cluster, const Actor& actor, unsigned k) {
    return who(cluster, *actor.record, actor.ref, k);
}

std::string place(Cluster& cluster, const Actor& actor, unsigned k, unsigned n) {
    const std::string bytes = std::to_string(n) + (n == 1 ? " byte" : " bytes") + " at ";
    if (actor.shared) {
        const auto at = static_cast<std::uint32_t>(actor.word) + k;
        std::string text = bytes + shared_name(cluster.info(), shared_offset(at));
        if (cluster.launch().info().config.cluster.volume() > 1)
            text += " in the shared memory of cluster rank " + std::to_string(shared_rank(at));
        return text;
    }
    const auto allocation = cluster.launch().device().memory().find(actor.word + k);
    if (!allocation)
        return bytes + "global memory";
    const std::uint64_t offset = actor.word + k - allocation->base;
    if (allocation->name.empty())
        return bytes + "offset " + std::to_string(offset) + " of a global allocation of " +
               count_of(allocation->size, "byte");
    return bytes + global_byte_name(*cluster.info().kernel->program, *allocation, offset) +
           " in global memory";
}

std::string barrier_name(Cluster& cluster, std::uint32_t address) {
    std::string name = "mbarrier " + shared_name(cluster.info(), shared_offset(address));
    if (cluster.blocks().size() > 1)
        name += " of cluster block " + std::to_string(shared_rank(address));
    return name + initialised_at(cluster, address);
}

SourceLine line_of(Cluster& cluster, const Actor& actor, std::string role) {
    const Record& mine = *actor.record;
    if (mine.is(Record::async)) // Issued a while ago.
        return source_line(cluster, mine.pc, std::move(role));
    const Warp& warp = *cluster.block(mine.rank())->warps()[mine.warp_in_block()];
    return source_line(warp, lane_of(actor.ref), mine.pc, std::move(role));
}

} // namespace emu::check

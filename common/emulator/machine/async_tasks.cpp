#include "machine/async_tasks.hpp"

#include <cstring>

namespace emu {

AsyncOperation make_operation(const Place& place, AsyncKind kind, CompletionKind completion) {
    AsyncOperation operation;
    operation.kind = kind;
    operation.completion = completion;
    operation.warp = &place.warp;
    operation.lane = place.lane;
    operation.pc = place.pc;
    return operation;
}

void CopyTask::read(Cluster& cluster) {
    buffer_.fill(std::byte{0});
    if (source_bytes)
        std::memcpy(buffer_.data(), cluster.memory().bytes(source), source_bytes);
}

void CopyTask::write(Cluster& cluster) {
    if (std::byte* to = cluster.shared_bytes(destination, bytes))
        std::memcpy(to, buffer_.data(), bytes);
}

void BulkTask::read(Cluster& cluster) {
    buffer_.resize(bytes);
    if (const std::byte* from = source.bytes(cluster, bytes); from && bytes)
        std::memcpy(buffer_.data(), from, bytes);
}

void BulkTask::write(Cluster& cluster) {
    std::byte* to = destination.bytes(cluster, bytes);
    if (!to || bytes == 0)
        return;
    if (reduction)
        reduction->apply(to, buffer_.data(), bytes);
    else
        std::memcpy(to, buffer_.data(), bytes);
}

void StoreTask::write(Cluster& cluster) {
    std::byte* to = cluster.shared_bytes(destination, bytes);
    if (!to)
        return;
    if (reduction)
        reduction->apply(to, value.data(), bytes);
    else
        std::memcpy(to, value.data(), bytes);
}

} // namespace emu

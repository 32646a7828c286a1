#include "cuda/copy.hpp"

#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <type_traits>

namespace emu::cuda {
namespace {

std::byte* at(void* base, std::size_t x, std::size_t y, std::size_t z, std::size_t pitch, std::size_t slice) {
    return static_cast<std::byte*>(base) + x + y * pitch + z * slice;
}

void refuse_arrays(const void* a, const void* b) {
    if (a || b)
        throw ApiError(Error::not_supported, "CUDA arrays are not supported");
}

template <class Copy>
CopyOperation box_between_pointers(const Copy* copy, abi::CopyKind kind) {
    if (!copy)
        throw ApiError(Error::invalid_value);
    refuse_arrays(copy->source_array, copy->destination_array);
    CopyOperation c;
    c.source_pitch = copy->source.pitch;
    c.source_slice = copy->source.pitch * copy->source.y_size;
    c.destination_pitch = copy->destination.pitch;
    c.destination_slice = copy->destination.pitch * copy->destination.y_size;
    const auto from = copy->source_position, to = copy->destination_position;
    c.source = at(copy->source.pointer, from.x, from.y, from.z, c.source_pitch, c.source_slice);
    c.destination = at(copy->destination.pointer, to.x, to.y, to.z, c.destination_pitch, c.destination_slice);
    c.width = copy->extent.width;
    c.height = copy->extent.height;
    c.depth = copy->extent.depth;
    c.kind = kind;
    return c;
}

bool is_host(abi::DriverMemoryType type) { return type == abi::DriverMemoryType::host; }

abi::CopyKind kind_of(abi::DriverMemoryType from, abi::DriverMemoryType to) {
    using abi::CopyKind;
    using abi::DriverMemoryType;
    if (from == DriverMemoryType::array || to == DriverMemoryType::array)
        throw ApiError(Error::not_supported, "CUDA arrays are not supported");
    if (from == DriverMemoryType::unified || to == DriverMemoryType::unified)
        return CopyKind::by_address;
    if (is_host(from))
        return is_host(to) ? CopyKind::host_to_host : CopyKind::host_to_device;
    return is_host(to) ? CopyKind::device_to_host : CopyKind::device_to_device;
}

void* pointer_of(abi::DriverMemoryType type, const void* host, std::uint64_t device) {
    return is_host(type) ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
}

} // namespace

CopyOperation rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, abi::CopyKind kind) {
    CopyOperation c;
    c.destination = static_cast<std::byte*>(to);
    c.source = static_cast<const std::byte*>(from);
    c.destination_pitch = to_pitch;
    c.source_pitch = from_pitch;
    c.width = width;
    c.height = height;
    c.kind = kind;
    return c;
}

CopyOperation flat(void* to, const void* from, std::size_t count, abi::CopyKind kind) {
    return rows(to, count, from, count, count, 1, kind);
}

CopyOperation box(const abi::Copy3D* copy) {
    return box_between_pointers(copy, copy ? copy->kind : abi::CopyKind::by_address);
}
CopyOperation box(const abi::Copy3DPeer* copy) {
    return box_between_pointers(copy, abi::CopyKind::device_to_device);
}

CopyOperation box(const abi::DriverCopy2D* copy) {
    if (!copy)
        throw ApiError(Error::invalid_value);
    CopyOperation c;
    c.kind = kind_of(copy->source_type, copy->destination_type);
    c.source_pitch = copy->source_pitch ? copy->source_pitch : copy->width;
    c.destination_pitch = copy->destination_pitch ? copy->destination_pitch : copy->width;
    c.source = at(pointer_of(copy->source_type, copy->source_host, copy->source_device), copy->source_x,
                  copy->source_y, 0, c.source_pitch, 0);
    c.destination = at(pointer_of(copy->destination_type, copy->destination_host, copy->destination_device),
                       copy->destination_x, copy->destination_y, 0, c.destination_pitch, 0);
    c.width = copy->width;
    c.height = copy->height;
    return c;
}

CopyOperation box(const abi::DriverCopy3D* copy) {
    if (!copy)
        throw ApiError(Error::invalid_value);
    CopyOperation c;
    c.kind = kind_of(copy->source_type, copy->destination_type);
    c.source_pitch = copy->source_pitch ? copy->source_pitch : copy->width;
    c.destination_pitch = copy->destination_pitch ? copy->destination_pitch : copy->width;
    c.source_slice = c.source_pitch * (copy->source_height ? copy->source_height : copy->height);
    c.destination_slice =
        c.destination_pitch * (copy->destination_height ? copy->destination_height : copy->height);
    c.source = at(pointer_of(copy->source_type, copy->source_host, copy->source_device), copy->source_x,
                  copy->source_y, copy->source_z, c.source_pitch, c.source_slice);
    c.destination = at(pointer_of(copy->destination_type, copy->destination_host, copy->destination_device),
                       copy->destination_x, copy->destination_y, copy->destination_z, c.destination_pitch,
                       c.destination_slice);
    c.width = copy->width;
    c.height = copy->height;
    c.depth = copy->depth;
    return c;
}

abi::Copy3D to_runtime(const abi::DriverCopy3D& copy) {
    const auto or_else = [](std::size_t given, std::size_t fallback) { return given ? given : fallback; };
    abi::Copy3D c{};
    c.kind = kind_of(copy.source_type, copy.destination_type);
    c.source_position = {copy.source_x, copy.source_y, copy.source_z};
    c.source = {pointer_of(copy.source_type, copy.source_host, copy.source_device),
                or_else(copy.source_pitch, copy.width), copy.width, or_else(copy.source_height, copy.height)};
    c.destination_position = {copy.destination_x, copy.destination_y, copy.destination_z};
    c.destination = {pointer_of(copy.destination_type, copy.destination_host, copy.destination_device),
                     or_else(copy.destination_pitch, copy.width), copy.width,
                     or_else(copy.destination_height, copy.height)};
    c.extent = {copy.width, copy.height, copy.depth};
    return c;
}

abi::DriverCopy3D to_driver(const abi::Copy3D& copy) {
    using abi::CopyKind, abi::DriverMemoryType;
    const bool unified = copy.kind == CopyKind::by_address;
    const bool from_host = copy.kind == CopyKind::host_to_host || copy.kind == CopyKind::host_to_device;
    const bool to_host = copy.kind == CopyKind::host_to_host || copy.kind == CopyKind::device_to_host;
    const auto type = [&](bool host) {
        return unified ? DriverMemoryType::unified : host ? DriverMemoryType::host : DriverMemoryType::device;
    };
    abi::DriverCopy3D c{};
    c.source_type = type(from_host);
    c.source_host = from_host ? copy.source.pointer : nullptr;
    c.source_device = from_host ? 0 : reinterpret_cast<std::uint64_t>(copy.source.pointer);
    c.source_pitch = copy.source.pitch;
    c.source_height = copy.source.y_size;
    c.destination_type = type(to_host);
    c.destination_host = to_host ? copy.destination.pointer : nullptr;
    c.destination_device = to_host ? 0 : reinterpret_cast<std::uint64_t>(copy.destination.pointer);
    c.destination_pitch = copy.destination.pitch;
    c.destination_height = copy.destination.y_size;
    c.width = copy.extent.width;
    c.height = copy.extent.height;
    c.depth = copy.extent.depth;
    return c;
}

template <class AnyOperation>
Error asynchronous(State& state, void* stream, const AnyOperation& operation) {
    static_cast<void>(state.streams().stream(stream)); // Throws for a wrong handle.
    if (const Error error = check(state, operation); error != Error::success)
        return error;
    return state.streams().submit(state, stream, operation);
}

template <class AnyOperation>
Error synchronous(State& state, const AnyOperation& operation) {
    if (const Error error = state.synchronise(); error != Error::success)
        return error;
    AnyOperation submitted = operation;
    submitted.host_waits = true;
    const Error error = asynchronous(state, nullptr, submitted);
    if constexpr (std::is_same_v<AnyOperation, FillOperation>)
        return error; // The host does not wait for it.
    if (error != Error::success)
        return error;
    state.streams().wait(state, nullptr);
    return state.synchronise();
}

template Error asynchronous(State&, void*, const CopyOperation&);
template Error asynchronous(State&, void*, const FillOperation&);
template Error synchronous(State&, const CopyOperation&);
template Error synchronous(State&, const FillOperation&);

} // namespace emu::cuda

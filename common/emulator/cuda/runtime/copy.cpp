/// \file
/// CUDA runtime: copies and fills.

#include "cuda/copy.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"

using namespace emu::cuda;
using abi::CopyKind;

namespace {

FillOperation fill(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    FillOperation f;
    f.destination = static_cast<std::byte*>(to);
    f.value = static_cast<std::uint32_t>(value) & 0xff;
    f.pitch = pitch;
    f.width = width;
    f.height = height;
    return f;
}

FillOperation fill(const abi::PitchedPointer& to, int value, const abi::Extent& extent) {
    FillOperation f = fill(to.pointer, to.pitch, value, extent.width, extent.height);
    f.slice = to.pitch * to.y_size;
    f.depth = extent.depth;
    return f;
}

/// Bytes [offset, offset + count) of the variable behind `symbol`.
std::byte* part_of_symbol(const void* symbol, std::size_t offset, std::size_t count) {
    const PlacedVariable variable = Registry::get().variable(symbol);
    if (offset > variable.size || count > variable.size - offset)
        throw ApiError(Error::invalid_value, std::to_string(offset + count) +
                                                 " bytes of a variable that has " +
                                                 std::to_string(variable.size));
    return reinterpret_cast<std::byte*>(variable.address) + offset;
}

bool towards_device(CopyKind kind) {
    return kind == CopyKind::host_to_device || kind == CopyKind::device_to_device ||
           kind == CopyKind::by_address;
}
bool from_device(CopyKind kind) {
    return kind == CopyKind::device_to_host || kind == CopyKind::device_to_device ||
           kind == CopyKind::by_address;
}

CopyOperation to_symbol(const void* symbol, const void* from, std::size_t count, std::size_t offset,
                        CopyKind kind) {
    if (!towards_device(kind))
        throw ApiError(Error::invalid_copy_direction);
    return flat(part_of_symbol(symbol, offset, count), from, count, kind);
}
CopyOperation from_symbol(void* to, const void* symbol, std::size_t count, std::size_t offset,
                          CopyKind kind) {
    if (!from_device(kind))
        throw ApiError(Error::invalid_copy_direction);
    return flat(to, part_of_symbol(symbol, offset, count), count, kind);
}

} // namespace

extern "C" {

Error cudaMemcpy(void* to, const void* from, std::size_t count, CopyKind kind) {
    return runtime_call(__func__, [&](State& s) { return synchronous(s, flat(to, from, count, kind)); });
}
Error cudaMemcpyAsync(void* to, const void* from, std::size_t count, CopyKind kind, void* stream) {
    return runtime_call(__func__,
                        [&](State& s) { return asynchronous(s, stream, flat(to, from, count, kind)); });
}
Error cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t count) {
    return runtime_call(__func__, [&](State& s) {
        if (to_device != 0 || from_device != 0)
            return Error::invalid_device;
        return synchronous(s, flat(to, from, count, CopyKind::device_to_device));
    });
}
Error cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t count,
                          void* stream) {
    return runtime_call(__func__, [&](State& s) {
        if (to_device != 0 || from_device != 0)
            return Error::invalid_device;
        return asynchronous(s, stream, flat(to, from, count, CopyKind::device_to_device));
    });
}

Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, CopyKind kind) {
    return runtime_call(__func__, [&](State& s) {
        return synchronous(s, rows(to, to_pitch, from, from_pitch, width, height, kind));
    });
}
Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, CopyKind kind, void* stream) {
    return runtime_call(__func__, [&](State& s) {
        return asynchronous(s, stream, rows(to, to_pitch, from, from_pitch, width, height, kind));
    });
}

Error cudaMemcpy3D(const abi::Copy3D* copy) {
    return runtime_call(__func__, [&](State& s) { return synchronous(s, box(copy)); });
}
Error cudaMemcpy3DAsync(const abi::Copy3D* copy, void* stream) {
    return runtime_call(__func__, [&](State& s) { return asynchronous(s, stream, box(copy)); });
}
Error cudaMemcpy3DPeer(const abi::Copy3DPeer* copy) {
    return runtime_call(__func__, [&](State& s) { return synchronous(s, box(copy)); });
}
Error cudaMemcpy3DPeerAsync(const abi::Copy3DPeer* copy, void* stream) {
    return runtime_call(__func__, [&](State& s) { return asynchronous(s, stream, box(copy)); });
}

Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count, std::size_t offset,
                         CopyKind kind) {
    return runtime_call(
        __func__, [&](State& s) { return synchronous(s, to_symbol(symbol, from, count, offset, kind)); });
}
Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count, std::size_t offset,
                              CopyKind kind, void* stream) {
    return runtime_call(__func__, [&](State& s) {
        return asynchronous(s, stream, to_symbol(symbol, from, count, offset, kind));
    });
}
Error cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count, std::size_t offset,
                           CopyKind kind) {
    return runtime_call(
        __func__, [&](State& s) { return synchronous(s, from_symbol(to, symbol, count, offset, kind)); });
}
Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count, std::size_t offset,
                                CopyKind kind, void* stream) {
    return runtime_call(__func__, [&](State& s) {
        return asynchronous(s, stream, from_symbol(to, symbol, count, offset, kind));
    });
}

Error cudaMemset(void* to, int value, std::size_t count) {
    return runtime_call(__func__, [&](State& s) { return synchronous(s, fill(to, count, value, count, 1)); });
}
Error cudaMemsetAsync(void* to, int value, std::size_t count, void* stream) {
    return runtime_call(__func__,
                        [&](State& s) { return asynchronous(s, stream, fill(to, count, value, count, 1)); });
}
Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return runtime_call(__func__,
                        [&](State& s) { return synchronous(s, fill(to, pitch, value, width, height)); });
}
Error cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                        void* stream) {
    return runtime_call(
        __func__, [&](State& s) { return asynchronous(s, stream, fill(to, pitch, value, width, height)); });
}
Error cudaMemset3D(abi::PitchedPointer to, int value, abi::Extent extent) {
    return runtime_call(__func__, [&](State& s) { return synchronous(s, fill(to, value, extent)); });
}
Error cudaMemset3DAsync(abi::PitchedPointer to, int value, abi::Extent extent, void* stream) {
    return runtime_call(__func__, [&](State& s) { return asynchronous(s, stream, fill(to, value, extent)); });
}

Error cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return runtime_call(__func__, [&](State&) {
        if (!pointer)
            return Error::invalid_value;
        *pointer = reinterpret_cast<void*>(Registry::get().variable(symbol).address);
        return Error::success;
    });
}
Error cudaGetSymbolSize(std::size_t* size, const void* symbol) {
    return runtime_call(__func__, [&](State&) {
        if (!size)
            return Error::invalid_value;
        *size = Registry::get().variable(symbol).size;
        return Error::success;
    });
}

} // extern "C"

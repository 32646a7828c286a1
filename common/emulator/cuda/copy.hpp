#pragma once
/// \file
/// Copies as runtime, driver and graphs describe them, made into operations.

#include "cuda/abi.hpp"
#include "cuda/operation.hpp"

#include <cstddef>

namespace emu::cuda {

/// `height` rows of `width` bytes.
CopyOperation rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, abi::CopyKind kind);
/// `count` bytes in a row.
CopyOperation flat(void* to, const void* from, std::size_t count, abi::CopyKind kind);
/// Throws ApiError for null and for CUDA arrays, which the emulator does not have.
CopyOperation box(const abi::Copy3D* copy);
CopyOperation box(const abi::Copy3DPeer* copy);
CopyOperation box(const abi::DriverCopy2D* copy);
CopyOperation box(const abi::DriverCopy3D* copy);

/// The same copy as the other interface writes it. Throws ApiError for CUDA arrays.
abi::Copy3D to_runtime(const abi::DriverCopy3D& copy);
abi::DriverCopy3D to_driver(const abi::Copy3D& copy);

/// Checks the operation and puts it into the stream.
template <class AnyOperation>
Error asynchronous(State& state, void* stream, const AnyOperation& operation);
/// Like asynchronous in the default stream; an error that a kernel left behind comes first.
template <class AnyOperation>
Error synchronous(State& state, const AnyOperation& operation);

} // namespace emu::cuda

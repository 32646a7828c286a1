#pragma once
/// \file
/// The runtime's functions for advice, batches and copies between devices, which the driver's forward to.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"

#include <cstddef>

extern "C" {

using emu::cuda::Error;
namespace abi = emu::cuda::abi;

Error cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                           std::size_t count, const void* attributes, const std::size_t* indices,
                           std::size_t attribute_count, void* stream);
Error cudaMemcpy3DBatchAsync(std::size_t count, const abi::BatchCopy3D* copies, unsigned long long flags,
                             void* stream);
Error cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                const abi::MemoryLocation* locations, const std::size_t* indices,
                                std::size_t location_count, unsigned long long flags, void* stream);
Error cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                               unsigned long long flags, void* stream);
Error cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                          const abi::MemoryLocation* locations, const std::size_t* indices,
                                          std::size_t location_count, unsigned long long flags, void* stream);
Error cudaMemAdvise(const void* pointer, std::size_t count, int advice, abi::MemoryLocation location);
Error cudaMemPrefetchAsync(const void* pointer, std::size_t count, abi::MemoryLocation location,
                           unsigned flags, void* stream);
Error cudaMemRangeGetAttribute(void* data, std::size_t size, int attribute, const void* pointer,
                               std::size_t count);
Error cudaMemRangeGetAttributes(void** data, std::size_t* sizes, int* attributes, std::size_t attribute_count,
                                const void* pointer, std::size_t count);
Error cudaStreamAttachMemAsync(void* stream, void* pointer, std::size_t size, unsigned flags);
Error cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t count);
Error cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t count,
                          void* stream);
}

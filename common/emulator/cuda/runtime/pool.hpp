#pragma once
/// \file
/// The runtime's functions for memory pools, which the driver's forward to.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"

#include <cstddef>

extern "C" {

using emu::cuda::Error;
namespace abi = emu::cuda::abi;

Error cudaMallocAsync(void** pointer, std::size_t size, void* stream);
Error cudaFreeAsync(void* pointer, void* stream);
Error cudaMallocFromPoolAsync(void** pointer, std::size_t size, void* pool, void* stream);
Error cudaDeviceGetDefaultMemPool(void** pool, int device);
Error cudaDeviceGetMemPool(void** pool, int device);
Error cudaDeviceSetMemPool(int device, void* pool);
Error cudaMemPoolCreate(void** pool, const abi::PoolProperties* properties);
Error cudaMemPoolDestroy(void* pool);
Error cudaMemPoolTrimTo(void* pool, std::size_t keep);
Error cudaMemPoolSetAttribute(void* pool, abi::PoolAttribute attribute, void* value);
Error cudaMemPoolGetAttribute(void* pool, abi::PoolAttribute attribute, void* value);
Error cudaMemPoolSetAccess(void* pool, const abi::AccessDescription* descriptions, std::size_t count);
Error cudaMemPoolGetAccess(int* flags, void* pool, abi::MemoryLocation* location);
Error cudaMemGetDefaultMemPool(void** pool, abi::MemoryLocation* location, int type);
Error cudaMemGetMemPool(void** pool, abi::MemoryLocation* location, int type);
Error cudaMemSetMemPool(abi::MemoryLocation* location, int type, void* pool);
}

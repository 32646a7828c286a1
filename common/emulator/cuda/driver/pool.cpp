/// \file
/// CUDA driver: memory pools. The runtime's functions do the work.

#include "cuda/runtime/pool.hpp"
#include "cuda/state.hpp"

using namespace emu::cuda;

extern "C" {

Error cuMemAllocFromPoolAsync(std::uint64_t* pointer, std::size_t size, void* pool, void* stream) {
    return forward(cudaMallocFromPoolAsync, reinterpret_cast<void**>(pointer), size, pool, stream);
}
Error cuDeviceGetDefaultMemPool(void** pool, int device) {
    return forward(cudaDeviceGetDefaultMemPool, pool, device);
}
Error cuDeviceGetMemPool(void** pool, int device) { return forward(cudaDeviceGetMemPool, pool, device); }
Error cuDeviceSetMemPool(int device, void* pool) { return forward(cudaDeviceSetMemPool, device, pool); }
Error cuMemGetDefaultMemPool(void** pool, abi::MemoryLocation* location, int type) {
    return forward(cudaMemGetDefaultMemPool, pool, location, type);
}
Error cuMemGetMemPool(void** pool, abi::MemoryLocation* location, int type) {
    return forward(cudaMemGetMemPool, pool, location, type);
}
Error cuMemSetMemPool(abi::MemoryLocation* location, int type, void* pool) {
    return forward(cudaMemSetMemPool, location, type, pool);
}
Error cuMemPoolCreate(void** pool, const abi::PoolProperties* properties) {
    return forward(cudaMemPoolCreate, pool, properties);
}
Error cuMemPoolDestroy(void* pool) { return forward(cudaMemPoolDestroy, pool); }
Error cuMemPoolTrimTo(void* pool, std::size_t keep) { return forward(cudaMemPoolTrimTo, pool, keep); }
Error cuMemPoolSetAttribute(void* pool, abi::PoolAttribute attribute, void* value) {
    return forward(cudaMemPoolSetAttribute, pool, attribute, value);
}
Error cuMemPoolGetAttribute(void* pool, abi::PoolAttribute attribute, void* value) {
    return forward(cudaMemPoolGetAttribute, pool, attribute, value);
}
Error cuMemPoolSetAccess(void* pool, const abi::AccessDescription* descriptions, std::size_t count) {
    return forward(cudaMemPoolSetAccess, pool, descriptions, count);
}
Error cuMemPoolGetAccess(int* flags, void* pool, abi::MemoryLocation* location) {
    return forward(cudaMemPoolGetAccess, flags, pool, location);
}

} // extern "C"

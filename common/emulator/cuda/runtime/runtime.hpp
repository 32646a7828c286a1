#pragma once
/// \file
/// Runtime functions that driver functions forward to.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"

#include <cstddef>

namespace emu::cuda {
struct Node;
}

extern "C" {

using emu::cuda::Error;
namespace abi = emu::cuda::abi;

Error cudaDeviceSetLimit(int limit, std::size_t value);
Error cudaDeviceGetLimit(std::size_t* value, int limit);
Error cudaDeviceGetCacheConfig(int* config);
Error cudaDeviceSetCacheConfig(int config);
Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

Error cudaMalloc(void** pointer, std::size_t size);
Error cudaMallocManaged(void** pointer, std::size_t size, unsigned flags);
Error cudaMallocHost(void** pointer, std::size_t size);
Error cudaHostAlloc(void** pointer, std::size_t size, unsigned flags);
Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
Error cudaFree(void* pointer);
Error cudaFreeHost(void* pointer);
Error cudaHostRegister(void* pointer, std::size_t size, unsigned flags);
Error cudaHostUnregister(void* pointer);
Error cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
Error cudaHostGetFlags(unsigned* flags, void* host);
Error cudaMemGetInfo(std::size_t* free, std::size_t* total);
Error cudaMemAdvise(const void* pointer, std::size_t count, int advice, abi::MemoryLocation location);
Error cudaMemPrefetchAsync(const void* pointer, std::size_t count, abi::MemoryLocation location,
                           unsigned flags, void* stream);
Error cudaMallocAsync(void** pointer, std::size_t size, void* stream);
Error cudaFreeAsync(void* pointer, void* stream);

Error cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority);
Error cudaStreamDestroy(void* stream);
Error cudaStreamSynchronize(void* stream);
Error cudaStreamQuery(void* stream);
Error cudaStreamGetPriority(void* stream, int* priority);
Error cudaStreamGetFlags(void* stream, unsigned* flags);
Error cudaStreamGetId(void* stream, unsigned long long* id);
Error cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
Error cudaStreamAddCallback(void* stream, void (*callback)(void*, Error, void*), void* data, unsigned flags);
Error cudaLaunchHostFunc(void* stream, abi::HostFunction function, void* data);
Error cudaStreamBeginCapture(void* stream, int mode);
Error cudaStreamEndCapture(void* stream, void** graph);
Error cudaStreamIsCapturing(void* stream, abi::CaptureStatus* status);
Error cudaStreamBeginCaptureToGraph(void* stream, void* graph, void* const* dependencies,
                                    const abi::EdgeData* edges, std::size_t count, int mode);
Error cudaStreamGetCaptureInfo(void* stream, abi::CaptureStatus* status, unsigned long long* id, void** graph,
                               emu::cuda::Node* const** dependencies, const abi::EdgeData** edges,
                               std::size_t* count);
Error cudaStreamUpdateCaptureDependencies(void* stream, void** dependencies, const abi::EdgeData* edges,
                                          std::size_t count, unsigned flags);
Error cudaThreadExchangeStreamCaptureMode(int* mode);
Error cudaStreamCopyAttributes(void* to, void* from);
Error cudaStreamGetAttribute(void* stream, int attribute, abi::LaunchAttributeValue* value);
Error cudaStreamSetAttribute(void* stream, int attribute, const abi::LaunchAttributeValue* value);
Error cudaStreamGetDevice(void* stream, int* device);
Error cudaStreamAttachMemAsync(void* stream, void* pointer, std::size_t size, unsigned flags);
Error cudaEventCreateWithFlags(void** event, unsigned flags);
Error cudaEventDestroy(void* event);
Error cudaEventRecordWithFlags(void* event, void* stream, unsigned flags);
Error cudaEventSynchronize(void* event);
Error cudaEventQuery(void* event);
Error cudaEventElapsedTime(float* milliseconds, void* start, void* end);
}

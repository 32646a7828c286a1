/// \file
/// CUDA driver: streams, events, capture; the runtime's functions do the work.

#include "cuda/runtime/runtime.hpp"
#include "cuda/state.hpp"

using namespace emu::cuda;

extern "C" {

Error cuStreamCreate(void** stream, unsigned flags) {
    return forward(cudaStreamCreateWithPriority, stream, flags, 0);
}
Error cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
    return forward(cudaStreamCreateWithPriority, stream, flags, priority);
}
Error cuStreamDestroy_v2(void* stream) { return forward_by_handle(cudaStreamDestroy, stream); }
Error cuStreamSynchronize(void* stream) { return forward(cudaStreamSynchronize, stream); }
Error cuStreamQuery(void* stream) { return forward(cudaStreamQuery, stream); }
Error cuStreamGetPriority(void* stream, int* priority) {
    return forward(cudaStreamGetPriority, stream, priority);
}
Error cuStreamGetFlags(void* stream, unsigned* flags) { return forward(cudaStreamGetFlags, stream, flags); }
Error cuStreamGetId(void* stream, unsigned long long* id) { return forward(cudaStreamGetId, stream, id); }
Error cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
    return forward(cudaStreamWaitEvent, stream, event, flags);
}
Error cuStreamAddCallback(void* stream, void (*callback)(void*, Error, void*), void* data, unsigned flags) {
    return forward(cudaStreamAddCallback, stream, callback, data, flags);
}
Error cuLaunchHostFunc(void* stream, abi::HostFunction function, void* data) {
    return forward(cudaLaunchHostFunc, stream, function, data);
}
Error cuStreamBeginCapture_v2(void* stream, int mode) {
    return forward(cudaStreamBeginCapture, stream, mode);
}
Error cuStreamEndCapture(void* stream, void** graph) { return forward(cudaStreamEndCapture, stream, graph); }
Error cuStreamIsCapturing(void* stream, abi::CaptureStatus* status) {
    return forward(cudaStreamIsCapturing, stream, status);
}

Error cuStreamBeginCaptureToGraph(void* stream, void* graph, void* const* dependencies,
                                  const abi::EdgeData* edges, std::size_t count, int mode) {
    return forward(cudaStreamBeginCaptureToGraph, stream, graph, dependencies, edges, count, mode);
}
Error cuStreamGetCaptureInfo_v3(void* stream, abi::CaptureStatus* status, std::uint64_t* id, void** graph,
                                Node* const** dependencies, const abi::EdgeData** edges, std::size_t* count) {
    return forward(cudaStreamGetCaptureInfo, stream, status, reinterpret_cast<unsigned long long*>(id), graph,
                   dependencies, edges, count);
}
Error cuStreamGetCaptureInfo_v2(void* stream, abi::CaptureStatus* status, std::uint64_t* id, void** graph,
                                Node* const** dependencies, std::size_t* count) {
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}
Error cuStreamUpdateCaptureDependencies_v2(void* stream, void** dependencies, const abi::EdgeData* edges,
                                           std::size_t count, unsigned flags) {
    return forward(cudaStreamUpdateCaptureDependencies, stream, dependencies, edges, count, flags);
}
Error cuStreamUpdateCaptureDependencies(void* stream, void** dependencies, std::size_t count,
                                        unsigned flags) {
    return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}
Error cuThreadExchangeStreamCaptureMode(int* mode) {
    return forward(cudaThreadExchangeStreamCaptureMode, mode);
}
Error cuStreamCopyAttributes(void* to, void* from) { return forward(cudaStreamCopyAttributes, to, from); }
Error cuStreamGetAttribute(void* stream, int attribute, abi::LaunchAttributeValue* value) {
    return forward(cudaStreamGetAttribute, stream, attribute, value);
}
Error cuStreamSetAttribute(void* stream, int attribute, const abi::LaunchAttributeValue* value) {
    return forward(cudaStreamSetAttribute, stream, attribute, value);
}
Error cuStreamGetDevice(void* stream, int* device) { return forward(cudaStreamGetDevice, stream, device); }
Error cuStreamAttachMemAsync(void* stream, std::uint64_t pointer, std::size_t size, unsigned flags) {
    return forward(cudaStreamAttachMemAsync, stream, reinterpret_cast<void*>(pointer), size, flags);
}

Error cuEventCreate(void** event, unsigned flags) { return forward(cudaEventCreateWithFlags, event, flags); }
Error cuEventDestroy_v2(void* event) { return forward_by_handle(cudaEventDestroy, event); }
Error cuEventRecord(void* event, void* stream) {
    return forward(cudaEventRecordWithFlags, event, stream, 0u);
}
Error cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
    return forward(cudaEventRecordWithFlags, event, stream, flags);
}
Error cuEventSynchronize(void* event) { return forward_by_handle(cudaEventSynchronize, event); }
Error cuEventQuery(void* event) { return forward_by_handle(cudaEventQuery, event); }
Error cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
    return forward(cudaEventElapsedTime, milliseconds, start, end);
}
Error cuEventElapsedTime(float* milliseconds, void* start, void* end) {
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

} // extern "C"

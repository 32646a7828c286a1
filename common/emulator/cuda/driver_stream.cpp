/// \file
/// CUDA driver: streams, events, capture; the runtime's functions do the work.

#include "cuda/runtime.hpp"
#include "cuda/state.hpp"

using namespace emu::cuda;

extern "C" {

Error cuStreamCreate(void** stream, unsigned flags) {
    return forward(cudaStreamCreateWithPriority, stream, flags, 0);
}
Error cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
    return forward(cudaStreamCreateWithPriority, stream, flags, priority);
}
Error cuStreamDestroy_v2(void* stream) { return forward(cudaStreamDestroy, stream); }
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

Error cuEventCreate(void** event, unsigned flags) { return forward(cudaEventCreateWithFlags, event, flags); }
Error cuEventDestroy_v2(void* event) { return forward(cudaEventDestroy, event); }
Error cuEventRecord(void* event, void* stream) {
    return forward(cudaEventRecordWithFlags, event, stream, 0u);
}
Error cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
    return forward(cudaEventRecordWithFlags, event, stream, flags);
}
Error cuEventSynchronize(void* event) { return forward(cudaEventSynchronize, event); }
Error cuEventQuery(void* event) { return forward(cudaEventQuery, event); }
Error cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
    return forward(cudaEventElapsedTime, milliseconds, start, end);
}
Error cuEventElapsedTime(float* milliseconds, void* start, void* end) {
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

} // extern "C"

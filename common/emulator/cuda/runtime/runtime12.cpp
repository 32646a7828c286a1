/// \file
/// What the runtime of CUDA 12 calls otherwise than that of CUDA 13. Compiled into libcudart.so.12 alone,
/// which programs built with CUDA 12 load: there these definitions come before the emulator's. Everything
/// else is the same in both.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>

using emu::cuda::Error;
namespace abi = emu::cuda::abi;

namespace {

/// cudaDeviceProp of CUDA 12 (driver_types.h of CUDA 12.4); compared with that header when it was written.
struct DeviceProperties12 {
    std::byte name_to_max_grid_size[offsetof(abi::DeviceProperties, max_grid_size) + 3 * sizeof(int)];
    int clock_rate;
    std::size_t total_constant_memory;
    int major, minor;
    std::size_t texture_alignment, texture_pitch_alignment;
    int device_overlap;
    int multiprocessor_count;
    int kernel_execution_timeout;
    int integrated, can_map_host_memory;
    int compute_mode;
    int texture_limits_1d[2], max_texture_1d_linear, texture_limits[23], surface_limits[14];
    std::size_t surface_alignment;
    int concurrent_kernels_to_unified_addressing[8];
    int memory_clock_rate;
    int bus_width_to_local_l1[7];
    std::size_t shared_per_multiprocessor;
    int registers_to_host_native_atomic[5];
    int single_to_double_ratio;
    int pageable_access_to_cooperative_launch[5];
    int cooperative_multi_device_launch;
    std::size_t shared_per_block_optin;
    int host_page_tables_to_max_window[4];
    std::size_t reserved_shared_per_block;
    int host_register_to_unified_functions[13];
    int reserved[63];
};
static_assert(sizeof(DeviceProperties12) == 1032);

/// Attribute numbers (cudaDeviceAttr) of the fields that CUDA 13 dropped.
enum DroppedAttribute {
    attribute_clock_rate = 13,
    attribute_overlap = 15,
    attribute_memory_clock_rate = 36,
    attribute_texture_1d_linear = 69,
    attribute_double_ratio = 87,
};

} // namespace

extern "C" {

Error cudaGetDeviceProperties(abi::DeviceProperties* properties, int device);
Error cudaDeviceGetAttribute(int* value, int attribute, int device);
Error cudaDeviceSynchronize();
Error cudaDeviceReset();
Error cudaMemAdvise_v2(const void* pointer, std::size_t count, int advice, abi::MemoryLocation location);
Error cudaMemPrefetchAsync_v2(const void* pointer, std::size_t count, abi::MemoryLocation location,
                              unsigned flags, void* stream);
Error cudaStreamGetCaptureInfo(void* stream, abi::CaptureStatus* status, unsigned long long* id, void** graph,
                               void* const** dependencies, const abi::EdgeData** edges, std::size_t* count);
}

namespace {

void translate(const abi::DeviceProperties& from, DeviceProperties12& to) {
    const auto attribute = [](int number) {
        int value = 0;
        cudaDeviceGetAttribute(&value, number, 0);
        return value;
    };
    const auto copy = [](auto& destination, const auto& first, std::size_t bytes) {
        std::memcpy(&destination, &first, bytes);
    };
    to = {};
    copy(to.name_to_max_grid_size, from, sizeof to.name_to_max_grid_size);
    to.clock_rate = attribute(attribute_clock_rate);
    to.total_constant_memory = from.total_constant_memory;
    to.major = from.major;
    to.minor = from.minor;
    to.texture_alignment = from.texture_alignment;
    to.texture_pitch_alignment = from.texture_pitch_alignment;
    to.device_overlap = attribute(attribute_overlap);
    to.multiprocessor_count = from.multiprocessor_count;
    to.integrated = from.integrated;
    to.can_map_host_memory = from.can_map_host_memory;
    copy(to.texture_limits_1d, from.texture_limits[0], sizeof to.texture_limits_1d);
    to.max_texture_1d_linear = attribute(attribute_texture_1d_linear);
    copy(to.texture_limits, from.texture_limits[2], sizeof to.texture_limits);
    copy(to.surface_limits, from.surface_limits, sizeof to.surface_limits);
    to.surface_alignment = from.surface_alignment;
    copy(to.concurrent_kernels_to_unified_addressing, from.concurrent_kernels,
         sizeof to.concurrent_kernels_to_unified_addressing);
    to.memory_clock_rate = attribute(attribute_memory_clock_rate);
    copy(to.bus_width_to_local_l1, from.memory_bus_width, sizeof to.bus_width_to_local_l1);
    to.shared_per_multiprocessor = from.shared_per_multiprocessor;
    copy(to.registers_to_host_native_atomic, from.registers_per_multiprocessor,
         sizeof to.registers_to_host_native_atomic);
    to.single_to_double_ratio = attribute(attribute_double_ratio);
    copy(to.pageable_access_to_cooperative_launch, from.pageable_memory_access,
         sizeof to.pageable_access_to_cooperative_launch);
    to.shared_per_block_optin = from.shared_per_block_optin;
    copy(to.host_page_tables_to_max_window, from.pageable_memory_access_uses_host_page_tables,
         sizeof to.host_page_tables_to_max_window);
    to.reserved_shared_per_block = from.reserved_shared_per_block;
    copy(to.host_register_to_unified_functions, from.host_register_supported,
         sizeof to.host_register_to_unified_functions);
}

Error refuse(const char* function) {
    std::fprintf(stderr, "emulator: %s of CUDA 12 is not supported; build the program with CUDA 13\n",
                 function);
    return Error::not_supported;
}

} // namespace

extern "C" {

Error cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
    if (!properties)
        return cudaGetDeviceProperties(nullptr, device);
    abi::DeviceProperties current;
    const Error error = cudaGetDeviceProperties(&current, device);
    if (error == Error::success)
        translate(current, *properties);
    return error;
}

Error cudaStreamGetCaptureInfo_v3(void* stream, abi::CaptureStatus* status, unsigned long long* id,
                                  void** graph, void* const** dependencies, const abi::EdgeData** edges,
                                  std::size_t* count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, edges, count);
}
Error cudaStreamGetCaptureInfo_v2(void* stream, abi::CaptureStatus* status, unsigned long long* id,
                                  void** graph, void* const** dependencies, std::size_t* count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}
Error cudaMemAdvise(const void* pointer, std::size_t count, int advice, int device) {
    return cudaMemAdvise_v2(pointer, count, advice, abi::location_of(device));
}
Error cudaMemPrefetchAsync(const void* pointer, std::size_t count, int device, void* stream) {
    return cudaMemPrefetchAsync_v2(pointer, count, abi::location_of(device), 0, stream);
}
// These have fewer parameters than their namesakes of CUDA 13, so they must not reach them.
Error cudaGraphAddDependencies() { return refuse("cudaGraphAddDependencies"); }
Error cudaGraphRemoveDependencies() { return refuse("cudaGraphRemoveDependencies"); }
Error cudaGraphNodeGetDependencies() { return refuse("cudaGraphNodeGetDependencies"); }
Error cudaGraphNodeGetDependentNodes() { return refuse("cudaGraphNodeGetDependentNodes"); }
Error cudaGraphGetEdges() { return refuse("cudaGraphGetEdges"); }
Error cudaGraphAddNode() { return refuse("cudaGraphAddNode"); }
Error cudaStreamUpdateCaptureDependencies() { return refuse("cudaStreamUpdateCaptureDependencies"); }

Error cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
Error cudaThreadExit() { return cudaDeviceReset(); }

} // extern "C"

/// @file device.hpp
/// Facts about the device in use, and what a program needs of it.
#pragma once

#include "check.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace workbook {

/// What the CUDA runtime says about a device.
struct DeviceFacts {
    std::string name;
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    std::size_t l2_bytes = 0;                ///< size of the L2 cache
    std::size_t shared_per_block_opt_in = 0; ///< dynamic shared memory a block may ask for, in bytes
    std::size_t memory_bytes = 0;            ///< all global memory
    double memory_clock_hz = 0;              ///< peak; 0 where the driver does not say
    int bus_width_bits = 0;
    bool clusters = false; ///< thread block clusters can be launched

    /// Peak bandwidth of global memory in bytes per second, 0 if unknown. Two transfers per clock (double
    /// data rate).
    [[nodiscard]] double peak_bandwidth() const noexcept {
        return 2.0 * memory_clock_hz * bus_width_bits / 8.0;
    }
};

/// One attribute of a device.
[[nodiscard]] inline int device_attribute(cudaDeviceAttr attribute, int device = 0) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
    return value;
}

/// Reads the facts of a device. Throws CudaError if there is none.
[[nodiscard]] inline DeviceFacts device_facts(int device = 0) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "looking for a GPU");
    DeviceFacts facts;
    facts.name = properties.name;
    facts.compute_major = device_attribute(cudaDevAttrComputeCapabilityMajor, device);
    facts.compute_minor = device_attribute(cudaDevAttrComputeCapabilityMinor, device);
    facts.multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount, device);
    facts.l2_bytes = static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize, device));
    facts.shared_per_block_opt_in =
        static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    facts.memory_bytes = properties.totalGlobalMem;
    facts.memory_clock_hz = 1000.0 * device_attribute(cudaDevAttrMemoryClockRate, device);
    facts.bus_width_bits = device_attribute(cudaDevAttrGlobalMemoryBusWidth, device);
    facts.clusters = device_attribute(cudaDevAttrClusterLaunch, device) != 0;
    return facts;
}

/// Global memory that is free now, in bytes.
[[nodiscard]] inline std::size_t free_device_memory() {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    return free_bytes;
}

/// What a program needs of the device it runs on.
struct DeviceNeeds {
    int compute_major = 7;
    int compute_minor = 0;
    std::size_t dynamic_shared = 0; ///< bytes of dynamic shared memory per block
    int cluster_size = 1;           ///< blocks per cluster
};

/// The device lacks what the program needs, or there is none. what() is one line that names both; the way out
/// is the emulator, and whoever catches this knows the command.
class DeviceLacks : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws DeviceLacks, naming the first need that `facts` does not meet.
inline void require(const DeviceNeeds& needs, const DeviceFacts& facts) {
    const auto lacks = [&](const std::string& need, const std::string& has) {
        throw DeviceLacks("needs " + need + ", but '" + facts.name + "' has " + has);
    };
    const auto version = [](int major, int minor) {
        return "compute capability " + std::to_string(major) + "." + std::to_string(minor);
    };
    if (facts.compute_major * 10 + facts.compute_minor < needs.compute_major * 10 + needs.compute_minor)
        lacks(version(needs.compute_major, needs.compute_minor) + " or newer",
              version(facts.compute_major, facts.compute_minor));
    if (facts.shared_per_block_opt_in < needs.dynamic_shared)
        lacks(std::to_string(needs.dynamic_shared) + " bytes of shared memory per block",
              std::to_string(facts.shared_per_block_opt_in));
    if (needs.cluster_size > 1 && !facts.clusters)
        lacks("clusters of " + std::to_string(needs.cluster_size) + " blocks", "no clusters");
}

/// Facts of the device in use; throws DeviceLacks if there is none or it does not meet `needs`.
[[nodiscard]] inline DeviceFacts require(const DeviceNeeds& needs) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        const char* reason = status == cudaSuccess ? "none is installed" : cudaGetErrorString(status);
        throw DeviceLacks(std::string("no CUDA device (") + reason + ")");
    }
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    DeviceFacts facts = device_facts(device);
    require(needs, facts);
    return facts;
}

} // namespace workbook

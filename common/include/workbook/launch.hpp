/// @file launch.hpp
/// Kernel launches with a checked result: grid, block, dynamic shared memory, cluster.
#pragma once

#include "check.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>

namespace workbook {

/// The shape of a launch. Sizes in threads and blocks, shared memory in bytes.
struct LaunchShape {
    dim3 grid{1, 1, 1};
    dim3 block{1, 1, 1};
    std::size_t dynamic_shared = 0;
    /// Blocks per cluster; the grid must be a multiple of it. Without it the launch is none of a cluster, in
    /// which copies between shared memories are illegal instructions; {1, 1, 1} is a cluster of one block.
    std::optional<dim3> cluster = std::nullopt;
    bool non_portable_cluster = false; ///< allow more than 8 blocks per cluster (16 on an H100 or H200)
    cudaStream_t stream = nullptr;
    std::source_location where = std::source_location::current(); ///< line to name in an error
};

/// `count / per_block` rounded up, as a grid size. Throws std::length_error above 2^31 - 1 blocks.
[[nodiscard]] inline unsigned blocks_for(std::size_t count, std::size_t per_block) {
    const std::size_t blocks = count / per_block + (count % per_block != 0 ? 1 : 0);
    if (blocks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw std::length_error("a grid of " + std::to_string(blocks) + " blocks is too large");
    return static_cast<unsigned>(blocks);
}

/// Allows `kernel` what the default limits deny: more than 48 KiB of shared memory, static and dynamic
/// together, and clusters above 8. Throws CudaError if the device has less.
/// Source: CUDA Programming Guide, 'Shared Memory' and 'Thread Block Clusters'.
/// @param function a kernel's address, or the handle of one that was loaded (cudaKernel_t)
inline void raise_limits(const void* function, const LaunchShape& shape) {
    constexpr std::size_t default_limit = 48 * 1024;
    std::size_t fixed = 0;
    if (shape.dynamic_shared != 0 && shape.dynamic_shared <= default_limit) {
        cudaFuncAttributes attributes{};
        check(cudaFuncGetAttributes(&attributes, function), "asking for a kernel's attributes", shape.where);
        fixed = attributes.sharedSizeBytes;
    }
    if (fixed + shape.dynamic_shared > default_limit)
        check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shape.dynamic_shared)),
              "asking for " + std::to_string(shape.dynamic_shared) + " bytes of dynamic shared memory",
              shape.where);
    if (shape.non_portable_cluster)
        check(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
              "asking for a cluster of more than 8 blocks", shape.where);
}

/// Allows `kernel` what the default limits deny.
template <class... Params>
void raise_limits(void (*kernel)(Params...), const LaunchShape& shape) {
    raise_limits(reinterpret_cast<const void*>(kernel), shape);
}

/// Launches `function`, an address or a handle. Throws CudaError if the launch is refused. Does not wait. A
/// grid of zero blocks means that there is nothing to do, and launches nothing.
/// @param arguments one pointer for each parameter, to a value of exactly its type
inline void launch_function(const void* function, const LaunchShape& shape, void** arguments) {
    if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0)
        return;
    raise_limits(function, shape);

    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    if (shape.cluster) {
        cluster.val.clusterDim.x = shape.cluster->x;
        cluster.val.clusterDim.y = shape.cluster->y;
        cluster.val.clusterDim.z = shape.cluster->z;
    }

    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared;
    config.stream = shape.stream;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster ? 1 : 0;
    check(cudaLaunchKernelExC(&config, function, arguments), "kernel launch", shape.where);
}

/// Launches `kernel` with `args`, converted to the types of its parameters; else as launch_function.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), const LaunchShape& shape, Args&&... args) {
    static_assert(sizeof...(Params) == sizeof...(Args), "one argument for each parameter of the kernel");
    const auto with_converted = [&](Params... converted) {
        std::array<void*, sizeof...(Params)> pointers{
            const_cast<void*>(static_cast<const void*>(&converted))...};
        launch_function(reinterpret_cast<const void*>(kernel), shape, pointers.data());
    };
    with_converted(static_cast<Args&&>(args)...);
}

} // namespace workbook

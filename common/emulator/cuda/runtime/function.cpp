/// \file
/// CUDA runtime: kernel attributes, occupancy, kernel handles.

#include "cuda/function_attributes.hpp"
#include "cuda/launch.hpp"
#include "cuda/occupancy.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"

using namespace emu::cuda;

namespace {

template <class Body>
Error with_kernel(const char* name, const void* function, Body&& body) {
    return runtime_call(name, [&](State&) { return body(Registry::get().function(function)); });
}

} // namespace

extern "C" {

Error cudaFuncGetAttributes(abi::FunctionAttributes* attributes, const void* function) {
    return with_kernel(__func__, function, [&](Function& f) {
        if (!attributes)
            return Error::invalid_value;
        *attributes = attributes_of(f);
        return Error::success;
    });
}
Error cudaFuncSetAttribute(const void* function, abi::FunctionAttribute attribute, int value) {
    return with_kernel(__func__, function, [&](Function& f) { return set_attribute(f, attribute, value); });
}
Error cudaKernelSetAttributeForDevice(const void* kernel, abi::FunctionAttribute attribute, int value,
                                      int device) {
    return with_kernel(__func__, kernel, [&](Function& f) {
        return device == 0 ? set_attribute(f, attribute, value) : Error::invalid_device;
    });
}
Error cudaFuncSetCacheConfig(const void* function, int) {
    return with_kernel(__func__, function, [](Function&) { return Error::success; });
}
Error cudaFuncSetSharedMemConfig(const void* function, int) {
    return with_kernel(__func__, function, [](Function&) { return Error::success; });
}
Error cudaFuncGetName(const char** name, const void* function) {
    return with_kernel(__func__, function, [&](Function& f) {
        if (!name)
            return Error::invalid_value;
        *name = f.name.c_str();
        return Error::success;
    });
}
Error cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
    return with_kernel(__func__, function,
                       [&](Function& f) { return parameter_info(f, index, offset, size); });
}
Error cudaGetFuncBySymbol(void** handle, const void* symbol) {
    return with_kernel(__func__, symbol, [&](Function& f) {
        *handle = &f;
        return Error::success;
    });
}
Error cudaGetKernel(void** handle, const void* symbol) {
    return with_kernel(__func__, symbol, [&](Function& f) {
        *handle = &f;
        return Error::success;
    });
}

Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                             std::size_t dynamic_shared, unsigned flags) {
    return with_kernel(__func__, function, [&](Function& f) {
        if (!blocks || threads <= 0 || flags > 1)
            return Error::invalid_value;
        *blocks =
            static_cast<int>(blocks_per_multiprocessor(f, static_cast<unsigned>(threads), dynamic_shared));
        return Error::success;
    });
}
Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                    std::size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared,
                                                                  0);
}
Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                int threads) {
    return with_kernel(__func__, function, [&](Function& f) {
        if (!bytes || blocks <= 0 || threads <= 0)
            return Error::invalid_value;
        *bytes = available_dynamic_shared(f, static_cast<unsigned>(blocks), static_cast<unsigned>(threads));
        return Error::success;
    });
}
Error cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const abi::LaunchConfig* config) {
    return with_kernel(__func__, function, [&](Function& f) {
        if (!size || !config)
            return Error::invalid_value;
        *size = static_cast<int>(largest_cluster(f, config->block, config->dynamic_shared));
        return Error::success;
    });
}
Error cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const abi::LaunchConfig* config) {
    return with_kernel(__func__, function, [&](Function& f) {
        if (!clusters || !config)
            return Error::invalid_value;
        const auto cluster = cluster_of(f, {config->attributes, config->attribute_count});
        return count_clusters(f, config->block, config->dynamic_shared, cluster, clusters);
    });
}

} // extern "C"

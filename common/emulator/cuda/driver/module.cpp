/// \file
/// CUDA driver: modules, libraries, functions, launches, occupancy.

#include "cuda/function_attributes.hpp"
#include "cuda/launch.hpp"
#include "cuda/occupancy.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"

using namespace emu::cuda;

namespace {

template <class Body>
Error with_image(const char* function, void* handle, Body&& body) {
    return driver_call(function, [&](State&) {
        if (!Registry::get().is_image(handle))
            return Error::invalid_handle;
        return body(*static_cast<Image*>(handle));
    });
}

template <class Body>
Error with_function(const char* name, const void* handle, Body&& body) {
    return context_call(name, [&](State& state) {
        if (!Registry::get().is_function(handle))
            return Error::invalid_handle;
        return body(state, Registry::get().function(handle));
    });
}

Error load(const char* function, void** image, const void* data) {
    return context_call(function, [&](State&) {
        if (!image || !data)
            return Error::invalid_value;
        *image = Registry::get().add(data);
        return Error::success;
    });
}

Error load_file(const char* function, void** image, const char* path) {
    return context_call(function, [&](State&) {
        if (!image || !path)
            return Error::invalid_value;
        *image = Registry::get().add_file(path);
        return Error::success;
    });
}

Error unload(const char* function, void* handle) {
    return with_image(function, handle, [](Image& image) {
        Registry::get().remove(&image);
        return Error::success;
    });
}

Error find_function(const char* function, void** kernel, void* handle, const char* name) {
    return with_image(function, handle, [&](Image& image) {
        if (!kernel || !name)
            return Error::invalid_value;
        *kernel = image.function(name);
        return *kernel ? Error::success : Error::symbol_not_found;
    });
}

Error find_variable(const char* function, std::uint64_t* pointer, std::size_t* size, void* handle,
                    const char* name) {
    return with_image(function, handle, [&](Image& image) {
        if (!name)
            return Error::invalid_value;
        const PlacedVariable variable = image.variable(name);
        if (variable.address == 0)
            return Error::symbol_not_found;
        if (pointer)
            *pointer = variable.address;
        if (size)
            *size = variable.size;
        return Error::success;
    });
}

Error count_functions(const char* function, unsigned* count, void* handle) {
    return with_image(function, handle, [&](Image& image) {
        if (!count)
            return Error::invalid_value;
        *count = static_cast<unsigned>(image.functions().size());
        return Error::success;
    });
}

Error list_functions(const char* function, void** out, unsigned count, void* handle) {
    return with_image(function, handle, [&](Image& image) {
        const auto all = image.functions();
        for (unsigned i = 0; i < count && i < all.size(); ++i)
            out[i] = all[i];
        return Error::success;
    });
}

} // namespace

extern "C" {

Error cuModuleLoadData(void** module, const void* data) { return load(__func__, module, data); }
Error cuModuleLoadDataEx(void** module, const void* data, unsigned, int*, void**) {
    return load(__func__, module, data);
}
Error cuModuleLoadFatBinary(void** module, const void* data) { return load(__func__, module, data); }
Error cuModuleLoad(void** module, const char* path) { return load_file(__func__, module, path); }
Error cuModuleUnload(void* module) { return unload(__func__, module); }
Error cuModuleGetLoadingMode(int* mode) {
    constexpr int lazy = 2;
    if (!mode)
        return Error::invalid_value;
    *mode = lazy;
    return Error::success;
}
Error cuModuleGetFunction(void** function, void* module, const char* name) {
    return find_function(__func__, function, module, name);
}
Error cuModuleGetFunctionCount(unsigned* count, void* module) {
    return count_functions(__func__, count, module);
}
Error cuModuleEnumerateFunctions(void** functions, unsigned count, void* module) {
    return list_functions(__func__, functions, count, module);
}
Error cuModuleGetGlobal_v2(std::uint64_t* pointer, std::size_t* size, void* module, const char* name) {
    return find_variable(__func__, pointer, size, module, name);
}

Error cuLibraryLoadData(void** library, const void* data, int*, void**, unsigned, int*, void**, unsigned) {
    return load(__func__, library, data);
}
Error cuLibraryLoadFromFile(void** library, const char* path, int*, void**, unsigned, int*, void**,
                            unsigned) {
    return load_file(__func__, library, path);
}
Error cuLibraryUnload(void* library) { return unload(__func__, library); }
Error cuLibraryGetKernel(void** kernel, void* library, const char* name) {
    return find_function(__func__, kernel, library, name);
}
Error cuLibraryGetKernelCount(unsigned* count, void* library) {
    return count_functions(__func__, count, library);
}
Error cuLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
    return list_functions(__func__, kernels, count, library);
}
Error cuLibraryGetModule(void** module, void* library) {
    return with_image(__func__, library, [&](Image& image) {
        *module = &image;
        return Error::success;
    });
}
Error cuLibraryGetGlobal(std::uint64_t* pointer, std::size_t* size, void* library, const char* name) {
    return find_variable(__func__, pointer, size, library, name);
}
Error cuLibraryGetManaged(std::uint64_t* pointer, std::size_t* size, void* library, const char* name) {
    return find_variable(__func__, pointer, size, library, name);
}
Error cuKernelGetFunction(void** function, void* kernel) {
    return with_function(__func__, kernel, [&](State&, Function& f) {
        *function = &f;
        return Error::success;
    });
}
Error cuKernelGetLibrary(void** library, void* kernel) {
    return with_function(__func__, kernel, [&](State&, Function& f) {
        *library = f.image;
        return Error::success;
    });
}

Error cuFuncGetModule(void** module, void* function) { return cuKernelGetLibrary(module, function); }
Error cuFuncGetName(const char** name, void* function) {
    return with_function(__func__, function, [&](State&, Function& f) {
        *name = f.name.c_str();
        return Error::success;
    });
}
Error cuKernelSetCacheConfig(void* kernel, int config, int device) {
    return with_function(__func__, kernel, [&](State&, Function&) {
        if (device != 0)
            return Error::invalid_device;
        return config >= 0 && config <= 3 ? Error::success : Error::invalid_value;
    });
}
Error cuKernelGetName(const char** name, void* kernel) { return cuFuncGetName(name, kernel); }
Error cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
    return with_function(__func__, function,
                         [&](State&, Function& f) { return parameter_info(f, index, offset, size); });
}
Error cuKernelGetParamInfo(void* kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
    return cuFuncGetParamInfo(kernel, index, offset, size);
}
Error cuFuncIsLoaded(int* loaded, void* function) {
    return with_function(__func__, function, [&](State&, Function&) {
        *loaded = 1;
        return Error::success;
    });
}
Error cuFuncLoad(void* function) {
    return with_function(__func__, function, [](State&, Function&) { return Error::success; });
}
Error cuFuncGetAttribute(int* value, abi::FunctionAttribute attribute, void* function) {
    return with_function(__func__, function,
                         [&](State&, Function& f) { return get_attribute(f, attribute, value); });
}
Error cuFuncSetAttribute(void* function, abi::FunctionAttribute attribute, int value) {
    return with_function(__func__, function,
                         [&](State&, Function& f) { return set_attribute(f, attribute, value); });
}
Error cuKernelGetAttribute(int* value, abi::FunctionAttribute attribute, void* kernel, int) {
    return cuFuncGetAttribute(value, attribute, kernel);
}
Error cuKernelSetAttribute(abi::FunctionAttribute attribute, int value, void* kernel, int) {
    return cuFuncSetAttribute(kernel, attribute, value);
}
Error cuFuncSetCacheConfig(void* function, int) { return cuFuncLoad(function); }
Error cuFuncSetSharedMemConfig(void* function, int) { return cuFuncLoad(function); }

Error cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                     unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments,
                     void** extra) {
    return with_function("", function, [&](State& state, Function& f) {
        LaunchRequest request;
        request.grid = {grid_x, grid_y, grid_z};
        request.block = {block_x, block_y, block_z};
        request.dynamic_shared = shared;
        request.stream = stream;
        request.arguments = arguments;
        request.extra = extra;
        return launch(state, f, request);
    });
}
Error cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                void* stream, void** arguments) {
    return with_function("", function, [&](State& state, Function& f) {
        LaunchRequest request;
        request.grid = {grid_x, grid_y, grid_z};
        request.block = {block_x, block_y, block_z};
        request.dynamic_shared = shared;
        request.stream = stream;
        request.arguments = arguments;
        request.cooperative = true;
        return launch(state, f, request);
    });
}
Error cuLaunchKernelEx(const abi::DriverLaunchConfig* config, void* function, void** arguments,
                       void** extra) {
    return with_function("", function, [&](State& state, Function& f) {
        if (!config)
            return Error::invalid_value;
        LaunchRequest request;
        request.grid = config->grid;
        request.block = config->block;
        request.dynamic_shared = config->dynamic_shared;
        request.stream = config->stream;
        request.attributes = {config->attributes, config->attribute_count};
        request.arguments = arguments;
        request.extra = extra;
        return launch(state, f, request);
    });
}

Error cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                           std::size_t shared, unsigned) {
    return with_function(__func__, function, [&](State&, Function& f) {
        if (!blocks || threads <= 0)
            return Error::invalid_value;
        *blocks = static_cast<int>(blocks_per_multiprocessor(f, static_cast<unsigned>(threads), shared));
        return Error::success;
    });
}
Error cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                  std::size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
Error cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, void* function,
                                                std::size_t (*shared_of)(int), std::size_t shared, int limit,
                                                unsigned) {
    return with_function(__func__, function, [&](State&, Function& f) {
        if (!grid || !block)
            return Error::invalid_value;
        const PotentialBlock best = potential_block_size(
            f, [&](int threads) { return shared_of ? shared_of(threads) : shared; }, limit);
        *grid = best.grid;
        *block = best.block;
        return Error::success;
    });
}
Error cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void* function, std::size_t (*shared_of)(int),
                                       std::size_t shared, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit, 0);
}
Error cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void* function, int blocks, int threads) {
    return with_function(__func__, function, [&](State&, Function& f) {
        if (!bytes || blocks <= 0 || threads <= 0)
            return Error::invalid_value;
        *bytes = available_dynamic_shared(f, static_cast<unsigned>(blocks), static_cast<unsigned>(threads));
        return Error::success;
    });
}
Error cuOccupancyMaxPotentialClusterSize(int* size, void* function, const abi::DriverLaunchConfig* config) {
    return with_function(__func__, function, [&](State&, Function& f) {
        if (!size || !config)
            return Error::invalid_value;
        *size = static_cast<int>(largest_cluster(f, config->block, config->dynamic_shared));
        return Error::success;
    });
}
Error cuOccupancyMaxActiveClusters(int* clusters, void* function, const abi::DriverLaunchConfig* config) {
    return with_function(__func__, function, [&](State&, Function& f) {
        if (!clusters || !config)
            return Error::invalid_value;
        const auto cluster = cluster_of(f, {config->attributes, config->attribute_count});
        return count_clusters(f, config->block, config->dynamic_shared, cluster, clusters);
    });
}

} // extern "C"

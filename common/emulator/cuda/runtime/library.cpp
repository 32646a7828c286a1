/// \file
/// CUDA runtime: modules loaded while the program runs (cudaLibrary*), entry points of the driver.

#include "cuda/entry_points.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"

using namespace emu;
using namespace emu::cuda;

namespace {

template <class Body>
Error with_library(const char* function, void* library, Body&& body) {
    return runtime_call(function, [&](State&) {
        if (!Registry::get().is_image(library))
            return Error::invalid_handle;
        return body(*static_cast<Image*>(library));
    });
}

Error give_variable(Image& image, const char* name, void** pointer, std::size_t* size) {
    if (!name)
        return Error::invalid_value;
    const PlacedVariable variable = image.variable(name);
    if (variable.address == 0)
        return Error::symbol_not_found;
    if (pointer)
        *pointer = reinterpret_cast<void*>(variable.address);
    if (size)
        *size = variable.size;
    return Error::success;
}

} // namespace

extern "C" {

Error cudaLibraryLoadData(void** library, const void* code, void*, void**, unsigned, void*, void**,
                          unsigned) {
    return runtime_call(__func__, [&](State&) {
        if (!library || !code)
            return Error::invalid_value;
        *library = Registry::get().add(code);
        return Error::success;
    });
}
Error cudaLibraryLoadFromFile(void** library, const char* path, void*, void**, unsigned, void*, void**,
                              unsigned) {
    return runtime_call(__func__, [&](State&) {
        if (!library || !path)
            return Error::invalid_value;
        *library = Registry::get().add_file(path);
        return Error::success;
    });
}
Error cudaLibraryUnload(void* library) {
    return with_library(__func__, library, [](Image& image) {
        Registry::get().remove(&image);
        return Error::success;
    });
}
Error cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
    return with_library(__func__, library, [&](Image& image) {
        if (!kernel || !name)
            return Error::invalid_value;
        *kernel = image.function(name);
        return *kernel ? Error::success : Error::symbol_not_found;
    });
}
Error cudaLibraryGetKernelCount(unsigned* count, void* library) {
    return with_library(__func__, library, [&](Image& image) {
        if (!count)
            return Error::invalid_value;
        *count = static_cast<unsigned>(image.functions().size());
        return Error::success;
    });
}
Error cudaLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
    return with_library(__func__, library, [&](Image& image) {
        const auto all = image.functions();
        for (unsigned i = 0; i < count && i < all.size(); ++i)
            kernels[i] = all[i];
        return Error::success;
    });
}
Error cudaLibraryGetGlobal(void** pointer, std::size_t* size, void* library, const char* name) {
    return with_library(__func__, library,
                        [&](Image& image) { return give_variable(image, name, pointer, size); });
}
Error cudaLibraryGetManaged(void** pointer, std::size_t* size, void* library, const char* name) {
    return with_library(__func__, library,
                        [&](Image& image) { return give_variable(image, name, pointer, size); });
}

Error cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                       unsigned long long, int* status) {
    return runtime_call(__func__, [&](State&) {
        if (!symbol || !function)
            return Error::invalid_value;
        const EntryPoint found = find_entry_point(symbol, static_cast<int>(version));
        *function = found.address;
        if (status)
            *status = static_cast<int>(found.status);
        return Error::success;
    });
}
Error cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, int* status) {
    return cudaGetDriverEntryPointByVersion(symbol, function, abi::version, flags, status);
}
Error __cudaGetProcAddress(const char* symbol, void** function, unsigned version, unsigned long long flags,
                           int* status) {
    return cudaGetDriverEntryPointByVersion(symbol, function, version, flags, status);
}

/// A plain value that names no resource; texture functions themselves are not supported.
abi::ChannelDescription cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return {x, y, z, w, kind};
}

} // extern "C"

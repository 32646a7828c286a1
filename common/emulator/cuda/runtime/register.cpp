/// \file
/// What nvcc's host code calls before main() and around every launch (crt/host_runtime.h of CUDA 13.0).

#include "cuda/launch.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/thread_state.hpp"
#include "images/fatbin.hpp"

using namespace emu::cuda;

namespace {

/// Registration has no error to return: a failure is explained, and the first use of the module fails.
template <class Body>
void register_safely(const char* function, Body&& body) noexcept {
    try {
        body();
    } catch (...) {
        remember(translate_exception(function));
    }
}

Image* image_of(void** handle) { return reinterpret_cast<Image*>(handle); }

/// A launch from a host stub: nobody looks at its return value, so a refusal counts as unobserved until
/// cudaGetLastError is asked.
Error launch_from_stub(const char* function, const void* kernel, const LaunchRequest& request) {
    const Error error = runtime_call(
        function, [&](State& state) { return launch(state, Registry::get().function(kernel), request); });
    if (error != Error::success)
        mark_unobserved();
    return error;
}

} // namespace

extern "C" {

void** __cudaRegisterFatBinary(const abi::FatbinWrapper* wrapper) {
    Image* image = nullptr;
    register_safely(__func__, [&] {
        if (wrapper->magic != fatbin_wrapper_magic)
            throw ApiError(Error::invalid_image, "the program registers something that is no fat binary");
        image = Registry::get().add(*wrapper);
    });
    return reinterpret_cast<void**>(image);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** handle) {
    register_safely(__func__, [&] {
        if (handle)
            Registry::get().remove(image_of(handle));
    });
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
    register_safely(__func__, [&] {
        if (handle)
            Registry::get().add_function(image_of(handle), host, name);
    });
}
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t size, int, int) {
    register_safely(__func__, [&] {
        if (handle)
            Registry::get().add_variable(image_of(handle), host, {nullptr, name, size, nullptr});
    });
}
void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, std::size_t size, int,
                              int) {
    register_safely(__func__, [&] {
        if (handle)
            Registry::get().add_variable(image_of(handle), host, {nullptr, name, size, host});
    });
}
void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}
/// Called before the host touches a managed variable for the first time.
char __cudaInitModule(void** handle) {
    const Error error = runtime_call(__func__, [&](State&) {
        if (handle)
            static_cast<void>(image_of(handle)->module());
        return Error::success;
    });
    return error == Error::success;
}

unsigned __cudaPushCallConfiguration(abi::Dim3 grid, abi::Dim3 block, std::size_t shared, void* stream) {
    this_thread().calls.push_back({grid, block, shared, stream});
    return 0;
}
Error __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block, std::size_t* shared, void** stream) {
    auto& calls = this_thread().calls;
    if (calls.empty())
        return remember(Error::missing_configuration);
    const CallConfiguration configuration = calls.back();
    calls.pop_back();
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = configuration.shared;
    *stream = configuration.stream;
    return Error::success;
}

Error __cudaGetKernel(void** kernel, const void* host) {
    return runtime_call(__func__, [&](State&) {
        *kernel = &Registry::get().function(host);
        return Error::success;
    });
}
Error __cudaLaunchKernel(void* kernel, abi::Dim3 grid, abi::Dim3 block, void** arguments, std::size_t shared,
                         void* stream) {
    LaunchRequest request;
    request.grid = grid;
    request.block = block;
    request.dynamic_shared = shared;
    request.stream = stream;
    request.arguments = arguments;
    return launch_from_stub("", kernel, request);
}
Error cudaLaunchKernel(const void* kernel, abi::Dim3 grid, abi::Dim3 block, void** arguments,
                       std::size_t shared, void* stream) {
    return __cudaLaunchKernel(const_cast<void*>(kernel), grid, block, arguments, shared, stream);
}
Error cudaLaunchCooperativeKernel(const void* kernel, abi::Dim3 grid, abi::Dim3 block, void** arguments,
                                  std::size_t shared, void* stream) {
    return runtime_call("", [&](State& state) {
        LaunchRequest request;
        request.grid = grid;
        request.block = block;
        request.dynamic_shared = shared;
        request.stream = stream;
        request.arguments = arguments;
        request.cooperative = true;
        return launch(state, Registry::get().function(kernel), request);
    });
}
Error cudaLaunchKernelExC(const abi::LaunchConfig* config, const void* kernel, void** arguments) {
    return runtime_call("", [&](State& state) {
        if (!config)
            return Error::invalid_value;
        LaunchRequest request;
        request.grid = config->grid;
        request.block = config->block;
        request.dynamic_shared = config->dynamic_shared;
        request.stream = config->stream;
        request.attributes = {config->attributes, config->attribute_count};
        request.arguments = arguments;
        return launch(state, Registry::get().function(kernel), request);
    });
}

} // extern "C"

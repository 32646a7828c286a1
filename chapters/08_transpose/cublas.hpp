/// @file cublas.hpp
/// The transposition of cuBLAS, if the machine has the library: it is looked for when the program runs.
#pragma once

#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace transpose {

/// `geam` of cuBLAS (C = alpha · op(A) + beta · op(B)) as an out-of-place transposition.
class Geam {
  public:
    /// Looks for the library; available() says whether it was found.
    Geam() {
        for (const char* name : {"libcublas.so.13", "libcublas.so", "/usr/local/cuda/lib64/libcublas.so.13"})
            if (library_.reset(dlopen(name, RTLD_NOW | RTLD_LOCAL)); library_)
                break;
        if (!library_)
            return;
        const auto create = function<int (*)(void**)>("cublasCreate_v2");
        destroy_ = function<int (*)(void*)>("cublasDestroy_v2");
        geam_ = function<GeamFunction>("cublasSgeam");
        if (create == nullptr || destroy_ == nullptr || geam_ == nullptr || create(&handle_) != 0)
            handle_ = nullptr;
    }
    ~Geam() {
        if (handle_ != nullptr)
            destroy_(handle_);
    }
    Geam(const Geam&) = delete;
    Geam& operator=(const Geam&) = delete;

    [[nodiscard]] bool available() const noexcept { return handle_ != nullptr; }

    /// out[c · rows + r] = in[r · columns + c]. cuBLAS counts down columns: to it `in` has `columns` rows.
    void transpose(const float* in, float* out, int rows, int columns) const {
        constexpr int none = 0;
        constexpr int transposed = 1;
        const float one = 1;
        const float zero = 0;
        const int status =
            geam_(handle_, transposed, none, rows, columns, &one, in, columns, &zero, out, rows, out, rows);
        if (status != 0)
            throw std::runtime_error("cublasSgeam: status " + std::to_string(status));
    }

  private:
    using GeamFunction = int (*)(void*, int, int, int, int, const float*, const float*, int, const float*,
                                 const float*, int, float*, int);
    struct Close {
        void operator()(void* library) const noexcept { dlclose(library); }
    };

    template <class Function>
    [[nodiscard]] Function function(const char* name) const {
        return reinterpret_cast<Function>(dlsym(library_.get(), name));
    }

    std::unique_ptr<void, Close> library_;
    void* handle_ = nullptr;
    int (*destroy_)(void*) = nullptr;
    GeamFunction geam_ = nullptr;
};

} // namespace transpose

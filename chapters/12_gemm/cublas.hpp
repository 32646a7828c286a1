/// @file cublas.hpp
/// Matrix products of cuBLAS and cuBLASLt, if the machine has the libraries: they are looked for when the
/// program runs, and need no header.
#pragma once

#include "tiles.cuh"

#include <dlfcn.h>
#include <library_types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gemm {

/// A library that was found, or not.
class Library {
  public:
    /// @param version of its binary interface: what comes after `.so.`
    /// @param look false: not looked for. NVIDIA's libraries bring a runtime of their own, which needs a GPU
    Library(const std::string& name, int version, bool look = true) {
        if (!look)
            return;
        const std::string file = name + ".so." + std::to_string(version);
        for (const std::string& path : {file, name + ".so", "/usr/local/cuda/lib64/" + file})
            if (handle_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)); handle_)
                break;
    }
    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Null if the library, or the function, is not there.
    template <class Function>
    [[nodiscard]] Function function(const char* name) const {
        return handle_ ? reinterpret_cast<Function>(dlsym(handle_.get(), name)) : nullptr;
    }

  private:
    struct Close {
        void operator()(void* library) const noexcept { dlclose(library); }
    };
    std::unique_ptr<void, Close> handle_;
};

/// Throws std::runtime_error if `status` is not 0.
inline void cublas_check(int status, const char* what) {
    if (status != 0)
        throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
}

inline constexpr int cublas_transposed = 1, cublas_as_it_is = 0; ///< cublasOperation_t
inline constexpr int cublas_f32_sums = 68;                       ///< CUBLAS_COMPUTE_32F

/// cublasGemmEx for bf16. cuBLAS counts down columns: to it out is n × m, the product of b and a.
class Cublas {
  public:
    /// @param look false: not available; see Library
    explicit Cublas(bool look)
        : library_("libcublas", 13, look), multiply_(library_.function<Multiply>("cublasGemmEx")) {
        const auto create = library_.function<int (*)(void**)>("cublasCreate_v2");
        destroy_ = library_.function<int (*)(void*)>("cublasDestroy_v2");
        if (create == nullptr || destroy_ == nullptr || multiply_ == nullptr || create(&handle_) != 0)
            handle_ = nullptr;
    }
    ~Cublas() {
        if (handle_ != nullptr)
            destroy_(handle_);
    }
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;

    [[nodiscard]] bool available() const noexcept { return handle_ != nullptr; }

    void multiply(const bf16* a, const bf16* b, bf16* out, Extent extent) const {
        const auto [m, n, k] =
            std::array{static_cast<int>(extent.m), static_cast<int>(extent.n), static_cast<int>(extent.k)};
        const float one = 1, zero = 0;
        constexpr int library_chooses = -1;
        cublas_check(multiply_(handle_, cublas_transposed, cublas_as_it_is, n, m, k, &one, b, CUDA_R_16BF, k,
                               a, CUDA_R_16BF, k, &zero, out, CUDA_R_16BF, n, cublas_f32_sums,
                               library_chooses),
                     "cublasGemmEx");
    }

  private:
    using Multiply = int (*)(void*, int, int, int, int, int, const void*, const void*, cudaDataType, int,
                             const void*, cudaDataType, int, const void*, void*, cudaDataType, int, int, int);
    Library library_;
    Multiply multiply_;
    int (*destroy_)(void*) = nullptr;
    void* handle_ = nullptr;
};

/// cublasLtMatmul for e4m3 with results in bf16, by each of the algorithms that the library proposes.
class CublasLt {
  public:
    /// @param fast_sums lets the tensor cores add up as they like, with fewer bits than f32 has
    /// @param look false: not available, as above
    CublasLt(Extent extent, bool fast_sums, bool look)
        : library_("libcublasLt", 13, look), multiply_(library_.function<Multiply>("cublasLtMatmul")) {
        const auto create = library_.function<int (*)(void**)>("cublasLtCreate");
        if (create == nullptr || multiply_ == nullptr || create(&handle_) != 0) {
            handle_ = nullptr;
            return;
        }
        describe(extent, fast_sums);
        ask();
    }

    [[nodiscard]] bool available() const noexcept { return handle_ != nullptr && !algorithms_.empty(); }
    [[nodiscard]] std::size_t algorithms() const noexcept { return algorithms_.size(); }
    [[nodiscard]] static constexpr std::size_t workspace_bytes() { return std::size_t{64} << 20; }

    /// @param workspace workspace_bytes() of device memory
    void multiply(const e4m3* a, const e4m3* b, bf16* out, std::size_t algorithm,
                  std::span<std::byte> workspace) const {
        const float one = 1, zero = 0;
        cublas_check(multiply_(handle_, operation_, &one, b, b_, a, a_, &zero, out, out_, out, out_,
                               algorithms_[algorithm].algorithm.data(), workspace.data(), workspace.size(),
                               nullptr),
                     "cublasLtMatmul");
    }

  private:
    /// cublasLtMatmulHeuristicResult_t
    struct Proposal {
        std::array<std::uint64_t, 8> algorithm;
        std::size_t workspace;
        int state;
        float waves;
        int reserved[4];
    };
    using Multiply = int (*)(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                             const void*, void*, void*, void*, const void*, void*, std::size_t, void*);

    void describe(Extent extent, bool fast_sums) {
        const auto describe_product =
            library_.function<int (*)(void**, int, cudaDataType)>("cublasLtMatmulDescCreate");
        const auto set = library_.function<int (*)(void*, int, const void*, std::size_t)>(
            "cublasLtMatmulDescSetAttribute");
        const auto describe_matrix =
            library_.function<int (*)(void**, cudaDataType, std::uint64_t, std::uint64_t, std::int64_t)>(
                "cublasLtMatrixLayoutCreate");
        cublas_check(describe_product(&operation_, cublas_f32_sums, CUDA_R_32F), "cublasLtMatmulDescCreate");
        constexpr int transpose_first = 3, fast_accumulation = 25; // cublasLtMatmulDescAttributes_t
        const int transposed = cublas_transposed;
        const auto fast = static_cast<std::int8_t>(fast_sums);
        cublas_check(set(operation_, transpose_first, &transposed, sizeof transposed), "transposing");
        cublas_check(set(operation_, fast_accumulation, &fast, sizeof fast), "choosing the sums");
        const auto [m, n, k] = extent;
        cublas_check(describe_matrix(&b_, CUDA_R_8F_E4M3, k, n, k), "describing b");
        cublas_check(describe_matrix(&a_, CUDA_R_8F_E4M3, k, m, k), "describing a");
        cublas_check(describe_matrix(&out_, CUDA_R_16BF, n, m, n), "describing out");
    }

    void ask() {
        const auto create = library_.function<int (*)(void**)>("cublasLtMatmulPreferenceCreate");
        const auto set = library_.function<int (*)(void*, int, const void*, std::size_t)>(
            "cublasLtMatmulPreferenceSetAttribute");
        const auto propose =
            library_.function<int (*)(void*, void*, void*, void*, void*, void*, void*, int, Proposal*, int*)>(
                "cublasLtMatmulAlgoGetHeuristic");
        void* wishes = nullptr;
        cublas_check(create(&wishes), "cublasLtMatmulPreferenceCreate");
        constexpr int most_workspace = 1; // cublasLtMatmulPreferenceAttributes_t
        const std::size_t bytes = workspace_bytes();
        cublas_check(set(wishes, most_workspace, &bytes, sizeof bytes), "limiting the workspace");
        std::array<Proposal, 16> proposals{};
        int count = 0;
        cublas_check(propose(handle_, operation_, b_, a_, out_, out_, wishes, proposals.size(),
                             proposals.data(), &count),
                     "cublasLtMatmulAlgoGetHeuristic");
        algorithms_.assign(proposals.begin(), proposals.begin() + count);
    }

    Library library_;
    Multiply multiply_;
    void* handle_ = nullptr; // these four live as long as the program
    void* operation_ = nullptr;
    void *a_ = nullptr, *b_ = nullptr, *out_ = nullptr;
    std::vector<Proposal> algorithms_{};
};

} // namespace gemm

/// \file
/// What the tests of the emulator's CUDA libraries share. They use the CUDA runtime alone, so that they pass
/// on a GPU as well.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

/// Fails with the error's name.
#define CHECK_CUDA(call)                                                                                     \
    do {                                                                                                     \
        const cudaError_t cuda_error = (call);                                                               \
        INFO(#call << ": " << cudaGetErrorName(cuda_error));                                                 \
        CHECK(cuda_error == cudaSuccess);                                                                    \
    } while (false)

/// A function of the driver, as the runtime hands it out.
template <class Function>
Function driver_function(const char* name, unsigned version = 13000) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult status{};
    INFO(name);
    REQUIRE(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &status) ==
            cudaSuccess);
    REQUIRE(status == cudaDriverEntryPointSuccess);
    REQUIRE(function != nullptr);
    return reinterpret_cast<Function>(function);
}

/// Device memory.
template <class T>
class Memory {
  public:
    explicit Memory(std::size_t count) : count_(count) {
        REQUIRE(cudaMalloc(&data_, count * sizeof(T)) == cudaSuccess);
    }
    explicit Memory(const std::vector<T>& values) : Memory(values.size()) {
        REQUIRE(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
        // From pageable memory the copy may return before its bytes have arrived, and streams that do not
        // wait for the legacy stream would overtake it (CUDA Runtime API, 'API synchronization behavior').
        REQUIRE(cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess);
    }
    ~Memory() { cudaFree(data_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    T* data() const { return data_; }
    std::size_t size() const { return count_; }
    std::vector<T> read() const {
        std::vector<T> values(count_);
        INFO(cudaGetErrorName(cudaPeekAtLastError()));
        REQUIRE(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
        return values;
    }

  private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

/// @file check.hpp
/// Turns the error code of a CUDA call into an exception with a message that says what to do.
///
/// The check is a function, so that no build type strips it and no macro hides control flow.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace workbook {

/// A CUDA call that failed. what() is one line: what failed, where, and what to do.
class CudaError : public std::runtime_error {
  public:
    CudaError(cudaError_t code, const std::string& message) : std::runtime_error(message), code_(code) {}

    /// The code that the call returned.
    [[nodiscard]] cudaError_t code() const noexcept { return code_; }

  private:
    cudaError_t code_;
};

/// True for an error after which every further CUDA call of the process fails too.
/// Source: CUDA Runtime API, cudaError ('the process must be terminated and relaunched').
[[nodiscard]] constexpr bool is_sticky(cudaError_t code) noexcept {
    switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
        return true;
    default:
        return false;
    }
}

/// One sentence of advice for the errors that a reader of the workbook can meet; empty for the others.
[[nodiscard]] constexpr std::string_view advice(cudaError_t code) noexcept {
    switch (code) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
        return "no usable GPU: run it on the emulator, './workbook run --backend emulator NAME'";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return "the program was built for another GPU or a newer driver: rebuild it, or run it on the "
               "emulator, "
               "'./workbook run --backend emulator NAME'";
    case cudaErrorMemoryAllocation:
        return "not enough device memory: choose a smaller --size";
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
        return "the launch asks for more threads, shared memory or cluster blocks than the device has";
    case cudaErrorInvalidValue:
        return "an argument of the call is out of its range";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
        return "a kernel did what it must not: the emulator's report names the mistake and the line";
    default:
        return {};
    }
}

/// Throws CudaError unless `status` is cudaSuccess.
/// @param status what the CUDA call returned
/// @param what   the call or the step, in the reader's words; may be empty
/// @param where  filled in by the compiler: the line that called check
inline void check(cudaError_t status, std::string_view what = {},
                  const std::source_location& where = std::source_location::current()) {
    if (status == cudaSuccess) [[likely]]
        return;
    (void)cudaGetLastError(); // it is reported here, and shall not be found again by check_launch
    std::string message(what.empty() ? std::string_view("CUDA call") : what);
    message.append(" failed at ").append(where.file_name()).append(":").append(std::to_string(where.line()));
    message.append(": ").append(cudaGetErrorName(status));
    message.append(" (").append(cudaGetErrorString(status)).append(")");
    if (const std::string_view hint = advice(status); !hint.empty())
        message.append("; ").append(hint);
    throw CudaError(status, message);
}

/// Throws if the launch just made was refused. Does not wait for the kernel.
inline void check_launch(std::string_view what = "kernel launch",
                         const std::source_location& where = std::source_location::current()) {
    check(cudaGetLastError(), what, where);
}

/// Waits for all work of the device and throws if any of it failed.
inline void synchronize(std::string_view what = "kernel",
                        const std::source_location& where = std::source_location::current()) {
    check(cudaDeviceSynchronize(), what, where);
}

} // namespace workbook

#pragma once
/// \file
/// The error codes of the CUDA runtime and driver. Both number them alike since CUDA 10.1, so one type
/// serves.

namespace emu::cuda {

/// The codes the emulator returns (cudaError_t and CUresult; driver_types.h and cuda.h of CUDA 13.0).
enum class Error : int {
    success = 0,
    invalid_value = 1,
    memory_allocation = 2,
    not_initialised = 3,
    unloading = 4,
    invalid_configuration = 9,
    invalid_pitch = 12,
    invalid_symbol = 13,
    invalid_host_pointer = 16,
    invalid_device_pointer = 17,
    invalid_copy_direction = 21,
    missing_configuration = 52,
    invalid_device_function = 98,
    invalid_device = 101,
    invalid_image = 200,
    invalid_context = 201,
    no_kernel_image = 209,
    peer_access_unsupported = 217,
    unsupported_limit = 215,
    invalid_ptx = 218,
    file_not_found = 301,
    operating_system = 304,
    invalid_handle = 400,
    illegal_state = 401,
    symbol_not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_timeout = 702,
    peer_access_already_enabled = 704,
    peer_access_not_enabled = 705,
    assert_failed = 710,
    host_memory_already_registered = 712,
    host_memory_not_registered = 713,
    illegal_instruction = 715,
    misaligned_address = 716,
    invalid_address_space = 717,
    invalid_pc = 718,
    launch_failure = 719,
    cooperative_launch_too_large = 720,
    not_supported = 801,
    capture_unsupported = 900,
    capture_invalidated = 901,
    capture_merge = 902,
    capture_unmatched = 903,
    capture_unjoined = 904,
    capture_isolation = 905,
    capture_implicit = 906,
    captured_event = 907,
    capture_wrong_thread = 908,
    graph_exec_update_failure = 910,
    invalid_cluster_size = 912,
    unknown = 999,
};

/// How programs print an error.
struct ErrorText {
    int number = 0;
    const char* runtime_name = ""; ///< "cudaErrorInvalidValue"; empty if only the driver has it.
    const char* driver_name = "";  ///< "CUDA_ERROR_INVALID_VALUE"; empty if only the runtime has it.
    const char* text = "";         ///< "invalid argument"
};

/// The row of an error number, nullptr for numbers CUDA does not have.
const ErrorText* find_error(int number);

/// cudaXxx is not there: says so, once per name. Returns cudaErrorNotSupported.
Error refuse_runtime(const char* function) noexcept;
/// cuXxx is not there.
Error refuse_driver(const char* function) noexcept;

/// Answers a call that asks for one value; invalid_value where there is no place for it.
template <class T>
Error put(T* where, T value) {
    if (!where)
        return Error::invalid_value;
    *where = value;
    return Error::success;
}

} // namespace emu::cuda

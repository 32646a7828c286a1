/// \file
/// CUDA runtime: error state, names and texts, versions, profiler switches.

#include "cuda/abi.hpp"
#include "cuda/state.hpp"

using namespace emu::cuda;

namespace {

Error give_version(int* version) {
    if (!version)
        return remember(Error::invalid_value);
    *version = abi::version;
    return Error::success;
}

} // namespace

extern "C" {

Error cudaGetLastError() { return last_error(true); }
Error cudaPeekAtLastError() { return last_error(false); }

const char* cudaGetErrorName(int error) {
    const ErrorText* found = find_error(error);
    return found && *found->runtime_name ? found->runtime_name : "unrecognized error code";
}
const char* cudaGetErrorString(int error) {
    const ErrorText* found = find_error(error);
    return found && *found->runtime_name ? found->text : "unrecognized error code";
}

Error cudaRuntimeGetVersion(int* version) { return give_version(version); }
Error cudaDriverGetVersion(int* version) { return give_version(version); }

Error cudaProfilerStart() { return Error::success; }
Error cudaProfilerStop() { return Error::success; }

} // extern "C"

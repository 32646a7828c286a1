#pragma once
/// \file
/// Driver functions by name and version (cuGetProcAddress, cudaGetDriverEntryPointByVersion).

namespace emu::cuda {

struct EntryPoint {
    void* address = nullptr;
    /// CUdriverProcAddressQueryResult and cudaDriverEntryPointQueryResult.
    enum class Status : int {
        found = 0,
        not_found = 1,
        version_not_sufficient = 2
    } status = Status::not_found;
};

/// The function that `symbol` (without version suffix) means to a program built for CUDA `version` (such as
/// 12000).
EntryPoint find_entry_point(const char* symbol, int version);

} // namespace emu::cuda

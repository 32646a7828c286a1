#pragma once
/// \file
/// What the API keeps for each thread. It belongs to the owner of the process's state; the thread has a
/// pointer to it and no destructor of its own, so that destructors of the program's thread-local objects may
/// call the API in any order.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"
#include "cuda/streams.hpp"

#include <cstddef>
#include <vector>

namespace emu::cuda {

struct Context;

/// `kernel<<<grid, block, shared, stream>>>` pushes, the kernel's host stub pops.
struct CallConfiguration {
    abi::Dim3 grid, block;
    std::size_t shared = 0;
    void* stream = nullptr;
};

struct ThreadState {
    Error error = Error::success; ///< Of cudaGetLastError.
    CaptureMode capture_mode = CaptureMode::global;
    Stream stream; ///< cudaStreamPerThread
    std::vector<CallConfiguration> calls;
    std::vector<Context*> contexts; ///< That were made current, the current one last.
    bool primary_below = false;     ///< The runtime made the primary context current, below all of these.
};

/// Of the calling thread. Made anew if a thread still calls after its state was taken down.
ThreadState& this_thread();

} // namespace emu::cuda

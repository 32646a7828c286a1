#pragma once
/// \file
/// What a stream can be asked to do. An operation becomes a task of the timeline; while its stream is
/// captured it becomes a node of a graph.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"
#include "cuda/timeline.hpp"
#include "hopper_emulator/launch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace emu::cuda {

struct Function;
struct Event;
class Graph;
class State;

/// A kernel launch whose arguments have been copied and checked.
struct KernelOperation {
    Function* function = nullptr;
    emu::LaunchConfig config;
    std::vector<std::byte> parameters; ///< The parameter block, at the kernel's offsets.
    /// It may begin before the kernel before it in its stream has ended
    /// (cudaLaunchAttributeProgrammaticStreamSerialization).
    bool programmatic = false;
};

/// A copy of `depth` slices of `height` rows of `width` bytes.
struct CopyOperation {
    std::byte* destination = nullptr;
    const std::byte* source = nullptr;
    std::size_t destination_pitch = 0, source_pitch = 0; ///< Bytes from row to row.
    std::size_t destination_slice = 0, source_slice = 0; ///< Bytes from slice to slice.
    std::size_t width = 0, height = 1, depth = 1;
    abi::CopyKind kind = abi::CopyKind::by_address;
    bool host_waits = false; ///< The host waits for its end before it goes on.
    std::shared_ptr<const std::vector<std::byte>> staged = nullptr; ///< Where `source` points, see stage().
};

/// Fills `depth` slices of `height` rows of `width` elements.
struct FillOperation {
    std::byte* destination = nullptr;
    std::size_t pitch = 0, slice = 0; ///< Bytes.
    std::uint32_t value = 0;
    bool host_waits = false;                      ///< As in a copy.
    unsigned element_size = 1;                    ///< 1, 2 or 4 bytes.
    std::size_t width = 0, height = 1, depth = 1; ///< Width in elements.
};

struct HostOperation {
    abi::HostFunction function = nullptr;
    void* user_data = nullptr;
};
struct EventOperation {
    std::shared_ptr<Event> event; ///< A node keeps an event that the program has destroyed.
    bool record = true;           ///< Else: wait.
    bool external = false;        ///< In a capture: a node of its own instead of a dependency.
};
struct GraphOperation {
    std::shared_ptr<const Graph> graph;
};
/// Memory of a graph: it exists from this node on until it is freed, in every launch at the same address.
struct AllocationOperation {
    Address base = 0; ///< Reserved (GlobalMemory::reserve).
    std::uint64_t size = 0;
};
struct FreeOperation {
    void* pointer = nullptr;
};
/// A node that only orders others.
struct EmptyOperation {};

using Operation = std::variant<EmptyOperation, KernelOperation, CopyOperation, FillOperation, HostOperation,
                               EventOperation, GraphOperation, AllocationOperation, FreeOperation>;

/// Checks addresses, pitches and sizes of a copy or fill. `success` or the error CUDA defines; a wrong range
/// is explained on stderr, since the error code alone says little. `what` names the API function.
Error check(State& state, const CopyOperation& copy);
Error check(State& state, const FillOperation& fill);

/// The task that carries an operation out, but for graphs, which have many. Throws ApiError when it cannot
/// begin at all. Faults of kernels become pending errors of the state.
TaskRef task_of(State& state, const Operation& operation);

/// Keeps what a copy reads of the host's pageable memory, which the program may change once the call has
/// returned.
void stage(State& state, CopyOperation& copy);
/// Whether the call returns only when the copy has ended, since it works on the host's pageable memory (CUDA
/// runtime API, "API synchronization behavior").
bool is_synchronous(State& state, const CopyOperation& copy);

/// A checked kernel, ready to start (launch.cpp). Throws ApiError.
std::shared_ptr<Launch> prepare_kernel(State& state, const KernelOperation& launch);

} // namespace emu::cuda

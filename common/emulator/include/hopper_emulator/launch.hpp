#pragma once
/// \file
/// A launch: its shape, and what comes of it.

#include "hopper_emulator/dim3.hpp"
#include "hopper_emulator/findings.hpp"
#include "hopper_emulator/footprint.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace emu {
class Launch; ///< One that Device::prepare() made; what it holds is the library's own.
}

#pragma GCC visibility push(default)
namespace emu {

/// Lanes of a warp as bits, lane 0 lowest.
using LaneMask = std::uint32_t;
inline constexpr unsigned warp_size = 32;          ///< Threads.
inline constexpr LaneMask all_lanes = 0xffffffffu; ///< All 32.

/// Shape of a launch.
struct LaunchConfig {
    Dim3 grid;                        ///< Blocks.
    Dim3 block;                       ///< Threads.
    Dim3 cluster;                     ///< Blocks; {1,1,1}: none.
    std::uint32_t dynamic_shared = 0; ///< Bytes per block.
    bool cooperative = false;         ///< The grid may use a barrier of its own (grid.sync()).
    bool cluster_launch = false;      ///< Launched as a cluster, be it of one block.
    /// Some instructions exist only in a cluster launch (%is_explicit_cluster).
    bool explicit_cluster() const { return cluster_launch || cluster.volume() > 1; }
    /// Every member is equal.
    friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

/// A kernel that has to do with another one, which waits for memory that something else must write.
struct NearbyKernel {
    /// Why it stands behind the other one, which must have ended before it begins; or that it does not.
    enum class Place : std::uint8_t {
        behind_in_stream,         ///< Both are in the same stream.
        behind_by_default_stream, ///< One is in the legacy default stream, the other in a blocking stream.
        behind_by_edge,           ///< By an event, or an edge of a graph.
        beside,                   ///< It has begun, and waits as well.
    };
    std::string name; ///< Demangled.
    Place place = Place::beside;
};

/// What came of a launch that ran.
struct LaunchResult {
    /// That of the first error, `none` if there is none. An error does not always stop a launch: one with a
    /// race comes to its end all the same.
    Fault fault = Fault::none;
    std::vector<Diagnostic>
        diagnostics;                ///< Errors, warnings and notes, in the order in which they were found.
    std::uint64_t instructions = 0; ///< Thread instructions executed.
    std::exception_ptr error =
        nullptr; ///< What kept the emulator itself from going on, such as lack of memory.
    std::shared_ptr<const Footprint> footprint = nullptr; ///< If it was wished for and checks are on.
    std::shared_ptr<const GridFacts> grids = nullptr;     ///< If the kernel uses griddepcontrol.
    /// It was told to stop, by an error of its own, by the fault of a launch beside it, or by
    /// Device::finish(): not all of its threads may have come to their end. With `fault` none and no
    /// diagnostics, nothing is wrong with the kernel, but its results are not complete.
    bool stopped = false;
};

/// Why a launch was refused before it began.
enum class LaunchError : std::uint8_t {
    none,
    invalid_configuration, ///< Zero or too large dimensions, too much shared memory.
    out_of_resources,      ///< `.maxntid` violated, or no memory is left for the parameters.
    invalid_cluster,       ///< Grid not a multiple of the cluster, cluster too large.
    unsupported, ///< The kernel has an instruction that is not known; the result's diagnostics name it.
    invalid_parameters, ///< The module has no such kernel. The bytes of the parameters are never refused.
};

/// A launch that was refused, or its result.
struct LaunchOutcome {
    LaunchError error = LaunchError::none; ///< Why it was refused.
    std::string message;                   ///< One line, without line end, when error != none.
    LaunchResult result;                   ///< Of a launch that was refused: findings about the kernel.
};

} // namespace emu
#pragma GCC visibility pop

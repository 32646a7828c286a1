#pragma once
/// \file
/// Exact, repeatable counters of a launch and of its source lines. They count what PTX instructions ask of
/// the memory system, in the terms of Nsight Compute where it has the same counter. They do not depend on
/// host threads.

#include "hopper_emulator/launch.hpp"
#include "hopper_emulator/observer.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// What is counted.
enum class Counter : std::uint8_t {
    warp_instructions,   ///< PTX instructions a warp executed with at least one lane.
    thread_instructions, ///< The same, times lanes.
    global_load_requests,
    global_load_sectors, ///< 32-byte sectors, each once per request.
    global_store_requests,
    global_store_sectors,
    global_atomic_requests,
    shared_load_requests,
    shared_load_wavefronts, ///< Passes over the 32 banks of 4 bytes; the same word for many lanes is one
                            ///< access.
    shared_load_conflicts,  ///< Wavefronts beyond the fewest an access of that width can take.
    shared_store_requests,
    shared_store_wavefronts,
    shared_store_conflicts,
    shared_atomic_requests,
    local_requests, ///< Register spills, stack.
    bytes_global_to_registers,
    bytes_registers_to_global,
    bytes_cluster_shared, ///< Loads and stores of registers in another block's shared memory.
    bytes_cp_async,       ///< Bytes that land in shared memory.
    bytes_cp_async_zeros, ///< Of those: filled with zeros, not read.
    bytes_bulk_load,      ///< Bytes that land in shared memory.
    bytes_bulk_store,
    bytes_bulk_shared,
    bytes_bulk_reduce,
    bytes_tensor_load, ///< Bytes of the box; multicast counts every destination.
    bytes_tensor_store,
    bytes_tensor_reduce,
    tensor_load_sectors,  ///< 32-byte sectors of global memory, as an H200 moves them:
                          ///< TensorTile::load_sectors.
    tensor_store_sectors, ///< The same; reductions are no part of it.
    bytes_st_async,
    bytes_multicast, ///< Of the loaded bytes: those of the further blocks of a multicast, not read again.
    async_operations,
    block_barriers,   ///< Completed.
    cluster_barriers, ///< Completed.
    /// Of those that mbarrier.init counts: of threads, and of cp.async.mbarrier.arrive.noinc. Without .noinc
    /// that instruction expects one arrival more and brings it, which makes none.
    mbarrier_arrivals,
    mbarrier_phases, ///< Completed.
    mbarriers,       ///< Initialised, and completed a phase.
    launches,
    blocks,
    warps,
    threads,
    global_load_extra_sectors,  ///< Beyond the fewest that hold the bytes of a request.
    global_store_extra_sectors, ///< The same.
    global_load_requests_wide,  ///< 16 bytes for each thread.
    global_store_requests_wide,
    shared_load_requests_wide,
    shared_store_requests_wide,
    bytes_registers_to_shared, ///< Of the own block.
    bytes_shared_to_registers, ///< The same.
    /// Waits of a thread, or barriers that told it of one, after which copies of its own were no longer under
    /// way.
    async_waits,
    bytes_in_flight_at_waits, ///< Of the thread's copies that are still under way then.
    /// Reads, by threads that issue copies, of shared memory that a copy wrote last.
    async_uses,
    bytes_in_flight_at_uses, ///< Of the thread's copies that are under way then.
    bytes_loading_at_uses,   ///< Of those: of copies to shared memory.
    bytes_loading_at_stores, ///< The same at each store of a thread to global memory.
    /// Of each thread, while its warp does not know that what its last arrival handed over was used.
    shared_stores_ahead,
    bytes_in_flight_at_issues,    ///< At each copy: of the thread's copies of other groups and phases.
    instructions_arrival_to_wait, ///< Of a thread, from an arrival to its first attempt to wait.
    instructions_issue_to_wait,   ///< The same from its last copy.
    bytes_loaded_arrival_to_wait, ///< Of a thread from global memory, from an arrival to that attempt.
    bytes_announced,              ///< By expect_tx, at mbarriers.
    wgmma_instructions,           ///< wgmma.mma_async, once for each warp.
    bytes_shared_to_wgmma,        ///< Of A and B, each once for the four warps.
    wgmma_wavefronts,             ///< Passes over the 32 banks that they take.
    matrix_instructions,          ///< mma, wmma.mma, wgmma.mma_async: once for each warp.
    multiply_adds_f16,            ///< Of those, by the type of A; those with the zeros of a sparse A too.
    multiply_adds_bf16,
    multiply_adds_tf32,
    multiply_adds_f64,
    multiply_adds_fp8,
    multiply_adds_int8,
    multiply_adds_int4,
    multiply_adds_b1,
    count_
};
/// How many counters there are.
inline constexpr unsigned counter_count = static_cast<unsigned>(Counter::count_);
/// As the table and the JSON have it: "shared_load_wavefronts".
std::string_view name_of(Counter counter);
/// What is counted, in a few words behind the name.
std::string_view meaning_of(Counter counter);

/// A number for each counter.
struct Counts {
    std::array<std::uint64_t, counter_count> value{}; ///< By Counter.
    /// One of them.
    std::uint64_t& operator[](Counter c) { return value[static_cast<unsigned>(c)]; }
    /// One of them.
    std::uint64_t operator[](Counter c) const { return value[static_cast<unsigned>(c)]; }
    /// Adds each.
    Counts& operator+=(const Counts& other);
    /// All are equal.
    bool operator==(const Counts&) const = default;
};

/// The counters of one launch.
struct LaunchCounts {
    std::string kernel;         ///< Demangled name.
    LaunchConfig config;        ///< Its shape.
    std::uint64_t serial = 0;   ///< Of the launch in its device, from 1.
    std::uint64_t launches = 1; ///< More when launches of one kernel and shape were added up.
    Counts total;               ///< Of the whole launch.
    std::vector<Counts> warps;  ///< What single warps did, by number in the block, of all blocks.
    /// By file and line, as SourceLine has them. Phases of an mbarrier stand at the line that initialised it.
    std::map<std::pair<std::string, std::uint32_t>, Counts> lines;

    /// Adds the counts of another launch of the same kernel and shape.
    void merge(const LaunchCounts& other);
};

/// Passes over the banks that a shared-memory access of `bytes` per lane takes, and the fewest it could take.
/// 8-byte accesses go in two halves of the warp, 16-byte accesses in four quarters.
struct Wavefronts {
    unsigned taken = 0;  ///< By this access.
    unsigned fewest = 0; ///< By one of as many lanes without conflicts.
};
/// Of an access at these addresses, one for each of 32 lanes.
Wavefronts shared_wavefronts(std::span<const Address> addresses, LaneMask lanes, unsigned bytes);

/// 32-byte sectors the lanes touch, each counted once.
unsigned global_sectors(std::span<const Address> addresses, LaneMask lanes, unsigned bytes);

/// Counts every launch. `file`: where each launch adds a line of JSON; "-" prints a table for each kernel and
/// shape on stderr when the observer ends; "" keeps the counters for launches(). A file that cannot be
/// written is told on stderr after each launch. The device destroys the observer: ask it before
/// Device::finish().
class Counters final : public Observer {
  public:
    /// Empties the file, if it is one.
    explicit Counters(std::string file);
    ~Counters() override;
    /// \name Of Observer
    /// @{
    void on_launch_begin(const LaunchInfo& info) override;
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override;
    void on_launch_end(const LaunchInfo& info) override;
    /// @}

    /// Of the launches that ended, in that order; none if there is a file. Not to be asked while a launch
    /// runs.
    const std::vector<LaunchCounts>& launches() const { return launches_; }
    /// One row for each counter, zeros included, with its meaning; what is worth dividing; then the lines.
    static std::string table(const LaunchCounts& counts);
    /// One line of JSON.
    static std::string json(const LaunchCounts& counts);
    /// Adds a cluster's counts to those of its launch; thread-safe.
    void add(std::uint64_t serial, const std::vector<std::pair<std::uint32_t, Counts>>& by_pc,
             const std::vector<Counts>& by_warp);

  private:
    std::string file_;
    std::mutex mutex_;
    /// Of a launch under way.
    struct Running {
        std::vector<Counts> by_pc, by_warp;
    };
    std::map<std::uint64_t, Running> running_; ///< By serial number.
    std::vector<LaunchCounts> launches_;
};

} // namespace emu
#pragma GCC visibility pop

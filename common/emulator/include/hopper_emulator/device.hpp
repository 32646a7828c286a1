#pragma once
/// \file
/// The emulated GPU: memory, modules, launches.

#include "hopper_emulator/launch.hpp"
#include "hopper_emulator/memory.hpp"
#include "hopper_emulator/module.hpp"
#include "hopper_emulator/observer.hpp"
#include "hopper_emulator/settings.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emu {
class Executor;
class GridDependency;
class HostThreads;
class LaunchReporter;
class Reporter;
struct Flaw;
} // namespace emu

#pragma GCC visibility push(default)
namespace emu {

/// Public numbers of the emulated device (NVIDIA H200 SXM: data sheet and CUDA programming guide, compute
/// capability 9.0).
struct DeviceNumbers {
    static constexpr unsigned multiprocessors = 132;                  ///< Of the board.
    static constexpr std::uint64_t memory_bytes = 141'000'000'000;    ///< Global memory.
    static constexpr unsigned l2_bytes = 60u << 20;                   ///< Second-level cache.
    static constexpr unsigned max_threads_per_block = 1024;           ///< Threads.
    static constexpr unsigned max_threads_per_multiprocessor = 2048;  ///< Threads.
    static constexpr unsigned max_blocks_per_multiprocessor = 32;     ///< Blocks.
    static constexpr unsigned shared_per_multiprocessor = 228 * 1024; ///< Bytes.
    static constexpr unsigned registers_per_multiprocessor = 65536;   ///< Of 32 bits.
    static constexpr unsigned portable_cluster = 8;                   ///< Blocks.
    static constexpr unsigned max_cluster = 16; ///< Blocks, where the kernel allows more than 8.
    /// Blocks of a cluster, at most; `nonportable`: the kernel permits more than every device can do.
    static constexpr unsigned largest_cluster(bool nonportable) {
        return nonportable ? max_cluster : portable_cluster;
    }
};

/// An emulated device, made by make_device(). Observers are attached before the first launch; then any thread
/// may allocate, load and launch, and launches overlap. A device must outlive its modules and launches.
class Device {
  public:
    /// Reserves address space and starts no thread yet. Without a reporter launches fail and nobody says why,
    /// and nothing is attached: a program calls make_device().
    explicit Device(MachineSettings settings, std::shared_ptr<Reporter> reporter = nullptr);
    /// A device as it was at a launch of another process: its memory is made of the image (see GlobalMemory),
    /// and its next launch has the number `serial`.
    Device(MachineSettings settings, std::shared_ptr<Reporter> reporter, const MemoryImage& image,
           std::vector<Address> awaited, std::uint64_t serial);
    /// Would drop the checks and the files that the settings ask for: make_device() does not.
    explicit Device(const Settings& settings) = delete;
    /// Calls finish().
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// As given.
    const MachineSettings& settings() const { return settings_; }
    /// Its global memory. Addresses are those of the host: what memory().allocate() returns may be read and
    /// written through a pointer, unless MachineSettings::closed_memory is set.
    GlobalMemory& memory() { return memory_; }
    /// Stops what still runs (LaunchResult::stopped), waits for its end, and destroys the observers, which
    /// then tell what they tell last: pointers to them dangle. Nothing may be launched any more.
    void finish();
    /// Attaches an observer, for all later launches; it lives until finish(). Not while a launch runs or
    /// another thread attaches one.
    void add_observer(std::unique_ptr<Observer> observer);
    /// Those that were attached.
    std::span<const std::unique_ptr<Observer>> observers() const { return observers_; }

    /// Parses the text of a module and places its variables. Each call makes a module with variables of its
    /// own. Whatever `.target` the text names, it runs as on compute capability 9.0. Throws ParseError, or
    /// std::runtime_error if memory does not suffice or a symbol stays undefined.
    std::shared_ptr<Module> load(std::string ptx);

    /// Runs a kernel to its end. `module` was loaded by this device. `kernel` is the (mangled) name,
    /// `parameters` the parameter block as the kernel declares it (KernelFacts::signature has the offsets);
    /// it is copied. What is missing at its end has any value, what is too much is ignored.
    /// `max_dynamic_shared`: the dynamic shared memory that this kernel is permitted, in bytes;
    /// `nonportable`: it may have clusters of more than 8 blocks. With the defaults nothing is forbidden that
    /// the device can do. Findings of the launch are in the outcome, and are printed nowhere. A launch with a
    /// fault ends those that run beside it; later ones start as if there had been none. Throws what kept the
    /// emulator itself from going on, what a listener threw, std::invalid_argument for a module of another
    /// device, and std::logic_error after finish(). Not to be called from an observer, a listener or a hook.
    LaunchOutcome launch(Module& module, std::string_view kernel, const LaunchConfig& config,
                         std::span<const std::byte> parameters,
                         std::uint32_t max_dynamic_shared = max_shared_per_block, bool nonportable = true);

    /// Whether a launch of this shape would be admitted: what the kernel asks for, or nullptr and the reason
    /// in `refused`. A cluster that the kernel itself requires goes to `config`.
    const KernelFacts* admit(Module& module, std::string_view kernel, LaunchConfig& config,
                             std::uint32_t max_dynamic_shared, bool nonportable, LaunchOutcome& refused);

    /// \name Launches that overlap
    /// launch() in two steps.
    /// @{

    /// A launch for start(), or nullptr and the reason in `refused`. The module must outlive it. Throws
    /// std::invalid_argument for a module of another device.
    std::shared_ptr<Launch> prepare(Module& module, std::string_view kernel, const LaunchConfig& config,
                                    std::span<const std::byte> parameters, std::uint32_t max_dynamic_shared,
                                    bool nonportable, LaunchOutcome& refused);
    /// The second step of launch(): runs it to its end.
    LaunchResult run(std::shared_ptr<Launch> launch);
    /// What start() calls, from a host thread of the emulator.
    struct LaunchHooks {
        /// It has ended. May start others; must not throw, nor wait for a launch.
        std::function<void(LaunchResult)> on_end = {};
        /// The kernels behind and beside it, for the report of a deadlock. Asked while nothing moves.
        std::function<std::vector<NearbyKernel>()> nearby = {};
    };
    /// Starts a launch, once, and returns at once; launches run side by side, the oldest first. A launch with
    /// a fault ends those that run beside it (LaunchResult::stopped). Throws what a listener throws at its
    /// begin.
    void start(std::shared_ptr<Launch> launch, LaunchHooks hooks);
    /// Number of the launch in its device, from 1.
    static std::uint64_t serial(const Launch& launch);
    /// What it has to do with grids that overlap in their stream (griddepcontrol).
    static GridDependency& grids(Launch& launch);
    /// It waits for something outside of itself, or has run for long: the host need not wait for its end.
    static bool has_stalled(const Launch& launch);
    /// Another launch or the host has acted beside it.
    static bool had_company(const Launch& launch);
    /// Called, by a host thread of the emulator, when a launch has stalled. To be set before the first start.
    void on_stall(std::function<void()> call);
    /// Something went on outside of all launches that one of them may wait for.
    void note_progress();
    /// While it lives, somebody waits for the end of launches: those that are held back
    /// (GridDependency::hold_back) go on when nothing else can.
    class EndsWanted {
      public:
        /// `device` must outlive it.
        explicit EndsWanted(Device& device);
        ~EndsWanted() { --count_; }
        EndsWanted(const EndsWanted&) = delete;
        EndsWanted& operator=(const EndsWanted&) = delete;

      private:
        std::atomic<unsigned>& count_;
    };
    /// Somebody has asked whether launches have ended, and may do so until they have.
    void note_question();
    /// What the program's own threads do, which decides whether a kernel that waits for the host waits in
    /// vain.
    HostThreads& host_threads();
    /// @}

    /// \name For the library itself
    /// @{
    Executor& executor() { return *executor_; } ///< Its host threads.
    /// For a launch: where it reports; nullptr without a reporter.
    std::unique_ptr<LaunchReporter> begin_report(Launch& launch);
    /// @}

    /// Where a kernel's printf goes, at the end of its launch; stdout at first. Not while a launch runs.
    void set_output(std::FILE* out) { output_ = out; }
    /// As set.
    std::FILE* output() const { return output_; }
    /// Later launches keep at least so much of their footprint.
    void wish_for(FootprintWish wish) {
        FootprintWish known = footprint_.load();
        while (known < wish && !footprint_.compare_exchange_weak(known, wish)) {
        }
    }
    /// The greatest of the wishes.
    FootprintWish footprint_wish() const { return footprint_.load(std::memory_order_relaxed); }
    /// Bytes a thread's stack may grow to (cudaLimitStackSize governs only recursion and alloca). To be set
    /// while no launch runs.
    std::uint32_t stack_limit = 64 * 1024;

  private:
    LaunchOutcome refusal(LaunchError error, const Flaw& why) const;
    std::shared_ptr<Launch> place(LaunchInfo info, std::span<const std::byte> parameters,
                                  LaunchOutcome& refused);

    MachineSettings settings_;
    std::shared_ptr<Reporter> reporter_;
    GlobalMemory memory_;
    std::vector<std::unique_ptr<Observer>> observers_;
    std::FILE* output_ = stdout;
    std::atomic<std::uint64_t> launches_ = 0;
    std::atomic<FootprintWish> footprint_ = FootprintWish::none;
    std::unique_ptr<Executor> executor_; ///< Last to come and first to go: its threads use all the rest.
};

/// A device that tells mistakes in words, with the checks, the counters and the time line that the settings
/// ask for. It does nothing with `report_file`, `leaks` and `exit_status`: they are for its user.
std::unique_ptr<Device> make_device(const Settings& settings = {});

} // namespace emu
#pragma GCC visibility pop

#pragma once
/// \file
/// The emulated GPU as the CUDA libraries and the unit tests see it: memory, modules, launches.

#include "machine/launch.hpp"
#include "machine/memory.hpp"
#include "machine/program.hpp"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace emu {

/// Public numbers of the emulated device (NVIDIA H200 SXM: data sheet and CUDA programming guide, compute
/// capability 9.0).
struct DeviceNumbers {
    static constexpr unsigned multiprocessors = 132;
    static constexpr std::uint64_t memory_bytes = std::uint64_t{141} * 1000 * 1000 * 1000;
    static constexpr unsigned l2_bytes = 60u << 20;
    static constexpr unsigned max_threads_per_block = 1024;
    static constexpr unsigned max_threads_per_multiprocessor = 2048;
    static constexpr unsigned max_blocks_per_multiprocessor = 32;
    static constexpr unsigned shared_per_multiprocessor = 228 * 1024;
    static constexpr unsigned registers_per_multiprocessor = 65536;
    static constexpr unsigned portable_cluster = 8;
    static constexpr unsigned max_cluster = 16;
    /// Blocks of a cluster, at most; `nonportable`: the kernel permits more than every device can do.
    static constexpr unsigned largest_cluster(bool nonportable) {
        return nonportable ? max_cluster : portable_cluster;
    }
};

/// Why a launch was refused before it began; the CUDA libraries translate.
enum class LaunchError : std::uint8_t {
    none,
    invalid_configuration, ///< Zero or too large dimensions, too much shared memory.
    out_of_resources,      ///< `.reqntid`/`.maxntid` violated.
    invalid_cluster,       ///< Grid not a multiple of the cluster, cluster too large.
    unsupported,           ///< DecodeError; message in the result's diagnostics.
    invalid_parameters,
};

struct LaunchOutcome {
    LaunchError error = LaunchError::none;
    std::string message; ///< One line when error != none.
    LaunchResult result;
};

class Executor;

class Device {
  public:
    /// Without a reporter, launches fail and nobody says why.
    explicit Device(MachineSettings settings, std::shared_ptr<Reporter> reporter = nullptr);
    ~Device();

    const MachineSettings& settings() const { return settings_; }
    GlobalMemory& memory() { return memory_; }
    /// Stops what still runs and dismisses the listeners, which then tell what they tell last. Nothing may be
    /// launched any more.
    void finish();
    /// Listeners for all later launches.
    void add_observer(std::unique_ptr<Observer> observer) { observers_.push_back(std::move(observer)); }
    std::span<const std::unique_ptr<Observer>> observers() const { return observers_; }
    /// For a launch: where it reports; nullptr without a reporter.
    std::unique_ptr<LaunchReporter> begin_report(Launch& launch) {
        return reporter_ ? reporter_->begin(launch) : nullptr;
    }

    /// Parses and places a module. Throws ptx::ParseError or std::runtime_error.
    std::shared_ptr<Program> load(std::string ptx);

    /// Runs a kernel to its end. `parameters` is the parameter block as the kernel declares it (offsets by
    /// alignment). `max_dynamic_shared` is the kernel's attribute; `nonportable` its cluster permission.
    LaunchOutcome launch(Program& program, std::string_view kernel, const LaunchConfig& config,
                         std::span<const std::byte> parameters,
                         std::uint32_t max_dynamic_shared = max_shared_per_block, bool nonportable = true);
    /// Whether a launch of this shape would be admitted: the kernel, or nullptr and the reason in `refused`.
    /// The one place where the rules of a launch are. A cluster that the kernel itself requires goes to
    /// `config`.
    const Kernel* admit(Program& program, std::string_view kernel, LaunchConfig& config,
                        std::uint32_t max_dynamic_shared, bool nonportable, LaunchOutcome& refused);
    /// The same as launch() without running it: a launch for executor().start(), or nullptr and the reason in
    /// `refused`.
    std::shared_ptr<Launch> prepare(Program& program, std::string_view kernel, const LaunchConfig& config,
                                    std::span<const std::byte> parameters, std::uint32_t max_dynamic_shared,
                                    bool nonportable, LaunchOutcome& refused);
    Executor& executor() { return *executor_; }

    /// Where printf goes; stdout unless a test asks otherwise.
    void set_output(std::FILE* out) { output_ = out; }
    std::FILE* output() const { return output_; }
    /// Later launches keep at least so much of their footprint.
    void wish_for(FootprintWish wish) {
        FootprintWish known = footprint_.load();
        while (known < wish && !footprint_.compare_exchange_weak(known, wish)) {
        }
    }
    FootprintWish footprint_wish() const { return footprint_.load(std::memory_order_relaxed); }
    /// Bytes a thread's stack may grow to (cudaLimitStackSize governs only recursion and alloca).
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

} // namespace emu

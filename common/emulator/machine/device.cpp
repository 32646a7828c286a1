#include "machine/device.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "hopper_emulator/host_threads.hpp"
#include "machine/cluster.hpp"
#include "machine/executor.hpp"
#include "machine/fact.hpp"
#include "ptx/parser.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace emu {
namespace {

/// Memory the emulated device may hand out: the H200's, but no more than the host can hold.
std::uint64_t usable_memory() {
    // Where addresses have 32 bits, what is reserved is taken: as much as a page may.
    if constexpr (sizeof(void*) < 8)
        return std::uint64_t{32} << 20;
    std::ifstream info("/proc/meminfo");
    std::string key;
    std::uint64_t kib = 0;
    while (info >> key >> kib) {
        if (key == "MemAvailable:")
            return std::min(DeviceNumbers::memory_bytes, kib * 1024 / 5 * 4);
        info.ignore(256, '\n');
    }
    return std::uint64_t{8} << 30;
}

/// Why a launch is refused, and as which error.
struct Refusal {
    LaunchError error = LaunchError::none;
    Flaw why{};
};

bool zero(Dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; }

/// The rules of a launch (CUDA programming guide, technical specifications of compute capability 9.0; PTX
/// ISA 11.4).
Refusal refusal_of(const Kernel& kernel, const LaunchConfig& c, std::uint32_t max_dynamic_shared,
                   bool nonportable) {
    const ptx::Function& f = kernel.source();
    const auto invalid = [](std::string_view kind, Facts facts) {
        return Refusal{LaunchError::invalid_configuration, {kind, std::move(facts)}};
    };
    if (zero(c.grid) || zero(c.block))
        return invalid("launch-zero", {{"grid", c.grid}, {"block", c.block}});
    constexpr unsigned most = DeviceNumbers::max_threads_per_block;
    // Each side too: the product of three large ones may be small again.
    if (c.block.x > most || c.block.y > most || c.block.z > 64 || c.block.volume() > most)
        return invalid("launch-block-size", {{"block", c.block}});
    if (c.grid.x > 2147483647u || c.grid.y > 65535 || c.grid.z > 65535)
        return invalid("launch-grid-size", {{"grid", c.grid}});
    const std::array<std::uint32_t, 3> shape{c.block.x, c.block.y, c.block.z};
    if (f.required_threads[0] && f.required_threads != shape)
        return invalid("launch-required-threads", {{"threads", f.required_threads[0]}});
    const auto bound =
        std::uint64_t{f.max_threads[0]} * std::max(1u, f.max_threads[1]) * std::max(1u, f.max_threads[2]);
    if (bound && c.block.volume() > bound)
        return {LaunchError::out_of_resources, {"launch-bounds", {{"block", c.block}, {"threads", bound}}}};
    if (c.dynamic_shared > max_dynamic_shared ||
        std::uint64_t{kernel.static_shared} + c.dynamic_shared > max_shared_per_block)
        return invalid("launch-shared", {{"dynamic", c.dynamic_shared}, {"static", kernel.static_shared}});
    const std::uint64_t size = c.cluster.volume();
    if (zero(c.cluster) || c.grid.x % c.cluster.x || c.grid.y % c.cluster.y || c.grid.z % c.cluster.z)
        return {LaunchError::invalid_cluster,
                {"launch-cluster-shape", {{"grid", c.grid}, {"cluster", c.cluster}}}};
    if (size > DeviceNumbers::largest_cluster(nonportable))
        return {LaunchError::invalid_cluster, {"launch-cluster-size", {{"blocks", size}}}};
    return {};
}

} // namespace

Device::Device(MachineSettings settings, std::shared_ptr<Reporter> reporter)
    : settings_(settings), reporter_(std::move(reporter)), memory_(usable_memory(), settings_.closed_memory),
      executor_(std::make_unique<Executor>(settings_.threads)) {}

Device::Device(MachineSettings settings, std::shared_ptr<Reporter> reporter, const MemoryImage& image,
               std::vector<Address> awaited, std::uint64_t serial)
    : settings_(settings), reporter_(std::move(reporter)), memory_(image, std::move(awaited)),
      launches_(serial - 1), executor_(std::make_unique<Executor>(settings_.threads)) {}

Device::~Device() { finish(); }

void Device::finish() {
    executor_->shut_down();
    observers_.clear();
}

void Device::add_observer(std::unique_ptr<Observer> observer) { observers_.push_back(std::move(observer)); }

std::shared_ptr<Module> Device::load(std::string ptx) {
    return std::make_shared<Program>(ptx::parse(std::move(ptx)), memory_);
}

LaunchOutcome Device::launch(Module& module, std::string_view name, const LaunchConfig& config,
                             std::span<const std::byte> parameters, std::uint32_t max_dynamic_shared,
                             bool nonportable) {
    LaunchOutcome outcome;
    if (auto launch = prepare(module, name, config, parameters, max_dynamic_shared, nonportable, outcome))
        outcome.result = run(std::move(launch));
    return outcome;
}

LaunchResult Device::run(std::shared_ptr<Launch> launch) { return executor_->run(std::move(launch)); }

LaunchOutcome Device::refusal(LaunchError error, const Flaw& why) const {
    LaunchOutcome outcome;
    outcome.error = error;
    outcome.message = reporter_ ? reporter_->explain(why) : std::string(why.kind);
    return outcome;
}

const KernelFacts* Device::admit(Module& module, std::string_view name, LaunchConfig& config,
                                 std::uint32_t max_dynamic_shared, bool nonportable, LaunchOutcome& refused) {
    Program& program = static_cast<Program&>(module); // There are no other modules.
    if (&program.memory() != &memory_)
        throw std::invalid_argument("the module was loaded by another device");
    const Kernel* kernel = nullptr;
    try {
        kernel = program.kernel(name);
    } catch (const DecodeError& error) {
        refused.error = LaunchError::unsupported;
        refused.message = error.what();
        refused.result.fault = Fault::illegal_instruction;
        refused.result.diagnostics.push_back({Finding::unsupported_instruction,
                                              Fault::illegal_instruction,
                                              std::string(name),
                                              error.what(),
                                              {},
                                              {}});
        return nullptr;
    }
    if (!kernel) {
        refused =
            refusal(LaunchError::invalid_parameters, {"launch-no-kernel", {{"name", std::string(name)}}});
        return nullptr;
    }
    const auto& required = kernel->source().required_cluster;
    if (config.cluster == Dim3{} && required[0])
        config.cluster = {required[0], std::max(1u, required[1]), std::max(1u, required[2])};
    const Refusal why = refusal_of(*kernel, config, max_dynamic_shared, nonportable);
    if (why.error == LaunchError::none)
        return kernel;
    refused = refusal(why.error, why.why);
    return nullptr;
}

std::shared_ptr<Launch> Device::prepare(Module& module, std::string_view name, const LaunchConfig& wanted,
                                        std::span<const std::byte> parameters,
                                        std::uint32_t max_dynamic_shared, bool nonportable,
                                        LaunchOutcome& refused) {
    LaunchInfo info;
    info.config = wanted;
    info.kernel = static_cast<const Kernel*>(
        admit(module, name, info.config, max_dynamic_shared, nonportable, refused));
    if (!info.kernel)
        return nullptr;
    info.serial = ++launches_;
    // A kernel that may begin before this one has ended is compared with it.
    if (static_cast<const Program&>(module).controls_grids())
        wish_for(FootprintWish::all);
    info.footprint = footprint_wish();
    info.shared_size = info.kernel->dynamic_shared_offset + wanted.dynamic_shared;
    return place(std::move(info), parameters, refused);
}

std::unique_ptr<LaunchReporter> Device::begin_report(Launch& launch) {
    return reporter_ ? reporter_->begin(launch) : nullptr;
}

void Device::start(std::shared_ptr<Launch> launch, LaunchHooks hooks) {
    launch->nearby = std::move(hooks.nearby);
    executor_->start(std::move(launch), std::move(hooks.on_end));
}

bool Device::has_stalled(const Launch& launch) { return launch.stalled(); }
bool Device::had_company(const Launch& launch) { return launch.has_company(); }
void Device::on_stall(std::function<void()> call) { executor_->on_stall = std::move(call); }
void Device::note_progress() { executor_->note_move(); }
std::uint64_t Device::serial(const Launch& launch) { return launch.info().serial; }
GridDependency& Device::grids(Launch& launch) { return launch.grids(); }
Device::EndsWanted::EndsWanted(Device& device) : count_(device.executor().ends_wanted()) { ++count_; }
void Device::note_question() { executor_->note_question(); }
HostThreads& Device::host_threads() { return executor_->host_threads(); }

/// Gives a launch its parameters and, if it is cooperative, the workspace of the grid's barrier.
std::shared_ptr<Launch> Device::place(LaunchInfo info, std::span<const std::byte> parameters,
                                      LaunchOutcome& refused) {
    const std::uint64_t bytes = info.kernel->parameter_bytes;
    info.parameters = memory_.allocate(std::max<std::uint64_t>(bytes, 8), Allocation::Kind::parameters,
                                       "kernel parameters");
    if (info.parameters == 0) {
        refused = refusal(LaunchError::out_of_resources, {"launch-no-parameters"});
        return nullptr;
    }
    // A kernel without parameters has no bytes to copy, and perhaps not even an address of them.
    std::ranges::copy(parameters.first(std::min<std::size_t>(parameters.size(), bytes)),
                      memory_.bytes(info.parameters));
    // Two words, size and barrier (cooperative_groups/details/driver_abi.h); the barrier starts at zero.
    constexpr std::array<std::uint32_t, 2> workspace{8, 0};
    if (info.config.cooperative) {
        info.grid_workspace =
            memory_.allocate(sizeof workspace, Allocation::Kind::parameters, "grid workspace");
        if (info.grid_workspace == 0) {
            memory_.release(info.parameters);
            refused = refusal(LaunchError::out_of_resources, {"launch-no-grid-barrier"});
            return nullptr;
        }
        std::memcpy(memory_.bytes(info.grid_workspace), workspace.data(), sizeof workspace);
    }
    return std::make_shared<Launch>(*this, std::move(info));
}

} // namespace emu

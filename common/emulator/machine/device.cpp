#include "machine/device.hpp"

#include "machine/cluster.hpp"
#include "machine/executor.hpp"
#include "ptx/parser.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace emu {
namespace {

/// Memory the emulated device may hand out: the H200's, but no more than the host can hold.
std::uint64_t usable_memory() {
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

LaunchOutcome refuse(LaunchError error, std::string message) {
    LaunchOutcome outcome;
    outcome.error = error;
    outcome.message = std::move(message);
    return outcome;
}

bool zero(Dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; }

std::string text(Dim3 d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

/// The rules of a launch (CUDA programming guide, technical specifications of compute capability 9.0; PTX
/// ISA 11.4).
LaunchOutcome check(const Kernel& kernel, const LaunchConfig& c, std::uint32_t max_dynamic_shared,
                    bool nonportable) {
    const ptx::Function& f = kernel.source();
    if (zero(c.grid) || zero(c.block))
        return refuse(LaunchError::invalid_configuration, "grid " + text(c.grid) + " and block " +
                                                              text(c.block) + " must have no zero dimension");
    constexpr unsigned most = DeviceNumbers::max_threads_per_block;
    // Each side too: the product of three large ones may be small again.
    if (c.block.x > most || c.block.y > most || c.block.z > 64 || c.block.volume() > most)
        return refuse(LaunchError::invalid_configuration,
                      "block " + text(c.block) + " has more than 1024 threads, or more than 64 in z");
    if (c.grid.x > 2147483647u || c.grid.y > 65535 || c.grid.z > 65535)
        return refuse(LaunchError::invalid_configuration,
                      "grid " + text(c.grid) + " exceeds 2^31-1 x 65535 x 65535");
    const std::array<std::uint32_t, 3> shape{c.block.x, c.block.y, c.block.z};
    if (f.required_threads[0] && f.required_threads != shape)
        return refuse(LaunchError::invalid_configuration, "the kernel requires blocks of exactly " +
                                                              std::to_string(f.required_threads[0]) +
                                                              " x ... threads");
    const auto bound =
        std::uint64_t{f.max_threads[0]} * std::max(1u, f.max_threads[1]) * std::max(1u, f.max_threads[2]);
    if (bound && c.block.volume() > bound)
        return refuse(LaunchError::out_of_resources, "block " + text(c.block) +
                                                         " exceeds the kernel's __launch_bounds__(" +
                                                         std::to_string(bound) + ")");
    if (c.dynamic_shared > max_dynamic_shared ||
        kernel.static_shared + c.dynamic_shared > max_shared_per_block)
        return refuse(LaunchError::invalid_configuration,
                      std::to_string(c.dynamic_shared) + " bytes of dynamic and " +
                          std::to_string(kernel.static_shared) +
                          " of static shared memory exceed the limit; above 48 KiB set "
                          "cudaFuncAttributeMaxDynamicSharedMemorySize, up to 227 KiB");
    const std::uint64_t size = c.cluster.volume();
    if (zero(c.cluster) || c.grid.x % c.cluster.x || c.grid.y % c.cluster.y || c.grid.z % c.cluster.z)
        return refuse(LaunchError::invalid_cluster,
                      "grid " + text(c.grid) + " is not a multiple of the cluster " + text(c.cluster));
    if (size > DeviceNumbers::largest_cluster(nonportable))
        return refuse(LaunchError::invalid_cluster, "a cluster of " + std::to_string(size) +
                                                        " blocks is too large: 8 is portable, 16 needs "
                                                        "cudaFuncAttributeNonPortableClusterSizeAllowed");
    return {};
}

} // namespace

Device::Device(Settings settings)
    : settings_(std::move(settings)), memory_(usable_memory()),
      executor_(std::make_unique<Executor>(settings_.threads)) {}

Device::~Device() { finish(); }

void Device::finish() {
    executor_->shut_down();
    observers_.clear();
}

std::shared_ptr<Program> Device::load(std::string ptx) {
    return std::make_shared<Program>(ptx::parse(std::move(ptx)), memory_);
}

LaunchOutcome Device::launch(Program& program, std::string_view name, const LaunchConfig& config,
                             std::span<const std::byte> parameters, std::uint32_t max_dynamic_shared,
                             bool nonportable) {
    LaunchOutcome outcome;
    if (auto launch = prepare(program, name, config, parameters, max_dynamic_shared, nonportable, outcome))
        outcome.result = executor_->run(std::move(launch));
    return outcome;
}

const Kernel* Device::admit(Program& program, std::string_view name, LaunchConfig& config,
                            std::uint32_t max_dynamic_shared, bool nonportable, LaunchOutcome& refused) {
    const Kernel* kernel = nullptr;
    try {
        kernel = program.kernel(name);
    } catch (const DecodeError& error) {
        refused = refuse(LaunchError::unsupported, error.what());
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
        refused = refuse(LaunchError::invalid_parameters, "the module has no kernel " + std::string(name));
        return nullptr;
    }
    const auto& required = kernel->source().required_cluster;
    if (config.cluster == Dim3{} && required[0])
        config.cluster = {required[0], std::max(1u, required[1]), std::max(1u, required[2])};
    refused = check(*kernel, config, max_dynamic_shared, nonportable);
    return refused.error == LaunchError::none ? kernel : nullptr;
}

std::shared_ptr<Launch> Device::prepare(Program& program, std::string_view name, const LaunchConfig& wanted,
                                        std::span<const std::byte> parameters,
                                        std::uint32_t max_dynamic_shared, bool nonportable,
                                        LaunchOutcome& refused) {
    LaunchInfo info;
    info.config = wanted;
    info.kernel = admit(program, name, info.config, max_dynamic_shared, nonportable, refused);
    if (!info.kernel)
        return nullptr;
    info.serial = ++launches_;
    if (program.controls_grids()) // A kernel that may begin before this one has ended is compared with it.
        wish_for(FootprintWish::all);
    info.footprint = footprint_wish();
    info.shared_size = info.kernel->dynamic_shared_offset + wanted.dynamic_shared;
    return place(std::move(info), parameters, refused);
}

/// Gives a launch its parameters and, if it is cooperative, the workspace of the grid's barrier.
std::shared_ptr<Launch> Device::place(LaunchInfo info, std::span<const std::byte> parameters,
                                      LaunchOutcome& refused) {
    const std::uint64_t bytes = info.kernel->parameter_bytes;
    info.parameters = memory_.allocate(std::max<std::uint64_t>(bytes, 8), Allocation::Kind::parameters,
                                       "kernel parameters");
    if (info.parameters == 0) {
        refused = refuse(LaunchError::out_of_resources, "no memory is left for the kernel's parameters");
        return nullptr;
    }
    // A kernel without parameters has no bytes to copy, and perhaps not even an address of them.
    std::ranges::copy(parameters.first(std::min<std::size_t>(parameters.size(), bytes)),
                      reinterpret_cast<std::byte*>(info.parameters));
    // Two words, size and barrier (cooperative_groups/details/driver_abi.h); the barrier starts at zero.
    constexpr std::array<std::uint32_t, 2> workspace{8, 0};
    if (info.config.cooperative) {
        info.grid_workspace =
            memory_.allocate(sizeof workspace, Allocation::Kind::parameters, "grid workspace");
        if (info.grid_workspace == 0) {
            memory_.release(info.parameters);
            refused = refuse(LaunchError::out_of_resources, "no memory is left for the grid's barrier");
            return nullptr;
        }
        std::memcpy(reinterpret_cast<void*>(info.grid_workspace), workspace.data(), sizeof workspace);
    }
    return std::make_shared<Launch>(*this, std::move(info));
}

namespace {

/// The value of the word; of the first if there is none. Throws a line for the user if it is another.
template <class T>
T choose(std::string_view word, const char* variable,
         std::initializer_list<std::pair<std::string_view, T>> words) {
    std::string all;
    for (const auto& [name, value] : words) {
        if (word.empty() || word == name)
            return value;
        all += (all.empty() ? "" : name == (words.end() - 1)->first ? " or " : ", ") + std::string(name);
    }
    throw std::runtime_error(std::string(variable) + " must be " + all + ", not '" + std::string(word) + "'");
}

} // namespace

Settings Settings::from_environment() {
    Settings s;
    const auto text = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
    const auto number = [&](const char* name, auto fallback) {
        const std::string value = text(name);
        if (value.empty())
            return fallback;
        char* end = nullptr;
        const double parsed = std::strtod(value.c_str(), &end);
        if (*end || parsed < 0)
            throw std::runtime_error(std::string(name) + " must be a number, not '" + value + "'");
        return static_cast<decltype(fallback)>(parsed);
    };
    const std::string order = text("EMULATOR_ORDER");
    if (order == "early")
        s.order = CompletionOrder::early;
    else if (order == "random")
        s.order = CompletionOrder::random;
    else if (!order.empty() && order != "late")
        throw std::runtime_error("EMULATOR_ORDER must be late, early or random, not '" + order + "'");
    const std::string checks = text("EMULATOR_CHECKS");
    if (!checks.empty() && checks != "all" && checks != "none" && checks != "strict")
        throw std::runtime_error("EMULATOR_CHECKS must be all, strict or none, not '" + checks + "'");
    s.checks = checks != "none";
    s.strict = checks == "strict";
    const std::string leaks = text("EMULATOR_LEAKS");
    if (!leaks.empty() && leaks != "0" && leaks != "1")
        throw std::runtime_error("EMULATOR_LEAKS must be 0 or 1, not '" + leaks + "'");
    s.leaks = leaks == "1";
    s.exit_status = choose<Settings::ExitStatus>(text("EMULATOR_EXIT_STATUS"), "EMULATOR_EXIT_STATUS",
                                                 {{"program", Settings::ExitStatus::program},
                                                  {"errors", Settings::ExitStatus::errors},
                                                  {"findings", Settings::ExitStatus::findings}});
    s.uninitialised_global =
        choose<Settings::Severity>(text("EMULATOR_UNINITIALISED_GLOBAL"), "EMULATOR_UNINITIALISED_GLOBAL",
                                   {{"warning", Settings::Severity::warning},
                                    {"error", Settings::Severity::error},
                                    {"off", Settings::Severity::off}});
    s.seed = number("EMULATOR_SEED", s.seed);
    s.threads = number("EMULATOR_THREADS", s.threads);
    constexpr double billion = 1e9;
    s.watchdog = static_cast<std::uint64_t>(number("EMULATOR_WATCHDOG", 0.0) * billion);
    s.report_file = text("EMULATOR_REPORT");
    s.counters_file = text("EMULATOR_COUNTERS");
    s.trace_file = text("EMULATOR_TRACE");
    return s;
}

} // namespace emu

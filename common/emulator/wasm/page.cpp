/// \file
/// The emulator as a page uses it: plain functions around one launch. docs/site/live/emulator_worker.js calls
/// them. Texts and bytes go through the module's memory; what a function returns is good until the next
/// emulator_run().

#include "hopper_emulator/counters.hpp"
#include "hopper_emulator/device.hpp"
#include "hopper_emulator/recording.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// A launch, as it is described before it runs.
struct Description {
    /// A parameter: a value, or an array whose address is the value.
    struct Parameter {
        std::vector<std::byte> bytes;
        bool is_array = false;
    };
    std::string ptx, kernel;
    emu::LaunchConfig config;
    std::vector<Parameter> parameters;
};

/// What came of it.
struct Outcome {
    std::string error, findings, counters, trace;
    std::uint64_t instructions = 0;
    bool stopped = false;
    std::vector<std::vector<std::byte>> arrays;
};

Description description;
Outcome outcome;

using Order = emu::CompletionOrder;

emu::Settings settings_of(unsigned order, std::uint64_t seed, bool checks, std::uint64_t most_instructions) {
    emu::Settings settings;
    constexpr std::array orders{Order::late, Order::early, Order::random};
    settings.order = orders.at(order);
    settings.seed = seed;
    settings.checks = checks;
    settings.threads = 1; // As in a page, so that what is found first is the same on a host with more.
    settings.most_instructions = most_instructions;
    return settings;
}

/// The arrays in the device's memory, and the parameter block with their addresses. An address is 0 for a
/// value.
std::vector<emu::Address> place(emu::Device& device, const emu::KernelFacts& facts,
                                std::vector<std::byte>& block) {
    if (facts.signature.size() != description.parameters.size())
        throw std::runtime_error("the kernel has " + std::to_string(facts.signature.size()) +
                                 " parameters, and " + std::to_string(description.parameters.size()) +
                                 " are given");
    block.resize(facts.parameter_bytes);
    std::vector<emu::Address> addresses;
    for (std::size_t i = 0; i < facts.signature.size(); ++i) {
        const auto& [bytes, is_array] = description.parameters[i];
        emu::Address address = 0;
        if (is_array) {
            address = device.memory().allocate(bytes.size(), emu::Allocation::Kind::device);
            if (address == 0)
                throw std::runtime_error("an array of " + std::to_string(bytes.size()) +
                                         " bytes is more than the memory that a page has for it");
            std::memcpy(device.memory().bytes(address), bytes.data(), bytes.size());
        }
        const auto value = is_array ? std::as_bytes(std::span(&address, 1)) : std::span(bytes);
        if (value.size() != facts.signature[i].size)
            throw std::runtime_error("parameter " + std::to_string(i) + " has another size");
        std::memcpy(block.data() + facts.signature[i].offset, value.data(), value.size());
        addresses.push_back(address);
    }
    return addresses;
}

std::string list_of(const std::vector<emu::Diagnostic>& findings) {
    std::string json = "[";
    for (const emu::Diagnostic& each : findings)
        json += (json.size() > 1 ? "," : "") + emu::format_json(each);
    return json + "]";
}

void run(const emu::Settings& settings) {
    const auto device = emu::make_device(settings);
    auto owned_counters = std::make_unique<emu::Counters>("");
    auto owned_trace = std::make_unique<emu::Trace>("");
    const emu::Counters& counters = *owned_counters;
    const emu::Trace& trace = *owned_trace;
    device->add_observer(std::move(owned_counters));
    device->add_observer(std::move(owned_trace));
    const auto module = device->load(description.ptx);
    const emu::KernelFacts* const facts = module->kernel(description.kernel);
    if (!facts)
        throw std::runtime_error("the module has no kernel " + description.kernel);
    std::vector<std::byte> block;
    const std::vector<emu::Address> addresses = place(*device, *facts, block);
    const emu::LaunchOutcome launched =
        device->launch(*module, description.kernel, description.config, block);
    if (launched.result.error)
        std::rethrow_exception(launched.result.error);
    outcome.error = launched.message;
    outcome.findings = list_of(launched.result.diagnostics);
    outcome.instructions = launched.result.instructions;
    outcome.stopped = launched.result.stopped;
    if (!counters.launches().empty())
        outcome.counters = emu::Counters::json(counters.launches().back());
    outcome.trace = trace.json();
    for (std::size_t i = 0; i < addresses.size(); ++i)
        if (addresses[i]) {
            const std::byte* const begin = device->memory().bytes(addresses[i]);
            outcome.arrays.emplace_back(begin, begin + description.parameters[i].bytes.size());
        }
}

std::vector<std::byte> copy_of(const std::byte* bytes, std::size_t size) { return {bytes, bytes + size}; }

const std::string& text(unsigned which) {
    const std::array texts{&outcome.error, &outcome.findings, &outcome.counters, &outcome.trace};
    return *texts.at(which);
}

} // namespace

// meson.build exports each of these.
extern "C" {

/// Memory for what the page hands over; emulator_free() gives it back. 0 if there is not enough.
std::byte* emulator_allocate(std::size_t size) { return static_cast<std::byte*>(std::malloc(size)); }
/// Gives it back.
void emulator_free(std::byte* bytes) { std::free(bytes); }

/// A new launch: the module's text, the kernel's mangled name, and grid, block and cluster (x, y, z each)
/// followed by the dynamic shared memory in bytes: ten numbers.
void emulator_describe(const char* ptx, std::size_t ptx_size, const char* kernel, std::size_t kernel_size,
                       const std::uint32_t* shape) {
    description = {std::string(ptx, ptx_size), std::string(kernel, kernel_size), {}, {}};
    emu::LaunchConfig& config = description.config;
    config.grid = {shape[0], shape[1], shape[2]};
    config.block = {shape[3], shape[4], shape[5]};
    config.cluster = {shape[6], shape[7], shape[8]};
    config.dynamic_shared = shape[9];
}
/// Its next parameter: a value.
void emulator_add_value(const std::byte* bytes, std::size_t size) {
    description.parameters.push_back({copy_of(bytes, size), false});
}
/// Its next parameter: the address of an array with these bytes.
void emulator_add_array(const std::byte* bytes, std::size_t size) {
    description.parameters.push_back({copy_of(bytes, size), true});
}

/// Runs it, as often as is wished. `order`: 0 late, 1 early, 2 random. `seed` as a double, since a page has
/// no other number of its size; 0 for `most_instructions`: any number. False if it could not be run:
/// emulator_text(0) says why.
bool emulator_run(unsigned order, double seed, bool checks, double most_instructions) {
    outcome = {};
    try {
        run(settings_of(order, static_cast<std::uint64_t>(seed), checks,
                        static_cast<std::uint64_t>(most_instructions)));
    } catch (const std::exception& error) {
        outcome.error = error.what();
    }
    return outcome.error.empty();
}

/// 0: why it could not be run; 1: the findings, a list of JSON; 2: counters, 3: time line, both of JSON.
const char* emulator_text(unsigned which) { return text(which).data(); }
/// Its bytes.
std::size_t emulator_text_size(unsigned which) { return text(which).size(); }
/// Thread instructions that it executed.
double emulator_instructions() { return static_cast<double>(outcome.instructions); }
/// Whether it was stopped before its end.
bool emulator_stopped() { return outcome.stopped; }
/// What the array number `which` (of the arrays alone) held at its end, or null if there is none.
const std::byte* emulator_array(unsigned which) {
    return which < outcome.arrays.size() ? outcome.arrays[which].data() : nullptr;
}
/// Its bytes.
std::size_t emulator_array_size(unsigned which) {
    return which < outcome.arrays.size() ? outcome.arrays[which].size() : 0;
}

} // extern "C"

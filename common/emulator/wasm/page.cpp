/// \file
/// The emulator as a page uses it: plain functions around one launch. docs/site/live/emulator_worker.js calls
/// them. Texts and bytes go through the module's memory; what a function returns is good until the next
/// emulator_run().

#include "wasm/outcome.hpp"

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

Description description;

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

void run(const emu::Settings& settings) {
    const auto device = emu::make_device(settings);
    const page::Watch watch(*device);
    const auto module = device->load(description.ptx);
    const emu::KernelFacts* const facts = module->kernel(description.kernel);
    if (!facts)
        throw std::runtime_error("the module has no kernel " + description.kernel);
    std::vector<std::byte> block;
    const std::vector<emu::Address> addresses = place(*device, *facts, block);
    watch.keep(device->launch(*module, description.kernel, description.config, block));
    for (std::size_t i = 0; i < addresses.size(); ++i)
        if (addresses[i]) {
            const std::byte* const begin = device->memory().bytes(addresses[i]);
            page::outcome().arrays.emplace_back(begin, begin + description.parameters[i].bytes.size());
        }
}

std::vector<std::byte> copy_of(const std::byte* bytes, std::size_t size) { return {bytes, bytes + size}; }

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
    page::outcome() = {};
    try {
        run(page::settings_of(order, seed, checks, most_instructions));
    } catch (const std::exception& error) {
        page::outcome().error = error.what();
    }
    return page::outcome().error.empty();
}

} // extern "C"

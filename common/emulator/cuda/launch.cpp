#include "cuda/launch.hpp"

#include "cuda/diagnostics.hpp"
#include "cuda/occupancy.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace emu::cuda {
namespace {

emu::Dim3 to_machine(abi::Dim3 d) { return {d.x, d.y, d.z}; }
[[noreturn]] void refuse(Error error, const Function& function, const std::string& why) {
    throw ApiError(error, "launch of " + function.readable_name() + " refused: " + why);
}

/// The driver's `extra` list: pairs of tag and pointer, ended by null.
std::span<const std::byte> argument_buffer(void** extra) {
    const auto pointer_tag = reinterpret_cast<void*>(1), size_tag = reinterpret_cast<void*>(2);
    const std::byte* data = nullptr;
    std::size_t size = 0;
    for (; *extra; extra += 2) {
        if (extra[0] == pointer_tag)
            data = static_cast<const std::byte*>(extra[1]);
        else if (extra[0] == size_tag)
            size = *static_cast<const std::size_t*>(extra[1]);
        else
            throw ApiError(Error::invalid_value);
    }
    return {data, size};
}

std::vector<std::byte> copy_arguments(const KernelFacts& kernel, const LaunchRequest& request) {
    std::vector<std::byte> block(kernel.parameter_bytes);
    if (!request.arguments && request.extra) {
        const auto buffer = argument_buffer(request.extra);
        std::ranges::copy(buffer.first(std::min(buffer.size(), block.size())), block.begin());
        return block;
    }
    const auto& parameters = kernel.signature;
    if (!parameters.empty() && !request.arguments)
        throw ApiError(Error::invalid_value);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (!request.arguments[i])
            throw ApiError(Error::invalid_value);
        std::memcpy(block.data() + parameters[i].offset, request.arguments[i], parameters[i].size);
    }
    return block;
}

Error translate(LaunchError error) {
    switch (error) {
    case LaunchError::none:
        return Error::success;
    case LaunchError::invalid_configuration:
        return Error::invalid_value;
    case LaunchError::out_of_resources:
        return Error::launch_out_of_resources;
    case LaunchError::invalid_cluster:
        return Error::invalid_cluster_size;
    case LaunchError::unsupported:
        return Error::not_supported;
    case LaunchError::invalid_parameters:
        return Error::invalid_value;
    }
    return Error::unknown;
}

bool is_cooperative(const LaunchRequest& request) {
    bool cooperative = request.cooperative;
    for (const auto& attribute : request.attributes)
        if (attribute.id == abi::LaunchAttributeId::cooperative)
            cooperative = attribute.value.number != 0;
    return cooperative;
}

/// All blocks of a cooperative grid run at once, or its barrier would wait for ever.
void check_cooperative(Function& function, const emu::LaunchConfig& config) {
    const unsigned each = blocks_per_multiprocessor(function, static_cast<unsigned>(config.block.volume()),
                                                    config.dynamic_shared);
    const std::uint64_t resident = std::uint64_t{each} * DeviceNumbers::multiprocessors;
    if (config.grid.volume() > resident)
        refuse(Error::cooperative_launch_too_large, function,
               "a cooperative grid of " + std::to_string(config.grid.volume()) + " blocks, but only " +
                   std::to_string(resident) + " can run at once");
}

bool is_programmatic(const LaunchRequest& request) {
    return std::ranges::any_of(request.attributes, [](const abi::LaunchAttribute& attribute) {
        return attribute.id == abi::LaunchAttributeId::programmatic_stream_serialization &&
               attribute.value.number != 0;
    });
}

/// Events among the attributes fire when the kernel's blocks have started or ended; both hold after it ran.
void record_events(State& state, const LaunchRequest& request) {
    for (const auto& attribute : request.attributes)
        if (attribute.id == abi::LaunchAttributeId::programmatic_event ||
            attribute.id == abi::LaunchAttributeId::launch_completion_event)
            state.streams().submit(state, request.stream,
                                   EventOperation{state.streams().event(attribute.value.event.event), true});
}

/// The cluster that the kernel was compiled for or that a function attribute sets; zeros: none.
std::array<std::uint32_t, 3> required_cluster(Function& function) {
    std::array<std::uint32_t, 3> required = function.kernel().required_cluster;
    if (required[0] == 0)
        for (std::size_t i = 0; i < 3; ++i)
            required[i] = static_cast<std::uint32_t>(function.required_cluster[i].load());
    return required;
}

/// Is it launched as a cluster? One of a single block is one, too.
bool is_cluster_launch(Function& function, std::span<const abi::LaunchAttribute> attributes) {
    const auto is_dimension = [](const abi::LaunchAttribute& attribute) {
        return attribute.id == abi::LaunchAttributeId::cluster_dimension;
    };
    return required_cluster(function)[0] != 0 || std::ranges::any_of(attributes, is_dimension);
}

} // namespace

Error error_of(Fault fault) {
    switch (fault) {
    case Fault::none:
        return Error::success;
    case Fault::launch_failure:
    case Fault::trap:
        return Error::launch_failure;
    case Fault::illegal_address:
        return Error::illegal_address;
    case Fault::misaligned_address:
        return Error::misaligned_address;
    case Fault::illegal_instruction:
        return Error::illegal_instruction;
    case Fault::assert_failed:
        return Error::assert_failed;
    case Fault::invalid_address_space:
        return Error::invalid_address_space;
    case Fault::invalid_pc:
        return Error::invalid_pc;
    case Fault::timeout:
        return Error::launch_timeout;
    }
    return Error::launch_failure;
}

emu::Dim3 cluster_of(Function& function, std::span<const abi::LaunchAttribute> attributes) {
    emu::Dim3 cluster{1, 1, 1};
    bool given = false;
    for (const auto& attribute : attributes)
        if (attribute.id == abi::LaunchAttributeId::cluster_dimension) {
            const auto& wanted = attribute.value.dimension;
            cluster = {wanted.x, wanted.y, wanted.z};
            given = true;
        }
    const std::array<std::uint32_t, 3> required = required_cluster(function);
    if (required[0] == 0)
        return cluster;
    const emu::Dim3 wanted{required[0], std::max(1u, required[1]), std::max(1u, required[2])};
    if (given && (cluster.x != wanted.x || cluster.y != wanted.y || cluster.z != wanted.z))
        refuse(Error::invalid_cluster_size, function,
               "the cluster dimension of the launch differs from the one the kernel was compiled for");
    return wanted;
}

KernelOperation prepare(Function& function, const LaunchRequest& request) {
    const KernelFacts& kernel = function.kernel();
    KernelOperation operation;
    operation.function = &function;
    emu::LaunchConfig& config = operation.config;
    config.grid = to_machine(request.grid);
    config.block = to_machine(request.block);
    config.cluster = cluster_of(function, request.attributes);
    config.cluster_launch = is_cluster_launch(function, request.attributes);
    // What does not fit in 32 bits is too much in any case.
    config.dynamic_shared = static_cast<std::uint32_t>(
        std::min<std::size_t>(request.dynamic_shared, std::numeric_limits<std::uint32_t>::max()));
    config.cooperative = is_cooperative(request);
    LaunchOutcome refused;
    if (!State::get().device().admit(function.image->module(), function.name, config,
                                     function.dynamic_shared_limit(), function.nonportable_cluster, refused))
        refuse(translate(refused.error), function, refused.message);
    if (config.cooperative)
        check_cooperative(function, config);
    operation.parameters = copy_arguments(kernel, request);
    operation.programmatic = is_programmatic(request);
    return operation;
}

Error launch(State& state, Function& function, const LaunchRequest& request) {
    static_cast<void>(state.streams().stream(request.stream)); // Throws for a wrong handle.
    const Error error = state.streams().submit(state, request.stream, prepare(function, request));
    if (error == Error::success)
        record_events(state, request);
    return error;
}

std::shared_ptr<Launch> prepare_kernel(State& state, const KernelOperation& launch) {
    Function& function = *launch.function;
    LaunchOutcome refused;
    auto prepared =
        state.device().prepare(function.image->module(), function.name, launch.config, launch.parameters,
                               function.dynamic_shared_limit(), function.nonportable_cluster, refused);
    if (prepared)
        return prepared;
    report(state, refused.result.diagnostics);
    if (refused.result.diagnostics.empty())
        refuse(translate(refused.error), function, refused.message);
    throw ApiError(translate(refused.error));
}

} // namespace emu::cuda

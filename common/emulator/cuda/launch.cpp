#include "cuda/launch.hpp"

#include "cuda/diagnostics.hpp"
#include "cuda/occupancy.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace emu::cuda {
namespace {

emu::Dim3 to_machine(abi::Dim3 d) { return {d.x, d.y, d.z}; }
bool has_zero(abi::Dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; }
std::uint64_t volume(abi::Dim3 d) { return std::uint64_t{d.x} * d.y * d.z; }
std::string text(abi::Dim3 d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

[[noreturn]] void refuse(Error error, const Function& function, const std::string& why) {
    throw ApiError(error, "launch of " + function.readable_name() + " refused: " + why);
}

void check_shape(Function& function, const LaunchRequest& request) {
    const abi::Dim3 grid = request.grid, block = request.block;
    if (has_zero(grid) || has_zero(block))
        refuse(Error::invalid_value, function,
               "grid " + text(grid) + " and block " + text(block) + " must not have a zero");
    if (block.x > 1024 || block.y > 1024 || block.z > 64 || volume(block) > 1024)
        refuse(Error::invalid_value, function,
               "block " + text(block) + " is larger than 1024 threads, or 64 in z");
    if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
        refuse(Error::invalid_value, function, "grid " + text(grid) + " exceeds 2147483647x65535x65535");
    if (volume(block) > function.max_threads())
        refuse(Error::launch_out_of_resources, function,
               "block " + text(block) + " exceeds the kernel's launch bound of " +
                   std::to_string(function.max_threads()) + " threads");
}

void check_shared(Function& function, const LaunchRequest& request) {
    const std::uint32_t limit = function.dynamic_shared_limit();
    if (request.dynamic_shared > limit)
        refuse(
            Error::invalid_value, function,
            std::to_string(request.dynamic_shared) + " bytes of dynamic shared memory, but its limit is " +
                std::to_string(limit) +
                "; raise it with cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize), up to " +
                std::to_string(max_shared_per_block - function.kernel().static_shared));
}

void check_cluster(Function& function, const LaunchRequest& request, emu::Dim3 cluster) {
    const std::uint64_t size = cluster.volume();
    if (size == 1)
        return;
    const abi::Dim3 shape{cluster.x, cluster.y, cluster.z};
    if (size == 0 || request.grid.x % cluster.x || request.grid.y % cluster.y || request.grid.z % cluster.z)
        refuse(Error::invalid_cluster_size, function,
               "grid " + text(request.grid) + " is not a multiple of the cluster " + text(shape));
    const unsigned largest =
        function.nonportable_cluster ? DeviceNumbers::max_cluster : DeviceNumbers::portable_cluster;
    if (size > largest)
        refuse(Error::invalid_cluster_size, function,
               "a cluster of " + std::to_string(size) + " blocks, but at most " + std::to_string(largest) +
                   " are allowed" +
                   (function.nonportable_cluster
                        ? ""
                        : "; 16 need cudaFuncAttributeNonPortableClusterSizeAllowed"));
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

std::vector<std::byte> copy_arguments(const Kernel& kernel, const LaunchRequest& request) {
    std::vector<std::byte> block(kernel.parameter_bytes);
    if (!request.arguments && request.extra) {
        const auto buffer = argument_buffer(request.extra);
        std::ranges::copy(buffer.first(std::min(buffer.size(), block.size())), block.begin());
        return block;
    }
    const auto& parameters = kernel.entry().parameters;
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
    std::array<std::uint32_t, 3> required = function.kernel().source().required_cluster;
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
    const Kernel& kernel = function.kernel();
    check_shape(function, request);
    check_shared(function, request);
    const emu::Dim3 cluster = cluster_of(function, request.attributes);
    check_cluster(function, request, cluster);
    KernelOperation operation;
    operation.function = &function;
    operation.config.grid = to_machine(request.grid);
    operation.config.block = to_machine(request.block);
    operation.config.cluster = cluster;
    operation.config.cluster_launch = is_cluster_launch(function, request.attributes);
    operation.config.dynamic_shared = static_cast<std::uint32_t>(request.dynamic_shared);
    operation.config.cooperative = is_cooperative(request);
    if (operation.config.cooperative) {
        const std::uint64_t resident =
            std::uint64_t{blocks_per_multiprocessor(function, static_cast<unsigned>(volume(request.block)),
                                                    request.dynamic_shared)} *
            DeviceNumbers::multiprocessors;
        if (volume(request.grid) > resident)
            refuse(Error::cooperative_launch_too_large, function,
                   "a cooperative grid of " + std::to_string(volume(request.grid)) + " blocks, but only " +
                       std::to_string(resident) + " can run at once");
    }
    operation.parameters = copy_arguments(kernel, request);
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
        state.device().prepare(function.image->program(), function.name, launch.config, launch.parameters,
                               function.dynamic_shared_limit(), function.nonportable_cluster, refused);
    if (prepared)
        return prepared;
    for (const Diagnostic& diagnostic : refused.result.diagnostics)
        report(state, diagnostic);
    if (refused.result.diagnostics.empty())
        refuse(translate(refused.error), function, refused.message);
    throw ApiError(translate(refused.error));
}

} // namespace emu::cuda

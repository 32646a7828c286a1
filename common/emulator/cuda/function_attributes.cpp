#include "cuda/function_attributes.hpp"

#include "cuda/occupancy.hpp"
#include "cuda/state.hpp"

namespace emu::cuda {
namespace {

constexpr int binary_version = 90;

int ptx_version(const Function& function) {
    // "sm_90a" -> 90
    int version = 0;
    for (const char c : function.image->module().target())
        if (c >= '0' && c <= '9')
            version = version * 10 + (c - '0');
    return version;
}

int constant_bytes(const Function& function) {
    return static_cast<int>(function.image->module().constant_bytes());
}

std::array<int, 3> cluster_attribute(Function& function) {
    const auto& compiled = function.kernel().required_cluster;
    std::array<int, 3> required{};
    for (std::size_t i = 0; i < 3; ++i)
        required[i] = compiled[0] ? static_cast<int>(compiled[i]) : function.required_cluster[i].load();
    return required;
}

Error set_dynamic_shared(Function& function, int value) {
    const std::uint32_t most = max_shared_per_block - function.kernel().static_shared;
    if (value < 0 || static_cast<std::uint32_t>(value) > most) {
        say_once(std::to_string(value) + " bytes of dynamic shared memory are asked for " +
                 function.readable_name() + "; at most " + std::to_string(most) + " are possible");
        return Error::invalid_value;
    }
    function.max_dynamic_shared = value;
    return Error::success;
}

/// Threads of a block; of one whose sides are too large, more than any block has.
unsigned threads_of(abi::Dim3 block) {
    constexpr unsigned most = DeviceNumbers::max_threads_per_block;
    return block.x > most || block.y > most || block.z > most ? most + 1 : block.x * block.y * block.z;
}

} // namespace

abi::FunctionAttributes attributes_of(Function& function) {
    const KernelFacts& kernel = function.kernel();
    const auto cluster = cluster_attribute(function);
    abi::FunctionAttributes a{};
    a.shared_size = kernel.static_shared;
    a.const_size = static_cast<std::size_t>(constant_bytes(function));
    a.local_size = kernel.local_need;
    a.max_threads_per_block = static_cast<int>(function.max_threads());
    a.registers = static_cast<int>(registers_per_thread(function));
    a.ptx_version = ptx_version(function);
    a.binary_version = binary_version;
    a.max_dynamic_shared_size = static_cast<int>(function.dynamic_shared_limit());
    a.preferred_shared_carveout = function.preferred_carveout;
    a.cluster_dim_must_be_set = kernel.explicit_cluster && cluster[0] == 0;
    a.required_cluster_width = cluster[0];
    a.required_cluster_height = cluster[1];
    a.required_cluster_depth = cluster[2];
    a.cluster_scheduling_policy = function.cluster_policy;
    a.nonportable_cluster_size_allowed = function.nonportable_cluster;
    return a;
}

Error set_attribute(Function& function, abi::FunctionAttribute attribute, int value) {
    using A = abi::FunctionAttribute;
    switch (attribute) {
    case A::max_dynamic_shared_size:
        return set_dynamic_shared(function, value);
    case A::preferred_shared_carveout:
        if (value < -1 || value > 100)
            return Error::invalid_value;
        function.preferred_carveout = value;
        return Error::success;
    case A::required_cluster_width:
    case A::required_cluster_height:
    case A::required_cluster_depth:
        if (value < 0 || function.kernel().required_cluster[0])
            return Error::invalid_value; // Fixed when the kernel was compiled.
        function.required_cluster[static_cast<std::size_t>(attribute) -
                                  static_cast<std::size_t>(A::required_cluster_width)] = value;
        return Error::success;
    case A::nonportable_cluster_size_allowed:
        function.nonportable_cluster = value != 0;
        return Error::success;
    case A::cluster_scheduling_policy:
        function.cluster_policy = value;
        return Error::success;
    default:
        return Error::invalid_value; // The rest can only be read.
    }
}

Error get_attribute(Function& function, abi::FunctionAttribute attribute, int* value) {
    const abi::FunctionAttributes a = attributes_of(function);
    // In the order of CUfunction_attribute.
    const std::array<int, 16> values{
        a.max_threads_per_block,
        static_cast<int>(a.shared_size),
        static_cast<int>(a.const_size),
        static_cast<int>(a.local_size),
        a.registers,
        a.ptx_version,
        a.binary_version,
        a.cache_mode_ca,
        a.max_dynamic_shared_size,
        a.preferred_shared_carveout,
        a.cluster_dim_must_be_set,
        a.required_cluster_width,
        a.required_cluster_height,
        a.required_cluster_depth,
        a.nonportable_cluster_size_allowed,
        a.cluster_scheduling_policy,
    };
    const auto index = static_cast<std::size_t>(attribute);
    if (!value || index >= values.size())
        return Error::invalid_value;
    *value = values[index];
    return Error::success;
}

Error parameter_info(Function& function, std::size_t index, std::size_t* offset, std::size_t* size) {
    const auto& parameters = function.kernel().signature;
    if (!offset || index >= parameters.size())
        return Error::invalid_value;
    *offset = parameters[index].offset;
    if (size)
        *size = parameters[index].size;
    return Error::success;
}

unsigned largest_cluster(Function& function, abi::Dim3 block, std::size_t dynamic_shared) {
    const unsigned threads = threads_of(block);
    for (unsigned size = DeviceNumbers::largest_cluster(function.nonportable_cluster); size > 0; size /= 2)
        if (active_clusters(function, threads, dynamic_shared, size) > 0)
            return size;
    return 0;
}

Error count_clusters(Function& function, abi::Dim3 block, std::size_t dynamic_shared, emu::Dim3 cluster,
                     int* count) {
    const std::uint64_t size = cluster.volume();
    if (size == 0 || size > DeviceNumbers::largest_cluster(function.nonportable_cluster))
        return Error::invalid_cluster_size;
    *count = static_cast<int>(
        active_clusters(function, threads_of(block), dynamic_shared, static_cast<unsigned>(size)));
    return Error::success;
}

} // namespace emu::cuda

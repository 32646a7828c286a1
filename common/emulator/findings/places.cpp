#include "findings/places.hpp"

#include "machine/device.hpp"
#include "machine/variable_names.hpp"

#include <algorithm>
#include <optional>

namespace emu {
namespace {

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

/// An address further than that from all allocations did not get there by a wrong index.
constexpr std::uint64_t far_away = std::uint64_t{1} << 32;

/// A static shared variable of a kernel: where it begins and its size, in bytes.
struct SharedVariable {
    std::string_view name;
    std::uint32_t start = 0;
    std::uint64_t size = 0;
};

std::vector<SharedVariable> shared_variables(const Kernel& kernel) {
    std::vector<SharedVariable> all;
    const ptx::Module& module = kernel.program->module();
    for (std::size_t i = 0; i < module.variables.size(); ++i)
        if (const auto& v = module.variables[i];
            v.space == ptx::Space::shared && !v.unsized && kernel.module_shared[i])
            all.push_back({v.name, kernel.module_shared[i], v.size});
    for (const auto& function : kernel.functions)
        for (std::size_t i = 0; i < function->variables.size(); ++i)
            if (const auto& p = function->variables[i]; p.space == ptx::Space::shared && p.size)
                all.push_back({function->source->variables[i].name, p.offset, p.size});
    return all;
}

std::string bytes_behind(std::uint64_t distance, const std::string& what) {
    return distance == 0 ? "right behind " + what : count_of(distance, "byte") + " past the end of " + what;
}

} // namespace

std::string thread_name(const Warp& warp, unsigned lane) {
    const Dim3 shape = warp.block().cluster().info().config.block;
    const std::uint32_t t = warp.thread_of(lane);
    return "thread " + triple(t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y) + " of " +
           block_name(warp.block().index());
}

std::string block_name(Dim3 index) { return "block " + triple(index.x, index.y, index.z); }

std::string count_of(std::uint64_t n, std::string_view what) {
    return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

std::string hexadecimal(std::uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string shared_text(Cluster& cluster, std::uint32_t address) {
    std::string text = shared_name(cluster.info(), shared_offset(address));
    if (cluster.blocks().size() > 1)
        text += " of the block with rank " + std::to_string(shared_rank(address));
    return text + initialised_at(cluster, address);
}

std::string shared_name(const LaunchInfo& info, std::uint32_t offset) {
    const Kernel& kernel = *info.kernel;
    if (offset < shared_reserved)
        return "shared memory offset " + std::to_string(offset);
    if (offset >= kernel.dynamic_shared_offset && offset < info.shared_size) {
        const std::uint32_t inside = offset - kernel.dynamic_shared_offset;
        return dynamic_byte_name(kernel, inside)
            .value_or("dynamic shared memory + " + std::to_string(inside));
    }
    // The last variable that begins before the offset, unless the memory of the launch lies between.
    std::optional<SharedVariable> nearest;
    for (const SharedVariable& v : shared_variables(kernel))
        if (v.start <= offset && (!nearest || v.start >= nearest->start))
            nearest = v;
    const std::uint32_t dynamic = info.config.dynamic_shared;
    if (dynamic != 0 && offset >= info.shared_size)
        return bytes_behind(offset - info.shared_size,
                            count_of(dynamic, "byte") + " of dynamic shared memory");
    if (kernel.names_dynamic_shared && offset >= kernel.dynamic_shared_offset)
        return "dynamic shared memory + " + std::to_string(offset - kernel.dynamic_shared_offset) +
               ", of which the launch gave none";
    if (!nearest)
        return "shared memory offset " + std::to_string(offset);
    const std::uint32_t inside = offset - nearest->start;
    if (inside >= nearest->size)
        return bytes_behind(inside - nearest->size,
                            plain_name(nearest->name) + " (" + count_of(nearest->size, "byte") + ")");
    return byte_name(*kernel.program, nearest->name, nearest->size, inside);
}

bool is_shared_variable(const LaunchInfo& info, std::uint32_t offset, std::uint64_t bytes) {
    return std::ranges::any_of(shared_variables(*info.kernel),
                               [&](const SharedVariable& v) { return v.start == offset && v.size == bytes; });
}

std::string advice_for_global_address(const GlobalMemory& memory, Address address) {
    if (address < 4096)
        return "Check that the pointer was set, and that the allocation it comes from succeeded.";
    if (!memory.find(address) && memory.find_freed(address))
        return "Free memory only after the last kernel, copy or thread that uses it.";
    const auto near = memory.nearest(address);
    if (!memory.find(address) &&
        (!near || (address < near->base ? near->base - address : address - near->base) > far_away))
        return "Pass kernels pointers from cudaMalloc, cudaMallocManaged or cudaMallocHost; memory of the "
               "host must be copied or registered.";
    return "Check the index against the size of the array.";
}

std::string describe_global_address(const GlobalMemory& memory, Address address, std::uint64_t bytes) {
    const std::string what = count_of(bytes, "byte") + " at " + hexadecimal(address);
    if (address < 4096)
        return what + ": a null pointer, or an offset from one";
    if (const auto inside = memory.find(address))
        return what + ": the last ones lie " +
               count_of(address + bytes - (inside->base + inside->size), "byte") +
               " past the end of an allocation of " + count_of(inside->size, "byte") +
               (inside->name.empty() ? "" : " (" + inside->name + ")");
    if (const auto freed = memory.find_freed(address))
        return what + ": memory that has been freed (an allocation of " + count_of(freed->size, "byte") + ")";
    if (const auto near = memory.nearest(address)) {
        const bool before = address < near->base;
        const std::uint64_t distance = before ? near->base - address : address - (near->base + near->size);
        if (distance > far_away)
            return what + ": no memory of the device, and none of it is near. It looks like a pointer to the "
                          "host's memory, or like one that was never set";
        return what + ": no allocation; the nearest one, of " + count_of(near->size, "byte") +
               (near->name.empty() ? "" : " (" + near->name + ")") + ", " +
               (before ? "begins " + count_of(distance, "byte") + " later"
                       : "ended " + count_of(distance, "byte") + " before");
    }
    return what + ": no allocation at all";
}

} // namespace emu

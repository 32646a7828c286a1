#include "machine/reports.hpp"

#include "machine/device.hpp"
#include "ptx/parser.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace emu {
namespace {

std::string triple(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

std::string demangle(std::string_view mangled) {
    int status = 0;
    const std::string text(mangled);
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? plain.get() : text;
}

std::string count_of(std::uint64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// What one group of lanes waits for, without the lanes themselves, so that equal waits can be counted
/// together.
std::string describe_wait(Cluster& cluster, const Warp& warp, unsigned lane) {
    switch (warp.wait_of(lane)) {
    case Wait::block_barrier: {
        const auto id = static_cast<unsigned>(warp.wait_tag(lane));
        const BlockBarrier& b = warp.block().barrier(id);
        const std::uint32_t expected = b.all_threads ? warp.block().live_threads() : b.expected;
        return "at block barrier " + std::to_string(id) + ": " + std::to_string(b.arrived) + " of " +
               count_of(expected, "thread") + " have arrived";
    }
    case Wait::cluster_barrier:
        return "at the cluster barrier";
    case Wait::warp_sync:
        return "at a warp-synchronous instruction, for the other lanes of its mask";
    case Wait::mbarrier: {
        const auto address = static_cast<std::uint32_t>(warp.wait_tag(lane));
        std::string text = "at mbarrier " + shared_name(*cluster.info().kernel, shared_offset(address));
        if (shared_rank(address) != warp.block().rank())
            text += " of cluster block " + std::to_string(shared_rank(address));
        if (const Mbarrier* b = cluster.mbarrier(address))
            text += ", phase " + std::to_string(b->phase) + ": " + std::to_string(b->pending) + " of " +
                    count_of(b->expected, "arrival") + " missing, tx-count " + std::to_string(b->tx) +
                    " bytes";
        return text;
    }
    default:
        return "polling without anything that could change";
    }
}

/// The compiler's path ("BUILD/../chapters/x.cu") as a reader would write it: without detours, and relative
/// to the working directory where the file lies below it.
std::string readable_path(const std::string& path) {
    std::error_code error;
    const auto normal = std::filesystem::path(path).lexically_normal();
    const auto here = std::filesystem::current_path(error);
    if (error)
        return normal.string();
    const auto relative = normal.lexically_relative(here);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return (below ? relative : normal).string();
}

} // namespace

std::string thread_name(const Warp& warp, unsigned lane) {
    const Dim3 shape = warp.block().cluster().info().config.block;
    const std::uint32_t t = warp.thread_of(lane);
    const Dim3 b = warp.block().index();
    return "thread " + triple(t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y) + " of block " +
           triple(b.x, b.y, b.z);
}

SourceLine source_line(const Kernel& kernel, std::uint32_t pc, std::string role) {
    const ptx::Module& module = kernel.program->module();
    const ptx::Instruction& instruction = *kernel.sources[pc];
    const ptx::Location& where = module.reader_location(instruction.location);
    if (where.line)
        return {readable_path(module.files[where.file]), where.line, std::move(role)};
    return {"PTX", ptx::position_of(module, instruction.text_offset).line, std::move(role)};
}

std::string shared_name(const Kernel& kernel, std::uint32_t offset) {
    const auto named = [&](std::string_view name, std::uint32_t start) {
        const std::uint32_t inside = offset - start;
        std::string plain = demangle(name);
        if (const auto colon = plain.rfind("::");
            colon != std::string::npos && plain.find(')') != std::string::npos)
            plain = plain.substr(colon + 2);
        return plain + (inside ? " + " + std::to_string(inside) : "");
    };
    const ptx::Module& module = kernel.program->module();
    for (std::size_t i = 0; i < module.variables.size(); ++i)
        if (const auto& v = module.variables[i]; v.space == ptx::Space::shared && !v.unsized &&
                                                 kernel.module_shared[i] &&
                                                 offset - kernel.module_shared[i] < v.size)
            return named(v.name, kernel.module_shared[i]);
    for (const auto& function : kernel.functions)
        for (std::size_t i = 0; i < function->variables.size(); ++i)
            if (const auto& p = function->variables[i];
                p.space == ptx::Space::shared && offset - p.offset < p.size)
                return named(function->source->variables[i].name, p.offset);
    if (offset >= kernel.dynamic_shared_offset)
        return "dynamic shared memory + " + std::to_string(offset - kernel.dynamic_shared_offset);
    return "shared memory offset " + std::to_string(offset);
}

Diagnostic describe_deadlock(Cluster& cluster) {
    struct Group {
        std::uint64_t threads = 0;
        std::string first;
        std::uint32_t pc = 0;
    };
    std::map<std::pair<std::uint32_t, std::string>, Group> groups;
    std::uint64_t exited = 0;
    for (Warp* warp : cluster.warps()) {
        exited += static_cast<std::uint64_t>(std::popcount(warp->exited()));
        for_lanes(warp->present() & ~warp->exited(), [&](unsigned lane) {
            Group& g = groups[{warp->lane_pc(lane), describe_wait(cluster, *warp, lane)}];
            if (g.threads++ == 0)
                g.first = thread_name(*warp, lane);
            g.pc = warp->lane_pc(lane);
        });
    }
    Diagnostic d;
    d.name = "deadlock";
    d.fault = Fault::timeout;
    d.message = "Every thread that is left waits, and nothing that is under way can end a wait.";
    for (const auto& [key, g] : groups) {
        std::string who = g.first;
        if (g.threads > 1)
            who += " and " + std::to_string(g.threads - 1) + " more";
        d.message += "\n  " + who + ": " + key.second + ".";
        d.locations.push_back(cluster.source_line(g.pc, "wait of " + who));
    }
    if (exited)
        d.message += "\n  " + count_of(exited, "thread") + " of this " +
                     (cluster.blocks().size() > 1 ? "cluster" : "block") + " already ended.";
    d.advice = "Check that the expected count equals the arrivals, that the tx-count equals the bytes "
               "copied, that the parity "
               "changes with every phase, and that every thread reaches the barrier.";
    return d;
}

std::string describe_global_address(const GlobalMemory& memory, Address address, std::uint64_t bytes) {
    char hex[32];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    const std::string what = std::to_string(bytes) + " bytes at " + hex;
    if (address < 4096)
        return what + ": a null pointer, or an offset from one";
    if (const auto inside = memory.find(address))
        return what + ": the last ones lie " +
               std::to_string(address + bytes - (inside->base + inside->size)) +
               " bytes past the end of an allocation of " + std::to_string(inside->size) + " bytes" +
               (inside->name.empty() ? "" : " (" + inside->name + ")");
    if (const auto freed = memory.find_freed(address))
        return what + ": memory that has been freed (an allocation of " + std::to_string(freed->size) +
               " bytes)";
    if (const auto near = memory.nearest(address)) {
        const bool before = address < near->base;
        const std::uint64_t distance = before ? near->base - address : address - (near->base + near->size);
        return what + ": no allocation; the nearest one, of " + std::to_string(near->size) + " bytes" +
               (near->name.empty() ? "" : " (" + near->name + ")") + ", " +
               (before ? "begins " + std::to_string(distance) + " bytes later"
                       : "ended " + std::to_string(distance) + " bytes before");
    }
    return what + ": no allocation at all";
}

} // namespace emu

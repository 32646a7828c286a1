/// \file
/// Recorded launches in a page: one capsule, of which any launch runs, as it is or with another kernel in its
/// place.

#include "hopper_emulator/capsule.hpp"
#include "wasm/outcome.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

emu::Capsule capsule;

/// Another module and kernel, and the text of its source file.
struct Replacement {
    std::string ptx, kernel, file, source;
};
Replacement replacement;

std::string quoted(std::string_view text) {
    std::string json = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            json += '\\';
        json += c;
    }
    return json + '"';
}

std::string shape(const emu::Dim3& d) {
    return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

/// Whether the kernel's PTX reads a clock: what it stores of that is another number in each order.
bool reads_clocks(const emu::CapsuleLaunch& launch) {
    const std::string_view module = capsule.modules[launch.module];
    const std::size_t begin = module.find(".entry " + launch.kernel + "(");
    const std::string_view body = module.substr(std::min(begin, module.size()));
    const std::string_view kernel = body.substr(0, body.find("\n}"));
    return kernel.find("%clock") != kernel.npos || kernel.find("%globaltimer") != kernel.npos;
}

std::string description_of(const emu::CapsuleLaunch& launch) {
    return "{\"launch\":" + std::to_string(launch.serial) + ",\"kernel\":" + quoted(launch.kernel) +
           ",\"name\":" + quoted(launch.name) + ",\"grid\":" + shape(launch.config.grid) +
           ",\"block\":" + shape(launch.config.block) + ",\"cluster\":" + shape(launch.config.cluster) +
           ",\"clocks\":" + (reads_clocks(launch) ? "true" : "false") + "}";
}

/// The launch with the replacement's kernel. Variables of its module are as new.
emu::Capsule replaced(std::size_t index) {
    emu::Capsule other;
    other.launches.push_back(capsule.launches[index]);
    emu::CapsuleLaunch& launch = other.launches.front();
    other.modules = {replacement.ptx};
    other.sources = capsule.sources;
    std::erase_if(other.sources, [](const auto& each) { return each.file == replacement.file; });
    other.sources.push_back({replacement.file, replacement.source});
    launch.module = 0;
    launch.kernel = replacement.kernel;
    std::erase_if(launch.awaited, [&](emu::Address base) {
        return std::ranges::any_of(launch.memory.pieces, [&](const auto& piece) {
            return piece.allocation.base == base && piece.allocation.kind == emu::Allocation::Kind::module;
        });
    });
    return other;
}

/// What the launch's program allocated, at the end.
void keep_arrays(emu::Replay& replay, const emu::CapsuleLaunch& launch) {
    for (const auto& [allocation, freed, bytes, words] : launch.memory.pieces)
        if (!freed && allocation.kind != emu::Allocation::Kind::parameters &&
            allocation.kind != emu::Allocation::Kind::module) {
            const std::byte* const begin = replay.device().memory().bytes(allocation.base);
            page::outcome().arrays.emplace_back(begin, begin + allocation.size);
        }
}

void run(std::size_t index, const emu::Settings& settings) {
    if (index >= capsule.launches.size())
        throw emu::CapsuleError("there is no such launch");
    const bool other = !replacement.kernel.empty();
    const emu::Capsule changed = other ? replaced(index) : emu::Capsule{};
    emu::Replay replay(other ? changed : capsule, other ? 0 : index, settings);
    const page::Watch watch(replay.device());
    watch.keep(replay.run());
    keep_arrays(replay, capsule.launches[index]);
}

} // namespace

// meson.build exports each of these.
extern "C" {

/// Takes a capsule. False if it is none: emulator_text(0) says why; else emulator_text(1) lists its launches.
bool emulator_open(const std::byte* bytes, std::size_t size) {
    page::outcome() = {};
    replacement = {};
    try {
        capsule = emu::read_capsule({bytes, size});
        std::string& list = page::outcome().findings = "[";
        for (const emu::CapsuleLaunch& launch : capsule.launches)
            list += (list.size() > 1 ? "," : "") + description_of(launch);
        list += "]";
        return true;
    } catch (const std::exception& error) {
        page::outcome().error = error.what();
        return false;
    }
}

/// From now on launches of the capsule run this kernel (mangled) of this PTX instead of their own; an empty
/// name: their own again. `source` is the text of `file`, for the lines that findings show.
void emulator_replace(const char* ptx, std::size_t ptx_size, const char* kernel, std::size_t kernel_size,
                      const char* file, std::size_t file_size, const char* source, std::size_t source_size) {
    replacement = {{ptx, ptx_size}, {kernel, kernel_size}, {file, file_size}, {source, source_size}};
}

/// Runs launch number `index` of the capsule, from 0; the rest is as for emulator_run(). The arrays are all
/// allocations of its program.
bool emulator_replay(unsigned index, unsigned order, double seed, bool checks, double most_instructions) {
    page::outcome() = {};
    try {
        run(index, page::settings_of(order, seed, checks, most_instructions));
    } catch (const std::exception& error) {
        page::outcome().error = error.what();
    }
    return page::outcome().error.empty();
}

} // extern "C"

#pragma once
/// \file
/// Whole kernels in PTX, run on an emulated device of their own: one buffer of 32-bit words in and out.

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/device.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace emu::test {

/// A kernel `k` with the parameters (u64 buffer, u32 count) and the given body.
inline std::string kernel_text(const std::string& body, const std::string& module = {}) {
    return ".version 9.0\n.target sm_90\n.address_size 64\n" + module +
           "\n.visible .entry k(.param .u64 buffer, .param .u32 count)\n{\n"
           "  .reg .pred %p<8>;\n  .reg .b32 %r<40>;\n  .reg .b64 %rd<40>;\n  .reg .f32 %f<8>;\n"
           "  ld.param.u64 %rd0, [buffer];\n  ld.param.u32 %r0, [count];\n  mov.u32 %r1, %tid.x;\n" +
           body + "\n}\n";
}

struct Shape {
    Dim3 grid{1, 1, 1};
    Dim3 block{32, 1, 1};
    Dim3 cluster{1, 1, 1};
    std::uint32_t dynamic_shared = 0;
};

/// What a run left behind.
struct Outcome {
    LaunchOutcome launch;
    std::vector<std::uint32_t> words; ///< The buffer.

    /// The first finding's name, or "" if there is none.
    std::string finding() const {
        return launch.result.diagnostics.empty() ? std::string() : launch.result.diagnostics.front().name();
    }
    std::string message() const {
        return launch.result.diagnostics.empty() ? launch.message : launch.result.diagnostics.front().message;
    }
};

/// Runs `ptx`'s kernel `k` over a copy of `words`.
inline Outcome run(const std::string& ptx, std::vector<std::uint32_t> words, Shape shape = {},
                   Settings settings = {}) {
    if (settings.threads == 0)
        settings.threads = 1;
    Device device(settings, make_reporter());
    const auto program = device.load(ptx);
    const std::uint64_t bytes = words.size() * sizeof(std::uint32_t);
    const Address buffer = device.memory().allocate(bytes, Allocation::Kind::device);
    std::memcpy(reinterpret_cast<void*>(buffer), words.data(), bytes);
    std::byte parameters[12];
    const auto count = static_cast<std::uint32_t>(words.size());
    std::memcpy(parameters, &buffer, 8);
    std::memcpy(parameters + 8, &count, 4);
    Outcome outcome;
    outcome.launch = device.launch(
        *program, "k", {shape.grid, shape.block, shape.cluster, shape.dynamic_shared, false}, parameters);
    std::memcpy(words.data(), reinterpret_cast<void*>(buffer), bytes);
    outcome.words = std::move(words);
    return outcome;
}

} // namespace emu::test

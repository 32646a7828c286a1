#pragma once
/// \file
/// What tests of capsules share: a recorded file, a kernel, its launches.

#include <hopper_emulator/capsule.hpp>
#include <hopper_emulator/counters.hpp>
#include <hopper_emulator/recording.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace capsule_tests {

using namespace emu;

/// Of its own for each test, gone at its end.
class File {
  public:
    explicit File(const char* name)
        : path_(std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)) {}
    ~File() { std::filesystem::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string name() const { return path_.string(); }
    std::vector<std::byte> bytes() const {
        std::ifstream in(path_, std::ios::binary);
        const std::vector<char> all{std::istreambuf_iterator<char>(in), {}};
        const auto view = std::as_bytes(std::span(all));
        return {view.begin(), view.end()};
    }

  private:
    std::filesystem::path path_;
};

/// Thread i of block b adds table[i] to out[32 * b + i], by way of shared memory; `barrier` stands between
/// the store there and the load of the neighbour's word. `calls` counts launches.
inline std::string text(const std::string& barrier = "bar.sync 0;") {
    return R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 table[32];
.global .align 4 .u32 calls = 7;
.visible .entry k(.param .u64 out, .param .u32 factor)
{
    .reg .pred %p<3>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 4 .b8 line[256];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r10, [factor];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r4, [%rd1];
    mov.u32 %r5, line;
    shl.b32 %r6, %r1, 2;
    add.u32 %r5, %r5, %r6;
    xor.b32 %r6, %r6, 128;
    mov.u32 %r7, line;
    add.u32 %r7, %r7, %r6;
    st.shared.u32 [%r5], %r4;
    )" + barrier +
           R"(
    ld.shared.u32 %r8, [%r7];
    and.b32 %r11, %r1, 31;
    mul.wide.u32 %rd3, %r11, 4;
    mov.u64 %rd4, table;
    add.s64 %rd4, %rd4, %rd3;
    ld.global.u32 %r9, [%rd4];
    mad.lo.u32 %r9, %r9, %r10, %r8;
    st.global.u32 [%rd1], %r9;
    setp.eq.u32 %p1, %r3, 0;
    mov.u64 %rd5, calls;
    @%p1 red.global.add.u32 [%rd5], 1;
    ret;
}
)";
}

/// What a program saw of its launches.
struct Run {
    std::vector<std::string> findings;
    std::vector<std::string> counters;
    std::vector<std::uint32_t> words; ///< The buffer at the end.
};

/// Two launches of two blocks with 64 threads over random words, recorded in `file`; `cluster` blocks are
/// one.
inline Run record(const std::string& file, const std::string& ptx, Settings settings = {},
                  const std::string& only = {}, std::uint32_t cluster = 1) {
    settings.record_file = file;
    settings.record_only = only;
    settings.threads = 1;
    const auto device = make_device(settings);
    auto counting = std::make_unique<Counters>("");
    const Counters& counters = *counting;
    device->add_observer(std::move(counting));
    const auto module = device->load(ptx);
    std::mt19937 random(5);
    std::vector<std::uint32_t> words(128), table(32);
    std::ranges::generate(words, std::ref(random));
    std::ranges::generate(table, std::ref(random));
    const Address out = device->memory().allocate(4 * words.size(), Allocation::Kind::device);
    std::memcpy(device->memory().bytes(out), words.data(), 4 * words.size());
    if (const auto variable = module->variable("table"))
        std::memcpy(device->memory().bytes(variable->address), table.data(), 4 * table.size());
    Run run;
    for (const std::uint32_t factor : {3u, 5u}) {
        std::array<std::byte, 12> parameters{};
        std::memcpy(parameters.data(), &out, 8);
        std::memcpy(parameters.data() + 8, &factor, 4);
        LaunchConfig config;
        config.grid = {2, 1, 1};
        config.block = {64, 1, 1};
        config.cluster = {cluster, 1, 1};
        const auto outcome = device->launch(*module, "k", config, parameters);
        for (const Diagnostic& each : outcome.result.diagnostics)
            run.findings.push_back(format_json(each));
    }
    for (const LaunchCounts& each : counters.launches())
        run.counters.push_back(Counters::json(each));
    run.words.resize(words.size());
    std::memcpy(run.words.data(), device->memory().bytes(out), 4 * words.size());
    device->finish();
    return run;
}

} // namespace capsule_tests

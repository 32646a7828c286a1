// A kernel as PTX text, run and checked.
#include <hopper_emulator/device.hpp>

#include <cstdio>
#include <string>

// [kernel]
const std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry reverse(.param .u64 numbers)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 line[256];
    ld.param.u64 %rd1, [numbers];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r2, [%rd1];
    mov.u64 %rd3, line;
    add.s64 %rd2, %rd3, %rd2;
    st.shared.u32 [%rd2], %r2;          // Here a barrier is missing.
    sub.u32 %r3, 63, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd2, %rd3, %rd2;
    ld.shared.u32 %r4, [%rd2];
    st.global.u32 [%rd1], %r4;
    ret;
}
)";
// [/kernel]

// [main]
int main() {
    const auto device = emu::make_device(emu::Settings::from_environment());
    const auto module = device->load(text);

    constexpr std::uint32_t count = 64;
    const emu::Address address = device->memory().allocate(count * 4, emu::Allocation::Kind::device);
    auto* const numbers = reinterpret_cast<std::uint32_t*>(address);
    for (std::uint32_t i = 0; i < count; ++i)
        numbers[i] = i;

    emu::LaunchConfig config;
    config.block = {count, 1, 1};
    const auto outcome = device->launch(*module, "reverse", config, std::as_bytes(std::span(&address, 1)));

    if (outcome.error != emu::LaunchError::none)
        std::printf("refused: %s\n", outcome.message.c_str());
    for (const emu::Diagnostic& finding : outcome.result.diagnostics)
        std::printf("%s", emu::format(finding).c_str());
    std::printf("numbers[0] is %u after %llu instructions\n", numbers[0],
                static_cast<unsigned long long>(outcome.result.instructions));
    return outcome.result.fault == emu::Fault::none ? 0 : 1;
}
// [/main]

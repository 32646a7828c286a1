// The observer that changes shared memory: results that come from there change, others and barriers do not.

#include <hopper_emulator/changed_shared.hpp>
#include <hopper_emulator/device.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace emu;

namespace {

/// One warp stores its numbers in `line`, a bulk copy brings as many to `tile`, and when a phase has told of
/// it all %r9 goes to out[thread]: what `last` makes of them.
std::string text(const std::string& last) {
    return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.maxntid 32, 1, 1
{
    .reg .pred %p<3>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<8>;
    .shared .align 128 .b8 line[128];
    .shared .align 128 .b8 tile[128];
    .shared .align 8 .b64 full;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    mov.u32 %r2, full;
    mov.u32 %r3, tile;
    mov.u32 %r4, line;
    shl.b32 %r5, %r1, 2;
    add.u32 %r4, %r4, %r5;
    add.u32 %r6, %r3, %r5;
    st.shared.u32 [%r4], %r1;
    @%p1 mbarrier.init.shared.b64 [%r2], 1;
    fence.proxy.async;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r2], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 128, [%r2];
wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
    @!%p2 bra wait;
    ld.shared.u32 %r7, [%r4];
    ld.shared.u32 %r8, [%r6];
)" + last + R"(
    st.global.u32 [%rd1 + 128], %r9;
    ret;
}
)";
}

/// What the threads write where the copy brings 100 for each.
std::vector<std::uint32_t> results(const std::string& last, bool changed) {
    const auto device = make_device();
    if (changed)
        device->add_observer(make_shared_changer());
    const auto module = device->load(text(last));
    const Address memory = device->memory().allocate(256, Allocation::Kind::device);
    std::vector<std::uint32_t> values(32, 100);
    std::memcpy(reinterpret_cast<void*>(memory), values.data(), values.size() * sizeof(std::uint32_t));
    LaunchConfig config;
    config.block = {32, 1, 1};
    const LaunchOutcome outcome = device->launch(*module, "k", config, std::as_bytes(std::span(&memory, 1)));
    INFO(outcome.message);
    REQUIRE(outcome.error == LaunchError::none);
    REQUIRE(outcome.result.fault == Fault::none);
    std::memcpy(values.data(), reinterpret_cast<void*>(memory + 128), values.size() * sizeof(std::uint32_t));
    return values;
}

} // namespace

TEST_CASE("what comes from shared memory changes, by threads or by a copy") {
    for (const std::string last : {"mov.u32 %r9, %r7;", "mov.u32 %r9, %r8;"}) {
        const std::vector<std::uint32_t> plain = results(last, false);
        const std::vector<std::uint32_t> changed = results(last, true);
        for (std::size_t i = 0; i < plain.size(); ++i)
            CHECK(changed[i] != plain[i]);
    }
}

TEST_CASE("what does not depend on shared memory stays, and barriers hold") {
    for (const std::string last : {"mov.u32 %r9, %r1;", "and.b32 %r7, %r7, 0;\nadd.u32 %r9, %r7, %r1;"})
        CHECK(results(last, true) == results(last, false));
}

TEST_CASE("the variable that asks for it is 0 or 1") {
    for (const auto& [value, asks] : {std::pair{"1", true}, {"0", false}, {"", false}}) {
        ::setenv("EMULATOR_CHANGE_SHARED", value, 1);
        CHECK(asks_for_changed_shared() == asks);
    }
    ::setenv("EMULATOR_CHANGE_SHARED", "yes", 1);
    CHECK_THROWS_AS(asks_for_changed_shared(), std::runtime_error);
    ::unsetenv("EMULATOR_CHANGE_SHARED");
    CHECK_FALSE(asks_for_changed_shared());
}

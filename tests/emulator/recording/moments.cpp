// Recorded moments: what happens is there once and in order, findings lead to the events that they are about,
// and the limit holds.

#include <hopper_emulator/device.hpp>
#include <hopper_emulator/moments.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <memory>
#include <string>

using namespace emu;
using Catch::Matchers::ContainsSubstring;

namespace {

/// 64 threads write a word each and read their opposite's; `barrier` stands between.
std::string text(const std::string& barrier) {
    return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<5>;
    .shared .align 4 .b8 line[256];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, line;
    add.u32 %r2, %r3, %r2;
    st.shared.u32 [%r2], %r1;
    )" + barrier +
           R"(
    xor.b32 %r4, %r1, 32;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r3, %r4;
    ld.shared.u32 %r1, [%r4];
    ret;
}
)";
}

/// What a launch of it leaves, with as many events as `most`.
std::string recorded(const std::string& barrier, std::size_t most = 1000, unsigned blocks = 1) {
    Settings settings;
    settings.threads = 1;
    const auto device = make_device(settings);
    auto observer = std::make_unique<Moments>(most);
    const Moments& moments = *observer;
    device->add_observer(std::move(observer));
    CHECK(moments.json({}) == "");
    const auto module = device->load(text(barrier));
    LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {64, 1, 1};
    const LaunchOutcome outcome = device->launch(*module, "k", config, {});
    return moments.json(outcome.result.diagnostics);
}

} // namespace

TEST_CASE("A barrier is one event for each arrival, one wait and one completion") {
    const std::string json = recorded("bar.sync 0;");
    // By kind, warp, instruction, lanes: the block begins, warp 0 comes to barrier 0 at instruction 5 and
    // waits (kind 18, nobody of it can run, for a block barrier), warp 1 comes, and the barrier is complete.
    CHECK_THAT(json, ContainsSubstring("\"events\":[5,20,-1,0,0,0,"));
    CHECK_THAT(json, ContainsSubstring(",6,4,0,5,4294967295,0,0,7,18,0,5,4294967295,1,4,0,"));
    CHECK_THAT(json, ContainsSubstring(",6,4,1,5,4294967295,0,0,7,5,-1,0,0,0,0,0,"));
    // Who comes last does not wait.
    CHECK(json.find(",7,18,1,") == std::string::npos);
    CHECK_THAT(json, ContainsSubstring("\"findings\":[]"));
}

TEST_CASE("An access has its addresses as a first one and a step") {
    // Writes of 4 bytes, 1 wavefront of 1: from the first byte behind the reserved KiB, 4 apart.
    CHECK_THAT(recorded("bar.sync 0;"), ContainsSubstring(",11,1,0,4,4294967295,1,4,1,1,1,1024,4,"));
}

TEST_CASE("A finding names its moment and the moments of its lines") {
    const std::string json = recorded("");
    CHECK_THAT(json, ContainsSubstring("{\"finding\":{\"name\":\"race-shared\""));
    const auto at = json.find("\"cluster\":0,\"event\":");
    REQUIRE(at != std::string::npos);
    CHECK(json.find("\"event\":-1") == std::string::npos);
    CHECK(json.find("\"places\":[-1") == std::string::npos);
}

TEST_CASE("Behind the limit nothing is recorded, and the recording says so") {
    const auto events_of = [](const std::string& json) {
        std::size_t count = 0;
        for (auto at = json.find(",4294967295"); at != std::string::npos;
             at = json.find(",4294967295", at + 1))
            ++count;
        return count;
    };
    const std::string all = recorded("bar.sync 0;", 1000, 3), some = recorded("bar.sync 0;", 10, 3);
    CHECK_THAT(some, ContainsSubstring("\"cut\":true"));
    CHECK(all.find("\"cut\":true") == std::string::npos);
    CHECK_THAT(all, ContainsSubstring("\"cluster\":2,\"blocks\":[[2,0,0]]"));
    CHECK(events_of(some) <= 10);
    CHECK(events_of(all) > 30);
}

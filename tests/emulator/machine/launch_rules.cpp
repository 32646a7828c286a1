// The rules of a launch: what of its shape is refused, and with which error.

#include "findings/log.hpp"
#include "machine/device.hpp"

#include <catch2/catch_test_macros.hpp>

#include <span>
#include <string>
#include <vector>

using namespace emu;

namespace {

struct Rule {
    const char* what;
    const char* kernel;
    LaunchConfig config;
    LaunchError error;
    const char* says; ///< A part of the message.
    bool nonportable = false;
};

constexpr std::uint32_t dynamic_limit = 4096;

/// The outcome of Device::admit() and of Device::launch(): there is one set of rules.
std::vector<LaunchOutcome> outcomes(Device& device, Module& program, const Rule& rule) {
    LaunchConfig config = rule.config;
    LaunchOutcome admitted;
    const KernelFacts* kernel =
        device.admit(program, rule.kernel, config, dynamic_limit, rule.nonportable, admitted);
    CHECK((kernel != nullptr) == (rule.error == LaunchError::none));
    return {admitted, device.launch(program, rule.kernel, rule.config, {}, dynamic_limit, rule.nonportable)};
}

void check(const std::vector<Rule>& rules) {
    Device device(MachineSettings{}, make_reporter());
    const auto program = device.load(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry bounded() .maxntid 64, 2, 1 { ret; }
.visible .entry exact() .reqntid 32, 2, 1 { ret; }
.visible .entry pair() .reqnctapercluster 2 { ret; }
.visible .entry large() { .shared .b8 tile[231424]; .reg .u32 %r<2>; mov.u32 %r1, tile; ret; }
)");
    for (const Rule& rule : rules) {
        INFO(rule.what);
        for (const LaunchOutcome& outcome : outcomes(device, *program, rule)) {
            CHECK(outcome.error == rule.error);
            CHECK(outcome.message.find(rule.says) != std::string::npos);
        }
    }
}

} // namespace

TEST_CASE("sides of grids and blocks") {
    constexpr auto invalid = LaunchError::invalid_configuration;
    constexpr Dim3 one{1, 1, 1};
    check({
        {"one thread", "plain", {one, one, one}, LaunchError::none, ""},
        {"the largest block", "plain", {one, {16, 1, 64}, one}, LaunchError::none, ""},
        {"no block", "plain", {{1, 0, 1}, one, one}, invalid, "no zero dimension"},
        {"no thread", "plain", {one, {32, 1, 0}, one}, invalid, "no zero dimension"},
        {"1025 threads", "plain", {one, {1025, 1, 1}, one}, invalid, "more than 1024 threads"},
        {"65 in z", "plain", {one, {1, 1, 65}, one}, invalid, "64 in z"},
        {"a product of 2^64", "plain", {one, {1u << 31, 1u << 27, 64}, one}, invalid, "1024"},
        {"65536 in y", "plain", {{1, 65536, 1}, one, one}, invalid, "65535"},
        {"65536 in z", "plain", {{1, 1, 65536}, one, one}, invalid, "65535"},
        {"2^31 in x", "plain", {{1u << 31, 1, 1}, one, one}, invalid, "65535"},
        {"no such kernel", "none", {one, one, one}, LaunchError::invalid_parameters, "no kernel none"},
    });
}

TEST_CASE("what the kernel itself asks for") {
    constexpr Dim3 one{1, 1, 1};
    check({
        {"at its bound", "bounded", {one, {128, 1, 1}, one}, LaunchError::none, ""},
        {"above it", "bounded", {one, {129, 1, 1}, one}, LaunchError::out_of_resources, "(128)"},
        {"as required", "exact", {one, {32, 2, 1}, one}, LaunchError::none, ""},
        {"as many, but of another shape",
         "exact",
         {one, {64, 1, 1}, one},
         LaunchError::invalid_configuration,
         "exactly"},
        {"its own cluster", "pair", {{4, 1, 1}, one, one}, LaunchError::none, ""},
        {"half of one", "pair", {{3, 1, 1}, one, one}, LaunchError::invalid_cluster, "2x1x1"},
    });
}

TEST_CASE("clusters") {
    constexpr auto invalid = LaunchError::invalid_cluster;
    constexpr Dim3 one{1, 1, 1};
    check({
        {"eight", "plain", {{8, 2, 1}, one, {4, 2, 1}}, LaunchError::none, ""},
        {"sixteen", "plain", {{16, 1, 1}, one, {16, 1, 1}}, invalid, "8 is portable"},
        {"sixteen with permission", "plain", {{16, 1, 1}, one, {16, 1, 1}}, LaunchError::none, "", true},
        {"thirty-two with permission", "plain", {{32, 1, 1}, one, {32, 1, 1}}, invalid, "too large", true},
        {"no multiple", "plain", {{6, 1, 1}, one, {4, 1, 1}}, invalid, "not a multiple"},
        {"none", "plain", {{8, 1, 1}, one, {0, 1, 1}}, invalid, "8x1x1"},
    });
}

TEST_CASE("shared memory") {
    constexpr auto invalid = LaunchError::invalid_configuration;
    constexpr Dim3 one{1, 1, 1};
    check({
        {"at the attribute", "plain", {one, one, one, dynamic_limit}, LaunchError::none, ""},
        {"above it", "plain", {one, one, one, dynamic_limit + 1}, invalid, "4097 bytes of dynamic"},
        {"as much as 32 bits hold", "plain", {one, one, one, 0xffffffffu}, invalid, "exceed"},
        {"all with the static part", "large", {one, one, one, 1024}, LaunchError::none, ""},
        {"one more", "large", {one, one, one, 1025}, invalid, "231424 of static"},
    });
}

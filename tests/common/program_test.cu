/// @file program_test.cu
/// The frame of the chapters' programs: exit codes, table, JSON, and what happens when a kernel is wrong or
/// fails.
#include "workbook/launch.hpp"
#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "json.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using namespace workbook;
using test_support::JsonValue;

namespace {

__global__ void copy(const float* in, float* out, std::size_t size, std::size_t wrong) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < size && i != wrong)
        out[i] = in[i];
}

__global__ void write_nowhere() { *static_cast<volatile int*>(nullptr) = 1; }

struct Data {
    explicit Data(const RunContext& run)
        : host(random_values<float>(run.size, run.seed)), in(host), out(run.size) {}
    std::vector<float> host;
    DeviceBuffer<float> in;
    DeviceBuffer<float> out;
};

std::size_t bytes(const Data& data) { return 2 * data.in.size_bytes(); }
void prepare(Data& data) { data.out.poison(); }
Comparison check_copy(Data& data) { return check_exact(data.out, data.host); }
void launch_copy(Data& data, std::size_t wrong) {
    launch(copy, {.grid = blocks_for(data.host.size(), 128), .block = 128}, data.in.data(), data.out.data(),
           data.host.size(), wrong);
}

constexpr KernelEntry<Data> right{.name = "right",
                                  .shows = "a copy",
                                  .bytes = bytes,
                                  .prepare = prepare,
                                  .launch = [](Data& data) { launch_copy(data, SIZE_MAX); },
                                  .check = check_copy,
                                  .note = [](Data&) { return std::string("a note"); }};
constexpr KernelEntry<Data> wrong{.name = "wrong",
                                  .shows = "a copy that forgets one element",
                                  .bytes = bytes,
                                  .prepare = prepare,
                                  .launch = [](Data& data) { launch_copy(data, 5); },
                                  .check = check_copy};
constexpr KernelEntry<Data> refused{.name = "refused",
                                    .shows = "a launch that cannot be",
                                    .bytes = bytes,
                                    .prepare = prepare,
                                    .launch = [](Data&) { launch(write_nowhere, {.block = 4096}); },
                                    .check = check_copy};
constexpr KernelEntry<Data> crashes{.name = "crashes",
                                    .shows = "an illegal address",
                                    .bytes = bytes,
                                    .prepare = prepare,
                                    .launch = [](Data&) { launch(write_nowhere, {}); },
                                    .check = check_copy};

/// Runs the program with these arguments; its table goes to this process' output.
int run(std::vector<KernelEntry<Data>> kernels, std::vector<std::string> words, DeviceNeeds needs = {}) {
    words.insert(words.begin(), "program");
    std::vector<char*> args;
    for (std::string& word : words)
        args.push_back(word.data());
    const ProgramInfo info{.name = "program",
                           .summary = "for the tests",
                           .size_with_clock = 1000,
                           .size_without_clock = 1000,
                           .device_bytes_per_element = 8,
                           .host_bytes_per_element = 12,
                           .needs = needs};
    return run_program<Data>(info, kernels, static_cast<int>(args.size()), args.data());
}

/// The same, and the JSON that it wrote.
JsonValue run_for_json(int expected_code, std::vector<KernelEntry<Data>> kernels,
                       std::vector<std::string> words = {}) {
    const test_support::TemporaryDirectory directory;
    const std::string file = (directory.path() / "results.json").string();
    words.insert(words.end(), {"--json", file});
    CHECK(run(std::move(kernels), words) == expected_code);
    return JsonValue::parse(test_support::read_file(file));
}

std::string result_of(const JsonValue& json, std::size_t kernel) {
    return json["kernels"].array().at(kernel)["result"].string();
}

} // namespace

TEST_CASE("a program whose kernels are right exits 0 and says so") {
    require_device();
    const JsonValue json = run_for_json(0, {right}, {"--size", "77", "--seed", "5"});
    CHECK(json["size"].number() == 77);
    CHECK(json["seed"].number() == 5);
    const JsonValue& kernel = json["kernels"].array().at(0);
    CHECK(kernel["ok"].boolean());
    CHECK(kernel["bytes"].number() == 2 * 77 * 4);
    CHECK(kernel["note"].string() == "a note");
    CHECK(kernel["median_ms"].is_null() == !device_has_clock());
}

TEST_CASE("a wrong kernel is reported and does not keep the others from running") {
    require_device();
    const JsonValue json = run_for_json(1, {wrong, right});
    CHECK(result_of(json, 0) == "FAILED");
    CHECK_THAT(json["kernels"].array().at(0)["detail"].string(),
               ContainsSubstring("1 of 1000 wrong, first at index 5: expected "));
    CHECK(result_of(json, 1) == "ok");
}

TEST_CASE("a refused launch is reported and does not keep the others from running") {
    require_device();
    const JsonValue json = run_for_json(1, {refused, right});
    CHECK(result_of(json, 0) == "FAILED");
    CHECK_THAT(json["kernels"].array().at(0)["detail"].string(), ContainsSubstring("kernel launch failed"));
    CHECK(result_of(json, 1) == "ok");
}

TEST_CASE("after an error that spoils the process the other kernels are not run") {
    require_device();
    const JsonValue json = run_for_json(1, {crashes, right});
    CHECK(result_of(json, 0) == "FAILED");
    CHECK(result_of(json, 1) == "not run");
}

TEST_CASE("only the chosen kernels run") {
    require_device();
    const JsonValue json = run_for_json(0, {wrong, right}, {"--kernel", "right"});
    CHECK(json["kernels"].array().size() == 1);
}

TEST_CASE("an empty problem is solved") {
    require_device();
    CHECK(run({right}, {"--size", "0"}) == 0);
}

TEST_CASE("bad arguments exit 2, help and list exit 0, with and without a device") {
    CHECK(run({right}, {"--size", "-1"}) == 2);
    CHECK(run({right}, {"--kernel", "nosuch"}) == 2);
    CHECK(run({right}, {"--json", "/nonexistent/file"}) == 2);
    CHECK(run({right}, {"--help"}) == 0);
    CHECK(run({right}, {"--list"}) == 0);
}

TEST_CASE("a size that no memory can hold exits 2") {
    require_device();
    CHECK(run({right}, {"--size", "999999999999"}) == 2);
}

TEST_CASE("needs that no device meets exit 77") { CHECK(run({right}, {}, {.compute_major = 99}) == 77); }

TEST_CASE("the table shows times only where the device has a clock") {
    Report report;
    report.program = "p";
    report.device.name = "d";
    report.size_unit = "elements";
    report.kernels.push_back(
        {.name = "k", .shows = "s", .outcome = KernelResult::Outcome::ok, .bytes = 2'000'000});
    CHECK(report_text(report) ==
          "p on d (compute capability 0.0, 0 SMs), 0 elements, seed 0\n\n"
          "kernel  what it shows  result  bytes moved\n"
          "------  -------------  ------  -----------\n"
          "k       s              ok          2.00 MB\n\n"
          "This device has no clock: results are checked, times and bandwidth need a GPU.\n");
    report.has_clock = true;
    report.kernels[0].timing = summarize({1.0});
    report.ceiling = summarize({1.0});
    report.ceiling_bytes = 4'000'000;
    CHECK_THAT(report_text(report), ContainsSubstring("1.0000   0.0 %   2.0   50.0 %"));
}

TEST_CASE("sizes are readable and small ones exact") {
    CHECK(human_bytes(0) == "0 B");
    CHECK(human_bytes(9'999) == "9999 B");
    CHECK(human_bytes(10'000) == "10.00 kB");
    CHECK(human_bytes(800'000'000'000) == "800.00 GB");
}

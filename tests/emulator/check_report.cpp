// Findings as text and as JSON.

#include "listeners/report.hpp"

#include "report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>

namespace {

emu::Diagnostic sample(const std::string& file) {
    emu::Diagnostic d;
    d.name = "race-shared";
    d.kernel = "add_one(int*, unsigned long)";
    d.message = "Two \"threads\".\nSecond line.";
    d.advice = "Put a barrier\there.";
    d.locations = {{file, 2, "write by thread (0,0,0)"}, {"nowhere.cu", 7, "read by thread (1,0,0)"}};
    return d;
}

} // namespace

TEST_CASE("the text names kernel, lines, their source and the remedy") {
    const test_support::TemporaryDirectory directory;
    const std::string file = directory.path() / "source.cu";
    std::ofstream(file) << "first\n    tile[i] = 1; // here\nthird\n";
    const std::string text = emu::format(sample(file));
    REQUIRE(text.starts_with("error[race-shared] in kernel add_one(int*, unsigned long)\n"));
    REQUIRE(text.find("  Two \"threads\".\n  Second line.\n") != std::string::npos);
    REQUIRE(text.find(file + ":2: write by thread (0,0,0)\n      | tile[i] = 1; // here\n") !=
            std::string::npos);
    REQUIRE(text.find("nowhere.cu:7: read by thread (1,0,0)\n  what to do: Put a barrier") !=
            std::string::npos);
    emu::Diagnostic warning = sample(file);
    warning.fault = emu::Fault::none;
    REQUIRE(emu::format(warning).starts_with("warning[race-shared]"));
}

TEST_CASE("the report file has one JSON object a line, and grows") {
    const test_support::TemporaryDirectory directory;
    emu::Settings settings;
    settings.report_file = directory.path() / "report.jsonl";
    emu::LaunchResult result;
    result.diagnostics = {sample("a.cu"), sample("b.cu")};
    emu::publish(result, settings);
    emu::publish(result, settings);
    const auto read = test_support::read_report(settings.report_file);
    REQUIRE(read.size() == 4);
    REQUIRE(read[1].name == "race-shared");
    REQUIRE(read[1].kernel == "add_one(int*, unsigned long)");
    REQUIRE(read[1].message == "Two \"threads\".\nSecond line.");
    REQUIRE(read[1].locations.size() == 2);
    REQUIRE(read[1].locations[0].file == "b.cu");
    REQUIRE(read[1].locations[0].line == 2);
}

// Findings as text and as JSON.

#include "findings/report.hpp"
#include "findings/source_text.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>

namespace {

emu::Diagnostic sample(const std::string& file) {
    emu::Diagnostic d;
    d.finding = emu::Finding::race_shared;
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

TEST_CASE("the text names up to six callers, the JSON all of them") {
    emu::Diagnostic d = sample("helper.cuh");
    for (std::uint32_t i = 1; i <= 6; ++i)
        d.locations[0].callers.push_back({"roles.cu", 100 + i});
    const std::string six = emu::format(d);
    REQUIRE(
        six.find("helper.cuh:2: write by thread (0,0,0)\n      called from roles.cu:101\n      called from "
                 "roles.cu:102\n") != std::string::npos);
    REQUIRE(six.find("called from roles.cu:106\n  --> nowhere.cu:7") != std::string::npos);
    d.locations[0].callers.push_back({"roles.cu", 107});
    REQUIRE(emu::format(d).find("roles.cu:106\n      …\n  --> nowhere.cu:7") != std::string::npos);
    const std::string json = emu::format_json(d);
    REQUIRE(json.find(
                "\"role\":\"write by thread (0,0,0)\",\"callers\":[{\"file\":\"roles.cu\",\"line\":101},") !=
            std::string::npos);
    REQUIRE(json.find("{\"file\":\"roles.cu\",\"line\":107}]},{\"file\":\"nowhere.cu\"") !=
            std::string::npos);
    REQUIRE(json.ends_with("\"role\":\"read by thread (1,0,0)\"}]}"));
}

TEST_CASE("a line of a header in include/ comes behind the reader's own line that calls it") {
    emu::Diagnostic d = sample("common/include/workbook/nowhere.cuh");
    d.locations[0].callers = {{"/opt/include/other.cuh", 5}, {"mine.cu", 30}, {"mine.cu", 90}};
    d.locations[1].callers = {{"mine.cu", 40}};
    const std::string text = emu::format(d);
    CHECK(text.find("  --> mine.cu:30: write by thread (0,0,0)\n      in /opt/include/other.cuh:5\n"
                    "      in common/include/workbook/nowhere.cuh:2\n      called from mine.cu:90\n"
                    "  --> nowhere.cu:7: read by thread (1,0,0)\n      called from mine.cu:40\n") !=
          std::string::npos);
    const std::string json = emu::format_json(d);
    CHECK(json.find("{\"file\":\"mine.cu\",\"line\":90}],\"own\":2}") != std::string::npos);
    CHECK(json.ends_with("{\"file\":\"mine.cu\",\"line\":40}]}]}"));
    // A header whose callers are all such headers.
    d.locations[0].callers = {{"include/kernel.cuh", 8}};
    CHECK(emu::format(d).find("  --> common/include/workbook/nowhere.cuh:2: write by thread (0,0,0)\n"
                              "      called from include/kernel.cuh:8\n") != std::string::npos);
}

TEST_CASE("the text and the JSON say how many findings are alike") {
    emu::Diagnostic d = sample("a.cu");
    REQUIRE(emu::format(d).find("more like it") == std::string::npos);
    d.more = 3;
    REQUIRE(emu::format(d).find("read by thread (1,0,0)\n  and 3 more like it\n  what to do:") !=
            std::string::npos);
    REQUIRE(emu::format_json(d).ends_with("],\"more\":3}"));
}

TEST_CASE("a line inside an asm statement shows the statement") {
    const test_support::TemporaryDirectory directory;
    const std::string file = directory.path() / "source.cu";
    std::ofstream(file) << R"source(void wait(Barrier& b, unsigned parity) {
    asm volatile("{\n\t.reg .pred p;\n"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n" // "asks (again
                 "\t@!p bra again;\n\t}" ::"r"(smem(&b)),
                 "r"(parity)
                 : "memory");
    use(b,
        parity);
    asm("mov.u32 %0, 1;" : "=r"(x),
        "=r"(y));
    __asm__ __volatile__(
        R"(mov.u32 %0,
           2;)" : "=r"(x));
    int asmara = f("asm(",
                   x);
}
)source";
    const std::string wait =
        "asm volatile(\"{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], "
        "%1; @!p bra again; }\" …)";
    for (std::uint32_t line = 2; line <= 6; ++line) {
        INFO(line);
        const std::string shown = emu::source_text(file, line);
        CHECK(shown.starts_with(
            "asm volatile(\"{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p"));
        CHECK(shown.size() < 120);
        CHECK(wait.starts_with(shown.substr(0, 100)));
    }
    CHECK(emu::source_text(file, 1) == "void wait(Barrier& b, unsigned parity) {");
    CHECK(emu::source_text(file, 8) == "parity);");
    // The line that has all instructions is shown as it is.
    CHECK(emu::source_text(file, 9) == "asm(\"mov.u32 %0, 1;\" : \"=r\"(x),");
    CHECK(emu::source_text(file, 10) == "asm(\"mov.u32 %0, 1;\" …)");
    CHECK(emu::source_text(file, 11) == "__asm__ __volatile__(\"mov.u32 %0, 2;\" …)");
    CHECK(emu::source_text(file, 13) == "__asm__ __volatile__(\"mov.u32 %0, 2;\" …)");
    CHECK(emu::source_text(file, 15) == "x);");
    CHECK(emu::source_text(file, 17).empty());
    CHECK(emu::source_text(file, 0).empty());
    CHECK(emu::source_text("nowhere.cu", 1).empty());
}

TEST_CASE("the report file has one JSON object a line, and grows") {
    const test_support::TemporaryDirectory directory;
    const std::string report = directory.path() / "report.jsonl";
    for (const char* file : {"a.cu", "b.cu", "a.cu", "b.cu"})
        emu::publish(sample(file), report);
    const auto read = test_support::read_report(report);
    REQUIRE(read.size() == 4);
    REQUIRE(read[1].name == "race-shared");
    REQUIRE(read[1].kernel == "add_one(int*, unsigned long)");
    REQUIRE(read[1].message == "Two \"threads\".\nSecond line.");
    REQUIRE(read[1].locations.size() == 2);
    REQUIRE(read[1].locations[0].file == "b.cu");
    REQUIRE(read[1].locations[0].line == 2);
}

/// @file programs_test.cpp
/// A chapter's program as its user meets it.
#include "chapter.hpp"
#include "json.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using namespace test_support;

namespace {

/// What a wrong command line must look like to its user: one line that begins with the program's name, exit
/// code 2.
void check_refused(const std::vector<std::string>& arguments, const std::string& says) {
    const Finished program = run_program(arguments);
    INFO(program.err);
    CHECK(program.exit_code == 2);
    CHECK(program.out.empty());
    CHECK(lines_of(program.err).size() == 1);
    CHECK_THAT(program.err, StartsWith(chapter_variable("CHAPTER") + ": ") && ContainsSubstring(says));
}

} // namespace

TEST_CASE("the program checks all of its kernels and finds them right") {
    require_device();
    const TemporaryDirectory directory;
    const std::string file = (directory.path() / "results.json").string();
    const Finished program = run_program({"--json", file});
    INFO(program.out << program.err);
    CHECK(program.exit_code == 0);
    const JsonValue results = JsonValue::parse(read_file(file));
    const auto names = lines_of(run_program({"--list"}).out);
    const auto& kernels = results["kernels"].array();
    REQUIRE_FALSE(names.empty());
    REQUIRE(kernels.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(kernels[i]["name"].string() == names[i]);
        CHECK(kernels[i]["ok"].boolean());
        CHECK_THAT(program.out, ContainsSubstring(names[i]));
    }
}

TEST_CASE("small, odd and empty sizes are right too, with any seed") {
    require_device();
    for (const char* size : {"0", "1", "7", "1025"})
        for (const char* seed : {"0", "12345678901234567890"}) {
            const Finished program = run_program({"--size", size, "--seed", seed});
            INFO("size " << size << ", seed " << seed << "\n" << program.out << program.err);
            CHECK(program.exit_code == 0);
        }
}

TEST_CASE("every kernel of the program is in its README") {
    const std::string readme = read_file(chapter_source() / "README.md");
    for (const std::string& name : lines_of(run_program({"--list"}).out))
        CHECK_THAT(readme, ContainsSubstring("`" + name + "`"));
}

TEST_CASE("a wrong command line gets one line and exit code 2") {
    check_refused({"--size", "-1"}, "expected a whole number from 0 to");
    check_refused({"--size"}, "needs a value");
    check_refused({"--kernel", "nosuch"}, "no such kernel; choose from");
    check_refused({"--frobnicate"}, "--help");
    check_refused({"--json", "/nonexistent/directory/file"}, "cannot be written");
}

TEST_CASE("a size beyond all memory gets one line that says what is needed and what there is") {
    require_device();
    check_refused({"--size", "99999999999"}, "memory");
    check_refused({"--size", "99999999999"}, "choose at most");
}

TEST_CASE("--help explains the options") {
    const Finished program = run_program({"--help"});
    CHECK(program.exit_code == 0);
    for (const char* option : {"--size", "--seed", "--kernel", "--json", "--help"})
        CHECK_THAT(program.out, ContainsSubstring(option));
}

TEST_CASE("--kernel runs that kernel alone") {
    require_device();
    const auto names = lines_of(run_program({"--list"}).out);
    REQUIRE(names.size() > 1);
    const Finished program = run_program({"--kernel", names.back(), "--size", "100"});
    CHECK(program.exit_code == 0);
    CHECK_THAT(program.out, ContainsSubstring(names.back()) && !ContainsSubstring(names.front()));
}

TEST_CASE("without a device the program says what to do") {
    std::string search = environment_variable("LD_LIBRARY_PATH");
    if (const std::string emulator = emulator_library(); !emulator.empty() && search.starts_with(emulator))
        search.erase(0, std::min(search.size(), emulator.size() + 1));
    const Finished program = run_program({}, {{"CUDA_VISIBLE_DEVICES", ""}, {"LD_LIBRARY_PATH", search}});
    if (program.exit_code == 127)
        SKIP("without the emulator the program finds no CUDA runtime");
    CHECK(program.exit_code == 77);
    CHECK(lines_of(program.err).size() == 1);
    CHECK_THAT(program.err,
               ContainsSubstring("./workbook run --backend emulator " + chapter_variable("CHAPTER")));
}

TEST_CASE("the emulator's checks are silent about the right kernels, in every order of completion") {
    require_emulator();
    for (const char* order : {"late", "early", "random"}) {
        const TemporaryDirectory directory;
        const auto report = directory.path() / "report";
        const Finished program = run_program({"--size", "30001"}, {{"LD_LIBRARY_PATH", emulator_library()},
                                                                   {"EMULATOR_ORDER", order},
                                                                   {"EMULATOR_REPORT", report.string()}});
        INFO(order << "\n" << program.out << program.err);
        CHECK(program.exit_code == 0);
        CHECK(read_report(report).empty());
    }
}

TEST_CASE("the command in the README builds the chapter alone", "[readme]") {
    if (environment_variable("WORKBOOK_WITH_DOCS").empty())
        SKIP("compiling every chapter once more takes a while: './workbook test --with-docs' does it");
    const std::string readme = read_file(chapter_source() / "README.md");
    const std::size_t at = readme.find("nvcc -cudart shared ");
    REQUIRE(at != std::string::npos);
    const std::string command = readme.substr(at, readme.find('\n', at) - at);
    REQUIRE_THAT(command, ContainsSubstring("chapters/" + chapter_source().filename().string() + "/main.cu"));
    const std::size_t output = command.find(" -o ");
    REQUIRE(output != std::string::npos);
    const TemporaryDirectory directory;
    const std::string program = (directory.path() / "program").string();
    const std::string root = chapter_source().parent_path().parent_path().string();
    const std::string path = environment_variable("PATH") + ":/usr/local/cuda/bin";
    const Finished compiler =
        run({.argv = {"sh", "-c", "cd '" + root + "' && " + command.substr(0, output) + " -o " + program},
             .environment = {{"PATH", path}}});
    INFO(command << "\n" << compiler.out << compiler.err);
    CHECK(compiler.exit_code == 0);
    const Finished listed =
        run({.argv = {program, "--list"}, .environment = {{"LD_LIBRARY_PATH", emulator_library()}}});
    CHECK(listed.out == run_program({"--list"}).out);
}

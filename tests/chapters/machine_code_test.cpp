/// @file machine_code_test.cpp
/// The machine code that a chapter promises is in its program.
#include "chapter.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

using namespace test_support;

namespace {

/// A line of CHAPTER.sass: a kernel, and a pattern that must be found in its machine code or, after '!', must
/// not.
struct Promise {
    std::string kernel;
    std::string pattern;
};

std::vector<Promise> promises() {
    std::vector<Promise> result;
    for (const std::string& line : lines_of(read_file(chapter_variable("CHAPTER_SASS")))) {
        Promise promise;
        if (std::istringstream words(line);
            !line.starts_with('#') && words >> promise.kernel >> promise.pattern)
            result.push_back(promise);
    }
    return result;
}

/// The disassembly of the chapter's program; empty where there is no disassembler.
std::string disassembly() {
    for (const std::string& tool :
         {environment_variable("CUOBJDUMP", "cuobjdump"), std::string("/usr/local/cuda/bin/cuobjdump")})
        try {
            const Finished dump = run({.argv = {tool, "-sass", chapter_variable("CHAPTER_PROGRAM")}});
            if (dump.exit_code == 0)
                return dump.out;
        } catch (const std::system_error&) { // this one is not there; the next may be
        }
    return {};
}

/// The part of the disassembly that belongs to a kernel; its mangled name holds its length and name. Of a
/// template `kernel:TEXT` is the first instantiation whose mangled name has TEXT behind that.
std::string code_of(const std::string& promised, const std::string& sass) {
    const std::size_t colon = std::min(promised.find(':'), promised.size());
    const std::string kernel = promised.substr(0, colon);
    const std::string behind = promised.substr(std::min(colon + 1, promised.size()));
    const std::string mangled = std::to_string(kernel.size()) + kernel;
    for (std::size_t at = sass.find("Function : "); at != std::string::npos;) {
        const std::size_t next = sass.find("Function : ", at + 1);
        const std::string part = sass.substr(at, next - at);
        const std::string name = part.substr(0, part.find('\n'));
        if (const std::size_t found = name.find(mangled);
            found != std::string::npos && name.find(behind, found + mangled.size()) != std::string::npos)
            return part;
        at = next;
    }
    return {};
}

} // namespace

TEST_CASE("the promised instructions are in the machine code") {
    const std::vector<Promise> promised = promises();
    REQUIRE_FALSE(promised.empty());
    const std::string sass = disassembly();
    if (sass.empty())
        SKIP("no cuobjdump to read machine code with: './workbook doctor' says how to get it");
    for (const auto& [kernel, pattern] : promised) {
        INFO(kernel << ": " << pattern);
        const bool absent = pattern.starts_with('!');
        const std::string code = code_of(kernel, sass);
        CHECK_FALSE(code.empty());
        CHECK(std::regex_search(code, std::regex(pattern.substr(absent ? 1 : 0))) != absent);
    }
}

#include "report.hpp"

#include "json.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace test_support {
namespace {

Diagnostic read_diagnostic(const std::string& line) {
    const JsonValue value = JsonValue::parse(line);
    Diagnostic diagnostic{value["name"].string(), value["kernel"].string(), value["message"].string(), {}};
    for (const JsonValue& location : value["locations"].array())
        diagnostic.locations.push_back({location["file"].string(),
                                        static_cast<int>(location["line"].number()),
                                        location["role"].string()});
    return diagnostic;
}

} // namespace

std::vector<Diagnostic> read_report(const std::filesystem::path& file) {
    std::vector<Diagnostic> report;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty())
            report.push_back(read_diagnostic(line));
    return report;
}

Expectation expectation(std::string_view source, const std::string& name) {
    constexpr std::string_view kernel_mark = "__global__ void ";
    constexpr std::string_view expect_mark = "// expect: ";
    Expectation result;
    bool inside = false;
    bool found = false;
    std::istringstream lines{std::string(source)};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find(kernel_mark) != std::string::npos) {
            inside = line.find(std::string(kernel_mark) + name + "(") != std::string::npos;
            found = found || inside;
        }
        const std::size_t at = line.find(expect_mark);
        if (!inside || at == std::string::npos)
            continue;
        const std::string expected = line.substr(at + expect_mark.size());
        if (!result.name.empty() && result.name != expected)
            throw std::runtime_error("the kernel " + name + " marks both " + result.name + " and " +
                                     expected);
        result.name = expected;
        result.lines.insert(number);
    }
    if (!found)
        throw std::runtime_error("no kernel '" + name + "'");
    return result;
}

std::string read_file(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf()))
        throw std::runtime_error("cannot read " + file.string());
    return text.str();
}

TemporaryDirectory::TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "workbook-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored; // nothing to do about it in a destructor
    std::filesystem::remove_all(path_, ignored);
}

} // namespace test_support

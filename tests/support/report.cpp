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

Location read_location(const JsonValue& value, const std::string& role) {
    return {value["file"].string(), static_cast<int>(value["line"].number()), role};
}

Diagnostic read_diagnostic(const std::string& line) {
    const JsonValue value = JsonValue::parse(line);
    Diagnostic diagnostic{.name = value["name"].string(),
                          .kernel = value["kernel"].string(),
                          .message = value["message"].string(),
                          .is_warning = value["severity"].string() == "warning",
                          .locations = {}};
    for (const JsonValue& location : value["locations"].array()) {
        const std::string role = location["role"].string();
        diagnostic.locations.push_back(read_location(location, role));
        if (location.object().contains("callers"))
            for (const JsonValue& caller : location["callers"].array())
                diagnostic.locations.push_back(read_location(caller, role));
    }
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

namespace {

/// Adds a mark of the kernel `kernel` to what is expected of it.
void add_mark(Expectation& result, const std::string& kernel, const std::string& expected, int line) {
    if (!result.name.empty() && result.name != expected)
        throw std::runtime_error("the kernel " + kernel + " marks both " + result.name + " and " + expected);
    result.name = expected;
    result.lines.insert(line);
}

} // namespace

Expectation expectation(std::string_view source, const std::string& name, const std::string& order) {
    constexpr std::string_view kernel_mark = "__global__ void ";
    const std::string always_mark = "// expect: ";
    const std::string order_mark = "// expect " + order + ": ";
    Expectation always;
    Expectation in_order;
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
        if (!inside)
            continue;
        if (const std::size_t at = line.find(always_mark); at != std::string::npos)
            add_mark(always, name, line.substr(at + always_mark.size()), number);
        if (const std::size_t at = line.find(order_mark); at != std::string::npos)
            add_mark(in_order, name, line.substr(at + order_mark.size()), number);
    }
    if (!found)
        throw std::runtime_error("no kernel '" + name + "'");
    return in_order.name.empty() ? always : in_order;
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

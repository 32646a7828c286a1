// Every finding that the source can report has its entry in the catalogue, and every entry says something.

#include "findings/catalogue.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

/// Names given to reports: the first argument of report(…), publish(…) and make(…), and what is assigned to
/// `name`.
std::set<std::string> reported_names() {
    const std::regex pattern(
        R"re((?:report|publish|make|first_time|DecodeError)\(\s*"([a-z]+(?:-[a-z]+)*)"\s*,|(?:\.name|\bname) = [^;]*?"([a-z]+(?:-[a-z]+)*)"|(?:\?|:|return) "([a-z]+(?:-[a-z]+)+)")re");
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(EMULATOR_SOURCE)) {
        if (entry.path().extension() != ".cpp" || entry.path().filename() == "catalogue.cpp")
            continue;
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const std::string source = text.str();
        for (auto it = std::sregex_iterator(source.begin(), source.end(), pattern);
             it != std::sregex_iterator(); ++it)
            for (unsigned group = 1; group <= 3; ++group)
                if ((*it)[group].matched)
                    names.insert((*it)[group]);
    }
    return names;
}

} // namespace

TEST_CASE("every reported name is in the catalogue") {
    const std::set<std::string> names = reported_names();
    for (const char* known : {"race-shared", "missing-proxy-fence", "deadlock", "duplicate-copy",
                              "out-of-bounds", "uninitialised-shared", "reuse-before-read-done"})
        REQUIRE(names.contains(known));
    for (const std::string& name : names) {
        INFO(name);
        REQUIRE(emu::find_in_catalogue(name) != nullptr);
    }
}

TEST_CASE("entries are complete and unique") {
    std::set<std::string_view> names;
    for (const emu::CatalogueEntry& entry : emu::catalogue()) {
        INFO(entry.name);
        REQUIRE(names.insert(entry.name).second);
        REQUIRE(entry.title.size() > 5);
        REQUIRE(entry.explanation.size() > 40);
        REQUIRE(entry.cause.size() > 20);
    }
    REQUIRE(names.size() >= 29);
    REQUIRE(emu::find_in_catalogue("no-such-finding") == nullptr);
}

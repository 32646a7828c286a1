// Every entry of the catalogue says something, and the source reports every finding somewhere.

#include "hopper_emulator/catalogue.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace {

/// The emulator's source, without the list itself.
std::string source() {
    std::stringstream text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(EMULATOR_SOURCE))
        if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
            text << std::ifstream(entry.path()).rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("every finding of the catalogue is reported somewhere") {
    const std::string text = source();
    REQUIRE(text.size() > 1'000'000);
    for (const emu::CatalogueEntry& entry : emu::catalogue()) {
        std::string identifier(entry.name);
        std::ranges::replace(identifier, '-', '_');
        INFO(entry.name);
        CHECK((text.find("Finding::" + identifier) != std::string::npos ||
               (entry.name == "assert" && text.find("Finding::assertion") != std::string::npos)));
    }
}

TEST_CASE("entries are complete and unique, and found by number and by name") {
    std::set<std::string_view> names;
    for (const emu::CatalogueEntry& entry : emu::catalogue()) {
        INFO(entry.name);
        REQUIRE(names.insert(entry.name).second);
        REQUIRE(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
        REQUIRE(entry.title.size() > 5);
        REQUIRE(entry.explanation.size() > 40);
        REQUIRE(entry.cause.size() > 20);
        REQUIRE(entry.remedy.size() > 40);
        REQUIRE(&emu::catalogue_entry(entry.finding) == &entry);
        REQUIRE(emu::find_in_catalogue(entry.name) == &entry);
        REQUIRE(emu::name_of(entry.finding) == entry.name);
    }
    REQUIRE(names.size() >= 36);
    REQUIRE(emu::find_in_catalogue("no-such-finding") == nullptr);
}

// The engine stands between the machine and the rules: an event that it does not hand on reaches no rule, and
// no compiler says so.

#include "source_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <regex>
#include <set>
#include <string>

namespace {

std::set<std::string> found_in(const std::string& text, const std::string& pattern) {
    const std::regex name(pattern);
    std::set<std::string> found;
    for (auto it = std::sregex_iterator(text.begin(), text.end(), name); it != std::sregex_iterator(); ++it)
        found.insert((*it)[1]);
    return found;
}

} // namespace

TEST_CASE("the engine hands every event of a cluster on to the rules") {
    std::string events = emu::test::sources_in("machine").at("events.hpp");
    events = events.substr(events.find("class ClusterListener {"));
    events = events.substr(0, events.find("\n};"));
    auto wanted = found_in(events, "virtual void (on_\\w+)\\(");
    REQUIRE(wanted.erase("on_finding") == 1); // Comes of the rules: it is for those who record.
    REQUIRE(wanted.size() > 25);

    std::string engine;
    for (const auto& [file, source] : emu::test::sources_in("happens_before"))
        if (file.starts_with("engine"))
            engine += source;
    // What comes often comes to those who watch it.
    auto handed_on = found_in(engine, "tell\\(&ClusterListener::(on_\\w+)");
    handed_on.merge(found_in(engine, "watcher->(on_\\w+)\\("));
    for (const std::string& event : wanted) {
        INFO(event);
        CHECK(handed_on.contains(event));
    }
}

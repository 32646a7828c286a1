// Every mistake that the machine reports has words, and every fact which the words ask for is given.

#include "findings/words/words.hpp"
#include "source_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <regex>
#include <set>

using namespace emu::test;

namespace {

/// The facts that a text asks for.
std::set<std::string> asked_by(std::string_view text) {
    static const std::regex placeholder("\\{([a-z0-9_]+)(\\.advice|:[a-z ]+)?\\}");
    const std::string all(text);
    std::set<std::string> names;
    for (auto it = std::sregex_iterator(all.begin(), all.end(), placeholder); it != std::sregex_iterator();
         ++it)
        names.insert((*it)[1]);
    names.erase("thread");
    return names;
}

std::set<std::string> asked_by(const emu::MistakeWords& words) {
    std::set<std::string> names;
    for (const std::string_view text : {words.message, words.advice, words.role, words.other_role})
        names.merge(asked_by(text));
    return names;
}

/// The facts that stand in the statement behind a place of a source.
std::set<std::string> given_at(const std::string& source, std::size_t at) {
    static const std::regex fact("\\{\"([a-z_]+)\",");
    const std::string rest = source.substr(at, source.find(';', at) - at);
    std::set<std::string> names;
    for (auto it = std::sregex_iterator(rest.begin(), rest.end(), fact); it != std::sregex_iterator(); ++it)
        names.insert((*it)[1]);
    return names;
}

std::vector<const emu::MistakeWords*> all_words() {
    std::vector<const emu::MistakeWords*> all;
    for (const auto& table : emu::all_mistake_words())
        for (const emu::MistakeWords& each : table)
            all.push_back(&each);
    return all;
}

} // namespace

TEST_CASE("kinds of mistakes are unique, and what they say is complete") {
    std::set<std::string_view> kinds;
    for (const emu::MistakeWords* words : all_words()) {
        INFO(words->kind);
        CHECK(kinds.insert(words->kind).second);
        CHECK(emu::find_words(words->kind) == words);
        CHECK(words->kind.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
              std::string_view::npos);
        CHECK_FALSE(words->message.empty());
        if (!words->advice.empty()) { // Else a part of a sentence.
            CHECK((words->advice.ends_with('.') || words->advice.ends_with(".advice}")));
        }
    }
    CHECK(kinds.size() > 80);
}

TEST_CASE("each kind of mistake is reported somewhere, with all facts that its words ask for") {
    const auto sources = sources_in("machine");
    for (const emu::MistakeWords* words : all_words()) {
        INFO(words->kind);
        const std::string literal = "\"" + std::string(words->kind) + "\"";
        bool reported = false;
        for (const auto& [file, source] : sources)
            for (std::size_t at = source.find(literal); at != std::string::npos;
                 at = source.find(literal, at + 1)) {
                reported = true;
                std::set<std::string> missing = asked_by(*words);
                for (const std::string& name : given_at(source, at))
                    missing.erase(name);
                if (file == "tensor_map.cpp")
                    missing.erase("value"); // wrong() gives it.
                INFO(file << " lacks " << (missing.empty() ? "" : *missing.begin()));
                CHECK(missing.empty());
            }
        CHECK(reported);
    }
}

TEST_CASE("each kind that the machine names has words") {
    // Kinds stand behind the fault, alone or one of two; in the functions that report for several places; and
    // at the head of a flaw.
    const std::regex reports("(?:report|report_tensor_map|wrong|invalid|check_cluster_launch|Flaw|\\.kind =|"
                             "refusal)[\\s({]");
    const std::regex kind("\"([a-z0-9]+(?:-[a-z0-9]+)+)\"");
    std::size_t found = 0;
    for (const auto& [file, source] : sources_in("machine"))
        for (auto it = std::sregex_iterator(source.begin(), source.end(), reports);
             it != std::sregex_iterator(); ++it) {
            const auto at = static_cast<std::size_t>(it->position());
            const std::string rest = source.substr(at, source.find(';', at) - at);
            for (auto name = std::sregex_iterator(rest.begin(), rest.end(), kind);
                 name != std::sregex_iterator(); ++name, ++found) {
                INFO(file << ": " << (*name)[1]);
                CHECK(emu::find_words((*name)[1].str()) != nullptr);
            }
        }
    CHECK(found > 80);
}

TEST_CASE("a fact that is missing, or a kind without words, is an error and no text with a hole") {
    CHECK_THROWS_AS(emu::put_into_words(emu::Flaw{"no-such-kind"}), std::logic_error);
    CHECK_THROWS_AS(emu::put_into_words(emu::Flaw{"flaw-rounding"}), std::logic_error);
    CHECK(emu::put_into_words(emu::Flaw{"flaw-rounding", {{"type", "UINT8"}}}) ==
          "it asks for rounding to TF32, its elements are UINT8");
}

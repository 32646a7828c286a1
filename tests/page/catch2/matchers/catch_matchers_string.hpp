#pragma once
/// \file
/// Catch2's matchers of strings, as far as the emulator's tests use them.

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <string>
#include <utility>

namespace Catch::Matchers {

/// What a string must satisfy, and in words.
struct StringMatcher {
    std::function<bool(const std::string&)> matches;
    std::string words;

    StringMatcher operator!() const {
        return {[inner = matches](const std::string& text) { return !inner(text); }, "not " + words};
    }
    StringMatcher operator&&(const StringMatcher& other) const {
        return {[a = matches, b = other.matches](const std::string& text) { return a(text) && b(text); },
                words + " and " + other.words};
    }
};

/// It has `part` in it.
inline StringMatcher ContainsSubstring(const std::string& part) {
    return {[part](const std::string& text) { return text.find(part) != std::string::npos; },
            "contains \"" + part + '"'};
}

} // namespace Catch::Matchers

namespace page_test {

/// Fails with the text and the matcher's words.
inline void match(const std::string& text, const Catch::Matchers::StringMatcher& matcher, bool required,
                  const char* file, int line) {
    const bool passed = matcher.matches(text);
    assertion(passed, required, passed ? "" : (text + "\n  " + matcher.words).c_str(), file, line);
}

} // namespace page_test

#define CHECK_THAT(text, ...) page_test::match(text, __VA_ARGS__, false, __FILE__, __LINE__)
#define REQUIRE_THAT(text, ...) page_test::match(text, __VA_ARGS__, true, __FILE__, __LINE__)

// The machine reports facts. What is said of them, and who says it, lies above it.

#include "source_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <regex>
#include <set>

using namespace emu::test;

namespace {

constexpr std::size_t most_words = 5;

std::size_t words_in(const std::string& text) {
    std::stringstream in(text);
    std::size_t count = 0;
    for (std::string word; in >> word;)
        ++count;
    return count;
}

/// Why an instruction cannot be decoded is said where it is decoded, in the terms of the manual's page: the
/// condition and its reason are one line. The rest of the sentence and the place are added in decoder.cpp.
bool is_reason_of_decoder(const Literal& literal) {
    static constexpr std::array functions{"unsupported(", "malformed(", "DecodeError("};
    return std::ranges::any_of(
        functions, [&](const char* function) { return literal.before.find(function) != std::string::npos; });
}

/// Longer texts that are no words for a reader, and why they stay.
const std::set<std::string> exceptions{
    // Tables of opcodes in decode_kernel.cpp: reasons of the decoder, too.
    "textures and surfaces are outside of what this emulator executes; use ordinary loads, or run the kernel "
    "on a GPU",
    "multicast memory of several GPUs is outside of what this emulator executes",
    "it belongs to a later architecture than this emulator's, sm_90",
    "this emulator does not know it",
    // An exception of Program's constructor, for programmers of the library.
    "the module's variables do not fit in device memory: ",
    // What a program that embeds the library does against its rules.
    "the module was loaded by another device",
    "a launch after the device has finished",
    "adopted memory is registered or mapped",
    // A damaged recording, which Replay refuses, and what only a mistake of the library can ask for.
    "an allocation that is awaited is not there",
    "an allocation that was never given",
    "bytes outside of every allocation were asked for",
};

} // namespace

TEST_CASE("a literal and what stands before it are found, comments are not") {
    const auto found = literals_of(without_comments("#include \"x\"\nint a; // \"no\"\nf(\"one \" \"two\", "
                                                    "'\"'); /* \"no\" */ char c = 'x'; g(\"a\\\"b\");"));
    REQUIRE(found.size() == 2);
    CHECK(found[0].text == "one two");
    CHECK(found[0].before.find("f(") != std::string::npos);
    CHECK(found[1].text == "a\\\"b");
}

TEST_CASE("the machine has no sentences") {
    const auto sources = sources_in("machine");
    REQUIRE(sources.size() > 100);
    std::set<std::string> used;
    for (const auto& [file, source] : sources)
        for (const Literal& literal : literals_of(source)) {
            if (words_in(literal.text) <= most_words || is_reason_of_decoder(literal))
                continue;
            INFO(file << ": " << literal.text);
            CHECK(exceptions.contains(literal.text));
            used.insert(literal.text);
        }
    CHECK(used == exceptions);
}

TEST_CASE("the machine knows nothing of what lies above it") {
    const std::regex include(
        "#include \"((findings|happens_before|rules|counters|recording|library|images|cuda)/"
        "|hopper_emulator/(catalogue|counters|recording|version)[.]hpp)");
    for (const auto& [file, source] : sources_in("machine"))
        for (auto it = std::sregex_iterator(source.begin(), source.end(), include);
             it != std::sregex_iterator(); ++it) {
            INFO(file << ": " << (*it)[0]);
            FAIL_CHECK("the machine includes what lies above it");
        }
}

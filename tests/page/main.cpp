/// \file
/// Runs the test cases whose names contain the argument, or all, one after the other in one process.

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace page_test {
namespace {

/// Of the case that runs.
struct State {
    unsigned assertions = 0, failures = 0;
    std::vector<std::string> notes, unscoped;
    std::set<std::string> done;          ///< Sections that have run.
    bool entered = false, again = false; ///< In this run: a section was entered, another one waits.
};
State state;

void print_failure(const std::string& text, const char* file, int line) {
    ++state.failures;
    std::printf("%s:%d: %s\n", file, line, text.c_str());
    for (const auto* notes : {&state.notes, &state.unscoped})
        for (const std::string& note : *notes)
            std::printf("  with: %s\n", note.c_str());
}

enum class Ended { passed, failed, skipped };

void run_once(const Case& test) {
    try {
        test.run();
    } catch (const Left&) {
    } catch (const Skipped&) {
        throw;
    } catch (const std::exception& error) {
        print_failure(std::string("an exception: ") + error.what(), test.name, 0);
    }
}

Ended run(const Case& test) {
    state = {};
    try {
        do {
            state.entered = state.again = false;
            run_once(test);
        } while (state.again);
    } catch (const Skipped& why) {
        std::printf("  because %s\n", why.what());
        return Ended::skipped;
    }
    return state.failures ? Ended::failed : Ended::passed;
}

} // namespace

std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

void assertion(bool passed, bool required, const char* text, const char* file, int line) {
    ++state.assertions;
    if (!passed)
        print_failure(text, file, line);
    state.unscoped.clear();
    if (!passed && required)
        throw Left();
}

void failure(const std::string& message, bool required, const char* file, int line) {
    assertion(false, required, message.c_str(), file, line);
}

Note::Note(std::string text) { state.notes.push_back(std::move(text)); }
Note::~Note() { state.notes.pop_back(); }

void unscoped_note(std::string text) { state.unscoped.push_back(std::move(text)); }

bool enters_section(const char* name) {
    if (state.done.contains(name))
        return false;
    if (std::exchange(state.entered, true)) {
        state.again = true;
        return false;
    }
    state.done.insert(name);
    return true;
}

} // namespace page_test

int main(int count, char** arguments) {
    using page_test::Ended;
    unsigned ran[3] = {};
    unsigned long assertions = 0;
    for (const page_test::Case& test : page_test::cases()) {
        if (count > 1 && !std::strstr(test.name, arguments[1]))
            continue;
        const auto begin = std::chrono::steady_clock::now();
        const Ended ended = page_test::run(test);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        ++ran[static_cast<int>(ended)];
        assertions += page_test::state.assertions;
        constexpr const char* words[] = {"ok  ", "FAIL", "skip"};
        std::printf("%s  %s (%.2f s)\n", words[static_cast<int>(ended)], test.name, seconds.count());
        std::fflush(stdout);
    }
    std::printf("%u passed, %u failed, %u skipped; %lu assertions\n", ran[0], ran[1], ran[2], assertions);
    return ran[1] != 0 || ran[0] == 0;
}

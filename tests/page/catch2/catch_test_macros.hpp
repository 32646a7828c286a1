#pragma once
/// \file
/// As much of Catch2 as the emulator's tests use, for targets for which nobody packages it, like WebAssembly:
/// the same tests run there. Expressions are not taken apart: a failure shows their text, the place and the
/// notes.
///
/// The macros are Catch2's, because they stand in the tests.

#include <exception>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace page_test {

/// A test case, registered before main().
struct Case {
    const char* name;
    void (*run)();
};
std::vector<Case>& cases();
/// Registers one.
struct Registrar {
    Registrar(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

/// Thrown to leave a test case that cannot go on.
struct Left : std::exception {};
/// The same, without a failure, and why.
struct Skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Notes an assertion: counts it, and prints a failure. Throws Left if one fails that is required.
void assertion(bool passed, bool required, const char* text, const char* file, int line);
/// Prints a failure with a message. Throws Left if `required`.
void failure(const std::string& message, bool required, const char* file, int line);

/// What INFO says, as long as it lives; what is unscoped, until the next assertion.
class Note {
  public:
    explicit Note(std::string text);
    ~Note();
    Note(const Note&) = delete;
    Note& operator=(const Note&) = delete;
};
void unscoped_note(std::string text);

/// Whether to enter a section in this run of its test case: a case with sections runs once for each.
bool enters_section(const char* name);

} // namespace page_test

#define PAGE_TEST_JOIN2(a, b) a##b
#define PAGE_TEST_JOIN(a, b) PAGE_TEST_JOIN2(a, b)
// No lambda: the oldest compiler lets none use a structured binding.
#define PAGE_TEST_TEXT(...) static_cast<const std::ostringstream&>(std::ostringstream() << __VA_ARGS__).str()
#define PAGE_TEST_CASE(function, name, ...)                                                                  \
    static void function();                                                                                  \
    static const page_test::Registrar PAGE_TEST_JOIN(function, _registrar)(name, function);                  \
    static void function()
#define TEST_CASE(...) PAGE_TEST_CASE(PAGE_TEST_JOIN(page_test_case_, __COUNTER__), __VA_ARGS__, "")
#define SECTION(name) if (page_test::enters_section(name))

#define PAGE_TEST_ASSERT(required, text, ...)                                                                \
    page_test::assertion(static_cast<bool>(__VA_ARGS__), required, text, __FILE__, __LINE__)
#define CHECK(...) PAGE_TEST_ASSERT(false, #__VA_ARGS__, __VA_ARGS__)
#define REQUIRE(...) PAGE_TEST_ASSERT(true, #__VA_ARGS__, __VA_ARGS__)
#define CHECK_FALSE(...) PAGE_TEST_ASSERT(false, "not: " #__VA_ARGS__, !(__VA_ARGS__))
#define REQUIRE_FALSE(...) PAGE_TEST_ASSERT(true, "not: " #__VA_ARGS__, !(__VA_ARGS__))
#define PAGE_TEST_THROWS(required, expression, kind)                                                         \
    [&] {                                                                                                    \
        bool page_test_thrown = false;                                                                       \
        try {                                                                                                \
            static_cast<void>(expression);                                                                   \
        } catch (const kind&) {                                                                              \
            page_test_thrown = true;                                                                         \
        }                                                                                                    \
        PAGE_TEST_ASSERT(required, #expression " throws " #kind, page_test_thrown);                          \
    }()
#define CHECK_THROWS_AS(expression, kind) PAGE_TEST_THROWS(false, expression, kind)
#define REQUIRE_THROWS_AS(expression, kind) PAGE_TEST_THROWS(true, expression, kind)

#define INFO(...) const page_test::Note PAGE_TEST_JOIN(page_test_note_, __LINE__)(PAGE_TEST_TEXT(__VA_ARGS__))
#define CAPTURE(value) INFO(#value " := " << (value))
#define UNSCOPED_INFO(...) page_test::unscoped_note(PAGE_TEST_TEXT(__VA_ARGS__))
#define FAIL(...) page_test::failure(PAGE_TEST_TEXT(__VA_ARGS__), true, __FILE__, __LINE__)
#define FAIL_CHECK(...) page_test::failure(PAGE_TEST_TEXT(__VA_ARGS__), false, __FILE__, __LINE__)
#define SKIP(...) throw page_test::Skipped(PAGE_TEST_TEXT(__VA_ARGS__))

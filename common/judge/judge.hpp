/// @file judge.hpp
/// What a judge of an exercise is made of: data for the learner's kernel, and verdicts that teach.
///
/// A judge is one file of host code, chapters/NN_name/judges/NAME.cpp, which defines judge::run. Its process
/// ends at the first case that is wrong.
#pragma once

#include "kernel.hpp"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"
#include "workbook/timing.hpp"

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace judge {

/// The answer is wrong; what() says why in one or more lines.
class Failure : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Each judge defines it: launches the learner's kernel in every case, the simplest first.
void run();

/// Names the case that comes next, for the verdict's first line: 'with 1000 elements'.
void trying(const std::string& what);

/// Ends with a verdict. @param message whole sentences; may have several lines
[[noreturn]] inline void fail(const std::string& message) { throw Failure(message); }

/// On the emulator buffers end where their data ends, so that it can name the line that goes beyond; a GPU
/// gets guard zones.
[[nodiscard]] inline workbook::Guards guards() {
    return workbook::device_has_clock() ? workbook::Guards::filled : workbook::Guards::none;
}

/// Notes what the learner's kernel must leave as it is, until the next trying().
void keep(const void* device, const void* values, std::size_t bytes);

/// Fails if something that was noted since trying() has changed.
void expect_kept();

/// Values on the device. A judge that has them as a constant gives them to read only: the kernel must leave
/// them as they are.
template <class T>
class Input : public workbook::DeviceBuffer<T> {
  public:
    Input(const std::vector<T>& values, std::size_t offset)
        : workbook::DeviceBuffer<T>(values, offset, guards()), values_(values) {}

    [[nodiscard]] T* data() { return workbook::DeviceBuffer<T>::data(); }
    [[nodiscard]] const T* data() const {
        keep(workbook::DeviceBuffer<T>::data(), values_.data(), values_.size() * sizeof(T));
        return workbook::DeviceBuffer<T>::data();
    }

  private:
    std::vector<T> values_;
};

/// Values on the device for the learner to read. @param offset elements between the 256-byte aligned base and
/// the first one
template <class T>
[[nodiscard]] Input<T> input(const std::vector<T>& values, std::size_t offset = 0) {
    return Input<T>(values, offset);
}

/// Room for the learner's result, filled with poison.
template <class T>
[[nodiscard]] workbook::DeviceBuffer<T> output(std::size_t count, std::size_t offset = 0) {
    workbook::DeviceBuffer<T> buffer(count, offset, guards());
    buffer.poison();
    return buffer;
}

/// A wrong element: its index, what it should be, what it is.
template <class T>
struct Wrong {
    std::size_t index;
    T expected;
    T actual;
};

/// A judge's own word about a wrong element; empty if it has none.
template <class T>
using Explain = std::function<std::string(const Wrong<T>&)>;

/// True for a value that still has the poison that output() filled in.
template <class T>
[[nodiscard]] bool is_poison(const T& value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes)
        if (byte != workbook::DeviceBuffer<T>::poison_byte)
            return false;
    return true;
}

/// What can be told of a wrong element without knowing the exercise: nobody wrote it, or it is the value of
/// exactly one other element.
template <class T>
[[nodiscard]] std::string guess(const Wrong<T>& wrong, std::span<const T> expected) {
    if (is_poison(wrong.actual))
        return "No thread wrote this element.";
    std::size_t found = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < expected.size() && found < 2; ++i)
        if (std::memcmp(&expected[i], &wrong.actual, sizeof(T)) == 0) {
            at = i;
            ++found;
        }
    return found == 1 ? "That is the value that belongs to element " + std::to_string(at) + "." : "";
}

/// Fails unless `actual` holds `expected` as `same(expected, actual)` means it, and nothing around it was
/// written.
/// @param name what the learner calls the result, for instance 'out'
template <class T, class Same>
void expect(const std::string& name, const workbook::DeviceBuffer<T>& actual, std::span<const T> expected,
            Same same, const Explain<T>& explain) {
    const std::vector<T> values = actual.download();
    if (values.size() != expected.size())
        throw std::logic_error("the judge's buffers differ in size");
    std::size_t wrong_count = 0;
    std::size_t first = 0;
    for (std::size_t i = values.size(); i-- > 0;)
        if (!same(expected[i], values[i])) {
            ++wrong_count;
            first = i;
        }
    if (wrong_count > 0) {
        const Wrong<T> wrong{first, expected[first], values[first]};
        std::string message = name + "[" + std::to_string(first) + "] should be " +
                              workbook::describe(wrong.expected) + " and is " +
                              workbook::describe(wrong.actual) + ".";
        if (wrong_count > 1)
            message += " " + std::to_string(wrong_count) + " of " + std::to_string(values.size()) +
                       " elements are wrong.";
        std::string reason = explain ? explain(wrong) : "";
        if (reason.empty())
            reason = guess(wrong, expected);
        fail(message + (reason.empty() ? "" : "\n" + reason));
    }
    if (const std::string damage = actual.check_guards(); !damage.empty())
        fail(name + ": " + damage + ".");
    expect_kept();
}

/// For results that are copies or integers: every bit must be right.
template <class T>
void expect_exact(const std::string& name, const workbook::DeviceBuffer<T>& actual,
                  const std::vector<T>& expected, const Explain<T>& explain = {}) {
    const auto same = [](const T& e, const T& a) { return std::memcmp(&e, &a, sizeof(T)) == 0; };
    expect(name, actual, std::span<const T>(expected), same, explain);
}

/// For computed floating-point numbers.
template <class T>
void expect_near(const std::string& name, const workbook::DeviceBuffer<T>& actual,
                 const std::vector<T>& expected, workbook::Tolerance tolerance,
                 const Explain<T>& explain = {}) {
    const auto same = [&](T e, T a) { return workbook::near(e, a, tolerance); };
    expect(name, actual, std::span<const T>(expected), same, explain);
}

/// 'with 1 element', 'with 300 elements'.
[[nodiscard]] inline std::string with_elements(std::size_t count) {
    return "with " + std::to_string(count) + (count == 1 ? " element" : " elements");
}

} // namespace judge

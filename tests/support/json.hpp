/// @file json.hpp
/// Reads JSON (RFC 8259), as much as the tests need.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace test_support {

/// A JSON value. The accessors throw std::runtime_error if it is of another kind or lacks the member.
class JsonValue {
  public:
    using Array = std::vector<JsonValue>;
    using Object = std::map<std::string, JsonValue>;

    /// Reads one value that makes up all of `text`. Throws std::runtime_error, with the position, if it is
    /// not JSON.
    [[nodiscard]] static JsonValue parse(std::string_view text);

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
    [[nodiscard]] bool boolean() const { return get<bool>("a boolean"); }
    [[nodiscard]] double number() const { return get<double>("a number"); }
    [[nodiscard]] const std::string& string() const { return get<std::string>("a string"); }
    [[nodiscard]] const Array& array() const { return get<Array>("an array"); }
    [[nodiscard]] const Object& object() const { return get<Object>("an object"); }
    [[nodiscard]] const JsonValue& operator[](const std::string& member) const;

  private:
    friend class JsonReader;
    template <class T>
    const T& get(const char* kind) const {
        if (const T* held = std::get_if<T>(&value_))
            return *held;
        wrong_kind(kind);
    }
    [[noreturn]] static void wrong_kind(const char* kind);

    std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value_;
};

} // namespace test_support

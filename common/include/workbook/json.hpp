/// @file json.hpp
/// Writes JSON (RFC 8259); does not read it.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace workbook {

/// A string as a JSON string, with quotes.
[[nodiscard]] inline std::string json_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            result.append({'\\', c});
        else if (c == '\n')
            result += "\\n";
        else if (code < 0x20) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(code));
            result += escape.data();
        } else
            result += c;
    }
    return result + "\"";
}

/// A JSON value, held as its text.
class Json {
  public:
    Json() : text_("null") {}
    Json(bool value) : text_(value ? "true" : "false") {}
    Json(std::string_view value) : text_(json_string(value)) {}
    Json(const std::string& value) : text_(json_string(value)) {}
    Json(const char* value) : text_(json_string(value)) {}
    template <std::integral T>
    Json(T value) : text_(std::to_string(value)) {}
    /// JSON has no NaN and no infinity: they become null.
    Json(double value) : text_("null") {
        if (std::isfinite(value)) {
            std::array<char, 32> digits{};
            std::snprintf(digits.data(), digits.size(), "%.9g", value);
            text_ = digits.data();
        }
    }
    /// An empty optional becomes null.
    template <class T>
    Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}

    /// An object; the members keep their order.
    static Json object(const std::vector<std::pair<std::string, Json>>& members) {
        Json result;
        result.text_ = "{";
        for (const auto& [name, value] : members)
            result.text_ += (result.text_.size() > 1 ? ", " : "") + json_string(name) + ": " + value.text_;
        result.text_ += "}";
        return result;
    }

    /// An array, one element a line.
    static Json array(const std::vector<Json>& elements) {
        Json result;
        result.text_ = "[";
        for (const Json& element : elements)
            result.text_ += (result.text_.size() > 1 ? ",\n" : "\n") + element.text_;
        result.text_ += elements.empty() ? "]" : "\n]";
        return result;
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    std::string text_;
};

} // namespace workbook

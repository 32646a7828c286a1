#include "json.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace test_support {

/// A recursive-descent reader over a text.
class JsonReader {
  public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    JsonValue document() {
        JsonValue value = read_value();
        skip_space();
        if (at_ != text_.size())
            fail("something follows the value");
        return value;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("JSON, byte " + std::to_string(at_) + ": " + what);
    }
    void skip_space() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    bool take(std::string_view word) {
        if (!text_.substr(at_).starts_with(word))
            return false;
        at_ += word.size();
        return true;
    }
    void expect(std::string_view word) {
        skip_space();
        if (!take(word))
            fail("expected '" + std::string(word) + "'");
    }

    JsonValue read_value() {
        skip_space();
        JsonValue result;
        if (take("{"))
            result.value_ = read_object();
        else if (take("["))
            result.value_ = read_array();
        else if (take("\""))
            result.value_ = read_string();
        else if (take("true"))
            result.value_ = true;
        else if (take("false"))
            result.value_ = false;
        else if (!take("null"))
            result.value_ = read_number();
        return result;
    }

    JsonValue::Object read_object() {
        JsonValue::Object members;
        skip_space();
        if (take("}"))
            return members;
        do {
            expect("\"");
            std::string name = read_string();
            expect(":");
            members.insert_or_assign(std::move(name), read_value());
            skip_space();
        } while (take(","));
        expect("}");
        return members;
    }

    JsonValue::Array read_array() {
        JsonValue::Array elements;
        skip_space();
        if (take("]"))
            return elements;
        do {
            elements.push_back(read_value());
            skip_space();
        } while (take(","));
        expect("]");
        return elements;
    }

    double read_number() {
        double value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc())
            fail("expected a value");
        at_ = static_cast<std::size_t>(end - text_.data());
        return value;
    }

    std::string read_string() {
        std::string result;
        while (at_ < text_.size() && text_[at_] != '"') {
            const char c = text_[at_++];
            if (static_cast<unsigned char>(c) < 0x20)
                fail("a control character in a string");
            if (c == '\\')
                append_escape(result);
            else
                result += c;
        }
        expect("\"");
        return result;
    }

    void append_escape(std::string& result) {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (at_ >= text_.size())
            fail("an unfinished escape");
        const char letter = text_[at_++];
        if (const std::size_t index = letters.find(letter); index != std::string_view::npos)
            result += meanings[index];
        else if (letter == 'u')
            append_code(result);
        else
            fail("an unknown escape");
    }

    /// A character of the Basic Multilingual Plane, as UTF-8.
    void append_code(std::string& result) {
        std::uint32_t code = 0;
        const char* begin = text_.data() + at_;
        if (text_.size() - at_ < 4 || std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4)
            fail("four hexadecimal digits expected");
        at_ += 4;
        if (code < 0x80)
            result += static_cast<char>(code);
        else if (code < 0x800)
            result.append({static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))});
        else
            result.append({static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
                           static_cast<char>(0x80 | (code & 0x3F))});
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

JsonValue JsonValue::parse(std::string_view text) { return JsonReader(text).document(); }

const JsonValue& JsonValue::operator[](const std::string& member) const {
    const Object& members = object();
    const auto found = members.find(member);
    if (found == members.end())
        throw std::runtime_error("JSON: there is no member '" + member + "'");
    return found->second;
}

void JsonValue::wrong_kind(const char* kind) {
    throw std::runtime_error(std::string("JSON: expected ") + kind);
}

} // namespace test_support

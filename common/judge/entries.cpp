#include "entries.hpp"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace judge {
namespace {

/// The text up to the first of `ends`, which is taken out of `text` together with it.
std::string_view take_until(std::string_view& text, std::string_view ends) {
    const std::size_t end = text.find_first_of(ends);
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return part;
}

std::size_t number(std::string_view digits) {
    std::size_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

/// Bytes of `.param .u64 name` and `.param .align 8 .b8 name[24]`.
std::size_t parameter_size(std::string_view declaration) {
    std::size_t bits = 0;
    for (std::size_t i = 0; i + 1 < declaration.size(); ++i)
        if (declaration[i] == '.' &&
            std::string_view("bufs").find(declaration[i + 1]) != std::string_view::npos)
            if (const std::size_t width = number(declaration.substr(i + 2)))
                bits = width;
    const std::size_t bracket = declaration.find('[');
    return bits / 8 * (bracket == std::string_view::npos ? 1 : number(declaration.substr(bracket + 1)));
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.remove_suffix(1);
    return text;
}

} // namespace

std::vector<Entry> entries(std::string_view ptx) {
    constexpr std::string_view keyword = ".entry ";
    std::vector<Entry> result;
    for (std::size_t at = ptx.find(keyword); at != std::string_view::npos; at = ptx.find(keyword)) {
        ptx.remove_prefix(at + keyword.size());
        Entry entry{std::string(trimmed(take_until(ptx, "("))), {}};
        std::string_view parameters = take_until(ptx, ")");
        while (!trimmed(parameters).empty())
            entry.sizes.push_back(parameter_size(take_until(parameters, ",")));
        result.push_back(std::move(entry));
    }
    return result;
}

std::string plain_name(std::string_view symbol) {
    if (!symbol.starts_with("_Z") || symbol.size() < 3 ||
        std::isdigit(static_cast<unsigned char>(symbol[2])) == 0)
        return std::string(symbol);
    symbol.remove_prefix(2);
    const std::size_t length = number(symbol);
    const std::size_t digits = symbol.find_first_not_of("0123456789");
    return digits == std::string_view::npos ? "" : std::string(symbol.substr(digits, length));
}

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
    std::string result = text ? text.get() : symbol;
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (std::size_t at = result.find(unnamed); at != std::string::npos; at = result.find(unnamed))
        result.erase(at, unnamed.size());
    return result;
}

} // namespace judge

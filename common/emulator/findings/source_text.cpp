#include "findings/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace emu {
namespace {

constexpr std::uint32_t longest_statement = 60; ///< Lines of an asm statement.
constexpr std::size_t widest = 110;             ///< Bytes of a joined statement that are shown.

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// An asm statement, and the part of it in front of the first ':'.
struct Statement {
    std::string head;         ///< "asm volatile"
    std::string instructions; ///< Its strings, joined.
    std::size_t strings_end = 0;
    std::size_t end = 0; ///< Behind the closing parenthesis.
};

/// Reads C++ from one place of a text on.
class StatementReader {
  public:
    StatementReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

    /// The asm statement that begins here; nothing if it is none, or has no end.
    std::optional<Statement> statement() {
        Statement found;
        for (std::string_view next = word(); !next.empty(); next = word())
            found.head += (found.head.empty() ? "" : " ") + std::string(next);
        if (at_ >= text_.size() || text_[at_] != '(')
            return std::nullopt;
        bool in_template = true;
        for (unsigned depth = 0; at_ < text_.size();) {
            const char c = text_[at_];
            if (c == '"') {
                const std::string part = string();
                if (in_template) {
                    found.instructions += part;
                    found.strings_end = at_;
                }
                continue;
            }
            if (text_.substr(at_, 2) == "//" || text_.substr(at_, 2) == "/*") {
                skip_comment();
                continue;
            }
            in_template &= c != ':';
            depth += c == '(' ? 1u : 0u;
            ++at_;
            if (c == ')' && --depth == 0) {
                found.end = at_;
                return found;
            }
        }
        return std::nullopt;
    }

  private:
    /// The word that follows behind blanks; empty if something else does.
    std::string_view word() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
            ++at_;
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_]))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    void skip_comment() {
        const bool to_line_end = text_[at_ + 1] == '/';
        const std::string_view end = to_line_end ? "\n" : "*/";
        at_ = std::min(text_.find(end, at_ + 2), text_.size() - end.size()) + end.size();
    }

    /// What a string means, with blanks for what separates lines.
    std::string string() {
        if (at_ > 0 && text_[at_ - 1] == 'R')
            return raw_string();
        std::string value;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] != '\\') {
                value += text_[at_];
                continue;
            }
            const char escaped = ++at_ < text_.size() ? text_[at_] : '\\';
            value += escaped == 'n' || escaped == 't' || escaped == 'r' || escaped == '\n' ? ' ' : escaped;
        }
        ++at_;
        return value;
    }

    std::string raw_string() {
        const std::size_t open = std::min(text_.find('(', at_), text_.size());
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        const std::size_t end = std::min(text_.find(close, open), text_.size());
        const std::string value(text_.substr(std::min(open + 1, end), end - std::min(open + 1, end)));
        at_ = std::min(end + close.size(), text_.size());
        return value;
    }

    std::string_view text_;
    std::size_t at_;
};

/// Where the words asm, __asm and __asm__ stand in a line, the last one first.
std::vector<std::size_t> asm_words(std::string_view line) {
    std::vector<std::size_t> places;
    for (std::size_t at = line.find("asm"); at != std::string_view::npos; at = line.find("asm", at + 3)) {
        std::size_t begin = at, end = at + 3;
        while (begin > 0 && is_word(line[begin - 1]))
            --begin;
        while (end < line.size() && is_word(line[end]))
            ++end;
        const std::string_view word = line.substr(begin, end - begin);
        if (word == "asm" || word == "__asm" || word == "__asm__")
            places.push_back(begin);
    }
    std::ranges::reverse(places);
    return places;
}

/// A statement in one line: what follows the instructions is left out.
std::string joined(const Statement& statement) {
    std::string text = statement.head + "(\"";
    for (const char c : statement.instructions) {
        const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!blank)
            text += c;
        else if (text.back() != ' ' && text.back() != '"')
            text += ' ';
    }
    if (text.back() == ' ')
        text.pop_back();
    if (text.size() <= widest)
        return text + "\" …)";
    std::size_t cut = widest;
    while ((text[cut] & 0xc0) == 0x80) // Not inside a character.
        --cut;
    return text.substr(0, cut) + "…";
}

/// Some lines of a file, as one text.
struct Excerpt {
    std::string text;
    std::vector<std::size_t> begins; ///< Of the lines.
    std::size_t asked = 0;           ///< Number of the line that was asked for, from 0.

    std::string_view line(std::size_t i) const {
        const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : text.size();
        return std::string_view(text).substr(begins[i], end - begins[i] - 1);
    }
};

/// Texts that somebody gave.
struct KnownSources {
    std::mutex mutex;
    std::map<std::string, std::string> texts; ///< By file.
};
KnownSources& known_sources() {
    static auto* const known = new KnownSources; // Findings may be told while the process ends.
    return *known;
}

std::unique_ptr<std::istream> open_source(const std::string& file) {
    {
        KnownSources& known = known_sources();
        const std::lock_guard lock(known.mutex);
        if (const auto found = known.texts.find(file); found != known.texts.end())
            return std::make_unique<std::istringstream>(found->second);
    }
    return std::make_unique<std::ifstream>(file);
}

std::optional<Excerpt> read_around(const std::string& file, std::uint32_t number) {
    const auto opened = open_source(file);
    std::istream& in = *opened;
    Excerpt found;
    std::string line;
    for (std::uint32_t i = 1; i <= number + longest_statement && std::getline(in, line); ++i) {
        if (i + longest_statement < number)
            continue;
        if (i == number)
            found.asked = found.begins.size();
        found.begins.push_back(found.text.size());
        found.text += line + "\n";
    }
    const std::size_t before = number > longest_statement ? longest_statement : number - 1;
    return number > 0 && found.begins.size() > before ? std::optional(std::move(found)) : std::nullopt;
}

} // namespace

void know_source(const std::string& file, std::string text) {
    KnownSources& known = known_sources();
    const std::lock_guard lock(known.mutex);
    known.texts[file] = std::move(text);
}

std::string source_file(const std::string& file) {
    const auto opened = open_source(file);
    return {std::istreambuf_iterator<char>(*opened), {}};
}

std::string source_text(const std::string& file, std::uint32_t number) {
    const std::optional<Excerpt> lines = read_around(file, number);
    if (!lines)
        return {};
    const std::size_t asked = lines->begins[lines->asked];
    for (std::size_t i = lines->asked + 1; i-- > 0;)
        for (const std::size_t place : asm_words(lines->line(i))) {
            const auto statement = StatementReader(lines->text, lines->begins[i] + place).statement();
            if (!statement || statement->end <= asked)
                continue;
            const bool begins_here = i == lines->asked;
            if (begins_here && statement->strings_end <= asked + lines->line(i).size())
                return std::string(trimmed(lines->line(i)));
            return joined(*statement);
        }
    return std::string(trimmed(lines->line(lines->asked)));
}

} // namespace emu

#include "images/link.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

namespace emu::cuda {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

/// A declaration or definition between two ends of statements at module level.
struct Statement {
    std::string text;
    std::string name;     ///< Empty for directives that declare nothing.
    std::string linkage;  ///< "visible", "extern", "weak", "common" or empty.
    bool defines = false; ///< A function with a body, or a variable that is not external.
    bool is_file = false; ///< `.file`
    bool is_header = false;
    bool is_function = false;
};

/// Where the comment or string that starts at `i` ends; `i` itself if none starts there.
std::size_t skip_opaque(std::string_view s, std::size_t i) {
    if (s.substr(i, 2) == "//")
        return std::min(s.find('\n', i), s.size());
    if (s.substr(i, 2) == "/*") {
        const std::size_t end = s.find("*/", i + 2);
        return end == s.npos ? s.size() : end + 2;
    }
    if (s[i] == '"') {
        std::size_t end = i + 1;
        while (end < s.size() && s[end] != '"')
            end += s[end] == '\\' ? 2 : 1;
        return std::min(end + 1, s.size());
    }
    return i;
}

/// Calls `f(word, position)` for every identifier-like word outside comments and strings.
template <class F>
void for_words(std::string_view s, F&& f) {
    for (std::size_t i = 0; i < s.size();) {
        if (const std::size_t end = skip_opaque(s, i); end != i) {
            i = end;
        } else if (is_word(s[i])) {
            std::size_t end_of_word = i;
            while (end_of_word < s.size() && is_word(s[end_of_word]))
                ++end_of_word;
            f(s.substr(i, end_of_word - i), i);
            i = end_of_word;
        } else {
            ++i;
        }
    }
}

/// End of the statement that starts at `start`: behind its `;` or its outermost `}`, or, for directives
/// without either (`.version`, `.file`), the end of the line.
std::size_t end_of_statement(std::string_view s, std::size_t start) {
    static constexpr std::string_view line_directives[] = {".version", ".target", ".address_size", ".file"};
    for (const std::string_view directive : line_directives)
        if (s.substr(start).starts_with(directive))
            return std::min(s.find('\n', start), s.size());
    int depth = 0;
    bool initialiser = false;
    for (std::size_t i = start; i < s.size();) {
        if (const std::size_t end = skip_opaque(s, i); end != i) {
            i = end;
            continue;
        }
        const char c = s[i++];
        initialiser |= c == '=' && depth == 0;
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (depth == 0 && (c == ';' || (c == '}' && !initialiser)))
            return i;
    }
    return s.size();
}

/// Name a declaration introduces: of a function the word before its parameter list, behind a result in
/// parentheses; of a variable the word before `[`, `=` or `;`.
std::string declared_name(std::string_view s, bool is_function) {
    std::string last;
    int depth = 0;
    for (std::size_t i = 0; i < s.size();) {
        if (const std::size_t end = skip_opaque(s, i); end != i) {
            i = end;
        } else if (is_word(s[i])) {
            std::size_t end_of_word = i;
            while (end_of_word < s.size() && is_word(s[end_of_word]))
                ++end_of_word;
            const bool directive = i > 0 && s[i - 1] == '.';
            if (depth == 0 && !directive)
                last = s.substr(i, end_of_word - i);
            i = end_of_word;
        } else {
            const char c = s[i++];
            const bool ends = is_function ? c == '{' || c == ';' : c == '[' || c == '=' || c == ';';
            if (depth == 0 && (ends || (c == '(' && is_function && !last.empty())))
                break;
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        }
    }
    return last;
}

Statement classify(std::string text) {
    Statement statement;
    std::vector<std::string_view> directives;
    for_words(text, [&](std::string_view word, std::size_t at) {
        if (directives.size() < 4 && at > 0 && text[at - 1] == '.')
            directives.push_back(word);
    });
    if (directives.empty()) {
        statement.text = std::move(text);
        return statement;
    }
    std::string_view first = directives[0];
    statement.is_header = first == "version" || first == "target" || first == "address_size";
    statement.is_file = first == "file";
    constexpr std::array<std::string_view, 4> linkages{"visible", "extern", "weak", "common"};
    if (std::ranges::find(linkages, first) != linkages.end()) {
        statement.linkage = first;
        first = directives.size() > 1 ? directives[1] : std::string_view();
    }
    const bool is_function = first == "func" || first == "entry";
    constexpr std::array<std::string_view, 4> spaces{"global", "const", "shared", "local"};
    if (is_function || std::ranges::find(spaces, first) != spaces.end()) {
        statement.name = declared_name(text, is_function);
        statement.defines = is_function ? text.find('{') != text.npos : statement.linkage != "extern";
        statement.is_function = is_function;
    }
    statement.text = std::move(text);
    return statement;
}

std::vector<Statement> split(std::string_view s) {
    std::vector<Statement> statements;
    for (std::size_t i = 0; i < s.size();) {
        const std::size_t opaque = skip_opaque(s, i);
        if (std::isspace(static_cast<unsigned char>(s[i]))) {
            ++i;
        } else if (opaque != i) {
            i = opaque;
        } else {
            const std::size_t end = end_of_statement(s, i);
            statements.push_back(classify(std::string(s.substr(i, end - i))));
            i = end;
        }
    }
    return statements;
}

/// Replaces words, and the file numbers of `.file N`, `.loc N` and `inlined_at N`.
std::string rewrite(const std::string& text, const std::map<std::string, std::string, std::less<>>& names,
                    const std::string& label_suffix, unsigned file_offset) {
    std::string out;
    std::size_t copied = 0;
    std::string_view before;
    for_words(text, [&](std::string_view word, std::size_t at) {
        std::string replacement;
        const bool file_number = before == "file" || before == "loc" || before == "inlined_at";
        if (file_number && std::isdigit(static_cast<unsigned char>(word[0])))
            replacement = std::to_string(std::stoul(std::string(word)) + file_offset);
        else if (const auto found = names.find(word); found != names.end())
            replacement = found->second;
        else if (word.starts_with("$L__info_string"))
            replacement = std::string(word) + label_suffix;
        before = word;
        if (replacement.empty())
            return;
        out.append(text, copied, at - copied);
        out += replacement;
        copied = at + word.size();
    });
    return out.append(text, copied);
}

unsigned highest_file(const std::vector<Statement>& statements) {
    unsigned highest = 0;
    for (const Statement& statement : statements)
        if (statement.is_file) {
            const std::size_t digit = statement.text.find_first_of("0123456789");
            if (digit != std::string::npos)
                highest = std::max(highest, static_cast<unsigned>(std::stoul(statement.text.substr(digit))));
        }
    return highest;
}

class Linker {
  public:
    explicit Linker(std::vector<std::string> texts) {
        for (const std::string& text : texts)
            modules_.push_back(split(text));
        for (const auto& module : modules_)
            for (const Statement& s : module)
                if (s.defines && !s.linkage.empty())
                    defined_.insert(s.name);
    }

    std::string run() {
        for (std::size_t i = 0; i < modules_.size(); ++i)
            append(i);
        // PTX wants names declared before their use: prototypes of functions, then variables (whose
        // initialisers may name functions), then functions with bodies.
        return header_ + prototypes_ + variables_ + rest_;
    }

  private:
    std::string& part_for(const Statement& s) {
        if (s.is_function)
            return s.defines ? rest_ : prototypes_;
        return s.name.empty() ? rest_ : variables_;
    }

    void append(std::size_t index) {
        std::map<std::string, std::string, std::less<>> names;
        const std::string suffix = "$m" + std::to_string(index);
        for (const Statement& s : modules_[index])
            if (!s.name.empty() && s.linkage.empty() && s.defines && !local_names_.insert(s.name).second)
                names[s.name] = s.name + suffix;
        for (const Statement& s : modules_[index]) {
            if (s.is_header) {
                if (index == 0)
                    header_ += s.text + "\n";
                continue;
            }
            if (keep(s))
                part_for(s) += rewrite(s.text, names, suffix, files_) + "\n";
        }
        files_ += highest_file(modules_[index]);
    }

    /// Decides between several declarations of one symbol.
    bool keep(const Statement& s) {
        if (s.name.empty() || s.linkage.empty())
            return true;
        if (!s.defines) {
            const bool variable_defined_elsewhere = s.linkage == "extern" && defined_.contains(s.name);
            // A function's prototype stays (once) even when its definition follows.
            return (s.is_function || !variable_defined_elsewhere) && declared_.insert(s.name).second;
        }
        if (placed_.insert(s.name).second)
            return true;
        if (s.linkage == "weak" || s.linkage == "common")
            return false;
        throw std::runtime_error("two source files define " + s.name);
    }

    std::vector<std::vector<Statement>> modules_;
    std::set<std::string> defined_, declared_, placed_, local_names_;
    std::string header_, prototypes_, variables_, rest_;
    unsigned files_ = 0;
};

} // namespace

std::string link_ptx(std::vector<std::string> texts) {
    if (texts.size() == 1)
        return std::move(texts.front());
    return Linker(std::move(texts)).run();
}

} // namespace emu::cuda

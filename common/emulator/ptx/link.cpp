#include "hopper_emulator/module.hpp"
#include "ptx/constant.hpp"
#include "ptx/lexer.hpp"
#include "ptx/locations.hpp"
#include "ptx/messages.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>

namespace emu::ptx {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

/// A declaration or definition between two ends of statements at module level.
struct Statement {
    Lexer begin;                   ///< At its first token.
    std::uint32_t end = 0;         ///< Offset of the first byte behind it.
    std::string_view name = {};    ///< Empty for directives that declare nothing.
    std::string_view linkage = {}; ///< "visible", "extern", "weak", "common" or empty.
    bool defines = false;          ///< A function with a body, or a variable that is not external.
    bool is_header = false;
    bool is_function = false;

    std::string_view text() const {
        const std::uint32_t start = begin.peek().offset;
        return begin.source().text().substr(start, end - start);
    }
};

template <std::size_t Size>
bool one_of(std::string_view word, const std::array<std::string_view, Size>& words) {
    return std::ranges::find(words, word) != words.end();
}

/// Moves past the numbers, names and strings, between commas, of a directive that no semicolon ends.
void skip_operands(Lexer& lexer) {
    const auto is_operand = [](const Token& token) {
        return token.is(Token::Kind::number) || token.is(Token::Kind::identifier) ||
               token.is(Token::Kind::string);
    };
    while (is_operand(lexer.peek())) {
        const bool was_name = lexer.next().is(Token::Kind::string);
        // `.file 1 "name"` has two operands without a comma.
        if (!lexer.accept(',') && (was_name || !lexer.peek().is(Token::Kind::string)))
            return;
    }
}

/// Moves past a statement that ends with its `;` or its outermost `}`.
void skip_statement(Lexer& lexer, bool& has_body) {
    const std::uint32_t start = lexer.peek().offset;
    int depth = 0;
    bool initialiser = false;
    for (;;) {
        if (lexer.peek().is(Token::Kind::end))
            lexer.source().fail(start, messages::unfinished_statement);
        const Token token = lexer.next();
        initialiser |= depth == 0 && token.is('=');
        if (token.is('{')) {
            has_body |= !initialiser;
            ++depth;
        } else if (token.is('}') && --depth < 0) {
            lexer.source().fail(token.offset, messages::stray_brace);
        }
        if (depth == 0 && (token.is(';') || (token.is('}') && !initialiser)))
            return;
    }
}

/// The name that a declaration introduces: the first one that is in no parentheses, as a function's result
/// is.
std::string_view declared_name(Lexer lexer, std::uint32_t end) {
    int depth = 0;
    while (lexer.peek().offset < end) {
        const Token token = lexer.next();
        if (token.is(Token::Kind::identifier) && depth == 0)
            return token.text;
        depth += token.is('(') ? 1 : token.is(')') ? -1 : 0;
    }
    return {};
}

/// Reads one statement; the lexer stands behind it then.
Statement read_statement(Lexer& lexer) {
    static constexpr std::array<std::string_view, 4> line_directives{"version", "target", "address_size",
                                                                     "file"};
    static constexpr std::array<std::string_view, 4> linkages{"visible", "extern", "weak", "common"};
    static constexpr std::array<std::string_view, 4> spaces{"global", "const", "shared", "local"};
    Statement statement{lexer};
    Lexer ahead = lexer;
    Token first = ahead.next();
    if (!first.is(Token::Kind::directive))
        lexer.fail_expected("a directive");
    if (one_of(first.text, line_directives)) {
        skip_operands(ahead);
        statement.is_header = first.text != "file";
        lexer = ahead;
    } else {
        if (one_of(first.text, linkages)) {
            statement.linkage = first.text;
            first = ahead.next();
        }
        bool has_body = false;
        skip_statement(lexer, has_body);
        statement.is_function = first.is_directive("func") || first.is_directive("entry");
        if (statement.is_function || (first.is(Token::Kind::directive) && one_of(first.text, spaces))) {
            statement.name = declared_name(ahead, lexer.previous_end());
            statement.defines = statement.is_function ? has_body : statement.linkage != "extern";
        }
    }
    statement.end = lexer.previous_end();
    return statement;
}

/// Appends the statement, with other names and with the numbers of `.file N`, `.loc N` and `inlined_at N`
/// moved on.
class Rewriter {
  public:
    Rewriter(const Names& names, std::string label_suffix, std::uint32_t file_offset)
        : names_(names), label_suffix_(std::move(label_suffix)), file_offset_(file_offset) {}

    void append(const Statement& statement, std::string& out) {
        const std::string_view all = statement.begin.source().text();
        std::size_t copied = statement.begin.peek().offset;
        bool before_file = false;
        for (Lexer lexer = statement.begin; lexer.peek().offset < statement.end;) {
            const Token token = lexer.next();
            const std::string replacement = before_file ? file_number(lexer.source(), token) : name(token);
            before_file =
                token.is_directive("file") || token.is_directive("loc") || token.is_identifier("inlined_at");
            if (replacement.empty())
                continue;
            out.append(all, copied, token.offset - copied);
            out += replacement;
            copied = token.offset + token.text.size();
        }
        out.append(all, copied, statement.end - copied);
        out += '\n';
    }

    /// The highest number of a file that was met, before it was moved on.
    std::uint32_t highest_file() const { return highest_file_; }

  private:
    std::string file_number(const ptx::Source& source, const Token& token) {
        constexpr std::string_view what = "a file number";
        if (!token.is(Token::Kind::number))
            source.fail(token.offset, messages::expected(what, token.text));
        const ptx::Constant value = value_of(source, token);
        if (!value.is_integer() || value.bits > ptx::most_files)
            source.fail(token.offset, messages::out_of_range(what, ptx::most_files));
        highest_file_ = std::max(highest_file_, static_cast<std::uint32_t>(value.bits));
        return std::to_string(value.bits + file_offset_);
    }

    std::string name(const Token& token) const {
        if (!token.is(Token::Kind::identifier))
            return {};
        if (const auto found = names_.find(token.text); found != names_.end())
            return found->second;
        return token.text.starts_with("$L__info_string") ? std::string(token.text) + label_suffix_
                                                         : std::string();
    }

    const Names& names_;
    std::string label_suffix_;
    std::uint32_t file_offset_;
    std::uint32_t highest_file_ = 0;
};

/// The statements of one module, which point into its text.
struct Part {
    explicit Part(std::string_view text)
        // Fat binaries pad with NULs.
        : source(std::make_unique<ptx::Source>(text.substr(0, text.find_last_not_of('\0') + 1))) {
        if (text.size() > std::numeric_limits<std::int32_t>::max())
            source->fail(0, messages::text_too_long);
        for (Lexer lexer(*source); !lexer.peek().is(Token::Kind::end);)
            statements.push_back(read_statement(lexer));
    }
    std::unique_ptr<ptx::Source> source; ///< Lexers point to it.
    std::vector<Statement> statements;
};

class Linker {
  public:
    explicit Linker(const std::vector<std::string>& texts) : texts_(texts) {}

    std::string run() {
        for (std::size_t i = 0; i < texts_.size(); ++i)
            in_module(i, [&] { read(i); });
        for (std::size_t i = 0; i < texts_.size(); ++i)
            in_module(i, [&] { append(i); });
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

    /// Calls `work`; an error in the text then says in which module it is.
    template <class Work>
    void in_module(std::size_t index, Work&& work) const {
        try {
            work();
        } catch (const ptx::ParseError& error) {
            throw ptx::ParseError("module " + std::to_string(index + 1) + " of " +
                                      std::to_string(texts_.size()) + " to link: " + error.what(),
                                  error.excerpt());
        }
    }

    void read(std::size_t index) {
        parts_.emplace_back(texts_[index]);
        for (const Statement& s : parts_.back().statements)
            if (s.defines && !s.linkage.empty())
                defined_.insert(s.name);
    }

    void append(std::size_t index) {
        Names names;
        const std::string suffix = "$m" + std::to_string(index);
        for (const Statement& s : parts_[index].statements)
            if (!s.name.empty() && s.linkage.empty() && s.defines && !local_names_.insert(s.name).second)
                names[std::string(s.name)] = std::string(s.name) + suffix;
        Rewriter rewriter(names, suffix, files_);
        for (const Statement& s : parts_[index].statements) {
            if (s.is_header && index == 0)
                (header_ += s.text()) += '\n';
            else if (!s.is_header && keep(s))
                rewriter.append(s, part_for(s));
        }
        files_ += rewriter.highest_file();
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
        throw std::runtime_error("two source files define " + std::string(s.name));
    }

    const std::vector<std::string>& texts_; ///< Names are views into them.
    std::vector<Part> parts_;
    std::set<std::string_view> defined_, declared_, placed_, local_names_;
    std::string header_, prototypes_, variables_, rest_;
    std::uint32_t files_ = 0;
};

} // namespace

} // namespace emu::ptx

std::string emu::link_ptx(std::vector<std::string> texts) {
    if (texts.size() == 1)
        return std::move(texts.front());
    return ptx::Linker(texts).run();
}

#include "ptx/debug_bytes.hpp"

#include "ptx/constant.hpp"
#include "ptx/lexer.hpp"

namespace emu::ptx {
namespace {

/// One pass over the lines of a section.
class Assembler {
  public:
    explicit Assembler(const std::string& text) : source_(text), lexer_(source_) {}

    void run() {
        while (!lexer_.peek().is(Token::Kind::end))
            line();
    }
    DebugBytes take() { return std::move(result_); }

  private:
    void line() {
        const Token first = lexer_.next();
        if (first.is(Token::Kind::identifier)) {
            lexer_.expect(':');
            result_.labels.emplace(first.text, result_.bytes.size());
            return;
        }
        const unsigned width = first.is_directive("b8")    ? 1
                               : first.is_directive("b16") ? 2
                               : first.is_directive("b32") ? 4
                               : first.is_directive("b64") ? 8
                                                           : 0;
        if (width == 0)
            source_.fail(first.offset, "expected bytes");
        do
            value(width);
        while (lexer_.accept(','));
    }

    /// A number, `name`, `name+number`, or the distance of two labels, which is left 0.
    void value(unsigned width) {
        std::uint64_t bits = 0;
        bool minus = lexer_.accept('-');
        do {
            const Token token = lexer_.next();
            if (token.is(Token::Kind::number)) {
                const std::uint64_t number = value_of(source_, token).bits;
                bits = minus ? bits - number : bits + number;
            } else if (token.is(Token::Kind::identifier) || token.is(Token::Kind::directive)) {
                result_.names.try_emplace(result_.bytes.size(), token.text);
            } else {
                source_.fail(token.offset, "expected a number or a name");
            }
            minus = lexer_.peek().is('-');
        } while (lexer_.accept('+') || lexer_.accept('-'));
        for (unsigned i = 0; i < width; ++i)
            result_.bytes.push_back(static_cast<char>(bits >> (8 * i) & 0xff));
    }

    Source source_;
    Lexer lexer_;
    DebugBytes result_;
};

} // namespace

DebugBytes debug_bytes(std::string_view text) {
    const std::string own(text);
    try {
        Assembler assembler(own);
        try {
            assembler.run();
        } catch (const ParseError&) {
            // What stands before the damage has its meaning.
        }
        return assembler.take();
    } catch (const ParseError&) {
        return {};
    }
}

} // namespace emu::ptx

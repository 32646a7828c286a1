// Damaged text: a module or a ParseError, never a crash, an endless loop or a read outside the text. Built
// with -fsanitize=address,undefined this test is worth most. EMULATOR_FUZZ_SECONDS makes it run longer,
// EMULATOR_SEED makes other injuries.
#include "ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdlib>
#include <random>
#include <vector>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

/// A whole number from the environment, or `otherwise`.
unsigned number_from(const char* variable, unsigned otherwise) {
    const char* text = std::getenv(variable);
    return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

const std::uint32_t seed = number_from("EMULATOR_SEED", 20260101);

/// Pieces that a parser has to fear, one a line.
constexpr std::string_view fears = R"({
}
(
)
[
]
<
>
;
,
:
|
!
-
+
@
.
"
/*
*/
//
@@
%
%r
%tid.x
_
$
0x
0f
1e
99999999999999999999
-9223372036854775808
4294967295
1/0
? :
<<
.reg
.b32
.pred
.v4
.align 0
.loc 1 2 3
, inlined_at 1 2 3
.file 1 "x"
.entry k()
.func f
.param .b32 p
.global .u32 x[] = {
generic(
0xFF(
.branchtargets
.callprototype ()_ ()
call
bra
.section x {
.alias a, b;
x<100>
[2147483648]
.extern
)";

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines = {"\n#", std::string(1, '\0'), "\xff\xfe"};
    for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
        lines.emplace_back(text.substr(0, end));
    return lines;
}

const std::vector<std::string> pieces = split_lines(fears);

class Damage {
  public:
    explicit Damage(std::uint32_t start) : random_(start) {}

    /// `text` with one to eight random injuries.
    std::string injure(std::string text) {
        for (std::size_t count = 1 + below(8); count > 0; --count)
            injure_once(text);
        return text;
    }

  private:
    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }

    void injure_once(std::string& text) {
        if (text.empty())
            text = " ";
        const std::size_t place = below(text.size());
        switch (below(6)) {
        case 0:
            text[place] = static_cast<char>(below(256));
            break;
        case 1:
            text.erase(place, 1 + below(20));
            break;
        case 2:
            text.insert(place, pieces[below(pieces.size())]);
            break;
        case 3: // a stretch moves
            text.insert(below(text.size()), text.substr(place, 1 + below(200)));
            break;
        case 4:
            text.resize(place);
            break;
        default: { // one piece many times
            std::string many;
            const std::string& piece = pieces[below(pieces.size())];
            for (std::size_t i = 1 + below(300); i > 0; --i)
                many += piece;
            text.insert(place, many);
        }
        }
    }

    std::mt19937 random_;
};

/// True if the text parses; a ParseError must have a position and an excerpt.
bool survives(const std::string& text) {
    try {
        const Module module = parse(text);
        for (const Function& function : module.functions)
            for (const Instruction& instruction : function.body)
                if (position_of(module, instruction.text_offset).line == 0)
                    throw std::logic_error("an instruction without a position");
        return true;
    } catch (const ParseError& error) {
        const std::string what = error.what();
        if (!what.starts_with("ptx:") || what.find('\n') != std::string::npos || error.excerpt().empty())
            throw std::logic_error("a malformed error: " + what);
        return false;
    }
}

} // namespace

TEST_CASE("injured files of nvcc give a module or an error") {
    const std::vector<std::string> originals = {data_file("calls.ptx"), data_file("arithmetic.ptx"),
                                                data_file("asynchrony.ptx"), data_file("grammar.ptx")};
    Damage damage(seed);
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(number_from("EMULATOR_FUZZ_SECONDS", 1));
    std::size_t accepted = 0, refused = 0;
    constexpr unsigned at_least = 60; // However slow the host is.
    for (unsigned round = 0; round < at_least || std::chrono::steady_clock::now() < end; ++round)
        for (const std::string& original : originals)
            ++(survives(damage.injure(original)) ? accepted : refused);
    INFO("seed " << seed << ": " << accepted << " accepted, " << refused << " refused");
    CHECK(accepted > 10);
    CHECK(refused > 100);
}

TEST_CASE("every beginning of a file gives a module or an error") {
    const std::string text = data_file("calls.ptx");
    std::size_t refused = 0;
    for (std::size_t length = 0; length < text.size(); length += 7)
        refused += survives(text.substr(0, length)) ? 0 : 1;
    CHECK(refused > 500);
}

TEST_CASE("bytes without any meaning") {
    std::mt19937 random(seed);
    unsigned refused = 0;
    for (unsigned round = 0; round < 300; ++round) {
        std::string text = round % 2 ? header : "";
        for (unsigned i = 0; i < 200; ++i)
            text += static_cast<char>(random() & 255);
        refused += survives(text) ? 0 : 1; // what begins with // or # is a comment
    }
    CHECK(refused > 290);
}

#include "random_program.hpp"

#include "instructions.hpp"

#include <workbook/random.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>
#include <stdexcept>
#include <string_view>

namespace hardware {
namespace {

using workbook::Random;

/// How a kind of value is held. Floating-point kinds have exponent bits; a pair has two values in a register.
struct Kind {
    char letter;
    std::string_view register_type;
    unsigned bits;          ///< of the register
    unsigned exponent_bits; ///< 0: an integer
    unsigned inputs;        ///< values of this kind that a program starts with
    bool pair = false;

    [[nodiscard]] unsigned value_bits() const { return pair ? bits / 2 : bits; }
};

constexpr auto kinds = std::to_array<Kind>({
    {'i', "b32", 32, 0, 6},
    {'l', "b64", 64, 0, 4},
    {'h', "b16", 16, 0, 3},
    {'f', "f32", 32, 8, 6},
    {'d', "f64", 64, 11, 4},
    {'s', "b16", 16, 5, 3},
    {'t', "b16", 16, 8, 3},
    {'x', "b32", 32, 5, 3, true},
    {'y', "b32", 32, 8, 3, true},
});

const Kind& kind_of(char letter) {
    for (const Kind& kind : kinds)
        if (kind.letter == letter)
            return kind;
    throw std::logic_error(std::string("no kind of value is called ") + letter);
}

constexpr std::uint64_t low_bits(unsigned count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// The parts of a floating-point format with a sign bit in front.
struct Format {
    unsigned bits, exponent_bits;

    [[nodiscard]] unsigned fraction_bits() const { return bits - 1 - exponent_bits; }
    [[nodiscard]] std::uint64_t infinity() const { return low_bits(exponent_bits) << fraction_bits(); }
    [[nodiscard]] std::uint64_t nan() const { return infinity() | std::uint64_t{1} << (fraction_bits() - 1); }
    [[nodiscard]] std::uint64_t one() const { return low_bits(exponent_bits - 1) << fraction_bits(); }
    /// `bits` with any NaN replaced by nan().
    [[nodiscard]] std::uint64_t with_one_nan(std::uint64_t value) const {
        return (value & low_bits(bits - 1)) > infinity() ? nan() : value;
    }
};

std::uint64_t random_integer(Random& random, unsigned bits) {
    constexpr auto small = std::to_array<std::uint64_t>({0, 0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255});
    const std::uint64_t any = random.next();
    switch (random.below(4)) {
    case 0:
        return small[any % small.size()] & low_bits(bits);
    case 1: { // Near the ends of the signed and the unsigned range.
        const std::uint64_t ends[] = {low_bits(bits), low_bits(bits - 1), std::uint64_t{1} << (bits - 1)};
        return (ends[any % 3] + (any >> 8) % 3 - (any >> 16) % 3) & low_bits(bits);
    }
    case 2:
        return (any & low_bits(bits)) >> random.below(bits);
    default:
        return any & low_bits(bits);
    }
}

std::uint64_t random_float(Random& random, Format format) {
    const std::uint64_t any = random.next();
    const std::uint64_t sign = (any & 1) << (format.bits - 1);
    const std::uint64_t normal = std::uint64_t{1} << format.fraction_bits();
    switch (random.below(4)) {
    case 0: { // Zero, least and greatest denormal, least and greatest normal, infinity, NaN, one and
              // neighbours.
        const std::uint64_t special[] = {0,
                                         1,
                                         normal - 1,
                                         normal,
                                         format.infinity() - 1,
                                         format.infinity(),
                                         format.nan(),
                                         format.one(),
                                         format.one() + 1,
                                         format.one() - 1};
        return format.with_one_nan(special[(any >> 8) % 10] | sign);
    }
    case 1: { // Few digits around one and around the ranges of integers, so that there are ties to round.
        const std::uint64_t exponent = (any >> 8) % (random.below(3) == 0 ? 70 : 12);
        const std::uint64_t fraction = ((any >> 20) % 16) << (format.fraction_bits() - 4);
        const std::uint64_t value = format.one() + exponent * normal + fraction - 2 * normal;
        return value >= format.infinity() ? format.one() | sign : value | sign;
    }
    case 2: // All digits, near one.
        return (format.one() + ((any >> 8) % 8) * normal - 4 * normal + ((any >> 12) & (normal - 1))) | sign;
    default:
        return format.with_one_nan(any & low_bits(format.bits));
    }
}

std::uint64_t random_value(Random& random, const Kind& kind) {
    if (kind.exponent_bits == 0)
        return random_integer(random, kind.bits);
    const Format format{kind.value_bits(), kind.exponent_bits};
    const std::uint64_t low = random_float(random, format);
    return kind.pair ? low | random_float(random, format) << format.bits : low;
}

/// Writes one program: which registers exist, and instructions that read them.
class Writer {
  public:
    explicit Writer(std::uint64_t seed) : random_(seed) {}

    RandomProgram write(std::size_t length) {
        const std::string memory = std::to_string(16 * threads); // 16 bytes for each thread.
        std::string body = loads();
        for (std::size_t i = 0; i < length; ++i)
            body += append(draw(), i);
        program_.ptx = ".version 9.0\n.target sm_90\n.address_size 64\n\n"
                       ".global .align 16 .b8 words[" +
                       memory +
                       "];\n"
                       ".visible .entry program(.param .u64 inputs, .param .u64 results)\n{\n"
                       "    .reg .b64 in, out, offset, word;\n    .reg .b32 thread, cell;\n"
                       "    .shared .align 16 .b8 cells[" +
                       memory + "];\n" + declarations() +
                       "    ld.param.u64 in, [inputs];\n    ld.param.u64 out, [results];\n"
                       "    mov.u32 thread, %tid.x;\n    mul.wide.u32 offset, thread, 8;\n"
                       "    mov.u32 cell, cells;\n    mad.lo.u32 cell, thread, 16, cell;\n"
                       "    mov.u64 word, words;\n    mad.wide.u32 word, thread, 16, word;\n"
                       "    add.u64 in, in, offset;\n    add.u64 out, out, offset;\n" +
                       body + "    ret;\n}\n";
        return std::move(program_);
    }

  private:
    /// The registers of a kind are its letter and a number; the first `inputs` of them are loaded.
    unsigned& count(const Kind& kind) { return counts_[static_cast<std::size_t>(&kind - kinds.data())]; }

    static std::string name(const Kind& kind, std::uint64_t number) {
        return kind.letter + std::to_string(number);
    }

    static std::string slot(std::string_view base, std::size_t value) {
        return "[" + std::string(base) + "+" + std::to_string(value * threads * 8) + "]";
    }

    std::string loads() {
        std::string text;
        std::size_t value = 0;
        for (const Kind& kind : kinds)
            for (unsigned i = 0; i < kind.inputs; ++i, ++value) {
                for (std::size_t thread = 0; thread < threads; ++thread)
                    program_.inputs.push_back(random_value(random_, kind));
                text += "    ld.global." + std::string(kind.register_type) + " " + name(kind, count(kind)++) +
                        ", " + slot("in", value) + ";\n";
            }
        return text;
    }

    std::string declarations() {
        std::string text;
        for (const Kind& kind : kinds)
            text += "    .reg ." + std::string(kind.register_type) + " " + kind.letter + "<" +
                    std::to_string(count(kind)) + ">;\n";
        return text;
    }

    /// A register to read. Loaded ones are preferred: results of results tend to infinity, NaN and zero.
    std::string operand(char letter) {
        const bool loaded = letter == 'F' || letter == 'D';
        if (letter == 'I' && random_.below(6) == 0)
            return std::to_string(static_cast<std::int32_t>(random_integer(random_, 32)));
        const Kind& kind = kind_of(letter >= 'a' ? letter : static_cast<char>(letter - 'A' + 'a'));
        const std::uint64_t limit = loaded || random_.below(2) == 0 ? kind.inputs : count(kind);
        return name(kind, random_.below(limit));
    }

    /// A row of the table; one with many alternatives comes more often, but not as often as all of them
    /// would.
    const Instruction& draw() {
        static const std::vector<std::size_t> rows = [] {
            std::vector<std::size_t> weighted;
            for (std::size_t i = 0; i < instructions().size(); ++i)
                weighted.insert(weighted.end(), weight(instructions()[i].text), i);
            return weighted;
        }();
        return instructions()[rows[random_.below(rows.size())]];
    }

    /// The number of binary digits of the number of forms that `text` stands for.
    static unsigned weight(std::string_view text) {
        std::uint64_t forms = 1;
        for (std::size_t open = text.find('<'); open != std::string_view::npos;
             open = text.find('<', open + 1))
            forms *= 1 + static_cast<std::uint64_t>(
                             std::ranges::count(text.substr(open, text.find('>', open) - open), '|'));
        return static_cast<unsigned>(std::bit_width(forms));
    }

    std::string append(const Instruction& instruction, std::size_t index) {
        const Kind& kind = kind_of(instruction.kinds[0]);
        std::array<std::string, 5> operands;
        for (std::size_t i = 1; i < instruction.kinds.size(); ++i)
            operands[i] = operand(instruction.kinds[i]);
        operands[0] = name(kind, count(kind));
        const std::string text = fill_in(choose(instruction.text), operands);
        const std::string result = operands[0];
        ++count(kind);
        program_.instructions.push_back(text);
        program_.kinds += kind.letter;
        std::vector<std::size_t> needs;
        for (const std::string& name : std::span(operands).subspan(1))
            if (const auto made = makers_.find(name); made != makers_.end())
                needs.push_back(made->second);
        program_.needs.push_back(std::move(needs));
        makers_[result] = index;
        return "    " + text + "\n    st.global." + std::string(kind.register_type) + " " +
               slot("out", index) + ", " + result + ";\n";
    }

    /// One of the alternatives of each <x|y>, which do not nest.
    std::string choose(std::string_view text) {
        std::string chosen;
        while (true) {
            const std::size_t open = text.find('<');
            chosen += text.substr(0, open);
            if (open == std::string_view::npos)
                return chosen;
            const std::size_t close = text.find('>', open);
            std::vector<std::string_view> parts;
            for (std::size_t from = open + 1; from <= close;) {
                const std::size_t to = std::min(text.find('|', from), close);
                parts.push_back(text.substr(from, to - from));
                from = to + 1;
            }
            chosen += parts[random_.below(parts.size())];
            text.remove_prefix(close + 1);
        }
    }

    /// Operands for $d, $a, $b, $c, $e and numbers for #N.
    std::string fill_in(std::string_view text, std::span<const std::string> operands) {
        constexpr std::string_view letters = "dabce";
        std::string filled;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '$') {
                filled += operands[letters.find(text[++i])];
            } else if (text[i] == '#') {
                std::uint64_t limit = 0;
                while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9')
                    limit = limit * 10 + static_cast<std::uint64_t>(text[++i] - '0');
                filled += std::to_string(random_.below(limit));
            } else {
                filled += text[i];
            }
        }
        return filled;
    }

    Random random_;
    std::array<unsigned, kinds.size()> counts_{};
    std::map<std::string, std::size_t> makers_; ///< By register: the instruction.
    RandomProgram program_;
};

} // namespace

RandomProgram random_program(std::uint64_t seed, std::size_t length) { return Writer(seed).write(length); }

std::uint64_t canonical(std::uint64_t slot, char letter) {
    const Kind& kind = kind_of(letter);
    if (kind.exponent_bits == 0)
        return slot;
    const Format format{kind.value_bits(), kind.exponent_bits};
    const std::uint64_t low = format.with_one_nan(slot & low_bits(format.bits));
    return kind.pair ? low | format.with_one_nan(slot >> format.bits) << format.bits : low;
}

} // namespace hardware

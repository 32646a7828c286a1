#pragma once
/// \file
/// A PTX module after parsing: pure syntax with names resolved. Nothing here knows what an instruction does.

#include "ptx/types.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace emu::ptx {

/// One `.loc` (PTX ISA 11.5.3). Index 0 of Module::locations means "unknown".
struct Location {
    std::uint32_t file = 0; ///< Index into Module::files.
    std::uint32_t line = 0; ///< Line in that file, from 1.
    std::uint32_t column = 0;
    std::uint32_t inlined_at = 0; ///< Index into Module::locations of the call site, 0 if not inlined.
    /// Several calls lie at the place of the call site (a helper that was itself inlined more than once), and
    /// the text does not say which of them it is: `inlined_at` has the right line, what lies above is a
    /// guess.
    bool guessed = false;
};

/// What an identifier operand refers to after name resolution.
enum class SymbolKind : std::uint8_t {
    none,
    module_variable,   ///< Index into Module::variables.
    function_variable, ///< Index into Function::variables of the enclosing function.
    parameter,         ///< Index into Function::parameters (inputs) of the enclosing function.
    result,            ///< Index into Function::results of the enclosing function.
    function,          ///< Index into Module::functions.
    table,             ///< Index into Function::tables (`.branchtargets`, `.calltargets`, `.callprototype`).
};

/// One operand of an instruction.
struct Operand {
    enum class Kind : std::uint8_t {
        none,
        reg,     ///< index = register of the enclosing function.
        integer, ///< bits = value (two's complement).
        float32, ///< bits = the 32 bits of an `0f…` literal.
        float64, ///< bits = the 64 bits of an `0d…` or decimal literal.
        special, ///< name = special register with component, e.g. "%tid.x".
        symbol,  ///< symbol_kind and index; offset is added to its address.
        label,   ///< index = instruction in Function::body.
        sink,    ///< `_`.
        vector,  ///< elements: `{a, b}`.
        address, ///< elements[0] = base (reg, symbol or integer), offset; further elements follow commas.
        pair,    ///< elements: `p|q` destinations.
        tuple,   ///< elements: `(a, b)` of a call.
    };
    Kind kind = Kind::none;
    bool negated = false; ///< `!p`, or a minus before a register-like operand.
    SymbolKind symbol_kind = SymbolKind::none;
    std::uint32_t index = 0;
    std::uint64_t bits = 0;
    std::int64_t offset = 0;
    std::string_view name;     ///< Spelling; lives as long as the module's text.
    std::string_view selector; ///< Component selectors of video instructions, e.g. "b0", "h1"; usually empty.
    std::vector<Operand> elements;
};

/// One instruction: `@p opcode.modifier.modifier operands;`
struct Instruction {
    std::string_view opcode;                 ///< "ld", "cp", "mbarrier": the part before the first dot.
    std::vector<std::string_view> modifiers; ///< Without dots, `::` kept: "async", "L2::128B", "f32".
    std::vector<Operand> operands;           ///< Destination first, as written.
    std::int32_t guard = -1;                 ///< Predicate register, -1 for none.
    bool guard_negated = false;
    std::uint32_t location = 0;    ///< Index into Module::locations.
    std::uint32_t text_offset = 0; ///< Byte offset of the opcode in the module's text, for carets.

    /// True when `modifier` is among the modifiers.
    bool has(std::string_view modifier) const {
        for (auto each : modifiers)
            if (each == modifier)
                return true;
        return false;
    }
};

struct Register {
    std::string_view
        name; ///< Without the number for `%r<10>` ranges; use Function::register_name for a full name.
    Type type = Type::none;
    std::uint32_t number = 0;
    bool numbered = false;
    char component = 0; ///< 'x', 'y', 'z' or 'w' for the parts of `.reg .v4 .f32 name`, else 0.
};

/// An address inside an initialiser: `.global .u64 p = symbol + 4;` or `generic(symbol)` (PTX ISA 5.4.4).
struct Relocation {
    std::uint32_t offset = 0; ///< Byte offset inside the variable.
    std::uint32_t width = 8;  ///< 4 or 8 bytes; 1 when a mask such as 0xFF00(symbol) selects a byte.
    std::uint32_t shift = 0;  ///< Right shift in bits before truncation, for byte masks.
    bool generic = false;
    SymbolKind kind = SymbolKind::none;
    std::uint32_t index = 0;
    std::int64_t addend = 0;
};

enum class Linkage : std::uint8_t { local, visible, external, weak, common };

/// A variable of any state space, or a parameter of a function.
struct Variable {
    std::string_view name;
    Space space = Space::generic;
    Type type = Type::none; ///< Element type.
    Linkage linkage = Linkage::local;
    std::uint32_t alignment = 1; ///< Bytes.
    std::uint64_t size = 0;      ///< Bytes; 0 for an unsized `extern .shared x[]`.
    bool unsized = false;
    bool managed = false;     ///< `.attribute(.managed)`.
    bool in_register = false; ///< Parameter of the old form `.func f(.reg .u32 a)`; see register_index.
    std::uint32_t register_index =
        0; ///< First register of the function that holds it (one per vector element).
    std::vector<std::byte> initial; ///< Empty when zero-initialised; else at most `size` bytes.
    std::vector<Relocation> relocations;
};

/// A named list inside a function: targets of `brx.idx`, of indirect calls, or a call prototype.
struct Table {
    enum class Kind : std::uint8_t { branch_targets, call_targets, prototype };
    std::string_view name;
    Kind kind = Kind::branch_targets;
    std::vector<std::uint32_t> targets; ///< Instructions or functions.
    std::vector<Variable> results;      ///< Of a prototype.
    std::vector<Variable> parameters;
};

/// A kernel (`.entry`) or device function (`.func`).
struct Function {
    std::string_view name;
    bool is_entry = false;
    bool has_body = false;
    Linkage linkage = Linkage::local;
    std::vector<Variable> results;
    std::vector<Variable> parameters;
    /// `.shared`, `.local`, `.param` declared inside, all scopes flattened. (`.global` and `.const` declared
    /// inside are in Module::variables.)
    std::vector<Variable> variables;
    std::vector<Register>
        registers; ///< All scopes flattened; inner registers of inline assembly are distinct.
    /// Ends with an instruction that never falls through: where the text does not, a `ret` is added.
    /// So every label, also one before the closing brace, is the index of an instruction.
    std::vector<Instruction> body;
    std::vector<Table> tables;
    std::uint32_t location = 0; ///< First `.loc` of the body.

    std::array<std::uint32_t, 3> max_threads{};      ///< `.maxntid`, zeros if absent.
    std::array<std::uint32_t, 3> required_threads{}; ///< `.reqntid`, zeros if absent.
    std::array<std::uint32_t, 3> required_cluster{}; ///< `.reqnctapercluster`, zeros if absent.
    bool explicit_cluster = false;                   ///< `.explicitcluster`.
    bool blocks_are_clusters = false;                ///< `.blocksareclusters`.
    bool no_return = false;                          ///< `.noreturn`.
    std::int64_t alias_of = -1; ///< Index of the function that `.alias` makes this name stand for, or -1.
    std::uint32_t max_cluster_rank = 0; ///< `.maxclusterrank`.
    std::uint32_t min_blocks_per_sm = 0;
    std::uint32_t max_registers = 0;

    std::string register_name(std::uint32_t index) const {
        const Register& r = registers[index];
        std::string full(r.name);
        if (r.numbered)
            full += std::to_string(r.number);
        return r.component ? full + '.' + r.component : full;
    }
};

/// A `.section` of debug information, as text: few programs have one, and fewer need it.
struct DebugSection {
    std::string_view name; ///< Without the dot: "debug_info".
    std::string_view text; ///< What stands between its braces.
};

/// A whole module. Owns its text; every string_view points into it.
struct Module {
    std::unique_ptr<const std::string> text;
    unsigned version_major = 0;
    unsigned version_minor = 0;
    std::string_view target;
    bool is_debug = false;          ///< `.target …, debug`: nvcc -G.
    std::vector<std::string> files; ///< Index 0 is "".
    std::vector<Location> locations;
    std::vector<Variable> variables;
    std::vector<Function> functions;
    std::vector<DebugSection> debug_sections; ///< In the order of the text; see debug_types.hpp.
    /// Names that do not stand in the text as they are, such as members of `.global .u32 x<4>`.
    std::vector<std::unique_ptr<const std::string>> made_names;

    /// Index of a function by name, or -1. An alias leads to the function it stands for.
    std::int64_t find_function(std::string_view name) const;
    /// Index of a variable by name, or -1.
    std::int64_t find_variable(std::string_view name) const;

    /// The location a reader wants to see: the innermost one on the inlining chain that lies in the reader's
    /// own file rather than in the CUDA Toolkit's headers; if there is none, the outermost.
    const Location& reader_location(std::uint32_t index) const;
};

/// True for files of the CUDA Toolkit and its C++ libraries, which messages should not point into.
bool is_toolkit_file(std::string_view path);

} // namespace emu::ptx

#pragma once
/// \file
/// The parser's inside: one class, written in several files by chapter of the grammar. Not for users of the
/// front end, who need only parser.hpp.

#include "ptx/constant.hpp"
#include "ptx/lexer.hpp"
#include "ptx/locations.hpp"
#include "ptx/module.hpp"
#include "ptx/scope.hpp"
#include "ptx/source.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emu::ptx {

class ModuleParser {
  public:
    explicit ModuleParser(std::string text);

    Module parse();

  private:
    // ---- Shared shapes
    // -------------------------------------------------------------------------------------

    /// What stands before the names of a declaration: `.shared .align 16 .v2 .f32`.
    struct Declaration {
        std::optional<Space> space;
        bool in_register = false; ///< `.reg`
        Type type = Type::none;
        unsigned parts = 1;          ///< 2 or 4 for a vector type.
        std::uint32_t alignment = 0; ///< 0 when not written.
        bool managed = false;
        Linkage linkage = Linkage::local;
        std::uint32_t offset = 0; ///< Of its first token.
    };

    /// A name with its dimensions, before it becomes a variable.
    struct Declarator {
        std::string_view name;
        std::vector<std::uint64_t> dimensions; ///< The first is 0 for `[]`.
        std::uint64_t range = 0;               ///< Count of `name<count>`.
        bool is_range = false;
        bool is_open = false; ///< The first dimension is `[]`.
    };

    /// A name in an initialiser that waits for the end of the module.
    struct PendingAddress {
        std::uint32_t variable = 0;
        std::uint32_t relocation = 0;
        std::string_view name;
    };

    /// An entry of a `.branchtargets` or `.calltargets` list that waits for its label or function.
    struct PendingTarget {
        std::uint32_t table = 0;
        std::uint32_t slot = 0;
        std::string_view name;
    };

    /// A label or a table: they share one set of names.
    struct Label {
        bool is_table = false;
        std::uint32_t index = 0;
    };

    /// Labels of one open `{`, and uses of names that were not known when they were read.
    struct LabelScope {
        std::unordered_map<std::string_view, Label> labels;
        std::vector<std::uint32_t> instructions;
        std::vector<PendingTarget> targets;
    };

    /// Names in a finished function that wait for the end of the module.
    struct PendingFunction {
        std::uint32_t function = 0;
        std::vector<std::uint32_t> instructions;
        std::vector<PendingTarget> targets;
    };

    struct ModuleSymbol {
        SymbolKind kind = SymbolKind::none;
        std::uint32_t index = 0;
    };

    /// Progress inside one initialiser.
    struct InitialiserState {
        Variable* variable = nullptr;
        std::vector<std::uint64_t> dimensions; ///< Of the array, a vector type as the innermost one.
        unsigned element_bytes = 0;
        std::uint64_t end = 0; ///< One past the last element written.
        std::vector<std::string_view> names;
    };

    // ---- parse_module.cpp: directives of the module
    // --------------------------------------------------------

    void module_statement();
    void linked_declaration(Linkage linkage, std::uint32_t offset);
    void version();
    void target();
    void address_size();
    void section();
    void alias();
    void pragma();

    // ---- parse_declaration.cpp: variables and registers
    // ----------------------------------------------------

    Declaration declaration_head();
    bool declaration_part(Declaration& head, const Token& directive);
    void pointer_attributes();
    void attributes(Declaration& head);
    Declarator declarator();
    Variable make_variable(const Declaration& head, const Declarator& shape);
    std::vector<std::uint64_t> element_dimensions(const Declaration& head, const Declarator& shape) const;
    void module_variables(const Declaration& head);
    void function_variables(const Declaration& head);
    void registers(const Declaration& head);
    std::uint32_t add_registers(const Declaration& head, const Declarator& shape);
    std::uint32_t add_module_variable(Variable variable, const std::vector<std::string_view>& names,
                                      bool is_named);
    void merge_variable(Variable& known, Variable&& now);
    std::string_view made_name(std::string name);
    std::uint32_t alignment();

    // ---- parse_initialiser.cpp
    // -----------------------------------------------------------------------------

    void initialiser(InitialiserState& state);
    void values(InitialiserState& state, std::size_t level, std::uint64_t start);
    void scalar_value(InitialiserState& state, std::uint64_t position);
    void address_value(InitialiserState& state, std::uint64_t position, std::uint64_t mask,
                       std::uint32_t offset);
    void store_constant(InitialiserState& state, std::uint64_t position, const Constant& value,
                        std::uint32_t offset);
    std::byte* reserve(InitialiserState& state, std::uint64_t position);
    std::int64_t summands();

    // ---- parse_function.cpp: headers and bodies
    // ------------------------------------------------------------

    void function(bool is_entry, Linkage linkage);
    void function_directives(Function& function);
    bool function_directive(Function& function, const Token& directive);
    std::array<std::uint32_t, 3> extents();
    std::uint32_t limit_value(std::string_view what);
    std::vector<Variable> parameters();
    std::uint32_t register_function(Function& header);
    void declare_parameters(std::vector<Variable>& list, SymbolKind kind);
    void body(std::uint32_t index);
    void statement();
    void body_directive(const Token& directive);
    void open_scope(std::uint32_t offset);
    void close_scope();
    void label(const Token& name);
    void table(const Token& name, const Token& directive);
    void prototype(Table& table);
    void end_of_body(std::uint32_t offset);

    // ---- parse_instruction.cpp
    // -----------------------------------------------------------------------------

    void instruction(const Token& opcode);
    void guarded_instruction();
    Operand operand();
    Operand sum_of(Operand first, const Token& opcode);
    Operand identifier_operand();
    Operand special_operand(const Token& name);
    Operand named_operand(const Token& name);
    Operand register_operand(const Token& name, const LocalSymbol& symbol);
    Operand negated_operand();
    Operand constant_operand();
    Operand list_operand(Operand::Kind kind, char close);
    Operand address_operand();
    Operand with_pair(Operand first);
    void element_of(Operand& symbol);
    std::string_view selector();
    bool next_is_name_after(char sign) const;

    // ---- parse_location.cpp
    // --------------------------------------------------------------------------------

    void file();
    void location();
    std::uint32_t plain_number(std::string_view what, std::uint64_t limit);

    // ---- resolve.cpp: names that were used before they were known
    // ------------------------------------------

    void note_unresolved(std::uint32_t instruction);
    bool resolve_labels(Operand& operand, const LabelScope& scope);
    void resolve_scope(LabelScope& scope, LabelScope* outer);
    void resolve_in_module(Operand& operand);
    void resolve_pending_function(const PendingFunction& pending);
    void resolve_addresses();
    void resolve_aliases();
    void redirect(Operand& operand);
    const ModuleSymbol* find_in_module(std::string_view name) const;

    Module module_;
    Source source_;
    Lexer lexer_;
    LocationTable location_table_;
    std::unordered_map<std::string_view, ModuleSymbol> symbols_;
    std::vector<PendingAddress> pending_addresses_;
    std::vector<PendingFunction> pending_functions_;
    std::vector<std::pair<std::string_view, std::string_view>> aliases_;
    bool has_version_ = false;
    std::uint64_t initialised_bytes_ = 0;
    std::uint64_t all_registers_ = 0;

    // Of the function whose body is being read
    Function function_;
    ScopeTable scope_;
    std::vector<LabelScope> label_scopes_;
    std::uint32_t location_ = 0;
    std::int64_t last_label_ = -1; ///< Instruction that the latest label of the function stands before.
    std::uint32_t vector_depth_ = 0;
    bool has_unresolved_ = false;
    std::string_view opcode_; ///< Of the instruction that is being read.
};

} // namespace emu::ptx

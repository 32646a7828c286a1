#pragma once
/// \file
/// Names inside one function: registers, variables and parameters by scope.

#include "ptx/module.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emu::ptx {

/// What a name stands for inside a function.
struct LocalSymbol {
    enum class Kind : std::uint8_t {
        reg,      ///< index = first register; a vector register has several parts.
        variable, ///< index in the list that symbol_kind names.
    };
    Kind kind = Kind::reg;
    SymbolKind symbol_kind = SymbolKind::none;
    std::uint32_t index = 0;
    std::uint32_t count = 1; ///< Members of a range `%r<count>`; their indices follow one another.
    std::uint32_t parts = 1; ///< 2 or 4 for a vector register, whose parts follow one another.
};

/// A stack of scopes. Looking a name up is one or two hash look-ups, however deep the stack is: the tables
/// hold only what is visible now, and closing a scope puts back what it had hidden.
class ScopeTable {
  public:
    void open();
    void close();

    /// Declares a single name in the innermost scope; false if that scope already has it.
    bool declare(std::string_view name, const LocalSymbol& symbol);

    /// Declares `prefix<count>`: the names prefix0 … prefix(count-1).
    bool declare_range(std::string_view prefix, const LocalSymbol& symbol);

    /// The innermost meaning of a name. A member of a range comes back as its own register.
    std::optional<LocalSymbol> find(std::string_view name) const;

  private:
    struct Entry {
        LocalSymbol symbol;
        std::uint32_t depth = 0;
    };
    using Table = std::unordered_map<std::string_view, Entry>;
    struct Undo {
        Table* table;
        std::string_view name;
        std::optional<Entry> hidden;
    };

    bool insert(Table& table, std::string_view name, const LocalSymbol& symbol);
    std::optional<Entry> find_in_ranges(std::string_view name) const;

    Table names_;
    Table ranges_;
    std::vector<Undo> undo_;
    std::vector<std::size_t> marks_;
};

} // namespace emu::ptx

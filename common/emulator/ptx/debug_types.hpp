#pragma once
/// \file
/// Names of members and elements of variables, from the debug information that nvcc writes with -G.

#include "ptx/dwarf.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emu::ptx {

class DebugTypes {
  public:
    /// Nothing is known of a module without such information, or of what is damaged in it. Never throws for
    /// what stands there.
    explicit DebugTypes(const Module& module);

    /// Where a byte lies in a variable, as C++ writes it: ".full[0]", "[3][5]", ".stage[1].a[12]"; behind
    /// that " + 2" if the byte is not the first one. Of several members at one place it is the first. Bases
    /// and anonymous unions have no name, and names that belong to the implementation (`__elems_`) are left
    /// out. Nothing if the type is not known, or has another size than the variable. `size` 0: unsized.
    std::optional<std::string> path(std::string_view symbol, std::uint64_t size, std::uint64_t offset) const;

    /// What to write behind the variable's name for a byte of it: the path, else " + 1792", or nothing for
    /// its first byte.
    std::string behind_name(std::string_view symbol, std::uint64_t size, std::uint64_t offset) const;

    /// Nothing is known.
    bool empty() const { return variables_.empty(); }

    /// Whether the variable is an array of single bytes, which are there to be something else.
    bool is_raw(std::string_view symbol) const;

  private:
    struct Place; ///< A type and an offset in it, on the way down.
    struct Shape; ///< Of an array.

    std::optional<std::uint32_t> type_behind(std::optional<std::uint32_t> type) const;
    std::optional<std::uint64_t> size_of(std::optional<std::uint32_t> type, unsigned depth) const;
    std::optional<Shape> shape_of(std::uint32_t array, unsigned depth) const;
    static bool is_data(const DwarfEntry& entry);
    bool is_empty(std::optional<std::uint32_t> type, unsigned depth) const;
    bool into_element(Place& place) const;
    bool into_member(Place& place) const;
    const DwarfEntry* member_at(const Place& place, std::uint64_t& start) const;

    std::vector<DwarfEntry> entries_;
    std::unordered_map<std::string_view, std::uint32_t> variables_; ///< By symbol: index of the entry.
};

} // namespace emu::ptx

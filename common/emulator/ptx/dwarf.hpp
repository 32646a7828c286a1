#pragma once
/// \file
/// DWARF's tree of entries, as much of it as tells the types of variables (DWARF 4, sections 2 and 7; nvcc
/// writes version 2). Not for users of the front end, who need debug_types.hpp.

#include "ptx/module.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace emu::ptx {

enum class DwarfTag : std::uint32_t {
    array_type = 0x01,
    class_type = 0x02,
    enumeration_type = 0x04,
    member = 0x0d,
    pointer_type = 0x0f,
    reference_type = 0x10,
    structure_type = 0x13,
    typedef_ = 0x16,
    union_type = 0x17,
    inheritance = 0x1c,
    subrange_type = 0x21,
    base_type = 0x24,
    const_type = 0x26,
    variable = 0x34,
    volatile_type = 0x35,
    restrict_type = 0x37,
};

/// One entry. The entries of its subtree follow it.
struct DwarfEntry {
    DwarfTag tag{};
    std::uint32_t end = 0; ///< Index of the first entry behind the subtree.
    std::string name;
    std::optional<std::uint32_t> type; ///< Index of the entry of the type.
    std::optional<std::uint64_t> byte_size;
    std::optional<std::uint64_t> count;         ///< Of a subrange; 0 where the array is open.
    std::optional<std::uint64_t> member_offset; ///< Bytes.
    std::optional<std::uint64_t> bit_size;
    std::optional<std::uint64_t> bit_offset;      ///< From the most significant bit of the storage unit.
    std::optional<std::uint64_t> data_bit_offset; ///< From the begin of the structure.
    std::string symbol; ///< Of a variable: the symbol whose address it has, if it has a fixed one.
    bool is_declaration = false;
};

/// All entries of all units of a module, in the order of the text. Damage ends a unit; nothing throws.
std::vector<DwarfEntry> read_dwarf(const Module& module);

} // namespace emu::ptx

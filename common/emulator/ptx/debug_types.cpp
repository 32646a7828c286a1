#include "ptx/debug_types.hpp"

#include <algorithm>

namespace emu::ptx {
namespace {

/// More steps than any type of a program has: damaged information may lead in circles.
constexpr unsigned most_steps = 64;

bool is_aggregate(DwarfTag tag) {
    return tag == DwarfTag::structure_type || tag == DwarfTag::class_type || tag == DwarfTag::union_type;
}

/// Names of the implementation ([lex.name]), which a reader did not write; nvcc names bases `__b_…`.
bool is_reserved(std::string_view name) {
    return name.starts_with("__") || (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
}

/// a * b, unless it is too large for any memory.
std::optional<std::uint64_t> product_in_memory(std::uint64_t a, std::uint64_t b) {
    std::uint64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result))
        return std::nullopt;
    return result;
}

/// A member's bits, counted from the begin of its structure; without a known size only where they begin.
struct Bits {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

Bits bits_of(const DwarfEntry& member, std::uint64_t bytes) {
    const std::uint64_t start = 8 * member.member_offset.value_or(0);
    if (!member.bit_size)
        return {start, start + 8 * bytes};
    if (member.data_bit_offset)
        return {*member.data_bit_offset, *member.data_bit_offset + *member.bit_size};
    // DWARF 2 counts from the most significant bit of a storage unit; ours are little endian.
    const std::uint64_t unit = 8 * member.byte_size.value_or(bytes);
    const std::uint64_t begin = start + unit - member.bit_offset.value_or(0) - *member.bit_size;
    return {begin, begin + *member.bit_size};
}

} // namespace

struct DebugTypes::Place {
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
    std::uint64_t behind_name = 0; ///< Where the type begins, counted from what `path` names.
    std::string path;
};

struct DebugTypes::Shape {
    std::vector<std::uint64_t> counts; ///< 0 for an open first dimension.
    std::uint64_t element = 0;         ///< Bytes.
    std::uint64_t row = 0;             ///< Bytes of all but the first dimension.
    std::uint64_t size() const { return counts.empty() ? 0 : counts.front() * row; }
};

DebugTypes::DebugTypes(const Module& module) : entries_(read_dwarf(module)) {
    for (std::uint32_t i = 0; i < entries_.size(); ++i)
        if (const DwarfEntry& each = entries_[i]; each.tag == DwarfTag::variable && !each.symbol.empty())
            variables_.try_emplace(each.symbol, i);
}

std::optional<std::string> DebugTypes::path(std::string_view symbol, std::uint64_t size,
                                            std::uint64_t offset) const {
    const auto variable = variables_.find(symbol);
    if (variable == variables_.end())
        return std::nullopt;
    const auto type = type_behind(entries_[variable->second].type);
    if (!type || (size != 0 && size_of(type, 0) != size))
        return std::nullopt;
    Place place{*type, offset, 0, {}};
    for (unsigned step = 0; step < most_steps && (into_element(place) || into_member(place)); ++step)
        ;
    if (const std::uint64_t rest = place.behind_name + place.offset)
        place.path += " + " + std::to_string(rest);
    return place.path;
}

std::string DebugTypes::behind_name(std::string_view symbol, std::uint64_t size, std::uint64_t offset) const {
    const auto known = path(symbol, size, offset);
    return known ? *known : offset != 0 ? " + " + std::to_string(offset) : std::string();
}

bool DebugTypes::is_raw(std::string_view symbol) const {
    const auto variable = variables_.find(symbol);
    const auto type =
        variable == variables_.end() ? std::nullopt : type_behind(entries_[variable->second].type);
    return type && entries_[*type].tag == DwarfTag::array_type && size_of(entries_[*type].type, 0) == 1;
}

/// The type behind names and qualifiers.
std::optional<std::uint32_t> DebugTypes::type_behind(std::optional<std::uint32_t> type) const {
    for (unsigned step = 0; step < most_steps && type; ++step) {
        const DwarfTag tag = entries_[*type].tag;
        if (tag != DwarfTag::typedef_ && tag != DwarfTag::const_type && tag != DwarfTag::volatile_type &&
            tag != DwarfTag::restrict_type)
            return type;
        type = entries_[*type].type;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> DebugTypes::size_of(std::optional<std::uint32_t> type, unsigned depth) const {
    type = type_behind(type);
    if (!type || depth > most_steps)
        return std::nullopt;
    const DwarfEntry& entry = entries_[*type];
    if (entry.byte_size)
        return entry.byte_size;
    if (entry.tag == DwarfTag::pointer_type || entry.tag == DwarfTag::reference_type)
        return 8;
    if (entry.tag != DwarfTag::array_type)
        return std::nullopt;
    const auto shape = shape_of(*type, depth + 1);
    return shape ? std::optional(shape->size()) : std::nullopt;
}

std::optional<DebugTypes::Shape> DebugTypes::shape_of(std::uint32_t array, unsigned depth) const {
    const auto element = size_of(entries_[array].type, depth);
    if (!element || *element == 0)
        return std::nullopt;
    Shape shape{{}, *element, *element};
    for (std::uint32_t i = array + 1; i < entries_[array].end; i = entries_[i].end)
        if (entries_[i].tag == DwarfTag::subrange_type)
            shape.counts.push_back(entries_[i].count.value_or(0));
    if (shape.counts.empty())
        return std::nullopt;
    for (std::size_t i = 1; i < shape.counts.size(); ++i) {
        const auto row = product_in_memory(shape.row, shape.counts[i]);
        if (!row || *row == 0)
            return std::nullopt;
        shape.row = *row;
    }
    if (!product_in_memory(shape.row, shape.counts.front()))
        return std::nullopt;
    return shape;
}

bool DebugTypes::into_element(Place& place) const {
    const auto type = type_behind(place.type);
    if (!type || entries_[*type].tag != DwarfTag::array_type)
        return false;
    const auto shape = shape_of(*type, 0);
    const auto element = type_behind(entries_[*type].type);
    if (!shape || !element || (shape->counts.front() != 0 && place.offset >= shape->size()))
        return false;
    std::uint64_t stride = shape->row;
    for (std::size_t i = 0; i < shape->counts.size(); ++i) {
        if (i > 0)
            stride /= shape->counts[i];
        place.path += "[" + std::to_string(place.offset / stride) + "]";
        place.offset %= stride;
    }
    place.behind_name = 0;
    place.type = *element;
    return true;
}

bool DebugTypes::into_member(Place& place) const {
    if (!is_aggregate(entries_[place.type].tag))
        return false;
    std::uint64_t start = 0;
    const DwarfEntry* member = member_at(place, start);
    const auto type = member ? type_behind(member->type) : std::nullopt;
    if (!type)
        return false;
    place.type = *type;
    place.offset -= start;
    place.behind_name += start;
    if (member->tag == DwarfTag::member && !member->name.empty() && !is_reserved(member->name)) {
        place.path += "." + member->name;
        place.behind_name = 0;
    }
    if (member->bit_size) // Whichever byte of it.
        place.offset = 0;
    return true;
}

/// A base, or a member that is not static.
bool DebugTypes::is_data(const DwarfEntry& entry) {
    const bool is_static = entry.is_declaration && !entry.member_offset && !entry.data_bit_offset;
    return (entry.tag == DwarfTag::member && !is_static) || entry.tag == DwarfTag::inheritance;
}

/// A structure without data: its one byte belongs to what lies there.
bool DebugTypes::is_empty(std::optional<std::uint32_t> type, unsigned depth) const {
    type = type_behind(type);
    if (!type || !is_aggregate(entries_[*type].tag) || depth > most_steps)
        return false;
    for (std::uint32_t i = *type + 1; i < entries_[*type].end; i = entries_[i].end)
        if (is_data(entries_[i]) && !is_empty(entries_[i].type, depth + 1))
            return false;
    return true;
}

/// The first member or base that has the first bit of the byte, else one that has another bit of it; and
/// the byte where it starts.
const DwarfEntry* DebugTypes::member_at(const Place& place, std::uint64_t& start) const {
    const DwarfEntry* found = nullptr;
    for (std::uint32_t i = place.type + 1; i < entries_[place.type].end; i = entries_[i].end) {
        const DwarfEntry& each = entries_[i];
        if (!is_data(each) || is_empty(each.type, 0))
            continue;
        const Bits bits = bits_of(each, size_of(each.type, 0).value_or(0));
        if (bits.begin >= 8 * (place.offset + 1) || bits.end <= 8 * place.offset)
            continue;
        const bool has_first = bits.begin <= 8 * place.offset;
        if (found && !has_first)
            continue;
        found = &each;
        start = bits.begin / 8;
        if (has_first)
            break;
    }
    return found;
}

} // namespace emu::ptx

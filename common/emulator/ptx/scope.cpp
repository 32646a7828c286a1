#include "ptx/scope.hpp"

#include <charconv>

namespace emu::ptx {

void ScopeTable::open() { marks_.push_back(undo_.size()); }

void ScopeTable::close() {
    while (undo_.size() > marks_.back()) {
        const Undo& last = undo_.back();
        if (last.hidden)
            (*last.table)[last.name] = *last.hidden;
        else
            last.table->erase(last.name);
        undo_.pop_back();
    }
    marks_.pop_back();
}

bool ScopeTable::insert(Table& table, std::string_view name, const LocalSymbol& symbol) {
    const auto depth = static_cast<std::uint32_t>(marks_.size());
    const auto [place, is_new] = table.try_emplace(name, Entry{symbol, depth});
    if (is_new) {
        undo_.push_back({&table, name, std::nullopt});
        return true;
    }
    if (place->second.depth == depth)
        return false;
    undo_.push_back({&table, name, place->second});
    place->second = {symbol, depth};
    return true;
}

bool ScopeTable::declare(std::string_view name, const LocalSymbol& symbol) {
    if (const auto member = find_in_ranges(name); member && member->depth == marks_.size())
        return false;
    return insert(names_, name, symbol);
}

bool ScopeTable::declare_range(std::string_view prefix, const LocalSymbol& symbol) {
    return insert(ranges_, prefix, symbol);
}

/// All digits at the end of a name are the member's number: in `%r12` never `%r1<…>` is meant.
std::optional<ScopeTable::Entry> ScopeTable::find_in_ranges(std::string_view name) const {
    const std::size_t start = name.find_last_not_of("0123456789") + 1;
    const auto range = ranges_.find(name.substr(0, start));
    if (start == name.size() || range == ranges_.end())
        return std::nullopt;
    std::uint32_t member = 0;
    const auto number = std::from_chars(name.data() + start, name.data() + name.size(), member);
    Entry found = range->second;
    if (number.ec != std::errc{} || member >= found.symbol.count)
        return std::nullopt;
    found.symbol.index += member * found.symbol.parts;
    found.symbol.count = 1;
    return found;
}

std::optional<LocalSymbol> ScopeTable::find(std::string_view name) const {
    const auto exact = names_.find(name);
    const bool may_be_member = !name.empty() && name.back() >= '0' && name.back() <= '9';
    const auto member = may_be_member ? find_in_ranges(name) : std::nullopt;
    if (exact != names_.end() && (!member || exact->second.depth >= member->depth))
        return exact->second.symbol;
    if (member)
        return member->symbol;
    return std::nullopt;
}

} // namespace emu::ptx

#include "ptx/scope.hpp"

#include <charconv>

namespace emu::ptx {

void ScopeTable::clear() {
    names_.clear();
    ranges_.clear();
    undo_.clear();
    marks_.clear();
}

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

std::optional<ScopeTable::Entry> ScopeTable::find_in_ranges(std::string_view name) const {
    // `%r12` is member 12 of `%r<…>`, but may be member 2 of `%r1<…>`: try the longest number first.
    std::size_t digits = 0;
    while (digits < name.size() && digits < 9 && name[name.size() - 1 - digits] >= '0' &&
           name[name.size() - 1 - digits] <= '9')
        ++digits;
    std::optional<Entry> best;
    for (; digits > 0; --digits) {
        const std::string_view number = name.substr(name.size() - digits);
        if (number[0] == '0' && digits > 1)
            continue; // `%r01` is no member
        const auto found = ranges_.find(name.substr(0, name.size() - digits));
        if (found == ranges_.end() || (best && best->depth >= found->second.depth))
            continue;
        std::uint32_t member = 0;
        std::from_chars(number.data(), number.data() + number.size(), member);
        if (member >= found->second.symbol.count)
            continue;
        best = found->second;
        best->symbol.index += member * best->symbol.parts;
        best->symbol.count = 1;
    }
    return best;
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

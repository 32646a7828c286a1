#include "ptx/types.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace emu::ptx {

namespace {

using Entry = std::pair<std::string_view, Type>;

/// Sorted by name for the binary search below.
constexpr auto type_names = [] {
    std::array<Entry, 28> table{{
        {"b128", Type::b128},     {"b16", Type::b16},   {"b32", Type::b32},       {"b64", Type::b64},
        {"b8", Type::b8},         {"bf16", Type::bf16}, {"bf16x2", Type::bf16x2}, {"e4m3", Type::e4m3},
        {"e4m3x2", Type::e4m3x2}, {"e5m2", Type::e5m2}, {"e5m2x2", Type::e5m2x2}, {"f16", Type::f16},
        {"f16x2", Type::f16x2},   {"f32", Type::f32},   {"f32x2", Type::f32x2},   {"f64", Type::f64},
        {"pred", Type::pred},     {"s16", Type::s16},   {"s16x2", Type::s16x2},   {"s32", Type::s32},
        {"s64", Type::s64},       {"s8", Type::s8},     {"tf32", Type::tf32},     {"u16", Type::u16},
        {"u16x2", Type::u16x2},   {"u32", Type::u32},   {"u64", Type::u64},       {"u8", Type::u8},
    }};
    std::sort(table.begin(), table.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
    return table;
}();

} // namespace

std::optional<Type> type_from_name(std::string_view name) {
    const auto found =
        std::lower_bound(type_names.begin(), type_names.end(), name,
                         [](const Entry& entry, std::string_view key) { return entry.first < key; });
    if (found == type_names.end() || found->first != name)
        return std::nullopt;
    return found->second;
}

std::string_view name_of(Type type) {
    for (const Entry& entry : type_names)
        if (entry.second == type)
            return entry.first;
    return "none";
}

} // namespace emu::ptx

std::string_view emu::name_of(Space space) {
    switch (space) {
    case Space::generic:
        return "generic";
    case Space::constant:
        return "const";
    case Space::global:
        return "global";
    case Space::local:
        return "local";
    case Space::param:
        return "param";
    case Space::shared:
        return "shared";
    }
    return "generic";
}

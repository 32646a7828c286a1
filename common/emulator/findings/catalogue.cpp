#include "hopper_emulator/catalogue.hpp"

#include <algorithm>
#include <iterator>

namespace emu {
namespace {

constexpr CatalogueEntry entries[] = {
#define FINDING(identifier, name, title, explanation, cause, remedy, unseen)                                 \
    {Finding::identifier, name, title, explanation, cause, remedy, unseen},
#include "findings/list.inc"
#undef FINDING
};

} // namespace

std::span<const CatalogueEntry> catalogue() { return entries; }

const CatalogueEntry& catalogue_entry(Finding finding) { return entries[static_cast<std::size_t>(finding)]; }

std::string_view name_of(Finding finding) { return catalogue_entry(finding).name; }

const CatalogueEntry* find_in_catalogue(std::string_view name) {
    const auto it = std::ranges::find(entries, name, &CatalogueEntry::name);
    return it == std::end(entries) ? nullptr : it;
}

} // namespace emu

#pragma once
/// \file
/// Every kind of finding, explained once. The error catalogue of the site is made from this list.

#include "hopper_emulator/finding_kinds.hpp"

#include <span>
#include <string_view>

#pragma GCC visibility push(default)
namespace emu {

/// One kind of finding.
struct CatalogueEntry {
    Finding finding;              ///< Which.
    std::string_view name;        ///< Stable, kebab-case.
    std::string_view title;       ///< A few words.
    std::string_view explanation; ///< One paragraph: what the emulator saw and why it matters.
    std::string_view cause;       ///< What usually lies behind it.
    std::string_view remedy;      ///< What to do.
    std::string_view unseen;      ///< What of its kind the emulator does not see; often empty.
};

/// All of them, in the order of the enumeration.
std::span<const CatalogueEntry> catalogue();
/// The entry of a finding.
const CatalogueEntry& catalogue_entry(Finding finding);
/// The entry of that name, or nullptr if there is no such finding.
const CatalogueEntry* find_in_catalogue(std::string_view name);

} // namespace emu
#pragma GCC visibility pop

/// \file
/// What tells one mbarrier of an array or a structure from the others: the line that initialised it.

#include "findings/lines.hpp"
#include "findings/places.hpp"

#include <algorithm>
#include <set>

namespace emu {
namespace {

using Chain = std::vector<CallSite>;

/// The line of mbarrier.init and its callers.
Chain chain_of(const Kernel& kernel, const Mbarrier& barrier) {
    const SourceLine line = source_line(kernel, barrier.init_pc, barrier.init_calls, {});
    Chain chain{{line.file, line.line}};
    chain.insert(chain.end(), line.callers.begin(), line.callers.end());
    return chain;
}

std::string ordinal(std::size_t n) {
    const std::size_t last = n % 10;
    const bool is_teen = n / 10 % 10 == 1;
    return std::to_string(n) + (is_teen || last == 0 || last > 3 ? "th"
                                : last == 1                      ? "st"
                                : last == 2                      ? "nd"
                                                                 : "rd");
}

bool differ_at(const Chain& a, const Chain& b, std::size_t i) {
    return i >= a.size() || i >= b.size() || a[i] != b[i];
}

/// What tells a chain from the others of its block: the first lines, seen from within, in which it differs
/// from one of them, since they mostly begin in the same helper. If there is nothing to tell it from, the
/// outermost line.
std::set<std::size_t> telling_lines(const Chain& chain, const std::vector<Chain>& others) {
    std::set<std::size_t> telling;
    for (const Chain& other : others)
        for (std::size_t i = 0; i < chain.size(); ++i)
            if (differ_at(chain, other, i)) {
                telling.insert(i);
                break;
            }
    const auto is_enough = [&](const std::set<std::size_t>& lines) {
        return !lines.empty() && std::ranges::all_of(others, [&](const Chain& other) {
            return std::ranges::any_of(lines, [&](std::size_t i) { return differ_at(chain, other, i); });
        });
    };
    for (const std::size_t i : std::set(telling)) {
        std::set<std::size_t> rest = telling;
        rest.erase(i);
        if (is_enough(rest))
            telling = std::move(rest);
    }
    if (telling.empty())
        telling.insert(chain.size() - 1);
    return telling;
}

} // namespace

std::string initialised_at(Cluster& cluster, std::uint32_t address) {
    const Mbarrier* barrier = cluster.mbarrier(address);
    if (!barrier || is_shared_variable(cluster.info(), shared_offset(address), 8))
        return {};
    const Kernel& kernel = *cluster.info().kernel;
    const Chain chain = chain_of(kernel, *barrier);
    std::vector<Chain> others;
    std::vector<std::uint32_t> alike; // Offsets of those that the same line initialised.
    for (const auto& [offset, each] : cluster.block(shared_rank(address))->mbarriers()) {
        Chain its = chain_of(kernel, each);
        if (its == chain)
            alike.push_back(offset);
        else
            others.push_back(std::move(its));
    }
    std::string text;
    for (const std::size_t i : telling_lines(chain, others))
        text += (text.empty() ? " (initialised at " : ", called from ") + chain[i].file + ":" +
                std::to_string(chain[i].line);
    if (alike.size() > 1) {
        std::ranges::sort(alike);
        const auto place = std::ranges::find(alike, shared_offset(address)) - alike.begin();
        text +=
            ", the " + ordinal(static_cast<std::size_t>(place) + 1) + " of " + std::to_string(alike.size());
    }
    return text + ")";
}

} // namespace emu

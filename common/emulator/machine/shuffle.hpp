#pragma once
/// \file
/// A random order that is the same with every standard library: std::shuffle() may use an engine's numbers as
/// it likes, and a seed shall mean the same order in a page as on the command line.

#include "machine/instructions/arith.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>

namespace emu {

/// A number below `limit`, each as likely (Lemire, "Fast random integer generation in an interval", 2019).
inline std::uint64_t below(std::uint64_t limit, std::mt19937_64& random) {
    UInt128 product = UInt128{random()} * limit;
    if (static_cast<std::uint64_t>(product) < limit)
        for (const std::uint64_t uneven = -limit % limit; static_cast<std::uint64_t>(product) < uneven;)
            product = UInt128{random()} * limit;
    return static_cast<std::uint64_t>(product >> 64);
}

/// Each order is as likely. One number of the engine places two elements, as libstdc++ has it, whose orders
/// these are.
template <class Iterator>
void shuffle(Iterator first, Iterator last, std::mt19937_64& random) {
    const auto place = [&](std::uint64_t element, std::uint64_t where) {
        using Distance = typename std::iterator_traits<Iterator>::difference_type;
        std::iter_swap(first + static_cast<Distance>(element), first + static_cast<Distance>(where));
    };
    const auto count = static_cast<std::uint64_t>(last - first);
    if (count < 2)
        return;
    std::uint64_t next = 1;
    if (count % 2 == 0)
        place(next++, below(2, random));
    for (; next < count; next += 2) {
        const std::uint64_t both = below((next + 1) * (next + 2), random);
        place(next, both / (next + 2));
        place(next + 1, both % (next + 2));
    }
}

} // namespace emu

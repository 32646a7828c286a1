#include "machine/written.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace emu {

void WrittenWords::Free::operator()(std::uint64_t* bits) const { std::free(bits); }

WrittenWords::WrittenWords(Address base, std::uint64_t size)
    : base_(base), words_((size + 3) / 4),
      bits_(static_cast<std::uint64_t*>(std::calloc(words_ / 64 + 1, sizeof(std::uint64_t)))), left_(words_) {
    if (!bits_)
        throw std::bad_alloc();
}

WrittenWords::WrittenWords(Address base, std::uint64_t size, std::span<const std::uint64_t> bits)
    : WrittenWords(base, size) {
    for (std::uint64_t word = 0; word < std::min<std::uint64_t>(words_, bits.size() * 64); ++word)
        if (bits[word / 64] >> (word % 64) & 1)
            add(base + 4 * word, 4);
}

std::vector<std::uint64_t> WrittenWords::bits() const {
    std::vector<std::uint64_t> all(words_ / 64 + 1);
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = std::atomic_ref(bits_[i]).load(std::memory_order_relaxed);
    return all;
}

bool WrittenWords::contains(Address address) const {
    const std::uint64_t word = (address - base_) / 4;
    if (address < base_ || word >= words_)
        return true;
    return std::atomic_ref(bits_[word / 64]).load(std::memory_order_relaxed) >> (word % 64) & 1;
}

void WrittenWords::add(Address address, std::uint64_t bytes) {
    if (bytes == 0 || address < base_ || all())
        return;
    std::uint64_t word = (address - base_) / 4;
    const std::uint64_t end = std::min((address - base_ + bytes + 3) / 4, words_);
    while (word < end) {
        const std::uint64_t here = std::min(end - word, 64 - word % 64);
        const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1)
                                   << (word % 64);
        const std::uint64_t old = std::atomic_ref(bits_[word / 64]).fetch_or(mask, std::memory_order_relaxed);
        left_.fetch_sub(static_cast<std::uint64_t>(std::popcount(mask & ~old)), std::memory_order_relaxed);
        word += here;
    }
}

} // namespace emu

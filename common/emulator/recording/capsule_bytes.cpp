#include "recording/capsule_bytes.hpp"

#include <algorithm>

namespace emu {

std::uint64_t memory_digest(std::span<const std::byte> bytes) {
    // FNV-1a, of words and then of what is left.
    constexpr std::uint64_t basis = 0xcbf29ce484222325ull, prime = 0x100000001b3ull;
    std::uint64_t sum = basis ^ bytes.size();
    for (; bytes.size() >= sizeof sum; bytes = bytes.subspan(sizeof sum)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), sizeof word);
        sum = (sum ^ word) * prime;
        sum ^= sum >> 32;
    }
    for (const std::byte each : bytes)
        sum = (sum ^ std::to_integer<std::uint64_t>(each)) * prime;
    return sum;
}

namespace capsule {
namespace {

constexpr std::size_t shortest_run = 16; ///< Bytes: below, a run is not worth its own entry.

/// Bytes at the front that are all equal.
std::size_t run_at(std::span<const std::byte> bytes) {
    return static_cast<std::size_t>(
        std::ranges::find_if(bytes, [&](std::byte each) { return each != bytes[0]; }) - bytes.begin());
}

/// Bytes in front of the first run that is worth it.
std::size_t literal_at(std::span<const std::byte> bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        const std::size_t run = run_at(bytes.subspan(at));
        if (run >= shortest_run)
            break;
        at += run;
    }
    return at;
}

} // namespace

void refuse(const std::string& why) { throw CapsuleError(why); }

void Writer::runs(std::span<const std::byte> bytes) {
    number(bytes.size());
    while (!bytes.empty()) {
        const std::size_t literal = literal_at(bytes);
        number(literal);
        plain(bytes.first(literal));
        bytes = bytes.subspan(literal);
        if (bytes.empty())
            return;
        const std::size_t run = run_at(bytes);
        number(run);
        plain(bytes.first(1));
        bytes = bytes.subspan(run);
    }
}

std::uint64_t Reader::number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const auto byte = std::to_integer<std::uint64_t>(plain(1)[0]);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    refuse("it is damaged: a number does not end");
}

std::uint64_t Reader::number_to(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value > most)
        refuse("it is damaged: a number is too large");
    return value;
}

std::string Reader::text() {
    const auto bytes = plain(number());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> Reader::plain(std::uint64_t bytes) {
    if (bytes > rest_.size())
        refuse("it is damaged: a record ends too early");
    const auto here = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return here;
}

std::vector<std::byte> Reader::runs(std::uint64_t most) {
    const std::uint64_t size = number_to(most);
    std::vector<std::byte> all;
    while (all.size() < size) {
        const auto literal = plain(number_to(size - all.size()));
        all.insert(all.end(), literal.begin(), literal.end());
        if (all.size() == size)
            break;
        const std::uint64_t run = number_to(size - all.size());
        if (run == 0)
            refuse("it is damaged: an empty run");
        all.insert(all.end(), run, plain(1)[0]);
    }
    return all;
}

} // namespace capsule
} // namespace emu

#include "cuda/host_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace emu::cuda {
namespace {

constexpr Address block = 4096;

/// Two different contents have the same sum with a probability of about 2^-64.
std::uint64_t sum_of(const std::byte* data, std::size_t bytes) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
    std::uint64_t sum = bytes;
    std::size_t at = 0;
    for (std::uint64_t word = 0; at + sizeof word <= bytes; at += sizeof word) {
        std::memcpy(&word, data + at, sizeof word);
        sum = (sum ^ word) * factor;
        sum ^= sum >> 29;
    }
    for (; at < bytes; ++at)
        sum = (sum ^ std::to_integer<std::uint64_t>(data[at])) * factor;
    return sum;
}

} // namespace

HostWatch::HostWatch(Address begin, Address end, bool written)
    : begin_(begin), end_(end), written_(written), sums_(sums()) {}

std::vector<std::uint64_t> HostWatch::sums() const {
    std::vector<std::uint64_t> result;
    result.reserve((end_ - begin_ + block - 1) / block);
    for (Address at = begin_; at < end_; at += block)
        result.push_back(sum_of(reinterpret_cast<const std::byte*>(at), std::min(block, end_ - at)));
    return result;
}

std::optional<std::pair<Address, Address>> HostWatch::changed() const {
    const auto now = sums();
    const auto differ = std::ranges::mismatch(sums_, now);
    if (differ.in1 == sums_.end())
        return std::nullopt;
    const Address at = begin_ + block * static_cast<Address>(differ.in1 - sums_.begin());
    return std::pair(at, std::min(at + block, end_));
}

} // namespace emu::cuda

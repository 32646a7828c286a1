/// \file
/// Global memory as an image, and of one.

#include "machine/memory_arena.hpp"
#include "machine/written.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace emu {
namespace {

constexpr std::uint64_t overhang = 16; ///< Bytes that aligned accesses of an allocation's last word reach.

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument("memory image: " + why); }

/// No process has addresses beyond: sums of two of them do not overflow.
constexpr Address most_addresses = Address{1} << 57;
/// Bytes that the module and the launch may allocate beside what is in the image. A program's own device has
/// more, but what a file says must not take all memory of this one.
constexpr std::uint64_t most_beside = std::uint64_t{1} << 30;

bool is_address(Address begin, std::uint64_t size) {
    return begin <= most_addresses && size <= most_addresses;
}

/// True if the allocation begins among the addresses of `part` and ends behind the last that was given.
bool leaves(const MemoryImage::Part& part, const Allocation& a) {
    const Address offset = a.base - part.begin;
    return offset < part.size && offset + a.size > part.next;
}

void require_sense(const MemoryImage& image) {
    for (const MemoryImage::Part& part : {image.device, image.host})
        if (part.next > part.size || !is_address(part.begin, part.size))
            refuse("addresses without sense");
    Address end = 0;
    for (const MemoryImage::Piece& piece : image.pieces) {
        const Allocation& a = piece.allocation;
        if (!is_address(a.base, a.size))
            refuse("an allocation without an end");
        if (leaves(image.device, a) || leaves(image.host, a))
            refuse("an allocation that was never given");
        if (piece.freed)
            continue;
        if (a.base < end)
            refuse("allocations overlap");
        end = a.base + std::max<std::uint64_t>(a.size, 1);
        if (!piece.bytes || piece.bytes->size() != a.size)
            refuse("an allocation without its bytes");
    }
}

} // namespace

void GlobalMemory::Elsewhere::place(Address base, std::uint64_t size) {
    placed.insert_or_assign(base, Bytes{size, std::make_unique<std::byte[]>(size + overhang)});
}

GlobalMemory::GlobalMemory(const MemoryImage& image, std::vector<Address> awaited)
    : arena_(std::make_unique<Arena>(image)), elsewhere_(std::make_unique<Elsewhere>()),
      capacity_(image.capacity) {
    require_sense(image);
    std::ranges::sort(awaited);
    serial_ = image.serial;
    for (const MemoryImage::Piece& piece : image.pieces) {
        const Allocation& a = piece.allocation;
        if (piece.freed) {
            freed_[a.base] = a;
        } else if (std::ranges::binary_search(awaited, a.base)) {
            elsewhere_->awaited.push_back(piece);
        } else {
            elsewhere_->place(a.base, a.size);
            std::ranges::copy(*piece.bytes, elsewhere_->placed.at(a.base).bytes.get());
            allocations_[a.base] = a;
            if (piece.written_words)
                tracked_[a.base] = std::make_shared<WrittenWords>(a.base, a.size, *piece.written_words);
        }
        if (!piece.freed && (arena_->device.contains(a.base) || arena_->host.contains(a.base)))
            arena_->used += a.size;
    }
    capacity_ = std::min(capacity_, arena_->used + most_beside);
    if (elsewhere_->awaited.size() != awaited.size())
        refuse("an allocation that is awaited is not there");
    if (image.closed) {
        closed_begin_ = image.device.begin;
        closed_size_ = image.device.size;
    }
}

std::byte* GlobalMemory::bytes_elsewhere(Address address) const {
    const std::shared_lock lock(mutex_);
    const auto behind = elsewhere_->placed.upper_bound(address);
    if (behind != elsewhere_->placed.begin()) {
        const auto& [base, here] = *std::prev(behind);
        if (address - base < here.size + overhang)
            return here.bytes.get() + (address - base);
    }
    throw std::logic_error("bytes outside of every allocation were asked for");
}

/// The same for an allocation that is there. Called with the lock.
std::byte* GlobalMemory::bytes_of(const Allocation& allocation) const {
    return elsewhere_ ? elsewhere_->placed.at(allocation.base).bytes.get() : bytes(allocation.base);
}

/// The awaited allocation that is asked for, or 0. Called with the lock.
Address GlobalMemory::claim_awaited(std::uint64_t size, Allocation::Kind kind, const std::string& name) {
    if (!elsewhere_)
        return 0;
    std::vector<MemoryImage::Piece>& awaited = elsewhere_->awaited;
    const auto found = std::ranges::find_if(awaited, [&](const MemoryImage::Piece& piece) {
        const Allocation& a = piece.allocation;
        return a.size == size && a.kind == kind && a.name == name;
    });
    if (found == awaited.end())
        return 0;
    const Allocation claimed = found->allocation;
    awaited.erase(found);
    elsewhere_->claimed.push_back(claimed.base);
    elsewhere_->place(claimed.base, claimed.size);
    allocations_[claimed.base] = claimed;
    return claimed.base;
}

void GlobalMemory::restore_awaited(const MemoryImage& image) {
    const std::unique_lock lock(mutex_);
    if (!elsewhere_ || !elsewhere_->awaited.empty())
        refuse("the module has other variables");
    std::ranges::sort(elsewhere_->claimed);
    for (const MemoryImage::Piece& piece : image.pieces) {
        const Address base = piece.allocation.base;
        // A launch has its parameters from its caller.
        if (piece.freed || piece.allocation.kind == Allocation::Kind::parameters ||
            !std::ranges::binary_search(elsewhere_->claimed, base))
            continue;
        std::ranges::copy(*piece.bytes, elsewhere_->placed.at(base).bytes.get());
        if (piece.written_words)
            tracked_[base] =
                std::make_shared<WrittenWords>(base, piece.allocation.size, *piece.written_words);
    }
}

std::optional<MemoryImage> GlobalMemory::image(std::uint64_t most) const {
    const std::shared_lock lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [base, each] : allocations_)
        sum += each.size;
    if (sum > most)
        return std::nullopt;
    MemoryImage image{arena_->device, arena_->host, arena_->closed, capacity_, serial_};
    for (const auto& [base, each] : allocations_) {
        MemoryImage::Piece piece{each};
        const std::byte* const from = bytes_of(each);
        piece.bytes = std::make_shared<const std::vector<std::byte>>(from, from + each.size);
        if (const auto tracked = tracked_.find(base); tracked != tracked_.end())
            piece.written_words = std::make_shared<const std::vector<std::uint64_t>>(tracked->second->bits());
        image.pieces.push_back(std::move(piece));
    }
    for (const auto& [base, each] : freed_)
        image.pieces.push_back({each, true});
    std::ranges::stable_sort(image.pieces, {}, [](const auto& piece) { return piece.allocation.base; });
    return image;
}

} // namespace emu

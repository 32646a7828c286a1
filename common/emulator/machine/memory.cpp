#include "machine/memory_arena.hpp"
#include "machine/written.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace emu {
namespace {

constexpr std::uint64_t poison_limit =
    64ull << 20;             ///< Larger allocations keep zero pages: poisoning them would cost real memory.
constexpr int poison = 0xff; ///< NaN in every floating type, -1 in every integer type.

/// What an allocation takes of the addresses.
constexpr std::uint64_t bytes_with_gap(std::uint64_t size, bool whole_pages) {
    return round_up(std::max<std::uint64_t>(size, 1) + memory_gap, whole_pages ? memory_page : 256);
}

} // namespace

GlobalMemory::GlobalMemory(std::uint64_t capacity, bool closed)
    // Twice the capacity in addresses, so that freed ranges need not be reused at once.
    : arena_(std::make_unique<Arena>(2 * capacity, closed)),
      capacity_(std::min(capacity, arena_->device.size)) {
    if (arena_->closed) {
        closed_begin_ = arena_->device.begin;
        closed_size_ = arena_->device.size;
    }
}

GlobalMemory::~GlobalMemory() = default;

Address GlobalMemory::allocate(std::uint64_t size, Allocation::Kind kind, std::string name,
                               std::uint64_t alignment, bool host_too) {
    std::unique_lock lock(mutex_);
    if (size > capacity_ || arena_->used + size > capacity_)
        return 0;
    // What the host reaches has its pages for itself, as from cudaMallocHost, so that they can be guarded.
    host_too |= is_host_visible(kind);
    alignment = std::max<std::uint64_t>(alignment, host_too ? memory_page : 256);
    const std::uint64_t need = bytes_with_gap(size, host_too);
    if (const Address base = claim_awaited(size, kind, name))
        return base;
    Arena::Part& part = arena_->part(host_too);
    const std::uint64_t offset = round_up(part.next, alignment);
    Address base = part.begin + offset;
    if (offset + need <= part.size)
        part.next = offset + need;
    else if (base = reuse(need, alignment, host_too); base == 0)
        return 0;
    if (arena_->host.contains(base) && !arena_->open(base, need))
        return 0;
    if (elsewhere_)
        elsewhere_->place(base, size);
    arena_->used += size;
    const Allocation& fresh = allocations_[base] = {base, size, kind, std::move(name), ++serial_};
    if (size <= poison_limit)
        std::memset(bytes_of(fresh), poison, size);
    // Aligned accesses of the last word reach behind it, and see zeros, as in pages.
    if (!host_has_pages && !elsewhere_)
        std::memset(bytes_of(fresh) + size, 0, need - size);
    return base;
}

/// The addresses ran out: the lowest freed range that fits, or 0.
Address GlobalMemory::reuse(std::uint64_t need, std::uint64_t alignment, bool host_too) {
    const Arena::Part& part = arena_->part(host_too);
    const auto had_pages = [&](const Allocation& freed) {
        return arena_->host.contains(freed.base) || is_host_visible(freed.kind);
    };
    const auto fits = [&](const auto& entry) {
        const std::uint64_t start = round_up(entry.first, alignment);
        return !entry.second.kept && part.contains(entry.first) &&
               start + need <= entry.first + bytes_with_gap(entry.second.size, had_pages(entry.second));
    };
    const auto it = std::find_if(freed_.begin(), freed_.end(), fits);
    if (it == freed_.end())
        return 0;
    const Address base = round_up(it->first, alignment);
    freed_.erase(it);
    return base;
}

Address GlobalMemory::reserve(std::uint64_t size) {
    const Address base = allocate(size, Allocation::Kind::device);
    if (base == 0)
        return 0;
    {
        std::unique_lock lock(mutex_);
        allocations_.at(base).kept = true;
    }
    release(base);
    return base;
}

bool GlobalMemory::restore(Address base) {
    std::unique_lock lock(mutex_);
    const auto it = freed_.find(base);
    if (it == freed_.end() || !it->second.kept)
        return false;
    Allocation& back = allocations_[base] = it->second;
    back.serial = ++serial_;
    arena_->used += back.size;
    if (elsewhere_)
        elsewhere_->place(base, back.size);
    if (back.size <= poison_limit)
        std::memset(bytes_of(back), poison, back.size);
    freed_.erase(it);
    return true;
}

void GlobalMemory::adopt(Address base, std::uint64_t size, Allocation::Kind kind) {
    if (kind != Allocation::Kind::registered && kind != Allocation::Kind::mapped)
        throw std::invalid_argument("adopted memory is registered or mapped");
    std::unique_lock lock(mutex_);
    allocations_[base] = Allocation{base, size, kind, {}, ++serial_};
}

bool GlobalMemory::disown(Address base, Allocation::Kind kind) {
    std::unique_lock lock(mutex_);
    const auto it = allocations_.find(base);
    if (it == allocations_.end() || it->second.kind != kind)
        return false;
    allocations_.erase(it);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    return true;
}

bool GlobalMemory::release(Address base) {
    std::unique_lock lock(mutex_);
    const auto it = allocations_.find(base);
    if (it == allocations_.end() || it->second.kind == Allocation::Kind::registered ||
        it->second.kind == Allocation::Kind::mapped)
        return false;
    tracked_.erase(base);
    const Allocation& gone = it->second;
    arena_->used -= gone.size;
    const Address first_page = round_up(base, memory_page);
    const Address last_page = (base + gone.size) / memory_page * memory_page;
    if (elsewhere_)
        elsewhere_->placed.erase(base);
    else if (last_page > first_page)
        Arena::forget(bytes(first_page), last_page - first_page);
    if (arena_->host.contains(base))
        arena_->shut(base, bytes_with_gap(gone.size, true));
    freed_[base] = gone;
    allocations_.erase(it);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    return true;
}

void GlobalMemory::track_writes(Address base) {
    std::unique_lock lock(mutex_);
    const auto it = allocations_.find(base);
    if (it != allocations_.end())
        tracked_[base] = std::make_shared<WrittenWords>(base, it->second.size);
}

void GlobalMemory::note_written(Address address, std::uint64_t bytes) {
    std::shared_lock lock(mutex_);
    const auto behind = tracked_.upper_bound(address);
    if (behind != tracked_.begin())
        std::prev(behind)->second->add(address, bytes);
}

std::shared_ptr<const WrittenWords> GlobalMemory::written_words(Address base) const {
    std::shared_lock lock(mutex_);
    const auto it = tracked_.find(base);
    return it == tracked_.end() ? nullptr : it->second;
}

std::optional<Allocation> GlobalMemory::find(Address address) const {
    std::shared_lock lock(mutex_);
    auto it = allocations_.upper_bound(address);
    if (it == allocations_.begin())
        return std::nullopt;
    --it;
    if (address - it->first >= std::max<std::uint64_t>(it->second.size, 1))
        return std::nullopt;
    return it->second;
}

std::optional<Allocation> GlobalMemory::nearest(Address address) const {
    std::shared_lock lock(mutex_);
    const auto known = [](const auto& entry) {
        return entry.second.kind != Allocation::Kind::parameters && !entry.second.name.starts_with('$');
    };
    const auto here = allocations_.upper_bound(address);
    const auto above = std::find_if(here, allocations_.end(), known);
    const auto below = std::find_if(std::make_reverse_iterator(here), allocations_.rend(), known);
    if (below == allocations_.rend())
        return above == allocations_.end() ? std::nullopt : std::optional(above->second);
    if (above == allocations_.end() ||
        address - (below->first + below->second.size) <= above->first - address)
        return below->second;
    return above->second;
}

std::optional<Allocation> GlobalMemory::find_freed(Address address) const {
    std::shared_lock lock(mutex_);
    auto it = freed_.upper_bound(address);
    if (it == freed_.begin())
        return std::nullopt;
    --it;
    if (address - it->first >= it->second.size)
        return std::nullopt;
    return it->second;
}

AddressFacts GlobalMemory::facts_of(Address address) const noexcept {
    AddressFacts facts;
    if (!arena_->contains(address))
        return facts;
    facts.closed = address - closed_begin_ < closed_size_;
    facts.state = AddressFacts::State::unknown;
    const std::shared_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock())
        return facts;
    const auto look_in = [&](const std::map<Address, Allocation>& all, AddressFacts::State state) {
        auto it = all.upper_bound(address);
        if (it == all.begin() || address - (--it)->first >= std::max<std::uint64_t>(it->second.size, 1))
            return false;
        facts.state = state;
        facts.base = it->first;
        facts.size = it->second.size;
        facts.kind = it->second.kind;
        it->second.name.copy(facts.name.data(), facts.name.size() - 1);
        return true;
    };
    if (look_in(allocations_, AddressFacts::State::live))
        return facts;
    facts.closed |= arena_->host.contains(address);
    if (!look_in(freed_, AddressFacts::State::freed))
        facts.state = AddressFacts::State::never;
    return facts;
}

std::uint64_t GlobalMemory::in_use() const {
    std::shared_lock lock(mutex_);
    return arena_->used;
}

std::vector<Allocation> GlobalMemory::unfreed() const {
    const std::shared_lock lock(mutex_);
    std::vector<Allocation> result;
    for (const auto& [base, each] : allocations_)
        if (each.name.empty() &&
            (each.kind == Allocation::Kind::device || each.kind == Allocation::Kind::managed ||
             each.kind == Allocation::Kind::host))
            result.push_back(each);
    std::ranges::sort(result, {}, &Allocation::serial);
    return result;
}

std::vector<Allocation> GlobalMemory::host_visible() const {
    const std::shared_lock lock(mutex_);
    std::vector<Allocation> result;
    for (const auto& [base, each] : allocations_)
        if (is_host_visible(each.kind))
            result.push_back(each);
    return result;
}

} // namespace emu

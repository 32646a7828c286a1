#include "hopper_emulator/memory.hpp"
#include "machine/written.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace emu {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t gap = 512; ///< Unallocated bytes between neighbours, so that overruns are found.
constexpr std::uint64_t poison_limit =
    64ull << 20;             ///< Larger allocations keep zero pages: poisoning them would cost real memory.
constexpr int poison = 0xff; ///< NaN in every floating type, -1 in every integer type.

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

} // namespace

/// A reserved range of address space; pages become memory when touched.
struct GlobalMemory::Arena {
    std::byte* base = nullptr;
    std::uint64_t size = 0;
    std::uint64_t next = 0;
    std::uint64_t used = 0;

    /// Where the host sets a limit (`ulimit -v`), the rest of the process gets at least as much of it as
    /// this.
    explicit Arena(std::uint64_t wanted) {
        size = round_up(wanted, page);
        while (!map())
            shrink();
        if (size < wanted) {
            munmap(base, size);
            do
                shrink();
            while (!map());
        }
    }
    bool map() {
        void* p =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        base = p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
        return base != nullptr;
    }
    void shrink() {
        size = round_up(size / 2, page);
        if (size < (64u << 20))
            throw std::bad_alloc();
    }
    ~Arena() { munmap(base, size); }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
};

GlobalMemory::GlobalMemory(std::uint64_t capacity)
    // Twice the capacity in addresses, so that freed ranges need not be reused at once.
    : arena_(std::make_unique<Arena>(2 * capacity)), capacity_(std::min(capacity, arena_->size)) {}

GlobalMemory::~GlobalMemory() = default;

Address GlobalMemory::allocate(std::uint64_t size, Allocation::Kind kind, std::string name,
                               std::uint64_t alignment) {
    std::unique_lock lock(mutex_);
    if (size > capacity_ || arena_->used + size > capacity_)
        return 0;
    // What the host reaches has its pages for itself, as from cudaMallocHost, so that they can be guarded.
    const std::uint64_t least = is_host_visible(kind) ? page : 256;
    alignment = std::max<std::uint64_t>(alignment, least);
    const std::uint64_t need = round_up(std::max<std::uint64_t>(size, 1) + gap, least);
    std::uint64_t offset = round_up(arena_->next, alignment);
    if (offset + need <= arena_->size) {
        arena_->next = offset + need;
    } else {
        // The addresses ran out: take the lowest freed range that fits.
        const auto fits = [&](const auto& entry) {
            const std::uint64_t start = round_up(entry.first, alignment);
            return !entry.second.kept && start + need <= entry.first + round_up(entry.second.size + gap, 256);
        };
        const auto it = std::find_if(freed_.begin(), freed_.end(), fits);
        if (it == freed_.end())
            return 0;
        offset = round_up(it->first, alignment) - reinterpret_cast<Address>(arena_->base);
        freed_.erase(it);
    }
    std::byte* const p = arena_->base + offset;
    if (size <= poison_limit)
        std::memset(p, poison, size);
    const auto base = reinterpret_cast<Address>(p);
    arena_->used += size;
    allocations_[base] = Allocation{base, size, kind, std::move(name), ++serial_};
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
    if (back.size <= poison_limit)
        std::memset(reinterpret_cast<void*>(base), poison, back.size);
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
    const Address first_page = round_up(base, page);
    const Address last_page = (base + gone.size) / page * page;
    if (last_page > first_page)
        madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_DONTNEED);
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

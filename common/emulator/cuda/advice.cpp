#include "cuda/advice.hpp"

#include "cuda/memory.hpp"
#include "cuda/owner.hpp"
#include "cuda/state.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace emu::cuda {
namespace {

using Type = abi::MemoryLocationType;

constexpr int cpu = -1;     ///< cudaCpuDeviceId
constexpr int nowhere = -2; ///< cudaInvalidDeviceId

/// A place as the attributes name it: the old ones by one number, the new ones by type and number.
struct Place {
    Type type = Type::none;
    int id = 0;
    bool operator==(const Place&) const = default;

    int old_number() const {
        return type == Type::none ? nowhere : type == Type::device ? id : type == Type::host ? cpu : nowhere;
    }
};

struct Advice {
    bool read_mostly = false;
    Place preferred, last_prefetch;
    bool device_accesses = false, host_accesses = false;
    bool operator==(const Advice&) const = default;
};

/// The advice for every byte: from each key up to the next. Advice for memory that was freed goes with it.
class Record {
  public:
    static Record& get() { return the<Record>(); }

    template <class Change>
    void change(const Allocation& allocation, Address begin, Address end, Change&& apply) {
        const std::lock_guard lock(mutex_);
        Ranges& ranges = of(allocation);
        split(ranges, begin);
        split(ranges, end);
        for (auto it = ranges.find(begin); it != ranges.end() && it->first < end; ++it)
            apply(it->second);
    }

    /// Nothing if the bytes differ in what `part` picks.
    template <class Part>
    auto ask(const Allocation& allocation, Address begin, Address end, Part&& part)
        -> std::optional<decltype(part(Advice{}))> {
        const std::lock_guard lock(mutex_);
        const Ranges& ranges = of(allocation);
        auto it = std::prev(ranges.upper_bound(begin));
        const auto first = part(it->second);
        for (; it != ranges.end() && it->first < end; ++it)
            if (part(it->second) != first)
                return std::nullopt;
        return first;
    }

  private:
    using Ranges = std::map<Address, Advice>;
    struct Entry {
        std::uint64_t serial = 0;
        Ranges ranges;
    };

    Ranges& of(const Allocation& allocation) {
        Entry& entry = entries_[allocation.base];
        if (entry.serial != allocation.serial)
            entry = {allocation.serial, {{allocation.base, Advice{}}}};
        return entry.ranges;
    }
    static void split(Ranges& ranges, Address at) {
        ranges.emplace(at, std::prev(ranges.upper_bound(at))->second);
    }

    std::mutex mutex_;
    std::map<Address, Entry> entries_; ///< By base of the allocation.
};

std::optional<Place> place(abi::MemoryLocation location) {
    switch (static_cast<Type>(location.type)) {
    case Type::device:
        return Place{Type::device, location.id};
    case Type::host:
    case Type::host_numa_current:
        return Place{Type::host, 0};
    case Type::host_numa:
        return Place{Type::host_numa, location.id};
    default:
        return std::nullopt;
    }
}

/// The machine has one device and one NUMA node.
bool exists(const Place& where) { return where.type == Type::host || where.id == 0; }

struct Range {
    Allocation allocation;
    Address begin, end;
};
std::optional<Range> find_range(State& state, const void* pointer, std::size_t count) {
    if (count == 0 || check_managed(state, pointer, count) != Error::success)
        return std::nullopt;
    const auto begin = reinterpret_cast<Address>(pointer);
    return Range{*state.device().memory().find(begin), begin, begin + count};
}

/// cudaMemoryAdvise
enum AdviceNumber {
    set_read_mostly = 1,
    unset_read_mostly = 2,
    set_preferred_location = 3,
    unset_preferred_location = 4,
    set_accessed_by = 5,
    unset_accessed_by = 6,
};

/// cudaMemRangeAttribute
enum RangeAttribute {
    attribute_read_mostly = 1,
    attribute_preferred = 2,
    attribute_accessed_by = 3,
    attribute_last_prefetch = 4,
    attribute_preferred_type = 5,
    attribute_preferred_id = 6,
    attribute_prefetch_type = 7,
    attribute_prefetch_id = 8,
};

void fill_accessed_by(std::span<int> out, const Range& range) {
    auto& record = Record::get();
    std::ranges::fill(out, nowhere);
    std::size_t next = 0;
    const auto both = [&](bool Advice::*part, int number) {
        const auto told = record.ask(range.allocation, range.begin, range.end,
                                     [&](const Advice& advice) { return advice.*part; });
        if (told.value_or(false) && next < out.size())
            out[next++] = number;
    };
    both(&Advice::device_accesses, 0);
    both(&Advice::host_accesses, cpu);
}

} // namespace

Error advise(State& state, const void* pointer, std::size_t count, int advice, abi::MemoryLocation location) {
    const auto range = find_range(state, pointer, count);
    if (!range || advice < set_read_mostly || advice > unset_accessed_by)
        return Error::invalid_value;
    // Every advice wants a place, and what needs it, one that exists; only devices and the host have accesses
    // of their own. All as an H200's driver does it.
    const auto where = place(location);
    if (!where || ((advice == set_preferred_location || advice >= set_accessed_by) && !exists(*where)))
        return Error::invalid_value;
    if (advice >= set_accessed_by && static_cast<Type>(location.type) > Type::host)
        return Error::invalid_value;
    Record::get().change(range->allocation, range->begin, range->end, [&](Advice& a) {
        if (advice <= unset_read_mostly)
            a.read_mostly = advice == set_read_mostly;
        else if (advice <= unset_preferred_location)
            a.preferred = advice == set_preferred_location ? *where : Place{};
        else
            (where->type == Type::device ? a.device_accesses : a.host_accesses) = advice == set_accessed_by;
    });
    return Error::success;
}

Error prefetch(State& state, const void* pointer, std::size_t count, abi::MemoryLocation location) {
    const auto range = find_range(state, pointer, count);
    const auto where = place(location);
    if (!range || !where)
        return Error::invalid_value;
    if (!exists(*where))
        return where->type == Type::device ? Error::invalid_device : Error::invalid_value;
    Record::get().change(range->allocation, range->begin, range->end,
                         [&](Advice& a) { a.last_prefetch = *where; });
    return Error::success;
}

Error range_attribute(State& state, void* data, std::size_t size, int attribute, const void* pointer,
                      std::size_t count) {
    const auto range = find_range(state, pointer, count);
    const bool list = attribute == attribute_accessed_by;
    if (!range || !data || size == 0 || size % sizeof(int) != 0 || (!list && size != sizeof(int)))
        return Error::invalid_value;
    int* const out = static_cast<int*>(data);
    const auto ask = [&](auto part) {
        return Record::get().ask(range->allocation, range->begin, range->end, part);
    };
    const auto preferred = [](const Advice& advice) { return advice.preferred; };
    const auto prefetched = [](const Advice& advice) { return advice.last_prefetch; };
    switch (attribute) {
    case attribute_read_mostly:
        *out = ask([](const Advice& advice) { return advice.read_mostly; }).value_or(false);
        return Error::success;
    case attribute_preferred:
        *out = ask(preferred).value_or(Place{}).old_number();
        return Error::success;
    case attribute_accessed_by:
        fill_accessed_by({out, size / sizeof(int)}, *range);
        return Error::success;
    case attribute_last_prefetch:
        *out = ask(prefetched).value_or(Place{}).old_number();
        return Error::success;
    case attribute_preferred_type:
        *out = static_cast<int>(ask(preferred).value_or(Place{}).type);
        return Error::success;
    case attribute_preferred_id:
        *out = ask(preferred).value_or(Place{}).id;
        return Error::success;
    case attribute_prefetch_type:
        *out = static_cast<int>(ask(prefetched).value_or(Place{}).type);
        return Error::success;
    case attribute_prefetch_id:
        *out = ask(prefetched).value_or(Place{}).id;
        return Error::success;
    default:
        return Error::invalid_value;
    }
}

} // namespace emu::cuda

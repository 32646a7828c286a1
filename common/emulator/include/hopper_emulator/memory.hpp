#pragma once
/// \file
/// Global memory of the emulated device: an arena of host memory with a record of every allocation.

#include "hopper_emulator/address.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace emu {
class WrittenWords; ///< The library's own.
struct MemoryImage;
} // namespace emu

#pragma GCC visibility push(default)
namespace emu {

/// One allocation of global memory.
struct Allocation {
    /// Where it comes from: an allocation of the program (`device`, `managed`, page-locked `host`), memory
    /// that was adopted (`registered`, `mapped`), or the emulator itself (variables of a `module`, kernel
    /// `parameters`, the `heap` of kernels that call malloc).
    enum class Kind : std::uint8_t { device, managed, host, registered, mapped, module, parameters, heap };
    Address base = 0;         ///< Of its first byte.
    std::uint64_t size = 0;   ///< Bytes the program asked for; accesses beyond are errors.
    Kind kind = Kind::device; ///< Where it comes from.
    std::string name;         ///< Variable name of a module variable, else empty.
    std::uint64_t serial = 0; ///< Ascends with the time of the allocation.
    bool kept = false;        ///< Its addresses are given to nobody else, even while it is freed.
};

/// The host reads and writes such memory, too.
constexpr bool is_host_visible(Allocation::Kind kind) {
    return kind == Allocation::Kind::managed || kind == Allocation::Kind::host ||
           kind == Allocation::Kind::registered;
}

/// What is known of an address, for a signal handler.
struct AddressFacts {
    /// `outside`: no address of the arena. `never`: an address of the arena that nobody was given, or a gap
    /// between allocations. `unknown`: the record is being changed.
    enum class State : std::uint8_t { outside, never, live, freed, unknown };
    State state = State::outside;                     ///< Whose it is.
    bool closed = false;                              ///< The host has no rights there now.
    Address base = 0;                                 ///< Of the allocation, if it is `live` or `freed`.
    std::uint64_t size = 0;                           ///< Bytes.
    Allocation::Kind kind = Allocation::Kind::device; ///< As in Allocation.
    std::array<char, 128> name{};                     ///< Of a module's variable, cut if it is longer.
};

/// Allocates, frees and finds global memory. Thread-safe.
class GlobalMemory {
  public:
    /// Reserves address space (not memory) for `capacity` bytes, less if the host grants less. `closed`: see
    /// MachineSettings::closed_memory.
    explicit GlobalMemory(std::uint64_t capacity, bool closed = false);
    /// Memory as it was in another process: addresses and contents are those of the image, the bytes lie
    /// anywhere. What begins at one of the addresses in `awaited` is not there until an allocation of the
    /// same kind, name and size asks for it; its contents are as new then, and restore_awaited() brings back
    /// those of the image. Throws std::invalid_argument for an image that cannot be.
    GlobalMemory(const MemoryImage& image, std::vector<Address> awaited);
    ~GlobalMemory();
    GlobalMemory(const GlobalMemory&) = delete;
    GlobalMemory& operator=(const GlobalMemory&) = delete;

    /// New memory, aligned to `alignment` and at least to 256 bytes, as cudaMalloc promises. Up to 64 MiB are
    /// filled with bytes 0xff; more is not filled. Returns 0 if the capacity does not suffice; a `size` of 0
    /// has an address of its own. `kind`: any but `registered` and `mapped`; `managed` and `host` get whole
    /// pages. `name`: of a module's variable; unfreed() does not tell what has one. Freed addresses are
    /// reused as late as possible, so that stale pointers are found. `host_too`: the host may touch it,
    /// whatever its kind, as it may a `__managed__` variable.
    Address allocate(std::uint64_t size, Allocation::Kind kind, std::string name = {},
                     std::uint64_t alignment = 256, bool host_too = false);

    /// Where the bytes are of an address that kernels use: there itself, unless it is closed to the host or
    /// the memory is made of an image. Whatever address is given, nothing is looked at; of an image, it must
    /// lie in an allocation.
    std::byte* bytes(Address address) const {
        if (elsewhere_) [[unlikely]]
            return bytes_elsewhere(address);
        const bool moved = address - closed_begin_ < closed_size_;
        return reinterpret_cast<std::byte*>(moved ? address + closed_size_ : address);
    }

    /// Makes memory outside the arena accessible to kernels: `registered` memory of the host, or `mapped`
    /// memory of the driver's virtual memory functions; std::invalid_argument for another kind. It must stay
    /// until disown(), and overlap nothing that is allocated or adopted: that is not checked.
    void adopt(Address base, std::uint64_t size, Allocation::Kind kind);
    /// False if nothing of that kind begins at `base`.
    bool disown(Address base, Allocation::Kind kind);

    /// From now on the words of the allocation at `base` count as unwritten until note_written() names them
    /// or a kernel writes them: what the host writes through a pointer must be named, too. Only of such an
    /// allocation are uses of unwritten memory found. Nothing happens if none begins at `base`.
    void track_writes(Address base);
    /// The program wrote these bytes, by a copy of the host or in a kernel.
    void note_written(Address address, std::uint64_t bytes);
    /// Of the allocation that begins at `base`, if it is tracked.
    std::shared_ptr<const WrittenWords> written_words(Address base) const;

    /// Frees an allocation by its base, which no launch may use any more. False if there is none, or it was
    /// adopted.
    bool release(Address base);

    /// Addresses for memory that comes and goes at the same place, as that of a graph: a freed allocation
    /// that restore() brings back. 0 if the capacity does not suffice.
    Address reserve(std::uint64_t size);
    /// Brings reserved memory back, with new contents. False if it is not freed, or not reserved.
    bool restore(Address base);

    /// The allocation that contains `address`.
    std::optional<Allocation> find(Address address) const;

    /// The nearest allocation of the program below or above, for messages about addresses outside any.
    std::optional<Allocation> nearest(Address address) const;

    /// The freed allocation that last contained `address`, for "use after free" messages.
    std::optional<Allocation> find_freed(Address address) const;

    /// The same for a signal handler, of any address: allocates nothing and waits for nobody.
    AddressFacts facts_of(Address address) const noexcept;

    /// Bytes that can be allocated in all.
    std::uint64_t capacity() const { return capacity_; }
    /// Bytes that are allocated now, adopted memory not among them.
    std::uint64_t in_use() const;

    /// Changes whenever an allocation disappears; caches of find() results are valid while it stands.
    std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

    /// What the program has allocated and not freed, in the order of allocation; its module's variables and
    /// what the emulator keeps for itself are not among it.
    std::vector<Allocation> unfreed() const;
    /// What the host reaches, too.
    std::vector<Allocation> host_visible() const;

    /// Everything, as it is now: not while a kernel or the host writes. Nothing if the bytes of all
    /// allocations together are more than `most`.
    std::optional<MemoryImage> image(std::uint64_t most) const;
    /// What awaited allocations (see the constructor) held in the image, once all have been asked for. Throws
    /// std::invalid_argument if some have not.
    void restore_awaited(const MemoryImage& image);

  private:
    struct Arena;
    struct Elsewhere;
    std::byte* bytes_elsewhere(Address address) const;
    std::byte* bytes_of(const Allocation& allocation) const;
    Address claim_awaited(std::uint64_t size, Allocation::Kind kind, const std::string& name);
    Address reuse(std::uint64_t need, std::uint64_t alignment, bool host_too);

    std::unique_ptr<Arena> arena_;
    std::unique_ptr<Elsewhere> elsewhere_; ///< Where the bytes are, if the memory is made of an image.
    Address closed_begin_ = 0;             ///< Addresses of device memory, if they are closed to the host.
    std::uint64_t closed_size_ = 0;        ///< So many of them; the bytes follow behind the last.
    std::uint64_t capacity_ = 0;
    std::atomic<std::uint64_t> generation_{1};
    mutable std::shared_mutex mutex_;
    std::map<Address, Allocation> allocations_; ///< By base.
    std::map<Address, Allocation> freed_;
    std::map<Address, std::shared_ptr<WrittenWords>> tracked_; ///< By base.
    std::uint64_t serial_ = 0;
};

} // namespace emu
#pragma GCC visibility pop

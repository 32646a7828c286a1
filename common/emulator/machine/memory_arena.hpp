#pragma once
/// \file
/// Where the addresses of global memory come from, and where its bytes are. Only for GlobalMemory.

#include "hopper_emulator/memory_image.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <vector>

namespace emu {

/// Pages of the host, and unallocated bytes between neighbours, so that overruns are found.
inline constexpr std::uint64_t memory_page = 4096, memory_gap = 512;

/// Whether the host has pages: of rights of their own, zero at first, and there when they are touched. In
/// WebAssembly mmap() is malloc() that writes zeros, to all of it at once.
#ifdef __EMSCRIPTEN__
inline constexpr bool host_has_pages = false;
#else
inline constexpr bool host_has_pages = true;
#endif

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/// Reserved address space; pages become memory when touched. Closed, it has three parts of equal size:
/// addresses of device memory, at which nobody has any rights; the bytes of that; memory that the host
/// reaches, at its own addresses. Open, all that is one part.
struct GlobalMemory::Arena {
    /// Addresses that programs get.
    struct Part : MemoryImage::Part {
        bool contains(Address address) const { return address - begin < size; }
    };
    bool closed = false;
    Part device, host; ///< `host` is empty while all is one part.
    std::uint64_t used = 0;

    Arena(std::uint64_t wanted, bool close) {
        wanted = round_up(wanted, granule);
        if (host_has_pages && close && leaves_room(3 * wanted) && map(3 * wanted, PROT_NONE)) {
            closed = mprotect(base_ + wanted, wanted, PROT_READ | PROT_WRITE) == 0;
            if (closed) {
                // What lies before the first allocation belongs to the device as well.
                device = {{address(), wanted, memory_page}};
                host = {{address() + 2 * wanted, wanted, memory_page}};
                return;
            }
            unmap();
        }
        map_open(wanted);
        device = {{address(), mapped_}};
    }
    /// Addresses of an image: nothing is mapped.
    explicit Arena(const MemoryImage& image) : closed(image.closed), device{image.device}, host{image.host} {}
    ~Arena() {
        if (base_)
            unmap();
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    Part& part(bool host_too) { return closed && host_too ? host : device; }

    /// Lets the host touch memory in its part.
    bool open(Address begin, std::uint64_t bytes) {
        if (!base_)
            return true;
        if (!set_rights(begin, bytes, PROT_READ | PROT_WRITE))
            return false;
        const auto behind = holes_.upper_bound(begin);
        if (behind == holes_.begin() || std::prev(behind)->second <= begin)
            return true;
        const auto hole = std::prev(behind);
        if (const Address end = begin + bytes; end < hole->second)
            holes_[end] = hole->second;
        if (hole->first < begin)
            hole->second = begin;
        else
            holes_.erase(hole);
        return true;
    }
    /// Keeps the host away from it again, unless that would take too many mappings, of which a process has
    /// about 65,000: open neighbours are one, so the gaps between them are open as well.
    void shut(Address begin, std::uint64_t bytes) {
        if (!base_)
            return;
        constexpr std::size_t most_holes = 8192;
        Address end = begin + bytes;
        const auto above = holes_.find(end);
        const auto behind = holes_.lower_bound(begin);
        const bool joins_below = behind != holes_.begin() && std::prev(behind)->second == begin;
        if (!joins_below && above == holes_.end() && holes_.size() >= most_holes)
            return;
        if (!set_rights(begin, bytes, PROT_NONE))
            return;
        if (joins_below)
            begin = std::prev(behind)->first;
        if (above != holes_.end()) {
            end = above->second;
            holes_.erase(above);
        }
        holes_[begin] = end;
    }
    /// Pages, given by their bytes, that nobody needs until they are allocated again.
    static void forget(std::byte* pages, std::uint64_t bytes) {
        if constexpr (host_has_pages)
            madvise(pages, bytes, MADV_DONTNEED);
    }
    bool contains(Address address) const { return device.contains(address) || host.contains(address); }

  private:
    static constexpr std::uint64_t granule = 2u << 20; ///< So that no part begins within a huge page.

    static bool set_rights(Address begin, std::uint64_t bytes, int rights) {
        return mprotect(reinterpret_cast<void*>(begin), bytes, rights) == 0;
    }
    Address address() const { return reinterpret_cast<Address>(base_); }
    /// Where the host sets a limit (`ulimit -v`), the rest of the process gets at least as much of it.
    static bool leaves_room(std::uint64_t bytes) {
        struct rlimit limit {};
        return getrlimit(RLIMIT_AS, &limit) == 0 &&
               (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur / 2);
    }
    bool map(std::uint64_t bytes, int rights) {
        void* p = nullptr;
        if constexpr (host_has_pages)
            p = mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        else if (bytes == std::size_t(bytes))
            p = std::aligned_alloc(memory_page, bytes);
        if (!p || p == MAP_FAILED)
            return false;
        base_ = static_cast<std::byte*>(p);
        mapped_ = bytes;
        return true;
    }
    void unmap() {
        if constexpr (host_has_pages)
            munmap(base_, mapped_);
        else
            std::free(base_);
    }
    /// If less is granted, the rest of the process gets at least as much as this.
    void map_open(std::uint64_t wanted) {
        std::uint64_t size = wanted;
        const auto map_most = [&] {
            while (!map(size, PROT_READ | PROT_WRITE))
                size = half(size);
        };
        map_most();
        if (size == wanted)
            return;
        unmap();
        size = half(size);
        map_most();
    }
    static std::uint64_t half(std::uint64_t size) {
        size = round_up(size / 2, memory_page);
        if (size < (64u << 20))
            throw std::bad_alloc();
        return size;
    }

    std::byte* base_ = nullptr;
    std::uint64_t mapped_ = 0;
    std::map<Address, Address> holes_; ///< What was shut among what was given, from begin to end.
};

/// The bytes of memory that is made of an image.
struct GlobalMemory::Elsewhere {
    /// New bytes for an allocation, all of them 0; those of an earlier one at that address are gone.
    void place(Address base, std::uint64_t size);

    /// By the allocation's base. Behind its last byte follow those that aligned accesses of its last word
    /// reach.
    struct Bytes {
        std::uint64_t size = 0;
        std::unique_ptr<std::byte[]> bytes{};
    };
    std::map<Address, Bytes> placed;
    std::vector<MemoryImage::Piece> awaited; ///< Those that have not been asked for yet.
    std::vector<Address> claimed;            ///< Those that have.
};

} // namespace emu

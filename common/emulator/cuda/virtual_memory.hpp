#pragma once
/// \file
/// Addresses and memory apart (CUDA driver API, virtual memory management): a program reserves addresses,
/// creates memory, maps the one to the other and makes it accessible.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"
#include "hopper_emulator/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace emu::cuda {

/// Sizes, offsets and addresses are in bytes and multiples of `granularity`; what is not is an invalid value,
/// as is what names no reservation, mapping or handle. Memory may be mapped at several places; a check sees
/// each place for itself.
class VirtualMemory {
  public:
    static constexpr std::uint64_t granularity = 2 << 20;
    using Handle = std::uint64_t;

    static VirtualMemory& get();

    Error reserve(Address* address, std::uint64_t size, std::uint64_t alignment);
    Error free(Address address, std::uint64_t size);

    Error create(Handle* handle, std::uint64_t size, const abi::AllocationProperties& properties,
                 std::uint64_t available);
    /// Takes a reference back. The memory goes when no reference and no mapping is left.
    Error release(Handle handle);
    /// The memory mapped at an address, with a reference more.
    Error retain(Handle* handle, Address address);
    Error properties(abi::AllocationProperties* properties, Handle handle);

    Error map(Address address, std::uint64_t size, std::uint64_t offset, Handle handle);
    /// The range must consist of whole mappings.
    Error unmap(GlobalMemory& memory, Address address, std::uint64_t size);
    /// `access` as in CUmemAccess_flags: 0 none, 1 read, 3 read and write. That a kernel only reads is not
    /// checked.
    Error set_access(GlobalMemory& memory, Address address, std::uint64_t size, int access);
    Error get_access(unsigned long long* access, Address address);

  private:
    struct Physical;
    struct Mapping {
        std::uint64_t size = 0;
        Handle handle = 0;
        int access = 0;
    };
    using Mappings = std::map<Address, Mapping>;

    Physical* find(Handle handle);
    void drop_if_unused(Handle handle);
    /// The mapping that contains `address`.
    Mappings::iterator containing(Address address);
    /// True if mappings cover the range without a gap.
    bool covered(Address address, std::uint64_t size);
    /// Tells kernels and copies what they may reach: mappings that adjoin are one piece of memory.
    void publish(GlobalMemory& memory);

    std::mutex mutex_;
    Handle next_ = 1;
    std::map<Handle, std::unique_ptr<Physical>> memories_;
    std::map<Address, std::uint64_t> reservations_; ///< Sizes.
    Mappings mappings_;
    std::map<Address, std::uint64_t> published_; ///< Sizes.
};

} // namespace emu::cuda

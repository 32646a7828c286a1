#pragma once
/// \file
/// Address windows of the emulated GPU (PTX ISA 5.1). Global addresses are host addresses, so memory that
/// host and device share needs no translation; shared and local windows lie where no host address can be.

#include <cstdint>

namespace emu {

using Address = std::uint64_t;

inline constexpr Address shared_window = Address{1}
                                         << 55;           ///< Generic address of the cluster's shared window.
inline constexpr Address local_window = Address{1} << 54; ///< Generic address of a thread's local memory.
inline constexpr Address code_window = Address{1}
                                       << 56; ///< "Address" of function number i is code_window + 16*i.

/// Inside the shared window each block of a cluster owns 16 MiB: address = (rank << 24) | offset. A variable
/// of the own block already carries the own rank, so `shared::cta` addresses are valid `shared::cluster`
/// addresses (PTX ISA 5.1.6).
inline constexpr unsigned shared_rank_shift = 24;
inline constexpr std::uint32_t shared_offset_mask = (1u << shared_rank_shift) - 1;

/// The first KiB of a block's shared memory belongs to the system on compute capability 9.0, as on hardware.
inline constexpr std::uint32_t shared_reserved = 1024;
/// From here on programs may use the reserved KiB: `%reserved_smem_offset_1` is where cooperative groups keep
/// the barriers of tiles of several warps (288 bytes, cooperative_groups/details/memory.h).
inline constexpr std::uint32_t shared_reserved_for_groups = 512;
inline constexpr std::uint32_t max_shared_per_block = 227 * 1024; ///< Opt-in limit, without the reserved KiB.

constexpr bool in_shared_window(Address a) { return (a >> 55) == 1; }
constexpr bool in_local_window(Address a) { return (a >> 54) == 1; }
constexpr bool in_code_window(Address a) { return (a >> 56) == 1; }
constexpr std::uint32_t shared_rank(std::uint32_t shared_address) {
    return shared_address >> shared_rank_shift;
}
constexpr std::uint32_t shared_offset(std::uint32_t shared_address) {
    return shared_address & shared_offset_mask;
}

} // namespace emu

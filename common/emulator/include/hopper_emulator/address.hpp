#pragma once
/// \file
/// Address windows of the emulated GPU (PTX ISA 5.1). Global addresses are host addresses, so memory that
/// host and device share needs no translation; shared and local windows lie where no host address can be.

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace emu {

/// A generic address: of global memory, or in one of the windows below.
using Address = std::uint64_t;

/// State spaces (PTX ISA 5.1). `generic` is an address without a space.
enum class Space : std::uint8_t { generic, constant, global, local, param, shared };
/// The spelling of a space without its dot.
std::string_view name_of(Space space);

inline constexpr Address shared_window = Address{1}
                                         << 55;           ///< Generic address of the cluster's shared window.
inline constexpr Address local_window = Address{1} << 54; ///< Generic address of a thread's local memory.
inline constexpr Address code_window = Address{1}
                                       << 56; ///< "Address" of function number i is code_window + 16*i.

/// Inside the shared window each block of a cluster owns 16 MiB: address = (rank << 24) | offset. A variable
/// of the own block already carries the own rank, so `shared::cta` addresses are valid `shared::cluster`
/// addresses (PTX ISA 5.1.6).
inline constexpr unsigned shared_rank_shift = 24;
/// Of the offset in the block.
inline constexpr std::uint32_t shared_offset_mask = (1u << shared_rank_shift) - 1;

/// The first KiB of a block's shared memory belongs to the system on compute capability 9.0, as on hardware.
inline constexpr std::uint32_t shared_reserved = 1024;
/// From here on programs may use the reserved KiB: `%reserved_smem_offset_1` is where cooperative groups keep
/// the barriers of tiles of several warps (288 bytes, cooperative_groups/details/memory.h).
inline constexpr std::uint32_t shared_reserved_for_groups = 512;
inline constexpr std::uint32_t max_shared_per_block = 227 * 1024; ///< Opt-in limit, without the reserved KiB.

/// In which window a generic address lies.
constexpr bool in_shared_window(Address a) { return (a >> 55) == 1; }
/// Local memory of a thread.
constexpr bool in_local_window(Address a) { return (a >> 54) == 1; }
/// A function.
constexpr bool in_code_window(Address a) { return (a >> 56) == 1; }
/// Rank in the cluster of the block that owns an address of the shared window.
constexpr std::uint32_t shared_rank(std::uint32_t shared_address) {
    return shared_address >> shared_rank_shift;
}
/// Offset of such an address in its block's memory, in bytes, the reserved KiB included.
constexpr std::uint32_t shared_offset(std::uint32_t shared_address) {
    return shared_address & shared_offset_mask;
}

} // namespace emu
#pragma GCC visibility pop

#pragma once
/// \file
/// What the instructions of the asynchronous chapter share: address operands, and the checks of addresses,
/// sizes and mbarriers.

#include "machine/cluster.hpp"
#include "machine/decoder.hpp"
#include "machine/mistake.hpp"

#include <optional>

namespace emu {

/// An address operand, decoded.
struct AddressOperand {
    Row base;
    bool wide = true;        ///< The row holds 64-bit values.
    bool generic = true;     ///< Written without a state space.
    std::int64_t offset = 0; ///< Bytes.

    std::uint64_t value(Warp& warp, unsigned lane) const {
        if (wide)
            return warp.row<std::uint64_t>(base)[lane] + static_cast<std::uint64_t>(offset);
        return static_cast<std::uint32_t>(warp.row<std::uint32_t>(base)[lane] +
                                          static_cast<std::uint32_t>(offset));
    }
};

/// Decodes operand `i` as an address in `space` (Space::generic: an address without space).
AddressOperand address_operand(DecodeContext& context, std::size_t i, ptx::Space space);
/// The 32-bit (or other) value of an operand that is optional in the grammar.
struct OptionalRow {
    Row row;
    bool present = false;
};
OptionalRow optional_source(DecodeContext& context, std::size_t i, ptx::Type type);

/// The shared-window address behind an operand. A generic address outside the shared window is reported as
/// out-of-bounds.
std::optional<std::uint32_t> shared_address(const Place& place, const AddressOperand& operand,
                                            const char* what);
/// The global address behind an operand; shared and local addresses are reported.
std::optional<Address> global_address(const Place& place, const AddressOperand& operand, const char* what,
                                      Fault fault = Fault::illegal_address);

/// Who names the bytes: the operands of a copy or a barrier, or the descriptor of a matrix.
enum class SharedUse : std::uint8_t { operand, matrix };

/// Checks that [address, address + bytes) is shared memory of a living block of the cluster. Reports
/// rank-out-of-range, remote-block-exited, out-of-bounds.
bool check_shared(const Place& place, std::uint32_t address, std::uint64_t bytes, const char* what,
                  SharedUse use = SharedUse::operand);
/// Checks that [address, address + bytes) lies in one allocation of global memory. Reports out-of-bounds.
bool check_global(const Place& place, Address address, std::uint64_t bytes, const char* what);
/// Reports misaligned unless `address` is a multiple of `alignment`.
bool check_alignment(const Place& place, std::uint64_t address, std::uint64_t alignment, const char* what);
/// Reports invalid-size unless `bytes` is a multiple of 16, as the bulk copies require.
bool check_bulk_size(const Place& place, std::uint64_t bytes);

/// Barriers that have ended in the block of a shared-window address, those of its cluster included.
std::uint64_t ended_barriers(const Place& place, std::uint32_t address);

/// What becomes of an mbarrier behind mbarrier.inval.
enum class Invalid : std::uint8_t {
    refused, ///< Reported, unless another thread executed mbarrier.inval and no barrier of the block ended
             ///< since.
    ending,  ///< The same for an operation under way, whichever thread executed mbarrier.inval.
    taken,
};
/// The mbarrier at a shared-window address; otherwise reports misaligned, rank-out-of-range,
/// remote-block-exited, out-of-bounds or barrier-uninitialised and returns nullptr.
Mbarrier* find_barrier(const Place& place, std::uint32_t address, Invalid invalid = Invalid::refused);

} // namespace emu

#pragma once
/// \file
/// What the bulk copies of bytes and of tensors share: completion mechanism, multicast, cache hint.

#include "machine/async_tasks.hpp"

namespace emu {

/// How a bulk operation completes, and where its data go besides the destination operand.
struct BulkCompletion {
    bool at_barrier =
        false; ///< mbarrier::complete_tx::bytes; otherwise bulk_group (or none, for prefetches).
    AddressOperand barrier;
    bool multicast = false;
    Row mask; ///< u16: ranks that get the data.
};

/// Decodes what follows operand `next` - 1: `[mbar]`, the multicast mask and the cache policy, as the
/// modifiers say, and checks that nothing else follows. The cache policy has no effect here. Behind `[mbar]`
/// may be an operand of the caller.
BulkCompletion decode_completion(DecodeContext& context, std::size_t next, bool skips_one = false);

/// One destination of a load: where its bytes and its barrier are.
struct BulkTarget {
    std::uint32_t destination = 0; ///< Shared-window address.
    std::uint32_t barrier = 0;
    std::uint16_t multicast = 0; ///< The whole mask, 0 without multicast.
};

/// The destinations of a bulk copy to shared memory: one, or with multicast one per rank in the mask at the
/// same offsets. Checks memory (`bytes`) and barriers of each. Empty after a report.
std::vector<BulkTarget> bulk_targets(const Place& place, const BulkCompletion& completion,
                                     std::uint32_t destination, std::uint64_t bytes, const char* what);

/// Fills in what a load to `target` of `bytes` needs and hands it to the engine.
void issue_at_barrier(const Place& place, std::unique_ptr<AsyncTask> task, const BulkTarget& target,
                      std::uint32_t bytes);

/// Copies from shared memory to the cluster's shared memory exist only in a cluster launch, be it of one
/// block: elsewhere an H200 gives cudaErrorIllegalInstruction. Reports the mistake `without` and returns
/// false there.
bool check_cluster_launch(const Place& place, std::string_view without);

/// Lanes of a bulk or tensor store with operands that no lane before has. Each lane issues a store of its own
/// (PTX ISA 9.7.9.25.4), but the assembler makes one of those with equal operands, other than of loads and
/// reductions (CUDA 13.0: UTMASTG and UBLKCP stand outside of the loop over the lanes), and epilogues of
/// CUTLASS let a whole warp store a tile. The result is the same.
template <class Equal>
LaneMask distinct_lanes(LaneMask mask, Equal equal) {
    LaneMask distinct = 0;
    for_lanes(mask, [&](unsigned lane) {
        bool is_repeated = false;
        for_lanes(distinct, [&](unsigned earlier) { is_repeated |= equal(earlier, lane); });
        distinct |= LaneMask{!is_repeated} << lane;
    });
    return distinct;
}

// Decode functions of the same opcode family that live in other files.
void decode_store_async(DecodeContext& context, Op& op);
void decode_reduce_async(DecodeContext& context, Op& op);
void decode_store_bulk(DecodeContext& context, Op& op);

/// Throws unless PTX ISA 9.7.9.25.4.2 has the combination for this destination.
Reduction decode_reduction(DecodeContext& context, bool to_global);

} // namespace emu

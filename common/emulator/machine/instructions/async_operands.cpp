#include "machine/instructions/async_operands.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/device.hpp"

namespace emu {

AddressOperand address_operand(DecodeContext& context, std::size_t i, ptx::Space space) {
    const auto parts = context.address(context.operand(i));
    AddressOperand result;
    result.base = parts.base;
    result.wide = parts.wide;
    result.generic = space == ptx::Space::generic;
    result.offset = parts.offset;
    return result;
}

OptionalRow optional_source(DecodeContext& context, std::size_t i, ptx::Type type) {
    if (i >= context.operand_count())
        return {};
    return {context.source(i, type), true};
}

std::optional<std::uint32_t> shared_address(const Place& place, const AddressOperand& operand,
                                            const char* what) {
    const std::uint64_t value = operand.value(place.warp, place.lane);
    // The name of a shared variable stands for its address in the window, whatever space was written.
    const bool in_window = !operand.generic || !operand.wide;
    if (in_window ? value <= 0xffffffffu : in_shared_window(value))
        return static_cast<std::uint32_t>(value);
    place.report(Finding::out_of_bounds, Fault::illegal_instruction,
                 operand.generic ? "operand-not-shared-generic" : "operand-not-shared",
                 {{"what", what}, {"address", Hexadecimal{value}}});
    return std::nullopt;
}

std::optional<Address> global_address(const Place& place, const AddressOperand& operand, const char* what,
                                      Fault fault) {
    const std::uint64_t value = operand.value(place.warp, place.lane);
    if (!in_shared_window(value) && !in_local_window(value) && !in_code_window(value))
        return value;
    const char* const space = in_shared_window(value) ? "shared" : in_local_window(value) ? "local" : "code";
    place.report(Finding::out_of_bounds, fault, "operand-not-global",
                 {{"what", what}, {"address", Hexadecimal{value}}, {"space", space}});
    return std::nullopt;
}

bool check_shared(const Place& place, std::uint32_t address, std::uint64_t bytes, const char* what,
                  SharedUse use) {
    const unsigned rank = shared_rank(address);
    Block* block = place.cluster().block(rank);
    if (!block) {
        place.report(Finding::rank_out_of_range, fault_of_rank(rank),
                     rank < DeviceNumbers::max_cluster ? "operand-no-such-block"
                                                       : "operand-no-shared-address",
                     {{"what", what},
                      {"address", Hexadecimal{address}},
                      {"rank", rank},
                      {"blocks", place.cluster().block_count()}});
        return false;
    }
    if (block->finished()) {
        place.report(Finding::remote_block_exited, Fault::launch_failure, "operand-block-ended",
                     {{"what", what}, {"place", SharedPlace{address}}});
        return false;
    }
    if (bytes > 0xffffffffu ||
        !block->shared_bytes(shared_offset(address), static_cast<std::uint32_t>(bytes))) {
        place.report(Finding::out_of_bounds,
                     block == &place.warp.block() ? Fault::illegal_address : Fault::launch_failure,
                     use == SharedUse::matrix ? "matrix-outside-shared" : "operand-outside-shared",
                     {{"what", what},
                      {"bytes", bytes},
                      {"place", SharedPlace{address}},
                      {"begin", Hexadecimal{shared_reserved}},
                      {"end", Hexadecimal{block->shared().size()}}});
        return false;
    }
    return true;
}

bool check_global(const Place& place, Address address, std::uint64_t bytes, const char* what) {
    if (bytes == 0 || place.cluster().global_bytes(address, bytes))
        return true;
    place.report(Finding::out_of_bounds, Fault::illegal_address, "operand-outside-global",
                 {{"what", what}, {"where", GlobalBytes{address, bytes}}});
    return false;
}

bool check_alignment(const Place& place, std::uint64_t address, std::uint64_t alignment, const char* what) {
    if (address % alignment == 0)
        return true;
    place.report(Finding::misaligned, Fault::misaligned_address, "operand-misaligned",
                 {{"what", what}, {"address", Hexadecimal{address}}, {"alignment", alignment}});
    return false;
}

bool check_bulk_size(const Place& place, std::uint64_t bytes) {
    if (bytes % 16 == 0)
        return true;
    place.report(Finding::invalid_size, Fault::launch_failure, "bulk-size", {{"bytes", bytes}});
    return false;
}

std::uint64_t ended_barriers(const Place& place, std::uint32_t address) {
    Cluster& cluster = place.cluster();
    return cluster.block(shared_rank(address))->ended_barriers() + cluster.ended_barriers();
}

namespace {

/// libcu++'s tests destroy a barrier as soon as one thread is done with it, and then meet at a block barrier.
/// Hardware lets the others finish.
bool invalidated_meanwhile(const Place& place, std::uint32_t address, const Mbarrier::Invalidation& by,
                           Invalid invalid) {
    const bool itself = invalid == Invalid::refused && place.warp.block().rank() == shared_rank(address) &&
                        place.warp.thread_of(place.lane) == by.thread;
    return !itself && by.barriers == ended_barriers(place, address);
}

/// The mbarrier of the own block at the same place, where the other block cannot be known to have come so
/// far.
const Mbarrier* own_counterpart(const Place& place, std::uint32_t address) {
    Cluster& cluster = place.cluster();
    const unsigned rank = place.warp.block().rank();
    if (shared_rank(address) == rank || cluster.cluster_barrier_done(place.warp, place.lane))
        return nullptr;
    return cluster.mbarrier(rank << shared_rank_shift | shared_offset(address));
}

} // namespace

Mbarrier* find_barrier(const Place& place, std::uint32_t address, Invalid invalid) {
    if (!check_alignment(place, address, 8, "mbarrier address") ||
        !check_shared(place, address, 8, "mbarrier address"))
        return nullptr;
    Cluster& cluster = place.cluster();
    Mbarrier* barrier = cluster.mbarrier(address);
    if (barrier && (!barrier->invalidated || invalid == Invalid::taken ||
                    invalidated_meanwhile(place, address, *barrier->invalidated, invalid)))
        return barrier;
    const Mbarrier* const own = barrier ? nullptr : own_counterpart(place, address);
    Mistake mistake{own ? Finding::barrier_init_not_visible : Finding::barrier_uninitialised,
                    Fault::launch_failure,
                    barrier ? "mbarrier-invalidated"
                    : own   ? "mbarrier-not-yet-initialised"
                            : "mbarrier-missing",
                    &place.warp,
                    place.lane,
                    place.pc,
                    {{"barrier", SharedPlace{address}}, {"rank", shared_rank(address)}}};
    if (barrier)
        mistake.other_pc = barrier->invalidated->pc;
    else if (own)
        mistake.other_pc = own->init_pc;
    cluster.report(mistake);
    return nullptr;
}

} // namespace emu

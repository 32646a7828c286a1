#include "machine/instructions/async_operands.hpp"

#include "machine/device.hpp"
#include "machine/reports.hpp"

#include <cstdio>

namespace emu {

std::string hexadecimal(std::uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string shared_text(Cluster& cluster, std::uint32_t address) {
    std::string text = shared_name(cluster.info(), shared_offset(address));
    if (cluster.blocks().size() > 1)
        text += " of the block with rank " + std::to_string(shared_rank(address));
    return text + initialised_at(cluster, address);
}

AddressOperand address_operand(DecodeContext& context, std::size_t i, ptx::Space space) {
    const auto parts = context.address(context.operand(i), space);
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

void Place::report(Finding finding, Fault fault, std::string message, std::string advice) const {
    cluster().report(finding, fault, warp, pc, lane, std::move(message), std::move(advice), true);
}

std::optional<std::uint32_t> shared_address(const Place& place, const AddressOperand& operand,
                                            const char* what) {
    const std::uint64_t value = operand.value(place.warp, place.lane);
    // The name of a shared variable stands for its address in the window, whatever space was written.
    const bool in_window = !operand.generic || !operand.wide;
    if (in_window ? value <= 0xffffffffu : in_shared_window(value))
        return static_cast<std::uint32_t>(value);
    place.report(Finding::out_of_bounds, Fault::illegal_instruction,
                 std::string("The ") + what + " " + hexadecimal(value) + " is not a shared memory address.",
                 operand.generic ? "Pass a pointer to a __shared__ object."
                                 : "Convert the pointer with __cvta_generic_to_shared first.");
    return std::nullopt;
}

std::optional<Address> global_address(const Place& place, const AddressOperand& operand, const char* what,
                                      Fault fault) {
    const std::uint64_t value = operand.value(place.warp, place.lane);
    if (!in_shared_window(value) && !in_local_window(value) && !in_code_window(value))
        return value;
    place.report(Finding::out_of_bounds, fault,
                 std::string("The ") + what + " " + hexadecimal(value) + " lies in " +
                     (in_shared_window(value)  ? "shared"
                      : in_local_window(value) ? "local"
                                               : "code") +
                     " memory, but this instruction needs global memory.",
                 "Pass a pointer to global memory.");
    return std::nullopt;
}

bool check_shared(const Place& place, std::uint32_t address, std::uint64_t bytes, const char* what) {
    const unsigned rank = shared_rank(address);
    Block* block = place.cluster().block(rank);
    if (!block) {
        place.report(Finding::rank_out_of_range, fault_of_rank(rank),
                     std::string("The ") + what + " " + hexadecimal(address) + " names the block with rank " +
                         std::to_string(rank) + ", but the cluster has " +
                         std::to_string(place.cluster().blocks().size()) + " block(s).",
                     rank < 16
                         ? "Use ranks below cluster_group::num_blocks()."
                         : "It is no address of shared memory: declare the object __shared__, and check "
                           "where the pointer comes from.");
        return false;
    }
    if (block->finished()) {
        place.report(Finding::remote_block_exited, Fault::launch_failure,
                     std::string("The ") + what + " is " + shared_text(place.cluster(), address) +
                         ", whose threads have all exited: its shared memory is gone.",
                     "Synchronise the cluster before a block exits.");
        return false;
    }
    if (bytes > 0xffffffffu ||
        !block->shared_bytes(shared_offset(address), static_cast<std::uint32_t>(bytes))) {
        place.report(
            Finding::out_of_bounds,
            block == &place.warp.block() ? Fault::illegal_address : Fault::launch_failure,
            std::string("The ") + what + " covers " + std::to_string(bytes) + " bytes from " +
                shared_text(place.cluster(), address) + ", but the block's shared memory is [" +
                hexadecimal(shared_reserved) + ", " + hexadecimal(block->shared().size()) + ").",
            "Check the size of the copy and of the shared array (dynamic shared memory is set at the "
            "launch).");
        return false;
    }
    return true;
}

bool check_global(const Place& place, Address address, std::uint64_t bytes, const char* what) {
    if (bytes == 0 || place.cluster().global_bytes(address, bytes))
        return true;
    std::string message = std::string("The ") + what + ": " +
                          describe_global_address(place.cluster().launch().device().memory(), address, bytes);
    place.report(Finding::out_of_bounds, Fault::illegal_address, std::move(message),
                 "Check the address, the number of bytes and the tail of the array.");
    return false;
}

bool check_alignment(const Place& place, std::uint64_t address, std::uint64_t alignment, const char* what) {
    if (address % alignment == 0)
        return true;
    place.report(Finding::misaligned, Fault::misaligned_address,
                 std::string("The ") + what + " " + hexadecimal(address) + " is not a multiple of " +
                     std::to_string(alignment) + " bytes.",
                 "Align the object with alignas(" + std::to_string(alignment) +
                     ") and keep offsets a multiple of " + std::to_string(alignment) + " bytes.");
    return false;
}

bool check_bulk_size(const Place& place, std::uint64_t bytes) {
    if (bytes % 16 == 0)
        return true;
    place.report(Finding::invalid_size, Fault::launch_failure,
                 "A bulk copy of " + std::to_string(bytes) + " bytes: the size must be a multiple of 16.",
                 "Copy a multiple of 16 bytes in bulk and the rest with ordinary loads and stores.");
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
    Diagnostic d;
    d.finding = Finding::barrier_uninitialised;
    d.fault = Fault::launch_failure;
    d.locations.push_back(
        cluster.source_line(place.warp, place.lane, place.pc, "by " + thread_name(place.warp, place.lane)));
    if (barrier) {
        d.message = "The mbarrier at " + shared_text(cluster, address) + " has been invalidated.";
        d.advice =
            "mbarrier.inval, or the destructor of a cuda::barrier, must come after everybody's last use, "
            "behind a block (or cluster) barrier.";
        d.locations.push_back(cluster.source_line(barrier->invalidated->pc, "invalidated"));
    } else {
        d.message = "There is no initialised mbarrier at " + shared_text(cluster, address) + ".";
        d.advice =
            "One thread must execute mbarrier.init, and a block (or cluster) barrier must follow, before "
            "anybody uses it.";
    }
    cluster.report(std::move(d), true);
    return nullptr;
}

} // namespace emu

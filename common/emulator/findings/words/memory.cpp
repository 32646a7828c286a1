/// \file
/// Words for accesses of memory, by instructions and by what they name as operands, and for the stack.

#include "findings/words/words.hpp"

namespace emu {
namespace {

constexpr MistakeWords memory_table[] = {
    // -- ordinary accesses
    {"access-misaligned",
     "The instruction {does} {bytes:byte} at address {address}, which is not a multiple of {bytes}.",
     "Align the pointer to the size of the access, or use a narrower type."},
    {"access-no-such-block",
     "The instruction {does} an address of cluster block {rank}, but the cluster has {blocks}.",
     "A rank must be smaller than the number of blocks of the cluster."},
    {"access-not-own-block",
     "The instruction {does} the shared memory of cluster block {rank} by an instruction that works on the "
     "own block's only.",
     "Use the form with .shared::cluster, or a generic address (cluster.map_shared_rank())."},
    {"access-block-ended",
     "The instruction {does} the shared memory of cluster block {rank}, which has ended.",
     "End the kernel with a cluster barrier, so that no block leaves while others use its shared memory. No "
     "thread may return before it: it does not wait for threads that have ended."},
    {"access-outside-shared",
     "The instruction {does} {bytes:byte} at offset {offset} of {size:byte} of shared memory ({place}).",
     "Check the index against the size of the array."},
    {"access-outside-local",
     "The instruction {does} {bytes:byte} at offset {offset} of the thread's local memory.",
     "Check the index against the size of the array."},
    {"access-outside-global", "The instruction {does} {where}.", "{where.advice}"},

    // -- operands that are addresses
    {"operand-not-shared", "The {what} {address} is not a shared memory address.",
     "Convert the pointer with __cvta_generic_to_shared first."},
    {"operand-not-shared-generic", "The {what} {address} is not a shared memory address.",
     "Pass a pointer to a __shared__ object."},
    {"operand-not-global",
     "The {what} {address} lies in {space} memory, but this instruction needs global memory.",
     "Pass a pointer to global memory."},
    {"operand-no-such-block",
     "The {what} {address} names the block with rank {rank}, but the cluster has {blocks:block}.",
     "Use ranks below cluster_group::num_blocks()."},
    {"operand-no-shared-address",
     "The {what} {address} names the block with rank {rank}, but the cluster has {blocks:block}.",
     "It is no address of shared memory: declare the object __shared__, and check where the pointer comes "
     "from."},
    {"operand-block-ended",
     "The {what} is {place}, whose threads have all exited: its shared memory is gone.",
     "Synchronise the cluster before a block exits: all threads pass a cluster barrier (cluster.sync()), and "
     "each block first waits at its own mbarriers for what still lands in its shared memory."},
    {"operand-outside-shared",
     "The {what} covers {bytes:byte} from {place}, but the block's shared memory is [{begin}, {end}).",
     "Compare the size of the copy, of a tensor copy the box in elements, with the shared array (dynamic "
     "shared memory is set at the launch)."},
    {"matrix-outside-shared",
     "The {what} covers {bytes:byte} from {place}, but the block's shared memory is [{begin}, {end}).",
     "Check the strides of the descriptor, what each step of k adds to it, and the size of the shared array "
     "(dynamic shared memory is set at the launch)."},
    {"operand-outside-global", "The {what}: {where}",
     "Check the address, the number of bytes and the tail of the array."},
    {"operand-misaligned", "The {what} {address} is not a multiple of {alignment} bytes.",
     "Keep offsets a multiple of {alignment} bytes, and align what you declare with alignas({alignment}); "
     "memory of cudaMalloc is aligned, so there it is the offset."},

    // -- the stack and the heap
    {"stack-calls", "The calls are nested too deeply.", "Check the condition that ends the recursion."},
    {"stack-local", "A thread's local memory is used up by nested calls.",
     "Check the condition that ends the recursion, or use smaller local arrays."},
    {"stack-alloca", "alloca exceeds the thread's 512 KiB of local memory.",
     "Allocate less, or use global memory."},
    {"heap-foreign-pointer",
     "free() of a pointer that malloc() in a kernel did not return, or that was freed before.",
     "Free each allocation once, with the pointer malloc() gave."},
};

} // namespace

std::span<const MistakeWords> memory_words() { return memory_table; }

} // namespace emu

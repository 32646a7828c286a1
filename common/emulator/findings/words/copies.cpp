/// \file
/// Words for asynchronous copies.

#include "findings/words/words.hpp"

namespace emu {
namespace {

constexpr MistakeWords copy_table[] = {
    {"bulk-size", "A bulk copy of {bytes:byte}: the size must be a multiple of 16.",
     "Copy size / 16 * 16 bytes in bulk and announce exactly these; the rest with ordinary loads and stores, "
     "and a barrier before others use it."},
    {"cp-async-source-size", "cp.async with a src-size of {bytes:byte}, more than its cp-size of {size}.",
     "src-size says how many of the cp-size bytes are read; the rest becomes zero."},
    {"multicast-mask",
     "The multicast mask {mask} names blocks outside the cluster, which has {blocks:block}.",
     "Bit i of the mask stands for the block with rank i: use bits below the cluster's size."},
    {"copy-outlives-block-it-reads",
     "All threads of {block} have exited, and nobody has waited for the end of this asynchronous operation, "
     "which reads the block's shared memory.",
     "Wait for it before the block ends: what completes in groups by the thread that issued it, cp.async "
     "with "
     "cp.async.wait_all, a bulk or tensor store with cp.async.bulk.wait_group.read 0; a load at its "
     "mbarrier."},
    {"copy-outlives-block-it-writes",
     "All threads of {block} have exited, and nobody has waited for the end of this asynchronous operation, "
     "which writes the block's shared memory.",
     "Wait for it before the block ends: what completes in groups by the thread that issued it, cp.async "
     "with "
     "cp.async.wait_all, a bulk or tensor store with cp.async.bulk.wait_group.read 0; a load at its "
     "mbarrier."},

    {"copy-uncommitted",
     "All threads of {block} have exited, and nobody has waited for the end of this asynchronous operation, "
     "which {uses} the block's shared memory. It belongs to no group: no commit_group follows it in "
     "{thread}, and a wait_group waits for committed groups only.",
     "Put {commit} after it, and the wait of the same thread after that, before the block ends: "
     "cp.async.wait_group 0, or for a bulk store cp.async.bulk.wait_group.read 0."},

    {"wgmma-outlives-warp",
     "The warp of {thread} has exited without having waited for the end of this wgmma: its accumulators were "
     "never seen complete, and it may still read the tiles in shared memory.",
     "Execute wgmma.wait_group 0 after the last wgmma.commit_group, before the accumulators are used."},
    {"wgmma-uncommitted",
     "The warp of {thread} has exited without having waited for the end of this wgmma. It belongs to no "
     "group: "
     "no wgmma.commit_group follows it, and wgmma.wait_group waits for committed groups only.",
     "Put wgmma.commit_group after the last wgmma of a batch, and wgmma.wait_group 0 after that, before "
     "the "
     "accumulators are used."},

    // -- tensor copies
    {"tensor-start-misaligned",
     "The box starts at innermost coordinate {coordinate}, which is byte {byte} of its row: not a multiple "
     "of 16.",
     "Start boxes at innermost coordinates whose byte offset is a multiple of 16; to reach one element to "
     "the left, load a wider box that starts 16 bytes earlier."},
    {"tensor-start-negative",
     "The box to be written starts at coordinate {coordinate} of dimension {dimension}, before the tensor.",
     "Stores and reductions may hang over the end of a tensor, where they are clipped, but may not start "
     "before it."},
    {"tensor-start-outside-box",
     "The column of pixels starts at coordinate {coordinate} of dimension {dimension}, outside of the map's "
     "box of "
     "pixels, which goes from {first} to {last} there.",
     "Start at a pixel of the box: from pixelBoxLowerCorner to the size of the dimension less 1 plus "
     "pixelBoxUpperCorner. The offsets of the filter come in addition, in the operand after the mbarrier."},
    {"tensor-box-outside",
     "The box of pixels to be written goes beyond the tensor in dimension {dimension}: "
     "pixelBoxLowerCorner[{i}] is "
     "{lower}, pixelBoxUpperCorner[{i}] is {upper}.",
     "Only what is read may lie outside of the tensor. Encode a map for the writes with a lower corner of 0 "
     "or more "
     "and an upper corner of 0 or less."},
    {"tensor-outside-memory", "The tensor, as its map describes it: {where}.",
     "By its sizes and strides the map describes {extent:byte} from {address} on. Compare that with the "
     "allocation: the map has more rows or fields, a stride is too large, or it is the address of other "
     "memory."},
    {"tensor-tile-misaligned", "The tile at {place} is not aligned to 128 bytes, as tensor copies require.",
     "Declare the tile with alignas(128), and where an array holds several tiles (stages) keep their "
     "distance a multiple "
     "of 128 bytes: pad each one. With a swizzle of 64 or 128 bytes alignas(512) or alignas(1024) keeps the "
     "pattern simple."},
    {"tensor-reduction-type", "The reduction does not exist for elements of type {type}.",
     "PTX has .add for 32- and 64-bit and half types, .min/.max for integers and half types, .inc/.dec for "
     "UINT32 and .and/.or/.xor for 32- and 64-bit integers."},
};

} // namespace

std::span<const MistakeWords> copy_words() { return copy_table; }

} // namespace emu

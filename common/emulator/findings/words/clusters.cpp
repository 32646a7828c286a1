/// \file
/// Words for what exists in clusters only.

#include "findings/words/words.hpp"

namespace emu {
namespace {

constexpr std::string_view how_to_launch =
    "Launch with cudaLaunchKernelEx and cudaLaunchAttributeClusterDimension, or give the kernel "
    "__cluster_dims__; a cluster of one block will do.";

constexpr MistakeWords cluster_table[] = {
    {"mapa-address", "mapa of {address}, which is not a shared memory address.",
     "Map the address of a __shared__ object."},
    {"mapa-rank", "mapa to the block with rank {rank}, but the cluster has {blocks:block}.",
     "Use ranks below cluster_group::num_blocks()."},
    {"store-async-blocks",
     "The destination lies in the block with rank {rank} and the mbarrier in the block with rank "
     "{barrier_rank}: both must lie in the same block.",
     "Map both addresses to the same rank (mapa, cluster_group::map_shared_rank)."},
    {"store-async-without-cluster",
     "The kernel was not launched as a cluster, and this asynchronous store to the cluster's shared memory "
     "exists only in one.",
     how_to_launch},
    {"bulk-copy-without-cluster",
     "The kernel was not launched as a cluster, and this bulk copy between shared memories exists only in "
     "one.",
     how_to_launch},
};

} // namespace

std::span<const MistakeWords> cluster_words() { return cluster_table; }

} // namespace emu

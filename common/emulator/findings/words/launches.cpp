/// \file
/// Words for launches that are refused before they begin.

#include "findings/words/words.hpp"

namespace emu {
namespace {

constexpr MistakeWords launch_table[] = {
    {"launch-zero", "grid {grid} and block {block} must have no zero dimension"},
    {"launch-block-size", "block {block} has more than 1024 threads, or more than 64 in z"},
    {"launch-grid-size", "grid {grid} exceeds 2^31-1 x 65535 x 65535"},
    {"launch-required-threads", "the kernel requires blocks of exactly {threads} x ... threads"},
    {"launch-bounds", "block {block} exceeds the kernel's __launch_bounds__({threads})"},
    {"launch-shared",
     "{dynamic:byte} of dynamic and {static} of static shared memory exceed the limit; above 48 KiB set "
     "cudaFuncAttributeMaxDynamicSharedMemorySize, up to 227 KiB"},
    {"launch-cluster-shape", "grid {grid} is not a multiple of the cluster {cluster}"},
    {"launch-cluster-size", "a cluster of {blocks:block} is too large: 8 is portable, 16 needs "
                            "cudaFuncAttributeNonPortableClusterSizeAllowed"},
    {"launch-no-kernel", "the module has no kernel {name}"},
    {"launch-no-parameters", "no memory is left for the kernel's parameters"},
    {"launch-no-grid-barrier", "no memory is left for the grid's barrier"},
};

} // namespace

std::span<const MistakeWords> launch_words() { return launch_table; }

} // namespace emu

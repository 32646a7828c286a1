#include "cuda/occupancy.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace emu::cuda {
namespace {

using N = DeviceNumbers;

constexpr unsigned warp = 32;
constexpr unsigned warp_granularity = 4;       ///< Warps are placed on four sub-partitions.
constexpr unsigned register_granularity = 256; ///< Registers are handed out to warps in such units.
constexpr unsigned shared_granularity = 128;   ///< Bytes.

/// Multiprocessors that can work for one cluster together. The hardware does not tell; these groups explain
/// all that one H200 answered (docs/measurements/h200_behaviour.md, 'The runtime'). Another board may have
/// other multiprocessors switched off, and so other groups.
constexpr std::array<unsigned, 12> processing_groups{18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};
static_assert(std::accumulate(processing_groups.begin(), processing_groups.end(), 0u) == N::multiprocessors);

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

unsigned limit_by_registers(unsigned registers, unsigned warps) {
    if (registers == 0)
        return N::max_blocks_per_multiprocessor;
    const std::size_t per_warp = round_up(std::size_t{registers} * warp, register_granularity);
    const std::size_t warps_held =
        N::registers_per_multiprocessor / per_warp / warp_granularity * warp_granularity;
    return static_cast<unsigned>(warps_held / warps);
}

std::size_t shared_per_block(Function& function, std::size_t dynamic_shared) {
    return round_up(function.kernel().static_shared + dynamic_shared + shared_reserved, shared_granularity);
}

} // namespace

unsigned registers_per_thread(Function& function) {
    constexpr unsigned unknown = 32;
    const unsigned registers = function.image->registers(function.name);
    return registers ? registers : unknown;
}

unsigned blocks_per_multiprocessor(Function& function, unsigned threads, std::size_t dynamic_shared) {
    if (threads == 0 || threads > function.max_threads() ||
        dynamic_shared + function.kernel().static_shared > max_shared_per_block)
        return 0;
    const unsigned warps = (threads + warp - 1) / warp;
    const unsigned held_warps = N::max_threads_per_multiprocessor / warp;
    const std::size_t shared = shared_per_block(function, dynamic_shared);
    return std::min({N::max_blocks_per_multiprocessor, held_warps / warps,
                     limit_by_registers(registers_per_thread(function), warps),
                     static_cast<unsigned>(N::shared_per_multiprocessor / shared)});
}

std::size_t available_dynamic_shared(Function& function, unsigned blocks, unsigned threads) {
    if (blocks == 0 || blocks_per_multiprocessor(function, threads, 0) < blocks)
        return 0;
    const std::size_t each = N::shared_per_multiprocessor / blocks / shared_granularity * shared_granularity;
    // An H200 (driver 580) does not subtract the reserved KiB here, though a block takes it.
    const std::size_t fixed = function.kernel().static_shared;
    const std::size_t free = each > fixed ? each - fixed : 0;
    return std::min<std::size_t>(free, function.dynamic_shared_limit());
}

unsigned active_clusters(Function& function, unsigned threads, std::size_t dynamic_shared,
                         unsigned cluster_size) {
    const unsigned blocks = blocks_per_multiprocessor(function, threads, dynamic_shared);
    const unsigned size = std::max(1u, cluster_size);
    unsigned clusters = 0;
    for (const unsigned multiprocessors : processing_groups)
        if (multiprocessors >= size) // A group must have a multiprocessor for each block.
            clusters += multiprocessors * blocks / size;
    return clusters;
}

} // namespace emu::cuda

/// @file clusters.cu
/// The launches that the interactive pictures of chapter 9 show, one for each call of this program:
/// `window` prints addresses, of the others make.py reads what the emulator saw.
///
///     clusters_data window
///     clusters_data multicast MASK ARMED     two masks of blocks, as numbers
///     clusters_data lifetime pull|push ENTRY EXIT     1: with that barrier of the cluster, 0: without
#include "remote_async.cuh"

#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using workbook::DeviceBuffer;

constexpr unsigned blocks = 4; ///< of the one cluster of each launch
constexpr int tile_size = 64;  ///< elements of 4 bytes

// ---- the window of addresses ----

struct Variables {
    unsigned tile[tile_size];
    unsigned sum;
};

/// What one block sees: the addresses of `tile` and `sum` in its own window, and what mapa makes of them for
/// each rank.
struct Seen {
    std::uint32_t own[2];            ///< shared::cta
    std::uint32_t mapped[blocks][2]; ///< shared::cluster
    std::uint32_t rank[blocks];      ///< whose the mapped `tile` is: getctarank
};

__device__ std::uint32_t mapa(std::uint32_t address, unsigned rank) {
    std::uint32_t mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

__global__ void window(Seen* seen) {
    __shared__ Variables here;
    const cg::cluster_group cluster = cg::this_cluster();
    Seen& mine = seen[cluster.block_rank()];
    mine.own[0] = static_cast<std::uint32_t>(__cvta_generic_to_shared(here.tile));
    mine.own[1] = static_cast<std::uint32_t>(__cvta_generic_to_shared(&here.sum));
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
        for (int which = 0; which < 2; ++which)
            mine.mapped[rank][which] = mapa(mine.own[which], rank);
        mine.rank[rank] = cluster.query_shared_rank(cluster.map_shared_rank(here.tile, rank));
    }
}

std::string list(const std::uint32_t* values, std::size_t count) {
    std::string joined;
    for (std::size_t i = 0; i < count; ++i)
        joined += (i == 0 ? "" : ",") + std::to_string(values[i]);
    return "[" + joined + "]";
}

void print_window() {
    DeviceBuffer<Seen> seen(blocks);
    workbook::launch(window, {.grid = blocks, .cluster = dim3(blocks)}, seen.data());
    workbook::check(cudaDeviceSynchronize());
    std::string joined;
    for (const Seen& each : seen.download()) {
        std::string mapped;
        for (const auto& one : each.mapped)
            mapped += (mapped.empty() ? "" : ",") + list(one, 2);
        joined += joined.empty() ? "" : ",";
        joined += "\n{\"own\":" + list(each.own, 2) + ",\"mapped\":[" + mapped +
                  "],\"rank\":" + list(each.rank, blocks) + "}";
    }
    std::cout << "{\"tile_size\":" << tile_size << ",\"blocks\":[" << joined << "]}\n";
}

/// Announces the bytes of a tile, as the phase's one arrival.
__device__ void announce(std::uint64_t* bar) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                   tile_size * sizeof(unsigned));
}

// ---- a multicast ----

/// Block 0 copies one tile to the blocks of `mask`. The blocks of `armed` announce its bytes at their barrier
/// and wait for them; the others do neither. Nobody leaves before the tile is everywhere, if it comes.
__global__ void multicast(const unsigned* in, unsigned* out, std::uint16_t mask, unsigned armed) {
    __shared__ alignas(16) unsigned tile[tile_size];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    const bool waits = (armed >> rank & 1) != 0;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        clusters::publish_barriers();
        if (waits)
            announce(&bar);
    }
    cluster.sync();
    if (cluster.thread_rank() == 0)
        clusters::copy_multicast(tile, in, sizeof(tile), &bar, mask);
    if (waits) {
        clusters::wait_for_cluster(&bar);
        out[rank * tile_size + threadIdx.x] = tile[threadIdx.x];
    }
    cluster.sync();
}

void run_multicast(unsigned mask, unsigned armed) {
    std::vector<unsigned> values(tile_size, 7);
    DeviceBuffer<unsigned> in(values.size()), out(blocks * tile_size);
    in.upload(values);
    workbook::launch(multicast, {.grid = blocks, .block = tile_size, .cluster = dim3(blocks)}, in.data(),
                     out.data(), static_cast<std::uint16_t>(mask), armed);
    workbook::check(cudaDeviceSynchronize());
}

// ---- who may touch whose memory when ----

/// Each block reads its right neighbour's tile.
template <bool entry, bool exit>
__global__ void pull(const unsigned* in, unsigned* out) {
    __shared__ unsigned tile[tile_size];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned i = cluster.thread_rank(), right = (cluster.block_rank() + 1) % blocks;
    tile[threadIdx.x] = in[i];
    if constexpr (entry)
        cluster.sync();
    out[i] = cluster.map_shared_rank(tile, right)[threadIdx.x];
    if constexpr (exit)
        cluster.sync();
}

/// Each thread stores a value into its right neighbour's tile, which counts it, and waits for its own.
template <bool entry, bool exit>
__global__ void push(const unsigned* in, unsigned* out) {
    __shared__ alignas(16) unsigned tile[tile_size];
    __shared__ std::uint64_t bar;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned i = cluster.thread_rank(), right = (cluster.block_rank() + 1) % blocks;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        clusters::publish_barriers();
        announce(&bar);
    }
    if constexpr (entry)
        cluster.sync();
    else
        __syncthreads();
    ptx::st_async(cluster.map_shared_rank(tile, right) + threadIdx.x, in[i],
                  cluster.map_shared_rank(&bar, right));
    clusters::wait_for_cluster(&bar);
    out[i] = tile[threadIdx.x];
    if constexpr (exit)
        cluster.sync();
}

template <class Kernel>
void run_lifetime(Kernel* kernel) {
    std::vector<unsigned> values(blocks * tile_size, 7);
    DeviceBuffer<unsigned> in(values.size()), out(values.size());
    in.upload(values);
    workbook::launch(kernel, {.grid = blocks, .block = tile_size, .cluster = dim3(blocks)}, in.data(),
                     out.data());
    workbook::check(cudaDeviceSynchronize());
}

template <bool entry, bool exit>
void run_lifetime(bool pulls) {
    run_lifetime(pulls ? pull<entry, exit> : push<entry, exit>);
}

void run_lifetime(const std::string& kernel, bool entry, bool exit) {
    const bool pulls = kernel == "pull";
    if (entry && exit)
        run_lifetime<true, true>(pulls);
    else if (entry)
        run_lifetime<true, false>(pulls);
    else if (exit)
        run_lifetime<false, true>(pulls);
    else
        run_lifetime<false, false>(pulls);
}

int run(const std::vector<std::string>& words) {
    if (words.size() == 1 && words[0] == "window")
        print_window();
    else if (words.size() == 3 && words[0] == "multicast")
        run_multicast(std::stoul(words[1]), std::stoul(words[2]));
    else if (words.size() == 4 && words[0] == "lifetime")
        run_lifetime(words[1], words[2] == "1", words[3] == "1");
    else
        throw std::invalid_argument("window, multicast MASK ARMED, or lifetime pull|push ENTRY EXIT");
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    try {
        return run({arguments + 1, arguments + count});
    } catch (const std::exception& error) {
        std::cerr << "clusters: " << error.what() << '\n';
        return 1;
    }
}

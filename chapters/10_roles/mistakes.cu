/// @file mistakes.cu
/// Chapter 10, wrong on purpose: roles that wait for what nobody will do, stages that are given back too
/// early or to too few, registers that a warpgroup does not move together, a kernel that does not wait for
/// the one before.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"
#include "workbook/ring.cuh"
#include "workbook/warpgroups.cuh"

#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

namespace cg = cooperative_groups;
using namespace cuda::ptx;
using workbook::RingState;

constexpr int stages = 2;
constexpr int steps = 6; ///< tiles of a block
constexpr int tile_words = 128;
constexpr int consumers = tile_words; ///< and after them a warp that asks for tiles
constexpr int consumer_warps = consumers / 32;
constexpr int block_threads = consumers + 32;
__device__ constexpr std::uint32_t bytes() { return tile_words * sizeof(int); }

/// Shared memory of all kernels.
struct Ring : workbook::RingBarriers<stages> {
    alignas(128) int tiles[stages][tile_words];
};

/// One thread: waits until a stage is empty, and announces the bytes of its next tile. Returns its barrier.
__device__ std::uint64_t* prepare(Ring& ring, RingState<stages> to) {
    workbook::wait_parity(&ring.empty[to.index], to.phase);
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &ring.full[to.index], bytes());
    return &ring.full[to.index];
}

/// One thread: asks for the tiles of this block.
__device__ void produce(Ring& ring, const int* in, RingState<stages> to) {
    for (int step = 0; step < steps; ++step, to.advance()) {
        std::uint64_t* full = prepare(ring, to);
        const int* tile = in + (blockIdx.x * steps + step) * tile_words;
        cp_async_bulk(space_shared, space_global, ring.tiles[to.index], tile, bytes(), full);
    }
}

/// The consumers meet for each tile, but at the barrier of the whole block: the producer never comes.
__global__ void barrier_inside_a_role(const int* in, int* out) {
    __shared__ Ring ring;
    __shared__ int greatest;
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    if (workbook::warp_index() == consumer_warps) {
        if (workbook::elect_one())
            produce(ring, in, workbook::producer_start<stages>());
        return;
    }
    RingState<stages> from;
    for (int step = 0; step < steps; ++step, from.advance()) {
        workbook::wait_parity(&ring.full[from.index], from.phase);
        const int word = ring.tiles[from.index][threadIdx.x];
        if (threadIdx.x == 0)
            greatest = word;
        __syncthreads(); // expect: deadlock
        atomicMax(&greatest, word);
        workbook::arrive_as_warp(&ring.empty[from.index]);
        __syncthreads(); // both should be named_sync(1, consumers)
        if (threadIdx.x == 0)
            out[blockIdx.x * steps + step] = greatest;
    }
}

/// A warp gives the stage back and reads it once more: by then the next tile may be in it.
__global__ void released_too_early(const int* in, int* out) {
    __shared__ Ring ring;
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    if (workbook::warp_index() == consumer_warps) {
        if (!workbook::elect_one())
            return;
        auto to = workbook::producer_start<stages>();
        for (int step = 0; step < steps; ++step, to.advance()) {
            std::uint64_t* full = prepare(ring, to);
            const int* tile = in + (blockIdx.x * steps + step) * tile_words;
            int* stage = ring.tiles[to.index];
            cp_async_bulk(space_shared, space_global, stage, tile, bytes(), full); // expect: race-shared
        }
        return;
    }
    RingState<stages> from;
    int sum = 0;
    for (int step = 0; step < steps; ++step, from.advance()) {
        workbook::wait_parity(&ring.full[from.index], from.phase);
        const int* tile = ring.tiles[from.index];
        sum += tile[threadIdx.x];
        workbook::arrive_as_warp(&ring.empty[from.index]); // should come after the next line
        sum -= tile[threadIdx.x ^ 1];                      // expect: race-shared
    }
    out[blockIdx.x * consumers + threadIdx.x] = sum;
}

/// One lane of each warp arrives, but the barrier counts all lanes: no stage is ever empty again.
__global__ void lanes_counted(const int* in, int* out) {
    __shared__ Ring ring;
    if (threadIdx.x == 0)
        ring.initialise(1, consumers); // should be consumer_warps
    __syncthreads();
    if (workbook::warp_index() == consumer_warps) {
        if (workbook::elect_one())
            produce(ring, in, workbook::producer_start<stages>());
        return;
    }
    RingState<stages> from;
    int sum = 0;
    for (int step = 0; step < steps; ++step, from.advance()) {
        while (!mbarrier_try_wait_parity(&ring.full[from.index], from.phase)) { // expect: deadlock
        }
        sum += ring.tiles[from.index][threadIdx.x];
        workbook::arrive_as_warp(&ring.empty[from.index]);
    }
    out[blockIdx.x * consumers + threadIdx.x] = sum;
}

/// The producer begins with the phase of those who wait for full stages: it waits until stages are given back
/// that nobody has had.
__global__ void first_wait_for_ever(const int* in, int* out) {
    __shared__ Ring ring;
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    if (workbook::warp_index() == consumer_warps) {
        if (workbook::elect_one())
            produce(ring, in, RingState<stages>{}); // should be producer_start<stages>()
        return;
    }
    RingState<stages> from;
    int sum = 0;
    for (int step = 0; step < steps; ++step, from.advance()) {
        while (!mbarrier_try_wait_parity(&ring.full[from.index], from.phase)) { // expect: deadlock
        }
        sum += ring.tiles[from.index][threadIdx.x];
        workbook::arrive_as_warp(&ring.empty[from.index]);
    }
    out[blockIdx.x * consumers + threadIdx.x] = sum;
}

constexpr int cluster_blocks = 2;

/// One thread: a copy that lands in both blocks.
__device__ void to_both_blocks(int* at, const int* from, std::uint64_t* full) {
    cp_async_bulk(space_cluster, space_global, at, from, bytes(), full, std::uint16_t{0b11});
}

/// The first block of a cluster brings every tile to both, and hears only from its own consumers that a stage
/// is empty.
__global__ void neighbours_forgotten(const int* in, int* out) {
    __shared__ Ring ring;
    const unsigned rank = cg::this_cluster().block_rank();
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps); // should be 2 * consumer_warps: those of both blocks
    cg::this_cluster().sync();
    if (workbook::warp_index() < consumer_warps) {
        RingState<stages> from;
        int sum = 0;
        for (int step = 0; step < steps; ++step, from.advance()) {
            workbook::wait_parity(&ring.full[from.index], from.phase);
            sum += ring.tiles[from.index][threadIdx.x];
            workbook::arrive_as_warp(&ring.empty[from.index]); // should arrive in both blocks
        }
        out[blockIdx.x * consumers + threadIdx.x] = sum;
    } else if (workbook::elect_one()) {
        auto to = workbook::producer_start<stages>();
        for (int step = 0; step < steps; ++step, to.advance()) {
            std::uint64_t* full = prepare(ring, to);
            int* at = ring.tiles[to.index];
            in += step > 0 ? tile_words : 0;
            if (rank > 0)
                continue;                 // what is meant for it comes from block 0
            to_both_blocks(at, in, full); // expect: overwrite-in-flight
        }
    }
    cg::this_cluster().sync();
}

constexpr int group_threads = workbook::warpgroup_threads;

/// Only the warp that asks for tiles gives registers back; the three warps beside it do not.
__launch_bounds__(2 * group_threads, 1) __global__ void one_warp_gives_registers(const int* in, int* out) {
    __shared__ Ring ring;
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    if (workbook::warp_index() < consumer_warps) {
        RingState<stages> from;
        int sum = 0;
        for (int step = 0; step < steps; ++step, from.advance()) {
            workbook::wait_parity(&ring.full[from.index], from.phase);
            sum += ring.tiles[from.index][threadIdx.x];
            workbook::arrive_as_warp(&ring.empty[from.index]);
        }
        out[blockIdx.x * consumers + threadIdx.x] = sum;
    } else if (workbook::warp_index() == consumer_warps) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); // expect: divergent-setmaxnreg
        if (workbook::elect_one())
            produce(ring, in, workbook::producer_start<stages>());
    }
}

/// What the next kernel uses: lets that one begin at once.
__global__ void squares_of(const int* in, int* out) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = in[i] * in[i];
}

/// Launched so that it may begin early, and does not wait for what it reads.
__global__ void reads_without_waiting(const int* squares, int* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    out[i] = squares[i] + 1; // expect: race-kernels
}

/// Numbers for `blocks` blocks, and room for what they find.
struct Numbers {
    explicit Numbers(int blocks) : in(numbered(blocks)), out(in.size()) {}
    static std::vector<int> numbered(int blocks) {
        std::vector<int> numbers(static_cast<std::size_t>(blocks) * steps * tile_words);
        std::iota(numbers.begin(), numbers.end(), 1);
        return numbers;
    }
    workbook::DeviceBuffer<int> in;
    workbook::DeviceBuffer<int> out;
};

template <auto kernel, unsigned threads = block_threads, unsigned cluster = 1>
void run() {
    Numbers numbers(cluster_blocks);
    workbook::launch(kernel, {.grid = cluster_blocks, .block = threads, .cluster = cluster},
                     numbers.in.data(), numbers.out.data());
    workbook::synchronize();
}

void run_dependents() {
    constexpr unsigned threads = 128;
    Numbers numbers(cluster_blocks);
    workbook::DeviceBuffer<int> squares(std::vector<int>(numbers.in.size()));
    const auto blocks = static_cast<unsigned>(numbers.in.size() / threads);
    workbook::launch(squares_of, {.grid = blocks, .block = threads}, numbers.in.data(), squares.data());
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.attrs = &early;
    config.numAttrs = 1;
    workbook::check(cudaLaunchKernelEx(&config, reads_without_waiting,
                                       static_cast<const int*>(squares.data()), numbers.out.data()),
                    "kernel launch");
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"barrier_inside_a_role", "a barrier of the block where only consumers come", run<barrier_inside_a_role>},
    {"released_too_early", "a stage is given back before it was read for the last time",
     run<released_too_early>},
    {"lanes_counted", "the empty barrier counts lanes, and warps arrive", run<lanes_counted>},
    {"first_wait_for_ever", "the first wait for an empty stage has the other parity",
     run<first_wait_for_ever>},
    {"neighbours_forgotten", "consumers release a shared stage in their own block only",
     run<neighbours_forgotten, block_threads, cluster_blocks>},
    {"one_warp_gives_registers", "setmaxnreg by one warp of four",
     run<one_warp_gives_registers, 2 * group_threads>},
    {"reads_without_waiting", "a kernel that begins early reads what is not there yet", run_dependents},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }

// Warpgroups that do not execute wgmma together.
#include "faults.hpp"

namespace faults {
namespace {

/// The smallest product, of what `tile` describes; nobody looks at D.
__device__ void multiply(std::uint64_t tile) {
    float d[4]{};
    asm volatile(
        "wgmma.fence.sync.aligned;\n\t"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;\n\t"
        "wgmma.commit_group.sync.aligned;\n\t"
        "wgmma.wait_group.sync.aligned 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(tile));
}

/// One of twice as many columns.
__device__ void multiply_more(std::uint64_t tile) {
    float d[8]{};
    asm volatile("wgmma.fence.sync.aligned;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, "
                 "%8, 1, 1, 1, 0, 0;\n\t"
                 "wgmma.commit_group.sync.aligned;\n\t"
                 "wgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                   "+f"(d[7])
                 : "l"(tile));
}

/// Of whatever lies `offset` bytes behind the start of the block's shared memory: rows of the core matrices
/// follow one another, and so do the matrices.
__device__ std::uint64_t tile(unsigned offset = 0) {
    extern __shared__ __align__(128) char bytes[];
    return (__cvta_generic_to_shared(bytes) + offset) >> 4 | std::uint64_t{8} << 16 | std::uint64_t{16} << 32;
}

} // namespace

void add_wgmma(Cases& c) {
    c.add("wgmma_of_three_warps", "a wgmma in a block of 96 threads", "divergent-wgmma",
          [] __device__(const Arguments&) { multiply(tile()); }, {.threads = 96, .shared = 4096});
    c.add("wgmma_without_a_warp", "a wgmma that one warp of four leaves out", "divergent-wgmma",
          [] __device__(const Arguments& a) {
              if (threadIdx.x / 32 != 2 * a.one)
                  multiply(tile());
          },
          {.threads = 128, .shared = 4096});
    c.add("wgmma_of_two_shapes", "two warps execute another wgmma than the other two", "divergent-wgmma",
          [] __device__(const Arguments& a) {
              if (threadIdx.x / 64 == a.one)
                  multiply(tile());
              else
                  multiply_more(tile());
          },
          {.threads = 128, .shared = 4096});
    c.add("wgmma_behind_shared", "a wgmma of a tile behind the block's shared memory", "out-of-bounds",
          [] __device__(const Arguments& a) { multiply(tile(4096 * a.one)); },
          {.threads = 128, .shared = 4096});
}

} // namespace faults

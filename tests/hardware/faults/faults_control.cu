// Traps, assertions, calls, stacks and launches.
#include "faults_ptx.cuh"

#include <cassert>
#include <cooperative_groups.h>

namespace faults {
namespace {

__device__ __noinline__ int deep(int n, volatile int* p) {
    volatile int x[64];
    x[n & 63] = *p;
    return n == -1 ? 0 : deep(n + 1, p) + x[(n + 1) & 63];
}

using Function = int (*)(int);
__device__ int add_one(int x) { return x + 1; }

__device__ int call_at(std::uint64_t address) { return reinterpret_cast<Function>(address)(1); }

} // namespace

void add_control(Cases& c) {
    c.add("trap", "executes trap", "trap", [] __device__(const Arguments& a) {
        if (a.one)
            __trap();
    });
    c.add("brkpt", "executes brkpt, and no debugger is there", "trap", [] __device__(const Arguments& a) {
        if (a.one)
            asm volatile("brkpt;");
    });
    c.add("assert", "a failed assert()", "assert", [] __device__(const Arguments& a) { assert(a.one == 2); });
    c.add("grid_sync_not_cooperative", "grid.sync() in a launch that is not cooperative", "trap",
          [] __device__(const Arguments&) { cooperative_groups::this_grid().sync(); });
    c.add("recursion", "recursion without an end", "stack-overflow", [] __device__(const Arguments& a) {
        keep(a, deep(static_cast<int>(a.zero), reinterpret_cast<volatile int*>(a.memory)));
    });
    c.add("alloca_large", "alloca of 1 GiB", "stack-overflow", [] __device__(const Arguments& a) {
        auto* p = static_cast<volatile char*>(__builtin_alloca(a.large));
        p[a.large - 1] = 1;
        p[0] = 2;
        keep(a, p[a.one]);
    });
    c.add("call_null", "calls through a null pointer", "out-of-bounds", [] __device__(const Arguments& a) {
        volatile Function f = add_one;
        keep(a, a.one ? call_at(a.zero) : f(3));
    });
    c.add("call_data", "calls through a pointer to global memory", "out-of-bounds",
          [] __device__(const Arguments& a) {
              volatile Function f = add_one;
              keep(a, a.one ? call_at(reinterpret_cast<std::uint64_t>(a.memory)) : f(3));
          });
    c.add("branch_index", "brx.idx with an index of 1000 for two targets", "out-of-bounds",
          [] __device__(const Arguments& a) {
              int x;
              asm volatile(
                  "{\n\tts: .branchtargets la, lb;\n\tbrx.idx %1, ts;\n\tla: mov.u32 %0, 1;\n\tbra le;\n\t"
                  "lb: mov.u32 %0, 2;\n\tle:\n\t}"
                  : "=r"(x)
                  : "r"(a.one * 1000));
              keep(a, x);
          });
    c.add("shuffle_foreign_mask", "shfl.sync with a mask that does not name the thread", "divergent-barrier",
          [] __device__(const Arguments& a) {
              keep(a, threadIdx.x < 16 ? __shfl_sync(0xffff0000u * a.one, threadIdx.x, 0) : 0);
          });
    c.add("vote_foreign_mask", "vote.sync with a mask that does not name the thread", "divergent-barrier",
          [] __device__(const Arguments& a) {
              keep(a, threadIdx.x < 16 ? __ballot_sync(0xffff0000u * a.one, threadIdx.x) : 0);
          });
    c.add("syncwarp_foreign_mask", "bar.warp.sync with a mask that does not name the thread",
          "divergent-barrier", [] __device__(const Arguments& a) {
              if (threadIdx.x < 16)
                  __syncwarp(0xffff0000u * a.one);
          });
    c.add(
        "launch_threads", "launch with 2048 threads in a block", "", [] __device__(const Arguments&) {},
        Shape{.threads = 2048});
    c.add(
        "launch_empty_grid", "launch with no blocks", "", [] __device__(const Arguments&) {},
        Shape{.blocks = 0});
    c.add(
        "launch_too_much_shared_memory", "launch with 256 KiB of dynamic shared memory", "",
        [] __device__(const Arguments&) {}, Shape{.shared = 256 * 1024});
    c.add(
        "launch_cluster_indivisible", "launch of 3 blocks in clusters of 2", "",
        [] __device__(const Arguments&) {}, Shape{.blocks = 3, .cluster = 2});
    c.add(
        "launch_cluster_too_large", "launch of a cluster of 32", "", [] __device__(const Arguments&) {},
        Shape{.blocks = 32, .cluster = 32});
    c.add(
        "launch_cooperative_too_large", "cooperative launch of a million blocks", "",
        [] __device__(const Arguments&) {}, Shape{.blocks = 1000000, .cooperative = true});
}

} // namespace faults

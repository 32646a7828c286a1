// Block barriers and cluster barriers.
#include "faults_ptx.cuh"

namespace faults {
namespace {

__device__ void barrier(std::uint32_t id, std::uint32_t threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ void barrier_arrive(std::uint32_t id, std::uint32_t threads) {
    asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

} // namespace

void add_barriers(Cases& c) {
    c.add("barrier_id_16", "barrier.sync with the number 16", "invalid-size",
          [] __device__(const Arguments& a) { barrier(16 * a.one, 32); });
    c.add("barrier_id_16_whole_block", "barrier.sync with the number 16 and no count", "invalid-size",
          [] __device__(const Arguments& a) {
              asm volatile("barrier.sync %0;" ::"r"(16 * a.one) : "memory");
          });
    c.add("barrier_id_100", "barrier.sync with the number 100", "invalid-size",
          [] __device__(const Arguments& a) { barrier(100 * a.one, 32); });
    c.add("barrier_count_0", "barrier.sync with a count of 0", "invalid-size",
          [] __device__(const Arguments& a) { barrier(1, a.zero); });
    c.add(
        "barrier_count_33", "barrier.sync with a count of 33", "invalid-size",
        [] __device__(const Arguments& a) { barrier(1, 33 * a.one); }, Shape{.threads = 64});
    c.add("barrier_count_16", "barrier.sync with a count of 16", "invalid-size",
          [] __device__(const Arguments& a) { barrier(1, 16 * a.one); });
    c.add("barrier_count_1056", "barrier.sync with a count of 1056", "deadlock",
          [] __device__(const Arguments& a) { barrier(1, 1056 * a.one); });
    c.add("barrier_count_4096", "barrier.sync with a count of 4096", "deadlock",
          [] __device__(const Arguments& a) { barrier(1, 4096 * a.one); });
    c.add("barrier_arrive_0", "barrier.arrive with a count of 0", "invalid-size",
          [] __device__(const Arguments& a) { barrier_arrive(1, a.zero); });
    c.add(
        "barrier_two_counts", "barrier.sync with counts of 64 and 96 at the same barrier",
        "arrival-count-mismatch",
        [] __device__(const Arguments& a) { barrier(1, threadIdx.x < 32 ? 64 * a.one : 96 * a.one); },
        Shape{.threads = 64});
    c.add(
        "barrier_arrive_too_many", "three warps arrive at a barrier for two, and the fourth waits",
        "barrier-overlap",
        [] __device__(const Arguments& a) {
            if (threadIdx.x < 96)
                barrier_arrive(1, 64 * a.one);
            else
                barrier(1, 64 * a.one);
        },
        Shape{.threads = 128});
    c.add(
        "barrier_divergent", "half of a warp at bar.sync, the other half at another bar.sync",
        "divergent-barrier",
        [] __device__(const Arguments& a) {
            if (threadIdx.x < 16 * a.one)
                asm volatile("bar.sync 0;\n\tst.volatile.global.u32 [%0], 1;" ::"l"(a.memory) : "memory");
            else
                asm volatile("bar.sync 0;\n\tst.volatile.global.u32 [%0], 2;" ::"l"(a.memory) : "memory");
        },
        Shape{.threads = 64});
    c.add(
        "barrier_missing_half", "half of a warp at bar.sync, the other half at the end", "",
        [] __device__(const Arguments& a) {
            if (threadIdx.x < 16 * a.one)
                asm volatile("bar.sync 0;\n\tst.volatile.global.u32 [%0], 1;" ::"l"(a.memory) : "memory");
        },
        Shape{.threads = 64});
    c.add(
        "cluster_wait_without_arrive", "barrier.cluster.wait without an arrival", "deadlock",
        [] __device__(const Arguments&) {
            asm volatile("barrier.cluster.wait;" ::: "memory");
        },
        Shape{.blocks = 2, .cluster = 2});
    c.add(
        "cluster_arrive_twice", "barrier.cluster.arrive twice without a wait", "",
        [] __device__(const Arguments&) {
            asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::
                             : "memory");
        },
        Shape{.blocks = 2, .cluster = 2});
    c.add(
        "cluster_one_block_absent",
        "one block of the cluster ends without the barrier at which the other waits", "",
        [] __device__(const Arguments&) {
            if (cluster_rank() == 0)
                cluster_sync();
        },
        Shape{.blocks = 2, .cluster = 2});
}

} // namespace faults

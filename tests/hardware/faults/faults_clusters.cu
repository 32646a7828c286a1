// Shared memory of other blocks, and copies to several of them.
#include "faults_ptx.cuh"

namespace faults {
namespace {

constexpr Shape two_blocks{.blocks = 2, .cluster = 2};
constexpr unsigned tile_bytes = 1024;

/// The first thread of each block of a cluster, with a tile and an mbarrier of count 1 that all blocks know
/// of.
template <class Body>
struct InCluster {
    Body body;
    bool meet_at_end;
    __device__ void operator()(const Arguments& a) const {
        __shared__ alignas(128) char tile[tile_bytes];
        __shared__ alignas(16) std::uint64_t barriers[2];
        const std::uint32_t barrier = shared_address(&barriers[a.zero]);
        if (threadIdx.x == 0) {
            for (unsigned i = 0; i < tile_bytes / 4; ++i)
                reinterpret_cast<volatile int*>(tile)[i] = 0;
            init(barrier, 1);
            fence_init();
        }
        __syncwarp();
        cluster_sync();
        if (threadIdx.x == 0)
            body(a, shared_address(tile + a.zero), barrier);
        __syncwarp();
        if (meet_at_end)
            cluster_sync();
    }
};

class Adder {
  public:
    explicit Adder(Cases& cases) : cases_(cases) {}
    template <class Body>
    void operator()(const char* name, const char* what, const char* finding, Body body,
                    bool meet_at_end = true, Shape shape = two_blocks) {
        cases_.add(name, what, finding, InCluster<Body>{body, meet_at_end}, shape);
    }

  private:
    Cases& cases_;
};

__device__ void linger() {
    for (int i = 0; i < 4; ++i)
        __nanosleep(1000000);
}

__device__ void store_async(std::uint32_t to, std::uint32_t value, std::uint32_t barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %2, [%1];" ::"r"(to),
                 "r"(barrier), "r"(value)
                 : "memory");
}

__device__ void multicast(std::uint32_t to, const void* from, std::uint32_t barrier, unsigned mask) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], 64, [%2], %3;" ::"r"(to),
                 "l"(from), "r"(barrier), "h"(static_cast<std::uint16_t>(mask))
                 : "memory");
}

__device__ int load_remote(std::uint32_t address) {
    int x;
    asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(address));
    return x;
}

void add_ranks(Adder& add) {
    add("mapa_rank", "mapa to rank 5 in a cluster of 2, and nothing else", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            keep(a, at_rank(tile, 5 * a.one));
        });
    add("mapa_rank_used", "mapa to rank 5 in a cluster of 2, and a load there", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            keep(a, load_remote(at_rank(tile, 5 * a.one)));
        });
    add("mapa_generic_global", "generic mapa of a global address", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t) {
            std::uint64_t mapped;
            asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(a.memory), "r"(a.one));
            keep(a, static_cast<std::uint32_t>(mapped >> 32));
        });
    add("cluster_load_rank", "ld.shared::cluster of rank 5 in a cluster of 2", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            keep(a, load_remote((tile & 0xffffff) | (5 * a.one << 24)));
        });
    add("cluster_load_rank_200", "ld.shared::cluster of rank 200", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            keep(a, load_remote((tile & 0xffffff) | (200 * a.one << 24)));
        });
    add("cluster_store_rank", "st.shared::cluster of rank 5 in a cluster of 2", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            asm volatile("st.shared::cluster.u32 [%0], 1;" ::"r"((tile & 0xffffff) | (5 * a.one << 24))
                         : "memory");
        });
    add("cluster_load_outside", "ld.shared::cluster 64 KiB past the other block's shared memory",
        "out-of-bounds", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            keep(a, load_remote(at_rank(tile, cluster_rank() ^ a.one) + (1 << 16)));
        });
    add("cluster_load_misaligned", "ld.shared::cluster at an odd address of the other block", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            keep(a, load_remote(at_rank(tile, cluster_rank() ^ a.one) + a.one));
        });
    add("cluster_arrive_rank", "a remote arrival at rank 5 in a cluster of 2", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t barrier) {
            arrive_remote((barrier & 0xffffff) | (5 * a.one << 24));
        });
    add("cta_wait_remote", "mbarrier.try_wait.shared::cta at the other block's mbarrier", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t barrier) {
            keep(a, try_wait(at_rank(barrier, cluster_rank() ^ a.one), 0));
        });
    add("cta_arrive_remote", "mbarrier.arrive.shared::cta with a state at the other block's mbarrier",
        "rank-out-of-range", [] __device__(const Arguments& a, std::uint32_t, std::uint32_t barrier) {
            arrive(at_rank(barrier, cluster_rank() ^ a.one));
        });
    add("cta_load_remote", "ld.shared::cta of the other block's address", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            int x;
            asm volatile("ld.volatile.shared::cta.u32 %0, [%1];"
                         : "=r"(x)
                         : "r"(at_rank(tile, cluster_rank() ^ a.one)));
            keep(a, x);
        });
}

void add_copies_between_blocks(Adder& add) {
    add("st_async_rank", "st.async to rank 5 in a cluster of 2", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            const std::uint32_t rank = 5 * a.one << 24;
            store_async((tile & 0xffffff) | rank, 1, (barrier & 0xffffff) | rank);
        });
    add("st_async_two_blocks", "st.async to the other block, with its own block's mbarrier",
        "rank-out-of-range", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            expect_tx(barrier, 4);
            store_async(at_rank(tile, cluster_rank() ^ a.one), 1, barrier);
            linger();
        });
    add("st_async_misaligned", "st.async of 4 bytes to an odd address", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            const std::uint32_t other = cluster_rank() ^ a.one;
            store_async(at_rank(tile, other) + 1, 1, at_rank(barrier, other));
            linger();
        });
    add("st_async_barrier_misaligned", "st.async with an mbarrier at a multiple of 4", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            const std::uint32_t other = cluster_rank() ^ a.one;
            store_async(at_rank(tile, other), 1, at_rank(barrier, other) + 4);
            linger();
        });
    add("st_async_barrier_uninitialised", "st.async with an mbarrier of eight zero bytes",
        "barrier-uninitialised", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            const std::uint32_t other = cluster_rank() ^ a.one;
            store_async(at_rank(tile, other), 1, at_rank(tile, other) + 512);
            linger();
        });
    add("st_async_outside", "st.async 64 KiB past the other block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            const std::uint32_t other = cluster_rank() ^ a.one;
            store_async(at_rank(tile, other) + (1 << 16), 1, at_rank(barrier, other));
            linger();
        });
    add("bulk_load_rank", "bulk load to rank 5 in a cluster of 2", "rank-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            const std::uint32_t rank = 5 * a.one << 24;
            bulk_load((tile & 0xffffff) | rank, a.memory, 64, (barrier & 0xffffff) | rank);
            linger();
        });
    add("multicast_mask", "multicast with the mask 6 in a cluster of 2", "multicast-mask-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            if (cluster_rank() == 0)
                multicast(tile, a.memory, barrier, 6 * a.one);
            linger();
        });
    add("multicast_mask_0", "multicast with the mask 0", "",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            if (cluster_rank() == 0)
                multicast(tile, a.memory, barrier, a.zero);
            linger();
        });
    add("multicast_tensor_mask", "tensor multicast with the mask 6 in a cluster of 2",
        "multicast-mask-out-of-range",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            if (cluster_rank() == 0)
                asm volatile(
                    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                    ".multicast::cluster [%0], [%1, {%2, %2}], [%3], %4;" ::"r"(tile),
                    "l"(&a.map), "r"(a.zero), "r"(barrier), "h"(static_cast<std::uint16_t>(6 * a.one))
                    : "memory");
            linger();
        });
}

void add_exits(Adder& add) {
    add(
        "exited_load", "ld.shared::cluster of a block that has ended", "remote-block-exited",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            if (cluster_rank() == 0) {
                linger();
                keep(a, load_remote(at_rank(tile, a.one)));
            }
        },
        false);
    add(
        "exited_store", "st.shared::cluster of a block that has ended", "remote-block-exited",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            if (cluster_rank() == 0) {
                linger();
                asm volatile("st.shared::cluster.u32 [%0], 1;" ::"r"(at_rank(tile, a.one)) : "memory");
            }
        },
        false);
    add(
        "exited_atomic", "atom.shared::cluster at a block that has ended", "remote-block-exited",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            if (cluster_rank() == 0) {
                linger();
                int x;
                asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;"
                             : "=r"(x)
                             : "r"(at_rank(tile, a.one))
                             : "memory");
                keep(a, x);
            }
        },
        false);
    add(
        "exited_arrive", "a remote arrival at a block that has ended", "remote-block-exited",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t barrier) {
            if (cluster_rank() == 0) {
                linger();
                arrive_remote(at_rank(barrier, a.one));
            }
        },
        false);
    add(
        "exited_st_async", "st.async to a block that has ended", "remote-block-exited",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            if (cluster_rank() == 0) {
                linger();
                store_async(at_rank(tile, a.one), 1, at_rank(barrier, a.one));
                linger();
            }
        },
        false);
    add(
        "exited_bulk_load", "bulk load to a block that has ended", "remote-block-exited",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            if (cluster_rank() == 0) {
                linger();
                bulk_load(at_rank(tile, a.one), a.memory, 64, at_rank(barrier, a.one));
                linger();
            }
        },
        false);
    add(
        "exited_multicast", "multicast to a block that has ended", "remote-block-exited",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            if (cluster_rank() == 0) {
                linger();
                multicast(tile, a.memory, barrier, 3 * a.one);
                linger();
            }
        },
        false);
}

} // namespace

void add_clusters(Cases& cases) {
    Adder add(cases);
    add_ranks(add);
    add_copies_between_blocks(add);
    add_exits(add);
}

} // namespace faults

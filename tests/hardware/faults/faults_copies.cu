// cp.async and bulk copies inside a block.
#include "faults_ptx.cuh"

namespace faults {
namespace {

constexpr unsigned tile_bytes = 1024;

/// One thread with a tile and an mbarrier (count 1), both initialised and fenced.
template <class Body>
struct WithTile {
    Body body;
    __device__ void operator()(const Arguments& a) const {
        __shared__ alignas(128) char tile[tile_bytes];
        __shared__ alignas(16) std::uint64_t barriers[2];
        if (threadIdx.x == 0) {
            const std::uint32_t barrier = shared_address(&barriers[a.zero]);
            for (unsigned i = 0; i < tile_bytes / 4; ++i)
                reinterpret_cast<volatile int*>(tile)[i] = 0;
            init(barrier, 1);
            fence_init();
            body(a, shared_address(tile + a.zero), barrier);
        }
    }
};

class Adder {
  public:
    explicit Adder(Cases& cases) : cases_(cases) {}
    template <class Body>
    void operator()(const char* name, const char* what, const char* finding, Body body, Shape shape = {}) {
        cases_.add(name, what, finding, WithTile<Body>{body}, shape);
    }

  private:
    Cases& cases_;
};

__device__ void cp_async(std::uint32_t to, const char* from, std::uint32_t bytes = 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n\tcp.async.wait_all;" ::"r"(to), "l"(from),
                 "r"(bytes)
                 : "memory");
}

__device__ const char* nowhere(const Arguments& a) { return a.memory + (std::uint64_t{a.large} << 6); }

/// A load of `bytes` that is expected and waited for.
__device__ void load(std::uint32_t to, const void* from, std::uint32_t bytes, std::uint32_t barrier) {
    arrive_expect_tx(barrier, bytes);
    bulk_load(to, from, bytes, barrier);
    wait(barrier, 0);
}

void add_cp_async(Adder& add) {
    add("cp_async_source_misaligned", "cp.async of 16 bytes from a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            cp_async(tile, a.memory + 8 * a.one);
        });
    add("cp_async_destination_misaligned", "cp.async of 16 bytes to a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            cp_async(tile + 8 * a.one, a.memory);
        });
    add("cp_async_size", "cp.async with a src-size of 32 for a cp-size of 16", "invalid-size",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            cp_async(tile, a.memory, 32 * a.one);
        });
    add("cp_async_nowhere", "cp.async from where no memory is", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) { cp_async(tile, nowhere(a)); });
    add("cp_async_outside", "cp.async to 64 KiB past the block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            cp_async(tile + (a.one << 16), a.memory);
        });
    add("cp_async_from_shared", "cp.async from a generic address of shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            cp_async(tile, static_cast<const char*>(__cvta_shared_to_generic(tile + 64 * a.one)));
        });
}

void add_loads(Adder& add) {
    add("bulk_load_size", "bulk load of 24 bytes", "invalid-size",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, a.memory, 24 * a.one, barrier);
        });
    add("bulk_load_source_misaligned", "bulk load from a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, a.memory + 8 * a.one, 64, barrier);
        });
    add("bulk_load_destination_misaligned", "bulk load to a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile + 8 * a.one, a.memory, 64, barrier);
        });
    add("bulk_load_barrier_misaligned", "bulk load with an mbarrier at a multiple of 4", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            bulk_load(tile, a.memory, 64, barrier + 4 * a.one);
            wait(barrier, 0);
        });
    add("bulk_load_barrier_uninitialised", "bulk load with an mbarrier of eight zero bytes",
        "barrier-uninitialised",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            bulk_load(tile, a.memory, 64 * a.one, tile + 512);
            wait(barrier, 0);
        });
    add("bulk_load_barrier_outside", "bulk load with an mbarrier 64 KiB past the block's shared memory",
        "out-of-bounds", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            bulk_load(tile, a.memory, 64, barrier + (a.one << 16));
            wait(barrier, 0);
        });
    add("bulk_load_null", "bulk load from a null pointer", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, reinterpret_cast<const void*>(std::uint64_t{a.zero}), 64, barrier);
        });
    add("bulk_load_nowhere", "bulk load from where no memory is", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, nowhere(a), 64, barrier);
        });
    add("bulk_load_outside", "bulk load to 64 KiB past the block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile + (a.one << 16), a.memory, 64, barrier);
        });
    add("bulk_load_too_long", "bulk load of 128 KiB into a tile of 1 KiB", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, a.memory, a.one << 17, barrier);
        });
    add("bulk_load_from_shared", "bulk load whose global source is a generic address of shared memory",
        "out-of-bounds", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, __cvta_shared_to_generic(tile + 64 * a.one), 64, barrier);
        });
    add("bulk_load_from_constant_bank", "bulk load whose source is a generic address of a kernel parameter",
        "", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, &a, 64, barrier);
        });
    add("bulk_load_tx_overflow", "bulk load that takes the tx-count below -(2^20 - 1)", "tx-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                         "r"((a.one << 20) - 1)
                         : "memory");
            bulk_load(tile, a.memory, 64 * a.one, barrier);
            wait(barrier, 0);
        });
    add("bulk_load_unexpected", "bulk load of 64 bytes into a phase that expects 32", "tx-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            arrive_expect_tx(barrier, 32 * a.one);
            bulk_load(tile, a.memory, 64, barrier);
            wait(barrier, 0);
        });
    add("bulk_prefetch_size", "bulk prefetch of 24 bytes", "invalid-size",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t) {
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(a.memory), "r"(24 * a.one)
                         : "memory");
        });
    add("bulk_prefetch_misaligned", "bulk prefetch at a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t) {
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], 64;" ::"l"(a.memory + 8 * a.one) : "memory");
        });
    add("bulk_prefetch_nowhere", "bulk prefetch where no memory is", "",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t) {
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], 64;" ::"l"(nowhere(a)) : "memory");
        });
    add("exit_with_load", "the block ends while a bulk load into its shared memory runs",
        "exited-with-copies-in-flight",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            arrive_expect_tx(barrier, 1024 * a.one);
            bulk_load(tile, a.memory, 1024, barrier);
        });
}

void add_stores(Adder& add) {
    add("bulk_store_size", "bulk store of 24 bytes", "invalid-size",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            bulk_store(a.memory, tile, 24 * a.one);
            wait_bulk();
        });
    add("bulk_store_source_misaligned", "bulk store from a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            bulk_store(a.memory, tile + 8 * a.one, 64);
            wait_bulk();
        });
    add("bulk_store_destination_misaligned", "bulk store to a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            bulk_store(a.memory + 8 * a.one, tile, 64);
            wait_bulk();
        });
    add("bulk_store_nowhere", "bulk store to where no memory is", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            bulk_store(const_cast<char*>(nowhere(a)), tile, 64);
            wait_bulk();
        });
    add("bulk_store_outside", "bulk store from 64 KiB past the block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            bulk_store(a.memory, tile + (a.one << 16), 64);
            wait_bulk();
        });
    add("bulk_reduce_nowhere", "bulk reduction to where no memory is", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 64;" ::"l"(
                             nowhere(a)),
                         "r"(tile)
                         : "memory");
            wait_bulk();
        });
    add("bulk_reduce_misaligned", "bulk reduction to a multiple of 8", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 64;" ::"l"(
                             a.memory + 8 * a.one),
                         "r"(tile)
                         : "memory");
            wait_bulk();
        });
    add("exit_with_store", "the block ends while a bulk store from its shared memory runs",
        "exited-with-copies-in-flight", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            bulk_store(a.memory, tile, 1024 * a.one);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        });
    add("shared_to_shared_no_cluster", "bulk copy from shared to shared memory in a launch without a cluster",
        "no-cluster-launch", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            arrive_expect_tx(barrier, 64 * a.one);
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], "
                         "64, [%2];" ::"r"(tile + 512),
                         "r"(tile), "r"(barrier)
                         : "memory");
            wait(barrier, 0);
        });
    add("st_async_no_cluster", "st.async in a launch without a cluster", "no-cluster-launch",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            arrive_expect_tx(barrier, 4 * a.one);
            asm volatile(
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %2, [%1];" ::"r"(tile),
                "r"(barrier), "r"(a.one)
                : "memory");
            wait(barrier, 0);
        });
}

} // namespace

void add_copies(Cases& cases) {
    Adder add(cases);
    add_cp_async(add);
    add_loads(add);
    add_stores(add);
}

} // namespace faults

// Tensor copies and tensor maps.
#include "faults_ptx.cuh"

namespace faults {
namespace {

constexpr unsigned tile_bytes = 32 * 8 * 4;

/// One thread with a tile and an mbarrier (count 1), both initialised and fenced.
template <class Body>
struct WithTile {
    Body body;
    __device__ void operator()(const Arguments& a) const {
        __shared__ alignas(1024) char tile[4 * tile_bytes];
        __shared__ alignas(16) std::uint64_t barriers[2];
        if (threadIdx.x == 0) {
            const std::uint32_t barrier = shared_address(&barriers[a.zero]);
            for (unsigned i = 0; i < tile_bytes; ++i)
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
    void operator()(const char* name, const char* what, const char* finding, Body body) {
        cases_.add(name, what, finding, WithTile<Body>{body});
    }
    template <class Change, class Body>
    void with(const char* name, const char* what, const char* finding, Change change, Body body) {
        cases_.add_with(name, what, finding, change, WithTile<Body>{body});
    }

  private:
    Cases& cases_;
};

/// A load that is expected and waited for.
__device__ void load(std::uint32_t to, const CUtensorMap* map, int x, int y, std::uint32_t barrier) {
    arrive_expect_tx(barrier, tile_bytes);
    tensor_load(to, map, x, y, barrier);
    wait(barrier, 0);
}

__device__ const CUtensorMap* moved(const CUtensorMap* map, unsigned bytes) {
    return reinterpret_cast<const CUtensorMap*>(reinterpret_cast<const char*>(map) + bytes);
}

void add_places(Adder& add) {
    add("map_parameter", "tensor load with the map in a kernel parameter: right", "",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, &a.map, 0, 0, barrier);
        });
    add("map_local", "tensor load with the map in local memory", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            alignas(64) volatile char copy[sizeof(CUtensorMap)];
            for (unsigned i = 0; i < sizeof copy; ++i)
                copy[i] = reinterpret_cast<const char*>(&a.map)[i];
            load(tile, reinterpret_cast<const CUtensorMap*>(const_cast<const char*>(&copy[a.zero])), 0, 0,
                 barrier);
            keep(a, copy[a.one]);
        });
    add("map_shared", "tensor load with the map in shared memory", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            auto* copy = static_cast<volatile char*>(__cvta_shared_to_generic(tile + 2 * tile_bytes));
            for (unsigned i = 0; i < sizeof(CUtensorMap); ++i)
                copy[i] = reinterpret_cast<const char*>(&a.map)[i];
            load(tile, reinterpret_cast<const CUtensorMap*>(const_cast<const char*>(copy)), 0, 0, barrier);
        });
    add("map_misaligned", "tensor load with the map's address plus 32", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, moved(a.global_map, 32 * a.one), 0, 0, barrier);
        });
    add("map_parameter_misaligned", "tensor load with the address of the map in a parameter plus 32",
        "tensor-map-invalid", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, moved(&a.map, 32 * a.one), 0, 0, barrier);
        });
    add("map_zeros", "tensor load with a map of zeros in global memory", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, reinterpret_cast<const CUtensorMap*>(a.memory + 4096 * a.one), 0, 0, barrier);
        });
    add("map_null", "tensor load with a null pointer as map", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, reinterpret_cast<const CUtensorMap*>(std::uint64_t{a.zero}), 0, 0, barrier);
        });
    add("map_host", "tensor load with a map in the host's memory", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile,
                 reinterpret_cast<const CUtensorMap*>(reinterpret_cast<std::uint64_t>(a.host) & ~127ull), 0,
                 0, barrier);
        });
    add("map_prefetch_null", "prefetch.tensormap of a null pointer", "",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t) {
            asm volatile("prefetch.tensormap [%0];" ::"l"(std::uint64_t{a.zero}) : "memory");
        });
    add("map_rank", "tensor load of rank 3 with a map of rank 2", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            arrive_expect_tx(barrier, tile_bytes);
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                         "[%0], [%1, {%2, %2, %2}], [%3];" ::"r"(tile),
                         "l"(&a.map), "r"(a.zero), "r"(barrier)
                         : "memory");
            wait(barrier, 0);
        });
    add("map_rank_too_small", "tensor load of rank 1 with a map of rank 2", "tensor-map-invalid",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            arrive_expect_tx(barrier, tile_bytes);
            asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                         "[%0], [%1, {%2}], [%3];" ::"r"(tile),
                         "l"(&a.map), "r"(a.zero), "r"(barrier)
                         : "memory");
            wait(barrier, 0);
        });
    add("map_fence_misaligned", "fence.proxy.tensormap acquire at a multiple of 64", "",
        [] __device__(const Arguments& a, std::uint32_t, std::uint32_t) {
            asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(a.memory + 64 * a.one)
                         : "memory");
        });
}

void add_coordinates(Adder& add) {
    add("tensor_load_coordinate", "tensor load from an innermost coordinate that is no multiple of 16 bytes",
        "misaligned", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, &a.map, static_cast<int>(a.one), 0, barrier);
        });
    add("tensor_store_coordinate", "tensor store to an innermost coordinate that is no multiple of 16 bytes",
        "misaligned", [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            tensor_store(&a.map, static_cast<int>(a.one), 0, tile);
            wait_bulk();
        });
    add("tensor_store_negative_x", "tensor store to the innermost coordinate -4", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            tensor_store(&a.map, -4 * static_cast<int>(a.one), 0, tile);
            wait_bulk();
        });
    add("tensor_store_negative_y", "tensor store to the outer coordinate -1", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            tensor_store(&a.map, 0, -static_cast<int>(a.one), tile);
            wait_bulk();
        });
    add("tensor_reduce_negative_y", "tensor reduction to the outer coordinate -1", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, "
                         "%2}], [%3];" ::"l"(&a.map),
                         "r"(a.zero), "r"(-static_cast<int>(a.one)), "r"(tile)
                         : "memory");
            wait_bulk();
        });
    add("tensor_load_all_outside", "tensor load of a box wholly outside: right, zeros", "",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile, &a.map, 1024, -1024 * static_cast<int>(a.one), barrier);
        });
    add("tensor_store_all_outside", "tensor store of a box wholly outside: right, nothing", "",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            tensor_store(&a.map, 1024, 1024 * static_cast<int>(a.one), tile);
            wait_bulk();
        });
}

void add_tiles(Adder& add) {
    for (const auto& [name, offset] :
         {std::pair{"tensor_load_tile_at_64", 64u}, std::pair{"tensor_load_tile_at_16", 16u},
          std::pair{"tensor_load_tile_at_8", 8u}})
        add.with(
            name, "tensor load to a tile that is not aligned to 128 bytes", "misaligned",
            [offset](Arguments& a) { a.one = offset; },
            [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
                load(tile + a.one, &a.map, 0, 0, barrier);
            });
    add("tensor_store_tile_at_64", "tensor store from a tile that is not aligned to 128 bytes", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            tensor_store(&a.map, 0, 0, tile + 64 * a.one);
            wait_bulk();
        });
    add("tensor_load_swizzled_at_128", "tensor load with a swizzle of 128 bytes to a tile at 128: right", "",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile + 128 * a.one, &a.other, 0, 0, barrier);
        });
    add("tensor_load_outside", "tensor load to 64 KiB past the block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            load(tile + (a.one << 16), &a.map, 0, 0, barrier);
        });
    add("tensor_store_outside", "tensor store from 64 KiB past the block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
            tensor_store(&a.map, 0, 0, tile + (a.one << 16));
            wait_bulk();
        });
    add("tensor_load_barrier_misaligned", "tensor load with an mbarrier at a multiple of 4", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            tensor_load(tile, &a.map, 0, 0, barrier + 4 * a.one);
            wait(barrier, 0);
        });
    add("tensor_load_barrier_uninitialised", "tensor load with an mbarrier of eight zero bytes",
        "barrier-uninitialised",
        [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
            tensor_load(tile, &a.map, 0, 0, tile + 2 * tile_bytes * a.one);
            wait(barrier, 0);
        });
    const auto free_memory = [](Arguments& a) { cudaFree(a.memory); };
    add.with("tensor_load_freed", "tensor load of a tensor whose memory was freed", "out-of-bounds",
             free_memory, [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t barrier) {
                 load(tile, &a.map, 0, 0, barrier);
             });
    add.with("tensor_store_freed", "tensor store to a tensor whose memory was freed", "out-of-bounds",
             free_memory, [] __device__(const Arguments& a, std::uint32_t tile, std::uint32_t) {
                 tensor_store(&a.map, 0, 0, tile);
                 wait_bulk();
             });
}

} // namespace

void add_tensors(Cases& cases) {
    Adder add(cases);
    add_places(add);
    add_coordinates(add);
    add_tiles(add);
}

} // namespace faults

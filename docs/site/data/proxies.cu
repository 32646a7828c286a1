/// @file proxies.cu
/// One variant of a block with a bulk store, for the data of the interactive pictures of chapter 5; some are
/// wrong, and the emulator's report says how. `sees`: a tile is written in chunks and the store reads one of
/// them. `waits`: a tile is stored, waited for in some way, and then something uses it.
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <cuda/ptx>

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace ptx = cuda::ptx;
using workbook::DeviceBuffer;

constexpr int chunks = 8; ///< of 16 bytes; thread k writes chunk k

enum class Fence : int { nobody, thread_0_before, writers_before, thread_0_after }; ///< of the barrier
enum class Wait : int { nothing, read, whole };
enum class Use : int { overwrite_own, overwrite_others, read_result, end_of_block };

__device__ void load(int4* tile, const int4* in, std::uint64_t* bar) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(bar, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                       chunks * sizeof(int4));
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile, in, chunks * sizeof(int4), bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(bar, 0)) {
    }
}

/// Threads or a bulk load write a tile; thread 0 stores its chunk number `chunk`.
__global__ void sees(const int4* in, int4* out, bool loaded, Fence fence, bool meet, int chunk) {
    __shared__ int4 tile[chunks];
    __shared__ std::uint64_t bar;
    if (loaded)
        load(tile, in, &bar);
    else
        tile[threadIdx.x] = in[threadIdx.x];
    if (fence == Fence::writers_before || (fence == Fence::thread_0_before && threadIdx.x == 0))
        ptx::fence_proxy_async(ptx::space_shared);
    if (meet)
        __syncthreads();
    if (threadIdx.x == 0) {
        if (fence == Fence::thread_0_after)
            ptx::fence_proxy_async(ptx::space_shared);
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + chunk, tile + chunk, sizeof(int4));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

/// A tile is stored; thread 0 waits, and then the tile or the result is used.
__global__ void waits(const int4* in, int4* out, int4* seen, Wait wait, Use use) {
    __shared__ int4 tile[chunks];
    tile[threadIdx.x] = in[threadIdx.x];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof(tile));
        ptx::cp_async_bulk_commit_group();
        if (wait == Wait::read)
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        if (wait == Wait::whole)
            ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        if (use == Use::overwrite_own)
            tile[0] = int4{};
        if (use == Use::read_result)
            *seen = out[0];
    }
    if (use == Use::overwrite_others) {
        __syncthreads();
        tile[threadIdx.x] = int4{};
    }
}

/// One variant, as numbers: of `sees` whether a load wrote the tile, the fence, whether the threads meet, and
/// the chunk; of `waits` the wait and the use. What is wrong with it the emulator says.
void run(const std::vector<std::string_view>& words) {
    const auto number = [&](std::size_t i) { return std::stoi(std::string(words.at(i))); };
    DeviceBuffer<int4> in(chunks);
    in.upload(std::vector<int4>(chunks));
    DeviceBuffer<int4> out(chunks);
    out.upload(std::vector<int4>(chunks));
    DeviceBuffer<int4> seen(1);
    if (words.at(0) == "sees")
        workbook::launch(sees, {.block = chunks}, in.data(), out.data(), number(1) != 0,
                         static_cast<Fence>(number(2)), number(3) != 0, number(4));
    else
        workbook::launch(waits, {.block = chunks}, in.data(), out.data(), seen.data(),
                         static_cast<Wait>(number(1)), static_cast<Use>(number(2)));
    static_cast<void>(cudaDeviceSynchronize());
}

} // namespace

int main(int count, char** arguments) {
    try {
        run({arguments + 1, arguments + count});
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "proxies: " << error.what() << '\n';
        return 1;
    }
}

// Barriers, pipelines, bulk copies, clusters and inline assembly with its own scopes, as nvcc sees them.
// Made with nvcc 13.0: nvcc -std=c++20 -arch=compute_90 -ptx -lineinfo asynchrony.cu
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

__global__ void bulk_copy(float* out, const float* in) {
    __shared__ alignas(16) float tile[256];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1); // init
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, sizeof tile, &full); // copy
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       sizeof tile);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) { // wait
    }
    out[threadIdx.x] = tile[255 - threadIdx.x];
}

__global__ void staged(float4* out, const float4* in, int n) {
    __shared__ float4 stage[2][64];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < n; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[i & 1][threadIdx.x], in + i * 64 + threadIdx.x,
                           cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        out[i * 64 + threadIdx.x] = stage[(i + 1) & 1][threadIdx.x];
        pipe.consumer_release();
    }
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 2) neighbours(int* out) {
    __shared__ int mine;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        mine = static_cast<int>(cluster.block_rank());
    cluster.sync();
    out[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
    cluster.sync();
}

// The same label and register names twice: only the braces keep them apart.
__global__ void spin(int* flag) {
    asm volatile(
        "{\n .reg .pred p;\n .reg .b32 r<2>;\n"
        "AGAIN: ld.volatile.global.b32 r0, [%0];\n setp.eq.s32 p, r0, 0; // not yet\n @p bra AGAIN;\n}" ::"l"(
            flag)
        : "memory");
    asm volatile("{\n .reg .pred p;\n .reg .b32 r<2>;\n"
                 "AGAIN: ld.volatile.global.b32 r1, [%0];\n setp.ne.s32 p, r1, 2;\n @!p bra DONE;\n bra "
                 "AGAIN;\nDONE:\n}" ::"l"(flag)
                 : "memory");
}

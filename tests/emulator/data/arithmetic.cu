// Many opcodes and no source lines: halves, doubles, atomics, votes, video instructions, a switch.
// Made with nvcc 13.0: nvcc -std=c++20 -arch=compute_90 -ptx arithmetic.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

__global__ void halves(__half2* a, __nv_bfloat162* b, float* f) {
    const int i = threadIdx.x;
    a[i] = __hfma2(a[i], a[i], __float2half2_rn(f[i]));
    b[i] = __hmul2(b[i], b[i]);
    f[i] = __expf(f[i]) + rsqrtf(f[i]) + __half2float(__low2half(a[i])) + __bfloat162float(b[i].x);
}

__global__ void integers(unsigned long long* p, cuda::atomic<int, cuda::thread_scope_block>* q, int* r,
                         short s) {
    atomicAdd(p, 1ull);
    q->fetch_add(1, cuda::memory_order_acquire);
    atomicCAS(r, 1, 2);
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int v = cg::reduce(warp, *r, cg::plus<int>());
    r[1] =
        v + __popc(v) + __clz(v) + __dp4a(v, v, v) + __byte_perm(v, v, 0x1234) + __funnelshift_l(v, v, 3) + s;
    r[2] = warp.any(v) + __vadd4(v, v) + __sad(v, 1, 2) + __mulhi(v, v);
}

__global__ void choose(double* d, int n) {
    switch (n) {
    case 0:
        d[0] = sqrt(d[1]);
        break;
    case 1:
        d[1] = fma(d[0], d[1], d[2]);
        break;
    case 2:
        d[2] = d[3] / d[4];
        break;
    case 3:
        d[3] = floor(d[4]);
        break;
    default:
        __trap();
    }
}

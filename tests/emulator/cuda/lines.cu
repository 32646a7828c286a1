// Mistakes in the helpers of a header; program_test.cpp compiles it in several ways and looks at the
// lines that the findings name. The first argument says which mistake.

#include "lines_helpers.cuh"

#include <cstring>
#include <cuda_runtime.h>

__global__ void stuck(int* out) {
    __shared__ Ring ring;
    if (threadIdx.x == 0)
        ring.start();
    __syncthreads();
    ring.acquire(1); // acquires
    out[threadIdx.x] = ring.tile[1][threadIdx.x];
}

__global__ void twice(int* out) {
    put_called(out, 1);     // first
    put_called(nullptr, 2); // second
}

__global__ void races(int* out, int offset) {
    __shared__ int tile[512];
    const int mine = static_cast<int>(threadIdx.x), other = static_cast<int>(blockDim.x) - 1 - mine;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        put(&tile[offset + 64 * i + mine], i + 1); // written in a loop
        out[64 * i + mine] = tile[offset + 64 * i + other];
    }
    put(&tile[offset + 256 + mine], 7); // written alone
    out[256 + mine] = tile[offset + 256 + other];
}

int main(int argc, char** argv) {
    int* out = nullptr;
    cudaMalloc(&out, 1 << 16);
    const char* what = argc > 1 ? argv[1] : "";
    if (!std::strcmp(what, "stuck"))
        stuck<<<1, 32>>>(out);
    else if (!std::strcmp(what, "twice"))
        twice<<<1, 1>>>(out);
    else
        races<<<2, 64>>>(out, 0);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

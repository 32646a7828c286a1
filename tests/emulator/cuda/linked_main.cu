// Relocatable device code: this file calls a device function and uses variables of linked_part.cu.

#include <cstdio>
#include <cuda_runtime.h>

extern __device__ int shared_offset;
extern __constant__ int table[4];
__device__ int transform(int x);

static __device__ int local_bias = 1; // The other file has its own.

__global__ void run(int* out) {
    out[threadIdx.x] = transform(table[threadIdx.x]) + shared_offset + local_bias;
}

int main() {
    int *out = nullptr, host[4] = {};
    const int values[4] = {10, 20, 30, 40}, offset = 1000;
    cudaMalloc(&out, sizeof host);
    cudaMemcpyToSymbol(table, values, sizeof values);
    cudaMemcpyToSymbol(shared_offset, &offset, sizeof offset);
    run<<<1, 4>>>(out);
    if (cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
}

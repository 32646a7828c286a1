// A kernel that launches a kernel, which the emulator refuses, beside one that does not.

#include <cstdio>
#include <cuda_runtime.h>

__global__ void store(int* out, int value) { *out = value; }

__global__ void store_nested(int* out, int value) {
    if (threadIdx.x == 0)
        store<<<1, 1>>>(out, value);
}

int main() {
    int *number = nullptr, read = 0;
    cudaMalloc(&number, sizeof *number);
    store<<<1, 1>>>(number, 7);
    const cudaError_t plain = cudaMemcpy(&read, number, sizeof read, cudaMemcpyDeviceToHost);
    std::printf("plain: %s, %d\n", cudaGetErrorName(plain), read);
    store_nested<<<1, 32>>>(number, 8);
    std::printf("nested: %s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}

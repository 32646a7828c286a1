// A second source file with a kernel of the same name as in the first.

#include <cuda_runtime.h>

namespace {

__device__ int result;

__global__ void store(int n) {
    result = 0;
    for (int i = 1; i <= n; ++i)
        result += i;
}

} // namespace

int* other_file_sum(int n) {
    store<<<1, 1>>>(n);
    void* address = nullptr;
    cudaGetSymbolAddress(&address, result);
    return static_cast<int*>(address);
}

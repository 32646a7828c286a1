// The other half of linked_main.cu.

__device__ int shared_offset = 5;
__constant__ int table[4];

static __device__ int local_bias = 100;

__device__ __noinline__ int transform(int x) { return 2 * x + local_bias; }

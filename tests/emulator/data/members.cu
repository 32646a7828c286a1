// Structures, unions, bases, arrays and bit fields in shared and global memory, with their types.
// Made with nvcc 13.0: nvcc -std=c++20 -arch=compute_90 -ptx -G members.cu
using word = unsigned long long;

struct Stage {
    float a[16][8];
    alignas(8) word bar;
};
template <int n>
struct Base {
    int count;
    float bias[n];
};
struct Nothing {};
template <class T, int n>
struct Array {
    T __elems_[n];
};
enum class Kind { none, some };
struct Smem : Nothing, Base<4> {
    Stage stage[3];
    union {
        int i[4];
        float f[8];
    };
    struct {
        char letter;
        short small;
    };
    unsigned flag : 3;
    unsigned other : 5;
    unsigned wide : 17;
    Kind kind;
    Array<word, 2> slots;
    volatile word full[4];
    static int shared_by_all;
    float4 last;
};

__device__ Smem global_s;
__device__ int table[3][5];
struct Packed {
    [[no_unique_address]] Nothing tag;
    int value;
};
__device__ Packed packed[2];
namespace weights {
__constant__ float of_layer[7];
}
extern __shared__ float4 row[];

template <int n>
__global__ void kernel(float* out, int i) {
    __shared__ Smem sm;
    __shared__ float tile[32][33];
    __shared__ word scalar;
    __shared__ Array<Array<short, 3>, 300> pairs;
    sm.stage[i].a[i][n] = out[i];
    tile[threadIdx.x][i] = out[i];
    pairs.__elems_[i].__elems_[n - 1] = 1;
    row[i].y = 1;
    if (threadIdx.x == 0)
        scalar = i;
    __syncthreads();
    out[0] = sm.stage[1].a[i][2] + tile[i][threadIdx.x] + scalar + global_s.full[1] + table[i][2] +
             weights::of_layer[i] + sm.full[i] + pairs.__elems_[0].__elems_[0] + row[0].x;
    table[i][1] = i;
    global_s.flag = i;
    packed[i].value = i;
}
template __global__ void kernel<3>(float*, int);

// Functions, pointers to them, recursion, printf and assert, and variables with every kind of initialiser.
// Made with nvcc 13.0: nvcc -std=c++20 -arch=compute_90 -ptx -lineinfo calls.cu
#include <cassert>
#include <cstdio>

__device__ int table[3] = {1, 2, 3};
__constant__ int* into_table[2] = {table, table + 2};
struct Mixed {
    char letter;
    int* place;
    short small;
};
__device__ Mixed mixed = {'a', table + 1, -2};
__device__ float fractions[2] = {1.5f, -2};
__device__ double whole = 3.25;
__constant__ unsigned char bytes[4] = {1, 2, 255};

using Unary = int (*)(int);
__device__ __noinline__ int triple(int x) { return x * 3; }
__device__ __noinline__ int sum_to(int n) { return n ? sum_to(n - 1) + triple(n) : 0; }
__device__ Unary choices[2] = {triple, sum_to};

__device__ inline int square_and_swap(int x) { return __shfl_xor_sync(~0u, x, 1) + x * x; } // innermost
__device__ inline int twice(int x) { return square_and_swap(x) + square_and_swap(x + 1); }  // middle

__global__ void calls(int* out, int n) {
    assert(n < 1000);  // assertion
    out[0] = twice(n); // call site
    out[1] = choices[n & 1](n);
    printf("sum %d, %s\n", sum_to(n), n ? "some" : "none");
    out[2] = *into_table[n & 1] + mixed.small + bytes[n];
    out[3] = static_cast<int>(fractions[n & 1] + whole);
}

/// @file scale_by_vectors.cu
/// Exercise: 16 bytes at a time, in an array that may begin at any float.
///
/// Given    in, out: `size` floats each in global memory. Both begin 0 to 3 floats behind an address that is
///          a multiple of 16, and both equally far. `size` may be anything. The kernel runs one block of
///          256 threads for every 1024 elements, so one thread for every four; the last block may have fewer
///          elements, but always has its 256 threads.
/// Wanted   out[i] = factor * in[i]. On average a request of a warp, load or store, has at least 440 bytes,
///          wherever the arrays begin; 512 are the most. So nearly all elements have to be taken by 16-byte
///          loads and stores (float4), and only a few at either end one at a time.
/// Missing  The kernel. Keep its name and its parameters.
#include <cstddef>
#include <cstdint>

constexpr int block_threads = 256;

__global__ void scale_by_vectors(const float* in, float* out, std::size_t size, float factor) {
    // YOUR CODE: where is the first whole vector, and who takes what lies before and behind the vectors?
}

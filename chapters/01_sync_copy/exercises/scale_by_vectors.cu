/// @file scale_by_vectors.cu
/// Exercise: write a kernel that reads and writes 16 bytes at a time.
///
/// Given    in, out: `size` floats each in global memory, both 256-byte aligned. `size` may be anything. The
///          kernel runs blocks of 256 threads: one thread for every four elements, the last of them may
///          have fewer.
/// Wanted   out[i] = factor * in[i]. Each thread takes four neighbouring elements with one 16-byte load
///          and one 16-byte store (float4); the one to three elements after the last whole vector are
///          taken one at a time. On average a request of a warp, load or store, has at least 440 bytes; 512
///          are the most.
/// Missing  The kernel. Keep its name and its parameters.
#include <cstddef>

constexpr int block_threads = 256;

__global__ void scale_by_vectors(const float* in, float* out, std::size_t size, float factor) {
    // YOUR CODE: which four elements are this thread's, and are all four there?
}

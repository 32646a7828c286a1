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
    //@ hole
    const std::size_t first = 4 * (std::size_t{blockIdx.x} * block_threads + threadIdx.x);
    if (first + 4 <= size) {
        const float4 v = *reinterpret_cast<const float4*>(in + first);
        *reinterpret_cast<float4*>(out + first) =
            make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
    } else {
        for (std::size_t i = first; i < size; ++i)
            out[i] = factor * in[i];
    }
    //? // YOUR CODE: which four elements are this thread's, and are all four there?
    //@ end
}

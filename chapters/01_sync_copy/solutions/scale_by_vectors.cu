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
    //@ hole
    const std::size_t n = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(in) / sizeof(float) % 4; // a multiple of 16
    const std::size_t head = (4 - past) % 4; // elements before the next multiple
    const auto* from = reinterpret_cast<const float4*>(in + head);
    auto* to = reinterpret_cast<float4*>(out + head);
    if (n < head && n < size)
        out[n] = factor * in[n];
    const std::size_t first = head + 4 * n;
    if (first + 4 <= size) {
        const float4 v = from[n];
        to[n] = make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
    } else {
        for (std::size_t i = first; i < size; ++i)
            out[i] = factor * in[i];
    }
    //? // YOUR CODE: where is the first whole vector, and who takes what lies before and behind the vectors?
    //@ end
}

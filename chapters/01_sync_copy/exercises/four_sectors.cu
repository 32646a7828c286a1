/// @file four_sectors.cu
/// Exercise: each thread needs three floats side by side. Let no request touch a sector too many.
///
/// Given    in: `pixels` pixels in global memory, 256-byte aligned. Each is three floats, red, green and
///          blue, and the next pixel follows at once. out: one float for each pixel. The kernel runs one
///          block of 256 threads for every 256 pixels.
/// Wanted   out[p] = red / 4 + green / 2 + blue / 4, computed by thread p % 256 of its block. Each float is
///          loaded once, and no request touches more sectors of 32 bytes than its floats fill: four for 32
///          floats. The way leads through shared memory.
/// Missing  The kernel as it stands gives right results. Who should load which float, and how does it come to
///          the thread that needs it?
#include "workbook/tile.cuh"

constexpr int block_threads = 256;

__global__ void four_sectors(const float* in, float* out, std::size_t pixels) {
    const std::size_t start = std::size_t{blockIdx.x} * block_threads; // the block's first pixel
    const int count = workbook::tile_count(start, block_threads, pixels);
    const int t = threadIdx.x;
    // YOUR CODE: right results, but too many sectors for each request.
    const float* pixel = in + 3 * (start + t);
    if (t < count)
        out[start + t] = pixel[0] / 4 + pixel[1] / 2 + pixel[2] / 4;
}

/// @file announce_the_bytes.cu
/// Exercise: decide which arrivals and which bytes end a phase, where only the data say how many come.
///
/// Given    values: unsigned numbers in global memory, 16-byte aligned, in `rows` rows of different length.
///          Row r is values[starts[r]] to values[starts[r + 1] - 1]. A row has at most 64 numbers, always a
///          multiple of 4, and may be empty. out: as many numbers as values. One block of 128 threads per 32
///          rows; the last block has what is left of them. Lane r of the first warp starts one bulk copy for
///          the block's row r, and none where it is empty. All copies of a block complete on one mbarrier.
/// Wanted   Each row is written to its place in out, in reverse order. The barrier has one phase. It must
///          end when all rows have landed, not before; and it must end in a block of empty rows as well.
/// Missing  Who arrives, and who announces how many bytes. There is more than one right answer: the
///          expected count and the arrivals only have to be made for each other.
/// Judged   By the result for rows of several lengths; by counters: all numbers by bulk copies, none
///          through a register, one phase of one barrier in each block, and as many bytes announced as the
///          copies bring.

#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int block_rows = 32;
constexpr int most_numbers = 64;

__global__ void announce_the_bytes(const unsigned* values, const unsigned* starts, unsigned* out,
                                   unsigned rows) {
    __shared__ alignas(16) unsigned tile[block_rows][most_numbers];
    __shared__ unsigned first[block_rows + 1]; // row r of the block: from first[r] to before first[r + 1]
    __shared__ std::uint64_t bar;
    const int t = threadIdx.x;
    if (t <= block_rows)
        first[t] = starts[min(blockIdx.x * block_rows + t, rows)]; // rows behind the last are empty
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1); // YOUR CODE: how many arrivals will there be?
    }
    __syncthreads();
    if (t < block_rows) {
        const std::uint32_t bytes = (first[t + 1] - first[t]) * sizeof(unsigned); // of this lane's row
        // YOUR CODE: who arrives here, and with how many bytes?
        if (bytes > 0)
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile[t], values + first[t], bytes, &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    for (int r = t / 32; r < block_rows; r += block_threads / 32) {
        const int count = first[r + 1] - first[r];
        for (int i = t % 32; i < count; i += 32)
            out[first[r] + i] = tile[r][count - 1 - i];
    }
}

// Loads at the edges of tiles and matrices: halos, missing columns, boxes that hang over.
#include "raw_helpers.cuh"

#include <algorithm>

namespace {

using namespace ptx;

constexpr int tiles = 8;
constexpr int consumers = 128; // followed by one producer warp
constexpr int threads = consumers + 32;

/// The reads before it are done when a bulk copy overwrites the stage.
__device__ void release(uint64_t* empty) {
    fence_view_async();
    mbar_arrive(empty);
}

struct HaloStorage {
    alignas(128) int data[2][consumers + 4];
    uint64_t full[2], empty[2];
};

/// Differences of neighbours; a stage holds the first elements of the next tile as well.
template <bool broken>
__global__ void halo_kernel(const int* in, int* out) {
    __shared__ HaloStorage s;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < 2; ++stage) {
            mbar_init(&s.full[stage], 1);
            mbar_init(&s.empty[stage], consumers);
        }
        fence_barrier_init();
    }
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        const int stage = k % 2;
        if (threadIdx.x == consumers) {
            mbar_wait(&s.empty[stage], (k / 2 & 1) ^ 1);
            mbar_arrive_expect_tx(&s.full[stage], sizeof s.data[0]);
            tma_load_1d(s.data[stage], in + k * consumers, sizeof s.data[0], &s.full[stage]);
        } else if (threadIdx.x < consumers) {
            mbar_wait(&s.full[stage], k / 2 & 1);
            const int mine = s.data[stage][threadIdx.x];
            if constexpr (broken)
                release(&s.empty[stage]);
            const int next = s.data[stage][threadIdx.x + 1];
            if constexpr (!broken)
                release(&s.empty[stage]);
            out[k * consumers + threadIdx.x] = next - mine;
        }
    }
}

bool release_before_halo(bool broken) {
    const auto host = pairs::random_ints(tiles * consumers + 4);
    pairs::Device<int> in(host), out(tiles * consumers);
    (broken ? halo_kernel<true> : halo_kernel<false>)<<<1, threads>>>(in.data(), out.data());
    return pairs::all_are(out, [&](int i) { return host[i + 1] - host[i]; });
}

struct ColumnStorage {
    alignas(128) int row[4][64];
    uint64_t full[4], empty[4];
};

/// Sums of columns; a block has 64 of them, the last block fewer.
template <bool broken>
__global__ void column_sums_kernel(const int* in, int* out, int rows, int columns) {
    __shared__ ColumnStorage s;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < 4; ++stage) {
            mbar_init(&s.full[stage], 1);
            mbar_init(&s.empty[stage], 64);
        }
        fence_barrier_init();
    }
    __syncthreads();
    const int first = blockIdx.x * 64;
    if (threadIdx.x >= 64) {
        const uint32_t bytes = min(64, columns - first) * sizeof(int);
        for (int k = 0; threadIdx.x == 64 && k < rows; ++k) {
            mbar_wait(&s.empty[k % 4], (k / 4 & 1) ^ 1);
            mbar_arrive_expect_tx(&s.full[k % 4], bytes);
            tma_load_1d(s.row[k % 4], in + k * columns + first, bytes, &s.full[k % 4]);
        }
        return;
    }
    const int column = first + threadIdx.x;
    if (broken && column >= columns)
        return;
    int sum = 0;
    for (int k = 0; k < rows; ++k) {
        mbar_wait(&s.full[k % 4], k / 4 & 1);
        if (column < columns)
            sum += s.row[k % 4][threadIdx.x];
        mbar_arrive(&s.empty[k % 4]);
    }
    if (column < columns)
        out[column] = sum;
}

bool early_return_at_edge(bool broken) {
    constexpr int rows = 11, columns = 164;
    const auto host = pairs::small_ints(rows * columns);
    pairs::Device<int> in(host), out(columns);
    (broken ? column_sums_kernel<true> : column_sums_kernel<false>)<<<3, 96>>>(in.data(), out.data(), rows,
                                                                               columns);
    return pairs::all_are(out, [&](int column) {
        int sum = 0;
        for (int row = 0; row < rows; ++row)
            sum += host[row * columns + column];
        return sum;
    });
}

constexpr int columns = 40, box_columns = 12, box_rows = 4; // neither divides the matrix

/// Boxes of a matrix through two stages, one block for each row of boxes: sums of their columns.
/// `stage_ints`: distance of the stages; `clipped`: expects only the bytes inside the matrix.
template <int stage_ints, bool clipped>
__global__ void box_sums_kernel(const __grid_constant__ CUtensorMap map, int* out, int rows) {
    __shared__ alignas(128) int data[2 * stage_ints];
    __shared__ uint64_t full[2];
    if (threadIdx.x == 0) {
        mbar_init(&full[0], 1);
        mbar_init(&full[1], 1);
        fence_barrier_init();
    }
    __syncthreads();
    const int y = blockIdx.x * box_rows;
    const auto load = [&](int k) {
        const int inside = min(box_rows, rows - y) * min(box_columns, columns - k * box_columns);
        mbar_arrive_expect_tx(&full[k % 2], (clipped ? inside : box_rows * box_columns) * sizeof(int));
        tma_load_2d(data + k % 2 * stage_ints, &map, k * box_columns, y, &full[k % 2]);
    };
    if (threadIdx.x == 0)
        load(0);
    for (int k = 0; k * box_columns < columns; ++k) {
        if (threadIdx.x == 0 && (k + 1) * box_columns < columns)
            load(k + 1);
        mbar_wait(&full[k % 2], k / 2 & 1);
        const int column = k * box_columns + threadIdx.x;
        if (threadIdx.x < box_columns && column < columns) {
            int sum = 0;
            for (int row = 0; row < box_rows; ++row) // zeros below the matrix
                sum += data[k % 2 * stage_ints + row * box_columns + threadIdx.x];
            out[blockIdx.x * columns + column] = sum;
        }
        __syncthreads();
    }
}

bool box_sums(void (*kernel)(CUtensorMap, int*, int), int rows) {
    const int blocks = (rows + box_rows - 1) / box_rows;
    const auto host = pairs::small_ints(rows * columns);
    pairs::Device<int> in(host), out(blocks * columns);
    kernel<<<blocks, 32>>>(pairs::make_map(in.data(), columns, rows, box_columns, box_rows), out.data(),
                           rows);
    return pairs::all_are(out, [&](int index) {
        int sum = 0;
        for (int row = index / columns * box_rows;
             row < std::min(rows, index / columns * box_rows + box_rows); ++row)
            sum += host[row * columns + index % columns];
        return sum;
    });
}

bool box_bytes_clipped(bool broken) {
    return box_sums(broken ? box_sums_kernel<64, true> : box_sums_kernel<64, false>, 10);
}

bool second_stage_misaligned(bool broken) {
    return box_sums(broken ? box_sums_kernel<box_rows * box_columns, false> : box_sums_kernel<64, false>, 12);
}

constexpr pairs::Pair list[] = {
    {.name = "release_before_halo",
     .mistake =
         "The consumer arrives at the empty barrier between its two reads of the stage: the producer may "
         "overwrite what the second one reads.",
     .fix = "Arrive after the last read of the stage.",
     .run = release_before_halo,
     .finding = "race-shared",
     .says = "before its read",
     .remedy = "after the last read"},
    {.name = "early_return_at_edge",
     .mistake =
         "In the last block the threads without a column return before the loop; the empty barriers count "
         "them all the same, so the producer waits for ever in the second lap.",
     .fix = "Let all consumers arrive and guard only the work.",
     .run = early_return_at_edge,
     .finding = "deadlock",
     .says = "28 of 64 arrivals missing",
     .remedy = "ended without arriving"},
    {.name = "box_bytes_clipped",
     .mistake =
         "At the edge the barrier expects only the bytes inside the matrix; a tensor copy always counts the "
         "whole box, with the zeros filled in.",
     .fix = "Expect the bytes of the whole box.",
     .run = box_bytes_clipped,
     .finding = "deadlock",
     .says = "(64 expected, 192 arrived)",
     .remedy = "Announce all the bytes that copies bring"},
    {.name = "second_stage_misaligned",
     .mistake = "A box has 192 bytes, so that the second stage is not at a multiple of 128 bytes, which a "
                "tensor copy "
                "demands of its address in shared memory.",
     .fix = "Pad the stages to 256 bytes.",
     .run = second_stage_misaligned,
     .finding = "misaligned",
     .says = "The tile at data + 192 is not aligned to 128 bytes",
     .remedy = "a multiple of 128"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// Roles that count bytes and barriers' arrivals: several operands, tiles at the edge, elected lanes, in-place
// work.
#include "roles_helpers.cuh"

using namespace roles;

namespace {

constexpr int consumers = 128;
constexpr int consumer_warps = consumers / 32;
constexpr int threads = consumers + 32;

// -- Two operands on one full barrier ---------------------------------------------------------------------

std::vector<int> dots(const std::vector<int>& a, const std::vector<int>& b, int steps) {
    std::vector<int> sums(consumers);
    for (int i = 0; i < steps * consumers; ++i)
        sums[i % consumers] += (a[i] & 0xff) * (b[i] & 0xff);
    return sums;
}

template <bool broken>
__global__ void __launch_bounds__(threads)
    two_operands_kernel(const int* a, const int* b, int* out, int steps) {
    constexpr int stages = 3, bytes = consumers * sizeof(int);
    __shared__ Ring<stages, 2 * consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int step = 0; step < steps; ++step, at.next()) {
                Barrier& full = ring.full[at.stage];
                wait(ring.empty[at.stage], at.phase);
                if constexpr (broken)
                    arrive_expect(full, bytes);
                else
                    expect(full, bytes);
                load(ring.tile[at.stage], a + step * consumers, bytes, full);
                arrive_expect(full, bytes);
                load(ring.tile[at.stage] + consumers, b + step * consumers, bytes, full);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    int sum = 0;
    for (int step = 0; step < steps; ++step, at.next()) {
        wait(ring.full[at.stage], at.phase);
        const int* tile = ring.tile[at.stage];
        sum += (tile[threadIdx.x] & 0xff) * (tile[consumers + threadIdx.x] & 0xff);
        __syncwarp();
        if (lane() == 0)
            arrive(ring.empty[at.stage]);
    }
    out[threadIdx.x] = sum;
}

bool two_operands(bool broken) {
    constexpr int steps = 8;
    const auto host_a = pairs::random_ints(steps * consumers),
               host_b = pairs::random_ints(steps * consumers, 2);
    pairs::Device<int> a(host_a), b(host_b), out(consumers);
    (broken ? two_operands_kernel<true> : two_operands_kernel<false>)<<<1, threads>>>(a.data(), b.data(),
                                                                                      out.data(), steps);
    return out.read() == dots(host_a, host_b, steps);
}

// A warpgroup produces; one lane of it is to issue.
template <bool broken>
__global__ void __launch_bounds__(2 * consumers)
    elect_per_warp_kernel(const int* a, const int* b, int* out, int steps) {
    constexpr int stages = 2, bytes = consumers * sizeof(int);
    __shared__ Ring<stages, 2 * consumers> ring;
    if (warp() == 0 && elect())
        ring.init(1, consumer_warps);
    __syncthreads();

    if (threadIdx.x >= consumers) {
        if ((broken || warp() == consumer_warps) && elect()) {
            Cursor<stages> at{.phase = 1};
            for (int step = 0; step < steps; ++step, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], 2 * bytes);
                load(ring.tile[at.stage], a + step * consumers, bytes, ring.full[at.stage]);
                load(ring.tile[at.stage] + consumers, b + step * consumers, bytes, ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    int sum = 0;
    for (int step = 0; step < steps; ++step, at.next()) {
        wait(ring.full[at.stage], at.phase);
        const int* tile = ring.tile[at.stage];
        sum += (tile[threadIdx.x] & 0xff) * (tile[consumers + threadIdx.x] & 0xff);
        __syncwarp();
        if (elect())
            arrive(ring.empty[at.stage]);
    }
    out[threadIdx.x] = sum;
}

bool elect_per_warp(bool broken) {
    constexpr int steps = 7;
    const auto host_a = pairs::random_ints(steps * consumers),
               host_b = pairs::random_ints(steps * consumers, 2);
    pairs::Device<int> a(host_a), b(host_b), out(consumers);
    (broken ? elect_per_warp_kernel<true>
            : elect_per_warp_kernel<false>)<<<1, 2 * consumers>>>(a.data(), b.data(), out.data(), steps);
    return out.read() == dots(host_a, host_b, steps);
}

// -- Sums of columns of a matrix whose rows do not fill the last tile -------------------------------------

constexpr int box_rows = 8, box_columns = 64;

template <bool broken>
__global__ void __launch_bounds__(box_columns + 32)
    edge_bytes_kernel(const __grid_constant__ CUtensorMap map, int* sums, int rows) {
    constexpr int stages = 2;
    __shared__ Ring<stages, box_rows * box_columns> ring;
    if (threadIdx.x == 0)
        ring.init(1, box_columns / 32);
    __syncthreads();

    if (warp() == box_columns / 32) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int y = 0; y < rows; y += box_rows, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                const int present = broken ? min(box_rows, rows - y) : box_rows;
                arrive_expect(ring.full[at.stage], present * box_columns * sizeof(int));
                load_2d(ring.tile[at.stage], map, blockIdx.x * box_columns, y, ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    int sum = 0;
    for (int y = 0; y < rows; y += box_rows, at.next()) {
        wait(ring.full[at.stage], at.phase);
        for (int r = 0; r < box_rows; ++r)
            sum += ring.tile[at.stage][r * box_columns + threadIdx.x];
        __syncwarp();
        if (lane() == 0)
            arrive(ring.empty[at.stage]);
    }
    sums[blockIdx.x * box_columns + threadIdx.x] = sum;
}

bool edge_bytes(bool broken) {
    constexpr int rows = 37, columns = 2 * box_columns;
    const auto host = pairs::random_ints(rows * columns);
    pairs::Device<int> in(host), sums(columns);
    const CUtensorMap map = tensor_map(in.data(), rows, columns, box_rows, box_columns);
    (broken ? edge_bytes_kernel<true> : edge_bytes_kernel<false>)<<<2, box_columns + 32>>>(map, sums.data(),
                                                                                           rows);
    std::vector<int> expected(columns);
    for (int i = 0; i < rows * columns; ++i)
        expected[i % columns] += host[i];
    return sums.read() == expected;
}

// -- Tiles are scaled in place, then read by other threads, then filled anew ------------------------------

template <bool broken>
__global__ void __launch_bounds__(threads)
    in_place_kernel(const int* in, const int* scales, int* out, int tiles) {
    constexpr int stages = 2;
    __shared__ Ring<stages, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = 0; tile < tiles; ++tile, at.next()) {
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + tile * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    for (int tile = 0; tile < tiles; ++tile, at.next()) {
        int* values = ring.tile[at.stage];
        wait(ring.full[at.stage], at.phase);
        values[threadIdx.x] = (values[threadIdx.x] & 0xffff) * scales[tile];
        named_sync(1, consumers);
        out[tile * consumers + threadIdx.x] = values[consumers - 1 - threadIdx.x];
        if constexpr (!broken)
            fence_async_shared();
        __syncwarp();
        if (lane() == 0)
            arrive(ring.empty[at.stage]);
    }
}

bool in_place(bool broken) {
    constexpr int tiles = 6;
    const auto host = pairs::random_ints(tiles * consumers);
    const std::vector<int> host_scales = {3, 1, 4, 1, 5, 9};
    pairs::Device<int> in(host), scales(host_scales), out(tiles * consumers);
    (broken ? in_place_kernel<true> : in_place_kernel<false>)<<<1, threads>>>(in.data(), scales.data(),
                                                                              out.data(), tiles);
    std::vector<int> expected;
    for (int tile = 0; tile < tiles; ++tile)
        for (int i = consumers; i-- > 0;)
            expected.push_back((host[tile * consumers + i] & 0xffff) * host_scales[tile]);
    return out.read() == expected;
}

// -- Varying numbers of steps for each tile: some tiles have none -----------------------------------------

template <bool broken>
__global__ void __launch_bounds__(threads)
    ragged_kernel(const int* in, const int* begins, int* out, int tiles) {
    constexpr int stages = 3;
    __shared__ Ring<stages, consumers> ring;
    if (threadIdx.x == 0)
        ring.init(1, consumer_warps);
    __syncthreads();

    if (warp() == consumer_warps) {
        if (elect()) {
            Cursor<stages> at{.phase = 1};
            for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
                for (int step = begins[tile]; step < begins[tile + 1]; ++step, at.next()) {
                    wait(ring.empty[at.stage], at.phase);
                    arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                    load(ring.tile[at.stage], in + step * consumers, sizeof ring.tile[0],
                         ring.full[at.stage]);
                }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int sum = 0, left = begins[tile + 1] - begins[tile];
        if constexpr (broken)
            left = max(left, 1);
        for (; left > 0; --left, at.next()) {
            wait(ring.full[at.stage], at.phase);
            sum += ring.tile[at.stage][threadIdx.x];
            __syncwarp();
            if (lane() == 0)
                arrive(ring.empty[at.stage]);
        }
        out[tile * consumers + threadIdx.x] = sum;
    }
}

bool ragged(bool broken) {
    const std::vector<int> host_begins = {0, 2, 5, 5, 9, 9, 10};
    constexpr int tiles = 6;
    const auto host = pairs::random_ints(10 * consumers);
    pairs::Device<int> in(host), begins(host_begins), out(tiles * consumers);
    (broken ? ragged_kernel<true> : ragged_kernel<false>)<<<2, threads>>>(in.data(), begins.data(),
                                                                          out.data(), tiles);
    std::vector<int> expected(tiles * consumers);
    for (int tile = 0; tile < tiles; ++tile)
        for (int i = host_begins[tile] * consumers; i < host_begins[tile + 1] * consumers; ++i)
            expected[tile * consumers + i % consumers] += host[i];
    return out.read() == expected;
}

// -- Dynamic tiles: the producer draws a number and tells the consumers through a slot --------------------

template <bool broken>
__global__ void __launch_bounds__(threads) slot_kernel(const int* in, int* out, int* next, int tiles) {
    constexpr int stages = 3;
    __shared__ Ring<stages, consumers> ring;
    __shared__ Barrier slot_full, slot_empty;
    __shared__ int slot;
    if (threadIdx.x == 0) {
        init(slot_full, 1);
        init(slot_empty, consumers);
        ring.init(1, consumer_warps);
    }
    __syncthreads();

    if (warp() == consumer_warps) {
        if (lane() == 0) {
            Cursor<stages> at{.phase = 1};
            for (unsigned round = 0;; ++round, at.next()) {
                const int tile = atomicAdd(next, 1);
                if constexpr (!broken)
                    wait(slot_empty, (round & 1) ^ 1);
                slot = tile;
                arrive(slot_full);
                if (tile >= tiles)
                    break;
                wait(ring.empty[at.stage], at.phase);
                arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
                load(ring.tile[at.stage], in + tile * consumers, sizeof ring.tile[0], ring.full[at.stage]);
            }
        }
        return;
    }
    Cursor<stages> at{.phase = 0};
    for (unsigned round = 0;; ++round, at.next()) {
        wait(slot_full, round & 1);
        const int tile = slot;
        arrive(slot_empty);
        if (tile >= tiles)
            break;
        wait(ring.full[at.stage], at.phase);
        out[tile * consumers + threadIdx.x] = ring.tile[at.stage][consumers - 1 - threadIdx.x];
        __syncwarp();
        if (lane() == 0)
            arrive(ring.empty[at.stage]);
    }
}

bool slot(bool broken) {
    constexpr int tiles = 9;
    const auto host = pairs::random_ints(tiles * consumers);
    pairs::Device<int> in(host), out(tiles * consumers), next(std::vector<int>(1, 0));
    (broken ? slot_kernel<true> : slot_kernel<false>)<<<2, threads>>>(in.data(), out.data(), next.data(),
                                                                      tiles);
    std::vector<int> expected;
    for (int tile = 0; tile < tiles; ++tile)
        for (int i = consumers; i-- > 0;)
            expected.push_back(host[tile * consumers + i]);
    return out.read() == expected;
}

constexpr pairs::Pair list[] = {
    {.name = "bytes_two_operands",
     .mistake =
         "Each of the two copies of a stage is announced with an arrival, but the full barrier counts one: "
         "the first operand alone completes the phase, the second the phase after.",
     .fix = "Arrive once for each stage: expect_tx without arrival for the first operand.",
     .run = two_operands,
     .finding = "arrival-count-mismatch",
     .says = "expects only 0 more arrivals",
     .remedy = "must equal the count given to mbarrier.init",
     .also = {{"deadlock", "arrived twice", "must equal the count given to mbarrier.init"}}},
    {.name = "bytes_elect_per_warp",
     .mistake =
         "elect.sync chooses one lane in each of the four warps of the producer warpgroup, so four threads "
         "arrive, expect and copy each stage where the full barrier counts one arrival.",
     .fix = "Let only the first warp of the producer warpgroup elect a lane and issue.",
     .run = elect_per_warp,
     .finding = "duplicate-copy",
     .says = "both issued this bulk load to the same bytes",
     .remedy = "elect.sync in one warp",
     .also = {{"arrival-count-mismatch", "all at this line", "elect.sync in one warp"}}},
    {.name = "bytes_edge",
     .mistake =
         "For the last tile the producer expects only the rows inside of the matrix, but the copy of a box "
         "at the edge fills the rest with zeros and counts the bytes of the whole box.",
     .fix = "Expect the bytes of the whole box for every tile.",
     .run = edge_bytes,
     .finding = "deadlock",
     .says = "tx-count -768 bytes (1280 expected, 2048 arrived)",
     .remedy = "copies brought 768 bytes more than expect_tx announced"},
    {.name = "bytes_in_place",
     .mistake =
         "The consumers write into the stage with ordinary stores and release it without a proxy fence, so "
         "nothing orders their stores before the next copy's writes.",
     .fix = "fence.proxy.async by each consumer after its stores and before the release of the stage.",
     .run = in_place,
     .finding = "missing-proxy-fence",
     .says = "No fence.proxy.async lies between them",
     .remedy = "After the write and before the barrier, each writing thread must execute fence.proxy.async"},
    {.name = "bytes_ragged",
     .mistake =
         "For a tile without steps the consumers wait for a stage that the producer does not fill for it: "
         "they take the next tile's data, and wait for ever in the end.",
     .fix = "Consumers run as many steps for each tile as the producer, none where there are none.",
     .run = ragged,
     .finding = "deadlock",
     .says = "who arrived at the other mbarriers of the ring, has ended",
     .remedy = "as many rounds"},
    {.name = "bytes_slot",
     .mistake =
         "The scheduler writes the next tile's number into the slot and arrives again without waiting until "
         "the consumers have read the last one.",
     .fix = "Wait for the consumers' release of the slot before writing into it.",
     .run = slot,
     .finding = "deadlock",
     .says = "phases ended that nobody had waited for",
     .remedy = "wait until those who read it have arrived"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

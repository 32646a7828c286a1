// Inline PTX: rounds of cp.async, their groups and their barriers.
#include "raw_helpers.cuh"

namespace {

using namespace ptx;

constexpr int threads = 128;
constexpr int tile = 4 * threads; // ints: 16 bytes of each thread

/// Sum of the products of neighbours' elements over the tiles, four stages of cp.async in flight.
enum class Groups { right, tail_not_committed, load_before_barrier, barrier_before_wait };

template <Groups groups>
__global__ void multistage_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 4;
    __shared__ alignas(128) int data[stages][tile];
    const auto load = [&](int k) {
        cp_async16(&data[k % stages][4 * threadIdx.x], in + k * tile + 4 * threadIdx.x);
    };
    for (int k = 0; k < stages - 1; ++k) {
        load(k);
        cp_async_commit();
    }
    int sum = 0;
    for (int k = 0; k < tiles; ++k) {
        const int next = k + stages - 1;
        if constexpr (groups == Groups::barrier_before_wait)
            __syncthreads();
        cp_async_wait<stages - 2>();
        if (groups == Groups::load_before_barrier) {
            if (next < tiles)
                load(next);
            cp_async_commit();
        }
        if constexpr (groups != Groups::barrier_before_wait)
            __syncthreads();
        if (groups != Groups::load_before_barrier) {
            if (next < tiles)
                load(next);
            if (groups != Groups::tail_not_committed || next < tiles)
                cp_async_commit();
        }
        for (int i = threadIdx.x; i < tile; i += threads)
            sum += data[k % stages][i] % 100 * (data[k % stages][tile - 1 - i] % 100);
    }
    out[threadIdx.x] = sum;
}

template <Groups broken_groups>
bool multistage(bool broken) {
    constexpr int tiles = 9;
    const auto host = pairs::small_ints(tiles * tile);
    pairs::Device<int> in(host), out(threads);
    (broken ? multistage_kernel<broken_groups>
            : multistage_kernel<Groups::right>)<<<1, threads>>>(in.data(), out.data(), tiles);
    return pairs::all_are(out, [&](int thread) {
        int sum = 0;
        for (int k = 0; k < tiles; ++k)
            for (int i = thread; i < tile; i += threads)
                sum += host[k * tile + i] % 100 * (host[k * tile + tile - 1 - i] % 100);
        return sum;
    });
}

/// Two stages: the next tile comes while one is used, and one barrier of each round is for the tile that has
/// come, the other for the stage that is copied to in the next round. The first thread sums what the last one
/// copied, the second what the last but one copied, and so on. `unrolled` is how many rounds the compiler
/// unrolls.
constexpr int rounds = 7;

template <bool broken, int unrolled>
__global__ void two_stages_kernel(const int* in, int* out) {
    __shared__ alignas(128) int data[2][tile];
    const auto load = [&](int k) {
        if (k < rounds)
            cp_async16(&data[k % 2][4 * threadIdx.x], in + k * tile + 4 * threadIdx.x);
        cp_async_commit();
    };
    load(0);
    int sum = 0;
#pragma unroll(unrolled)
    for (int k = 0; k < rounds; ++k) {
        load(k + 1);
        cp_async_wait<1>();
        __syncthreads();
        const int4 four = reinterpret_cast<const int4*>(data[k % 2])[threads - 1 - threadIdx.x];
        sum += (k + 1) * (four.x + four.y + four.z + four.w);
        if constexpr (!broken)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

template <int unrolled>
bool two_stages(bool broken) {
    const auto host = pairs::small_ints(rounds * tile);
    pairs::Device<int> in(host), out(threads);
    (broken ? two_stages_kernel<true, unrolled>
            : two_stages_kernel<false, unrolled>)<<<1, threads>>>(in.data(), out.data());
    return pairs::all_are(out, [&](int thread) {
        int sum = 0;
        for (int k = 0; k < rounds; ++k)
            for (int i = 0; i < 4; ++i)
                sum += (k + 1) * host[k * tile + 4 * (threads - 1 - thread) + i];
        return sum;
    });
}

constexpr pairs::Pair list[] = {
    {.name = "tail_without_empty_groups",
     .mistake =
         "Nothing is committed once there is nothing more to load, so that wait_group 2 no longer covers the "
         "last two tiles.",
     .fix = "Commit a group in every round, an empty one too.",
     .run = multistage<Groups::tail_not_committed>,
     .finding = "read-before-completion",
     .says = "with N = 2: that leaves the 2 newest groups of 9 pending",
     .remedy = "Commit a group in every round"},
    {.name = "prefetch_before_barrier",
     .mistake = "The copy of a later tile begins before the barrier of the round, into the stage that slower "
                "threads still read in the round before.",
     .fix = "Begin the copy behind __syncthreads().",
     .run = multistage<Groups::load_before_barrier>,
     .finding = "race-shared",
     .says = "nothing orders one before the other",
     .remedy = "put a __syncthreads() between its access and the issue of the copy"},
    {.name = "barrier_before_wait",
     .mistake = "The barrier stands before the wait for the copies: a thread knows only its own copies "
                "complete when "
                "it reads what other threads have copied.",
     .fix = "__syncthreads() behind cp.async.wait_group.",
     .run = multistage<Groups::barrier_before_wait>,
     .finding = "race-shared",
     .says = "nothing orders that wait before the read by another thread",
     .remedy = "Put a barrier (__syncthreads()) between the wait and reads by other threads"},
    {.name = "round_without_second_barrier",
     .mistake =
         "Two stages, and no barrier between the reads of a tile and the next round's copy into the same "
         "stage.",
     .fix = "A second __syncthreads() behind the reads.",
     .run = two_stages<1>,
     .finding = "race-shared",
     .says = "So the copy is one of a later round, and nothing orders the read before it",
     .remedy = "put a __syncthreads() between its access and the issue of the copy"},
    {.name = "unrolled_without_second_barrier",
     .mistake =
         "Two stages, and no barrier between the reads of a tile and the next round's copy into the same "
         "stage. The compiler has unrolled the rounds.",
     .fix = "A second __syncthreads() behind the reads.",
     .run = two_stages<rounds>,
     .finding = "race-shared",
     .says = "So the copy is one of a later round, and nothing orders the read before it",
     .remedy = "put a __syncthreads() between its access and the issue of the copy"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// Compile for compute_90a and sm_90a: roles that give registers to each other (setmaxnreg).
#include "roles_helpers.cuh"

using namespace roles;

namespace {

constexpr int group_threads = 128;
constexpr int group_warps = group_threads / 32;
constexpr int threads = 3 * group_threads;
constexpr int registers = 168; // for each thread at launch: 3 * 168 = 504

template <int count>
__device__ void decrease_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ void increase_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

template <int stages>
__device__ void produce(Ring<stages, 2 * group_threads>& ring, const int* in, int tiles) {
    Cursor<stages> at{.phase = 1};
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, at.next()) {
        wait(ring.empty[at.stage], at.phase);
        arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
        load(ring.tile[at.stage], in + tile * 2 * group_threads, sizeof ring.tile[0], ring.full[at.stage]);
    }
}

template <int stages>
__device__ void consume(Ring<stages, 2 * group_threads>& ring, int* out, int tiles) {
    const int i = threadIdx.x - group_threads;
    Cursor<stages> at{.phase = 0};
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, at.next()) {
        wait(ring.full[at.stage], at.phase);
        out[tile * 2 * group_threads + i] = ring.tile[at.stage][2 * group_threads - 1 - i];
        __syncwarp();
        if (elect())
            arrive(ring.empty[at.stage]);
    }
}

// Two consumer groups at 240 and a producer group: 504 / 3 groups is all there is.
template <int producer_registers>
__global__ void __maxnreg__(registers) budget_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 3;
    __shared__ Ring<stages, 2 * group_threads> ring;
    if (threadIdx.x == 0)
        ring.init(1, 2 * group_warps);
    __syncthreads();

    if (warp() < group_warps) {
        decrease_registers<producer_registers>();
        if (warp() == 0 && elect())
            produce(ring, in, tiles);
    } else {
        increase_registers<240>();
        consume(ring, out, tiles);
    }
}

template <bool broken>
__global__ void __maxnreg__(registers) one_warp_kernel(const int* in, int* out, int tiles) {
    constexpr int stages = 2;
    __shared__ Ring<stages, 2 * group_threads> ring;
    if (threadIdx.x == 0)
        ring.init(1, 2 * group_warps);
    __syncthreads();

    if (warp() < group_warps) {
        if constexpr (!broken)
            decrease_registers<40>();
        if (warp() == 0) {
            if constexpr (broken)
                decrease_registers<40>();
            if (elect())
                produce(ring, in, tiles);
        }
    } else {
        increase_registers<232>();
        consume(ring, out, tiles);
    }
}

using Kernel = void (*)(const int*, int*, int);

bool reversed(Kernel kernel) {
    constexpr int tiles = 7, words = 2 * group_threads;
    const auto host = pairs::random_ints(tiles * words);
    pairs::Device<int> in(host), out(tiles * words);
    kernel<<<2, threads>>>(in.data(), out.data(), tiles);
    std::vector<int> expected;
    for (int tile = 0; tile < tiles; ++tile)
        for (int i = words; i-- > 0;)
            expected.push_back(host[tile * words + i]);
    return out.read() == expected;
}

bool budget(bool broken) { return reversed(broken ? budget_kernel<40> : budget_kernel<24>); }
bool one_warp(bool broken) { return reversed(broken ? one_warp_kernel<true> : one_warp_kernel<false>); }

constexpr pairs::Pair list[] = {
    {.name = "registers_budget",
     .mistake =
         "Producers keep 40 registers and both consumer groups ask for 240: 520 where the launch gave three "
         "groups 168 each, 504; the last group waits for ever for registers.",
     .fix = "Let the producer group keep only 24, or the consumers ask for 232.",
     .run = budget,
     .finding = "deadlock",
     .says = "setmaxnreg.inc 240",
     .remedy = "setmaxnreg.dec"},
    {.name = "registers_one_warp",
     .mistake = "setmaxnreg is executed by one warp of the producer warpgroup; all warps of a warpgroup must "
                "execute the same one.",
     .fix = "Let all four warps of the producer warpgroup execute setmaxnreg.dec before the branch of the "
            "first.",
     .run = one_warp,
     .finding = "divergent-setmaxnreg",
     .says = "only 1 of the 4 warps of its warpgroup",
     .remedy = "all four warps"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// A producer warp takes tile after tile from a counter, tells the consumers which one it is, and fills a ring
// with its pieces.
#include "roles_helpers.cuh"

using namespace roles;

namespace {

constexpr int consumers = 64, consumer_warps = consumers / 32, threads = consumers + 32;
constexpr int stages = 2, notes = 2, steps = 3;

/// Numbers of tiles on their way to the consumers.
struct Desk {
    int tile[notes];
    Barrier full[notes], empty[notes];
};

__device__ void claim(Ring<stages, consumers>& ring, Desk& desk, const int* in, int tiles, int* next,
                      bool waits_for_stages) {
    Cursor<stages> at{.phase = 1};
    Cursor<notes> note{.phase = 1};
    for (int tile = 0; tile < tiles; note.next()) {
        tile = atomicAdd(next, 1);
        wait(desk.empty[note.stage], note.phase);
        desk.tile[note.stage] = tile;
        arrive(desk.full[note.stage]);
        for (int step = 0; tile < tiles && step < steps; ++step, at.next()) {
            if (waits_for_stages)
                wait(ring.empty[at.stage], at.phase);
            arrive_expect(ring.full[at.stage], sizeof ring.tile[0]);
            load(ring.tile[at.stage], in + (tile * steps + step) * consumers, sizeof ring.tile[0],
                 ring.full[at.stage]);
        }
    }
}

__device__ void use(Ring<stages, consumers>& ring, Desk& desk, int* out, int tiles) {
    Cursor<stages> at{.phase = 0};
    for (Cursor<notes> note{.phase = 0};; note.next()) {
        wait(desk.full[note.stage], note.phase);
        const int tile = desk.tile[note.stage];
        __syncwarp();
        if (lane() == 0)
            arrive(desk.empty[note.stage]);
        if (tile >= tiles)
            return;
        int sum = 0;
        for (int step = 0; step < steps; ++step, at.next()) {
            wait(ring.full[at.stage], at.phase);
            sum += (step + 1) * ring.tile[at.stage][threadIdx.x];
            fence_async_shared();
            __syncwarp();
            if (lane() == 0)
                arrive(ring.empty[at.stage]);
        }
        out[tile * consumers + threadIdx.x] = sum;
    }
}

template <bool broken>
__global__ void __launch_bounds__(threads) claimed_kernel(const int* in, int* out, int tiles, int* next) {
    __shared__ Ring<stages, consumers> ring;
    __shared__ Desk desk;
    if (threadIdx.x == 0) {
        ring.init(1, consumer_warps);
        for (int i = 0; i < notes; ++i) {
            init(desk.full[i], 1);
            init(desk.empty[i], consumer_warps);
        }
        fence_init();
    }
    __syncthreads();
    if (warp() < consumer_warps)
        use(ring, desk, out, tiles);
    else if (elect())
        claim(ring, desk, in, tiles, next, !broken);
}

bool claimed(bool broken) {
    constexpr int tiles = 6, blocks = 2;
    const auto host = pairs::random_ints(tiles * steps * consumers);
    pairs::Device<int> in(host), out(tiles * consumers), next(std::vector<int>(1));
    (broken ? claimed_kernel<true> : claimed_kernel<false>)<<<blocks, threads>>>(in.data(), out.data(), tiles,
                                                                                 next.data());
    std::vector<int> sums(tiles * consumers);
    for (int i = 0; i < tiles * consumers; ++i)
        for (int step = 0; step < steps; ++step)
            sums[i] += (step + 1) * host[(i / consumers * steps + step) * consumers + i % consumers];
    return out.read() == sums;
}

const char* const not_waited = "has not waited for the readers of the stage";
const char* const how_to_wait = "must wait until the readers have released the stage";

const std::vector<pairs::Pair> list = {
    {.name = "claimed_without_stages",
     .mistake = "The producer waits for a place on the desk, but for no empty stage: the next copy may "
                "overwrite what is still read.",
     .fix = "Wait for the stage's empty barrier before each copy.",
     .run = claimed,
     .finding = "arrival-count-mismatch",
     .says = not_waited,
     .remedy = how_to_wait,
     .also = {{"overwrite-in-flight", not_waited, how_to_wait}, {"race-shared", not_waited, how_to_wait}}},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// Compile for compute_90a and sm_90a: registers of a wgmma, of one warpgroup whose tiles are all loaded at
// first.
#include "wgmma_helpers.cuh"

using namespace wg;

namespace {

constexpr int tiles = 2;

struct Loaded {
    Tiles tile[tiles];
    roles::Barrier full;
};

/// All tiles are there.
__device__ void load_all(Loaded& loaded, const CUtensorMap& a, const CUtensorMap& b) {
    if (threadIdx.x == 0) {
        roles::init(loaded.full, tiles);
        roles::fence_init();
        for (int k = 0; k < tiles; ++k)
            load_tiles(loaded.tile[k], a, b, k, loaded.full);
    }
    __syncthreads();
    roles::wait(loaded.full, 0);
}

__device__ void multiply_tile(Sums& d, const Tiles& tile, bool adds) {
    multiply_tiles(d, tile.a, tile.b, adds);
}

// -- D = A B -----------------------------------------------------------------------------------------------

template <bool broken>
__global__ void no_wait_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                               float* out, int) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    Sums d;
    fence();
    for (int k = 0; k < tiles; ++k)
        multiply_tile(d, loaded.tile[k], k > 0);
    commit();
    if constexpr (!broken) {
        wait<0>();
        tie(d);
    }
    store_sums(out, d);
}

template <bool broken>
__global__ void no_commit_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                 float* out, int) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    Sums d;
    fence();
    multiply_tile(d, loaded.tile[0], false);
    commit();
    multiply_tile(d, loaded.tile[1], true);
    if constexpr (!broken)
        commit();
    wait<0>();
    tie(d);
    store_sums(out, d);
}

template <bool broken>
__global__ void first_fence_kernel(const __grid_constant__ CUtensorMap a,
                                   const __grid_constant__ CUtensorMap b, float* out, int) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    Sums d;
    if constexpr (!broken)
        fence();
    for (int k = 0; k < tiles; ++k)
        multiply_tile(d, loaded.tile[k], k > 0);
    commit();
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// The sums so far are scaled before more is added, as attention does.
template <bool broken>
__global__ void rescale_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                               float* out, const float* scale) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    Sums d;
    fence();
    multiply_tile(d, loaded.tile[0], false);
    commit();
    wait<0>();
    tie(d);
    if constexpr (broken)
        fence();
    const float factor = *scale;
    for (float& each : d)
        each *= factor;
    if constexpr (!broken)
        fence();
    multiply_tile(d, loaded.tile[1], true);
    commit();
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// -- Two products, each with its accumulators and its group ------------------------------------------------

template <bool broken>
__global__ void two_groups_kernel(const __grid_constant__ CUtensorMap a,
                                  const __grid_constant__ CUtensorMap b, float* out, int) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    Sums first, second;
    fence();
    multiply_tile(first, loaded.tile[0], false);
    commit();
    multiply_tile(second, loaded.tile[1], false);
    commit();
    wait<1>();
    tie(first);
    store_sums(out, first);
    if constexpr (broken)
        wait<1>();
    else
        wait<0>();
    tie(second);
    store_sums(out + rows * columns, second);
}

// Products that are masked out are dropped.
template <bool broken>
__global__ void dropped_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                               float* out, const int* masked) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    for (int k = 0; k < tiles; ++k) {
        Sums d;
        fence();
        multiply_tile(d, loaded.tile[k], false);
        commit();
        if constexpr (!broken) {
            wait<0>();
            tie(d);
        }
        if (masked[k])
            for (float& each : d)
                each = 0;
        wait<0>();
        tie(d);
        store_sums(out + k * rows * columns, d);
    }
}

// -- A comes in registers ----------------------------------------------------------------------------------

/// The thread's share of 64 x 16 elements of A.
__device__ void load_fragment(std::uint32_t (&fragment)[4], const Bf16* a, int width, int k) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        fragment[i] = *reinterpret_cast<const std::uint32_t*>(a + row_of(2 * (i % 2)) * width + k * step +
                                                              threadIdx.x % 4 * 2 + i / 2 * 8);
}

__device__ std::uint64_t step_of_b(const Loaded& loaded, int k) {
    return swizzled_tile(loaded.tile[k * step / depth].b) + k % (depth / step) * next_step;
}

template <bool broken>
__global__ void fragment_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                const Bf16* of_a, float* out) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    Sums d{};
    std::uint32_t fragment[4];
#pragma unroll 1
    for (int k = 0; k < tiles * depth / step; ++k) {
        load_fragment(fragment, of_a, tiles * depth, k);
        fence();
        multiply(d, fragment, step_of_b(loaded, k));
        commit();
        if constexpr (!broken)
            wait<0>();
    }
    wait<0>();
    tie(d);
    store_sums(out, d);
}

// Of attention: the next scores are wanted first, while the output is still multiplied.
template <bool broken>
__global__ void scores_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                              const Bf16* of_a, float* out) {
    __shared__ Loaded loaded;
    load_all(loaded, a, b);
    Sums scores, output{};
    std::uint32_t fragment[4];
    load_fragment(fragment, of_a, tiles * depth, 0);
    fence();
    if constexpr (broken) {
        multiply(output, fragment, step_of_b(loaded, 0));
        commit();
        multiply_tile(scores, loaded.tile[1], false);
        commit();
    } else {
        multiply_tile(scores, loaded.tile[1], false);
        commit();
        multiply(output, fragment, step_of_b(loaded, 0));
        commit();
    }
    wait<1>();
    tie(scores);
    store_sums(out, scores);
    wait<0>();
    tie(output);
    store_sums(out + rows * columns, output);
}

// -- launches ----------------------------------------------------------------------------------------------

struct Operands {
    Matrix a{rows, tiles*depth, 1}, b{columns, tiles*depth, 2};
    pairs::Device<Bf16> of_a{a.bits()}, of_b{b.bits()};
    CUtensorMap map_a = tile_map(of_a.data(), rows, tiles* depth, rows);
    CUtensorMap map_b = tile_map(of_b.data(), columns, tiles* depth, columns);
    pairs::Device<float> out{2 * rows * columns};

    /// The product of the tiles k to `end`.
    std::vector<float> expected(int k, int end) const { return product(a, b, k * depth, end * depth); }
    /// The results, of which there are two.
    std::vector<float> result(int index) const {
        const std::vector<float> both = out.read();
        if (both.empty())
            return both;
        const auto begin = both.begin() + index * rows * columns;
        return {begin, begin + rows * columns};
    }
};

bool no_wait(bool broken) {
    return is_product(broken ? no_wait_kernel<true> : no_wait_kernel<false>, tiles, group_threads);
}
bool no_commit(bool broken) {
    return is_product(broken ? no_commit_kernel<true> : no_commit_kernel<false>, tiles, group_threads);
}
bool first_fence(bool broken) {
    return is_product(broken ? first_fence_kernel<true> : first_fence_kernel<false>, tiles, group_threads);
}

bool rescale(bool broken) {
    Operands of;
    pairs::Device<float> scale(std::vector<float>{0.5f});
    (broken ? rescale_kernel<true>
            : rescale_kernel<false>)<<<1, group_threads>>>(of.map_a, of.map_b, of.out.data(), scale.data());
    std::vector<float> expected = of.expected(0, 1);
    const std::vector<float> added = of.expected(1, 2);
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = expected[i] / 2 + added[i];
    return of.result(0) == expected;
}

bool two_groups(bool broken) {
    Operands of;
    (broken ? two_groups_kernel<true> : two_groups_kernel<false>)<<<1, group_threads>>>(of.map_a, of.map_b,
                                                                                        of.out.data(), 0);
    return of.result(0) == of.expected(0, 1) && of.result(1) == of.expected(1, 2);
}

bool dropped(bool broken) {
    Operands of;
    pairs::Device<int> masked(std::vector<int>{1, 0});
    (broken ? dropped_kernel<true>
            : dropped_kernel<false>)<<<1, group_threads>>>(of.map_a, of.map_b, of.out.data(), masked.data());
    return of.result(0) == std::vector<float>(rows * columns) && of.result(1) == of.expected(1, 2);
}

bool fragment(bool broken) {
    Operands of;
    (broken ? fragment_kernel<true> : fragment_kernel<false>)<<<1, group_threads>>>(
        of.map_a, of.map_b, of.of_a.data(), of.out.data());
    return of.result(0) == of.expected(0, 2);
}

bool scores(bool broken) {
    Operands of;
    (broken ? scores_kernel<true>
            : scores_kernel<false>)<<<1, group_threads>>>(of.map_a, of.map_b, of.of_a.data(), of.out.data());
    return of.result(0) == of.expected(1, 2) && of.result(1) == product(of.a, of.b, 0, step);
}

constexpr pairs::Pair list[] = {
    {.name = "wgmma_no_wait",
     .mistake = "The group is committed, and its accumulators are stored before anything waits for it.",
     .fix = "wgmma.wait_group 0 behind the commit, and tie the accumulators to it.",
     .run = no_wait,
     .finding = "wgmma-register-in-flight",
     .says = "reads an accumulator while a wgmma that has it is in flight",
     .remedy = "wgmma.commit_group and wgmma.wait_group 0"},
    {.name = "wgmma_no_commit",
     .mistake = "The second half of the products is not committed, so wgmma.wait_group does not wait for it.",
     .fix = "wgmma.commit_group after the last wgmma.",
     .run = no_commit,
     .finding = "wgmma-register-in-flight",
     .says = "not committed to a group yet, and a wait covers committed groups only",
     .remedy = "Put wgmma.commit_group between the wgmma and the wait"},
    {.name = "wgmma_first_fence",
     .mistake = "No wgmma.fence stands before the first wgmma.",
     .fix = "wgmma.fence before it.",
     .run = first_fence,
     .finding = "missing-wgmma-fence",
     .says = "executes its first wgmma without a wgmma.fence before it",
     .remedy = "Put wgmma.fence.sync.aligned before the first wgmma of the batch"},
    {.name = "wgmma_rescale",
     .mistake = "The accumulators are scaled behind the wgmma.fence of the products that go on with them.",
     .fix = "The fence behind the scaling.",
     .run = rescale,
     .finding = "missing-wgmma-fence",
     .says = "wrote a register of this wgmma, and no wgmma.fence lies between",
     .remedy = "after the last access to its registers"},
    {.name = "wgmma_two_groups",
     .mistake = "Of two groups the second is waited for with N = 1, which leaves it in flight.",
     .fix = "wgmma.wait_group 0 before the second epilogue.",
     .run = two_groups,
     .finding = "wgmma-register-in-flight",
     .says = "with N = 1, which leaves the newest group in flight",
     .remedy = "Wait with wgmma.wait_group 0 before this line"},
    {.name = "wgmma_dropped",
     .mistake = "Accumulators of masked products are set to zero while the wgmma is in flight.",
     .fix = "Wait before they are set.",
     .run = dropped,
     .finding = "wgmma-register-in-flight",
     .says = "an accumulator while a wgmma that has it is in flight",
     .remedy = "wgmma.wait_group 0"},
    {.name = "wgmma_fragment",
     .mistake = "The next fragment of A is loaded into the registers that a wgmma in flight reads.",
     .fix = "wgmma.wait_group 0 before the registers are loaded again.",
     .run = fragment,
     .finding = "wgmma-register-in-flight",
     .says = "writes a register of matrix A while a wgmma that has it is in flight",
     .remedy = "wgmma.wait_group 0"},
    {.name = "wgmma_scores",
     .mistake =
         "wgmma.wait_group 1 waits for the group that was committed first, which is that of the output; "
         "the scores that are read are in the newest.",
     .fix = "Commit the group of the scores first.",
     .run = scores,
     .finding = "wgmma-register-in-flight",
     .says = "with N = 1, which leaves the newest group in flight",
     .remedy = "Wait with wgmma.wait_group 0 before this line"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

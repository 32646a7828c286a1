/// @file tile_kernel.cuh
/// Tiles that go through registers: loaded in chunks, turned in squares, exchanged in shared memory, stored.
#pragma once

#include "access.cuh"
#include "candidate.hpp"

#include "workbook/launch.hpp"

namespace tuner {

/// Pointers, pitches, policies and the order: all that a kernel gets.
struct Job {
    const float* in;
    float* out;
    std::uint32_t rows;
    std::uint32_t columns;
    std::uint64_t load_policy;
    std::uint64_t store_policy;
    Walk walk;
};

inline Job make_job(const Candidate& candidate, const Problem& problem, const Setting& setting,
                    const Context& context) {
    return {
        problem.in,
        problem.out,
        problem.rows,
        problem.columns,
        context.policies[setting.load_policy],
        context.policies[setting.store_policy],
        make_walk(setting.order, problem.rows, problem.columns, candidate.tile_rows, candidate.tile_columns)};
}

/// The shape of a tile and how threads share it. `words` per access: 4, 2 or 1.
template <int words_, int rows_, int columns_, int threads_, Load load_, Store store_>
struct Shape {
    static constexpr int words = words_, rows = rows_, columns = columns_, threads = threads_;
    static constexpr Load load = load_;
    static constexpr Store store = store_;
    static constexpr int micro_across = columns / words; ///< squares in a row of the tile that is read
    static constexpr int micro_down = rows / words;      ///< chunks in a row of the tile that is written
    static constexpr int per_thread = micro_across * micro_down / threads;
    static constexpr int bank_mask = 32 / words - 1;
    static constexpr int skewed_row = rows * 4; ///< bytes, without the skew
    static constexpr std::size_t shared_bytes =
        std::size_t{4} * rows * columns + (store == Store::rows ? 16 * (columns / 4) : 0);
    static_assert(per_thread * threads == micro_across * micro_down && micro_down > bank_mask);

    /// Where chunk `chunk` of row `row` of the turned tile lies. Bulk copies want rows in one piece, so these
    /// are skewed by 16 bytes every four rows; else chunks are exchanged within a row.
    static __device__ Chunk<words>& turned(unsigned char* tile, int row, int chunk) {
        if constexpr (store == Store::rows)
            return *reinterpret_cast<Chunk<words>*>(row_start(tile, row) + 16 * chunk);
        else
            return reinterpret_cast<Chunk<words>*>(
                tile)[row * micro_down + (chunk ^ (row / words & bank_mask))];
    }
    static __device__ unsigned char* row_start(unsigned char* tile, int row) {
        return tile + row * skewed_row + row / 4 * 16;
    }
};

template <class S>
using Squares = MicroTile<S::words>[S::per_thread];

/// Loads this thread's squares of the tile at `place`.
template <class S>
__device__ void load_squares(Squares<S>& squares, const Job& job, Place place) {
    const float* corner =
        job.in + std::size_t{place.row} * S::rows * job.columns + std::size_t{place.column} * S::columns;
#pragma unroll
    for (int p = 0; p < S::per_thread; ++p) {
        const int m = threadIdx.x + p * S::threads;
        const float* from = corner + std::size_t(m / S::micro_across * S::words) * job.columns +
                            m % S::micro_across * S::words;
#pragma unroll
        for (int i = 0; i < S::words; ++i)
            load_chunk<S::load>(squares[p].chunks[i], from + std::size_t(i) * job.columns, job.load_policy);
    }
}

/// Turns the squares and puts them into the turned tile.
template <class S>
__device__ void put_squares(Squares<S>& squares, unsigned char* tile) {
#pragma unroll
    for (int p = 0; p < S::per_thread; ++p) {
        const int m = threadIdx.x + p * S::threads;
        squares[p].turn();
#pragma unroll
        for (int i = 0; i < S::words; ++i)
            S::turned(tile, m % S::micro_across * S::words + i, m / S::micro_across) = squares[p].chunks[i];
    }
}

/// Stores the turned tile to the place that faces `place`; `pitch` is that of the rows written.
template <class S>
__device__ void store_tile(unsigned char* tile, const Job& job, float* corner, std::size_t pitch) {
    if constexpr (S::store == Store::rows) {
        for (int row = threadIdx.x; row < S::columns; row += S::threads)
            bulk_store(corner + row * pitch, S::row_start(tile, row), S::skewed_row, job.store_policy);
        bulk_commit();
    } else {
#pragma unroll
        for (int k = 0; k < S::per_thread * S::words; ++k) {
            const int n = threadIdx.x + k * S::threads;
            const int row = n / S::micro_down;
            const int chunk = n % S::micro_down;
            store_chunk<S::store>(S::turned(tile, row, chunk), corner + row * pitch + chunk * S::words,
                                  job.store_policy);
        }
    }
}

template <class S>
__device__ float* corner_of(const Job& job, Place place) {
    return job.out + std::size_t{place.column} * S::columns * job.rows + std::size_t{place.row} * S::rows;
}

/// All threads have written the tile; bulk copies may read it.
template <class S>
__device__ void tile_is_written() {
    if constexpr (S::store == Store::rows)
        fence_async();
    __syncthreads();
}

/// One tile per block.
template <class S>
__global__ void __launch_bounds__(S::threads) one_tile(const Job job) {
    extern __shared__ __align__(1024) unsigned char tile[];
    const Place place = place_of(job.walk, blockIdx.x);
    if (place.row >= job.walk.down || place.column >= job.walk.across)
        return;
    Squares<S> squares;
    load_squares<S>(squares, job, place);
    put_squares<S>(squares, tile);
    tile_is_written<S>();
    store_tile<S>(tile, job, corner_of<S>(job, place), job.rows);
    if constexpr (S::store == Store::rows)
        bulk_wait_read<0>();
}

/// Blocks that stay: the next tile is being loaded into registers while the last one is stored.
template <class S>
__global__ void __launch_bounds__(S::threads) many_tiles(const Job job) {
    extern __shared__ __align__(1024) unsigned char tile[];
    static_assert(S::store != Store::rows);
    const auto inside = [&](Place place) {
        return place.row < job.walk.down && place.column < job.walk.across;
    };
    Squares<S> squares;
    Place place = place_of(job.walk, blockIdx.x);
    if (inside(place))
        load_squares<S>(squares, job, place);
    for (std::uint32_t n = blockIdx.x; n < job.walk.blocks; n += gridDim.x) {
        const bool mine = inside(place);
        float* corner = corner_of<S>(job, place);
        if (mine)
            put_squares<S>(squares, tile);
        __syncthreads();
        if (n + gridDim.x < job.walk.blocks) {
            place = place_of(job.walk, n + gridDim.x);
            if (inside(place))
                load_squares<S>(squares, job, place);
        }
        if (mine)
            store_tile<S>(tile, job, corner, job.rows);
        __syncthreads();
    }
}

/// How the tile probe departs from a transposition.
enum class Probe { in_place, read_only, write_only };

/// Moves tiles as one_tile does, and leaves out what is not asked about: tiles that stay where they were,
/// reads without writes, writes without reads.
template <class S, Probe probe>
__global__ void __launch_bounds__(S::threads) probe_tiles(const Job job) {
    extern __shared__ __align__(1024) unsigned char tile[];
    const Place place = place_of(job.walk, blockIdx.x);
    if (place.row >= job.walk.down || place.column >= job.walk.across)
        return;
    Squares<S> squares = {};
    if constexpr (probe != Probe::write_only)
        load_squares<S>(squares, job, place);
    put_squares<S>(squares, tile);
    tile_is_written<S>();
    if constexpr (probe == Probe::in_place) {
        // The tile keeps its place; its rows are as long as its columns were, so it must be square.
        static_assert(S::rows == S::columns);
        store_tile<S>(tile, job,
                      job.out + std::size_t{place.row} * S::rows * job.columns +
                          std::size_t{place.column} * S::columns,
                      job.columns);
    } else if constexpr (probe == Probe::write_only) {
        store_tile<S>(tile, job, corner_of<S>(job, place), job.rows);
    } else if (job.walk.blocks == 0) // never; the compiler does not know
        store_tile<S>(tile, job, corner_of<S>(job, place), job.rows);
}

template <class S>
void launch_one_tile(const Candidate& candidate, const Problem& problem, const Setting& setting,
                     const Context& context) {
    const Job job = make_job(candidate, problem, setting, context);
    const unsigned cluster = static_cast<unsigned>(setting.cluster);
    workbook::launch(one_tile<S>,
                     {.grid = (job.walk.blocks + cluster - 1) / cluster * cluster,
                      .block = S::threads,
                      .dynamic_shared = shared_for(S::shared_bytes, setting.blocks_per_sm),
                      .cluster = cluster_of(cluster)},
                     job);
}

template <class S>
void launch_many_tiles(const Candidate& candidate, const Problem& problem, const Setting& setting,
                       const Context& context) {
    const Job job = make_job(candidate, problem, setting, context);
    const std::size_t shared = shared_for(S::shared_bytes, setting.blocks_per_sm);
    int fit = 1;
    if (shared > 48 * 1024)
        workbook::raise_limits(many_tiles<S>, {.dynamic_shared = shared});
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, many_tiles<S>, S::threads, shared),
                    "asking how many blocks fit");
    const auto each = static_cast<unsigned>(setting.tiles_per_block);
    const unsigned staying = each > 0 ? (job.walk.blocks + each - 1) / each
                                      : static_cast<unsigned>(context.multiprocessors * (fit > 0 ? fit : 1));
    workbook::launch(many_tiles<S>,
                     {.grid = staying < job.walk.blocks ? staying : job.walk.blocks,
                      .block = S::threads,
                      .dynamic_shared = shared},
                     job);
}

template <class S, Probe probe>
void launch_probe(const Candidate& candidate, const Problem& problem, const Setting& setting,
                  const Context& context) {
    const Job job = make_job(candidate, problem, setting, context);
    workbook::launch(probe_tiles<S, probe>,
                     {.grid = job.walk.blocks,
                      .block = S::threads,
                      .dynamic_shared = shared_for(S::shared_bytes, setting.blocks_per_sm)},
                     job);
}

/// '64x64/256'.
template <class S>
std::string shape_name() {
    return std::to_string(S::rows) + "x" + std::to_string(S::columns) + "/" + std::to_string(S::threads);
}

/// The entry of a kernel in a list of candidates.
template <class S>
Candidate describe(const char* family) {
    return {.name = std::string(family) + " " + shape_name<S>() + ", " + name_of(S::load) + ", " +
                    name_of(S::store) + (S::words < 4 ? ", " + std::to_string(4 * S::words) + " bytes" : ""),
            .family = family,
            .tile_rows = S::rows,
            .tile_columns = S::columns,
            .threads = S::threads,
            .access = 4 * S::words,
            .stages = 0,
            .load = name_of(S::load),
            .store = name_of(S::store),
            .takes_policies = is_hinted(S::load) || S::store == Store::hinted || S::store == Store::rows};
}

template <class S>
Candidate one_tile_candidate() {
    Candidate candidate = describe<S>("registers");
    candidate.launch = launch_one_tile<S>;
    return candidate;
}

template <class S>
Candidate many_tiles_candidate() {
    Candidate candidate = describe<S>("persistent");
    candidate.stages = 2;
    candidate.launch = launch_many_tiles<S>;
    return candidate;
}

template <class S, Probe probe>
Candidate probe_candidate(const char* name) {
    Candidate candidate = describe<S>("probe");
    candidate.name = std::string(name) + " " + shape_name<S>();
    candidate.transposes = false;
    candidate.launch = launch_probe<S, probe>;
    return candidate;
}

} // namespace tuner

/// @file main.cu
/// Chapter 2: copies global memory to shared memory with cp.async, checks and measures.
#include "cp_async.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

namespace {

using namespace cp_async;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr unsigned batches = 8;

/// The array that all kernels copy, as floats and, from its second byte on, as bytes.
struct Tiles {
    explicit Tiles(const workbook::RunContext& run)
        : host(workbook::random_values<float>(run.size, run.seed, {.specials = true})),
          keep_host(workbook::random_integers<unsigned char>(run.size, run.seed + 1, 0, 1)), in(host),
          keep(keep_host), out(run.size), whole(whole_tiles(run.size)),
          bytes_out(run.size > 0 ? run.size * sizeof(float) - 1 : 0) {}

    /// The input's bytes without the first, so that none of the addresses is a multiple of 2.
    [[nodiscard]] std::span<const unsigned char> bytes_in() const {
        const auto* first = reinterpret_cast<const unsigned char*>(in.data());
        return {bytes_out.size() > 0 ? first + 1 : first, bytes_out.size()};
    }

    std::vector<float> host;
    std::vector<unsigned char> keep_host;
    DeviceBuffer<float> in;
    DeviceBuffer<unsigned char> keep; ///< for ignore_src: 0 where the source is to be ignored
    DeviceBuffer<float> out;
    DeviceBuffer<float> whole; ///< for zero_filled_tail: whole tiles
    DeviceBuffer<unsigned char> bytes_out;
};

std::size_t bytes(const Tiles& tiles) { return tiles.in.size_bytes() + tiles.out.size_bytes(); }
void prepare(Tiles& tiles) { tiles.out.poison(); }

Comparison check_reversed(Tiles& tiles) {
    return workbook::check_exact(tiles.out, workbook::reversed_tiles(tiles.host, tile_floats));
}

Comparison check_neighbour_sums(Tiles& tiles) {
    const auto sums = workbook::neighbour_sums<float>(tiles.host, block_threads);
    return workbook::check_values(tiles.out, sums);
}

Comparison check_zero_filled(Tiles& tiles) {
    std::vector<float> padded = tiles.host;
    padded.resize(tiles.whole.size(), 0.0f);
    return workbook::check_exact(tiles.whole, workbook::reversed_tiles(padded, tile_floats));
}

Comparison check_ignored(Tiles& tiles) {
    std::vector<float> kept = tiles.host;
    for (std::size_t i = 0; i < kept.size(); ++i)
        if (tiles.keep_host[i] == 0)
            kept[i] = 0.0f;
    return workbook::check_exact(tiles.out, workbook::reversed_tiles(kept, tile_floats));
}

Comparison check_bytes(Tiles& tiles) {
    std::vector<unsigned char> expected(tiles.bytes_out.size());
    if (!expected.empty())
        std::memcpy(expected.data(), reinterpret_cast<const unsigned char*>(tiles.host.data()) + 1,
                    expected.size());
    return workbook::check_exact(tiles.bytes_out, workbook::reversed_tiles(expected, tile_bytes));
}

/// An entry for a kernel that reverses the tiles of the array.
template <void (*launch)(std::span<const float>, std::span<float>)>
constexpr workbook::KernelEntry<Tiles> reversing(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = bytes,
            .prepare = prepare,
            .launch = [](Tiles& tiles) { launch(tiles.in.span(), tiles.out.span()); },
            .check = check_reversed};
}

/// An entry for a kernel that sums neighbours, batch by batch.
template <void (*launch)(std::span<const float>, std::span<float>, unsigned)>
constexpr workbook::KernelEntry<Tiles> summing(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = bytes,
            .prepare = prepare,
            .launch = [](Tiles& tiles) { launch(tiles.in.span(), tiles.out.span(), batches); },
            .check = check_neighbour_sums};
}

/// An entry for a kernel that reverses the tiles of the array's bytes.
template <void (*launch)(std::span<const unsigned char>, std::span<unsigned char>)>
constexpr workbook::KernelEntry<Tiles> reversing_bytes(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Tiles& tiles) { return 2 * tiles.bytes_out.size_bytes(); },
            .prepare = [](Tiles& tiles) { tiles.bytes_out.poison(); },
            .launch = [](Tiles& tiles) { launch(tiles.bytes_in(), tiles.bytes_out.span()); },
            .check = check_bytes};
}

constexpr workbook::KernelEntry<Tiles> kernels[] = {
    reversing<launch_copy_4_bytes>("copy_4_bytes", "cp.async.ca, 4 bytes: no register in between"),
    reversing<launch_copy_8_bytes>("copy_8_bytes", "cp.async.ca, 8 bytes"),
    reversing<launch_copy_16_bytes>("copy_16_bytes", "cp.async.cg, 16 bytes: past L1 too"),
    reversing<launch_l2_prefetch<64>>("l2_prefetch_64", "L2 fetches 64 bytes"),
    reversing<launch_l2_prefetch<256>>("l2_prefetch_256", "L2 fetches 256 bytes"),
    reversing<launch_evict_first>("evict_first", "createpolicy and .L2::cache_hint"),
    {.name = "zero_filled_tail",
     .shows = "src-size: the rest of a chunk is zero",
     .bytes = [](const Tiles& tiles) { return tiles.in.size_bytes() + tiles.whole.size_bytes(); },
     .prepare = [](Tiles& tiles) { tiles.whole.poison(); },
     .launch = [](Tiles& tiles) { launch_zero_filled_tail(tiles.in.span(), tiles.whole.span()); },
     .check = check_zero_filled},
    {.name = "ignore_src",
     .shows = "ignore-src: zero where a flag says so",
     .bytes = [](const Tiles& tiles) { return bytes(tiles) + tiles.keep.size_bytes(); },
     .prepare = prepare,
     .launch = [](Tiles& tiles) { launch_ignore_src(tiles.in.span(), tiles.keep.span(), tiles.out.span()); },
     .check = check_ignored},
    reversing<launch_groups_in_flight<4>>("groups_in_flight", "wait_group 3 of 4 groups"),
    reversing<launch_pipeline_primitives>("pipeline_primitives", "__pipeline_memcpy_async"),
    summing<launch_with_memcpy_async>("with_memcpy_async", "cooperative_groups, wait"),
    summing<launch_with_wait_prior>("with_wait_prior", "cooperative_groups, wait_prior<1>"),
    reversing<launch_memcpy_async_barrier>("memcpy_async_barrier", "cuda::memcpy_async + cuda::barrier"),
    reversing<launch_memcpy_async_pipeline>("memcpy_async_pipeline",
                                            "cuda::memcpy_async, aligned_size_t<16>"),
    reversing_bytes<launch_unaligned_fallback>("unaligned_fallback",
                                               "odd address: loads and stores, at run time"),
    reversing_bytes<launch_synchronous_fallback>("synchronous_fallback",
                                                 "bytes: loads and stores, at compile time"),
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "cp_async",
                                     .summary = "copies to shared memory that pass no register",
                                     .size_unit = "floats",
                                     .size_with_clock = 100'000'000,
                                     .size_without_clock = 50'001,
                                     .device_bytes_per_element = 4 * sizeof(float) + 1,
                                     .host_bytes_per_element = 4 * sizeof(float) + 1,
                                     .needs = {.compute_major = 8}};
    return workbook::run_program<Tiles>(info, kernels, argc, argv);
}

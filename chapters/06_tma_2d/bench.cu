/// @file bench.cu
/// Chapter 6's measurements: what of a tensor copy costs time. One thread per block copies a box and stores
/// it back, as copy_1d to copy_5d do; rank, bytes of the box and its fit change one at a time. What plain
/// loads and stores make of a matrix and of a filter. And where the time of a filter goes.
#include "bench_filter.cuh"
#include "bench_plain.cuh"
#include "bench_work.cuh"
#include "tma_2d.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tma_2d;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

/// A tensor of ints and the box that a block copies. Rows (dimension 0) are `pitch` apart, the rest is dense.
/// What is read lies `shift` elements further in its row than where it is written.
struct Boxes {
    const char* name;
    int rank;
    std::array<std::size_t, 5> dims;
    std::size_t pitch;
    std::array<int, 5> box;
    int shift = 0;

    [[nodiscard]] std::size_t elements() const {
        std::size_t product = 1;
        for (const std::size_t side : dims)
            product *= side;
        return product;
    }
    [[nodiscard]] std::size_t padded() const { return elements() / dims[0] * pitch; }
    [[nodiscard]] std::size_t box_bytes() const {
        std::size_t product = sizeof(int);
        for (const int side : box)
            product *= static_cast<std::size_t>(side);
        return product;
    }
    [[nodiscard]] std::size_t blocks() const {
        std::size_t product = 1;
        for (std::size_t i = 0; i < dims.size(); ++i)
            product *= workbook::blocks_for(dims[i], static_cast<std::size_t>(box[i]));
        return product;
    }
    /// Per cent of the boxes' elements that the tensor has.
    [[nodiscard]] double inside() const {
        return 100. * static_cast<double>(elements() * sizeof(int)) /
               static_cast<double>(blocks() * box_bytes());
    }
};

/// As copy_tile, with a box that is known at run time.
template <int rank>
__global__ void copy_boxes(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                           Extents<rank> tiles, Extents<rank> box, std::int32_t shift, std::uint32_t bytes) {
    extern __shared__ __align__(128) std::byte tile[];
    __shared__ std::uint64_t bar;
    std::int32_t at[rank];
    int index = static_cast<int>(blockIdx.x);
#pragma unroll
    for (int i = 0; i < rank; ++i) {
        at[i] = index % tiles.of[i] * box.of[i];
        index /= tiles.of[i];
    }
    expect(&bar, bytes);
    at[0] += shift;
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &from, at, &bar);
    wait(&bar, 0);
    at[0] -= shift;
    store(to, at, tile);
}

template <int rank>
CUtensorMap map_of(const Boxes& boxes, int* data) {
    TensorLayout<rank> layout;
    std::size_t stride = boxes.pitch * sizeof(int);
    for (std::size_t i = 0; i < rank; ++i) {
        layout.dims[i] = boxes.dims[i];
        layout.box[i] = static_cast<std::uint32_t>(boxes.box[i]);
        if (i > 0) {
            layout.strides[i - 1] = stride;
            stride *= boxes.dims[i];
        }
    }
    return make_tensor_map(data, layout);
}

/// Random words, as many as the largest tensor of a list has, and as much room.
struct Buffers {
    explicit Buffers(std::span<const Boxes> list) : Buffers(largest(list)) {}
    DeviceBuffer<int> in;
    DeviceBuffer<int> out;
    std::vector<int> host;

  private:
    explicit Buffers(std::size_t elements) : in(elements), out(elements) {
        workbook::launch(workbook::fill_random_words<int>, workbook::striding(elements), in.data(), elements);
        host = in.download();
    }
    static std::size_t largest(std::span<const Boxes> list) {
        std::size_t elements = 0;
        for (const Boxes& boxes : list)
            elements = std::max(elements, boxes.padded());
        return elements;
    }
};

/// Copies, checks the copy, and adds the times to table `id` with `cells` before them.
template <int rank>
void copy_with(Bench& bench, const char* id, const Boxes& boxes, Buffers& buffers,
               std::vector<BenchCell> cells, int blocks_per_sm) {
    Extents<rank> tiles{};
    Extents<rank> box{};
    for (std::size_t i = 0; i < rank; ++i) {
        box.of[i] = boxes.box[i];
        tiles.of[i] =
            static_cast<int>(workbook::blocks_for(boxes.dims[i], static_cast<std::size_t>(boxes.box[i])));
    }
    const auto bytes = static_cast<std::uint32_t>(boxes.box_bytes());
    constexpr std::size_t per_sm = 227 * 1024;
    const std::size_t shared =
        blocks_per_sm == 0 ? bytes : per_sm / static_cast<std::size_t>(blocks_per_sm) - 2 * 1024;
    const CUtensorMap from = map_of<rank>(boxes, buffers.in.data());
    const CUtensorMap to = map_of<rank>(boxes, buffers.out.data());
    const auto launch = [&](cudaStream_t) {
        workbook::launch(copy_boxes<rank>,
                         {.grid = static_cast<unsigned>(boxes.blocks()), .dynamic_shared = shared}, from, to,
                         tiles, box, boxes.shift, bytes);
    };
    buffers.out.poison();
    launch(nullptr);
    const std::vector<int> written = buffers.out.download();
    const auto shift = static_cast<std::size_t>(boxes.shift);
    for (std::size_t i = 0; i < boxes.padded(); ++i)
        if (i % boxes.pitch < boxes.dims[0] &&
            written[i] != (i % boxes.pitch + shift < boxes.dims[0] ? buffers.host[i + shift] : 0))
            return bench.wrong(std::string(id) + ", " + boxes.name + ": element " + std::to_string(i));
    const std::size_t moved = 2 * boxes.elements() * sizeof(int);
    cells = workbook::joined<BenchCell>(
        {{"box", boxes.name}}, workbook::joined<BenchCell>(std::move(cells), {{"blocks", boxes.blocks()}}));
    if (const auto timing = bench.time_checked(moved, launch))
        cells = workbook::joined<BenchCell>(
            std::move(cells),
            {{"median_ms", timing->median_ms},
             {"ns_per_block", timing->median_ms * 1e6 / static_cast<double>(boxes.blocks())},
             {"repetitions", timing->repetitions},
             {"gb_per_s", timing->bytes_per_second(moved) * 1e-9}});
    bench.row(id, cells);
}

void copy_any(Bench& bench, const char* id, const Boxes& boxes, Buffers& buffers,
              const std::vector<BenchCell>& cells, int blocks_per_sm = 0) {
    switch (boxes.rank) {
    case 1:
        return copy_with<1>(bench, id, boxes, buffers, cells, blocks_per_sm);
    case 2:
        return copy_with<2>(bench, id, boxes, buffers, cells, blocks_per_sm);
    case 3:
        return copy_with<3>(bench, id, boxes, buffers, cells, blocks_per_sm);
    case 4:
        return copy_with<4>(bench, id, boxes, buffers, cells, blocks_per_sm);
    default:
        return copy_with<5>(bench, id, boxes, buffers, cells, blocks_per_sm);
    }
}

/// Rank and bytes of a box, in a tensor of which every box is whole and every row begins at a sector.
void ranks(Bench& bench) {
    bench.table("box_ranks", "Copies by blocks of one thread, a box each: rank and bytes of the box",
                {{"box", "box"},
                 {"rank", "rank"},
                 {"bytes", "bytes of a box"},
                 {"blocks_per_sm", "blocks per SM"},
                 {"blocks", "blocks"},
                 {"median_ms", "time", "ms"},
                 {"ns_per_block", "time per block", "ns"},
                 {"repetitions", "repetitions"},
                 {"gb_per_s", "rate", "GB/s"}});
    const std::size_t w = bench.size<std::size_t>(36, 2);
    const std::size_t v = bench.size<std::size_t>(38, 2);
    const std::size_t deep = 39 * v * w;
    const std::size_t line = 48 * 40 * deep;
    const Boxes list[] = {{"16", 1, {line, 1, 1, 1, 1}, line, {16, 1, 1, 1, 1}},
                          {"16 × 5", 2, {48, 40 * deep, 1, 1, 1}, 48, {16, 5, 1, 1, 1}},
                          {"16 × 5 × 1 × 1 × 1", 5, {48, 40, 39, v, w}, 48, {16, 5, 1, 1, 1}},
                          {"240", 1, {line, 1, 1, 1, 1}, line, {240, 1, 1, 1, 1}},
                          {"16 × 5 × 3", 3, {48, 40, deep, 1, 1}, 48, {16, 5, 3, 1, 1}},
                          {"16 × 5 × 3 × 1 × 1", 5, {48, 40, 39, v, w}, 48, {16, 5, 3, 1, 1}},
                          {"16 × 60", 2, {48, 40 * deep, 1, 1, 1}, 48, {16, 60, 1, 1, 1}},
                          {"16 × 5 × 12", 3, {48, 40, deep, 1, 1}, 48, {16, 5, 12, 1, 1}},
                          {"16 × 5 × 3 × 2 × 2", 5, {48, 40, 39, v, w}, 48, {16, 5, 3, 2, 2}}};
    Buffers buffers(list);
    for (const Boxes& boxes : list)
        copy_any(bench, "box_ranks", boxes, buffers,
                 {{"rank", boxes.rank}, {"bytes", boxes.box_bytes()}, {"blocks_per_sm", 32}});
    for (const int blocks : {16, 8})
        copy_any(bench, "box_ranks", list[4], buffers,
                 {{"rank", 3}, {"bytes", list[4].box_bytes()}, {"blocks_per_sm", blocks}}, blocks);
}

/// How well boxes of 16 columns fit the rows of a tensor of rank 5: whole or not, at sectors or not.
void fits(Bench& bench) {
    bench.table("box_fit", "The same box of 16 × 5 × 3 × 2 × 2 ints in tensors whose rows fit it, or not",
                {{"box", "box"},
                 {"width", "ints in a row"},
                 {"pitch", "from row to row", "bytes"},
                 {"inside", "of the boxes inside", "%"},
                 {"blocks", "blocks"},
                 {"median_ms", "time", "ms"},
                 {"ns_per_block", "time per block", "ns"},
                 {"repetitions", "repetitions"},
                 {"gb_per_s", "rate", "GB/s"}});
    const std::size_t w = bench.size<std::size_t>(36, 2);
    const std::size_t v = bench.size<std::size_t>(38, 2);
    std::vector<Boxes> list;
    for (const auto& [width, pitch] :
         {std::array<std::size_t, 2>{48, 48}, {48, 52}, {48, 56}, {50, 52}, {50, 56}, {64, 64}})
        list.push_back({"16 × 5 × 3 × 2 × 2", 5, {width, 40, 39, v, w}, pitch, {16, 5, 3, 2, 2}});
    Buffers buffers(list);
    for (const Boxes& boxes : list)
        copy_any(
            bench, "box_fit", boxes, buffers,
            {{"width", boxes.dims[0]}, {"pitch", boxes.pitch * sizeof(int)}, {"inside", boxes.inside()}});
}

/// Where in a 32-byte sector the boxes that are read begin: the box and the tensor of copy_4d, and one whose
/// boxes are all whole.
void shifts(Bench& bench) {
    bench.table("box_shift",
                "The same box of 16 × 5 × 3 × 2 ints, read from so many bytes further in its row",
                {{"box", "box"},
                 {"width", "ints in a row"},
                 {"pitch", "from row to row", "bytes"},
                 {"inside", "of the boxes inside", "%"},
                 {"shift", "read from", "bytes further"},
                 {"blocks", "blocks"},
                 {"median_ms", "time", "ms"},
                 {"ns_per_block", "time per block", "ns"},
                 {"repetitions", "repetitions"},
                 {"gb_per_s", "rate", "GB/s"}});
    const std::size_t deep = bench.size<std::size_t>(98, 2);
    std::vector<Boxes> list;
    for (const auto& [width, pitch] : {std::array<std::size_t, 2>{103, 104}, {112, 112}})
        for (const int shift : {0, 4, 8, 12, 16})
            list.push_back({"16 × 5 × 3 × 2", 4, {width, 100, 99, deep, 1}, pitch, {16, 5, 3, 2, 1}, shift});
    Buffers buffers(list);
    for (const Boxes& boxes : list)
        copy_any(bench, "box_shift", boxes, buffers,
                 {{"width", boxes.dims[0]},
                  {"pitch", boxes.pitch * sizeof(int)},
                  {"inside", boxes.inside()},
                  {"shift", static_cast<std::size_t>(boxes.shift) * sizeof(int)}});
}

constexpr workbook::BenchPart parts[] = {
    {"ranks", "copies by rank and bytes of the box", ranks},
    {"fits", "copies whose boxes fit the tensor's rows, or not", fits},
    {"shifts", "copies whose boxes are read from the middle of a sector, or not", shifts},
    {"plain", "adding one to a matrix without any tensor copy", plain_tiles},
    {"filter", "a 3x3 filter: how its halo comes, what is added, how its results go", filter_twins},
    {"work", "the same filter, with less and less work for the threads", filter_work},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("tma_2d_bench", parts, argc, argv); }

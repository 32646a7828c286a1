/// @file swizzle.cu
/// Writes the data of the interactive pictures of swizzle modes: where a tensor copy really put each 16-byte
/// chunk of a tile. What is written was read back from shared memory; no formula takes part. With `turns`
/// a warp then reads a column of each tile, a launch for each entry of "reads", so that its wavefronts can be
/// counted.
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace ptx = cuda::ptx;
using workbook::DeviceBuffer;
using workbook::Swizzle;

constexpr int rows = 32;
constexpr int period = 1024; ///< bytes, of the 128-byte mode; the others' divide it
constexpr int last_offset = 896;
constexpr int memory_bytes = last_offset + rows * 128;
constexpr int words_per_chunk = 4;
constexpr int untouched = -1;

/// A box of `rows` rows of `row_bytes` bytes, of ints that are numbered along the rows.
struct Box {
    int row_bytes; ///< 32, 64 or 128
    Swizzle mode;

    [[nodiscard]] int columns() const { return row_bytes / static_cast<int>(sizeof(int)); }
    [[nodiscard]] int bytes() const { return rows * row_bytes; }

    [[nodiscard]] CUtensorMap map(const int* matrix) const {
        const auto width = static_cast<std::uint32_t>(columns());
        return workbook::make_tensor_map(matrix,
                                         workbook::TensorLayout<2>{.dims = {width, rows},
                                                                   .strides = {std::uint64_t(row_bytes)},
                                                                   .box = {width, rows},
                                                                   .swizzle = mode});
    }
};

/// Brings the box to `tile`; all threads return when it is there.
__device__ void load(const CUtensorMap& map, std::byte* tile, std::uint32_t bytes, std::uint64_t* bar) {
    if (threadIdx.x == 0) {
        const std::int32_t at[] = {0, 0};
        ptx::mbarrier_init(bar, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, bar);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(bar, 0)) {
    }
}

/// Loads the box to the byte `offset` of a memory whose address is a multiple of 1024; writes all of that
/// memory out.
__global__ void watch(const __grid_constant__ CUtensorMap map, int offset, std::uint32_t bytes, int* out) {
    __shared__ alignas(period) std::byte memory[memory_bytes];
    __shared__ std::uint64_t bar;
    int* words = reinterpret_cast<int*>(memory);
    for (int i = threadIdx.x; i < memory_bytes / 4; i += blockDim.x)
        words[i] = untouched;
    ptx::fence_proxy_async(ptx::space_shared); // the copy comes after these writes
    __syncthreads();
    load(map, memory + offset, bytes, &bar);
    for (int i = threadIdx.x; i < memory_bytes / 4; i += blockDim.x)
        out[i] = words[i];
}

/// Loads the box; then lane r reads the T at byte `places[r]` of the tile. Nothing else reads shared memory.
template <class T>
__global__ void read_column(const __grid_constant__ CUtensorMap map, std::uint32_t bytes, const int* places,
                            T* out) {
    __shared__ alignas(period) std::byte memory[rows * 128];
    __shared__ std::uint64_t bar;
    load(map, memory, bytes, &bar);
    out[threadIdx.x] = *reinterpret_cast<const T*>(memory + places[threadIdx.x]);
}

/// A list, as JSON.
std::string list(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts)
        joined += (joined.empty() ? "" : ",") + text;
    return "[" + joined + "]";
}

/// Where the chunks of the first `count` rows came to lie, as bytes in the memory, row after row.
std::vector<std::vector<int>> landed(const Box& box, int offset, int count) {
    std::vector<int> numbered(std::size_t(rows) * box.columns());
    std::iota(numbered.begin(), numbered.end(), 0);
    DeviceBuffer<int> matrix(numbered.size());
    matrix.upload(numbered);
    DeviceBuffer<int> out(memory_bytes / 4);
    workbook::launch(watch, {.block = 128}, box.map(matrix.data()), offset, std::uint32_t(box.bytes()),
                     out.data());
    workbook::check(cudaDeviceSynchronize());
    const std::vector<int> raw = out.download();
    std::vector<std::vector<int>> places(count, std::vector<int>(box.row_bytes / 16, untouched));
    for (int word = 0; word < static_cast<int>(raw.size()); ++word) {
        const int row = raw[word] / box.columns(), column = raw[word] % box.columns();
        if (raw[word] != untouched && row < count && column % words_per_chunk == 0)
            places[row][column / words_per_chunk] = word * 4;
    }
    return places;
}

std::string text(const std::vector<int>& numbers) {
    std::vector<std::string> texts;
    for (const int number : numbers)
        texts.push_back(std::to_string(number));
    return list(texts);
}

std::string text(const std::vector<std::vector<int>>& places) {
    std::vector<std::string> texts;
    for (const std::vector<int>& row : places)
        texts.push_back(text(row));
    return list(texts);
}

/// The first KiB of a tile in each mode, with the tile at each multiple of 128 bytes.
std::string places() {
    std::vector<std::string> modes;
    for (const Swizzle mode : {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
        const Box box{static_cast<int>(swizzle_width(mode)), mode};
        std::vector<std::string> offsets;
        for (int offset = 0; offset <= last_offset; offset += 128)
            offsets.push_back("\n" + text(landed(box, offset, period / box.row_bytes)));
        modes.push_back("\n{\"width\":" + std::to_string(box.row_bytes) + ",\"offsets\":" + list(offsets) +
                        "}");
    }
    return "{\"modes\":" + list(modes) + "}\n";
}

/// Reads the elements of type T at `column`, one of each row.
template <class T>
void read(const Box& box, const std::vector<int>& column) {
    DeviceBuffer<int> matrix(std::size_t(rows) * box.columns());
    matrix.upload(std::vector<int>(matrix.size()));
    DeviceBuffer<int> where(rows);
    where.upload(column);
    DeviceBuffer<T> out(rows);
    workbook::launch(read_column<T>, {.block = rows}, box.map(matrix.data()), std::uint32_t(box.bytes()),
                     where.data(), out.data());
    workbook::check(cudaDeviceSynchronize());
}

/// Each width of rows in each mode that takes it; the column that is read is the first.
std::string turns() {
    std::vector<std::string> boxes;
    for (const int row_bytes : {32, 64, 128})
        for (const Swizzle mode : {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
            const Box box{row_bytes, mode};
            const std::string name = "\n{\"row_bytes\":" + std::to_string(row_bytes) +
                                     ",\"mode\":" + std::to_string(static_cast<int>(mode));
            if (mode != Swizzle::none && row_bytes > static_cast<int>(swizzle_width(mode)))
                continue; // The driver takes no such map.
            std::vector<int> column;
            for (const std::vector<int>& row : landed(box, 0, rows))
                column.push_back(row.front());
            read<int>(box, column);
            read<int4>(box, column);
            boxes.push_back(name + ",\"column\":" + text(column) + "}");
        }
    return "{\"reads\":[4,16],\"boxes\":" + list(boxes) + "}\n";
}

} // namespace

int main(int count, char** arguments) {
    try {
        const std::string_view what = count == 2 ? arguments[1] : "";
        if (what != "places" && what != "turns")
            throw std::invalid_argument("'places' or 'turns' is wanted");
        std::cout << (what == "places" ? places() : turns());
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "swizzle: " << error.what() << '\n';
        return 1;
    }
}

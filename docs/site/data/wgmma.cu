/// @file wgmma.cu
/// What the interactive pictures of chapter 11 show, one kind for each call of this program:
///
///     wgmma_data accumulators     which thread holds which element of D, 64 rows of 64
///     wgmma_data descriptor       for many descriptors, which bytes of shared memory are read as A
///     wgmma_data order FENCE COMMIT WAIT     1 or 0 each; make.py reads what the emulator found
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"
#include "workbook/wgmma.cuh"

#include <cuda/ptx>
#include <cuda_bf16.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace ptx = cuda::ptx;
using workbook::DeviceBuffer;
using workbook::Major;
using workbook::MatrixLayout;
using workbook::Swizzle;

constexpr auto bf16 = workbook::MatrixType::bf16;
constexpr int rows = 64, depth = 16; ///< of A
constexpr int memory_bytes = 32 * 1024;
constexpr int memory_elements = memory_bytes / 2;

struct Operands {
    __nv_bfloat16 a[memory_elements];
    __nv_bfloat16 b[depth * 64]; ///< no swizzle, along k: core matrices of 8 columns and 8 of k, 128 bytes
};

extern __shared__ __align__(1024) unsigned char shared[];

/// The place of element (k, column) of B, which has `columns`, and of an A without swizzle (row for column).
__device__ int place(int k, int column, int columns) {
    return k / 8 * columns * 8 + column / 8 * 64 + column % 8 * 8 + k % 8;
}

__device__ std::uint64_t descriptor_of_b(const Operands& operands, int columns) {
    return workbook::matrix_descriptor(operands.b, workbook::k_major(Swizzle::none, columns));
}

/// All threads have written operands; the tensor core may read them.
__device__ void publish() {
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
}

// ---- accumulators ----

/// D(r, c) = 64 r · 1 + 1 · c, so each sum says where it belongs. out[thread * 32 + i]: accumulator i.
__global__ void accumulators(float* out) {
    Operands& operands = *reinterpret_cast<Operands*>(shared);
    for (int i = threadIdx.x; i < rows * depth; i += 128) {
        const int r = i / depth, k = i % depth;
        operands.a[place(k, r, rows)] = __float2bfloat16(k == 0 ? 64 * r : k == 1);
        operands.b[place(k, r, rows)] = __float2bfloat16(k == 0 ? 1 : k == 1 ? r : 0);
    }
    publish();
    float sums[32];
    workbook::wgmma_fence();
    workbook::wgmma_multiply<bf16>(
        sums, workbook::matrix_descriptor(operands.a, workbook::k_major(Swizzle::none, rows)),
        descriptor_of_b(operands, rows), false);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    for (int i = 0; i < 32; ++i)
        out[threadIdx.x * 32 + i] = sums[i];
}

// ---- descriptors ----

/// B is the unit matrix, so D is A as the descriptor finds it; 16 columns, 8 sums for each thread. Elements
/// of the memory are the low or the high 8 bits of their number.
template <Major major>
__global__ void read_by(MatrixLayout layout, unsigned start, bool high, float* out) {
    Operands& operands = *reinterpret_cast<Operands*>(shared);
    for (int i = threadIdx.x; i < memory_elements; i += 128)
        operands.a[i] = __float2bfloat16(high ? i / 256 : i % 256);
    for (int i = threadIdx.x; i < depth * depth; i += 128)
        operands.b[place(i / depth, i % depth, depth)] = __float2bfloat16(i / depth == i % depth);
    publish();
    float sums[8];
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(operands.a)) + start;
    workbook::wgmma_fence();
    workbook::wgmma_multiply<bf16, major>(sums, workbook::matrix_descriptor(address, layout),
                                          descriptor_of_b(operands, depth), false);
    workbook::wgmma_commit();
    workbook::wgmma_wait<0>(sums);
    for (int i = 0; i < 8; ++i)
        out[workbook::accumulator_row(threadIdx.x, i) * depth +
            workbook::accumulator_column(threadIdx.x, i)] = sums[i];
}

// ---- the order of fence, commit and wait ----

struct Descriptors {
    std::uint64_t a, b;
};

/// A and B in shared memory, full of ones.
__device__ Descriptors ones() {
    Operands& operands = *reinterpret_cast<Operands*>(shared);
    for (int i = threadIdx.x; i < rows * depth; i += 128)
        operands.a[i] = __float2bfloat16(1);
    for (int i = threadIdx.x; i < depth * depth; i += 128)
        operands.b[i] = __float2bfloat16(1);
    publish();
    return {workbook::matrix_descriptor(operands.a, workbook::k_major(Swizzle::none, rows)),
            descriptor_of_b(operands, depth)};
}

template <bool fence, bool commit, bool wait>
__global__ void order(float* out) {
    const Descriptors of = ones();
    float sums[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    if constexpr (fence)
        workbook::wgmma_fence();
    workbook::wgmma_multiply<bf16>(sums, of.a, of.b, true);
    if constexpr (commit)
        workbook::wgmma_commit();
    if constexpr (wait)
        workbook::wgmma_wait<0>(sums);
    for (int i = 0; i < 8; ++i)
        out[threadIdx.x * 8 + i] = sums[i];
}

// ---- what the program prints ----

template <class... Wanted, class... Given>
std::vector<float> run(void (*kernel)(Wanted...), std::size_t sums, Given... given) {
    DeviceBuffer<float> out(sums);
    workbook::launch(kernel, {.block = 128, .dynamic_shared = sizeof(Operands)}, given..., out.data());
    workbook::check(cudaDeviceSynchronize());
    return out.download();
}

template <class T>
void print_list(const std::vector<T>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        std::cout << (i == 0 ? "[" : ",") << values[i];
    std::cout << "]";
}

void print_accumulators() {
    std::vector<int> element(128 * 32);
    const std::vector<float> sums = run(accumulators, element.size());
    std::copy(sums.begin(), sums.end(), element.begin());
    std::cout << "{\"columns\":64,\"element\":";
    print_list(element);
    std::cout << "}\n";
}

/// The numbers of the chunks of 16 bytes that are read: for K-major by row and half of k, for M-major by k
/// and group of 8 rows.
std::vector<int> chunks(Major major, const MatrixLayout& layout, unsigned start) {
    const auto kernel = major == Major::k ? read_by<Major::k> : read_by<Major::mn>;
    const auto low = run(kernel, rows * depth, layout, start, false);
    const auto high = run(kernel, rows * depth, layout, start, true);
    const auto element = [&](int row, int k) {
        return static_cast<int>(high[row * depth + k]) * 256 + static_cast<int>(low[row * depth + k]);
    };
    std::vector<int> found;
    for (int outer = 0; outer < (major == Major::k ? rows : depth); ++outer)
        for (int group = 0; group < (major == Major::k ? depth : rows) / 8; ++group)
            for (int i = 0; i < 8; ++i) {
                const int at = group * 8 + i,
                          number = major == Major::k ? element(outer, at) : element(at, outer);
                if (i == 0)
                    found.push_back(number / 8);
                if (number != found.back() * 8 + i)
                    throw std::runtime_error("a chunk is not read in one piece");
            }
    return found;
}

void print_descriptors() {
    std::cout << "{\"cases\":[";
    const char* separator = "";
    for (const Major major : {Major::k, Major::mn})
        for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128})
            for (const std::uint32_t leading : {128u, 1024u, 2048u})
                for (const std::uint32_t stride : {128u, 256u, 512u, 1024u})
                    for (const unsigned start : {0u, 32u}) {
                        const bool across = major == Major::mn;
                        if (start != 0 && across)
                            continue;
                        std::cout << separator << "{\"major\":\"" << (across ? "M" : "K") << "\",\"swizzle\":"
                                  << (swizzle == Swizzle::none ? 0 : swizzle_width(swizzle))
                                  << ",\"leading\":" << leading << ",\"stride\":" << stride
                                  << ",\"start\":" << start << ",\"chunks\":";
                        print_list(
                            chunks(major, {.leading = leading, .stride = stride, .swizzle = swizzle}, start));
                        std::cout << "}";
                        separator = ",";
                    }
    std::cout << "]}\n";
}

template <bool fence, bool commit>
void run_order(bool wait) {
    run(wait ? order<fence, commit, true> : order<fence, commit, false>, 128 * 8);
}

void run_order(bool fence, bool commit, bool wait) {
    if (fence)
        commit ? run_order<true, true>(wait) : run_order<true, false>(wait);
    else
        commit ? run_order<false, true>(wait) : run_order<false, false>(wait);
}

void run_words(const std::vector<std::string>& words) {
    if (words.size() == 1 && words[0] == "accumulators")
        print_accumulators();
    else if (words.size() == 1 && words[0] == "descriptor")
        print_descriptors();
    else if (words.size() == 4 && words[0] == "order")
        run_order(words[1] == "1", words[2] == "1", words[3] == "1");
    else
        throw std::invalid_argument("accumulators, descriptor, or order FENCE COMMIT WAIT");
}

} // namespace

int main(int count, char** arguments) {
    try {
        run_words({arguments + 1, arguments + count});
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "wgmma: " << error.what() << '\n';
        return 1;
    }
}

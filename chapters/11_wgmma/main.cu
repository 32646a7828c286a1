/// @file main.cu
/// Chapter 11: products of matrices by tensor cores, shown, checked and measured.
#include "numerics.cuh"
#include "pictures.hpp"
#include "wgmma.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace wgmma;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr int most_depth = depth<MatrixType::e4m3>;

/// An eighth as an element of a type: exact in all of them.
template <MatrixType type>
Element<type> element(int eighths) {
    const float value = static_cast<float>(eighths) / 8;
    if constexpr (type == MatrixType::e4m3)
        return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
    else if constexpr (type == MatrixType::tf32)
        return value;
    else
        return Element<type>(value);
}

/// One type's A and B on the device. Rows are as long as 128 bytes allow.
template <MatrixType type>
struct Pair {
    Pair(const std::vector<int>& a_eighths, const std::vector<int>& b_eighths)
        : a(rows_of(a_eighths)), b(rows_of(b_eighths)) {}

    static std::vector<Element<type>> rows_of(const std::vector<int>& eighths) {
        std::vector<Element<type>> elements;
        for (std::size_t row = 0; row < eighths.size(); row += most_depth)
            for (int k = 0; k < depth<type>; ++k)
                elements.push_back(element<type>(eighths[row + static_cast<std::size_t>(k)]));
        return elements;
    }
    static Matrix<const Element<type>> view(const DeviceBuffer<Element<type>>& buffer) {
        return {buffer.data(), depth<type>, buffer.size() / depth<type>, depth<type>};
    }

    DeviceBuffer<Element<type>> a;
    DeviceBuffer<Element<type>> b;
};

/// The operands of all kernels: eighths from -1 to 1, so that every product and sum is exact in every type
/// and order, and the results are the same to the last bit.
struct Data {
    explicit Data(const workbook::RunContext& run)
        : rows((run.size + 63) / 64),
          a_eighths(workbook::random_integers<int>(rows * most_depth, run.seed, -8, 8)),
          b_eighths(workbook::random_integers<int>(64 * most_depth, run.seed + 1, -8, 8)),
          bf16(a_eighths, b_eighths), f16(a_eighths, b_eighths), tf32(a_eighths, b_eighths),
          e4m3(a_eighths, b_eighths), d(rows * 64), rounded(rows * 64), fragments(32), accumulators(128 * 32),
          sums(std::size(directed_sums)), sums_e4m3(std::size(directed_sums_e4m3)) {
        std::vector<__nv_bfloat16> across(64 * 64);
        for (std::size_t k = 0; k < 64; ++k)
            for (std::size_t column = 0; column < 64; ++column)
                across[k * 64 + column] = element<MatrixType::bf16>(b_eighths[column * most_depth + k]);
        b_across = DeviceBuffer<__nv_bfloat16>(across);
    }

    template <MatrixType type>
    [[nodiscard]] const auto& pair() const {
        if constexpr (type == MatrixType::bf16)
            return bf16;
        else if constexpr (type == MatrixType::f16)
            return f16;
        else if constexpr (type == MatrixType::tf32)
            return tf32;
        else
            return e4m3;
    }
    [[nodiscard]] Matrix<const __nv_bfloat16> a() const { return Pair<MatrixType::bf16>::view(bf16.a); }
    [[nodiscard]] Matrix<const __nv_bfloat16> b() const { return Pair<MatrixType::bf16>::view(bf16.b); }
    [[nodiscard]] Matrix<const __nv_bfloat16> across() const { return {b_across.data(), 64, 64, 64}; }
    [[nodiscard]] Matrix<float> out() { return {d.data(), 64, rows, 64}; }
    [[nodiscard]] Matrix<__nv_bfloat16> rounded_out() { return {rounded.data(), 64, rows, 64}; }

    /// The product of the first K elements of every row; worked out when it is first wanted.
    const std::vector<float>& product(int k_end) {
        std::vector<float>& result = products[k_end];
        if (result.empty())
            for (std::size_t row = 0; row < rows; ++row)
                for (std::size_t column = 0; column < 64; ++column) {
                    int sum = 0;
                    for (std::size_t k = 0; k < static_cast<std::size_t>(k_end); ++k)
                        sum += a_eighths[row * most_depth + k] * b_eighths[column * most_depth + k];
                    result.push_back(static_cast<float>(sum) / 64);
                }
        return result;
    }

    std::size_t rows;                      ///< M
    std::vector<int> a_eighths, b_eighths; ///< rows of 128, of which types take as many as they hold
    Pair<MatrixType::bf16> bf16;
    Pair<MatrixType::f16> f16;
    Pair<MatrixType::tf32> tf32;
    Pair<MatrixType::e4m3> e4m3;
    DeviceBuffer<__nv_bfloat16> b_across; ///< the same B as bf16, as K × N
    DeviceBuffer<float> d;
    DeviceBuffer<__nv_bfloat16> rounded;
    DeviceBuffer<LaneFragments> fragments;
    DeviceBuffer<float> accumulators;
    DeviceBuffer<float> sums, sums_e4m3;
    std::map<int, std::vector<float>> products;
};

std::size_t no_bytes(const Data&) { return 0; }

// ---- fragments ----

void run_fragments(Data& data) {
    std::vector<std::uint32_t> a, b;
    for (int row = 0; row < 16; ++row)
        for (int k = 0; k < 16; k += 2)
            a.push_back(pair_of(fragment_a(row, k), fragment_a(row, k + 1)));
    for (int column = 0; column < 8; ++column)
        for (int k = 0; k < 16; k += 2)
            b.push_back(pair_of(fragment_b(k, column), fragment_b(k + 1, column)));
    const DeviceBuffer<std::uint32_t> of_a(a), of_b(b);
    launch_read_fragments(of_a.data(), of_b.data(), data.fragments.data());
    workbook::synchronize();
}

/// The fragments as the PTX ISA has them ('Matrix Fragments for mma.m16n8k16').
Comparison check_fragments(Data& data) {
    std::vector<LaneFragments> expected(32);
    for (int lane = 0; lane < 32; ++lane) {
        const int row = lane / 4, pair = lane % 4 * 2;
        for (int i = 0; i < 4; ++i) {
            const int k = pair + i / 2 * 8, of_row = row + i % 2 * 8;
            expected[static_cast<std::size_t>(lane)].a[i] =
                pair_of(fragment_a(of_row, k), fragment_a(of_row, k + 1));
            expected[static_cast<std::size_t>(lane)].d[i] = fragment_d(row + i / 2 * 8, pair + i % 2);
        }
        for (int i = 0; i < 2; ++i)
            expected[static_cast<std::size_t>(lane)].b[i] =
                pair_of(fragment_b(pair + i * 8, row), fragment_b(pair + i * 8 + 1, row));
    }
    return workbook::check_exact(data.fragments, expected);
}

void run_accumulators(Data& data) {
    std::vector<__nv_bfloat16> a(64 * 64, 0.F), b(64 * 64, 0.F);
    for (std::size_t line = 0; line < 64; ++line) { // D(row, column) = row · 64 + 1 · column
        a[line * 64] = static_cast<float>(line);
        b[line * 64] = 64.F;
        a[line * 64 + 1] = 1.F;
        b[line * 64 + 1] = static_cast<float>(line);
    }
    const DeviceBuffer<__nv_bfloat16> of_a(a), of_b(b);
    launch_read_accumulators({of_a.data(), 64, 64, 64}, {of_b.data(), 64, 64, 64}, data.accumulators.data());
    workbook::synchronize();
}

Comparison check_accumulators(Data& data) {
    std::vector<float> expected;
    for (int thread = 0; thread < 128; ++thread)
        for (int i = 0; i < 32; ++i)
            expected.push_back(static_cast<float>(64 * workbook::accumulator_row(thread, i) +
                                                  workbook::accumulator_column(thread, i)));
    return workbook::check_exact(data.accumulators, expected);
}

// ---- products ----

template <MatrixType type>
Comparison check_product(Data& data) {
    return workbook::check_exact(data.d, data.product(depth<type>));
}

Comparison check_rounded(Data& data) {
    std::vector<__nv_bfloat16> expected;
    for (const float sum : data.product(64))
        expected.push_back(__float2bfloat16_rn(sum));
    return workbook::check_exact(data.rounded, expected);
}

template <MatrixType type>
constexpr workbook::KernelEntry<Data> product(const char* name, const char* shows, void (*launch)(Data&)) {
    return {.name = name,
            .shows = shows,
            .bytes =
                [](const Data& data) {
                    const auto& pair = data.pair<type>();
                    return pair.a.size_bytes() + pair.b.size_bytes() + data.d.size_bytes();
                },
            .prepare = [](Data& data) { data.d.poison(); },
            .launch = launch,
            .check = check_product<type>};
}

template <MatrixType type, Swizzle mode>
constexpr workbook::KernelEntry<Data> by_wgmma(const char* name, const char* shows) {
    return product<type>(name, shows, [](Data& data) {
        const auto& pair = data.pair<type>();
        launch_tile_by_wgmma<type, mode>(Pair<type>::view(pair.a), Pair<type>::view(pair.b), data.out());
    });
}

template <Swizzle mode>
constexpr workbook::KernelEntry<Data> across(const char* name, const char* shows) {
    return product<MatrixType::bf16>(
        name, shows, [](Data& data) { launch_b_across_k<mode>(data.a(), data.across(), data.out()); });
}

template <class Tile>
constexpr workbook::KernelEntry<Data> by_mma(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes =
                [](const Data& data) {
                    return data.bf16.a.size_bytes() + data.bf16.b.size_bytes() + data.rounded.size_bytes();
                },
            .prepare = [](Data& data) { data.rounded.poison(); },
            .launch = [](Data& data) { launch_tile_by_mma<Tile>(data.a(), data.b(), data.rounded_out()); },
            .check = check_rounded};
}

// ---- sums ----

template <MatrixType type>
void run_sums(std::span<const DirectedSum> directed, DeviceBuffer<float>& out) {
    std::vector<Element<type>> a, b;
    std::vector<float> c;
    const auto of = [](float value) {
        if constexpr (type == MatrixType::e4m3)
            return Element<type>{__nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3)};
        else
            return Element<type>(value);
    };
    for (const DirectedSum& sum : directed) {
        for (int i = 0; i < terms<type>; ++i) {
            a.push_back(of(i < 16 ? sum.a[i] : 0));
            b.push_back(of(i < 16 ? sum.b[i] : 0));
        }
        c.push_back(sum.c);
    }
    const DeviceBuffer<Element<type>> of_a(a), of_b(b);
    const DeviceBuffer<float> of_c(c);
    launch_one_sum<type>(of_a.data(), of_b.data(), of_c.data(), out.data(),
                         static_cast<unsigned>(directed.size()));
    workbook::synchronize();
}

Comparison check_sums(std::span<const DirectedSum> directed, const DeviceBuffer<float>& out,
                      const SumRule& rule) {
    std::vector<float> expected;
    for (const DirectedSum& sum : directed)
        expected.push_back(tensor_sum(sum.a, sum.b, sum.c, rule));
    return workbook::check_exact(out, expected);
}

constexpr workbook::KernelEntry<Data> kernels[] = {
    {.name = "fragments",
     .shows = "what each lane holds of A, B and D",
     .bytes = no_bytes,
     .prepare = [](Data& data) { data.fragments.poison(); },
     .launch = run_fragments,
     .check = check_fragments,
     .note = [](Data& data) { return fragment_picture(data.fragments.download()); }},
    by_mma<PlainTile>("mma_plain", "ldmatrix, mma.sync, stmatrix; dense rows"),
    by_mma<PaddedTile>("mma_padded", "the same, rows padded by 16 bytes"),
    by_mma<SwizzledTile>("mma_swizzled", "the same, 128-byte swizzle"),
    {.name = "accumulators",
     .shows = "what each thread holds of D after wgmma",
     .bytes = no_bytes,
     .prepare = [](Data& data) { data.accumulators.poison(); },
     .launch = run_accumulators,
     .check = check_accumulators,
     .note = [](Data& data) { return accumulator_picture(data.accumulators.download()); }},
    by_wgmma<bf16, Swizzle::none>("wgmma_none", "wgmma, no swizzle"),
    by_wgmma<bf16, Swizzle::bytes32>("wgmma_32", "wgmma, 32-byte swizzle"),
    by_wgmma<bf16, Swizzle::bytes64>("wgmma_64", "wgmma, 64-byte swizzle"),
    by_wgmma<bf16, Swizzle::bytes128>("wgmma_128", "wgmma, 128-byte swizzle"),
    product<bf16>("a_in_registers", "A as fragments, B by descriptor",
                  [](Data& data) { launch_a_in_registers(data.a(), data.b(), data.out()); }),
    across<Swizzle::none>("b_across_k_none", "B as K x N, no swizzle"),
    across<Swizzle::bytes32>("b_across_k_32", "B as K x N, 32-byte swizzle"),
    across<Swizzle::bytes64>("b_across_k_64", "B as K x N, 64-byte swizzle"),
    across<Swizzle::bytes128>("b_across_k_128", "B as K x N, 128-byte swizzle"),
    product<bf16>("two_groups", "one half stored while the other is computed",
                  [](Data& data) { launch_two_groups(data.a(), data.b(), data.out()); }),
    by_wgmma<MatrixType::f16, Swizzle::bytes128>("type_f16", "elements of f16, K = 64"),
    by_wgmma<MatrixType::tf32, Swizzle::bytes128>("type_tf32", "elements of tf32, K = 32"),
    by_wgmma<MatrixType::e4m3, Swizzle::bytes128>("type_e4m3", "elements of e4m3, K = 128"),
    {.name = "one_sum",
     .shows = "where a sum of bf16 is cut",
     .bytes = no_bytes,
     .prepare = [](Data& data) { data.sums.poison(); },
     .launch = [](Data& data) { run_sums<bf16>(directed_sums, data.sums); },
     .check = [](Data& data) { return check_sums(directed_sums, data.sums, rule_of_bf16); },
     .note = [](Data& data) { return sum_table(directed_sums, data.sums.download()); }},
    {.name = "one_sum_e4m3",
     .shows = "where a sum of e4m3 is cut",
     .bytes = no_bytes,
     .prepare = [](Data& data) { data.sums_e4m3.poison(); },
     .launch = [](Data& data) { run_sums<MatrixType::e4m3>(directed_sums_e4m3, data.sums_e4m3); },
     .check = [](Data& data) { return check_sums(directed_sums_e4m3, data.sums_e4m3, rule_of_e4m3); },
     .note = [](Data& data) { return sum_table(directed_sums_e4m3, data.sums_e4m3.download()); }},
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "wgmma",
                                     .summary =
                                         "products of matrices by tensor cores, as asynchronous operations",
                                     .size_unit = "elements of A (rows of 64)",
                                     .size_with_clock = 32'000'000,
                                     .size_without_clock = 20'001,
                                     .device_bytes_per_element = 4 * 2 + 4 + 2,
                                     .host_bytes_per_element = 2 * 4 + 3 * 4 + 4,
                                     .needs = {.compute_major = 9}};
    return workbook::run_program<Data>(info, kernels, argc, argv);
}

/// @file wgmma_test.cu
/// The kernels of chapter 11 on random data of every kind, bit for bit: against the arithmetic of tensor
/// cores as numerics.hpp has it, whatever way the operands take.
#include "wgmma.cuh"

#include "numerics.cuh"
#include "numerics.hpp"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cuda_fp8.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

using namespace wgmma;
using workbook::DeviceBuffer;
using workbook::Random;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9};

// ---- elements ----

template <MatrixType type>
constexpr SumRule rule_of() {
    return type == MatrixType::e4m3   ? rule_of_e4m3
           : type == MatrixType::f16  ? rule_of_f16
           : type == MatrixType::tf32 ? rule_of_tf32
                                      : rule_of_bf16;
}

/// An element of these bits.
template <MatrixType type>
Element<type> element_of(std::uint64_t bits) {
    if constexpr (sizeof(Element<type>) == 4)
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    else if constexpr (sizeof(Element<type>) == 2)
        return std::bit_cast<Element<type>>(static_cast<std::uint16_t>(bits));
    else
        return static_cast<std::uint8_t>(bits);
}

/// What an element is worth. tf32 reads the upper 19 bits of a float.
template <MatrixType type>
float value_of(Element<type> element) {
    if constexpr (type == MatrixType::tf32)
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(element) & ~0x1fffU);
    else if constexpr (type == MatrixType::e4m3)
        return __half2float(__nv_cvt_fp8_to_halfraw(element, __NV_E4M3));
    else
        return static_cast<float>(element);
}

/// Kinds of random numbers: any bits, so with NaN, infinities and subnormal numbers; numbers of one size;
/// numbers of one size, of which a few are zero, subnormal, infinite or not a number.
enum class Kind { any_bits, alike, alike_with_specials };

template <MatrixType type>
Element<type> random_element(Random& random, Kind kind) {
    const std::uint64_t bits = random.next();
    if (kind == Kind::any_bits || (kind == Kind::alike_with_specials && random.below(200) == 0))
        return element_of<type>(bits);
    const auto number =
        static_cast<float>((random.unit() * 2 - 1) * std::ldexp(1.0, static_cast<int>(bits % 3)));
    if constexpr (type == MatrixType::e4m3)
        return __nv_cvt_float_to_fp8(number, __NV_SATFINITE, __NV_E4M3);
    else
        return Element<type>(number);
}

template <MatrixType type>
std::vector<Element<type>> random_elements(std::size_t count, std::uint64_t seed, Kind kind) {
    Random random(seed);
    std::vector<Element<type>> elements(count);
    for (Element<type>& element : elements)
        element = random_element<type>(random, kind);
    return elements;
}

template <MatrixType type>
std::vector<float> values_of(const std::vector<Element<type>>& elements) {
    std::vector<float> values;
    for (const Element<type> element : elements)
        values.push_back(value_of<type>(element));
    return values;
}

// ---- products ----

/// A and B, as rows of 128 bytes, and what four instructions make of them, one after the other.
template <MatrixType type>
struct Problem {
    static constexpr std::size_t width = depth<type>;

    Problem(std::size_t rows, std::uint64_t seed, Kind kind)
        : rows(rows), a(random_elements<type>(rows * width, seed, kind)),
          b(random_elements<type>(64 * width, seed + 1, kind)), of_a(a), of_b(b) {
        const std::vector<float> row_values = values_of<type>(a), column_values = values_of<type>(b);
        constexpr std::size_t count = terms<type>;
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < 64; ++column) {
                float sum = 0;
                for (std::size_t k = 0; k < width; k += count)
                    sum = tensor_sum(std::span(row_values).subspan(row * width + k, count),
                                     std::span(column_values).subspan(column * width + k, count), sum,
                                     rule_of<type>());
                expected.push_back(sum);
            }
    }

    [[nodiscard]] Matrix<const Element<type>> matrix_a() const { return {of_a.data(), width, rows, width}; }
    [[nodiscard]] Matrix<const Element<type>> matrix_b() const { return {of_b.data(), width, 64, width}; }

    /// B as it lies in memory when neighbours are neighbours in n.
    [[nodiscard]] std::vector<Element<type>> b_across() const {
        std::vector<Element<type>> across(b.size());
        for (std::size_t column = 0; column < 64; ++column)
            for (std::size_t k = 0; k < width; ++k)
                across[k * 64 + column] = b[column * width + k];
        return across;
    }

    /// Launches and compares every bit of D and what lies around it.
    template <class Launch>
    void check(Launch launch) const {
        DeviceBuffer<float> d(rows * 64);
        d.poison();
        launch(Matrix<float>{d.data(), 64, rows, 64});
        CHECK(workbook::compare_bits<float>(expected, d.download()).summary() == "ok");
        CHECK(d.check_guards() == "");
    }

    std::size_t rows;
    std::vector<Element<type>> a, b;
    DeviceBuffer<Element<type>> of_a, of_b;
    std::vector<float> expected;
};

/// Calls `test(problem)` for matrices of every kind and of heights around those of a tile.
template <MatrixType type, class Test>
void for_each_problem(Test test) {
    std::uint64_t seed = 1;
    for (const Kind kind : {Kind::alike, Kind::any_bits, Kind::alike_with_specials})
        for (const std::size_t rows : {1, 63, 64, 129}) {
            INFO("kind " << static_cast<int>(kind) << ", " << rows << " rows");
            test(Problem<type>(rows, seed++, kind));
        }
    test(Problem<type>(0, seed, Kind::alike));
}

template <class Test>
void for_each_mode(Test test) {
    test(std::integral_constant<Swizzle, Swizzle::none>());
    test(std::integral_constant<Swizzle, Swizzle::bytes32>());
    test(std::integral_constant<Swizzle, Swizzle::bytes64>());
    test(std::integral_constant<Swizzle, Swizzle::bytes128>());
}

template <class Tile>
void check_rounded(const Problem<bf16>& problem) {
    DeviceBuffer<__nv_bfloat16> d(problem.rows * 64);
    d.poison();
    launch_tile_by_mma<Tile>(problem.matrix_a(), problem.matrix_b(), {d.data(), 64, problem.rows, 64});
    std::vector<__nv_bfloat16> expected;
    for (const float sum : problem.expected)
        expected.push_back(__float2bfloat16_rn(sum));
    CHECK(workbook::compare_bits<__nv_bfloat16>(expected, d.download()).summary() == "ok");
    CHECK(d.check_guards() == "");
}

} // namespace

TEST_CASE("mma.sync in each layout: fragments from and to shared memory, rounded to bf16") {
    require_device(hopper);
    for_each_problem<bf16>([](const Problem<bf16>& problem) {
        check_rounded<PlainTile>(problem);
        check_rounded<PaddedTile>(problem);
        check_rounded<SwizzledTile>(problem);
    });
}

TEST_CASE("wgmma in each mode, A from registers, B across k, two groups: one result") {
    require_device(hopper);
    for_each_problem<bf16>([](const Problem<bf16>& problem) {
        const auto a = problem.matrix_a(), b = problem.matrix_b();
        const DeviceBuffer<__nv_bfloat16> across(problem.b_across());
        for_each_mode([&](auto mode) {
            INFO("mode " << static_cast<int>(mode()));
            problem.check([&](Matrix<float> d) { launch_tile_by_wgmma<bf16, mode()>(a, b, d); });
            problem.check([&](Matrix<float> d) {
                launch_b_across_k<mode()>(a, {across.data(), 64, 64, 64}, d);
            });
        });
        problem.check([&](Matrix<float> d) { launch_a_in_registers(a, b, d); });
        problem.check([&](Matrix<float> d) { launch_two_groups(a, b, d); });
    });
}

namespace {

template <MatrixType type>
void check_type() {
    for_each_problem<type>([](const Problem<type>& problem) {
        for_each_mode([&](auto mode) {
            problem.check([&](Matrix<float> d) {
                launch_tile_by_wgmma<type, mode()>(problem.matrix_a(), problem.matrix_b(), d);
            });
        });
    });
}

} // namespace

TEST_CASE("wgmma of f16, tf32 and e4m3, in each mode") {
    require_device(hopper);
    SECTION("f16") { check_type<MatrixType::f16>(); }
    SECTION("tf32") { check_type<MatrixType::tf32>(); }
    SECTION("e4m3") { check_type<MatrixType::e4m3>(); }
}

TEST_CASE("operands of other shapes are refused") {
    const Problem<bf16> problem(3, 1, Kind::alike);
    DeviceBuffer<float> d(3 * 64);
    const Matrix<float> out{d.data(), 64, 3, 64};
    const auto a = problem.matrix_a(), b = problem.matrix_b();
    const auto refused = [&](Matrix<const __nv_bfloat16> of_a, Matrix<const __nv_bfloat16> of_b,
                             Matrix<float> of_d) {
        CHECK_THROWS_AS((launch_tile_by_wgmma<bf16, Swizzle::none>(of_a, of_b, of_d)), std::invalid_argument);
    };
    refused({a.data, 32, 3, 64}, b, out);
    refused({a.data, 64, 1, 128}, b, out);
    refused(a, {b.data, 64, 63, 64}, out);
    refused(a, b, {d.data(), 64, 2, 64});
    refused(a, b, {d.data(), 32, 3, 64});
}

// ---- who holds what ----

TEST_CASE("each lane holds of A, B and D what the figures of the PTX ISA say") {
    require_device(hopper);
    const auto values_a = workbook::random_values<std::uint32_t>(16 * 8, 1);
    const auto values_b = workbook::random_values<std::uint32_t>(8 * 8, 2);
    const DeviceBuffer<std::uint32_t> a(values_a), b(values_b);
    DeviceBuffer<LaneFragments> out(32);
    launch_read_fragments(a.data(), b.data(), out.data());
    const std::vector<LaneFragments> lanes = out.download();
    for (unsigned lane = 0; lane < 32; ++lane) {
        INFO("lane " << lane);
        const unsigned group = lane / 4, pair = lane % 4;
        CHECK(lanes[lane].a[0] == values_a[group * 8 + pair]);
        CHECK(lanes[lane].a[1] == values_a[(group + 8) * 8 + pair]);
        CHECK(lanes[lane].a[2] == values_a[group * 8 + pair + 4]);
        CHECK(lanes[lane].a[3] == values_a[(group + 8) * 8 + pair + 4]);
        CHECK(lanes[lane].b[0] == values_b[group * 8 + pair]);
        CHECK(lanes[lane].b[1] == values_b[group * 8 + pair + 4]);
    }
}

TEST_CASE("each thread holds of D what the figure of the PTX ISA says") {
    require_device(hopper);
    const Problem<bf16> problem(64, 3, Kind::alike);
    DeviceBuffer<float> out(128 * 32);
    launch_read_accumulators(problem.matrix_a(), problem.matrix_b(), out.data());
    const std::vector<float> sums = out.download();
    const std::vector<float> a = values_of<bf16>(problem.a), b = values_of<bf16>(problem.b);
    for (unsigned thread = 0; thread < 128; ++thread)
        for (unsigned i = 0; i < 32; ++i) {
            const unsigned row = thread / 32 * 16 + thread % 32 / 4 + (i & 2 ? 8 : 0);
            const unsigned column = i / 4 * 8 + thread % 4 * 2 + (i & 1);
            const float expected = tensor_sum(std::span(a).subspan(row * 64, 16),
                                              std::span(b).subspan(column * 64, 16), 0, rule_of_bf16);
            if (sums[thread * 32 + i] != expected)
                FAIL("thread " << thread << ", accumulator " << i);
        }
}

// ---- sums ----

namespace {

/// Random sums with addends, of every kind.
template <MatrixType type>
void check_sums() {
    constexpr std::size_t count = 300;
    constexpr std::size_t width = terms<type>;
    std::uint64_t seed = 10;
    for (const Kind kind : {Kind::alike, Kind::any_bits, Kind::alike_with_specials}) {
        const auto a = random_elements<type>(count * width, ++seed, kind);
        const auto b = random_elements<type>(count * width, ++seed, kind);
        std::vector<float> c;
        Random random(seed);
        for (std::size_t i = 0; i < count; ++i)
            c.push_back(kind == Kind::alike
                            ? static_cast<float>(random.unit())
                            : std::bit_cast<float>(static_cast<std::uint32_t>(random.next())));
        const DeviceBuffer<Element<type>> of_a(a), of_b(b);
        const DeviceBuffer<float> of_c(c);
        DeviceBuffer<float> d(count);
        launch_one_sum<type>(of_a.data(), of_b.data(), of_c.data(), d.data(), count);
        const std::vector<float> x = values_of<type>(a), y = values_of<type>(b);
        std::vector<float> expected;
        for (std::size_t i = 0; i < count; ++i)
            expected.push_back(tensor_sum(std::span(x).subspan(i * width, width),
                                          std::span(y).subspan(i * width, width), c[i], rule_of<type>()));
        CHECK(workbook::compare_bits<float>(expected, d.download()).summary() == "ok");
    }
}

} // namespace

TEST_CASE("a sum of products is exact, cut twice, and independent of the order") {
    require_device(hopper);
    SECTION("bf16") { check_sums<MatrixType::bf16>(); }
    SECTION("f16") { check_sums<MatrixType::f16>(); }
    SECTION("tf32") { check_sums<MatrixType::tf32>(); }
    SECTION("e4m3") { check_sums<MatrixType::e4m3>(); }
}

TEST_CASE("directed sums come out as the table of the README says, and not as f32 or f64 add") {
    const auto of = [](const DirectedSum& sum, const SumRule& rule) {
        return tensor_sum(sum.a, sum.b, sum.c, rule);
    };
    const auto one_by_one = [](const DirectedSum& sum) { return fma_sum(sum.a, sum.b, sum.c); };
    const auto exact = [](const DirectedSum& sum) { return double_sum(sum.a, sum.b, sum.c); };
    const float expected[] = {1, 1, 0, 0x1p-25F, 0x1.8p127F};
    for (std::size_t i = 0; i < 5; ++i) {
        INFO(directed_sums[i].shows);
        CHECK(of(directed_sums[i], rule_of_bf16) == expected[i]);
        CHECK((exact(directed_sums[i]) == expected[i]) == (i >= 3));
        CHECK((one_by_one(directed_sums[i]) == expected[i]) == (i == 3));
    }
    CHECK(of(directed_sums_e4m3[0], rule_of_e4m3) == 1 + 0x1p-13F);
    CHECK(of(directed_sums_e4m3[1], rule_of_e4m3) == 256);
    for (const DirectedSum& sum : directed_sums_e4m3)
        CHECK(exact(sum) != of(sum, rule_of_e4m3));
}

TEST_CASE("the device adds the directed sums as the table says") {
    require_device(hopper);
    std::vector<__nv_bfloat16> a, b;
    std::vector<float> c;
    for (const DirectedSum& sum : directed_sums) {
        a.insert(a.end(), std::begin(sum.a), std::end(sum.a));
        b.insert(b.end(), std::begin(sum.b), std::end(sum.b));
        c.push_back(sum.c);
    }
    const DeviceBuffer<__nv_bfloat16> of_a(a), of_b(b);
    const DeviceBuffer<float> of_c(c);
    DeviceBuffer<float> d(c.size());
    launch_one_sum<bf16>(of_a.data(), of_b.data(), of_c.data(), d.data(), static_cast<unsigned>(c.size()));
    CHECK(d.download() == std::vector<float>{1, 1, 0, 0x1p-25F, 0x1.8p127F});
}

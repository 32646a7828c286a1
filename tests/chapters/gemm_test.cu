/// @file gemm_test.cu
/// Every rung of chapter 12's ladder: exact where sums are exact, within the derived bound elsewhere, and
/// nothing else is written.
#include "ladder.cuh"
#include "reference.hpp"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace gemm;
using Catch::Matchers::ContainsSubstring;
using workbook::DeviceBuffer;
using workbook::Guards;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9, .dynamic_shared = sizeof(overlapped::Memory)};

constexpr std::span<const Rung> all_rungs(rungs);
const auto by_tensor_cores = all_rungs.subspan(2);
const auto by_wgmma = all_rungs.subspan(3);

/// The matrices of a product on the host.
template <class T>
struct Product {
    Extent extent;
    std::vector<T> a;
    std::vector<T> b;
};

/// Small integers, so that all sums are exact, in whatever order and to whatever number of bits.
template <class T>
Product<T> of_integers(Extent extent) {
    workbook::Random random(extent.m + extent.n + extent.k);
    const auto matrix = [&](std::size_t size) {
        std::vector<T> values(size);
        for (T& value : values)
            value = T(static_cast<float>(random.below(5)) - 2.0F);
        return values;
    };
    Product<T> product{extent, {}, {}};
    product.a = matrix(std::size_t{extent.m} * extent.k);
    product.b = matrix(std::size_t{extent.n} * extent.k);
    return product;
}

Product<bf16> of_normal_numbers(Extent extent) {
    return {extent, normal_values(std::size_t{extent.m} * extent.k, extent.m + 1),
            normal_values(std::size_t{extent.n} * extent.k, extent.n + 2)};
}

/// The product of integers, by the definition; the one rounding is that to bf16.
template <class T>
std::vector<bf16> exact(const Product<T>& product) {
    const auto [m, n, k] = product.extent;
    const auto numbers_of = [](const std::vector<T>& values) {
        std::vector<float> numbers;
        for (const T& value : values)
            numbers.push_back(static_cast<float>(value));
        return numbers;
    };
    const std::vector<float> a = numbers_of(product.a), b = numbers_of(product.b);
    std::vector<bf16> out;
    for (std::size_t row = 0; row < m; ++row)
        for (std::size_t column = 0; column < n; ++column) {
            float sum = 0;
            for (std::size_t i = 0; i < k; ++i)
                sum += a[row * k + i] * b[column * k + i];
            out.push_back(__float2bfloat16(sum));
        }
    return out;
}

/// How a product is placed in device memory.
struct Placing {
    std::size_t bytes_off = 0; ///< from an address that is a multiple of 256
    Guards guards = Guards::filled;
};

/// What `launch` makes of a product. Checks that it writes nothing else.
template <class T, class Launch>
std::vector<bf16> result_of(const Launch& launch, const Product<T>& product, Placing placing = {}) {
    const auto [m, n, k] = product.extent;
    const DeviceBuffer<T> a(product.a, placing.bytes_off / sizeof(T), placing.guards);
    const DeviceBuffer<T> b(product.b, placing.bytes_off / sizeof(T), placing.guards);
    DeviceBuffer<bf16> out(std::size_t{m} * n, placing.bytes_off / sizeof(bf16), placing.guards);
    out.poison();
    launch(OperandsOf<T>{a.data(), b.data(), out.data(), product.extent});
    CHECK(workbook::compare_bits<T>(product.a, a.download()).summary() == "ok");
    CHECK(workbook::compare_bits<T>(product.b, b.download()).summary() == "ok");
    CHECK(a.check_guards() + b.check_guards() + out.check_guards() == "");
    return out.download();
}

std::string described(Extent extent) {
    return std::to_string(extent.m) + " x " + std::to_string(extent.n) + " x " + std::to_string(extent.k);
}

template <class T, class Launch>
void check_exact(const Launch& launch, const Product<T>& product, Placing placing = {}) {
    INFO(described(product.extent) << ", " << placing.bytes_off << " bytes off");
    const std::vector<bf16> out = result_of(launch, product, placing);
    CHECK(workbook::compare_bits<bf16>(exact(product), out).summary() == "ok");
}

/// All of these rungs make the same exact product.
void check_rungs(std::span<const Rung> of, Extent extent, Placing placing = {}) {
    const Product<bf16> product = of_integers<bf16>(extent);
    const std::vector<bf16> expected = exact(product);
    for (const Rung& rung : of) {
        INFO(rung.name << ", " << described(extent) << ", " << placing.bytes_off << " bytes off");
        const std::vector<bf16> out = result_of(rung.launch, product, placing);
        CHECK(workbook::compare_bits<bf16>(expected, out).summary() == "ok");
    }
}

// ---- one block, or one cluster, for all tiles ----

void launch_staying_alone(const Operands& of) {
    using T = staying::T;
    const auto [m, n, k] = of.extent;
    workbook::launch(staying::staying_gemm,
                     {.block = staying::threads, .dynamic_shared = sizeof(staying::Memory)}, of.extent,
                     order_of(of.extent, T::rows, T::columns, 2), operand_map(of.a, m, k, T::rows),
                     operand_map(of.b, n, k, T::columns), of.out);
}

/// The shape of one cluster of two blocks.
workbook::LaunchShape one_cluster(unsigned threads, std::size_t shared) {
    return {.grid = 2, .block = threads, .dynamic_shared = shared, .cluster = dim3(2)};
}

void launch_multicast_alone(const Operands& of) {
    using T = multicast::T;
    const auto [m, n, k] = of.extent;
    workbook::launch(multicast::multicast_gemm, one_cluster(multicast::threads, sizeof(multicast::Memory)),
                     of.extent, order_of(of.extent, 2 * T::rows, T::columns, 2),
                     operand_map(of.a, m, k, T::rows), operand_map(of.b, n, k, T::columns / 2), of.out);
}

/// The same for the rungs whose result leaves by tensor copies.
template <class Tile, class T, class Kernel>
auto launch_alone(Kernel* kernel, unsigned threads, std::size_t shared) {
    return [=](const OperandsOf<T>& of) {
        const auto [m, n, k] = of.extent;
        workbook::launch(kernel, one_cluster(threads, shared), k,
                         order_of(of.extent, 2 * Tile::rows, Tile::columns, 2),
                         operand_map(of.a, m, k, Tile::rows), operand_map(of.b, n, k, Tile::columns / 2),
                         operand_map(of.out, m, n, 64));
    };
}

// ---- sums of 14 bits ----

/// Normal numbers as e4m3, none of them denormal, so that a product is at least 2 to the sum of the exponents
/// of its factors.
Product<e4m3> of_normal_bytes(Extent extent) {
    const auto bytes = [](const std::vector<bf16>& values) {
        std::vector<e4m3> result;
        for (const bf16& value : values) {
            const float number = __bfloat162float(value);
            result.emplace_back(std::abs(number) < 0x1p-6F ? 0x1p-6F : number);
        }
        return result;
    };
    const Product<bf16> numbers = of_normal_numbers(extent);
    return {extent, bytes(numbers.a), bytes(numbers.b)};
}

/// An element of a product of e4m3, and how far from it a right sum may be.
struct ShortSum {
    Element exact;
    double error = 0;
};

/// A tensor core adds 32 products to the sum so far in one go. Each of the 33 terms is cut 13 bits below the
/// exponent of the largest, and so is the sum below its own. Each cut costs less than 2^-13 of the largest
/// term, or of the sum.
ShortSum short_sum(const Product<e4m3>& product, std::size_t row, std::size_t column) {
    const unsigned k = product.extent.k;
    ShortSum sum;
    for (unsigned first = 0; first < k; first += 32) {
        double largest = std::abs(sum.exact.value) + sum.error;
        const unsigned end = std::min(first + 32, k);
        for (unsigned i = first; i < end; ++i) {
            const double term = static_cast<double>(static_cast<float>(product.a[row * k + i])) *
                                static_cast<double>(static_cast<float>(product.b[column * k + i]));
            sum.exact.value += term;
            largest = std::max(largest, std::abs(term));
            sum.exact.largest = std::max({sum.exact.largest, largest, std::abs(sum.exact.value)});
        }
        sum.error += (end - first + 1) * 0x1p-13 * largest;
        sum.error += 0x1p-13 * (std::abs(sum.exact.value) + sum.error);
    }
    return sum;
}

/// The smallest of all, one row, one row of 16 bytes in each matrix, one tile of the first rungs, and edges
/// one more and one less than theirs.
constexpr Extent small_extents[] = {{1, 8, 8},   {16, 16, 16}, {17, 8, 24},
                                    {1, 72, 40}, {33, 24, 8},  {15, 136, 32}};

/// One tile of 128 × 128 and of 128 × 256; more than one in each direction, with an odd number of tiles down,
/// so that one block of a cluster has none; edges that are no multiple of a tile; a k around the depth of a
/// stage, and one that goes around the ring more than three times.
constexpr Extent large_extents[] = {{128, 128, 64}, {128, 256, 128}, {384, 264, 64}, {129, 264, 136},
                                    {257, 8, 328},  {1, 120, 1000},  {100, 120, 56}, {64, 136, 72}};

} // namespace

TEST_CASE("an order of tiles takes each of them once") {
    for (const unsigned down : {1u, 2u, 3u, 7u, 8u, 9u, 64u})
        for (const unsigned across : {1u, 2u, 5u, 33u})
            for (const unsigned band : {1u, 2u, 3u, 8u, 100u}) {
                INFO(down << " x " << across << " tiles, bands of " << band);
                const TileOrder order{down, across, band};
                std::set<std::pair<unsigned, unsigned>> seen;
                unsigned last_band = 0;
                for (unsigned i = 0; i < order.count(); ++i) {
                    const Corner tile = order.at(i);
                    CHECK((tile.row < down && tile.column < across && tile.row / band >= last_band));
                    last_band = tile.row / band;
                    seen.insert({tile.row, tile.column});
                }
                CHECK(seen.size() == std::size_t{down} * across);
            }
    CHECK(TileOrder{4, 4, 1}.at(1).column == 1); // row after row
    CHECK(TileOrder{4, 4, 2}.at(1).row == 1);    // down the band first
    CHECK(TileOrder{4, 4, 2}.at(2).column == 1);
}

TEST_CASE("exact products of small matrices, by every rung") {
    require_device(hopper);
    for (const Extent& extent : small_extents)
        check_rungs(all_rungs, extent);
}

TEST_CASE("one tile of every rung, exact") {
    require_device(hopper);
    check_rungs(all_rungs.first(2), {128, 128, 16});
    check_rungs(all_rungs.first(2), {130, 136, 24});
    check_rungs(by_tensor_cores, {256, 256, 64});
}

TEST_CASE("exact products of many tiles and steps by the rungs with tensor cores") {
    require_device(hopper);
    for (const Extent& extent : large_extents)
        check_rungs(by_tensor_cores, extent);
}

TEST_CASE("matrices that begin 16 bytes beside a multiple of 256, and that end with their allocation") {
    require_device(hopper);
    for (const Guards guards : {Guards::filled, Guards::none}) {
        check_rungs(all_rungs, {40, 72, 24}, {.bytes_off = 16, .guards = guards});
        check_rungs(by_tensor_cores, {130, 264, 72}, {.bytes_off = 16, .guards = guards});
        check_rungs(by_tensor_cores, {130, 264, 72}, {.bytes_off = 240, .guards = guards});
    }
}

TEST_CASE("more tiles than blocks run at once") {
    require_device(hopper);
    const auto sms = static_cast<unsigned>(workbook::device_attribute(cudaDevAttrMultiProcessorCount));
    const unsigned tiles_down = sms / 2 + 3; // of which a cluster of two blocks takes two at once
    check_rungs(all_rungs.last(2), {tiles_down * 128 - 100, 2 * 256 - 8, 8});
}

TEST_CASE("one block or one cluster takes all tiles and goes on in its ring where it was") {
    require_device(hopper);
    const Product<bf16> product = of_integers<bf16>({700, 520, 136}); // 3 steps a tile, in a ring of 4
    check_exact(launch_staying_alone, product);
    check_exact(launch_multicast_alone, product);
    check_exact(launch_alone<stored::T, bf16>(stored::stored_gemm, stored::threads, sizeof(stored::Memory)),
                product);
    check_exact(launch_alone<overlapped::T, bf16>(overlapped::overlapped_gemm, overlapped::threads,
                                                  sizeof(overlapped::Memory)),
                product);
    check_exact(launch_alone<eight_bits::T, e4m3>(eight_bits::eight_bits_gemm, eight_bits::threads,
                                                  sizeof(eight_bits::Memory)),
                of_integers<e4m3>({700, 520, 272}));
}

TEST_CASE("each choice of the last rung takes many tiles with many clusters and with one") {
    require_device(hopper);
    for (const tuned::Tuned& choice : tuned::choices) {
        INFO("the choice for " << described(choice.extent));
        const auto launch = [&](unsigned clusters) {
            return [&choice, clusters](const Operands& of) { choice.launch(of, choice.band, clusters); };
        };
        for (const Extent& extent : large_extents)
            check_exact(launch(tuned::all_clusters), of_integers<bf16>(extent), {.bytes_off = 16});
        check_exact(launch(1), of_integers<bf16>({700, 520, 136}), {.guards = Guards::none});
    }
}

TEST_CASE("the last rung takes what the tuner found for the nearest size") {
    for (const tuned::Tuned& choice : tuned::choices)
        CHECK(&tuned_for(choice.extent) == &choice);
    const auto near = [](Extent extent, Extent to) {
        const Extent found = tuned_for(extent).extent;
        return found.m == to.m && found.n == to.n && found.k == to.k;
    };
    CHECK(near({1, 8, 8}, {2048, 2048, 2048}));
    CHECK(near({8192, 8192, 512}, {8192, 8192, 1024}));
    CHECK(near({100000, 1000, 4096}, {16384, 1024, 4096}));
    CHECK(near({4096, 4096, 8192}, {4096, 4096, 4096}));
    CHECK(near({1u << 31, 1u << 31, 1u << 31}, {8192, 8192, 8192}));
}

TEST_CASE("empty matrices, and no products to add") {
    require_device(hopper);
    for (const Extent& extent : {Extent{0, 8, 8}, {8, 0, 8}, {0, 0, 0}, {5, 16, 0}, {0, 8, 0}}) {
        check_rungs(all_rungs, extent);
        check_exact(launch_eight_bits, of_integers<e4m3>({extent.m, extent.n, 2 * extent.k}));
    }
}

TEST_CASE("normal numbers within the bound; all rungs with wgmma give the same bits") {
    require_device(hopper);
    for (const Extent& extent : {Extent{130, 136, 72}, {60, 264, 520}}) {
        const Product<bf16> product = of_normal_numbers(extent);
        const Samples samples(product.a, product.b, extent, 1);
        std::vector<bf16> first;
        for (const Rung& rung : all_rungs.subspan(extent.k < 100 ? 1 : 2)) {
            INFO(rung.name << ", " << described(extent));
            const std::vector<bf16> out = result_of(rung.launch, product);
            CHECK(samples.compare(out).summary() == "ok");
            if (rung.launch != by_wgmma.front().launch && first.empty())
                continue;
            if (first.empty())
                first = out;
            CHECK(workbook::compare_bits<bf16>(first, out).summary() == "ok");
        }
    }
    const Product<bf16> small = of_normal_numbers({20, 24, 136});
    const Samples samples(small.a, small.b, small.extent, 1);
    CHECK(samples.compare(result_of(launch_naive, small)).summary() == "ok");
}

TEST_CASE("the bound notices one factor of one row") {
    require_device(hopper);
    Product<bf16> product = of_normal_numbers({2, 256, 1024});
    const std::vector<bf16> out = result_of(launch_one_stage, product);
    product.a[1024 + 700] = __float2bfloat16(0.5F + static_cast<float>(product.a[1024 + 700]));
    const Samples samples(product.a, product.b, product.extent, 1);
    const workbook::Comparison result = samples.compare(out);
    CHECK(result.wrong > 128);
    CHECK(result.wrong <= 256);
    CHECK(result.first_wrong >= 256);
}

TEST_CASE("NaN and infinities come out where they went in") {
    require_device(hopper);
    Product<bf16> product = of_normal_numbers({131, 264, 72});
    const auto [m, n, k] = product.extent;
    const float infinity = INFINITY;
    product.a[3 * k + 5] = __float2bfloat16(NAN);
    product.a[130 * k + 71] = __float2bfloat16(infinity); // the last row, the end of k
    product.b[260 * k + 70] = __float2bfloat16(-infinity);
    product.b[7 * k + 71] = __float2bfloat16(0); // and infinity times zero
    for (const Rung& rung : all_rungs.subspan(1)) {
        const std::vector<bf16> out = result_of(rung.launch, product);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const Element expected = element(product.a, product.b, k, i / n, i % n);
            const auto actual = static_cast<double>(__bfloat162float(out[i]));
            const bool right = std::isnan(expected.value)   ? std::isnan(actual)
                               : std::isinf(expected.value) ? actual == expected.value
                                                            : std::isfinite(actual);
            wrong += !right;
        }
        INFO(rung.name);
        CHECK(wrong == 0);
    }
}

TEST_CASE("what cannot be made is refused in one line") {
    require_device(hopper);
    const DeviceBuffer<bf16> a(16 * 24, 1), b(16 * 24);
    DeviceBuffer<bf16> out(16 * 16);
    const auto refused = [&](const Operands& of, const char* says) {
        CHECK_THAT(problem(of), ContainsSubstring(says) && !ContainsSubstring("\n"));
        for (const Rung& rung : all_rungs)
            CHECK_THROWS_AS(rung.launch(of), std::invalid_argument);
    };
    refused({b.data(), b.data(), out.data(), {16, 16, 12}}, "k = 12: ");
    refused({b.data(), b.data(), out.data(), {16, 12, 16}}, "n = 12: ");
    refused({a.data(), b.data(), out.data(), {16, 16, 24}}, "does not begin at a multiple of 16 bytes");
    refused({b.data(), a.data(), out.data(), {16, 16, 24}}, "does not begin at a multiple of 16 bytes");
    refused({b.data(), b.data(), out.data() + 4, {16, 8, 24}}, "does not begin at a multiple of 16 bytes");
    CHECK(problem(Operands{b.data(), b.data(), out.data(), {7, 16, 24}}).empty());
    const DeviceBuffer<e4m3> bytes(16 * 24);
    CHECK_THAT(problem(OperandsOf<e4m3>{bytes.data(), bytes.data(), out.data(), {16, 16, 24}}),
               ContainsSubstring("multiple of 16;"));
}

TEST_CASE("operands of 8 bits: exact integers") {
    require_device(hopper);
    for (const Extent& extent : {Extent{1, 8, 16}, {128, 256, 128}, {257, 264, 592}, {385, 8, 144}}) {
        check_exact(launch_eight_bits, of_integers<e4m3>(extent));
        check_exact(launch_eight_bits, of_integers<e4m3>(extent), {.bytes_off = 16, .guards = Guards::none});
    }
}

TEST_CASE("operands of 8 bits: within the bound of sums of 14 bits") {
    require_device(hopper);
    const Product<e4m3> product = of_normal_bytes({130, 264, 336});
    const auto [m, n, k] = product.extent;
    const std::vector<bf16> out = result_of(launch_eight_bits, product);
    std::size_t wrong = 0, beyond_f32 = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const ShortSum sum = short_sum(product, i / n, i % n);
        const double error = std::abs(static_cast<double>(__bfloat162float(out[i])) - sum.exact.value);
        wrong += !(error <= sum.error + 0x1p-8 * (std::abs(sum.exact.value) + sum.error));
        beyond_f32 += error > error_bound(sum.exact, k);
    }
    CHECK(wrong == 0);
    CHECK(beyond_f32 > 0); // sums of f32 would be nearer
}

TEST_CASE("operands of 8 bits: what is 2^14 times smaller than the largest product is lost") {
    require_device(hopper);
    for (const bool large : {false, true}) {
        Product<e4m3> product{
            {1, 8, 32}, std::vector<e4m3>(32, e4m3(1.0F)), std::vector<e4m3>(256, e4m3(1.0F))};
        for (std::size_t column = 0; column < 8; ++column)
            product.b[column * 32] = e4m3(64.0F);
        product.a[0] = e4m3(large ? 256.0F : 64.0F); // a product of 2^14, or of 2^12, and 31 of 1
        const std::vector<bf16> out = result_of(launch_eight_bits, product);
        for (const bf16& sum : out)
            CHECK(__bfloat162float(sum) == (large ? 16384.0F : 4128.0F)); // 4127 to the nearest bf16
    }
}

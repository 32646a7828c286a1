/// @file roles_test.cu
/// The kernels of chapter 10, at all shapes and with few and many blocks: what they write, and that they
/// write nothing else.
#include "dependent.cuh"
#include "multicast.cuh"
#include "references.hpp"
#include "registers.cuh"
#include "roles.cuh"
#include "scheduler.cuh"
#include "turns.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "shapes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace roles;
using workbook::DeviceBuffer;
using workbook::Guards;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9, .cluster_size = 2};

/// A matrix of random words, and room for `count` fingerprints of each column.
struct Case {
    Case(workbook::Shape shape, std::size_t count)
        : shape(shape),
          host(workbook::random_values<unsigned>(shape.padded_size<unsigned>(), shape.width + 7)),
          words(host, 0, Guards::filled), out(shape.width * count, 0, Guards::filled) {
        out.poison();
    }
    workbook::Shape shape;
    std::vector<unsigned> host;
    DeviceBuffer<unsigned> words;
    DeviceBuffer<unsigned> out;

    [[nodiscard]] Matrix<const unsigned> matrix() const { return shape.view<const unsigned>(words.data()); }
    [[nodiscard]] HostMatrix on_host() const {
        return {shape.width, shape.height, workbook::row_pitch<unsigned>(shape.width), host};
    }
    void check(const std::vector<unsigned>& expected) const {
        CHECK(workbook::compare_bits<unsigned>(expected, out.download()).summary() == "ok");
        CHECK(out.check_guards() == "");
        CHECK(workbook::compare_bits<unsigned>(host, words.download()).summary() == "ok");
    }
};

/// More than one panel, or more than a lap of the ring.
constexpr std::array<workbook::Shape, 5> ring_shapes{
    {{255, 64}, {256, 65}, {257, 129}, {1300, 41}, {900, 150}}};

/// Calls `test(shape, most)` for every shape of the other chapters and for ring_shapes, with one block, a
/// few, and as many as there is room for.
template <class Test>
void for_each_ring(Test test) {
    for_each_shape([&](workbook::Shape shape) { test(shape, all_blocks); });
    constexpr unsigned limits[] = {1, 2, 3, all_blocks};
    for (std::size_t i = 0; i < ring_shapes.size() * std::size(limits); ++i) {
        const workbook::Shape shape = ring_shapes[i / std::size(limits)];
        const unsigned most = limits[i % std::size(limits)];
        CAPTURE(shape.width, shape.height,
                most); // with INFO and its operators nvcc 13.0 compiles for minutes
        test(shape, most);
    }
}

/// `launch` has `blocks` blocks with `count` fingerprints each.
template <int count, unsigned blocks = 1, class Launch>
void check_ring(Launch launch) {
    for_each_ring([&](workbook::Shape shape, unsigned most) {
        Case test(shape, std::size_t{blocks} * count);
        launch(test.matrix(), test.out.span(), most);
        test.check(fingerprints<count>(test.on_host(), {}, blocks));
    });
}

template <int size, class Launch>
void check_clusters(Launch launch) {
    check_ring<few_prints, size>([&](Matrix<const unsigned> words, std::span<unsigned> out, unsigned most) {
        launch(size, words, out, most);
    });
}

} // namespace

TEST_CASE("the ring at which all threads meet, and the ring with roles") {
    require_device(hopper);
    check_ring<few_prints>(launch_meeting_ring<few_prints>);
    check_ring<few_prints>(launch_roles_ring<few_prints>);
    check_ring<4>(launch_roles_ring<4>);
}

TEST_CASE("many fingerprints, with and without registers that move") {
    require_device(hopper);
    check_ring<many_prints>(launch_registers_as_launched<many_prints>);
    check_ring<many_prints>(launch_registers_moved<many_prints>);
}

TEST_CASE("two groups in turns") {
    require_device(hopper);
    check_ring<few_prints>(launch_groups_in_turns<few_prints>);
}

TEST_CASE("registers: what the launch gives is what roles give and take") {
    require_device(hopper);
    for (const RingKernel kernel :
         {RingKernel{registers_as_launched<many_prints>}, RingKernel{registers_moved<many_prints>}}) {
        cudaFuncAttributes found{};
        workbook::check(cudaFuncGetAttributes(&found, kernel), "asking for a kernel's attributes");
        CHECK(found.numRegs == 168); // what a thread begins with
        CHECK(producer_registers + 2 * consumer_registers == 3 * found.numRegs);
    }
}

TEST_CASE("a ninth warp costs as many registers as a twelfth") {
    require_device(hopper);
    const auto registers = [](RingKernel kernel) {
        cudaFuncAttributes found{};
        workbook::check(cudaFuncGetAttributes(&found, kernel), "asking for a kernel's attributes");
        return found.numRegs;
    };
    CHECK(registers(meeting_ring<many_prints>) > many_prints);
    CHECK(registers(roles_ring<many_prints>) == registers(registers_as_launched<many_prints>));
}

TEST_CASE("unicast_ring: every block of a cluster loads for itself") {
    require_device(hopper);
    check_clusters<2>(launch_unicast_ring<>);
}

TEST_CASE("multicast_ring and multicast_ring_by_letter: every block loads a share for all") {
    require_device(hopper);
    check_clusters<2>(launch_multicast_ring<>);
    check_clusters<4>(launch_multicast_ring<>);
    check_clusters<2>(launch_multicast_ring_by_letter<>);
    check_clusters<4>(launch_multicast_ring_by_letter<>);
}

TEST_CASE("cluster rings refuse what blocks cannot share") {
    require_device(hopper);
    Case test({64, 16}, 3 * few_prints);
    CHECK_THROWS_AS(launch_multicast_ring<>(3, test.matrix(), test.out.span()), std::invalid_argument);
    CHECK_THROWS_AS(launch_multicast_ring<>(0, test.matrix(), {}), std::invalid_argument);
    CHECK_THROWS_AS(launch_unicast_ring<>(16, test.matrix(), {}), std::invalid_argument);
}

TEST_CASE("panels of uneven height are dealt out or claimed") {
    require_device(hopper);
    for_each_ring([&](workbook::Shape shape, unsigned most) {
        const std::vector<unsigned> heights_host = uneven_heights(shape.width, shape.height);
        const DeviceBuffer<unsigned> heights(heights_host);
        DeviceBuffer<unsigned> next(1);
        Case dealt(shape, few_prints);
        const std::vector<unsigned> expected = fingerprints<few_prints>(dealt.on_host(), heights_host);
        launch_dealt_panels<>(dealt.matrix(), heights.span(), dealt.out.span(), most);
        dealt.check(expected);
        Case claimed(shape, few_prints);
        launch_claimed_panels<>(claimed.matrix(), heights.span(), claimed.out.span(), next.data(), most);
        claimed.check(expected);
    });
    Case wrong({300, 4}, few_prints);
    const DeviceBuffer<unsigned> one_height(std::vector<unsigned>{4});
    CHECK_THROWS_AS(launch_dealt_panels<>(wrong.matrix(), one_height.span(), wrong.out.span()),
                    std::invalid_argument);
}

TEST_CASE("prints_then_next and mix_prints, one after the other and early") {
    require_device(hopper);
    const auto weights_host = workbook::random_values<unsigned>(few_prints, 5);
    const DeviceBuffer<unsigned> weights(weights_host);
    for_each_ring([&](workbook::Shape shape, unsigned most) {
        for (const Follows follows : {Follows::the_end, Follows::early}) {
            Case test(shape, few_prints);
            DeviceBuffer<unsigned> sums(shape.width, 0, Guards::filled);
            sums.poison();
            launch_mixed_prints<>(follows, test.matrix(), weights.span(), test.out.span(), sums.span(), most);
            const std::vector<unsigned> prints = fingerprints<few_prints>(test.on_host());
            test.check(prints);
            CHECK(workbook::compare_bits<unsigned>(mixed(prints, weights_host), sums.download()).summary() ==
                  "ok");
            CHECK(sums.check_guards() == "");
        }
    });
    Case wrong({8, 4}, few_prints);
    DeviceBuffer<unsigned> sums(7);
    CHECK_THROWS_AS(
        launch_mixed_prints<>(Follows::early, wrong.matrix(), weights.span(), wrong.out.span(), sums.span()),
        std::invalid_argument);
}

TEST_CASE("fingerprints refuse an output of another size, and arrays at odd places") {
    require_device(hopper);
    Case test({64, 16}, few_prints + 1);
    CHECK_THROWS_AS(launch_roles_ring<>(test.matrix(), test.out.span()), std::invalid_argument);
    CHECK_THROWS_AS(launch_roles_ring<>(test.matrix(), test.out.span().subspan(1, 64 * few_prints)),
                    std::invalid_argument);
    Matrix<const unsigned> askew = test.matrix();
    ++askew.data;
    CHECK_THROWS_AS(launch_roles_ring<>(askew, test.out.span().first(64 * few_prints)),
                    std::invalid_argument);
}

TEST_CASE("a fingerprint tells which word is where") {
    Case test({300, 70}, few_prints);
    const std::vector<unsigned> prints = fingerprints<few_prints>(test.on_host());
    const std::size_t pitch = workbook::row_pitch<unsigned>(test.shape.width);
    std::swap(test.host[17 * pitch + 5], test.host[18 * pitch + 5]);
    const std::vector<unsigned> swapped = fingerprints<few_prints>(test.on_host());
    for (std::size_t i = 0; i < prints.size(); ++i)
        CHECK((prints[i] != swapped[i]) == (i / few_prints == 5));
}

TEST_CASE("RingState: to pass over stages is to advance so often") {
    for (unsigned first = 0; first < 7; ++first)
        for (unsigned count = 0; count < 20; ++count) {
            RingState<3> stepped;
            for (unsigned i = 0; i < first; ++i)
                stepped.advance();
            RingState<3> skipped = stepped;
            for (unsigned i = 0; i < count; ++i)
                stepped.advance();
            skipped.skip(count);
            CHECK(stepped.index == skipped.index);
            CHECK(stepped.phase == skipped.phase);
        }
}

/// @file main.cu
/// Chapter 10's program: runs its kernels, checks each against the CPU, and on a GPU measures it.
#include "dependent.cuh"
#include "multicast.cuh"
#include "references.hpp"
#include "registers.cuh"
#include "roles.cuh"
#include "scheduler.cuh"
#include "turns.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace roles;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr int cluster_size = 2;

/// A matrix of at most `size` words: many columns, and in the emulator's sizes several tiles below each
/// other.
workbook::Shape matrix_of(std::size_t size) {
    constexpr double columns_per_row = 8;
    constexpr std::size_t tallest = 256;
    const auto edge = static_cast<std::size_t>(std::sqrt(static_cast<double>(size) / columns_per_row));
    const std::size_t height = std::clamp<std::size_t>(edge, 1, tallest);
    return {size / height, size == 0 ? 0 : height};
}

/// The arrays that the kernels work on.
struct Arrays {
    explicit Arrays(const workbook::RunContext& run)
        : shape(matrix_of(run.size)), most(run.has_clock ? all_blocks : 2),
          host(workbook::random_values<unsigned>(shape.padded_size<unsigned>(), run.seed)), words(host),
          heights_host(uneven_heights(shape.width, shape.height)), heights(heights_host),
          weights_host(workbook::random_values<unsigned>(few_prints, run.seed + 1)), weights(weights_host),
          out(shape.width * many_prints), sums(shape.width), next(1) {}

    workbook::Shape shape;
    unsigned most; ///< blocks or clusters: few without a clock, so that each has several panels
    std::vector<unsigned> host;
    DeviceBuffer<unsigned> words;
    std::vector<unsigned> heights_host;
    DeviceBuffer<unsigned> heights;
    std::vector<unsigned> weights_host;
    DeviceBuffer<unsigned> weights;
    DeviceBuffer<unsigned> out;
    DeviceBuffer<unsigned> sums;
    DeviceBuffer<unsigned> next;

    [[nodiscard]] Matrix<const unsigned> matrix() const { return shape.view<const unsigned>(words.data()); }
    [[nodiscard]] HostMatrix on_host() const {
        return {shape.width, shape.height, workbook::row_pitch<unsigned>(shape.width), host};
    }
    /// Room for `count` fingerprints of each column.
    [[nodiscard]] std::span<unsigned> prints(int count) {
        return out.span().first(shape.width * static_cast<std::size_t>(count));
    }
};

void poison(Arrays& arrays) {
    arrays.out.poison();
    arrays.sums.poison();
}

/// Compares the fingerprints, and that the room for more of them was left alone.
Comparison check_prints(Arrays& arrays, std::vector<unsigned> expected) {
    constexpr unsigned poison_word = 0x01010101u * DeviceBuffer<unsigned>::poison_byte;
    expected.resize(arrays.out.size(), poison_word);
    return workbook::check_exact(arrays.out, expected);
}

/// Bytes of the matrix, and of `count` fingerprints of each column.
template <int count>
std::size_t moved(const Arrays& arrays) {
    return (arrays.shape.width * arrays.shape.height + arrays.shape.width * count) * sizeof(unsigned);
}

using RingLaunch = void (*)(Matrix<const unsigned>, std::span<unsigned>, unsigned);

/// The row of a kernel that makes `count` fingerprints of each column, each of `blocks` blocks its share.
template <int count, RingLaunch run, int blocks = 1>
constexpr workbook::KernelEntry<Arrays> ring_row(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = moved<count>,
            .prepare = poison,
            .launch = [](Arrays& arrays) { run(arrays.matrix(), arrays.prints(count), arrays.most); },
            .check =
                [](Arrays& arrays) {
                    return check_prints(arrays, fingerprints<count / blocks>(arrays.on_host(), {}, blocks));
                }};
}

using ClusterLaunch = void (*)(int, Matrix<const unsigned>, std::span<unsigned>, unsigned);

template <ClusterLaunch run>
void in_clusters(Matrix<const unsigned> words, std::span<unsigned> out, unsigned most) {
    run(cluster_size, words, out, most);
}

/// The same by clusters, each block of which makes few_prints of them.
template <ClusterLaunch run>
constexpr workbook::KernelEntry<Arrays> cluster_row(const char* name, const char* shows) {
    return ring_row<cluster_size * few_prints, in_clusters<run>, cluster_size>(name, shows);
}

/// Bytes of panels that have their own heights.
std::size_t moved_unevenly(const Arrays& arrays) {
    std::size_t words = arrays.shape.width * few_prints;
    for (std::size_t p = 0; p < arrays.heights_host.size(); ++p)
        words += arrays.heights_host[p] *
                 std::min<std::size_t>(panel_columns, arrays.shape.width - p * panel_columns);
    return words * sizeof(unsigned);
}

Comparison check_uneven(Arrays& arrays) {
    return check_prints(arrays, fingerprints<few_prints>(arrays.on_host(), arrays.heights_host));
}

/// The row of the two kernels, one after the other.
template <Follows follows>
constexpr workbook::KernelEntry<Arrays> mixed_row(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes =
                [](const Arrays& arrays) {
                    return moved<2 * few_prints>(arrays) + arrays.shape.width * sizeof(unsigned);
                },
            .prepare = poison,
            .launch =
                [](Arrays& arrays) {
                    launch_mixed_prints(follows, arrays.matrix(), arrays.weights.span(),
                                        arrays.prints(few_prints), arrays.sums.span(), arrays.most);
                },
            .check =
                [](Arrays& arrays) {
                    const auto prints = fingerprints<few_prints>(arrays.on_host());
                    const Comparison first = check_prints(arrays, prints);
                    return first ? workbook::check_exact(arrays.sums, mixed(prints, arrays.weights_host))
                                 : first;
                }};
}

constexpr workbook::KernelEntry<Arrays> kernels[] = {
    ring_row<few_prints, launch_meeting_ring>("meeting_ring", "all threads do everything, and meet"),
    ring_row<few_prints, launch_roles_ring>("roles_ring", "one warp loads, eight use"),
    ring_row<many_prints, launch_registers_as_launched>("registers_as_launched",
                                                        "208 results per thread, 168 registers"),
    ring_row<many_prints, launch_registers_moved>("registers_moved", "the same with 232, by setmaxnreg"),
    ring_row<few_prints, launch_groups_in_turns>("groups_in_turns", "two groups take turns at the ring"),
    cluster_row<launch_unicast_ring>("unicast_ring", "two blocks load the same tiles"),
    cluster_row<launch_multicast_ring>("multicast_ring", "each loads half, for both"),
    cluster_row<launch_multicast_ring_by_letter>("multicast_ring_by_letter",
                                                 "the same, handed back by the letter"),
    {.name = "dealt_panels",
     .shows = "panels of uneven height, dealt out",
     .bytes = moved_unevenly,
     .prepare = poison,
     .launch =
         [](Arrays& arrays) {
             launch_dealt_panels(arrays.matrix(), arrays.heights.span(), arrays.prints(few_prints),
                                 arrays.most);
         },
     .check = check_uneven},
    {.name = "claimed_panels",
     .shows = "the same, claimed one by one",
     .bytes = moved_unevenly,
     .prepare = poison,
     .launch =
         [](Arrays& arrays) {
             launch_claimed_panels(arrays.matrix(), arrays.heights.span(), arrays.prints(few_prints),
                                   arrays.next.data(), arrays.most);
         },
     .check = check_uneven},
    mixed_row<Follows::the_end>("mixed_after", "two kernels, one after the other"),
    mixed_row<Follows::early>("mixed_early", "the second begins while the first runs"),
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "roles",
                                     .summary = "warps with different work",
                                     .size_unit = "words",
                                     .size_with_clock = 16'000'000,
                                     .size_without_clock = 50'001,
                                     .device_bytes_per_element = 2 * many_prints * sizeof(unsigned),
                                     .host_bytes_per_element = 4 * many_prints * sizeof(unsigned),
                                     .needs = {.compute_major = 9, .cluster_size = cluster_size}};
    return workbook::run_program<Arrays>(info, kernels, argc, argv);
}

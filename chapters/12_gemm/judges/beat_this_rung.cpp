/// @file beat_this_rung.cpp
/// Judge of chapter 12's beat_this_rung.
#include "products.hpp"
#include "rung.hpp"

#include "workbook/interleaved.hpp"

#include <cstdio>

namespace judge {
namespace {

/// As the exercise declares it.
struct Plan {
    unsigned grid_x = 0, grid_y = 0;
    unsigned cluster_x = 0, cluster_y = 0;
    unsigned threads = 0, shared_bytes = 0;
    unsigned rows_a = 0, rows_b = 0, rows_out = 0;
};

/// The learner's kernel, and what he says of its launch.
class Answer {
  public:
    /// Asks for the plan, and makes the maps that it wants. @param multiprocessors that it is told of
    Answer(Product& of, unsigned multiprocessors) : product_(of), plan_(asked(of.extent, multiprocessors)) {
        for (const auto& [name, rows] :
             {std::pair{"rows_a", plan_.rows_a}, {"rows_b", plan_.rows_b}, {"rows_out", plan_.rows_out}})
            if (rows == 0 || rows > 256)
                refuse(name, rows, "a box has from 1 to 256 rows");
        if (plan_.cluster_x * plan_.cluster_y == 0 || plan_.cluster_x * plan_.cluster_y > 8)
            refuse("cluster_x * cluster_y", plan_.cluster_x * plan_.cluster_y,
                   "clusters have from 1 to 8 blocks");
        if (plan_.grid_x % plan_.cluster_x != 0 || plan_.grid_y % plan_.cluster_y != 0)
            fail("plan_for: the grid must be a multiple of the cluster in x and in y.");
        if (plan_.grid_x * plan_.grid_y == 0)
            fail("plan_for: there is no block in the grid, with " + std::to_string(multiprocessors) +
                 " multiprocessors.");
        a_ = of.map_a(plan_.rows_a);
        b_ = of.map_b(plan_.rows_b);
        out_ = of.map_out(plan_.rows_out);
    }

    void launch() const {
        kernel_({.grid = {plan_.grid_x, plan_.grid_y},
                 .block = plan_.threads,
                 .dynamic_shared = plan_.shared_bytes,
                 .cluster = dim3(plan_.cluster_x, plan_.cluster_y)},
                product_.extent, product_.out.data(), a_, b_, out_);
    }

  private:
    [[noreturn]] static void refuse(const char* name, unsigned is, const char* why) {
        fail("plan_for: " + std::string(name) + " is " + std::to_string(is) + ", and " + why + ".");
    }

    [[nodiscard]] static Plan asked(Extent extent, unsigned multiprocessors) {
        const Kernel<void(Extent, unsigned, Plan*)> ask("plan_launch");
        workbook::DeviceBuffer<Plan> plan(std::vector<Plan>(1));
        ask({}, extent, multiprocessors, plan.data());
        return plan.download()[0];
    }

    Product& product_;
    Plan plan_;
    Kernel<void(Extent, bf16*, CUtensorMap, CUtensorMap, CUtensorMap)> kernel_{"beat_this_rung"};
    CUtensorMap a_{};
    CUtensorMap b_{};
    CUtensorMap out_{};
};

/// Multiprocessors of the device.
[[nodiscard]] unsigned all() {
    int count = 0;
    workbook::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0),
                    "counting multiprocessors");
    return static_cast<unsigned>(count);
}

/// So few of them that blocks which stay get one tile after another, in products that are small.
constexpr unsigned few = 4;

/// Compares its result with the rung's and, on a device with a clock, measures both in turns. Fails if it is
/// not faster.
void race(Extent extent) {
    trying("beside the rung, " + with_extent(extent));
    Product product(extent, 0); // as allocated: 16 bytes beside it every row of a box lies in two lines
    Answer answer(product, all());
    // Asked once: whoever asks an input for its address has the judge note what it holds, which takes time.
    const auto rung = [&, a = product.a.data(), b = product.b.data()] {
        launch_rung(a, b, product.out.data(), extent.m, extent.n, extent.k);
    };
    rung();
    const std::vector<bf16> expected = product.out.download();
    product.out.poison();
    answer.launch();
    expect_exact("out", product.out, expected);
    const auto timings = workbook::measure_in_turns({{"yours", [&] { answer.launch(); }}, {"the rung", rung}},
                                                    {.launches = 20});
    if (timings.empty())
        return;
    const double yours = timings[0].median_ms, theirs = timings[1].median_ms;
    const double operations = 2.0 * extent.m * extent.n * extent.k;
    std::printf("yours     %.4f ms  %6.1f TFLOP/s  %.3f times as fast as the rung\n", yours,
                operations / yours * 1e-9, theirs / yours);
    std::printf("the rung  %.4f ms  %6.1f TFLOP/s\n", theirs, operations / theirs * 1e-9);
    // The rung against itself was up to 1.2 % faster or slower.
    if (yours * 1.03 > theirs)
        fail("The results are right, but yours is not 3 % faster than the rung: it takes " +
             std::to_string(yours) + " ms, the rung " + std::to_string(theirs) +
             " ms (medians of bursts in turns).");
}

} // namespace
} // namespace judge

void judge::run() {
    // The manifest asks the first launch what its tiles cost, each block having one, and the second one about
    // its loop: 48 steps.
    struct Case {
        Extent extent;
        unsigned multiprocessors = all();
    };
    for (const auto& [extent, multiprocessors] : {Case{{768, 768, 256}},
                                                  {{64, 136, 3072}},
                                                  {{520, 264, 72}, few},
                                                  {{1, 8, 8}},
                                                  {{130, 72, 328}},
                                                  {{257, 8, 64}, few}}) {
        trying(with_extent(extent) +
               (multiprocessors == few ? ", and " + std::to_string(few) + " multiprocessors" : ""));
        Product product(extent);
        const Answer answer(product, multiprocessors);
        answer.launch();
        product.expect();
    }
    race(workbook::device_has_clock() ? Extent{4096, 4096, 4096} : Extent{130, 136, 72});
}

/// @file parity.cu
/// The life of some mbarriers for the interactive picture of chapter 3: one thread takes them through steps,
/// and asks after each of them for both parities whether a wait would return (`mbarrier.test_wait.parity`).
#include "barriers.cuh"

#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using workbook::DeviceBuffer;

/// What a step does; its number is the expected count, or bytes.
enum class Kind : int { init, arrive, expect, arrive_expect, land, drop };
constexpr const char* names[] = {"init", "arrive", "expect", "arrive expect", "land", "drop"};

struct Step {
    Kind kind;
    unsigned number;
};

struct Life {
    const char* name;
    std::vector<Step> steps;
};

__device__ void take(std::uint32_t bar, Step step) {
    switch (step.kind) {
    case Kind::init:
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(step.number) : "memory");
        break;
    case Kind::arrive:
        asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
        break;
    case Kind::expect:
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(step.number)
                     : "memory");
        break;
    case Kind::arrive_expect:
        asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                     "r"(step.number)
                     : "memory");
        break;
    case Kind::land: // what a copy does that lands
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(step.number)
                     : "memory");
        break;
    case Kind::drop:
        asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
        break;
    }
}

__device__ bool would_return(std::uint32_t bar, unsigned parity) {
    unsigned complete = 0;
    asm volatile("{\n\t"
                 ".reg .pred complete;\n\t"
                 "mbarrier.test_wait.parity.shared::cta.b64 complete, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, complete;\n\t"
                 "}"
                 : "=r"(complete)
                 : "r"(bar), "r"(parity)
                 : "memory");
    return complete != 0;
}

/// One thread; `answers` gets two numbers for each step.
__global__ void live(const Step* steps, int count, int* answers) {
    __shared__ std::uint64_t bar;
    const std::uint32_t address = barriers::shared_address(&bar);
    for (int i = 0; i < count; ++i) {
        take(address, steps[i]);
        for (unsigned parity : {0u, 1u})
            answers[2 * i + parity] = would_return(address, parity);
    }
}

std::vector<Life> lives() {
    using enum Kind;
    return {
        {"two arrivals", {{init, 2}, {arrive, 1}, {arrive, 1}, {arrive, 1}, {arrive, 1}, {arrive, 1}}},
        {"copies",
         {{init, 1}, {arrive_expect, 4096}, {land, 2048}, {land, 2048}, {land, 1024}, {arrive_expect, 1024}}},
        {"expect is no arrival",
         {{init, 1}, {expect, 512}, {land, 512}, {arrive, 1}, {expect, 256}, {arrive, 1}, {land, 256}}},
        {"one drops out", {{init, 2}, {arrive, 1}, {drop, 1}, {arrive, 1}, {arrive, 1}}},
    };
}

void write(const Life& life) {
    const std::size_t count = life.steps.size();
    DeviceBuffer<Step> steps(count);
    steps.upload(life.steps);
    DeviceBuffer<int> out(2 * count);
    workbook::launch(live, {.block = 1}, steps.data(), static_cast<int>(count), out.data());
    const std::vector<int> answers = out.download();
    std::cout << "{\"name\":\"" << life.name << "\",\"steps\":[";
    for (std::size_t i = 0; i < count; ++i)
        std::cout << (i ? ",\n" : "\n") << "{\"kind\":\"" << names[static_cast<int>(life.steps[i].kind)]
                  << "\",\"number\":" << life.steps[i].number << ",\"returns\":[" << answers[2 * i] << ','
                  << answers[2 * i + 1] << "]}";
    std::cout << "]}";
}

} // namespace

int main() {
    try {
        const char* separator = "{\"lives\":[\n";
        for (const Life& life : lives()) {
            std::cout << separator;
            write(life);
            separator = ",\n";
        }
        std::cout << "]}\n";
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "parity: " << error.what() << '\n';
        return 1;
    }
}

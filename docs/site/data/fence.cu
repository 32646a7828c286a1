/// @file fence.cu
/// Small hand-overs for the interactive picture of chapter 3: a thread writes a value and raises a flag, a
/// thread of another warp sees the flag and reads the value, with and without fences, with a barrier, and
/// without a wait. What the emulator finds in each is in EMULATOR_REPORT; the argument says which one runs,
/// and without one their names are printed.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <cuda/atomic>
#include <exception>
#include <iostream>

namespace {

using workbook::DeviceBuffer;

enum class Wait { for_flag, nowhere, at_barrier };

constexpr int threads = 64; ///< thread 0 writes, thread 32 reads
constexpr int reader = 32;

template <bool writer_fences, bool reader_fences, Wait wait>
__global__ void hand_over(unsigned* out) {
    __shared__ unsigned value;
    __shared__ unsigned flag;
    if (threadIdx.x == 0)
        value = flag = 0;
    __syncthreads();
    const cuda::atomic_ref<unsigned, cuda::thread_scope_block> raised(flag);
    if (threadIdx.x == 0) {
        value = 1;
        if constexpr (writer_fences)
            __threadfence_block();
        raised.store(1, cuda::memory_order_relaxed);
    }
    if constexpr (wait == Wait::at_barrier)
        __syncthreads();
    if (threadIdx.x == reader) {
        unsigned seen = raised.load(cuda::memory_order_relaxed);
        while (wait == Wait::for_flag && seen == 0)
            seen = raised.load(cuda::memory_order_relaxed);
        if constexpr (reader_fences)
            __threadfence_block();
        *out = 2 * seen + value;
    }
}

struct Case {
    const char* name;
    bool writer_fences;
    bool reader_fences;
    const char* wait;
    void (*kernel)(unsigned*);
};

constexpr std::array cases{
    Case{"a flag, no fence", false, false, "flag", hand_over<false, false, Wait::for_flag>},
    Case{"a flag, the writer fences", true, false, "flag", hand_over<true, false, Wait::for_flag>},
    Case{"a flag, the reader fences", false, true, "flag", hand_over<false, true, Wait::for_flag>},
    Case{"a flag, both fence", true, true, "flag", hand_over<true, true, Wait::for_flag>},
    Case{"both fence, nobody waits", true, true, "nothing", hand_over<true, true, Wait::nowhere>},
    Case{"a barrier, no fence", false, false, "barrier", hand_over<false, false, Wait::at_barrier>},
};

void print_cases() {
    const char* separator = "[";
    for (const Case& each : cases) {
        std::cout << separator << "{\"name\":\"" << each.name << "\",\"writer\":" << each.writer_fences
                  << ",\"reader\":" << each.reader_fences << ",\"wait\":\"" << each.wait << "\"}";
        separator = ",\n";
    }
    std::cout << "]\n";
}

} // namespace

int main(int count, char** arguments) {
    try {
        if (count < 2) {
            print_cases();
            return 0;
        }
        std::size_t number = 0;
        std::from_chars(arguments[1], arguments[1] + std::strlen(arguments[1]), number);
        DeviceBuffer<unsigned> out(1);
        workbook::launch(cases.at(number).kernel, {.block = threads}, out.data());
        cudaDeviceSynchronize(); // Its error is the finding that is looked for.
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "fence: " << error.what() << '\n';
        return 1;
    }
}

/// @file coalescing.cu
/// Loads of one warp for the interactive picture of chapter 1: every width, stride and offset that it offers,
/// one launch for each. What they cost is what the emulator counts for the launches (EMULATOR_COUNTERS), in
/// the order that is printed here.
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <exception>
#include <iostream>

namespace {

using workbook::DeviceBuffer;

constexpr int lanes = 32;
constexpr int most_stride = 8; ///< in elements
constexpr int offsets = 8;     ///< in elements, from 0

/// Lane `i` loads element `offset + i * stride` of `in`.
template <class T>
__global__ void load(const T* in, T* out, int stride, int offset) {
    out[threadIdx.x] = in[offset + threadIdx.x * stride];
}

/// All launches for one type; prints what each of them is.
template <class T>
void all_loads(const char*& separator) {
    DeviceBuffer<T> in(offsets + lanes * most_stride);
    DeviceBuffer<T> out(lanes);
    workbook::check(cudaMemset(in.data(), 0, in.size() * sizeof(T)));
    for (int offset = 0; offset < offsets; ++offset)
        for (int stride = 0; stride <= most_stride; ++stride) {
            workbook::launch(load<T>, {.block = lanes}, in.data(), out.data(), stride, offset);
            std::cout << separator << "{\"size\":" << sizeof(T) << ",\"offset\":" << offset
                      << ",\"stride\":" << stride << '}';
            separator = ",\n";
        }
    workbook::check(cudaDeviceSynchronize());
}

} // namespace

int main() {
    try {
        const char* separator = "[";
        all_loads<unsigned char>(separator);
        all_loads<unsigned short>(separator);
        all_loads<unsigned>(separator);
        all_loads<uint2>(separator);
        all_loads<uint4>(separator);
        std::cout << "]\n";
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "coalescing: " << error.what() << '\n';
        return 1;
    }
}

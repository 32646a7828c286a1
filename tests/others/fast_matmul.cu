// Calls a matmul of fast.cu (HEADER, KERNEL) with M N K from the command line, and compares with a plain
// loop. The header wants these names to be there before it.

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cuda/barrier>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using bf16 = __nv_bfloat16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
inline void check(cudaError_t error) {
    if (error == cudaSuccess)
        return;
    std::printf("%s\n", cudaGetErrorString(error));
    std::exit(1);
}
#define cudaCheck(error) check(error)

#include HEADER

namespace {

/// Small integers: their sums are exact in every order.
std::vector<bf16> random_matrix(std::size_t size, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> number(-4, 4);
    std::vector<bf16> matrix(size);
    for (bf16& each : matrix)
        each = static_cast<float>(number(generator));
    return matrix;
}

bf16* on_device(const std::vector<bf16>& matrix) {
    bf16* memory = nullptr;
    check(cudaMalloc(&memory, matrix.size() * sizeof(bf16)));
    check(cudaMemcpy(memory, matrix.data(), matrix.size() * sizeof(bf16), cudaMemcpyHostToDevice));
    return memory;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
    const auto a = random_matrix(std::size_t(m) * k, 1), b = random_matrix(std::size_t(n) * k, 2);
    std::vector<bf16> c(std::size_t(m) * n, bf16(NAN));
    bf16 *const d_a = on_device(a), *const d_b = on_device(b), *const d_c = on_device(c);
    int* counters = nullptr;
    constexpr std::size_t counter_bytes = 4 * 8192 * 128;
    check(cudaMalloc(&counters, counter_bytes));
    check(cudaMemset(counters, 0xff, counter_bytes));
    KERNEL(m, n, k, d_a, d_b, d_c, counters);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(c.data(), d_c, c.size() * sizeof(bf16), cudaMemcpyDeviceToHost));
    std::size_t wrong = 0;
    for (int column = 0; column < n; ++column)
        for (int row = 0; row < m; ++row) {
            float sum = 0;
            for (int i = 0; i < k; ++i)
                sum += float(a[std::size_t(row) * k + i]) * float(b[std::size_t(column) * k + i]);
            wrong += !(float(c[std::size_t(column) * m + row]) == float(bf16(sum)));
        }
    std::printf("%zu wrong of %zu\n", wrong, c.size());
    return wrong != 0;
}

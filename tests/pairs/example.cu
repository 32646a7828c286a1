// The shape of a file of pairs.
#include "pairs.hpp"

namespace {

constexpr int threads = 64;

template <bool broken>
__global__ void reverse_kernel(const int* in, int* out) {
    __shared__ int tile[threads];
    tile[threadIdx.x] = in[threadIdx.x];
    if constexpr (!broken)
        __syncthreads();
    out[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

bool reverse(bool broken) {
    const auto host = pairs::random_ints(threads);
    pairs::Device<int> in(host), out(threads);
    (broken ? reverse_kernel<true> : reverse_kernel<false>)<<<1, threads>>>(in.data(), out.data());
    return out.read() == std::vector<int>(host.rbegin(), host.rend());
}

constexpr pairs::Pair list[] = {
    {.name = "reverse",
     .mistake = "Threads read what others have written without a barrier between.",
     .fix = "__syncthreads() between the write and the read of the tile.",
     .run = reverse,
     .finding = "race-shared",
     .says = "",
     .remedy = "__syncthreads()"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

/// \file
/// Kernels that a GPU stops, each for one reason: what the emulator's error codes are compared with.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace faults {

/// What a kernel can go wrong with. The compiler must not see the values.
struct Arguments {
    CUtensorMap map{};      ///< A matrix of 64 x 64 ints, box 32 x 8, no swizzle.
    CUtensorMap other{};    ///< As a case wants it.
    char* memory = nullptr; ///< 1 MiB of global memory, of which 64 KiB are the matrix; zeros.
    char* host = nullptr;   ///< Memory of the host that no GPU can reach.
    CUtensorMap* global_map = nullptr;
    unsigned zero = 0, one = 1, large = 1u << 30;
};

/// How a case is launched.
struct Shape {
    unsigned blocks = 1, threads = 32, cluster = 0, shared = 0;
    bool cooperative = false;
};

/// One case: runs a kernel in a fresh process.
struct Case {
    std::string name;    ///< Identifies it in the record.
    std::string what;    ///< What the kernel does, in words.
    std::string finding; ///< The emulator's name for it; empty: none.
    std::function<cudaError_t(const Arguments&)> launch;
};

template <class Body>
__global__ void faulty_kernel(const __grid_constant__ Arguments arguments, Body body) {
    body(arguments);
}

/// Launches `body` as a kernel; the error of the launch itself.
template <class Body>
cudaError_t launch(const Arguments& arguments, Body body, const Shape& shape) {
    const auto kernel = &faulty_kernel<Body>;
    if (shape.shared > 48 * 1024)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shape.shared));
    if (shape.cluster > 8)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaLaunchAttribute attributes[2]{};
    unsigned count = 0;
    if (shape.cluster) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count++].val.clusterDim = {shape.cluster, 1, 1};
    }
    if (shape.cooperative) {
        attributes[count].id = cudaLaunchAttributeCooperative;
        attributes[count++].val.cooperative = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(shape.blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared;
    config.attrs = attributes;
    config.numAttrs = count;
    return cudaLaunchKernelEx(&config, kernel, arguments, body);
}

class Cases {
  public:
    /// A kernel with the finding that the emulator reports, or "" if it reports none.
    template <class Body>
    void add(std::string name, std::string what, std::string finding, Body body, Shape shape = {}) {
        all_.push_back({std::move(name), std::move(what), std::move(finding),
                        [body, shape](const Arguments& a) { return launch(a, body, shape); }});
    }
    /// As above, with a change to the arguments before the launch.
    template <class Change, class Body>
    void add_with(std::string name, std::string what, std::string finding, Change change, Body body,
                  Shape shape = {}) {
        all_.push_back(
            {std::move(name), std::move(what), std::move(finding), [change, body, shape](Arguments a) {
                 change(a);
                 return launch(a, body, shape);
             }});
    }
    const std::vector<Case>& all() const { return all_; }

  private:
    std::vector<Case> all_;
};

void add_memory(Cases& cases);
void add_control(Cases& cases);
void add_barriers(Cases& cases);
void add_mbarriers(Cases& cases);
void add_copies(Cases& cases);
void add_tensors(Cases& cases);
void add_clusters(Cases& cases);
void add_wgmma(Cases& cases);

} // namespace faults

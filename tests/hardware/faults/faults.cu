// Runs one faulty kernel: `faults NAME` prints the error code of the launch and of the call that waits for
// it, `faults --list` the cases. faults.py runs all of them, each in a process of its own.
#include "faults.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace faults;

CUtensorMap describe(void* memory, std::uint32_t box_width = 32,
                     CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult status{};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &status);
    CUtensorMap map{};
    const cuuint64_t size[] = {64, 64}, pitch[] = {64 * 4};
    const cuuint32_t box[] = {box_width, 8}, steps[] = {1, 1};
    const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, memory, size, pitch, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS)
        std::printf("no tensor map: %d\n", static_cast<int>(result));
    return map;
}

/// Memory, maps, and the map once more in global memory.
bool prepare(Arguments& a) {
    static char somewhere[256];
    constexpr std::size_t size = 1 << 20;
    if (cudaMalloc(&a.memory, size) != cudaSuccess || cudaMemset(a.memory, 0, size) != cudaSuccess ||
        cudaMalloc(&a.global_map, sizeof *a.global_map) != cudaSuccess)
        return false;
    a.host = somewhere;
    a.map = describe(a.memory);
    a.other = describe(a.memory, 32, CU_TENSOR_MAP_SWIZZLE_128B);
    return cudaMemcpy(a.global_map, &a.map, sizeof a.map, cudaMemcpyHostToDevice) == cudaSuccess;
}

} // namespace

int main(int argc, char** argv) {
    Cases cases;
    for (const auto add : {add_memory, add_control, add_barriers, add_mbarriers, add_copies, add_tensors,
                           add_clusters, add_wgmma})
        add(cases);
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        for (const Case& each : cases.all())
            std::printf("%s|%s|%s\n", each.name.c_str(), each.finding.c_str(), each.what.c_str());
        return 0;
    }
    for (const Case& each : cases.all()) {
        if (argc != 2 || each.name != argv[1])
            continue;
        Arguments arguments;
        if (!prepare(arguments))
            return 2;
        const cudaError_t launched = each.launch(arguments);
        const cudaError_t ended = cudaDeviceSynchronize();
        std::printf("%d %d\n", static_cast<int>(launched), static_cast<int>(ended));
        return 0;
    }
    std::fprintf(stderr, "usage: faults --list | faults NAME\n");
    return 1;
}

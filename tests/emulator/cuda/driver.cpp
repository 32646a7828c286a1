// The driver API, reached as programs without -lcuda reach it. Passes on a GPU as well.
#include "cuda/support.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstring>
#include <string>
#include <thread>

namespace {

constexpr const char* module_text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry multiply(.param .u64 data)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    ld.global.u32 %r3, [factor];
    mul.lo.u32 %r4, %r2, %r3;
    st.global.u32 [%rd4], %r4;
    ret;
}
)";

} // namespace

TEST_CASE("a module from text, its function and its variable") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto load = driver_function<PFN_cuModuleLoadData_v2000>("cuModuleLoadData", 12000);
    const auto get_function = driver_function<PFN_cuModuleGetFunction_v2000>("cuModuleGetFunction", 12000);
    const auto get_global = driver_function<PFN_cuModuleGetGlobal_v3020>("cuModuleGetGlobal", 12000);
    const auto launch = driver_function<PFN_cuLaunchKernel_v4000>("cuLaunchKernel", 12000);
    const auto copy_to = driver_function<PFN_cuMemcpyHtoD_v3020>("cuMemcpyHtoD", 12000);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    REQUIRE(load(&module, module_text) == CUDA_SUCCESS);
    REQUIRE(get_function(&function, module, "multiply") == CUDA_SUCCESS);
    CHECK(get_function(&function, module, "divide") == CUDA_ERROR_NOT_FOUND);
    REQUIRE(get_function(&function, module, "multiply") == CUDA_SUCCESS);
    const Memory<unsigned> data(std::vector<unsigned>{1, 2, 3, 4});
    unsigned* pointer = data.data();
    void* arguments[] = {&pointer};
    CHECK(launch(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
    CHECK(data.read() == std::vector<unsigned>{3, 6, 9, 12});
    CUdeviceptr variable = 0;
    std::size_t size = 0;
    REQUIRE(get_global(&variable, &size, module, "factor") == CUDA_SUCCESS);
    CHECK(size == 4);
    const unsigned ten = 10;
    CHECK(copy_to(variable, &ten, sizeof ten) == CUDA_SUCCESS);
    std::size_t parameter_size = sizeof pointer;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &pointer, CU_LAUNCH_PARAM_BUFFER_SIZE, &parameter_size,
                     CU_LAUNCH_PARAM_END};
    CHECK(launch(function, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra) == CUDA_SUCCESS);
    CHECK(data.read() == std::vector<unsigned>{30, 60, 90, 120});
    CHECK(launch(function, 1, 1, 1, 4096, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cudaGetLastError() == cudaSuccess); // The driver's errors are not the runtime's.
}

TEST_CASE("modules linked at run time") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto create = driver_function<PFN_cuLinkCreate_v6050>("cuLinkCreate", 12000);
    const auto add = driver_function<PFN_cuLinkAddData_v6050>("cuLinkAddData", 12000);
    const auto complete = driver_function<PFN_cuLinkComplete_v5050>("cuLinkComplete", 12000);
    const auto destroy = driver_function<PFN_cuLinkDestroy_v5050>("cuLinkDestroy", 12000);
    const auto load = driver_function<PFN_cuModuleLoadData_v2000>("cuModuleLoadData", 12000);
    const auto get_function = driver_function<PFN_cuModuleGetFunction_v2000>("cuModuleGetFunction", 12000);
    CUlinkState state = nullptr;
    REQUIRE(create(0, nullptr, nullptr, &state) == CUDA_SUCCESS);
    std::string text = module_text;
    REQUIRE(add(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "module", 0, nullptr, nullptr) ==
            CUDA_SUCCESS);
    void* image = nullptr;
    std::size_t size = 0;
    REQUIRE(complete(state, &image, &size) == CUDA_SUCCESS);
    CHECK(size > 0);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    REQUIRE(load(&module, image) == CUDA_SUCCESS);
    REQUIRE(destroy(state) == CUDA_SUCCESS);
    CHECK(get_function(&function, module, "multiply") == CUDA_SUCCESS);
}

TEST_CASE("a module that is not PTX is refused") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto load = driver_function<PFN_cuModuleLoadData_v2000>("cuModuleLoadData", 12000);
    CUmodule module = nullptr;
    CHECK(load(&module, ".version 8.0\n.target sm_90\n.address_size 64\nnonsense here;\n") ==
          CUDA_ERROR_INVALID_PTX);
}

TEST_CASE("a module for later devices is refused") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto load = driver_function<PFN_cuModuleLoadData_v2000>("cuModuleLoadData", 12000);
    CUmodule module = nullptr;
    const std::string body = "\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    for (int attempt = 0; attempt < 2; ++attempt)
        CHECK(load(&module, (".version 8.8\n.target sm_120" + body).c_str()) == CUDA_ERROR_INVALID_PTX);
    CHECK(load(&module, (".version 8.0\n.target sm_90a" + body).c_str()) == CUDA_SUCCESS);
    CHECK(load(&module, (".version 7.0\n.target sm_75" + body).c_str()) == CUDA_SUCCESS);
}

TEST_CASE("device and context") {
    const auto get_device = driver_function<PFN_cuDeviceGet_v2000>("cuDeviceGet", 12000);
    const auto get_name = driver_function<PFN_cuDeviceGetName_v2000>("cuDeviceGetName", 12000);
    const auto error_name = driver_function<PFN_cuGetErrorName_v6000>("cuGetErrorName", 12000);
    const auto create = driver_function<PFN_cuCtxCreate_v3020>("cuCtxCreate", 3020);
    const auto current = driver_function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000);
    const auto destroy = driver_function<PFN_cuCtxDestroy_v4000>("cuCtxDestroy", 12000);
    REQUIRE(driver_function<PFN_cuInit_v2000>("cuInit", 12000)(0) == CUDA_SUCCESS);
    CUdevice device = -1;
    CHECK(get_device(&device, 0) == CUDA_SUCCESS);
    CHECK(get_device(&device, 99) == CUDA_ERROR_INVALID_DEVICE);
    char name[100] = "";
    CHECK(get_name(name, sizeof name, 0) == CUDA_SUCCESS);
    CHECK(std::string(name).find("H200") != std::string::npos);
    CUcontext context = nullptr, seen = nullptr;
    CHECK(create(&context, 0, 0) == CUDA_SUCCESS);
    CHECK(current(&seen) == CUDA_SUCCESS);
    CHECK(seen == context);
    CHECK(destroy(context) == CUDA_SUCCESS);
    const char* text = nullptr;
    CHECK(error_name(CUDA_ERROR_INVALID_CONTEXT, &text) == CUDA_SUCCESS);
    CHECK(std::string(text) == "CUDA_ERROR_INVALID_CONTEXT");
}

TEST_CASE("entry points by name") {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult status{};
    CHECK_CUDA(
        cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000, cudaEnableDefault, &status));
    CHECK(status == cudaDriverEntryPointSymbolNotFound);
    CHECK(function == nullptr);
}

TEST_CASE("tensor maps") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto encode = driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled", 12000);
    const Memory<float> data(64 * 64);
    alignas(128) CUtensorMap map{};
    const cuuint64_t dims[2] = {64, 64}, strides[1] = {64 * sizeof(float)}, odd_strides[1] = {20};
    const cuuint32_t box[2] = {32, 32}, large_box[2] = {512, 1}, steps[2] = {1, 1};
    const auto call = [&](void* address, cuuint32_t rank, const cuuint64_t* stride, const cuuint32_t* shape) {
        return encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address, dims, stride, shape, steps,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    };
    CHECK(call(data.data(), 2, strides, box) == CUDA_SUCCESS);
    CHECK(call(data.data() + 1, 2, strides, box) == CUDA_ERROR_INVALID_VALUE);
    CHECK(call(data.data(), 2, odd_strides, box) == CUDA_ERROR_INVALID_VALUE);
    CHECK(call(data.data(), 2, strides, large_box) == CUDA_ERROR_INVALID_VALUE);
    CHECK(call(data.data(), 6, strides, box) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("tensor maps for im2col mode") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto encode = driver_function<PFN_cuTensorMapEncodeIm2col_v12000>("cuTensorMapEncodeIm2col", 12000);
    const Memory<float> data(16 * 8 * 8 * 2);
    alignas(128) CUtensorMap map{};
    const cuuint64_t dims[4] = {16, 8, 8, 2}, strides[3] = {64, 512, 4096};
    const cuuint32_t steps[4] = {1, 1, 1, 1};
    const int low[2] = {-1, -1}, high[2] = {0, 0}, far[2] = {0, 128};
    const auto call = [&](cuuint32_t rank, const int* lower, const int* upper, cuuint32_t channels,
                          cuuint32_t pixels) {
        return encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, data.data(), dims, strides, lower, upper,
                      channels, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    };
    CHECK(call(4, low, high, 16, 64) == CUDA_SUCCESS);
    CHECK(map.opaque[0] == reinterpret_cast<std::uint64_t>(data.data()));
    CHECK(map.opaque[7] == 0x3f0000ffff); // 64 pixels; no upper corner, and lower ones of -1 in 8 bits each.
    CHECK(call(2, low, high, 16, 64) == CUDA_ERROR_INVALID_VALUE);
    CHECK(call(6, low, high, 16, 64) == CUDA_ERROR_INVALID_VALUE);
    CHECK(call(4, low, far, 16, 64) == CUDA_ERROR_INVALID_VALUE);
    CHECK(call(4, low, high, 15, 64) == CUDA_ERROR_INVALID_VALUE);
    CHECK(call(4, low, high, 16, 0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("the address of a tensor map is replaced, whatever else the bytes are") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto replace =
        driver_function<PFN_cuTensorMapReplaceAddress_v12000>("cuTensorMapReplaceAddress", 12000);
    const auto with = [&](std::uint64_t address, CUtensorMap map) {
        CHECK(replace(&map, reinterpret_cast<void*>(address)) == CUDA_SUCCESS);
        return map;
    };
    CUtensorMap ones{};
    std::memset(&ones, 0xff, sizeof ones);
    const CUtensorMap changed = with(0x7f0000000010, ones);
    CHECK(changed.opaque[0] == 0xfe007f0000000010); // The upper 7 bits stay.
    for (int i = 1; i < 16; ++i)
        CHECK(changed.opaque[i] == ones.opaque[i]);
    CHECK(with((std::uint64_t{1} << 57) - 16, CUtensorMap{}).opaque[0] == 0x01fffffffffffff0);
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{1} << 57}) {
        CUtensorMap map = ones;
        CHECK(replace(&map, reinterpret_cast<void*>(address)) == CUDA_ERROR_INVALID_VALUE);
        CHECK(std::memcmp(&map, &ones, sizeof map) == 0);
    }
}

TEST_CASE("the runtime makes the primary context current where none is, and it can be taken away") {
    const auto pop = driver_function<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent", 12000);
    const auto push = driver_function<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent", 12000);
    const auto get = driver_function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000);
    const auto set = driver_function<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", 12000);
    const auto get_limit = driver_function<PFN_cuCtxGetLimit_v3010>("cuCtxGetLimit", 12000);
    const auto load = driver_function<PFN_cuModuleLoadData_v2000>("cuModuleLoadData", 12000);
    const auto unload = driver_function<PFN_cuModuleUnload_v2000>("cuModuleUnload", 12000);
    const auto allocate = driver_function<PFN_cuMemAlloc_v3020>("cuMemAlloc", 12000);
    const auto release = driver_function<PFN_cuMemFree_v3020>("cuMemFree", 12000);
    const auto make_stream = driver_function<PFN_cuStreamCreate_v2000>("cuStreamCreate", 12000);
    const auto destroy_stream = driver_function<PFN_cuStreamDestroy_v4000>("cuStreamDestroy", 12000);
    CHECK_CUDA(cudaFree(nullptr));
    CUmodule module = nullptr;
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    REQUIRE(load(&module, module_text) == CUDA_SUCCESS);
    REQUIRE(allocate(&memory, 64) == CUDA_SUCCESS);
    REQUIRE(make_stream(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CUcontext primary = nullptr, popped = nullptr, now = nullptr;
    REQUIRE(get(&primary) == CUDA_SUCCESS);
    REQUIRE(primary != nullptr);
    std::size_t limit = 0;
    REQUIRE(get_limit(&limit, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS);
    REQUIRE(pop(&popped) == CUDA_SUCCESS);
    CHECK(popped == primary);
    REQUIRE(get(&now) == CUDA_SUCCESS);
    CHECK(now == nullptr);
    CHECK(pop(&popped) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(get_limit(&limit, CU_LIMIT_STACK_SIZE) == CUDA_ERROR_INVALID_CONTEXT);
    // What a handle belongs to can be given back all the same, and that makes no context current.
    CHECK(release(memory) == CUDA_SUCCESS);
    CHECK(destroy_stream(stream) == CUDA_SUCCESS);
    CHECK(unload(module) == CUDA_SUCCESS);
    CHECK(pop(&popped) == CUDA_ERROR_INVALID_CONTEXT);
    // Another thread has a stack of its own.
    std::thread([&] {
        REQUIRE(get(&now) == CUDA_SUCCESS);
        CHECK(now == nullptr);
        CHECK_CUDA(cudaFree(nullptr));
        REQUIRE(get(&now) == CUDA_SUCCESS);
        CHECK(now == primary);
    }).join();
    REQUIRE(get(&now) == CUDA_SUCCESS);
    CHECK(now == nullptr);
    // What is pushed is popped first; a call of the runtime leaves a current context alone.
    CHECK_CUDA(cudaFree(nullptr));
    REQUIRE(push(primary) == CUDA_SUCCESS);
    REQUIRE(pop(nullptr) == CUDA_SUCCESS);
    REQUIRE(get(&now) == CUDA_SUCCESS);
    CHECK(now == primary);
    REQUIRE(set(nullptr) == CUDA_SUCCESS);
    REQUIRE(get(&now) == CUDA_SUCCESS);
    CHECK(now == nullptr);
    REQUIRE(push(primary) == CUDA_SUCCESS);
    CHECK_CUDA(cudaFree(nullptr));
    REQUIRE(pop(&popped) == CUDA_SUCCESS);
    CHECK(popped == primary);
    REQUIRE(get(&now) == CUDA_SUCCESS);
    CHECK(now == nullptr);
}

// What captures forbid, what graphs tell and own, and the same graphs through the driver. Passes on a GPU as
// well.
#include "cuda/support.cuh"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

/// Two nodes that nothing orders may add to the same data.
__global__ void add(int* data, int value) { atomicAdd(&data[threadIdx.x], value); }
__global__ void rank_of_block(unsigned* ranks) {
    unsigned rank = 0;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    ranks[blockIdx.x] = rank;
}

__device__ int global_value;

cudaStream_t make_stream(unsigned flags) {
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}
struct Stream {
    explicit Stream(unsigned flags = cudaStreamNonBlocking) : handle(make_stream(flags)) {}
    ~Stream() { cudaStreamDestroy(handle); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t handle;
};

/// Begins a capture, makes the call, ends the capture; what the call and the end answer.
struct Answers {
    cudaError_t call, end;
    bool operator==(const Answers&) const = default;
};
template <class Call>
Answers during_capture(cudaStreamCaptureMode mode, unsigned flags, Call&& call) {
    Stream stream(flags);
    CHECK_CUDA(cudaStreamBeginCapture(stream.handle, mode));
    const cudaError_t answer = call(stream.handle);
    cudaGraph_t graph = nullptr;
    const cudaError_t end = cudaStreamEndCapture(stream.handle, &graph);
    CHECK((graph != nullptr) == (end == cudaSuccess));
    if (graph)
        cudaGraphDestroy(graph);
    cudaGetLastError();
    return {answer, end};
}

constexpr Answers fine{cudaSuccess, cudaSuccess};
constexpr Answers refused{cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated};

cudaError_t allocate_and_free() {
    void* pointer = nullptr;
    const cudaError_t error = cudaMalloc(&pointer, 16);
    return error == cudaSuccess ? cudaFree(pointer) : error;
}

void count_up(void* counter) { ++*static_cast<int*>(counter); }

cudaKernelNodeParams launch_of_add(void** arguments, unsigned threads) {
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = dim3(1);
    params.blockDim = dim3(threads);
    params.kernelParams = arguments;
    return params;
}

} // namespace

TEST_CASE("a capture refuses calls that could disturb it, as its mode says") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto allocate = [](cudaStream_t) { return allocate_and_free(); };
    CHECK(during_capture(cudaStreamCaptureModeGlobal, cudaStreamNonBlocking, allocate) == refused);
    CHECK(during_capture(cudaStreamCaptureModeThreadLocal, cudaStreamNonBlocking, allocate) == refused);
    CHECK(during_capture(cudaStreamCaptureModeRelaxed, cudaStreamNonBlocking, allocate) == fine);
    // Another thread is concerned by the global mode alone.
    const auto elsewhere = [](cudaStream_t) {
        cudaError_t error = cudaSuccess;
        std::thread([&] { error = allocate_and_free(); }).join();
        return error;
    };
    CHECK(during_capture(cudaStreamCaptureModeGlobal, cudaStreamNonBlocking, elsewhere) == refused);
    CHECK(during_capture(cudaStreamCaptureModeThreadLocal, cudaStreamNonBlocking, elsewhere) == fine);
    // A thread may exchange its own mode.
    const auto relaxed = [](cudaStream_t) {
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
        CHECK(mode == cudaStreamCaptureModeGlobal);
        const cudaError_t error = allocate_and_free();
        CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
        CHECK(mode == cudaStreamCaptureModeRelaxed);
        return error;
    };
    CHECK(during_capture(cudaStreamCaptureModeGlobal, cudaStreamNonBlocking, relaxed) == fine);
    CHECK(allocate_and_free() == cudaSuccess);
}

TEST_CASE("a capture refuses to be waited for") {
    CHECK_CUDA(cudaFree(nullptr));
    const auto refused_in_relaxed = [](auto&& call) {
        return during_capture(cudaStreamCaptureModeRelaxed, cudaStreamNonBlocking, call) == refused;
    };
    CHECK(refused_in_relaxed([](cudaStream_t) { return cudaDeviceSynchronize(); }));
    CHECK(refused_in_relaxed([](cudaStream_t stream) { return cudaStreamSynchronize(stream); }));
    CHECK(refused_in_relaxed([](cudaStream_t stream) { return cudaStreamQuery(stream); }));
    cudaEvent_t event = nullptr;
    CHECK_CUDA(cudaEventCreate(&event));
    const Answers answers =
        during_capture(cudaStreamCaptureModeRelaxed, cudaStreamNonBlocking, [&](cudaStream_t stream) {
            CHECK_CUDA(cudaEventRecord(event, stream));
            return cudaEventSynchronize(event);
        });
    CHECK(answers == Answers{cudaErrorCapturedEvent, cudaErrorStreamCaptureInvalidated});
    CHECK_CUDA(cudaEventRecord(event, nullptr));
    CHECK_CUDA(cudaEventSynchronize(event));
    cudaEventDestroy(event);
}

TEST_CASE("the legacy stream and a capture in a blocking stream") {
    CHECK_CUDA(cudaFree(nullptr));
    const Memory<int> data(std::vector<int>(4, 1));
    const auto copy = [&](cudaStream_t) {
        int value = 0;
        return cudaMemcpy(&value, data.data(), 4, cudaMemcpyDeviceToHost);
    };
    const auto launch = [&](cudaStream_t) {
        add<<<1, 1>>>(data.data(), 1);
        return cudaGetLastError();
    };
    const auto ask = [&](cudaStream_t) {
        cudaStreamCaptureStatus status{};
        return cudaStreamIsCapturing(cudaStreamLegacy, &status);
    };
    const Answers implicit{cudaErrorStreamCaptureImplicit, cudaErrorStreamCaptureInvalidated};
    CHECK(during_capture(cudaStreamCaptureModeRelaxed, cudaStreamDefault, copy) == implicit);
    CHECK(during_capture(cudaStreamCaptureModeRelaxed, cudaStreamDefault, launch) == implicit);
    CHECK(during_capture(cudaStreamCaptureModeRelaxed, cudaStreamDefault, ask) ==
          Answers{cudaErrorStreamCaptureImplicit, cudaSuccess});
    CHECK(during_capture(cudaStreamCaptureModeRelaxed, cudaStreamNonBlocking, launch) == fine);
    CHECK(data.read()[0] == 2);
}

TEST_CASE("an invalidated capture takes no more work") {
    const Memory<int> data(std::vector<int>(4, 1));
    Stream stream;
    CHECK_CUDA(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeRelaxed));
    CHECK(cudaStreamSynchronize(stream.handle) == cudaErrorStreamCaptureUnsupported);
    cudaStreamCaptureStatus status{};
    CHECK_CUDA(cudaStreamIsCapturing(stream.handle, &status));
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    CHECK(cudaMemsetAsync(data.data(), 0, 16, stream.handle) == cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream.handle, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    CHECK_CUDA(cudaMemsetAsync(data.data(), 0, 16, stream.handle));
    CHECK_CUDA(cudaStreamSynchronize(stream.handle));
    CHECK(data.read() == std::vector<int>(4, 0));
}

TEST_CASE("a capture is ended by the thread that began it") {
    Stream stream;
    CHECK_CUDA(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal));
    cudaGraph_t graph = nullptr;
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = cudaStreamEndCapture(stream.handle, &graph); }).join();
    CHECK(error == cudaErrorStreamCaptureWrongThread);
    cudaGetLastError();
    cudaStreamEndCapture(stream.handle, &graph);
}

TEST_CASE("each thread captures its own default stream") {
    const Memory<int> data(std::vector<int>(4, 1));
    CHECK_CUDA(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    add<<<1, 4, 0, cudaStreamPerThread>>>(data.data(), 5);
    cudaError_t error = cudaErrorUnknown;
    std::thread([&] {
        error = cudaMemsetAsync(data.data(), 0, 16, cudaStreamPerThread);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(cudaStreamPerThread);
    }).join();
    CHECK(error == cudaSuccess);
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    std::size_t count = 0;
    CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 1);
    CHECK(data.read() == std::vector<int>(4, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("an event of the outside is recorded and awaited by nodes of their own") {
    Stream stream;
    cudaEvent_t event = nullptr;
    CHECK_CUDA(cudaEventCreate(&event));
    CHECK_CUDA(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeRelaxed));
    CHECK_CUDA(cudaEventRecordWithFlags(event, stream.handle, cudaEventRecordExternal));
    CHECK_CUDA(cudaStreamWaitEvent(stream.handle, event, cudaEventWaitExternal));
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(stream.handle, &graph));
    cudaGraphNode_t nodes[4]{};
    std::size_t count = 4;
    CHECK_CUDA(cudaGraphGetNodes(graph, nodes, &count));
    REQUIRE(count == 2);
    cudaGraphNodeType type{};
    CHECK_CUDA(cudaGraphNodeGetType(nodes[0], &type));
    CHECK(type == cudaGraphNodeTypeEventRecord);
    CHECK_CUDA(cudaGraphNodeGetType(nodes[1], &type));
    CHECK(type == cudaGraphNodeTypeWaitEvent);
    CHECK(cudaEventRecordWithFlags(event, stream.handle, 2) == cudaErrorInvalidValue);
    CHECK(cudaStreamWaitEvent(stream.handle, event, 2) == cudaErrorInvalidValue);
    cudaGetLastError();
    cudaGraphDestroy(graph);
    cudaEventDestroy(event);
}

TEST_CASE("a graph tells its edges and the nodes behind a node, and draws itself") {
    const Memory<int> data(std::vector<int>(4, 0));
    int* pointer = data.data();
    int value = 1;
    void* arguments[]{&pointer, &value};
    const cudaKernelNodeParams params = launch_of_add(arguments, 4);
    cudaGraph_t graph = nullptr, clone = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr;
    CHECK_CUDA(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params));
    CHECK_CUDA(cudaGraphAddKernelNode(&b, graph, &a, 1, &params));
    CHECK_CUDA(cudaGraphAddKernelNode(&c, graph, &a, 1, &params));
    std::size_t count = 0;
    CHECK_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    REQUIRE(count == 2);
    cudaGraphNode_t from[2], to[2];
    CHECK_CUDA(cudaGraphGetEdges(graph, from, to, nullptr, &count));
    CHECK((from[0] == a && from[1] == a && to[0] == b && to[1] == c));
    CHECK_CUDA(cudaGraphNodeGetDependentNodes(a, to, nullptr, &count));
    CHECK((count == 2 && to[0] == b && to[1] == c));

    CHECK_CUDA(cudaGraphClone(&clone, graph));
    cudaGraphNode_t twin = nullptr;
    CHECK_CUDA(cudaGraphNodeFindInClone(&twin, c, clone));
    std::size_t before = 2;
    CHECK_CUDA(cudaGraphNodeGetDependencies(twin, from, nullptr, &before));
    CHECK(before == 1);

    const auto path = std::filesystem::temp_directory_path() / ("graph_" + std::to_string(getpid()) + ".dot");
    CHECK_CUDA(cudaGraphDebugDotPrint(graph, path.c_str(), 0));
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    CHECK(text.str().find("digraph") == 0);
    CHECK(text.str().find("->") != std::string::npos);

    // A node of an executable graph is found although one before it left the original.
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphDestroyNode(b));
    int more = 100;
    void* other[]{&pointer, &more};
    const cudaKernelNodeParams changed = launch_of_add(other, 4);
    CHECK_CUDA(cudaGraphExecKernelNodeSetParams(exec, c, &changed));
    CHECK(cudaGraphExecKernelNodeSetParams(nullptr, c, &changed) == cudaErrorInvalidValue);
    cudaGetLastError();
    Stream stream;
    CHECK_CUDA(cudaGraphLaunch(exec, stream.handle));
    CHECK_CUDA(cudaStreamSynchronize(stream.handle));
    CHECK(data.read() == std::vector<int>(4, 102));
    unsigned long long flags = 1;
    CHECK_CUDA(cudaGraphExecGetFlags(exec, &flags));
    CHECK(flags == 0);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(clone);
    cudaGraphDestroy(graph);
}

TEST_CASE("attributes of a kernel node reach its launch") {
    const Memory<unsigned> ranks(std::vector<unsigned>(4, 9));
    unsigned* pointer = ranks.data();
    void* arguments[]{&pointer};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(rank_of_block);
    params.gridDim = dim3(4);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaGraphNode_t node = nullptr, other = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphAddKernelNode(&other, graph, nullptr, 0, &params));
    cudaKernelNodeAttrValue value{};
    value.clusterDim = {2, 1, 1};
    CHECK_CUDA(cudaGraphKernelNodeSetAttribute(other, cudaLaunchAttributeClusterDimension, &value));
    CHECK_CUDA(cudaGraphAddKernelNode(&node, graph, &other, 1, &params));
    CHECK_CUDA(cudaGraphKernelNodeCopyAttributes(node, other));
    value = {};
    CHECK_CUDA(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    CHECK(value.clusterDim.x == 2);
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK(ranks.read() == std::vector<unsigned>{0, 1, 0, 1});
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

TEST_CASE("user objects live as long as the graphs that hold them") {
    int destroyed = 0;
    cudaUserObject_t object = nullptr;
    CHECK(cudaUserObjectCreate(&object, &destroyed, count_up, 1, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK_CUDA(cudaUserObjectCreate(&object, &destroyed, count_up, 1, cudaUserObjectNoDestructorSync));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK(destroyed == 0);
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    for (int i = 0; i < 1000 && destroyed == 0; ++i)
        usleep(1000); // A GPU's runtime destroys it in another thread.
    CHECK(destroyed == 1);
}

TEST_CASE("a node keeps the event that the program has destroyed") {
    cudaEvent_t event = nullptr;
    CHECK_CUDA(cudaEventCreate(&event));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaGraphNode_t node = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaEventDestroy(event));
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

TEST_CASE("nodes that copy to and from a variable can be changed") {
    int source = 5, other = 6, result = 0;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaGraphNode_t in = nullptr, out = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, global_value, &source, 4, 0,
                                              cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, &result, global_value, 4, 0,
                                                cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaGraphMemcpyNodeSetParamsToSymbol(in, global_value, &other, 4, 0, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(result == 6);
    int elsewhere = 0;
    CHECK_CUDA(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, out, &elsewhere, global_value, 4, 0,
                                                          cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(elsewhere == 6);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

TEST_CASE("a graph made with the driver") {
    Memory<int> data(std::vector<int>(4, 7));
    const auto create = driver_function<PFN_cuGraphCreate_v10000>("cuGraphCreate");
    const auto add_memset = driver_function<PFN_cuGraphAddMemsetNode_v10000>("cuGraphAddMemsetNode");
    const auto add_kernel = driver_function<PFN_cuGraphAddKernelNode_v12000>("cuGraphAddKernelNode");
    const auto add_copy = driver_function<PFN_cuGraphAddMemcpyNode_v10000>("cuGraphAddMemcpyNode");
    const auto copy_params =
        driver_function<PFN_cuGraphMemcpyNodeGetParams_v10000>("cuGraphMemcpyNodeGetParams");
    const auto instantiate = driver_function<PFN_cuGraphInstantiateWithFlags_v11040>("cuGraphInstantiate");
    const auto launch = driver_function<PFN_cuGraphLaunch_v10000>("cuGraphLaunch");
    const auto update = driver_function<PFN_cuGraphExecUpdate_v12000>("cuGraphExecUpdate");
    const auto destroy_exec = driver_function<PFN_cuGraphExecDestroy_v10000>("cuGraphExecDestroy");
    const auto destroy = driver_function<PFN_cuGraphDestroy_v10000>("cuGraphDestroy");
    const auto context_of = driver_function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent");
    CUcontext context = nullptr;
    CHECK(context_of(&context) == CUDA_SUCCESS);

    CUgraph graph = nullptr;
    CUgraphNode set = nullptr, kernel = nullptr, copy = nullptr;
    CHECK(create(&graph, 0) == CUDA_SUCCESS);
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = reinterpret_cast<CUdeviceptr>(data.data());
    fill.value = 40;
    fill.elementSize = 4;
    fill.width = 4;
    fill.height = 1;
    CHECK(add_memset(&set, graph, nullptr, 0, &fill, context) == CUDA_SUCCESS);
    int* pointer = data.data();
    int value = 2;
    void* arguments[]{&pointer, &value};
    CUDA_KERNEL_NODE_PARAMS run{};
    cudaKernel_t handle = nullptr;
    CHECK_CUDA(cudaGetKernel(&handle, add));
    run.kern = reinterpret_cast<CUkernel>(handle);
    run.ctx = context;
    run.gridDimX = run.gridDimY = run.gridDimZ = run.blockDimY = run.blockDimZ = 1;
    run.blockDimX = 4;
    run.kernelParams = arguments;
    CHECK(add_kernel(&kernel, graph, &set, 1, &run) == CUDA_SUCCESS);
    std::vector<int> result(4);
    CUDA_MEMCPY3D box{};
    box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = fill.dst;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = result.data();
    box.WidthInBytes = 16;
    box.Height = box.Depth = 1;
    CHECK(add_copy(&copy, graph, &kernel, 1, &box, context) == CUDA_SUCCESS);
    CUDA_MEMCPY3D told{};
    CHECK(copy_params(copy, &told) == CUDA_SUCCESS);
    CHECK(told.srcDevice == fill.dst);
    CHECK(told.dstMemoryType == CU_MEMORYTYPE_HOST);
    CHECK(told.dstHost == result.data());
    CHECK(told.WidthInBytes == 16);

    CUgraphExec exec = nullptr;
    CHECK(instantiate(&exec, graph, 0) == CUDA_SUCCESS);
    CHECK(launch(exec, nullptr) == CUDA_SUCCESS);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(result == std::vector<int>(4, 42));
    CUgraphExecUpdateResultInfo info{};
    CHECK(update(exec, graph, &info) == CUDA_SUCCESS);
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CHECK(destroy_exec(exec) == CUDA_SUCCESS);
    CHECK(destroy(graph) == CUDA_SUCCESS);
}

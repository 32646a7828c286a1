// Streams, events, host functions and graphs. Passes on a GPU as well.
#include "cuda/support.cuh"

#include <memory>
#include <utility>
#include <vector>

namespace {

__global__ void append(int* list, int value) {
    const int n = list[0];
    list[1 + n] = value;
    list[0] = n + 1;
}

// Not in the constructors below: nvcc 13.0's cudafe++ never ends on a Catch2 macro in a member of a class
// that is no template.
cudaStream_t new_stream() {
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}
cudaEvent_t new_event() {
    cudaEvent_t event = nullptr;
    CHECK_CUDA(cudaEventCreate(&event));
    return event;
}

struct Stream {
    cudaStream_t handle = new_stream();
    ~Stream() {
        if (handle)
            cudaStreamDestroy(handle);
    }
};
struct Event {
    cudaEvent_t handle = new_event();
    ~Event() { cudaEventDestroy(handle); }
};

std::vector<int> contents(const Memory<int>& list) {
    const auto all = list.read();
    return {all.begin() + 1, all.begin() + 1 + all[0]};
}
Memory<int> empty_list() { return Memory<int>(std::vector<int>(20, 0)); }

void push(void* list) { static_cast<std::vector<int>*>(list)->push_back(7); }
void CUDART_CB push_status(cudaStream_t, cudaError_t status, void* list) {
    static_cast<std::vector<int>*>(list)->push_back(static_cast<int>(status));
}

} // namespace

TEST_CASE("events order streams") {
    const auto list = empty_list();
    const Stream first, second;
    const Event done, start, stop;
    CHECK_CUDA(cudaEventRecord(start.handle, first.handle));
    append<<<1, 1, 0, first.handle>>>(list.data(), 1);
    CHECK_CUDA(cudaEventRecord(done.handle, first.handle));
    CHECK_CUDA(cudaStreamWaitEvent(second.handle, done.handle, 0));
    append<<<1, 1, 0, second.handle>>>(list.data(), 2);
    CHECK_CUDA(cudaEventRecord(stop.handle, second.handle));
    CHECK_CUDA(cudaEventSynchronize(stop.handle));
    CHECK_CUDA(cudaEventQuery(stop.handle));
    CHECK_CUDA(cudaStreamQuery(second.handle));
    float milliseconds = -1;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start.handle, stop.handle));
    CHECK(milliseconds >= 0);
    CHECK(contents(list) == std::vector<int>{1, 2});
    const Event never;
    CHECK(cudaEventElapsedTime(&milliseconds, never.handle, stop.handle) == cudaErrorInvalidResourceHandle);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

TEST_CASE("stream attributes") {
    int least = 1, greatest = 1, priority = 1;
    CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0);
    CHECK(greatest < 0);
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    unsigned flags = 0;
    CHECK_CUDA(cudaStreamGetFlags(stream, &flags));
    CHECK_CUDA(cudaStreamGetPriority(stream, &priority));
    CHECK(flags == cudaStreamNonBlocking);
    CHECK(priority == greatest);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST_CASE("host functions run in the stream's order") {
    std::vector<int> log;
    const Stream stream;
    CHECK_CUDA(cudaLaunchHostFunc(stream.handle, push, &log));
    CHECK_CUDA(cudaStreamAddCallback(stream.handle, push_status, &log, 0));
    CHECK_CUDA(cudaStreamSynchronize(stream.handle));
    CHECK(log == std::vector<int>{7, 0});
}

TEST_CASE("a captured graph runs when it is launched") {
    const auto list = empty_list();
    const Stream stream, other;
    const Event fork, join;
    CHECK_CUDA(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, stream.handle>>>(list.data(), 1);
    CHECK_CUDA(cudaEventRecord(fork.handle, stream.handle));
    CHECK_CUDA(cudaStreamWaitEvent(other.handle, fork.handle, 0));
    append<<<1, 1, 0, other.handle>>>(list.data(), 2);
    CHECK_CUDA(cudaEventRecord(join.handle, other.handle));
    CHECK_CUDA(cudaStreamWaitEvent(stream.handle, join.handle, 0));
    append<<<1, 1, 0, stream.handle>>>(list.data(), 3);
    cudaStreamCaptureStatus status{};
    CHECK_CUDA(cudaStreamIsCapturing(other.handle, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(stream.handle, &graph));
    CHECK(contents(list).empty());
    std::size_t nodes = 0;
    CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 3);
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(exec, stream.handle));
    CHECK_CUDA(cudaGraphLaunch(exec, stream.handle));
    CHECK_CUDA(cudaStreamSynchronize(stream.handle));
    CHECK(contents(list) == std::vector<int>{1, 2, 3, 1, 2, 3});
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    CHECK_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("memory that a graph owns comes and goes with its launches") {
    const auto list = empty_list();
    const Stream stream;
    int* number = nullptr;
    CHECK_CUDA(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal));
    CHECK_CUDA(cudaMallocAsync(&number, sizeof(int), stream.handle));
    CHECK_CUDA(cudaMemsetAsync(number, 0, sizeof(int), stream.handle));
    append<<<1, 1, 0, stream.handle>>>(list.data(), 4);
    CHECK_CUDA(cudaMemcpyAsync(number, list.data(), sizeof(int), cudaMemcpyDeviceToDevice, stream.handle));
    CHECK_CUDA(cudaFreeAsync(number, stream.handle));
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(stream.handle, &graph));
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(exec, stream.handle));
    CHECK_CUDA(cudaGraphLaunch(exec, stream.handle));
    CHECK_CUDA(cudaStreamSynchronize(stream.handle));
    CHECK(contents(list) == std::vector<int>{4, 4});
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    CHECK_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("an allocation node gives its address when it is made; the memory may outlive the launch") {
    cudaMemAllocNodeParams wanted{};
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.bytesize = 64;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t allocation = nullptr, fill = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &wanted));
    REQUIRE(wanted.dptr != nullptr);
    cudaMemsetParams bytes{};
    bytes.dst = wanted.dptr;
    bytes.value = 5;
    bytes.elementSize = 1;
    bytes.width = 64;
    bytes.height = 1;
    CHECK_CUDA(cudaGraphAddMemsetNode(&fill, graph, &allocation, 1, &bytes));
    cudaMemsetParams told{};
    CHECK_CUDA(cudaGraphMemsetNodeGetParams(fill, &told));
    CHECK(told.dst == wanted.dptr);
    CHECK(told.width == 64);
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 2; ++launch) {
        CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
        char byte = 0;
        CHECK_CUDA(cudaMemcpy(&byte, static_cast<char*>(wanted.dptr) + 63, 1, cudaMemcpyDeviceToHost));
        CHECK(byte == 5);
        CHECK_CUDA(cudaFree(wanted.dptr));
    }
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    CHECK_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("a kernel node tells its parameters, which may be changed and set again") {
    const auto list = empty_list();
    int* data = list.data();
    int value = 6;
    void* arguments[] = {&data, &value};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(append);
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    cudaKernelNodeParams told{};
    CHECK_CUDA(cudaGraphKernelNodeGetParams(node, &told));
    CHECK(told.gridDim.x == 1);
    CHECK(*static_cast<int*>(told.kernelParams[1]) == 6);
    int other = 8;
    told.kernelParams[1] = &other;
    CHECK_CUDA(cudaGraphKernelNodeSetParams(node, &told));
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(contents(list) == std::vector<int>{8});
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    CHECK_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("a capture must be joined") {
    const auto list = empty_list();
    const Stream stream, other;
    const Event fork;
    CHECK_CUDA(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal));
    CHECK_CUDA(cudaEventRecord(fork.handle, stream.handle));
    CHECK_CUDA(cudaStreamWaitEvent(other.handle, fork.handle, 0));
    append<<<1, 1, 0, other.handle>>>(list.data(), 2);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream.handle, &graph) == cudaErrorStreamCaptureUnjoined);
    CHECK(graph == nullptr);
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureUnjoined);
}

TEST_CASE("a stream that was captured may be destroyed before the capture ends") {
    const auto list = empty_list();
    const Stream stream;
    for (const bool join : {true, false}) {
        const auto other = std::make_unique<Stream>();
        auto fork = std::make_unique<Event>(), joined = std::make_unique<Event>();
        CHECK_CUDA(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal));
        CHECK_CUDA(cudaEventRecord(fork->handle, stream.handle));
        CHECK_CUDA(cudaStreamWaitEvent(other->handle, fork->handle, 0));
        append<<<1, 1, 0, other->handle>>>(list.data(), 2);
        CHECK_CUDA(cudaEventRecord(joined->handle, other->handle));
        if (join)
            CHECK_CUDA(cudaStreamWaitEvent(stream.handle, joined->handle, 0));
        CHECK_CUDA(cudaStreamDestroy(std::exchange(other->handle, nullptr)));
        fork.reset();
        joined.reset();
        cudaGraph_t graph = nullptr;
        CHECK(cudaStreamEndCapture(stream.handle, &graph) ==
              (join ? cudaSuccess : cudaErrorStreamCaptureUnjoined));
        if (!join)
            continue;
        cudaGraphExec_t exec = nullptr;
        CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
        CHECK_CUDA(cudaGraphLaunch(exec, stream.handle));
        CHECK_CUDA(cudaStreamSynchronize(stream.handle));
        CHECK(contents(list) == std::vector<int>{2});
        CHECK_CUDA(cudaGraphExecDestroy(exec));
        CHECK_CUDA(cudaGraphDestroy(graph));
    }
    cudaGetLastError();
}

TEST_CASE("a graph built by hand") {
    const auto list = empty_list();
    int* data = list.data();
    int one = 1, two = 2;
    void *first_arguments[] = {&data, &one}, *second_arguments[] = {&data, &two};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(append);
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = first_arguments;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t first = nullptr, second = nullptr, copy = nullptr;
    CHECK_CUDA(cudaGraphCreate(&graph, 0));
    CHECK_CUDA(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &params));
    params.kernelParams = second_arguments;
    CHECK_CUDA(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params));
    CHECK_CUDA(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
    int length = -1;
    CHECK_CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, &length, data, sizeof length,
                                        cudaMemcpyDeviceToHost));
    cudaGraphExec_t exec = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(length == 2);
    CHECK(contents(list) == std::vector<int>{2, 1});
    int nine = 9;
    void* new_arguments[] = {&data, &nine};
    params.kernelParams = new_arguments;
    CHECK_CUDA(cudaGraphExecKernelNodeSetParams(exec, first, &params));
    CHECK_CUDA(cudaGraphLaunch(exec, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(contents(list) == std::vector<int>{2, 1, 9, 1});
    CHECK_CUDA(cudaGraphExecDestroy(exec));
    CHECK_CUDA(cudaGraphDestroy(graph));
}

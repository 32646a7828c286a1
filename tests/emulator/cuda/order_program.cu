// What streams, events, graphs and the host order, and what they do not. The first argument names a case, the
// second is `wrong` or `right`. The right ones give their results on a GPU as well; cuda_order_test.cpp says
// what the emulator must find.
#include <cuda.h>
#include <cuda_runtime.h>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int size = 1024, bytes = size * static_cast<int>(sizeof(int));

__global__ void scale(const int* in, int* out, int factor) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * factor + 1;
}
__global__ void set_bytes(unsigned char* out, int first, unsigned char value) {
    out[4 * threadIdx.x + static_cast<unsigned>(first)] = value;
}
__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }
__global__ void count(int* sums) { atomicAdd(&sums[threadIdx.x % 8], 1); }
__global__ void publish(int* data, int* flag) {
    data[threadIdx.x] = 7;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicExch_system(flag, 1);
}
/// Tells the host by an ordinary store behind a fence.
__global__ void finish(int* data, int* flag) {
    data[threadIdx.x] = 7;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}
__global__ void consume(const int* data, int* flag, int* out) {
    while (*static_cast<volatile int*>(flag) == 0) {
    }
    __threadfence();
    out[threadIdx.x] = data[threadIdx.x];
}

void launch_scale(const int* in, int* out, int factor, cudaStream_t stream) {
    scale<<<size / 128, 128, 0, stream>>>(in, out, factor);
}

struct Stream {
    explicit Stream(unsigned flags = cudaStreamNonBlocking) { cudaStreamCreateWithFlags(&handle, flags); }
    ~Stream() { cudaStreamDestroy(handle); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return handle; }
    void record(cudaEvent_t event) const { cudaEventRecord(event, handle); }
    void wait(cudaEvent_t event) const { cudaStreamWaitEvent(handle, event); }
    cudaStream_t handle = nullptr;
};
struct Event {
    Event() { cudaEventCreateWithFlags(&handle, cudaEventDisableTiming); }
    ~Event() { cudaEventDestroy(handle); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    operator cudaEvent_t() const { return handle; }
    cudaEvent_t handle = nullptr;
};

enum class Where { device, pinned, managed };
/// `size` zeros.
struct Array {
    explicit Array(Where where = Where::device) : where(where) {
        if (where == Where::pinned)
            cudaMallocHost(&data, bytes);
        else if (where == Where::managed)
            cudaMallocManaged(&data, bytes);
        else
            cudaMalloc(&data, bytes);
        cudaMemset(data, 0, bytes);
        if (where == Where::device) // Elsewhere the host has waited.
            cudaDeviceSynchronize();
    }
    ~Array() { where == Where::pinned ? cudaFreeHost(data) : cudaFree(data); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator int*() const { return data; }
    Where where;
    int* data = nullptr;
};

void event(bool wrong) {
    const Array in, middle, out;
    const Stream one, two;
    const Event done;
    launch_scale(in, middle, 2, one);
    one.record(done);
    if (!wrong)
        two.wait(done);
    launch_scale(middle, out, 3, two);
    cudaDeviceSynchronize();
}
void early_event(bool wrong) {
    const Array in, middle, out;
    const Stream one, two;
    const Event done;
    if (wrong)
        one.record(done);
    launch_scale(in, middle, 2, one);
    if (!wrong)
        one.record(done);
    two.wait(done);
    launch_scale(middle, out, 3, two);
    cudaDeviceSynchronize();
}
/// The reader comes first.
void write_behind_read(bool wrong) {
    const Array in, middle, out;
    const Stream one, two;
    const Event done;
    launch_scale(middle, out, 3, one);
    one.record(done);
    if (!wrong)
        two.wait(done);
    launch_scale(in, middle, 2, two);
    cudaDeviceSynchronize();
}
void default_stream(bool wrong) {
    const Array in, middle, out;
    const Stream stream(wrong ? cudaStreamNonBlocking : cudaStreamDefault);
    launch_scale(in, middle, 2, nullptr);
    launch_scale(middle, out, 3, stream);
    launch_scale(out, middle, 4, nullptr);
    cudaDeviceSynchronize();
}
/// cudaMemcpy waits for the default stream alone.
void copy_back(bool wrong) {
    const Array in, out;
    std::vector<int> host(size);
    const Stream stream;
    launch_scale(in, out, 2, stream);
    if (!wrong)
        cudaStreamSynchronize(stream);
    cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
}
void copies(bool wrong) {
    const Array in, middle, out;
    launch_scale(out, in, 1, nullptr);
    cudaDeviceSynchronize();
    const Stream one, two;
    const Event done;
    cudaMemcpyAsync(middle, in, bytes, cudaMemcpyDeviceToDevice, one);
    one.record(done);
    if (!wrong)
        two.wait(done);
    cudaMemcpyAsync(out, middle, bytes, cudaMemcpyDeviceToDevice, two);
    cudaDeviceSynchronize();
}
/// Atomics do not race with each other; the memset does with them.
void cleared_sums(bool wrong) {
    const Array sums;
    const Stream one, two;
    const Event done;
    count<<<2, 64, 0, one>>>(sums);
    count<<<2, 64, 0, two>>>(sums);
    one.record(done);
    if (!wrong)
        two.wait(done);
    cudaMemsetAsync(sums, 0, bytes, two);
    cudaDeviceSynchronize();
}

cudaGraphNode_t add_scale(cudaGraph_t graph, const int* in, int* out, int factor,
                          std::vector<cudaGraphNode_t> after) {
    void* arguments[] = {&in, &out, &factor};
    cudaKernelNodeParams parameters{};
    parameters.func = reinterpret_cast<void*>(scale);
    parameters.gridDim = dim3(size / 128);
    parameters.blockDim = dim3(128);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters);
    return node;
}
void run_twice(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < 2; ++i)
        cudaGraphLaunch(executable, stream);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
/// Also in the default stream, which waits for all before but orders no nodes.
void edge(bool wrong) {
    const Array in, left, right;
    cudaGraph_t graph = nullptr;
    cudaGraphCreate(&graph, 0);
    const auto root = add_scale(graph, in, left, 2, {});
    std::vector<cudaGraphNode_t> after;
    if (!wrong)
        after.push_back(root);
    add_scale(graph, left, right, 3, after);
    run_twice(graph, nullptr);
}
void captured(bool wrong) {
    const Array in, left, right, out;
    const Stream one, two;
    const Event forked, joined;
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal);
    one.record(forked);
    two.wait(forked);
    launch_scale(in, right, 2, two);
    two.record(joined);
    launch_scale(in, left, 3, one);
    if (!wrong)
        one.wait(joined);
    launch_scale(right, out, 4, one);
    one.wait(joined);
    cudaStreamEndCapture(one, &graph);
    run_twice(graph, one);
}
void freed_async(bool wrong) {
    const Array out;
    const Stream one, two;
    const Event made, used;
    int* memory = nullptr;
    cudaMallocAsync(&memory, bytes, one);
    cudaMemsetAsync(memory, 1, bytes, one);
    one.record(made);
    two.wait(made);
    launch_scale(memory, out, 2, two);
    two.record(used);
    if (!wrong)
        one.wait(used);
    cudaFreeAsync(memory, one);
    cudaDeviceSynchronize();
}
/// cudaFree waits for memory of cudaMalloc, and not for that of a pool.
void freed(bool wrong) {
    const Array out;
    const Stream stream;
    int *pooled = nullptr, *plain = nullptr;
    cudaMallocAsync(&pooled, bytes, stream);
    cudaMalloc(&plain, bytes);
    cudaMemsetAsync(pooled, 1, bytes, stream);
    cudaMemsetAsync(plain, 1, bytes, stream);
    if (!wrong)
        cudaStreamSynchronize(stream);
    cudaFree(pooled);
    cudaFree(plain);
}

void refilled(bool wrong) {
    const Array staging(Where::pinned), out;
    const Stream stream;
    const Event copied;
    for (int round = 0; round < 3; ++round) {
        if (!wrong && round > 0)
            cudaEventSynchronize(copied);
        for (int i = 0; i < size; ++i)
            staging[i] = round * size + i;
        cudaMemcpyAsync(out, staging, bytes, cudaMemcpyHostToDevice, stream);
        stream.record(copied);
    }
    cudaStreamSynchronize(stream);
}
void overwritten(bool wrong) {
    const Array result(Where::pinned), in;
    const Stream stream;
    cudaMemcpyAsync(result, in, bytes, cudaMemcpyDeviceToHost, stream);
    if (!wrong)
        cudaStreamSynchronize(stream);
    result[5] = 3;
    cudaStreamSynchronize(stream);
}
void managed(bool wrong) {
    const Array values(Where::managed), out;
    launch_scale(values, out, 2, nullptr);
    if (!wrong)
        cudaDeviceSynchronize();
    values[7] = 1;
    cudaDeviceSynchronize();
}

// All that follows is right; the argument chooses a variant.

/// Bytes of the same words, and the halves of an array.
void neighbours(bool) {
    const Array words, in;
    const Stream one, two;
    set_bytes<<<1, 128, 0, one>>>(reinterpret_cast<unsigned char*>(words.data), 0, 1);
    set_bytes<<<1, 128, 0, two>>>(reinterpret_cast<unsigned char*>(words.data), 3, 2);
    const Array halves;
    scale<<<4, 128, 0, one>>>(in, halves, 2);
    scale<<<4, 128, 0, two>>>(in, halves.data + size / 2, 2);
    cudaDeviceSynchronize();
}
void same_values(bool) {
    const Array out;
    const Stream one, two;
    fill<<<1, 64, 0, one>>>(out, 3);
    fill<<<1, 64, 0, two>>>(out, 3);
    cudaDeviceSynchronize();
}
/// A flag orders what the streams do not.
void told_by_flag(bool wait_first) {
    const Array data, flag, out;
    const Stream one, two;
    cudaFuncAttributes attributes{};
    cudaFuncGetAttributes(&attributes, publish);
    cudaFuncGetAttributes(&attributes, consume);
    if (wait_first)
        consume<<<1, 64, 0, two>>>(data, flag, out);
    publish<<<1, 64, 0, one>>>(data, flag);
    if (!wait_first)
        consume<<<1, 64, 0, two>>>(data, flag, out);
    launch_scale(data, out, 1, two);
    cudaDeviceSynchronize();
}
/// The host learns of the end by a flag, by asking, by a function in the stream, by another thread.
void told_to_host(bool by_query) {
    const Array data, out, flag(Where::pinned), staging(Where::pinned);
    const Stream one, two;
    cudaMemcpyAsync(out, staging, bytes, cudaMemcpyHostToDevice, one);
    publish<<<1, 64, 0, one>>>(data, flag);
    if (by_query)
        while (cudaStreamQuery(one) == cudaErrorNotReady) {
        }
    else
        while (*static_cast<volatile int*>(flag.data) == 0) {
        }
    staging[0] = 5;
    launch_scale(data, out, 1, two);
    cudaDeviceSynchronize();
}
struct Told {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
};
void tell(void* told) {
    auto& all = *static_cast<Told*>(told);
    const std::lock_guard lock(all.mutex);
    all.done = true;
    all.changed.notify_all();
}
void host_function(bool) {
    const Array data, out, staging(Where::pinned);
    const Stream one, two;
    Told told;
    cudaMemcpyAsync(data, staging, bytes, cudaMemcpyHostToDevice, one);
    cudaLaunchHostFunc(
        one, [](void* memory) { static_cast<int*>(memory)[3] = 9; }, staging.data);
    cudaMemcpyAsync(data, staging, bytes, cudaMemcpyHostToDevice, one);
    cudaLaunchHostFunc(one, tell, &told);
    {
        std::unique_lock lock(told.mutex);
        told.changed.wait(lock, [&] { return told.done; });
    }
    launch_scale(data, out, 1, two);
    cudaDeviceSynchronize();
}
void told_weakly(bool) {
    const Array data, out, flag(Where::pinned), staging(Where::pinned);
    const Stream one, two;
    cudaMemcpyAsync(out, staging, bytes, cudaMemcpyHostToDevice, one);
    finish<<<1, 64, 0, one>>>(data, flag);
    while (*static_cast<volatile int*>(flag.data) == 0) {
    }
    *flag.data = 0;
    staging[0] = 5;
    launch_scale(data, out, 1, two);
    cudaDeviceSynchronize();
}
/// On a GPU the early read may give 0.
void early_read(bool wrong) {
    const Array result(Where::pinned), in;
    const Stream stream;
    fill<<<1, 64, 0, stream>>>(in, 5);
    cudaMemcpyAsync(result, in, bytes, cudaMemcpyDeviceToHost, stream);
    if (!wrong)
        cudaStreamSynchronize(stream);
    std::printf("%d ", result[9]);
    cudaStreamSynchronize(stream);
}
void early_managed_read(bool wrong) {
    const Array in, result(Where::managed);
    launch_scale(in, result, 2, nullptr);
    if (!wrong)
        cudaDeviceSynchronize();
    std::printf("%d ", result[9]);
    cudaDeviceSynchronize();
}
/// The host uses one half of the memory while the other is written.
void other_half(bool managed_memory) {
    const Array both(managed_memory ? Where::managed : Where::pinned), more(Where::pinned), in;
    const Stream stream;
    cudaMemcpyAsync(both, in, bytes / 2 + 24, cudaMemcpyDeviceToHost, stream);
    both[size / 2 + 6] = 4;
    more[0] = both[size / 2 + 7];
    cudaMemcpyAsync(more.data + 1, in, bytes / 2, cudaMemcpyDeviceToHost, stream);
    more[0] += both[size - 1];
    cudaStreamSynchronize(stream);
    launch_scale(both, more, 1, stream);
    cudaMemcpyAsync(both, more, bytes, cudaMemcpyHostToHost, stream);
    cudaStreamSynchronize(stream);
    both[3] = more[4];
}
void host_threads(bool beside_waiting) {
    const Array data, in, out, flag(Where::pinned), more;
    const Stream one, two, three;
    if (beside_waiting)
        consume<<<1, 64, 0, three>>>(in, flag, more);
    std::thread([&] {
        cudaMemsetAsync(data, 1, bytes, one);
        cudaStreamSynchronize(one);
    }).join();
    cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToDevice, two);
    *static_cast<volatile int*>(flag.data) = 1;
    cudaDeviceSynchronize();
}
/// There and back through the same pinned memory.
void round_trip(bool managed_memory) {
    const Array host(managed_memory ? Where::managed : Where::pinned), device;
    const Stream stream;
    for (int round = 0; round < 3; ++round) {
        host[round] = round;
        cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);
        launch_scale(device, device, 2, stream);
        cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream);
        launch_scale(host, host, 3, stream);
        cudaStreamSynchronize(stream);
    }
}
void many_rounds(bool) {
    const Array a, b;
    const Stream one, two;
    const Event first, second;
    for (int round = 0; round < 200; ++round) {
        launch_scale(a, b, round, one);
        one.record(first);
        two.wait(first);
        launch_scale(b, a, round, two);
        two.record(second);
        one.wait(second);
    }
    cudaDeviceSynchronize();
}
void stream_values(bool) {
    const Array data, out, flag;
    const Stream one, two;
    const auto word = reinterpret_cast<CUdeviceptr>(flag.data);
    void *write = nullptr, *wait = nullptr;
    cudaDriverEntryPointQueryResult found{};
    cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &write, 12000, cudaEnableDefault, &found);
    cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &wait, 12000, cudaEnableDefault, &found);
    launch_scale(out, data, 2, one);
    reinterpret_cast<decltype(&cuStreamWriteValue32)>(write)(one, word, 1, 0);
    reinterpret_cast<decltype(&cuStreamWaitValue32)>(wait)(two, word, 1, CU_STREAM_WAIT_VALUE_GEQ);
    launch_scale(data, out, 1, two);
    cudaDeviceSynchronize();
}

constexpr struct {
    std::string_view name;
    void (*run)(bool);
} cases[] = {
    // clang-format off
    {"event", event}, {"early-managed-read", early_managed_read}, {"other-half", other_half},
    {"early-read", early_read}, {"early-event", early_event}, {"write-behind-read", write_behind_read},
    {"default", default_stream}, {"copy-back", copy_back}, {"copies", copies},
    {"cleared-sums", cleared_sums}, {"edge", edge}, {"captured", captured}, {"freed-async", freed_async},
    {"freed", freed}, {"refilled", refilled}, {"overwritten", overwritten}, {"managed", managed},
    {"neighbours", neighbours}, {"same-values", same_values}, {"told-by-flag", told_by_flag},
    {"told-to-host", told_to_host}, {"told-weakly", told_weakly}, {"host-function", host_function},
    {"host-threads", host_threads}, {"round-trip", round_trip}, {"many-rounds", many_rounds},
    {"stream-values", stream_values},
    // clang-format on
};

} // namespace

int main(int argc, char** argv) {
    const std::string_view name = argc > 2 ? argv[1] : "";
    for (const auto& each : cases)
        if (each.name == name) {
            each.run(argv[2] == std::string_view("wrong"));
            const cudaError_t error = cudaDeviceSynchronize();
            std::printf("%s\n", cudaGetErrorName(error));
            return error == cudaSuccess ? 0 : 1;
        }
    return 2;
}

// Kernels that may begin before the one before them in their stream has ended. The first argument names a
// case, the second is `wrong` or `right`. The right ones give their results on a GPU as well;
// programmatic_test.cpp says what the emulator must find.
#include "programmatic_kernels.cuh"

#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

#include <string_view>
#include <vector>

namespace {

/// `size` elements that begin with 0.
struct Array {
    Array() {
        cudaMalloc(&data, bytes);
        cudaMemset(data, 0, bytes);
        cudaDeviceSynchronize();
    }
    ~Array() { cudaFree(data); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator int*() const { return data; }
    /// Prints whether all elements have the value.
    void expect(int value) const {
        std::vector<int> host(size);
        cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost);
        bool right = true;
        for (const int each : host)
            right &= each == value;
        std::printf(right ? "right " : "other ");
    }
    int* data = nullptr;
};

struct Stream {
    explicit Stream(unsigned flags = cudaStreamNonBlocking) { cudaStreamCreateWithFlags(&handle, flags); }
    ~Stream() { cudaStreamDestroy(handle); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return handle; }
    cudaStream_t handle = nullptr;
};

template <class... Parameters, class... Arguments>
void launch_many_early(void (*kernel)(Parameters...), int grid, cudaStream_t stream,
                       const Arguments&... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(grid));
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), cudaStream_t stream, const Arguments&... arguments) {
    launch_many_early(kernel, blocks, stream, arguments...);
}

/// Two kernels, the second of which may begin early.
void pair(void (*first)(const int*, int*), void (*second)(const int*, int*), cudaStream_t stream = nullptr) {
    const Array in, between, out;
    first<<<blocks, threads, 0, stream>>>(in, between);
    launch_early(second, stream, between, out);
    cudaStreamSynchronize(stream);
    out.expect(2);
}

void early_read(bool wrong) { pair(produce<At::begin>, wrong ? consume<At::end> : consume<At::begin>); }
void late_trigger(bool wrong) { pair(produce<At::end>, wrong ? consume<At::end> : consume<At::begin>); }
void never_waits(bool wrong) {
    const Stream stream;
    pair(produce<At::begin>, wrong ? consume<At::never> : consume<At::begin>, stream);
}
void never_triggers(bool wrong) { pair(produce<At::never>, wrong ? consume<At::never> : consume<At::begin>); }
void first_thread(bool wrong) {
    pair(produce<At::begin>, wrong ? consume_behind_first<false> : consume_behind_first<true>);
}
void copy(bool wrong) { pair(produce<At::begin>, wrong ? consume_by_copy<true> : consume_by_copy<false>); }
void early_clear(bool wrong) {
    const Array in, between, out;
    set<<<blocks, threads>>>(in, 1);
    trigger_then_read<<<blocks, threads>>>(in, between);
    launch_early(wrong ? clear_and_pass<true> : clear_and_pass<false>, nullptr, in, between, out);
    out.expect(3);
    in.expect(0);
}
void early_places(bool wrong) {
    const Array places, out;
    cudaMemset(places, 0x5a, bytes);
    cudaDeviceSynchronize();
    find_places<<<blocks, threads>>>(places);
    launch_early(wrong ? use_places<true> : use_places<false>, nullptr, places, out);
    cudaDeviceSynchronize();
    out.expect(1);
}
/// An error, but not one of order.
void outside(bool) { pair(produce<At::begin>, write_outside); }
void early_overwrite(bool wrong) {
    const Array data;
    set_late<At::begin><<<blocks, threads>>>(data, 1);
    launch_early(wrong ? set_early<At::end> : set_early<At::begin>, nullptr, data, 2);
    data.expect(2);
}
/// The third kernel reads what the first has written; the second has nothing to do with it.
void chain(bool wrong) {
    const Array in, first, second, out;
    produce<At::begin><<<blocks, threads>>>(in, first);
    launch_early(wrong ? middle<At::never, At::begin> : middle<At::end, At::begin>, nullptr, in, second);
    launch_early(consume<At::begin>, nullptr, first, out);
    out.expect(2);
    second.expect(1);
}
void long_chain(bool wrong) {
    const Array in, first, second, third, out;
    produce<At::begin><<<blocks, threads>>>(in, first);
    launch_early(wrong ? middle<At::never, At::begin> : middle<At::end, At::begin>, nullptr, in, second);
    launch_early(wrong ? middle<At::never, At::end> : middle<At::begin, At::begin>, nullptr, in, third);
    launch_early(consume<At::begin>, nullptr, first, out);
    out.expect(2);
}
/// What the middle kernel lets begin at once may come even before that has waited for the first.
void early_of_two(bool wrong) {
    const Array in, first, second, out;
    produce<At::begin><<<blocks, threads>>>(in, first);
    launch_early(middle<At::begin, At::begin>, nullptr, in, second);
    launch_early(wrong ? consume<At::end> : consume<At::begin>, nullptr, first, out);
    out.expect(2);
}

template <class Work>
void run_captured(Work&& work) {
    const Stream stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    work(stream.handle);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}
void captured(bool wrong) {
    const Array in, between, out;
    run_captured([&](cudaStream_t stream) {
        produce<At::begin><<<blocks, threads, 0, stream>>>(in, between);
        launch_early(wrong ? consume<At::end> : consume<At::begin>, stream, between, out);
    });
    out.expect(2);
}
void add_kernel(cudaGraphNode_t* node, cudaGraph_t graph, void (*kernel)(const int*, int*), const int* in,
                int* out) {
    void* arguments[] = {&in, &out};
    cudaKernelNodeParams parameters{};
    parameters.func = reinterpret_cast<void*>(kernel);
    parameters.gridDim = dim3(blocks);
    parameters.blockDim = dim3(threads);
    parameters.kernelParams = arguments;
    cudaGraphAddKernelNode(node, graph, nullptr, 0, &parameters);
}
/// `wrong`: the edge lets the second kernel begin early; it does not wait in either case.
void edge(bool wrong) {
    const Array in, between, out;
    const Stream stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaGraphNode_t first = nullptr, second = nullptr;
    cudaGraphCreate(&graph, 0);
    add_kernel(&first, graph, produce<At::begin>, in, between);
    add_kernel(&second, graph, consume<At::end>, between, out);
    cudaGraphEdgeData data{};
    data.type = cudaGraphDependencyTypeProgrammatic;
    data.from_port = cudaGraphKernelNodePortProgrammatic;
    cudaGraphAddDependencies(graph, &first, &second, wrong ? &data : nullptr, 1);
    cudaGraphInstantiate(&exec, graph);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    out.expect(2);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

// -- nothing is wrong with either variant

void preamble(bool) {
    const Array in, between, weights, out;
    set<<<blocks, threads>>>(weights, 5);
    cudaDeviceSynchronize();
    produce<At::begin><<<blocks, threads>>>(in, between);
    launch_early(with_preamble, nullptr, between, weights, out);
    out.expect(2);
}
void warps(bool at_begin) { pair(at_begin ? produce<At::begin> : produce<At::end>, consume_by_warps); }
/// The blocks have read before they let the next kernel begin, be it by their end.
void read_before(bool by_end) {
    const Array in, between, out;
    set<<<blocks, threads>>>(in, 1);
    if (by_end)
        produce<At::never><<<blocks, threads>>>(in, between);
    else
        read_then_trigger<<<blocks, threads>>>(in, between);
    launch_early(clear_and_pass<true>, nullptr, in, between, out);
    out.expect(3);
    in.expect(0);
}
/// Something lies between the two that waits for the first.
void waited_for(bool by_host) {
    const Array in, between, out, more;
    const Stream stream;
    produce<At::begin><<<blocks, threads, 0, stream>>>(in, between);
    if (by_host)
        cudaStreamSynchronize(stream);
    else
        cudaMemcpyAsync(more, in, bytes, cudaMemcpyDeviceToDevice, stream);
    launch_early(consume<At::never>, stream, between, out);
    cudaStreamSynchronize(stream);
    out.expect(2);
}
/// The kernel between has waited before it lets the third begin.
void known_at_start(bool) {
    const Array in, first, second, out;
    produce<At::begin><<<blocks, threads>>>(in, first);
    launch_early(middle<At::begin, At::end>, nullptr, in, second);
    launch_early(consume<At::never>, nullptr, first, out);
    out.expect(2);
}
/// What is launched without the attribute, or waits for the stream by an event, stands behind the whole
/// chain.
void whole_chain(bool by_event) {
    const Array in, first, second, out;
    const Stream one, two;
    cudaEvent_t event = nullptr;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    produce<At::begin><<<blocks, threads, 0, one>>>(in, first);
    launch_early(middle<At::never, At::begin>, one, in, second);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(two, event);
    consume<At::never><<<blocks, threads, 0, by_event ? two : one>>>(first, out);
    cudaStreamSynchronize(by_event ? two : one);
    out.expect(2);
    cudaEventDestroy(event);
}
/// Kernels that run at the same time: the first waits for the second, or the second takes results over by a
/// flag of the program's own.
void flags(bool back) {
    const Array in, flag, between, out;
    if (back) {
        await_next<<<blocks, threads>>>(flag, out);
        launch_early(tell_previous, nullptr, flag);
        out.expect(1);
        return;
    }
    hand_over<<<blocks, threads>>>(in, between, flag);
    launch_early(take_over, nullptr, between, flag, out);
    out.expect(2);
}
/// The host looks for the end in other ways than by waiting.
void host_looks(bool by_query) {
    const Stream stream;
    volatile int* flag = nullptr;
    cudaMallocHost(reinterpret_cast<void**>(const_cast<int**>(&flag)), sizeof(int));
    *flag = 0;
    tell_host<<<blocks, threads, 0, stream>>>(const_cast<int*>(flag));
    if (by_query)
        while (cudaStreamQuery(stream) == cudaErrorNotReady) {
        }
    else
        while (*flag == 0) {
        }
    std::printf(*flag == 1 ? "right " : "other ");
    cudaStreamSynchronize(stream);
    cudaFreeHost(const_cast<int*>(flag));
}
/// More blocks than there is room for.
void large(bool) {
    constexpr int many = 3000;
    int *in = nullptr, *out = nullptr;
    cudaMalloc(&in, many * threads * sizeof(int));
    cudaMalloc(&out, many * threads * sizeof(int));
    cudaMemset(in, 0, many * threads * sizeof(int));
    produce<At::begin><<<many, threads>>>(in, out);
    launch_many_early(consume<At::begin>, many, nullptr, out, in);
    int last = 0;
    cudaMemcpy(&last, in + many * threads - 1, sizeof last, cudaMemcpyDeviceToHost);
    std::printf(last == 2 ? "right " : "other ");
    cudaFree(in);
    cudaFree(out);
}
/// A long chain, each of which lets the next begin at once, in a stream of its own or the default one.
void many_rounds(bool default_stream) {
    const Array a, b;
    const Stream own;
    const cudaStream_t stream = default_stream ? nullptr : own.handle;
    constexpr int rounds = 200;
    for (int round = 0; round < rounds; ++round)
        launch_early(middle<At::begin, At::begin>, stream, round % 2 ? b : a, round % 2 ? a : b);
    cudaStreamSynchronize(stream);
    a.expect(rounds);
}

constexpr struct {
    std::string_view name;
    void (*run)(bool);
} cases[] = {
    // clang-format off
    {"early-read", early_read}, {"late-trigger", late_trigger}, {"never-waits", never_waits},
    {"never-triggers", never_triggers}, {"first-thread", first_thread}, {"copy", copy},
    {"early-clear", early_clear}, {"early-overwrite", early_overwrite}, {"chain", chain},
    {"long-chain", long_chain}, {"early-of-two", early_of_two}, {"early-places", early_places}, {"outside", outside}, {"captured", captured}, {"edge", edge},
    {"preamble", preamble}, {"warps", warps}, {"read-before", read_before}, {"waited-for", waited_for},
    {"known-at-start", known_at_start}, {"whole-chain", whole_chain}, {"flags", flags},
    {"host-looks", host_looks}, {"large", large}, {"many-rounds", many_rounds},
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

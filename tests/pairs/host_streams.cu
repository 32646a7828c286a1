// Streams, events, graphs and memory that host and device share: what the host forgot to order.
#include "pairs.hpp"

#include <algorithm>

namespace {

using pairs::check;

constexpr int threads = 128, blocks = 8, size = blocks * threads;

/// A stream; what the default stream did before, such as filling buffers, has ended when it begins.
class Stream {
  public:
    explicit Stream(unsigned flags = cudaStreamNonBlocking) {
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        check(cudaStreamCreateWithFlags(&stream_, flags), "cudaStreamCreateWithFlags");
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }
    void record(cudaEvent_t event) const { check(cudaEventRecord(event, stream_), "cudaEventRecord"); }
    void wait(cudaEvent_t event) const { check(cudaStreamWaitEvent(stream_, event), "cudaStreamWaitEvent"); }

  private:
    cudaStream_t stream_ = nullptr;
};

class Event {
  public:
    Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event_); }
    operator cudaEvent_t() const { return event_; }

  private:
    cudaEvent_t event_ = nullptr;
};

/// Page-locked memory of the host, filled with 0x5a.
class Pinned {
  public:
    explicit Pinned(std::size_t count) : count_(count) {
        check(cudaMallocHost(&data_, count * sizeof(int)), "cudaMallocHost");
        std::memset(data_, 0x5a, count * sizeof(int));
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { cudaFreeHost(data_); }
    int* data() { return data_; }
    void fill(const int* from) { std::copy(from, from + count_, data_); }
    std::vector<int> copy() const { return std::vector<int>(data_, data_ + count_); }

  private:
    int* data_ = nullptr;
    std::size_t count_;
};

__global__ void affine_kernel(const int* in, int* out, int factor, int summand) {
    const int index = blockIdx.x * threads + threadIdx.x;
    out[index] = in[index] * factor + summand;
}

__global__ void add_mirrored_kernel(const int* a, const int* b, int* out) {
    const int index = blockIdx.x * threads + threadIdx.x;
    out[index] = a[index] + b[size - 1 - index];
}

std::vector<int> affine(std::vector<int> values, int factor, int summand) {
    for (int& value : values)
        value = value * factor + summand;
    return values;
}

std::vector<int> add_mirrored(const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<int> sums(size);
    for (int i = 0; i < size; ++i)
        sums[i] = a[i] + b[size - 1 - i];
    return sums;
}

// One stream computes, another adds; an event connects them.
bool event_recorded_early(bool broken) {
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), middle(size), out(size);
    const Stream compute, add;
    const Event computed;
    if (broken)
        compute.record(computed);
    affine_kernel<<<blocks, threads, 0, compute>>>(in.data(), middle.data(), 3, 1);
    if (!broken)
        compute.record(computed);
    add.wait(computed);
    add_mirrored_kernel<<<blocks, threads, 0, add>>>(middle.data(), in.data(), out.data());
    return out.read() == add_mirrored(affine(host, 3, 1), host);
}

// The legacy default stream orders itself with streams that do not opt out.
bool stream_opts_out(bool broken) {
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), middle(size), out(size);
    const Stream stream(broken ? cudaStreamNonBlocking : cudaStreamDefault);
    affine_kernel<<<blocks, threads>>>(in.data(), middle.data(), 5, 2);
    add_mirrored_kernel<<<blocks, threads, 0, stream>>>(middle.data(), in.data(), out.data());
    return out.read() == add_mirrored(affine(host, 5, 2), host);
}

// Two buffers between a producing and a consuming stream, used in turn.
bool buffer_taken_back(bool broken) {
    constexpr int rounds = 5;
    const auto host = pairs::random_ints(rounds * size);
    pairs::Device<int> in(host), first(size), second(size), out(rounds * size);
    int* buffers[] = {first.data(), second.data()};
    const Stream produce, consume;
    const Event filled[2], emptied[2];
    for (int round = 0; round < rounds; ++round) {
        const int slot = round % 2;
        if (!broken && round >= 2)
            produce.wait(emptied[slot]);
        affine_kernel<<<blocks, threads, 0, produce>>>(in.data() + round * size, buffers[slot], 2, round);
        produce.record(filled[slot]);
        consume.wait(filled[slot]);
        add_mirrored_kernel<<<blocks, threads, 0, consume>>>(buffers[slot], buffers[slot],
                                                             out.data() + round * size);
        consume.record(emptied[slot]);
    }
    std::vector<int> expected;
    for (int round = 0; round < rounds; ++round) {
        const auto values =
            affine({host.begin() + round * size, host.begin() + (round + 1) * size}, 2, round);
        const auto sums = add_mirrored(values, values);
        expected.insert(expected.end(), sums.begin(), sums.end());
    }
    return out.read() == expected;
}

// Chunks go through two pinned buffers to the device.
bool staging_refilled(bool broken) {
    constexpr int chunks = 5;
    const auto host = pairs::random_ints(chunks * size);
    pairs::Device<int> in(chunks * size), out(chunks * size);
    Pinned staging[2] = {Pinned(size), Pinned(size)};
    const Event copied[2];
    const Stream stream;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int slot = chunk % 2;
        if (!broken && chunk >= 2)
            check(cudaEventSynchronize(copied[slot]), "cudaEventSynchronize");
        staging[slot].fill(host.data() + chunk * size);
        check(cudaMemcpyAsync(in.data() + chunk * size, staging[slot].data(), size * sizeof(int),
                              cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
        stream.record(copied[slot]);
        affine_kernel<<<blocks, threads, 0, stream>>>(in.data() + chunk * size, out.data() + chunk * size, 2,
                                                      chunk);
    }
    std::vector<int> expected(host.size());
    for (int i = 0; i < chunks * size; ++i)
        expected[i] = host[i] * 2 + i / size;
    return out.read() == expected;
}

// The result is copied back by a stream of its own.
bool wrong_stream_synchronised(bool broken) {
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), out(size);
    Pinned result(size);
    const Stream compute, copy;
    const Event computed;
    affine_kernel<<<blocks, threads, 0, compute>>>(in.data(), out.data(), 7, 3);
    compute.record(computed);
    copy.wait(computed);
    check(cudaMemcpyAsync(result.data(), out.data(), size * sizeof(int), cudaMemcpyDeviceToHost, copy),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(broken ? compute : copy), "cudaStreamSynchronize");
    const bool right = result.copy() == affine(host, 7, 3);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return right;
}

// The result is copied into a vector of the host, which the driver need not wait for.
bool pageable_result(bool broken) {
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), out(size);
    std::vector<int> result(size, 0);
    const Stream stream;
    affine_kernel<<<blocks, threads, 0, stream>>>(in.data(), out.data(), 11, 4);
    check(cudaMemcpyAsync(result.data(), out.data(), size * sizeof(int), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
    if (!broken)
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    const bool right = result == affine(host, 11, 4);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return right;
}

struct Step {
    int factor, summand;
};

__global__ void managed_step_kernel(int* values, const Step* step) {
    const int index = blockIdx.x * threads + threadIdx.x;
    values[index] = values[index] % 1000 * step->factor + step->summand;
}

// The parameters of each step lie in managed memory, where the host changes them from step to step.
bool managed_parameters(bool broken) {
    auto host = pairs::random_ints(size);
    pairs::Device<int> values(host);
    Step* step = nullptr;
    check(cudaMallocManaged(&step, sizeof(Step)), "cudaMallocManaged");
    for (int i = 0; i < 3; ++i) {
        if (!broken && i > 0)
            check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        *step = {.factor = i + 2, .summand = 10 * i};
        managed_step_kernel<<<blocks, threads>>>(values.data(), step);
        for (int& value : host)
            value = value % 1000 * (i + 2) + 10 * i;
    }
    const bool right = values.read() == host;
    check(cudaFree(step), "cudaFree");
    return right;
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> after, void* kernel,
                           void** arguments) {
    cudaKernelNodeParams parameters{};
    parameters.func = kernel;
    parameters.gridDim = dim3(blocks);
    parameters.blockDim = dim3(threads);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node;
    check(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters),
          "cudaGraphAddKernelNode");
    return node;
}

/// Launches the graph `times` times in a stream and waits for it.
void launch_graph(cudaGraph_t graph, int times) {
    const Stream stream;
    cudaGraphExec_t executable;
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    for (int i = 0; i < times; ++i)
        check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}

// Two branches from one root, and their sum.
bool graph_edge_missing(bool broken) {
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), root(size), left(size), right(size), out(size);
    int *in_data = in.data(), *root_data = root.data(), *left_data = left.data(), *right_data = right.data(),
        *out_data = out.data(), factors[] = {2, 3, 5}, summands[] = {1, 4, 9};
    void* root_arguments[] = {&in_data, &root_data, &factors[0], &summands[0]};
    void* left_arguments[] = {&root_data, &left_data, &factors[1], &summands[1]};
    void* right_arguments[] = {&root_data, &right_data, &factors[2], &summands[2]};
    void* sum_arguments[] = {&left_data, &right_data, &out_data};
    void* const affine_function = reinterpret_cast<void*>(affine_kernel);
    cudaGraph_t graph;
    check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    const auto root_node = add_kernel(graph, {}, affine_function, root_arguments);
    const auto left_node = add_kernel(graph, {root_node}, affine_function, left_arguments);
    const auto right_node = add_kernel(graph, {root_node}, affine_function, right_arguments);
    std::vector<cudaGraphNode_t> before{left_node};
    if (!broken)
        before.push_back(right_node);
    add_kernel(graph, before, reinterpret_cast<void*>(add_mirrored_kernel), sum_arguments);
    launch_graph(graph, 1);
    const auto start = affine(host, 2, 1);
    return out.read() == add_mirrored(affine(start, 3, 4), affine(start, 5, 9));
}

// A side stream is captured into the graph: forked and joined with events.
bool capture_joined_late(bool broken) {
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), left(size), right(size), out(size);
    const Stream main_stream, side;
    const Event forked, joined;
    cudaGraph_t graph;
    check(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    main_stream.record(forked);
    side.wait(forked);
    affine_kernel<<<blocks, threads, 0, side>>>(in.data(), right.data(), 3, 7);
    side.record(joined);
    affine_kernel<<<blocks, threads, 0, main_stream>>>(in.data(), left.data(), 2, 5);
    if (!broken)
        main_stream.wait(joined);
    add_mirrored_kernel<<<blocks, threads, 0, main_stream>>>(left.data(), right.data(), out.data());
    if (broken)
        main_stream.wait(joined);
    check(cudaStreamEndCapture(main_stream, &graph), "cudaStreamEndCapture");
    launch_graph(graph, 2);
    return out.read() == add_mirrored(affine(host, 2, 5), affine(host, 3, 7));
}

// A temporary of the pool is used in two streams and freed in the first; the next temporary may lie in its
// place.
bool freed_in_other_stream(bool broken) {
    const auto host = pairs::random_ints(size);
    pairs::Device<int> in(host), out(size), other_out(size);
    const Stream stream, side;
    const Event made, used;
    int *temporary = nullptr, *next = nullptr;
    check(cudaMallocAsync(&temporary, size * sizeof(int), stream), "cudaMallocAsync");
    affine_kernel<<<blocks, threads, 0, stream>>>(in.data(), temporary, 3, 5);
    stream.record(made);
    side.wait(made);
    add_mirrored_kernel<<<blocks, threads, 0, side>>>(temporary, temporary, out.data());
    side.record(used);
    if (!broken)
        stream.wait(used);
    check(cudaFreeAsync(temporary, stream), "cudaFreeAsync");
    check(cudaMallocAsync(&next, size * sizeof(int), stream), "cudaMallocAsync");
    affine_kernel<<<blocks, threads, 0, stream>>>(in.data(), next, -1, 0);
    affine_kernel<<<blocks, threads, 0, stream>>>(next, other_out.data(), 2, 1);
    check(cudaFreeAsync(next, stream), "cudaFreeAsync");
    const auto values = affine(host, 3, 5);
    return out.read() == add_mirrored(values, values) && other_out.read() == affine(host, -2, 1);
}

constexpr pairs::Pair list[] = {
    {.name = "event_recorded_early",
     .mistake = "The event is recorded before the kernel whose result the other stream waits for, so the "
                "wait covers nothing of it.",
     .fix = "cudaEventRecord after the launch.",
     .run = event_recorded_early,
     .finding = "race-kernels",
     .says = "the event was recorded before the kernel",
     .remedy = "Record the event after the launch"},
    {.name = "stream_opts_out",
     .mistake = "The stream was created with cudaStreamNonBlocking and so is not ordered after the kernel in "
                "the legacy default stream whose result it reads.",
     .fix = "An event between the two (or a stream created with cudaStreamDefault).",
     .run = stream_opts_out,
     .finding = "race-kernels",
     .says = "cudaStreamNonBlocking",
     .remedy = "Record an event after kernel affine_kernel (cudaEventRecord) and let stream 1 wait"},
    {.name = "buffer_taken_back",
     .mistake = "From the third round on the producing stream overwrites a buffer without waiting until the "
                "consuming stream has read it.",
     .fix = "cudaStreamWaitEvent in the producing stream on the event recorded after the consumer's kernel "
            "two rounds ago.",
     .run = buffer_taken_back,
     .finding = "race-kernels",
     .says = "no event orders",
     .remedy = "let stream 1 wait for it before kernel affine_kernel"},
    {.name = "staging_refilled",
     .mistake =
         "The host refills a pinned buffer while the asynchronous copy of two chunks ago may still read it.",
     .fix = "cudaEventSynchronize on the event recorded after that copy, before the refill.",
     .run = staging_refilled,
     .finding = "race-host",
     .says = "a copy that has not been waited for may still read",
     .remedy = "cudaEventSynchronize"},
    {.name = "wrong_stream_synchronised",
     .mistake = "The host waits for the computing stream, but the copy of the result runs in the other "
                "stream and may still be writing when the host reads.",
     .fix = "cudaStreamSynchronize on the stream of the copy.",
     .run = wrong_stream_synchronised,
     .finding = "race-host",
     .says = "a copy that has not been waited for may still write",
     .remedy = "cudaStreamSynchronize on the stream of the copy"},
    {.name = "pageable_result",
     .mistake = "The host reads the result of cudaMemcpyAsync without waiting for the stream; that copies "
                "into pageable memory are finished on return is not promised.",
     .fix = "cudaStreamSynchronize before the result is read.",
     .run = pageable_result,
     .finding = "race-host",
     .says = "a copy that has not been waited for may still write",
     .remedy = "cudaStreamSynchronize on the stream of the copy"},
    {.name = "managed_parameters",
     .mistake = "The host overwrites the parameters in managed memory while the kernel launched before may "
                "still read them.",
     .fix = "Wait for the kernel before writing, or pass the parameters by value.",
     .run = managed_parameters,
     .finding = "race-host",
     .says = "a kernel that has not been waited for may still read",
     .remedy = "cudaStreamSynchronize"},
    {.name = "graph_edge_missing",
     .mistake = "The node that adds both branches depends on the left one only; nothing orders it after the "
                "right one whose result it reads.",
     .fix = "Give both nodes as its dependencies.",
     .run = graph_edge_missing,
     .finding = "race-kernels",
     .says = "no path of edges",
     .remedy = "Add a dependency"},
    {.name = "capture_joined_late",
     .mistake = "The captured stream waits for the side stream only after the kernel that reads its result, "
                "so the graph has no edge between the two.",
     .fix = "cudaStreamWaitEvent before the launch of the kernel that adds.",
     .run = capture_joined_late,
     .finding = "race-kernels",
     .says = "no path of edges",
     .remedy = "cudaStreamWaitEvent before the launch"},
    {.name = "freed_in_other_stream",
     .mistake = "cudaFreeAsync in the first stream is not ordered after the kernel in the second stream that "
                "still reads the temporary; its memory is given to the next cudaMallocAsync.",
     .fix = "Let the first stream wait for an event recorded after that kernel, before cudaFreeAsync.",
     .run = freed_in_other_stream,
     .finding = "freed-in-use",
     .says = "may still use",
     .remedy = "cudaStreamWaitEvent before cudaFreeAsync"},
};

} // namespace

int main(int argc, char** argv) { return pairs::main(argc, argv, list); }

// Kernels that run side by side and wait for each other, for the host, for copies. All of it passes on a GPU
// as well. Kernels are loaded before the first one waits, since loading one may wait for the device (CUDA
// programming guide, "Lazy Loading": "Concurrent Execution").
#include "cuda/support.cuh"

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace {

using Flag = cuda::atomic<int, cuda::thread_scope_system>;

__global__ void wait_for(Flag* flag, int value, int* out) {
    while (flag->load(cuda::memory_order_acquire) < value) {
    }
    atomicAdd(out, 1);
}
__global__ void wait_weakly_counting(Flag* flag, int* out) {
    int tries = 0; // Such a wait never comes back to the same state.
    while (flag->load(cuda::memory_order_acquire) == 0)
        ++tries;
    *out = tries >= 0;
}
__global__ void set_to(Flag* flag, int value) { flag->store(value, cuda::memory_order_release); }

/// Takes turns with another kernel, or with the host.
__global__ void take_turns(Flag* flag, int mine, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        while (flag->load(cuda::memory_order_acquire) != 2 * i + mine) {
        }
        flag->store(2 * i + mine + 1, cuda::memory_order_release);
    }
}

/// Thread 0 gives its data to another kernel, which tells thread 32: what they share is ordered through it.
__global__ void give_around(Flag* there, Flag* back, int* data) {
    if (threadIdx.x == 0) {
        *data = 41;
        there->store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 32) {
        while (back->load(cuda::memory_order_acquire) == 0) {
        }
        ++*data;
    }
}
__global__ void pass_on(Flag* there, Flag* back) {
    while (there->load(cuda::memory_order_acquire) == 0) {
    }
    back->store(1, cuda::memory_order_release);
}
__global__ void nap(int times) {
    for (int i = 0; i < times; ++i)
        __nanosleep(100);
}

__global__ void come_to(cuda::barrier<cuda::thread_scope_system>* barrier, int times) {
    for (int i = 0; i < times; ++i)
        barrier->arrive_and_wait();
}
__global__ void count_down(cuda::latch<cuda::thread_scope_system>* latch) { latch->arrive_and_wait(); }
using Semaphore = cuda::counting_semaphore<cuda::thread_scope_system>;
__global__ void answer(Semaphore* asked, Semaphore* answered, int times) {
    for (int i = 0; i < times; ++i) {
        asked->acquire();
        answered->release();
    }
}

void load_all() {
    cudaFuncAttributes attributes{};
    for (const void* kernel :
         {(const void*)wait_for, (const void*)wait_weakly_counting, (const void*)set_to,
          (const void*)take_turns, (const void*)give_around, (const void*)pass_on, (const void*)nap,
          (const void*)come_to, (const void*)count_down, (const void*)answer})
        CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
}

cudaStream_t new_stream(unsigned flags) {
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}
cudaEvent_t new_event() {
    cudaEvent_t event = nullptr;
    CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}
void* new_shared_memory(bool managed, std::size_t bytes) {
    void* memory = nullptr;
    if (managed)
        CHECK_CUDA(cudaMallocManaged(&memory, bytes));
    else
        CHECK_CUDA(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped));
    return memory;
}

struct Stream {
    explicit Stream(unsigned flags = cudaStreamNonBlocking) : handle(new_stream(flags)) {}
    ~Stream() { cudaStreamDestroy(handle); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t handle;
};
struct Event {
    cudaEvent_t handle = new_event();
    ~Event() { cudaEventDestroy(handle); }
};
/// Objects that host and device reach.
template <class T>
struct Shared {
    template <class... Arguments>
    explicit Shared(bool managed, Arguments... arguments)
        : managed(managed), data(new (new_shared_memory(managed, sizeof(T))) T(arguments...)) {}
    ~Shared() { managed ? cudaFree(data) : cudaFreeHost(data); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    bool managed;
    T* data;
};

Memory<int> zeros(std::size_t count = 1) { return Memory<int>(std::vector<int>(count, 0)); }
Flag* as_flag(const Memory<int>& memory) { return reinterpret_cast<Flag*>(memory.data()); }

} // namespace

TEST_CASE("two kernels in two streams wait for each other, whichever is launched first") {
    load_all();
    for (const int first : {0, 1})
        for (const unsigned flags : {cudaStreamNonBlocking, cudaStreamDefault}) {
            const auto flag = zeros();
            const Stream one(flags), two(flags);
            take_turns<<<1, 1, 0, one.handle>>>(as_flag(flag), first, 30);
            take_turns<<<1, 1, 0, two.handle>>>(as_flag(flag), 1 - first, 30);
            CHECK_CUDA(cudaStreamSynchronize(one.handle));
            CHECK_CUDA(cudaStreamSynchronize(two.handle));
            CHECK(flag.read()[0] == 60);
        }
}

TEST_CASE("a grid waits for a kernel that is launched later, in any order of streams that run side by side") {
    load_all();
    const Stream one, two;
    const std::pair<cudaStream_t, cudaStream_t> pairs[]{{one.handle, two.handle},
                                                        {one.handle, nullptr},
                                                        {nullptr, one.handle},
                                                        {cudaStreamPerThread, one.handle}};
    for (const auto& [waiting, setting] : pairs)
        for (const unsigned blocks : {1u, 40u}) {
            const auto flag = zeros(), out = zeros();
            CHECK_CUDA(cudaDeviceSynchronize());
            wait_for<<<blocks, 64, 0, waiting>>>(as_flag(flag), 1, out.data());
            set_to<<<1, 1, 0, setting>>>(as_flag(flag), 1);
            CHECK_CUDA(cudaDeviceSynchronize());
            CHECK(out.read()[0] == static_cast<int>(blocks) * 64);
        }
}

TEST_CASE("a kernel waits for the host that launched it") {
    load_all();
    const auto out = zeros();
    for (const bool managed : {false, true}) {
        const Shared<Flag> flag(managed, 0);
        wait_for<<<2, 32>>>(flag.data, 1, out.data());
        CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady);
        flag.data->store(1);
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK_CUDA(cudaStreamQuery(nullptr));
        take_turns<<<1, 1>>>(flag.data, 2, 20);
        for (int i = 0; i < 20; ++i) {
            flag.data->store(2 * i + 2);
            while (flag.data->load() != 2 * i + 3) {
            }
        }
        CHECK_CUDA(cudaDeviceSynchronize());
    }
    CHECK(out.read()[0] == 128);
}

TEST_CASE("a wait that counts is one, too") {
    load_all();
    const Shared<Flag> flag(false, 0);
    const auto out = zeros();
    wait_weakly_counting<<<1, 1>>>(flag.data, out.data());
    flag.data->store(1);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(out.read()[0] == 1);
}

TEST_CASE("a kernel that sleeps often ends without help") {
    load_all();
    nap<<<2, 64>>>(2000);
    CHECK_CUDA(cudaDeviceSynchronize());
}

TEST_CASE("copies, fills and functions of another stream help a kernel that waits") {
    load_all();
    const auto flag = zeros(), out = zeros();
    const Shared<Flag> mapped(false, 0);
    const Shared<int> one(false, 1);
    const Stream waiting, helping;
    wait_for<<<1, 1, 0, waiting.handle>>>(as_flag(flag), 1, out.data());
    CHECK_CUDA(cudaMemcpyAsync(flag.data(), one.data, sizeof(int), cudaMemcpyHostToDevice, helping.handle));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemset(flag.data(), 0, sizeof(int)));
    CHECK_CUDA(cudaDeviceSynchronize());
    wait_for<<<1, 1, 0, waiting.handle>>>(as_flag(flag), 1, out.data());
    CHECK_CUDA(cudaMemsetAsync(flag.data(), 1, sizeof(int), helping.handle));
    CHECK_CUDA(cudaDeviceSynchronize());
    wait_for<<<1, 1, 0, waiting.handle>>>(mapped.data, 1, out.data());
    CHECK_CUDA(cudaLaunchHostFunc(
        helping.handle, [](void* data) { static_cast<Flag*>(data)->store(1); }, mapped.data));
    CHECK_CUDA(cudaDeviceSynchronize());
    wait_for<<<1, 1, 0, waiting.handle>>>(as_flag(flag), 2, out.data());
    const int two = 2; // A copy in the default stream, which waits for no stream that does not block.
    CHECK_CUDA(cudaMemcpy(flag.data(), &two, sizeof two, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(out.read()[0] == 4);
}

TEST_CASE("a function in a stream may wait for the thread that put it there") {
    load_all();
    const auto flag = zeros();
    const Shared<Flag> go(false, 0);
    const Stream stream;
    CHECK_CUDA(cudaLaunchHostFunc(
        stream.handle,
        [](void* data) {
            while (static_cast<Flag*>(data)->load() == 0) {
            }
        },
        go.data));
    set_to<<<1, 1, 0, stream.handle>>>(as_flag(flag), 1);
    CHECK(cudaStreamQuery(stream.handle) == cudaErrorNotReady);
    go.data->store(1);
    CHECK_CUDA(cudaStreamSynchronize(stream.handle));
    CHECK(flag.read()[0] == 1);
}

TEST_CASE("kernels of several host threads wait for each other") {
    load_all();
    const auto flag = zeros(), out = zeros();
    std::thread waiting([&] {
        wait_for<<<4, 32, 0, cudaStreamPerThread>>>(as_flag(flag), 1, out.data());
        cudaStreamSynchronize(cudaStreamPerThread);
    });
    std::thread setting([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        set_to<<<1, 1, 0, cudaStreamPerThread>>>(as_flag(flag), 1);
        cudaStreamSynchronize(cudaStreamPerThread);
    });
    waiting.join();
    setting.join();
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(out.read()[0] == 128);
}

TEST_CASE("a thread that sleeps may still help") {
    load_all();
    const Shared<Flag> flag(false, 0);
    const auto out = zeros();
    wait_for<<<1, 1>>>(flag.data, 1, out.data());
    std::thread sleeping([&] {
        std::this_thread::sleep_for(std::chrono::seconds(4));
        flag.data->store(1);
    });
    CHECK_CUDA(cudaDeviceSynchronize());
    sleeping.join();
    CHECK(out.read()[0] == 1);
}

TEST_CASE("events tell what has happened in their stream") {
    load_all();
    const Shared<Flag> flag(false, 0);
    const auto out = zeros();
    const Stream busy, idle;
    const Event event;
    CHECK_CUDA(cudaEventQuery(event.handle)); // Never recorded: nothing to wait for.
    CHECK_CUDA(cudaEventRecord(event.handle, idle.handle));
    wait_for<<<1, 1, 0, busy.handle>>>(flag.data, 1, out.data());
    CHECK_CUDA(cudaStreamQuery(idle.handle));
    CHECK_CUDA(cudaEventRecord(event.handle, busy.handle));
    CHECK(cudaEventQuery(event.handle) == cudaErrorNotReady);
    CHECK_CUDA(cudaStreamWaitEvent(idle.handle, event.handle, 0));
    set_to<<<1, 1, 0, idle.handle>>>(flag.data, 5); // Behind the event.
    CHECK(cudaStreamQuery(idle.handle) == cudaErrorNotReady);
    CHECK(flag.data->load() == 0);
    flag.data->store(1);
    CHECK_CUDA(cudaEventSynchronize(event.handle));
    CHECK_CUDA(cudaEventQuery(event.handle));
    CHECK_CUDA(cudaStreamSynchronize(idle.handle));
    CHECK(flag.data->load() == 5);
}

TEST_CASE("the default stream waits for the streams that block, and they for it") {
    load_all();
    const Shared<Flag> flag(false, 0);
    const auto out = zeros(), other = zeros();
    const Stream blocking(cudaStreamDefault), free;
    wait_for<<<1, 1, 0, blocking.handle>>>(flag.data, 1, out.data());
    set_to<<<1, 1>>>(as_flag(other), 1);
    CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady);
    set_to<<<1, 1, 0, free.handle>>>(as_flag(out), 100);
    CHECK_CUDA(cudaStreamSynchronize(free.handle)); // It waits for neither.
    flag.data->store(1);
    CHECK_CUDA(cudaStreamSynchronize(nullptr));
    CHECK(other.read()[0] == 1);
    CHECK(out.read()[0] == 101);
    flag.data->store(0);
    wait_for<<<1, 1>>>(flag.data, 1, out.data());
    set_to<<<1, 1, 0, blocking.handle>>>(as_flag(other), 2);
    CHECK(cudaStreamQuery(blocking.handle) == cudaErrorNotReady);
    flag.data->store(1);
    CHECK_CUDA(cudaStreamSynchronize(blocking.handle));
    CHECK(other.read()[0] == 2);
}

TEST_CASE("branches of a graph run side by side, and two graphs do") {
    load_all();
    const auto flag = zeros(), out = zeros();
    const Stream one, two;
    const Event fork, join;
    CHECK_CUDA(cudaStreamBeginCapture(one.handle, cudaStreamCaptureModeRelaxed));
    CHECK_CUDA(cudaEventRecord(fork.handle, one.handle));
    CHECK_CUDA(cudaStreamWaitEvent(two.handle, fork.handle, 0));
    wait_for<<<1, 1, 0, one.handle>>>(as_flag(flag), 1, out.data());
    set_to<<<1, 1, 0, two.handle>>>(as_flag(flag), 1);
    CHECK_CUDA(cudaEventRecord(join.handle, two.handle));
    CHECK_CUDA(cudaStreamWaitEvent(one.handle, join.handle, 0));
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(one.handle, &graph));
    cudaGraphExec_t both = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&both, graph, 0));
    CHECK_CUDA(cudaGraphLaunch(both, one.handle));
    CHECK_CUDA(cudaStreamSynchronize(one.handle));
    CHECK(out.read()[0] == 1);
    CHECK_CUDA(cudaGraphExecDestroy(both));
    CHECK_CUDA(cudaGraphDestroy(graph));
    cudaGraphExec_t parts[2]{};
    for (int i = 0; i < 2; ++i) {
        CHECK_CUDA(cudaStreamBeginCapture(one.handle, cudaStreamCaptureModeRelaxed));
        if (i == 0)
            wait_for<<<1, 1, 0, one.handle>>>(as_flag(flag), 2, out.data());
        else
            set_to<<<1, 1, 0, one.handle>>>(as_flag(flag), 2);
        CHECK_CUDA(cudaStreamEndCapture(one.handle, &graph));
        CHECK_CUDA(cudaGraphInstantiate(&parts[i], graph, 0));
        CHECK_CUDA(cudaGraphDestroy(graph));
    }
    CHECK_CUDA(cudaGraphUpload(parts[1], two.handle));
    CHECK_CUDA(cudaStreamSynchronize(two.handle));
    CHECK_CUDA(cudaGraphLaunch(parts[0], one.handle));
    CHECK_CUDA(cudaGraphLaunch(parts[1], two.handle));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(out.read()[0] == 2);
    for (const auto part : parts)
        CHECK_CUDA(cudaGraphExecDestroy(part));
}

TEST_CASE("pageable memory may be used again when the call has returned") {
    load_all();
    const Shared<Flag> flag(false, 0);
    const auto out = zeros(), copied = zeros(1024);
    const Stream stream;
    std::vector<int> source(1024, 7);
    wait_for<<<1, 1, 0, stream.handle>>>(flag.data, 1, out.data());
    CHECK_CUDA(cudaMemcpyAsync(copied.data(), source.data(), 4096, cudaMemcpyHostToDevice, stream.handle));
    source.assign(1024, 8);
    flag.data->store(1);
    CHECK_CUDA(cudaStreamSynchronize(stream.handle));
    CHECK(copied.read() == std::vector<int>(1024, 7));
}

TEST_CASE("a stream that is destroyed finishes its work, and memory that is freed waits for it") {
    load_all();
    const Shared<Flag> flag(false, 0);
    int *out = nullptr, result = 0;
    CHECK_CUDA(cudaMalloc(&out, sizeof(int)));
    CHECK_CUDA(cudaMemset(out, 0, sizeof(int)));
    CHECK_CUDA(cudaDeviceSynchronize());
    const Shared<int> back(false, 0);
    const cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    wait_for<<<1, 1, 0, stream>>>(flag.data, 1, out);
    CHECK_CUDA(cudaMemcpyAsync(back.data, out, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaStreamDestroy(stream));
    std::thread helping([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        flag.data->store(1);
    });
    CHECK_CUDA(cudaFree(out));
    result = *back.data;
    helping.join();
    CHECK(result == 1);
}

TEST_CASE("what one kernel writes reaches another of its threads through a kernel beside it") {
    load_all();
    const auto there = zeros(), back = zeros(), data = zeros();
    const Stream one, two;
    give_around<<<1, 64, 0, one.handle>>>(as_flag(there), as_flag(back), data.data());
    pass_on<<<1, 1, 0, two.handle>>>(as_flag(there), as_flag(back));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(data.read()[0] == 42);
}

TEST_CASE("barrier, latch and semaphore of libcu++ between host and device") {
    load_all();
    const Shared<cuda::barrier<cuda::thread_scope_system>> barrier(true, 2);
    come_to<<<1, 1>>>(barrier.data, 5);
    for (int i = 0; i < 5; ++i)
        barrier.data->arrive_and_wait();
    CHECK_CUDA(cudaDeviceSynchronize());
    const Shared<cuda::latch<cuda::thread_scope_system>> latch(true, 2);
    count_down<<<1, 1>>>(latch.data);
    latch.data->arrive_and_wait();
    CHECK_CUDA(cudaDeviceSynchronize());
    const Shared<Semaphore> asked(true, 0), answered(true, 0);
    answer<<<1, 1>>>(asked.data, answered.data, 5);
    for (int i = 0; i < 5; ++i) {
        asked.data->release();
        answered.data->acquire();
    }
    CHECK_CUDA(cudaDeviceSynchronize());
}

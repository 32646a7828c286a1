// A program whose first argument says what it does; program_test.cpp runs it and looks at its output and
// status.

#include <atomic>
#include <barrier>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

int* other_file_sum(int n); // program_other.cu

namespace {

__global__ void store(int* p) { *p = 1; }
__global__ void print() { printf("thread %d of block %d\n", threadIdx.x, blockIdx.x); }

__global__ void meet_in_grid(bool all) {
    if (all || blockIdx.x == 0)
        cooperative_groups::this_grid().sync();
}

/// Frees in its destructor, which runs after main() has ended.
struct LateUser {
    int* data = nullptr;
    ~LateUser() {
        if (data)
            std::printf("late free: %s\n", cudaGetErrorName(cudaFree(data)));
    }
} late_user;

int print_lines() {
    std::puts("before");
    print<<<2, 2>>>();
    cudaDeviceSynchronize();
    std::puts("after");
    return 0;
}

int fault_and(bool ask) {
    store<<<1, 1>>>(nullptr);
    if (ask)
        std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

__global__ void copy_one(const int* in, int* out) { *out = *in; }

/// Reads memory that nobody wrote: a warning, and the program knows nothing of it.
int unwritten() {
    int* data = nullptr;
    cudaMalloc(&data, 2 * sizeof *data);
    copy_one<<<1, 1>>>(data, data + 1);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

/// Each line a warning of its own.
__global__ void copy_twelve(const volatile int* in, volatile int* out) {
    out[0] = in[0];
    out[1] = in[1];
    out[2] = in[2];
    out[3] = in[3];
    out[4] = in[4];
    out[5] = in[5];
    out[6] = in[6];
    out[7] = in[7];
    out[8] = in[8];
    out[9] = in[9];
    out[10] = in[10];
    out[11] = in[11];
}

int many_unwritten() {
    int* data = nullptr;
    cudaMalloc(&data, 24 * sizeof *data);
    copy_twelve<<<1, 1>>>(data, data + 12);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

int refused_launch() {
    store<<<1, 5000>>>(nullptr);
    return 0;
}

int plain_grid_sync() {
    meet_in_grid<<<2, 32>>>(true);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

int grid_sync_of(bool all) {
    void* arguments[]{&all};
    cudaLaunchCooperativeKernel(meet_in_grid, 2, 32, arguments);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

__global__ void wait_for(volatile int* flag) {
    while (*flag == 0) {
    }
}
__global__ void set(volatile int* flag) { *flag = 1; }
/// Each half of the threads waits at a barrier of its own for the other half.
__global__ void two_barriers() {
    if (threadIdx.x < 32)
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    else
        asm volatile("barrier.sync 2, 64;" ::: "memory");
}

/// A kernel waits for one that cannot begin before it ends.
int wait_for_later(const char* how) {
    int* flag = nullptr;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    cudaStream_t waiting = nullptr, setting = nullptr;
    cudaEvent_t between = nullptr;
    cudaEventCreate(&between);
    cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&setting, cudaStreamNonBlocking);
    if (std::strcmp(how, "default") == 0) {
        cudaStreamCreate(&setting);
        waiting = nullptr;
    } else if (std::strcmp(how, "same") == 0) {
        setting = waiting;
    }
    cudaDeviceSynchronize();
    wait_for<<<1, 1, 0, waiting>>>(flag);
    if (std::strcmp(how, "event") == 0) {
        cudaEventRecord(between, waiting);
        cudaStreamWaitEvent(setting, between, 0);
    }
    set<<<1, 1, 0, setting>>>(flag);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

/// One kernel waits for another, whose own threads wait for each other in vain.
int wait_for_stuck() {
    int* flag = nullptr;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    cudaDeviceSynchronize();
    cudaStream_t one = nullptr, two = nullptr;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    wait_for<<<1, 1, 0, one>>>(flag);
    two_barriers<<<2, 64, 0, two>>>();
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

template <int number>
__global__ void add_number(int* out, int rounds) {
    unsigned state = 1;
    for (int i = 0; i < rounds; ++i)
        state = state * 1664525u + 1013904223u;
    out[number + (state == 0)] += number;
}

template <int number>
void launch_in_own_stream(int* out) {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    add_number<number><<<1, 1, 0, stream>>>(out, (5 - number) * 20000);
}

/// Launches that add to memory which nobody has written, each shorter than the one before.
int mistakes_in_order() {
    int* out = nullptr;
    cudaMalloc(&out, 8 * sizeof *out);
    launch_in_own_stream<1>(out);
    launch_in_own_stream<2>(out);
    launch_in_own_stream<3>(out);
    launch_in_own_stream<4>(out);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

/// The host never asks, and goes.
int leave_waiting() {
    int* flag = nullptr;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    wait_for<<<1, 1>>>(flag);
    std::puts("main ends");
    return 0;
}

int unsupported_function() {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    std::puts(cudaGetErrorName(cudaMallocArray(&array, &format, 16, 16)));
    std::puts(cudaGetErrorName(cudaMallocArray(&array, &format, 16, 16)));
    return cudaGetLastError() == cudaErrorNotSupported ? 3 : 4;
}

/// Threads ask at the same time about a kernel that has an instruction which no assembler knows.
int unknown_instruction() {
    const char* const text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                             "  .reg .b32 %r<2>;\n  frobnicate.b32 %r0, %r1;\n  ret;\n}\n";
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    if (cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess ||
        cudaLibraryGetKernel(&kernel, library, "k") != cudaSuccess)
        return 1;
    constexpr int threads = 16;
    std::atomic<int> refused = 0;
    std::barrier together(threads);
    std::vector<std::jthread> asking;
    for (int i = 0; i < threads; ++i)
        asking.emplace_back([&] {
            cudaFuncAttributes attributes{};
            together.arrive_and_wait();
            refused += cudaFuncGetAttributes(&attributes, kernel) == cudaErrorNotSupported;
        });
    asking.clear();
    std::printf("%d of %d\n", refused.load(), threads);
    return 3;
}

int fork_child() {
    int* data = nullptr;
    std::puts(cudaGetErrorName(cudaMalloc(&data, 4)));
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        std::puts(cudaGetErrorName(cudaMalloc(&data, 4)));
        return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child ended with %d, parent: %s\n", status, cudaGetErrorName(cudaFree(data)));
    return 0;
}

int use_late() {
    cudaMalloc(&late_user.data, 16);
    return 0;
}

int several_files() {
    int sum = 0;
    cudaMemcpy(&sum, other_file_sum(10), sizeof sum, cudaMemcpyDeviceToHost);
    std::printf("sum %d\n", sum);
    return 0;
}

int touch_device() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count == 1 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
    if (is("print"))
        return print_lines();
    if (is("fault"))
        return fault_and(false);
    if (is("unwritten"))
        return unwritten();
    if (is("many-unwritten"))
        return many_unwritten();
    if (is("asked-fault"))
        return fault_and(true);
    if (is("refused-launch"))
        return refused_launch();
    if (is("grid-sync-plain"))
        return plain_grid_sync();
    if (is("grid-sync-some"))
        return grid_sync_of(false);
    if (is("grid-sync-all"))
        return grid_sync_of(true);
    if (is("unsupported"))
        return unsupported_function();
    if (is("unknown-instruction"))
        return unknown_instruction();
    if (is("fork"))
        return fork_child();
    if (is("late-free"))
        return use_late();
    if (is("several-files"))
        return several_files();
    if (std::strncmp(what, "later-", 6) == 0)
        return wait_for_later(what + 6);
    if (is("stuck"))
        return wait_for_stuck();
    if (is("in-order"))
        return mistakes_in_order();
    if (is("leave-waiting"))
        return leave_waiting();
    if (is("start"))
        return touch_device();
    std::fprintf(stderr, "unknown: %s\n", what);
    return 2;
}

// A program that touches memory from the host as its argument says; host_touch_test.cpp looks at how it ends.
// It ends in the same way on a GPU, where it prints nothing about it.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <initializer_list>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int count = 1024;
__device__ int counter = 41;
__constant__ float coefficients[4];
__managed__ int shared_number = 5;

__global__ void fill(int* p, int value) { p[threadIdx.x] = value; }
__global__ void triple() { shared_number *= 3; }

void require(cudaError_t error) {
    if (error == cudaSuccess)
        return;
    std::printf("%s\n", cudaGetErrorName(error));
    std::exit(9);
}
int read(const int* p) { return *static_cast<const volatile int*>(p); }
void write(int* p) { *static_cast<volatile int*>(p) = 1; }

int* device() {
    int* p = nullptr;
    require(cudaMalloc(&p, count * sizeof *p));
    require(cudaMemset(p, 0, count * sizeof *p));
    return p;
}
int* managed() {
    int* p = nullptr;
    require(cudaMallocManaged(&p, count * sizeof *p));
    return p;
}
int* page_locked() {
    int* p = nullptr;
    require(cudaMallocHost(&p, count * sizeof *p));
    return p;
}
template <class Symbol>
int* address_of(const Symbol& symbol) {
    void* p = nullptr;
    require(cudaGetSymbolAddress(&p, symbol));
    return static_cast<int*>(p);
}

// -- what ends the process

void read_device() { read(device() + 5); }
void write_device() { write(device() + 5); }
void read_variable() { read(address_of(counter)); }
void write_constant() { write(address_of(coefficients) + 1); }
void copy_device() {
    std::vector<int> values(count);
    std::memcpy(values.data(), device(), count * sizeof(int));
    std::printf("%d\n", values[7]);
}
void free_device() { std::free(device()); }
void read_pool() {
    int* p = nullptr;
    require(cudaMallocAsync(&p, 64, nullptr));
    require(cudaDeviceSynchronize());
    read(p);
}
void read_graph() {
    cudaGraph_t graph = nullptr;
    require(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location = {.type = cudaMemLocationTypeDevice, .id = 0};
    parameters.bytesize = 256;
    cudaGraphNode_t node = nullptr;
    require(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters));
    cudaGraphExec_t exec = nullptr;
    require(cudaGraphInstantiate(&exec, graph, 0));
    require(cudaGraphLaunch(exec, nullptr));
    require(cudaDeviceSynchronize());
    read(static_cast<int*>(parameters.dptr));
}
void read_freed_device() {
    int* const p = device();
    require(cudaFree(p));
    read(p + 1);
}
void read_freed_managed() {
    int* const p = managed();
    fill<<<1, count>>>(p, 1);
    require(cudaFree(p));
    read(p + 1);
}
void write_freed_page_locked() {
    int* const p = page_locked();
    require(cudaFreeHost(p));
    write(p + 2);
}
/// Also where another allocation is written by a kernel meanwhile, so that its pages are guarded.
void read_freed_beside_used() {
    int *const p = managed(), *const used = managed();
    fill<<<1, count>>>(p, 1);
    fill<<<1, count>>>(used, 1);
    require(cudaFree(p));
    fill<<<1, count>>>(used, 2);
    read(p + 1);
}
/// The kernel's guard of the pages is still there when they go. The emulator lets a stream free such memory.
void read_freed_in_stream() {
    int* const p = managed();
    fill<<<1, count>>>(p, 1);
    require(cudaFreeAsync(p, nullptr));
    require(cudaDeviceSynchronize());
    read(p + 1);
}
void read_in_host_function() {
    static int* p = device();
    require(cudaLaunchHostFunc(
        nullptr, [](void*) { read(p); }, nullptr));
    require(cudaDeviceSynchronize());
}
void read_in_thread() {
    std::thread([p = device()] { read(p); }).join();
}
void read_with_own_handler() {
    std::signal(SIGSEGV, [](int) {
        constexpr std::string_view text = "mine\n";
        _exit(::write(STDOUT_FILENO, text.data(), text.size()) == 5 ? 3 : 4);
    });
    read(device());
}
void read_null() {
    device();
    read(nullptr);
}
void send_signal() {
    device();
    kill(getpid(), SIGSEGV);
}

// -- what is right

template <class Check>
void expect(bool holds, const Check& what) {
    if (holds)
        return;
    std::printf("%s\n", what);
    std::exit(8);
}

void copy_between(int* from, int* to, const char* what) {
    std::vector<int> in(count), out(count);
    for (int i = 0; i < count; ++i)
        in[i] = 3 * i;
    constexpr std::size_t bytes = count * sizeof(int), row = 64;
    require(cudaMemset(to, 1, bytes));
    require(cudaMemcpy(from, in.data(), bytes, cudaMemcpyDefault));
    require(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    require(cudaMemcpy(out.data(), to, bytes, cudaMemcpyDefault));
    expect(in == out, what);
    require(cudaMemset2D(to, 2 * row, 0, row, bytes / row / 2));
    require(cudaMemcpy2D(to, 2 * row, from, 2 * row, row, bytes / row / 2, cudaMemcpyDefault));
    require(cudaMemcpyAsync(out.data(), to, bytes, cudaMemcpyDefault));
    require(cudaDeviceSynchronize());
    expect(in == out, what);
}

/// Every way that CUDA has for the host, and every kind of memory.
void touch_what_is_allowed() {
    int *const on_device = device(), *const in_managed = managed(), *const in_locked = page_locked();
    for (int* const from : {on_device, in_managed, in_locked})
        for (int* const to : {device(), managed(), page_locked()})
            copy_between(from, to, "a copy");
    for (int* const p : {in_managed, in_locked}) {
        std::memset(p, 0, count * sizeof *p);
        fill<<<1, count>>>(p, 7);
        require(cudaDeviceSynchronize());
        expect(read(p + count - 1) == 7, "what a kernel wrote");
        write(p);
    }
    std::vector<int> own(count, 1);
    require(cudaHostRegister(own.data(), count * sizeof(int), 0));
    fill<<<1, count>>>(own.data(), 9);
    require(cudaDeviceSynchronize());
    expect(own[3] == 9, "registered memory");
    require(cudaHostUnregister(own.data()));
    expect(shared_number == 5, "a managed variable");
    triple<<<1, 1>>>();
    require(cudaDeviceSynchronize());
    expect(shared_number == 15, "a managed variable that a kernel wrote");
    int value = 0;
    require(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    expect(value == 41, "a variable");
    require(cudaLaunchHostFunc(
        nullptr, [](void* p) { write(static_cast<int*>(p)); }, in_managed));
    require(cudaDeviceSynchronize());
    expect(read(in_managed) == 1, "a host function");
}

/// What is freed and allocated again is open, whatever was guarded before.
void allocate_again() {
    for (int i = 0; i < 3000; ++i) {
        int *const p = managed(), *const kept = i % 3 == 0 ? page_locked() : nullptr;
        if (i % 100 == 0)
            fill<<<1, count>>>(p, i);
        else
            write(p + 5);
        require(cudaFree(p));
        if (kept)
            write(kept);
    }
}

struct Case {
    const char* name;
    void (*run)();
};
constexpr Case cases[] = {{"read", read_device},
                          {"write", write_device},
                          {"variable", read_variable},
                          {"constant", write_constant},
                          {"memcpy", copy_device},
                          {"host-free", free_device},
                          {"pool", read_pool},
                          {"graph", read_graph},
                          {"freed-device", read_freed_device},
                          {"freed-managed", read_freed_managed},
                          {"freed-page-locked", write_freed_page_locked},
                          {"freed-beside-used", read_freed_beside_used},
                          {"freed-in-stream", read_freed_in_stream},
                          {"host-function", read_in_host_function},
                          {"thread", read_in_thread},
                          {"own-handler", read_with_own_handler},
                          {"null", read_null},
                          {"sent", send_signal},
                          {"allowed", touch_what_is_allowed},
                          {"again", allocate_again}};

} // namespace

int main(int argc, char** argv) {
    for (const Case& each : cases)
        if (argc > 1 && argv[1] == std::string_view(each.name)) {
            each.run();
            std::puts("goes on");
            return 0;
        }
    return 2;
}

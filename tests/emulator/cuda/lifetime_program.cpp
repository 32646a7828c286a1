// Calls every group of the CUDA API late: in destructors of global and thread-local objects, in a function of
// atexit(), at the end of a thread, in a thread that is never joined. cuda_lifetime_test.cpp runs it,
// plainly, under sanitizers and under valgrind. It needs no nvcc: what it calls it declares itself.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxPushCurrent_v2(void*);
int cuCtxPopCurrent_v2(void**);
int cuMemAlloc_v2(std::uint64_t*, std::size_t);
int cuMemFree_v2(std::uint64_t);
int cuMemcpyHtoD_v2(std::uint64_t, const void*, std::size_t);
int cuMemcpyDtoH_v2(void*, std::uint64_t, std::size_t);
int cuMemAllocAsync(std::uint64_t*, std::size_t, void*);
int cuMemFreeAsync(std::uint64_t, void*);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuStreamDestroy_v2(void*);
int cuStreamBeginCapture_v2(void*, int);
int cuStreamEndCapture(void*, void**);
int cuLaunchHostFunc(void*, void (*)(void*), void*);
int cuEventCreate(void**, unsigned);
int cuEventRecord(void*, void*);
int cuEventSynchronize(void*);
int cuStreamWaitEvent(void*, void*, unsigned);
int cuEventDestroy_v2(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleUnload(void*);
int cuLinkCreate_v2(unsigned, int*, void**, void**);
int cuLinkAddData_v2(void*, int, void*, std::size_t, const char*, unsigned, int*, void**);
int cuLinkComplete(void*, void**, std::size_t*);
int cuLinkDestroy(void*);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphLaunch(void*, void*);
int cuGraphExecDestroy(void*);
int cuGraphDestroy(void*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cudaMallocHost(void**, std::size_t);
int cudaFreeHost(void*);
int cudaDeviceSynchronize();
int cudaGetLastError();
int cudaStreamSynchronize(void*);
}

namespace {

constexpr int unloading = 4; ///< cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED: the process ends.
void* const per_thread = reinterpret_cast<void*>(2);

char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".visible .entry store(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n"
             "  ld.param.u64 %rd1, [p];\n  mov.u32 %r1, 7;\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";

/// Of the thread that calls: a group stops quietly when the process has gone too far.
struct Gone {};

void require(int error, const char* call) {
    if (error == unloading)
        throw Gone{};
    if (error == 0)
        return;
    std::fprintf(stderr, "%s: error %d\n", call, error);
    _exit(3);
}
#define CALL(function, ...) require(function(__VA_ARGS__), #function)

void enter() {
    void* context = nullptr;
    CALL(cuInit, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, 0);
    CALL(cuCtxSetCurrent, context);
    CALL(cuCtxPushCurrent_v2, context);
    CALL(cuCtxPopCurrent_v2, &context);
}

void memory() {
    std::uint64_t data = 0;
    void* host = nullptr;
    int value = 5, back = 0;
    CALL(cuMemAlloc_v2, &data, 64);
    CALL(cudaMallocHost, &host, 64);
    CALL(cuMemcpyHtoD_v2, data, &value, sizeof value);
    CALL(cuMemcpyDtoH_v2, &back, data, sizeof back);
    if (back != value)
        require(999, "copy");
    CALL(cudaFreeHost, host);
    CALL(cuMemFree_v2, data);
    CALL(cudaGetLastError);
}

void streams() {
    void* stream = nullptr;
    std::uint64_t data = 0;
    static std::atomic<int> called = 0;
    CALL(cuStreamCreate, &stream, 1);
    CALL(cuMemAllocAsync, &data, 64, stream);
    CALL(
        cuLaunchHostFunc, stream, [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, &called);
    CALL(cuMemFreeAsync, data, stream);
    CALL(cuStreamSynchronize, stream);
    CALL(cuStreamDestroy_v2, stream);
    CALL(cudaStreamSynchronize, per_thread);
    if (called == 0)
        require(999, "host function");
}

void events() {
    void *event = nullptr, *stream = nullptr;
    CALL(cuEventCreate, &event, 0);
    CALL(cuStreamCreate, &stream, 0);
    CALL(cuEventRecord, event, stream);
    CALL(cuStreamWaitEvent, per_thread, event, 0);
    CALL(cuEventSynchronize, event);
    CALL(cuStreamDestroy_v2, stream);
    CALL(cuEventDestroy_v2, event);
}

void modules() {
    void *module = nullptr, *function = nullptr;
    CALL(cuModuleLoadData, &module, ptx);
    CALL(cuModuleGetFunction, &function, module, "store");
    CALL(cuModuleUnload, module);
}

void linking() {
    void *linker = nullptr, *image = nullptr, *module = nullptr;
    std::size_t size = 0;
    CALL(cuLinkCreate_v2, 0, nullptr, nullptr, &linker);
    CALL(cuLinkAddData_v2, linker, 1, ptx, sizeof ptx, nullptr, 0, nullptr, nullptr);
    CALL(cuLinkComplete, linker, &image, &size);
    CALL(cuModuleLoadData, &module, image);
    CALL(cuLinkDestroy, linker);
    CALL(cuModuleUnload, module);
}

void launch_in(void* stream, void* function, std::uint64_t data) {
    void* arguments[]{&data};
    CALL(cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
}

void launches() {
    void *module = nullptr, *function = nullptr;
    std::uint64_t data = 0;
    int back = 0;
    CALL(cuModuleLoadData, &module, ptx);
    CALL(cuModuleGetFunction, &function, module, "store");
    CALL(cuMemAlloc_v2, &data, 64);
    launch_in(nullptr, function, data);
    launch_in(per_thread, function, data);
    CALL(cudaDeviceSynchronize);
    CALL(cuMemcpyDtoH_v2, &back, data, sizeof back);
    if (back != 7)
        require(999, "kernel");
    CALL(cuMemFree_v2, data);
    CALL(cuModuleUnload, module);
}

void graphs() {
    void *module = nullptr, *function = nullptr, *stream = nullptr, *graph = nullptr, *exec = nullptr;
    std::uint64_t data = 0;
    CALL(cuModuleLoadData, &module, ptx);
    CALL(cuModuleGetFunction, &function, module, "store");
    CALL(cuMemAlloc_v2, &data, 64);
    CALL(cuStreamCreate, &stream, 1);
    CALL(cuStreamBeginCapture_v2, stream, 2); // Relaxed: other threads allocate meanwhile.
    launch_in(stream, function, data);
    CALL(cuStreamEndCapture, stream, &graph);
    CALL(cuGraphInstantiateWithFlags, &exec, graph, 0);
    CALL(cuGraphLaunch, exec, stream);
    CALL(cuGraphLaunch, exec, stream);
    CALL(cuStreamSynchronize, stream);
    CALL(cuGraphExecDestroy, exec);
    CALL(cuGraphDestroy, graph);
    CALL(cuStreamDestroy_v2, stream);
    CALL(cuMemFree_v2, data);
}

struct Group {
    const char* name;
    void (*call)();
};
constexpr Group groups[]{
    {"memory", memory},   {"streams", streams},   {"events", events}, {"modules", modules},
    {"linking", linking}, {"launches", launches}, {"graphs", graphs},
};

/// Which of `groups`; negative: all.
int chosen_group = -1;

void use() {
    try {
        enter();
        int i = 0;
        for (const Group& each : groups)
            if (const int at = i++; chosen_group < 0 || chosen_group == at)
                each.call();
    } catch (const Gone&) {
        return; // That is an answer, too.
    }
}

enum class Place { none, global, thread_local_object, thread_local_of_main, at_exit, detached };
Place place = Place::none;

/// Was made before everything else of the program, so it goes last.
struct Global {
    ~Global() {
        if (place == Place::global)
            use();
    }
};
[[gnu::init_priority(101)]] Global first_global;

struct ThreadLocal {
    bool active = false;
    ~ThreadLocal() {
        if (active)
            use();
    }
};
thread_local ThreadLocal early, late; ///< The libraries' own would lie between them.

} // namespace

int main(int argc, char** argv) {
    const std::string where = argc > 1 ? argv[1] : "", what = argc > 2 ? argv[2] : "all";
    for (int i = 0; const Group& each : groups)
        if (const int at = i++; what == each.name)
            chosen_group = at;
    const bool used_before = argc > 3; // Else the late call is the first one.
    const auto at_thread_end = [&] {
        early.active = true;
        if (used_before)
            use();
        late.active = true;
    };
    if (where == "global") {
        place = Place::global;
    } else if (where == "thread") {
        std::thread(at_thread_end).join();
    } else if (where == "main-thread") {
        at_thread_end();
    } else if (where == "everywhere") {
        place = Place::global;
        std::thread(at_thread_end).join();
        at_thread_end();
        std::atexit(use);
    } else if (where == "atexit") {
        std::atexit(use);
    } else if (where == "detached") {
        static std::atomic<bool> begun = false;
        std::thread([] {
            for (;; begun = true)
                use();
        }).detach();
        while (!begun)
            std::this_thread::yield();
    } else {
        std::fprintf(stderr, "unknown: %s\n", where.c_str());
        return 2;
    }
    if (used_before && where != "thread" && where != "main-thread")
        use();
    std::puts("main ends");
}

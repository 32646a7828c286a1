/// \file
/// CUDA driver: advice, batches, copies between devices, and values that streams write and wait for.

#include "cuda/runtime/batch.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <atomic>

using namespace emu;
using namespace emu::cuda;
using DevicePointer = std::uint64_t;

namespace {

void* host(DevicePointer pointer) { return reinterpret_cast<void*>(pointer); }
void** host(DevicePointer* pointers) { return reinterpret_cast<void**>(pointers); }

/// CUstreamWaitValue_flags, without the bit that asks for a flush.
enum WaitFlags : unsigned {
    wait_greater_equal = 0,
    wait_equal = 1,
    wait_and = 2,
    wait_nor = 3,
    wait_flush = 1u << 30
};

template <class Word>
bool holds(Word memory, Word value, unsigned how) {
    switch (how) {
    case wait_greater_equal: // A cyclic comparison.
        return static_cast<std::make_signed_t<Word>>(memory - value) >= 0;
    case wait_equal:
        return memory == value;
    case wait_and:
        return (memory & value) != 0;
    default:
        return static_cast<Word>(~(memory | value)) != 0;
    }
}

/// The word at `address` if kernels may reach it. Throws ApiError.
template <class Word>
std::atomic_ref<Word> word_at(State& state, void* stream, DevicePointer address) {
    if (state.streams().stream(stream).capture)
        throw ApiError(Error::capture_unsupported);
    const auto found = state.device().memory().find(address);
    if (!found || address % sizeof(Word) != 0 || found->base + found->size - address < sizeof(Word))
        throw ApiError(Error::invalid_value);
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(address));
}

template <class Word>
Error write_value(const char* function, void* stream, DevicePointer address, Word value, unsigned flags) {
    return context_call(function, [&](State& state) {
        if (flags > 1)
            return Error::invalid_value;
        const auto word = word_at<Word>(state, stream, address);
        const auto task = std::make_shared<Task>(QuickWork([word, value] {
            word.store(value);
            return Error::success;
        }));
        task->facts.tells_host = true;
        return state.streams().submit_task(state, stream, task);
    });
}

template <class Word>
Error wait_value(const char* function, void* stream, DevicePointer address, Word value, unsigned flags) {
    return context_call(function, [&](State& state) {
        const unsigned how = flags & ~wait_flush;
        if (how > wait_nor)
            return Error::invalid_value;
        const auto word = word_at<Word>(state, stream, address);
        const auto task =
            std::make_shared<Task>(PollWork{[word, value, how] { return holds(word.load(), value, how); }});
        task->facts.unsure = true;
        return state.streams().submit_task(state, stream, task);
    });
}

} // namespace

extern "C" {

Error cuMemAdvise(DevicePointer pointer, std::size_t count, int advice, int device) {
    return forward(cudaMemAdvise, host(pointer), count, advice, abi::location_of(device));
}
Error cuMemPrefetchAsync(DevicePointer pointer, std::size_t count, int device, void* stream) {
    return forward(cudaMemPrefetchAsync, host(pointer), count, abi::location_of(device), 0u, stream);
}
Error cuMemRangeGetAttribute(void* data, std::size_t size, int attribute, DevicePointer pointer,
                             std::size_t count) {
    return forward(cudaMemRangeGetAttribute, data, size, attribute, host(pointer), count);
}
Error cuMemRangeGetAttributes(void** data, std::size_t* sizes, int* attributes, std::size_t attribute_count,
                              DevicePointer pointer, std::size_t count) {
    return forward(cudaMemRangeGetAttributes, data, sizes, attributes, attribute_count, host(pointer), count);
}
Error cuMemcpyBatchAsync_v2(DevicePointer* to, DevicePointer* from, std::size_t* sizes, std::size_t count,
                            const void* attributes, const std::size_t* indices, std::size_t attribute_count,
                            void* stream) {
    return forward(cudaMemcpyBatchAsync, host(to), host(from), sizes, count, attributes, indices,
                   attribute_count, stream);
}
Error cuMemcpy3DBatchAsync_v2(std::size_t count, const abi::BatchCopy3D* copies, unsigned long long flags,
                              void* stream) {
    return forward(cudaMemcpy3DBatchAsync, count, copies, flags, stream);
}
Error cuMemPrefetchBatchAsync(DevicePointer* pointers, std::size_t* sizes, std::size_t count,
                              const abi::MemoryLocation* locations, const std::size_t* indices,
                              std::size_t location_count, unsigned long long flags, void* stream) {
    return forward(cudaMemPrefetchBatchAsync, host(pointers), sizes, count, locations, indices,
                   location_count, flags, stream);
}
Error cuMemDiscardBatchAsync(DevicePointer* pointers, std::size_t* sizes, std::size_t count,
                             unsigned long long flags, void* stream) {
    return forward(cudaMemDiscardBatchAsync, host(pointers), sizes, count, flags, stream);
}
Error cuMemDiscardAndPrefetchBatchAsync(DevicePointer* pointers, std::size_t* sizes, std::size_t count,
                                        const abi::MemoryLocation* locations, const std::size_t* indices,
                                        std::size_t location_count, unsigned long long flags, void* stream) {
    return forward(cudaMemDiscardAndPrefetchBatchAsync, host(pointers), sizes, count, locations, indices,
                   location_count, flags, stream);
}
/// All contexts are of the one device.
Error cuMemcpyPeer(DevicePointer to, void*, DevicePointer from, void*, std::size_t count) {
    return forward(cudaMemcpyPeer, host(to), 0, static_cast<const void*>(host(from)), 0, count);
}
Error cuMemcpyPeerAsync(DevicePointer to, void*, DevicePointer from, void*, std::size_t count, void* stream) {
    return forward(cudaMemcpyPeerAsync, host(to), 0, static_cast<const void*>(host(from)), 0, count, stream);
}

Error cuStreamWriteValue32_v2(void* stream, DevicePointer address, std::uint32_t value, unsigned flags) {
    return write_value(__func__, stream, address, value, flags);
}
Error cuStreamWriteValue64_v2(void* stream, DevicePointer address, std::uint64_t value, unsigned flags) {
    return write_value(__func__, stream, address, value, flags);
}
Error cuStreamWaitValue32_v2(void* stream, DevicePointer address, std::uint32_t value, unsigned flags) {
    return wait_value(__func__, stream, address, value, flags);
}
Error cuStreamWaitValue64_v2(void* stream, DevicePointer address, std::uint64_t value, unsigned flags) {
    return wait_value(__func__, stream, address, value, flags);
}

} // extern "C"

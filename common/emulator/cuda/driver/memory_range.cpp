/// \file
/// CUDA driver: advice, batches, copies between devices, and values that streams write and wait for.

#include "cuda/driver/device_pointer.hpp"
#include "cuda/memory.hpp"
#include "cuda/runtime/batch.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

using namespace emu;
using namespace emu::cuda;

namespace {

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
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(bytes_of(state, host(address))));
}

// What is wrong with an operation is thrown as ApiError before any of it is done.

template <class Word>
std::shared_ptr<Task> write_value(State& state, void* stream, DevicePointer address, Word value,
                                  unsigned flags) {
    if (flags > 1)
        throw ApiError(Error::invalid_value);
    const auto word = word_at<Word>(state, stream, address);
    const auto task = std::make_shared<Task>(QuickWork([word, value] {
        word.store(value);
        return Error::success;
    }));
    task->facts.tells_host = true;
    return task;
}

template <class Word>
std::shared_ptr<Task> wait_value(State& state, void* stream, DevicePointer address, Word value,
                                 unsigned flags) {
    const unsigned how = flags & ~wait_flush;
    if (how > wait_nor)
        throw ApiError(Error::invalid_value);
    const auto word = word_at<Word>(state, stream, address);
    const auto task =
        std::make_shared<Task>(PollWork{[word, value, how] { return holds(word.load(), value, how); }});
    task->facts.unsure = true;
    return task;
}

/// CUstreamBatchMemOpParams: what cuStreamWaitValue and cuStreamWriteValue take, and two kinds that have
/// flags only.
struct BatchMemOp {
    /// CUstreamBatchMemOpType
    enum class Kind : unsigned {
        wait_32 = 1,
        write_32 = 2,
        flush = 3,
        wait_64 = 4,
        write_64 = 5,
        barrier = 6
    };
    Kind kind;
    unsigned flags_alone; ///< Of a barrier and of a flush.
    DevicePointer address;
    std::uint64_t value; ///< Of 32 bits: the lower half.
    unsigned flags;
    std::uint64_t unused[2];
};
static_assert(sizeof(BatchMemOp) == 48);

/// The task of one operation of a batch; none for what a stream does anyway.
std::shared_ptr<Task> batch_task(State& state, void* stream, const BatchMemOp& op) {
    using Kind = BatchMemOp::Kind;
    const auto low = static_cast<std::uint32_t>(op.value);
    switch (op.kind) {
    case Kind::wait_32:
        return wait_value(state, stream, op.address, low, op.flags);
    case Kind::wait_64:
        return wait_value(state, stream, op.address, op.value, op.flags);
    case Kind::write_32:
        return write_value(state, stream, op.address, low, op.flags);
    case Kind::write_64:
        return write_value(state, stream, op.address, op.value, op.flags);
    case Kind::barrier: // For the whole system, or for the GPU.
        if (op.flags_alone <= 1)
            return nullptr;
        break;
    case Kind::flush:
        if (op.flags_alone == 0)
            return nullptr;
        break;
    }
    throw ApiError(Error::invalid_value);
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
    return context_call(__func__, [&](State& state) {
        return state.streams().submit_task(state, stream, write_value(state, stream, address, value, flags));
    });
}
Error cuStreamWriteValue64_v2(void* stream, DevicePointer address, std::uint64_t value, unsigned flags) {
    return context_call(__func__, [&](State& state) {
        return state.streams().submit_task(state, stream, write_value(state, stream, address, value, flags));
    });
}
Error cuStreamWaitValue32_v2(void* stream, DevicePointer address, std::uint32_t value, unsigned flags) {
    return context_call(__func__, [&](State& state) {
        return state.streams().submit_task(state, stream, wait_value(state, stream, address, value, flags));
    });
}
Error cuStreamWaitValue64_v2(void* stream, DevicePointer address, std::uint64_t value, unsigned flags) {
    return context_call(__func__, [&](State& state) {
        return state.streams().submit_task(state, stream, wait_value(state, stream, address, value, flags));
    });
}
/// All of them are looked at before the first one is put into the stream.
Error cuStreamBatchMemOp_v2(void* stream, unsigned count, const BatchMemOp* operations, unsigned flags) {
    return context_call(__func__, [&](State& state) {
        constexpr unsigned too_many = 256;
        if (count >= too_many || flags != 0 || (count && !operations))
            return Error::invalid_value;
        std::vector<std::shared_ptr<Task>> tasks;
        for (const BatchMemOp& op : std::span(operations, count))
            if (auto task = batch_task(state, stream, op))
                tasks.push_back(std::move(task));
        for (const auto& task : tasks)
            if (const Error error = state.streams().submit_task(state, stream, task); error != Error::success)
                return error;
        return Error::success;
    });
}

} // extern "C"

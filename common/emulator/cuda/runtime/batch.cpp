/// \file
/// CUDA runtime: many copies or prefetches in one call.

#include "cuda/advice.hpp"
#include "cuda/copy.hpp"
#include "cuda/memory.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

using namespace emu::cuda;

namespace {

/// The legacy stream takes no batches.
Error check_stream(State& state, void* stream) {
    if (reinterpret_cast<std::uintptr_t>(stream) <= 1)
        return Error::invalid_value;
    static_cast<void>(state.streams().stream(stream)); // Throws for a wrong handle.
    return Error::success;
}

/// Attributes or places come with the index of the first operation each is for: 0 first, then rising.
bool valid_indices(const std::size_t* indices, std::size_t count, std::size_t operations) {
    if (!indices || count == 0 || count > operations || indices[0] != 0)
        return false;
    for (std::size_t i = 1; i < count; ++i)
        if (indices[i] <= indices[i - 1] || indices[i] >= operations)
            return false;
    return true;
}

Error check_managed_ranges(State& state, void* const* pointers, const std::size_t* sizes, std::size_t count,
                           unsigned long long flags, void* stream) {
    if (!pointers || !sizes || count == 0 || flags != 0)
        return Error::invalid_value;
    for (std::size_t i = 0; i < count; ++i)
        if (sizes[i] == 0 || check_managed(state, pointers[i], sizes[i]) != Error::success)
            return Error::invalid_value;
    return check_stream(state, stream);
}

/// An operand of cudaMemcpy3DBatchAsync; lengths of 0 mean those of the extent.
abi::PitchedPointer pitched(const abi::Operand3D& operand, const abi::Extent& extent) {
    constexpr int pointer = 1;
    if (operand.type != pointer)
        throw ApiError(Error::not_supported, "CUDA arrays are not supported");
    const std::size_t row = operand.row_length ? operand.row_length : extent.width;
    const std::size_t height = operand.layer_height ? operand.layer_height : extent.height;
    return {operand.pointer, row, row, height};
}

} // namespace

extern "C" {

Error cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                           std::size_t count, const void* attributes, const std::size_t* indices,
                           std::size_t attribute_count, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        if (!to || !from || !sizes || count == 0 || !attributes ||
            !valid_indices(indices, attribute_count, count))
            return Error::invalid_value;
        if (const Error error = check_stream(state, stream); error != Error::success)
            return error;
        for (std::size_t i = 0; i < count; ++i) {
            if (sizes[i] == 0)
                return Error::invalid_value;
            const auto copy =
                rows(to[i], sizes[i], from[i], sizes[i], sizes[i], 1, abi::CopyKind::by_address);
            if (const Error error = asynchronous(state, stream, copy); error != Error::success)
                return error;
        }
        return Error::success;
    });
}
Error cudaMemcpy3DBatchAsync(std::size_t count, const abi::BatchCopy3D* copies, unsigned long long flags,
                             void* stream) {
    return runtime_call(__func__, [&](State& state) {
        if (!copies || count == 0 || flags != 0)
            return Error::invalid_value;
        if (const Error error = check_stream(state, stream); error != Error::success)
            return error;
        for (std::size_t i = 0; i < count; ++i) {
            const abi::Extent extent = copies[i].extent;
            if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
                return Error::invalid_value;
            abi::Copy3D copy{};
            copy.source = pitched(copies[i].source, extent);
            copy.destination = pitched(copies[i].destination, extent);
            copy.extent = extent;
            copy.kind = abi::CopyKind::by_address;
            if (const Error error = asynchronous(state, stream, box(&copy)); error != Error::success)
                return error;
        }
        return Error::success;
    });
}

Error cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                const abi::MemoryLocation* locations, const std::size_t* indices,
                                std::size_t location_count, unsigned long long flags, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        if (!locations || !valid_indices(indices, location_count, count))
            return Error::invalid_value;
        if (const Error error = check_managed_ranges(state, pointers, sizes, count, flags, stream);
            error != Error::success)
            return error;
        std::size_t where = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (where + 1 < location_count && indices[where + 1] == i)
                ++where;
            if (const Error error = prefetch(state, pointers[i], sizes[i], locations[where]);
                error != Error::success)
                return error;
        }
        return Error::success;
    });
}
/// What is discarded has no defined contents; here it keeps those it had.
Error cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                               unsigned long long flags, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        return check_managed_ranges(state, pointers, sizes, count, flags, stream);
    });
}
Error cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                          const abi::MemoryLocation* locations, const std::size_t* indices,
                                          std::size_t location_count, unsigned long long flags,
                                          void* stream) {
    return cudaMemPrefetchBatchAsync(pointers, sizes, count, locations, indices, location_count, flags,
                                     stream);
}

} // extern "C"

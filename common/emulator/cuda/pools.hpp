#pragma once
/// \file
/// Memory pools (stream-ordered allocator).

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace emu::cuda {

class State;

struct Pool {
    std::map<int, int> switches;         ///< The three reuse policies; on unless set.
    std::uint64_t release_threshold = 0; ///< Bytes; kept for the query.
};

class Pools {
  public:
    static Pools& get();
    Pool* default_pool() { return &default_; }
    Pool* current();
    void make_current(void* pool);
    Pool* create();
    void destroy(void* pool);
    /// Throws ApiError(invalid_value).
    Pool& find(void* pool);

  private:
    std::mutex mutex_;
    Pool default_;
    Pool* current_ = &default_;
    std::map<const void*, std::unique_ptr<Pool>> pools_;
};

Error set_attribute(Pool& pool, abi::PoolAttribute attribute, const void* value);
/// `in_use`: bytes of device memory, which every pool shares.
Error get_attribute(Pool& pool, abi::PoolAttribute attribute, void* value, std::uint64_t in_use);

/// cudaMallocAsync, cudaFreeAsync. While the stream is captured they become nodes.
Error allocate_in_stream(State& state, void** pointer, std::size_t size, void* stream);
Error free_in_stream(State& state, void* pointer, void* stream);

} // namespace emu::cuda

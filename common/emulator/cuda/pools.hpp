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
    std::uint64_t release_threshold = 0; ///< Bytes.
    // Bytes. What is reserved beyond what is used exists in these numbers alone: memory goes back to the
    // device at once.
    std::uint64_t used = 0, used_high = 0;
    std::uint64_t reserved = 0, reserved_high = 0;
    int access = 3; ///< cudaMemAccessFlags of the device: read and write.

    void grow(std::uint64_t bytes);
    void shrink(std::uint64_t bytes);
    void trim(std::uint64_t keep);
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
    /// Counts memory that came from a pool, and that went again.
    void note(const void* pointer, std::uint64_t size, Pool& pool);
    void forget(const void* pointer);
    bool has(const void* pointer);

  private:
    struct Piece {
        Pool* pool;
        std::uint64_t size;
    };
    std::mutex mutex_;
    Pool default_;
    Pool* current_ = &default_;
    std::map<const void*, std::unique_ptr<Pool>> pools_;
    std::map<const void*, Piece> pieces_;
};

Error set_attribute(Pool& pool, abi::PoolAttribute attribute, const void* value);
Error get_attribute(Pool& pool, abi::PoolAttribute attribute, void* value);

/// cudaMallocAsync, cudaFreeAsync. While the stream is captured they become nodes.
Error allocate_in_stream(State& state, void** pointer, std::size_t size, Pool& pool, void* stream);
Error free_in_stream(State& state, void* pointer, void* stream);

} // namespace emu::cuda

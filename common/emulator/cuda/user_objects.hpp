#pragma once
/// \file
/// User objects: data of the program whose life a graph can prolong (CUDA runtime API, "Graph Management").

#include "cuda/abi.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace emu::cuda {

struct UserObject {
    void* data = nullptr;
    abi::HostFunction destroy = nullptr;
    std::uint64_t references = 0;
};

/// All live user objects. Thread-safe. An object whose last reference goes is destroyed at once, by the
/// thread that gave the reference back.
class UserObjects {
  public:
    static UserObjects& get();
    UserObject* create(void* data, abi::HostFunction destroy, unsigned references);
    /// Both throw ApiError(invalid_value) for what is no live object or not so often referenced.
    void retain(const void* object, std::uint64_t count);
    void release(const void* object, std::uint64_t count);

  private:
    std::mutex mutex_;
    std::map<const void*, std::unique_ptr<UserObject>> live_;
};

/// The references that one graph holds.
class ObjectReferences {
  public:
    ObjectReferences() = default;
    ObjectReferences(const ObjectReferences& other);
    ObjectReferences& operator=(const ObjectReferences& other);
    ~ObjectReferences();

    /// Takes over references that were counted already.
    void adopt(const void* object, std::uint64_t count) { held_[object] += count; }
    /// Throws ApiError(invalid_value) if the graph holds fewer.
    void release(const void* object, std::uint64_t count);

  private:
    void drop() noexcept;

    std::map<const void*, std::uint64_t> held_;
};

} // namespace emu::cuda

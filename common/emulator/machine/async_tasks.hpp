#pragma once
/// \file
/// The asynchronous operations that move contiguous bytes: cp.async, cp.async.bulk, cp.reduce.async.bulk,
/// st.async and red.async. Tensor copies are in tensor_copy.hpp.

#include "machine/async.hpp"
#include "machine/instructions/async_operands.hpp"
#include "machine/instructions/reduction.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace emu {

/// A new operation of the thread at `place`.
AsyncOperation make_operation(const Place& place, AsyncKind kind, CompletionKind completion);

/// One end of a copy. Its bytes are looked up when they move.
struct CopyEnd {
    bool global = false;
    Address address = 0; ///< Global address, or shared-window address.

    std::byte* bytes(Cluster& cluster, std::uint32_t count) const {
        return global ? cluster.memory().bytes(address)
                      : cluster.shared_bytes(static_cast<std::uint32_t>(address), count);
    }
};

/// cp.async: up to 16 bytes from global to shared memory; bytes beyond `source_bytes` become zero.
class CopyTask final : public AsyncTask {
  public:
    Address source = 0;
    std::uint32_t destination = 0; ///< Shared-window address.
    std::uint8_t bytes = 0;
    std::uint8_t source_bytes = 0;

    void read(Cluster& cluster) override;
    void write(Cluster& cluster) override;

  private:
    std::array<std::byte, 16> buffer_{};
};

/// cp.async.bulk and cp.reduce.async.bulk.
class BulkTask final : public AsyncTask {
  public:
    CopyEnd source;
    CopyEnd destination;
    std::uint32_t bytes = 0;
    std::optional<Reduction> reduction; ///< Combined with what the destination holds; absent for a copy.

    void read(Cluster& cluster) override;
    void write(Cluster& cluster) override;

  private:
    std::vector<std::byte> buffer_;
};

/// st.async and red.async: the value is in the instruction's registers, so that nothing is left to read.
class StoreTask final : public AsyncTask {
  public:
    std::uint32_t destination = 0; ///< Shared-window address.
    std::uint8_t bytes = 0; ///< At most 32: v4 of 64 bits is not a form, v4 of 32 and v2 of 64 bits are.
    std::array<std::byte, 16> value{};
    std::optional<Reduction> reduction;

    void read(Cluster&) override {}
    void write(Cluster& cluster) override;
};

/// cp.async.mbarrier.arrive: the engine lands the copies before it; only the arrival is left.
class ArriveTask final : public AsyncTask {
  public:
    void read(Cluster&) override {}
    void write(Cluster&) override {}
};

} // namespace emu

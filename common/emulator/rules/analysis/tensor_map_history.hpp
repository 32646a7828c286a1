#pragma once
/// \file
/// Tensor maps in global memory, which the TMA reads through the tensormap proxy: who changed one, and who
/// has acquired the change (PTX ISA 9.7.13.4, fence.proxy.tensormap; CUDA programming guide, tensor memory
/// access).

#include "happens_before/launch_state.hpp"
#include "happens_before/threads.hpp"
#include "hopper_emulator/findings.hpp"
#include "machine/cluster.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>

namespace emu::check {

/// Not a parameter and not in constant memory: where it can change while copies use it.
bool is_map_in_global_memory(const Cluster& cluster, Address map);

/// What earlier launches of the device did with the maps at each address.
class TensorMapHistory final : public DeviceState::Kept {
  public:
    static constexpr std::size_t map_bytes = 128;
    using Bytes = std::array<std::byte, map_bytes>;

    /// Why a block must acquire the map before it uses it.
    struct Stale {
        bool by_kernel = false; ///< An earlier launch changed it; else something did after a launch used it.
        SourceLine line;        ///< Of the change, if by a kernel.
    };

    /// An instruction of this launch has changed the map at `map`, which holds `bytes` now.
    void changed(Address map, std::span<const std::byte> bytes, SourceLine line);
    /// A copy of this launch uses the map, which holds `bytes` now.
    std::optional<Stale> use(Address map, std::span<const std::byte> bytes);
    void end_launches() override;

  private:
    struct Entry {
        std::optional<Bytes> used_before,
            used_now;                          ///< What copies of earlier launches and of this one found.
        std::optional<SourceLine> changed;     ///< By an earlier launch; the last change left `left`.
        std::optional<SourceLine> changed_now; ///< By this one.
        Bytes left{};
    };

    std::mutex mutex_;
    std::map<Address, Entry> entries_;
};

/// The fences of the tensormap proxy in one cluster.
class TensorMapFences {
  public:
    struct Fence {
        std::uint32_t cluster = 0;
        Component first = 0; ///< Of lane 0 of the thread's warp,
        unsigned lane = 0;   ///< of which this is the thread.
        Epoch epoch = 0;
        ClockRef knowledge; ///< Empty for those of other clusters.
        unsigned rank = 0;
        Scope scope = Scope::cta;
        Address map = 0; ///< Of an acquire.

        /// Whether the thread knew of the access when it executed the fence.
        bool knows(std::uint32_t in_cluster, Component component, Epoch epoch_of_access) const;
    };

    void add_acquire(Fence fence) { add(acquires_, std::move(fence)); }
    void add_release(Fence fence) { add(releases_, std::move(fence)); }
    std::span<const Fence> acquires() const { return acquires_; }
    std::span<const Fence> releases() const { return releases_; }

  private:
    static constexpr std::size_t kept = 4; ///< The last so many of each thread (and map).
    static void add(std::vector<Fence>& fences, Fence fence);

    std::vector<Fence> acquires_, releases_;
};

/// Releases of all clusters of a launch; without what they knew.
class TensorMapReleases {
  public:
    void add(const TensorMapFences::Fence& fence);
    std::vector<TensorMapFences::Fence> of(std::uint32_t cluster) const;

  private:
    mutable std::mutex mutex_;
    std::map<std::uint32_t, TensorMapFences> by_cluster_;
};

} // namespace emu::check

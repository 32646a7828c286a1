#pragma once
/// \file
/// mbarrier objects (PTX ISA 9.7.13.15). Their state lives beside shared memory, keyed by address, so that a
/// stray store into the 8 bytes cannot corrupt it unnoticed.

#include "machine/mbarrier_history.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace emu {

/// Greatest arrival count, and greatest absolute tx-count, of an mbarrier (PTX ISA 9.7.13.15.2).
inline constexpr std::uint32_t mbarrier_max_count = (1u << 20) - 1;

/// State of one mbarrier object.
struct Mbarrier {
    std::uint32_t expected = 0; ///< Arrivals of the next phase.
    std::uint32_t pending = 0;  ///< Arrivals still missing in this phase.
    std::int64_t tx = 0;        ///< Bytes still missing; negative when completed before they were expected.
    /// Bytes of this phase: announced by expect_tx, and landed. Their difference is `tx`.
    std::int64_t expected_bytes = 0, arrived_bytes = 0;
    std::uint64_t phase = 0; ///< Phases completed since init.
    std::uint32_t init_pc = 0;
    std::vector<std::uint32_t> init_calls; ///< The calls that led there, innermost first.
    /// A cp.async.mbarrier.arrive without .noinc has raised `pending` for its own arrival in this phase.
    bool raised = false;
    MbarrierHistory history;
    /// Who executed mbarrier.inval. The state stays: hardware lets threads finish that use the object at the
    /// same time.
    struct Invalidation {
        std::uint32_t thread = 0; ///< Of the barrier's block.
        std::uint32_t pc = 0;
        std::uint64_t barriers = 0; ///< Barriers of the block that had ended before.
    };
    std::optional<Invalidation> invalidated;

    bool complete() const { return pending == 0 && tx == 0; }
    /// Nothing has happened in the current phase yet.
    bool at_rest() const { return pending == expected && tx == 0; }
    /// Whether the phase that a wait with this parity means has completed. The object keeps one bit of its
    /// phase number, so a fresh barrier (phase 0) passes a wait for parity 1 at once.
    bool parity_complete(std::uint32_t parity) const { return (phase & 1) != (parity & 1); }
};

/// The mbarrier objects of one block, by offset in its shared memory.
class MbarrierTable {
  public:
    Mbarrier* find(std::uint32_t offset) {
        auto it = objects_.find(offset);
        return it == objects_.end() ? nullptr : &it->second;
    }
    Mbarrier& create(std::uint32_t offset);
    auto begin() { return objects_.begin(); }
    auto end() { return objects_.end(); }

  private:
    std::unordered_map<std::uint32_t, Mbarrier> objects_;
};

/// The 64-bit state token an arrive returns: phase number and pending count before the arrival, for test_wait
/// and pending_count.
constexpr std::uint64_t make_token(std::uint64_t phase, std::uint32_t pending) {
    return (phase << 20) | (pending & 0xfffffu);
}
constexpr std::uint64_t token_phase(std::uint64_t token) { return token >> 20; }
constexpr std::uint32_t token_pending(std::uint64_t token) { return token & 0xfffffu; }

} // namespace emu

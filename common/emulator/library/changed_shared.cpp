#include "hopper_emulator/changed_shared.hpp"

#include "machine/block.hpp"
#include "machine/cluster.hpp"
#include "machine/events.hpp"
#include "machine/warp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace emu {
namespace {

/// Odd: a byte is what it was only after 256 changes.
constexpr unsigned step = 37;

class Changer final : public ClusterListener {
  public:
    void on_block_start(Block& block) override { blocks_[block.rank()] = {&block, {}}; }
    void on_block_exit(Block& block) override { blocks_.erase(block.rank()); }

    void on_access(const AccessEvent& event) override {
        if (event.space == ptx::Space::shared && event.kind == AccessKind::write)
            for_lanes(event.mask, [&](unsigned lane) {
                mark(static_cast<std::uint32_t>(event.addresses[lane]), event.bytes);
            });
    }
    void on_async_landed(const AsyncOperation& operation) override {
        if (operation.writes_shared)
            for (const AsyncPiece& piece : operation.pieces)
                mark(piece.shared, piece.bytes);
    }

    void on_barrier_complete(BarrierKind kind, unsigned, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes>) override {
        if (kind == BarrierKind::block && !arrived.empty())
            change(arrived.front().warp->block().rank());
    }
    void on_mbarrier_phase(const MbarrierEvent& event) override { change(shared_rank(event.address)); }

  private:
    struct Filled {
        Block* block = nullptr;
        std::vector<bool> bytes; ///< By offset: holds what a thread or a copy put there.
    };

    void mark(std::uint32_t address, std::uint32_t bytes) {
        const auto found = blocks_.find(shared_rank(address));
        if (found == blocks_.end())
            return;
        std::vector<bool>& filled = found->second.bytes;
        const std::uint32_t first = shared_offset(address);
        if (filled.size() < first + bytes)
            filled.resize(first + bytes);
        std::fill_n(filled.begin() + first, bytes, true);
    }

    void change(std::uint32_t rank) {
        const auto found = blocks_.find(rank);
        if (found == blocks_.end())
            return;
        const std::span<std::byte> shared = found->second.block->shared();
        for (std::size_t i = 0; i < std::min(found->second.bytes.size(), shared.size()); ++i)
            if (found->second.bytes[i])
                shared[i] = static_cast<std::byte>(std::to_integer<unsigned>(shared[i]) + step);
    }

    std::map<std::uint32_t, Filled> blocks_; ///< By rank in the cluster.
};

class ChangerOfEach final : public Observer {
  public:
    std::unique_ptr<ClusterListener> listen(Cluster&) override { return std::make_unique<Changer>(); }
};

} // namespace

bool asks_for_changed_shared() {
    const char* const value = std::getenv("EMULATOR_CHANGE_SHARED");
    const std::string text = value == nullptr ? "" : value;
    if (!text.empty() && text != "0" && text != "1")
        throw std::runtime_error("EMULATOR_CHANGE_SHARED must be 0 or 1, not '" + text + "'");
    return text == "1";
}

std::unique_ptr<Observer> make_shared_changer() { return std::make_unique<ChangerOfEach>(); }

} // namespace emu

#include "hopper_emulator/counters.hpp"

#include "machine/cluster.hpp"

#include <algorithm>
#include <bit>

namespace emu {
namespace {

constexpr unsigned banks = 32;

Counter bytes_of(AsyncKind kind) {
    switch (kind) {
    case AsyncKind::cp_async:
        return Counter::bytes_cp_async;
    case AsyncKind::bulk_load:
        return Counter::bytes_bulk_load;
    case AsyncKind::bulk_store:
        return Counter::bytes_bulk_store;
    case AsyncKind::bulk_shared:
        return Counter::bytes_bulk_shared;
    case AsyncKind::bulk_reduce:
        return Counter::bytes_bulk_reduce;
    case AsyncKind::tensor_load:
        return Counter::bytes_tensor_load;
    case AsyncKind::tensor_store:
        return Counter::bytes_tensor_store;
    case AsyncKind::tensor_reduce:
        return Counter::bytes_tensor_reduce;
    default:
        return Counter::bytes_st_async;
    }
}

/// Passes for the lanes of one part of the warp: the most distinct words in one bank.
unsigned passes(std::span<const Address> addresses, LaneMask lanes, unsigned bytes) {
    std::array<std::uint64_t, 64> words;
    unsigned count = 0;
    for_lanes(lanes, [&](unsigned lane) {
        const std::uint64_t first = addresses[lane] / 4;
        const std::uint64_t last = (addresses[lane] + bytes - 1) / 4;
        for (std::uint64_t word = first; word <= last && count < words.size(); ++word)
            words[count++] = word;
    });
    std::sort(words.begin(), words.begin() + count);
    const auto end = std::unique(words.begin(), words.begin() + count);
    std::array<unsigned, banks> load{};
    unsigned most = 0;
    for (auto word = words.begin(); word != end; ++word)
        most = std::max(most, ++load[*word % banks]);
    return most;
}

/// Counts one cluster, by instruction.
class ClusterCounters final : public ClusterListener {
  public:
    ClusterCounters(Counters& owner, Cluster& cluster)
        : owner_(owner), serial_(cluster.info().serial), counts_(cluster.info().kernel->code.size()),
          used_(counts_.size()) {}
    ~ClusterCounters() override {
        flush_cp_async();
        std::vector<std::pair<std::uint32_t, Counts>> list;
        for (std::uint32_t pc = 0; pc < counts_.size(); ++pc)
            if (used_[pc])
                list.emplace_back(pc, counts_[pc]);
        owner_.add(serial_, list);
    }

    void on_instruction(Warp&, std::uint32_t pc, LaneMask lanes) override {
        if (cp_async_lanes_)
            flush_cp_async();
        Counts& c = at(pc);
        ++c[Counter::warp_instructions];
        c[Counter::thread_instructions] += static_cast<unsigned>(std::popcount(lanes));
    }
    void on_access(const AccessEvent& e) override {
        if (e.space == ptx::Space::global)
            global_access(e);
        else if (e.space == ptx::Space::shared)
            shared_access(e);
        else if (e.space == ptx::Space::local)
            ++at(e.pc)[Counter::local_requests];
    }
    void on_async_issue(const AsyncOperation& operation) override {
        if (operation.kind == AsyncKind::prefetch || operation.kind == AsyncKind::cp_async_arrive)
            return;
        Counts& c = at(operation.pc);
        ++c[Counter::async_operations];
        // The source of a multicast is read by the operation for the lowest rank.
        const bool read_before =
            operation.multicast != 0 &&
            static_cast<int>(shared_rank(operation.barrier)) != std::countr_zero(operation.multicast);
        if (operation.kind == AsyncKind::tensor_load)
            c[Counter::tensor_load_sectors] += operation.sectors;
        else if (operation.kind == AsyncKind::tensor_store)
            c[Counter::tensor_store_sectors] += operation.sectors;
        for (const AsyncPiece& piece : operation.pieces) {
            c[bytes_of(operation.kind)] += piece.bytes;
            if (operation.kind == AsyncKind::cp_async && !piece.global)
                c[Counter::bytes_cp_async_zeros] += piece.bytes;
            if (read_before)
                c[Counter::bytes_multicast] += piece.bytes;
        }
        if (operation.kind == AsyncKind::cp_async)
            add_cp_async(operation);
    }
    void on_barrier_complete(BarrierKind kind, unsigned, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes>) override {
        if (arrived.empty() || kind == BarrierKind::warp)
            return;
        // At the first instruction in program order, so that the order of arrival does not matter.
        const auto first = std::ranges::min_element(arrived, {}, &WarpLanes::pc);
        ++at(first->pc)[kind == BarrierKind::block ? Counter::block_barriers : Counter::cluster_barriers];
    }
    void on_mbarrier_arrive(const MbarrierEvent& e) override {
        // An arrival of cp.async without .noinc takes back the one by which it raised the pending count.
        const bool balanced =
            e.operation && !e.operation->warp->cluster().info().kernel->sources[e.pc]->has("noinc");
        if (e.count && !balanced)
            at(e.pc)[Counter::mbarrier_arrivals] += e.count;
    }
    void on_mbarrier_init(const MbarrierEvent& e) override { init_pc_[e.address] = e.pc; }
    void on_mbarrier_phase(const MbarrierEvent& e) override {
        // Who completes a phase depends on the order; the barrier does not.
        const auto init = init_pc_.find(e.address);
        ++at(init == init_pc_.end() ? e.pc : init->second)[Counter::mbarrier_phases];
    }

  private:
    Counts& at(std::uint32_t pc) {
        used_[pc] = true;
        return counts_[pc];
    }

    void global_access(const AccessEvent& e) {
        Counts& c = at(e.pc);
        const std::uint64_t bytes = std::uint64_t{e.bytes} * static_cast<unsigned>(std::popcount(e.mask));
        const unsigned sectors = global_sectors({e.addresses, warp_size}, e.mask, e.bytes);
        if (e.kind == AccessKind::read) {
            ++c[Counter::global_load_requests];
            c[Counter::global_load_sectors] += sectors;
            c[Counter::bytes_global_to_registers] += bytes;
        } else if (e.kind == AccessKind::write) {
            ++c[Counter::global_store_requests];
            c[Counter::global_store_sectors] += sectors;
            c[Counter::bytes_registers_to_global] += bytes;
        } else {
            ++c[Counter::global_atomic_requests];
        }
    }

    void shared_access(const AccessEvent& e) {
        Counts& c = at(e.pc);
        LaneMask own = 0;
        for_lanes(e.mask, [&](unsigned lane) {
            if (shared_rank(static_cast<std::uint32_t>(e.addresses[lane])) == e.warp->block().rank())
                own |= LaneMask{1} << lane;
        });
        c[Counter::bytes_cluster_shared] +=
            std::uint64_t{e.bytes} * static_cast<unsigned>(std::popcount(e.mask & ~own));
        if (!own)
            return;
        if (e.kind == AccessKind::atomic) {
            ++c[Counter::shared_atomic_requests];
            return;
        }
        const Wavefronts w = shared_wavefronts({e.addresses, warp_size}, own, e.bytes);
        const bool load = e.kind == AccessKind::read;
        ++c[load ? Counter::shared_load_requests : Counter::shared_store_requests];
        c[load ? Counter::shared_load_wavefronts : Counter::shared_store_wavefronts] += w.taken;
        c[load ? Counter::shared_load_conflicts : Counter::shared_store_conflicts] += w.taken - w.fewest;
    }

    /// cp.async comes lane by lane; the lanes of one instruction are one request.
    void add_cp_async(const AsyncOperation& operation) {
        if (operation.pieces.empty() || operation.pieces.front().global == 0)
            return;
        cp_async_pc_ = operation.pc;
        cp_async_bytes_ = std::max(cp_async_bytes_, operation.pieces.front().bytes);
        cp_async_addresses_[operation.lane] = operation.pieces.front().global;
        cp_async_lanes_ |= LaneMask{1} << operation.lane;
    }
    void flush_cp_async() {
        if (!cp_async_lanes_)
            return;
        Counts& c = at(cp_async_pc_);
        ++c[Counter::global_load_requests];
        c[Counter::global_load_sectors] +=
            global_sectors(cp_async_addresses_, cp_async_lanes_, cp_async_bytes_);
        cp_async_lanes_ = 0;
        cp_async_bytes_ = 0;
    }

    Counters& owner_;
    std::uint64_t serial_;
    std::vector<Counts> counts_;
    std::vector<bool> used_;
    std::map<std::uint32_t, std::uint32_t> init_pc_; ///< By address of the mbarrier.
    std::uint32_t cp_async_pc_ = 0;
    std::uint32_t cp_async_bytes_ = 0;
    LaneMask cp_async_lanes_ = 0;
    std::array<Address, warp_size> cp_async_addresses_{};
};

} // namespace

Wavefronts shared_wavefronts(std::span<const Address> addresses, LaneMask lanes, unsigned bytes) {
    const unsigned parts = bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4;
    const unsigned width = warp_size / parts;
    Wavefronts result;
    for (unsigned part = 0; part < parts; ++part) {
        const LaneMask here =
            lanes & static_cast<LaneMask>(((std::uint64_t{1} << width) - 1) << part * width);
        if (!here)
            continue;
        result.taken += passes(addresses, here, bytes);
        ++result.fewest;
    }
    return result;
}

unsigned global_sectors(std::span<const Address> addresses, LaneMask lanes, unsigned bytes) {
    std::array<Address, 2 * warp_size> sectors;
    unsigned count = 0;
    for_lanes(lanes, [&](unsigned lane) {
        const Address first = addresses[lane] / 32;
        const Address last = (addresses[lane] + bytes - 1) / 32;
        sectors[count++] = first;
        if (last != first)
            sectors[count++] = last;
    });
    std::sort(sectors.begin(), sectors.begin() + count);
    return static_cast<unsigned>(std::unique(sectors.begin(), sectors.begin() + count) - sectors.begin());
}

std::unique_ptr<ClusterListener> Counters::listen(Cluster& cluster) {
    return std::make_unique<ClusterCounters>(*this, cluster);
}

} // namespace emu

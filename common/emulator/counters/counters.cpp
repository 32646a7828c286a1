#include "hopper_emulator/counters.hpp"

#include "counters/ahead.hpp"
#include "counters/flight.hpp"
#include "counters/products.hpp"
#include "counters/stretch.hpp"
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

/// Bytes that the lanes touch, each counted once.
std::uint64_t distinct_bytes(std::span<const Address> addresses, LaneMask lanes, unsigned bytes) {
    std::array<Address, warp_size> sorted;
    unsigned count = 0;
    for_lanes(lanes, [&](unsigned lane) { sorted[count++] = addresses[lane]; });
    std::sort(sorted.begin(), sorted.begin() + count);
    std::uint64_t result = count == 0 ? 0 : bytes;
    for (unsigned i = 0; i + 1 < count; ++i)
        result += std::min<std::uint64_t>(bytes, sorted[i + 1] - sorted[i]);
    return result;
}

/// Counts one cluster, by instruction and by warp.
class ClusterCounters final : public ClusterListener, private CounterSink {
  public:
    ClusterCounters(Counters& owner, Cluster& cluster)
        : owner_(owner), serial_(cluster.info().serial), counts_(cluster.info().kernel->code.size()),
          used_(counts_.size()), products_(products_in(*cluster.info().kernel)), flight_(*this),
          ahead_(*this), stretch_(*this, *cluster.info().kernel) {}
    ~ClusterCounters() override {
        flush_cp_async();
        std::vector<std::pair<std::uint32_t, Counts>> list;
        for (std::uint32_t pc = 0; pc < counts_.size(); ++pc)
            if (used_[pc])
                list.emplace_back(pc, counts_[pc]);
        owner_.add(serial_, list, by_warp_);
    }

    void on_block_start(Block& block) override {
        count(nullptr, 0, Counter::blocks);
        count(nullptr, 0, Counter::warps, (block.thread_count() + warp_size - 1) / warp_size);
        count(nullptr, 0, Counter::threads, block.thread_count());
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask lanes) override {
        if (cp_async_lanes_)
            flush_cp_async();
        count(&warp, pc, Counter::warp_instructions);
        count(&warp, pc, Counter::thread_instructions, static_cast<unsigned>(std::popcount(lanes)));
        if (!products_.empty() && products_[pc].of_a_warp)
            multiply(warp, pc, lanes);
        stretch_.on_instruction(warp, pc, lanes);
    }
    void on_access(const AccessEvent& e) override {
        if (e.space == ptx::Space::global)
            global_access(e);
        else if (e.space == ptx::Space::shared)
            shared_access(e);
        else if (e.space == ptx::Space::local)
            count(e.warp, e.pc, Counter::local_requests);
    }
    void on_async_issue(const AsyncOperation& operation) override {
        if (operation.kind == AsyncKind::wgmma)
            return wgmma(operation);
        flight_.on_issue(operation);
        if (operation.kind == AsyncKind::prefetch || operation.kind == AsyncKind::cp_async_arrive)
            return;
        stretch_.on_issue(*operation.warp, LaneMask{1} << operation.lane);
        const auto add = [&](Counter counter, std::uint64_t amount) {
            count(operation.warp, operation.pc, counter, amount);
        };
        add(Counter::async_operations, 1);
        // The source of a multicast is read by the operation for the lowest rank.
        const bool read_before =
            operation.multicast != 0 &&
            static_cast<int>(shared_rank(operation.barrier)) != std::countr_zero(operation.multicast);
        if (operation.kind == AsyncKind::tensor_load)
            add(Counter::tensor_load_sectors, operation.sectors);
        else if (operation.kind == AsyncKind::tensor_store)
            add(Counter::tensor_store_sectors, operation.sectors);
        for (const AsyncPiece& piece : operation.pieces) {
            add(bytes_of(operation.kind), piece.bytes);
            if (operation.kind == AsyncKind::cp_async && !piece.global)
                add(Counter::bytes_cp_async_zeros, piece.bytes);
            if (read_before)
                add(Counter::bytes_multicast, piece.bytes);
        }
        if (operation.kind == AsyncKind::cp_async)
            add_cp_async(operation);
    }
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                                 bool, std::uint32_t pc) override {
        if (kind == CompletionKind::wgmma_group)
            return; // It copies nothing.
        flight_.on_group_observed(warp, lane, kind, last_group, pc);
    }
    void on_barrier_arrive(BarrierKind kind, unsigned, const WarpLanes& lanes, Semantics) override {
        if (kind == BarrierKind::cluster)
            stretch_.on_arrive(*lanes.warp, lanes.mask);
    }
    void on_barrier_complete(BarrierKind kind, unsigned, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes> waiting) override {
        flight_.on_barrier(kind, arrived, waiting);
        if (arrived.empty() || kind == BarrierKind::warp)
            return;
        // At the first instruction in program order, so that the order of arrival does not matter.
        const auto first = std::ranges::min_element(arrived, {}, &WarpLanes::pc);
        count(nullptr, first->pc,
              kind == BarrierKind::block ? Counter::block_barriers : Counter::cluster_barriers);
    }
    void on_mbarrier_arrive(const MbarrierEvent& e) override {
        flight_.on_arrive(e);
        ahead_.on_arrive(e);
        if (e.warp && e.tx > 0)
            count(e.warp, e.pc, Counter::bytes_announced, static_cast<std::uint64_t>(e.tx));
        if (e.warp && e.count)
            stretch_.on_arrive(*e.warp, LaneMask{1} << e.lane);
        // An arrival of cp.async without .noinc takes back the one by which it raised the pending count.
        const bool balanced =
            e.operation && !e.operation->warp->cluster().info().kernel->sources[e.pc]->has("noinc");
        if (!balanced)
            count(e.warp, e.pc, Counter::mbarrier_arrivals, e.count);
    }
    void on_mbarrier_init(const MbarrierEvent& e) override {
        init_pc_[e.address] = e.pc;
        flight_.on_init(e);
        ahead_.on_init(e);
    }
    void on_mbarrier_phase(const MbarrierEvent& e) override {
        flight_.on_phase(e);
        // Who completes a phase depends on the order; the barrier does not.
        const auto init = init_pc_.find(e.address);
        const std::uint32_t pc = init == init_pc_.end() ? e.pc : init->second;
        count(nullptr, pc, Counter::mbarrier_phases);
        if (init != init_pc_.end() && e.phase == 0)
            count(nullptr, pc, Counter::mbarriers);
    }
    void on_mbarrier_observed(const MbarrierEvent& e) override {
        flight_.on_observed(e);
        ahead_.on_observed(e);
    }

  private:
    void wgmma(const AsyncOperation& operation) {
        // No layout that a descriptor can tell makes more passes over the banks (docs/measurements).
        constexpr std::uint32_t bytes_of_a_pass = 128, warps = 4;
        const Products& products = products_[operation.pc];
        const bool first = operation.warp->index() % warps == 0;
        const std::uint32_t bytes = products.bytes_of_a + (first ? products.bytes_of_b : 0);
        count(operation.warp, operation.pc, Counter::wgmma_instructions);
        count(operation.warp, operation.pc, Counter::bytes_shared_to_wgmma, bytes);
        count(operation.warp, operation.pc, Counter::wgmma_wavefronts, bytes / bytes_of_a_pass);
    }

    void count(const Warp* warp, std::uint32_t pc, Counter counter, std::uint64_t amount = 1) override {
        if (amount == 0)
            return;
        used_[pc] = true;
        counts_[pc][counter] += amount;
        if (!warp)
            return;
        if (warp->index() >= by_warp_.size())
            by_warp_.resize(warp->index() + 1);
        by_warp_[warp->index()][counter] += amount;
    }

    static std::vector<Products> products_in(const Kernel& kernel) {
        std::vector<Products> products(kernel.sources.size());
        bool any = false;
        for (std::size_t pc = 0; pc < products.size(); ++pc)
            if (const auto found = kernel.sources[pc] ? products_of(*kernel.sources[pc]) : std::nullopt) {
                products[pc] = *found;
                any = true;
            }
        return any ? products : std::vector<Products>{};
    }
    /// Lanes that come one after the other execute one instruction, together.
    void multiply(const Warp& warp, std::uint32_t pc, LaneMask lanes) {
        const auto share = static_cast<std::uint64_t>(std::popcount(lanes));
        count(&warp, pc, Counter::matrix_instructions, lanes >> 31);
        count(&warp, pc, products_[pc].counter, products_[pc].of_a_warp * share / warp_size);
    }
    /// Each thread gets or gives 16 bytes. Four matrices are so much, though fewer have rows of 16 bytes,
    /// too.
    static bool is_wide(const AccessEvent& e) {
        const ptx::Instruction& source = *e.warp->cluster().info().kernel->sources[e.pc];
        const bool matrices = source.opcode == "ldmatrix" || source.opcode == "stmatrix";
        return e.bytes == wide && (!matrices || source.has("x4"));
    }

    void global_access(const AccessEvent& e) {
        const auto add = [&](Counter counter, std::uint64_t amount) { count(e.warp, e.pc, counter, amount); };
        if (e.kind == AccessKind::atomic)
            return add(Counter::global_atomic_requests, 1);
        const bool load = e.kind == AccessKind::read;
        const std::span<const Address> addresses{e.addresses, warp_size};
        const unsigned sectors = global_sectors(addresses, e.mask, e.bytes);
        add(load ? Counter::global_load_requests : Counter::global_store_requests, 1);
        add(load ? Counter::global_load_sectors : Counter::global_store_sectors, sectors);
        add(load ? Counter::global_load_extra_sectors : Counter::global_store_extra_sectors,
            sectors - fewest_sectors(addresses, e.mask, e.bytes));
        add(load ? Counter::global_load_requests_wide : Counter::global_store_requests_wide,
            e.bytes == wide ? 1 : 0);
        if (load)
            stretch_.on_global_load(e);
        else
            flight_.on_global_store(e);
        add(load ? Counter::bytes_global_to_registers : Counter::bytes_registers_to_global,
            bytes_of_lanes(e, e.mask));
    }

    void shared_access(const AccessEvent& e) {
        flight_.on_shared_access(e);
        if (e.kind == AccessKind::write)
            ahead_.on_shared_store(e);
        LaneMask own = 0;
        for_lanes(e.mask, [&](unsigned lane) {
            if (shared_rank(static_cast<std::uint32_t>(e.addresses[lane])) == e.warp->block().rank())
                own |= LaneMask{1} << lane;
        });
        const auto add = [&](Counter counter, std::uint64_t amount) { count(e.warp, e.pc, counter, amount); };
        add(Counter::bytes_cluster_shared, bytes_of_lanes(e, e.mask & ~own));
        if (!own)
            return;
        if (e.kind == AccessKind::atomic)
            return add(Counter::shared_atomic_requests, 1);
        const Wavefronts w = shared_wavefronts({e.addresses, warp_size}, own, e.bytes);
        const bool load = e.kind == AccessKind::read;
        add(load ? Counter::shared_load_requests : Counter::shared_store_requests, 1);
        add(load ? Counter::shared_load_wavefronts : Counter::shared_store_wavefronts, w.taken);
        add(load ? Counter::shared_load_conflicts : Counter::shared_store_conflicts, w.taken - w.fewest);
        add(load ? Counter::shared_load_requests_wide : Counter::shared_store_requests_wide,
            is_wide(e) ? 1 : 0);
        add(load ? Counter::bytes_shared_to_registers : Counter::bytes_registers_to_shared,
            bytes_of_lanes(e, own));
    }

    static std::uint64_t bytes_of_lanes(const AccessEvent& e, LaneMask lanes) {
        return std::uint64_t{e.bytes} * static_cast<unsigned>(std::popcount(lanes));
    }
    static std::uint64_t fewest_sectors(std::span<const Address> addresses, LaneMask lanes, unsigned bytes) {
        constexpr std::uint64_t sector = 32;
        return (distinct_bytes(addresses, lanes, bytes) + sector - 1) / sector;
    }

    /// cp.async comes lane by lane; the lanes of one instruction are one request.
    void add_cp_async(const AsyncOperation& operation) {
        if (operation.pieces.empty() || operation.pieces.front().global == 0)
            return;
        cp_async_warp_ = operation.warp;
        cp_async_pc_ = operation.pc;
        cp_async_bytes_ = std::max(cp_async_bytes_, operation.pieces.front().bytes);
        cp_async_addresses_[operation.lane] = operation.pieces.front().global;
        cp_async_lanes_ |= LaneMask{1} << operation.lane;
    }
    void flush_cp_async() {
        if (!cp_async_lanes_)
            return;
        const auto add = [&](Counter counter, std::uint64_t amount) {
            count(cp_async_warp_, cp_async_pc_, counter, amount);
        };
        const unsigned sectors = global_sectors(cp_async_addresses_, cp_async_lanes_, cp_async_bytes_);
        add(Counter::global_load_requests, 1);
        add(Counter::global_load_sectors, sectors);
        add(Counter::global_load_extra_sectors,
            sectors - fewest_sectors(cp_async_addresses_, cp_async_lanes_, cp_async_bytes_));
        add(Counter::global_load_requests_wide, cp_async_bytes_ == wide ? 1 : 0);
        cp_async_lanes_ = 0;
        cp_async_bytes_ = 0;
    }

    static constexpr std::uint32_t wide = 16; ///< Bytes of a thread, the most that one instruction takes.

    Counters& owner_;
    std::uint64_t serial_;
    std::vector<Counts> counts_;
    std::vector<bool> used_;
    std::vector<Products> products_; ///< By instruction; empty if none multiplies matrices.
    std::vector<Counts> by_warp_;    ///< Of all blocks of the cluster.
    Flight flight_;
    Ahead ahead_;
    Stretch stretch_;
    std::map<std::uint32_t, std::uint32_t> init_pc_; ///< By address of the mbarrier.
    const Warp* cp_async_warp_ = nullptr;            ///< The warps live longer than their listeners.
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

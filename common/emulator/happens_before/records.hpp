#pragma once
/// \file
/// What the shadow memory remembers of an access: a 32-bit reference to a record and a lane. A record stands
/// for all accesses that a warp makes at one instruction in one epoch, so a loop without synchronisation adds
/// none.

#include "happens_before/vector_clock.hpp"
#include "machine/program.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace emu::check {

/// A remembered access.
struct Record {
    enum Flag : std::uint16_t {
        write = 1,
        strong = 2,       ///< Atomic, relaxed, acquire, release or volatile: morally strong (PTX ISA 8.7.1).
        narrow = 4,       ///< Strong only among threads of a block (scope .cta).
        same_value = 8,   ///< A write that changed nothing.
        async = 16,       ///< By an asynchronous operation; `component` is its agent.
        async_proxy = 32, ///< Through the async proxy (everything asynchronous but cp.async).
        by_lane = 64,     ///< The component of lane i is `component` + i.
        bytes1 = 128,     ///< Byte k of a word was accessed by lane + k,
        bytes2 = 256,     ///< … by lane + k/2.
        init = 512,       ///< mbarrier.init.
        update = 1024,    ///< A write that read first: an atomic.
        local = 2048,     ///< Of shared memory: lies in the cluster's own store.
        is_volatile = 4096, ///< By ld.volatile or st.volatile.
        noncoherent = 8192, ///< By ld.global.nc, which need not see what the launch writes.
    };
    std::uint32_t cluster = 0; ///< Linear index in the grid.
    std::uint32_t pc = 0;
    Component component = 0;
    Epoch epoch = 0; ///< Of an asynchronous operation that completes at an mbarrier: 0 while unknown.
    std::uint32_t operation = 0; ///< Of the cluster, for asynchronous operations; else 0.
    std::uint16_t warp = 0; ///< Rank of the block * 32 + warp in the block: who executed the instruction.
    std::uint16_t flags = 0;

    bool is(Flag flag) const { return (flags & flag) != 0; }
    unsigned rank() const { return warp >> 5; }
    unsigned warp_in_block() const { return warp & 31; }
};

/// Reference to a record and a lane in one word; 0 is none. The top bit is free for the shadow's own use.
using Ref = std::uint32_t;
inline constexpr Ref marked = 0x80000000u;
constexpr Ref make_ref(std::uint32_t record, unsigned lane) { return record << 5 | lane; }
constexpr std::uint32_t record_of(Ref ref) { return ref >> 5; }
constexpr unsigned lane_of(Ref ref) { return ref & 31; }
/// The lane that accessed byte `k` of the word.
constexpr unsigned lane_at(Ref ref, const Record& record, unsigned k) {
    return lane_of(ref) + (record.flags & Record::bytes1 ? k : record.flags & Record::bytes2 ? k / 2 : 0);
}

/// The records of one launch. Clusters on different host threads take batches of numbers and fill them
/// without locks; others see a record only through a shadow cell, whose lock orders the two.
class RecordStore {
  public:
    static constexpr std::uint32_t chunk_size = 4096;
    static constexpr std::uint32_t batch = 256;
    static constexpr std::uint32_t capacity = 1u << 24;
    /// Stands for accesses forgotten because the store is full: happened before everything.
    static constexpr std::uint32_t forgotten = 1;

    /// `limit` records and no more: `capacity`, but in tests.
    explicit RecordStore(std::uint32_t limit = capacity);
    ~RecordStore();
    RecordStore(const RecordStore&) = delete;
    RecordStore& operator=(const RecordStore&) = delete;

    Record& operator[](std::uint32_t id) {
        return (*chunks_[id / chunk_size].load(std::memory_order_acquire))[id % chunk_size];
    }
    const Record& operator[](std::uint32_t id) const {
        return (*chunks_[id / chunk_size].load(std::memory_order_acquire))[id % chunk_size];
    }
    /// Forgets all records; keeps their room.
    void clear() { next_ = batch; }
    /// The first of `batch` new numbers, or 0 when the store is full.
    std::uint32_t take_batch();

  private:
    using Chunk = std::array<Record, chunk_size>;
    const std::uint32_t limit_;
    std::mutex mutex_;
    std::uint32_t next_ = batch; ///< The first batch is for `forgotten`.
    std::array<std::atomic<Chunk*>, capacity / chunk_size> chunks_{};
};

/// One cluster's way to new records.
class RecordSource {
  public:
    explicit RecordSource(RecordStore& store) : store_(store) {}
    /// The record's number, or `forgotten` when the store is full.
    std::uint32_t add(const Record& record);

  private:
    RecordStore& store_;
    std::uint32_t next_ = 0;
    std::uint32_t end_ = 0;
};

} // namespace emu::check

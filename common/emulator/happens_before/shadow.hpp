#pragma once
/// \file
/// Shadow memory: for each 4-byte word of emulated memory the last write and the reads since. Words that are
/// accessed in parts are split into bytes, so the checks are exact to the byte.

#include "happens_before/records.hpp"
#include "hopper_emulator/address.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace emu::check {

/// History of one word (or byte). `read` is a Ref, or marked | index of a pair of reads by different threads.
/// `write` is a Ref, or marked | index of a split word.
struct Cell {
    Ref write = 0;
    Ref read = 0;
    bool operator==(const Cell&) const = default;
};

/// Two reads that are not ordered with each other. More than two are not kept: the oldest and the newest
/// stay.
struct ReadPair {
    Ref first = 0, second = 0;
    bool operator==(const ReadPair&) const = default;
};

/// The shadow of a stretch of memory. Not thread-safe. Writes and reads lie apart and take room only once
/// there are any: most pages of global memory are only read or only written by a kernel.
class Region {
  public:
    Region() = default;
    explicit Region(std::size_t words) : words_(words) {}

    std::size_t words() const { return words_; }
    void reset(std::size_t words);

    /// Calls `f(cell, k, n)` for the cells of the bytes in `bytes` (one bit each) of word `word`: the cell
    /// stands for bytes k … k+n-1 of the word, and what `f` leaves in it is kept.
    template <class F>
    void visit(std::size_t word, unsigned bytes, F&& f) {
        const Cell old{writes_.empty() ? 0 : writes_[word], reads_.empty() ? 0 : reads_[word]};
        Cell cell = old;
        if (bytes == 15 && !(cell.write & marked)) [[likely]]
            f(cell, 0u, 4u);
        else
            visit_split(cell, bytes, f);
        if (cell.write != old.write)
            store(writes_, word, cell.write);
        if (cell.read != old.read)
            store(reads_, word, cell.read);
    }

    /// The same for whole words, `count` of them, where `f(word, cell, k, n)` returns whether it would do the
    /// same to every cell with the same write and readers, and nothing else: then it is not asked again.
    template <class F>
    void visit_alike(std::size_t word, std::size_t count, F&& f) {
        Ref write = 0;
        ReadPair before, after;
        bool known = false;
        for (const std::size_t end = word + count; word < end; ++word) {
            Cell cell{writes_.empty() ? 0 : writes_[word], reads_.empty() ? 0 : reads_[word]};
            const ReadPair readers = this->readers(cell);
            if (known && cell.write == write && readers == before) {
                if (const Ref old = cell.read; readers != after) {
                    set_readers(cell, after);
                    if (cell.read != old)
                        store(reads_, word, cell.read);
                }
                continue;
            }
            known = false;
            visit(word, 15,
                  [&](Cell& each, unsigned k, unsigned n) { known = f(word, each, k, n) && n == 4; });
            if (known) {
                write = cell.write;
                before = readers;
                after = this->readers({0, reads_.empty() ? 0 : reads_[word]});
            }
        }
    }

    /// The readers of a cell: none, one, or two.
    ReadPair readers(const Cell& cell) const {
        if (cell.read & marked)
            return pairs_[cell.read & ~marked];
        return {cell.read, 0};
    }
    void set_readers(Cell& cell, ReadPair readers) {
        if (readers.second == 0 && !(cell.read & marked)) [[likely]]
            cell.read = readers.first;
        else
            set_reader_pair(cell, readers);
    }
    /// Calls `f(word, k, n, cell)` for each cell that was touched; it stands for bytes k … k+n-1 of the word.
    template <class F>
    void each_touched(F&& f) const {
        const std::size_t end = std::max(writes_.size(), reads_.size());
        for (std::size_t word = 0; word < end; ++word) {
            const Cell cell{writes_.empty() ? 0 : writes_[word], reads_.empty() ? 0 : reads_[word]};
            if (!(cell.write & marked)) {
                if (cell != Cell())
                    f(word, 0u, 4u, cell);
                continue;
            }
            for (unsigned k = 0; k < 4; ++k)
                if (const Cell& part = splits_[cell.write & ~marked][k]; part != Cell())
                    f(word, k, 1u, part);
        }
    }
    /// The last write of each word, or nothing at all.
    const std::vector<Ref>& writes() const { return writes_; }
    std::size_t pair_count() const { return pairs_.size() - free_pairs_.size(); }

  private:
    template <class F>
    void visit_split(Cell& cell, unsigned bytes, F& f) {
        const std::uint32_t index = cell.write & marked ? cell.write & ~marked : split(cell);
        for (unsigned k = 0; k < 4; ++k)
            if (bytes & (1u << k)) {
                Cell part = splits_[index][k]; // f may move the tables' storage.
                f(part, k, 1u);
                splits_[index][k] = part;
            }
        if (bytes == 15)
            merge(cell, index);
    }
    std::uint32_t split(Cell& cell);
    void merge(Cell& cell, std::uint32_t index);

    /// Used at every access, so what happens once stands in a function of its own: this one is inlined then.
    void store(std::vector<Ref>& table, std::size_t word, Ref ref) {
        if (table.empty()) [[unlikely]]
            make_room(table);
        table[word] = ref;
    }
    void make_room(std::vector<Ref>& table) const;
    /// Where there are two readers, or there were.
    void set_reader_pair(Cell& cell, ReadPair readers);

    std::size_t words_ = 0;
    std::vector<Ref> writes_, reads_;
    std::vector<ReadPair> pairs_;
    std::vector<std::uint32_t> free_pairs_;
    std::vector<std::array<Cell, 4>> splits_;
    std::vector<std::uint32_t> free_splits_;
};

/// Shadow of global memory, in pages made when they are first touched. Clusters on several host threads share
/// it: a page is locked while it is used.
class GlobalShadow {
  public:
    static constexpr unsigned page_bits = 12;
    static constexpr Address page_bytes = Address{1} << page_bits;

    struct Page {
        std::atomic_flag busy = ATOMIC_FLAG_INIT;
        Region region{page_bytes / 4};
    };
    /// Holds the lock of one page at a time, until another is asked for: taking it is an atomic exchange,
    /// which the lanes of one instruction, that mostly use one page, need not each pay for.
    class Lock {
      public:
        Lock() = default;
        explicit Lock(Page& page) { hold(page); }
        ~Lock() { release(); }
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

        void hold(Page& page) {
            if (page_ == &page) [[likely]]
                return;
            release();
            while (page.busy.test_and_set(std::memory_order_acquire))
                wait(page);
            page_ = &page;
        }

      private:
        void release() {
            if (page_)
                page_->busy.clear(std::memory_order_release);
        }
        /// The lock is held for some hundred nanoseconds, unless its holder has lost its core.
        static void wait(const Page& page) {
            for (int i = 0; i < 256; ++i)
                if (!page.busy.test(std::memory_order_relaxed))
                    return;
            std::this_thread::yield();
        }

        Page* page_ = nullptr;
    };

    /// The page of number address >> page_bits. Pages stay where they are until the shadow dies.
    Page& page(Address number);
    std::size_t pages() const;
    /// Calls `f(number, page)` for each page. Nobody else may use the shadow meanwhile.
    template <class F>
    void each_page(F&& f) const {
        for (const Shard& shard : shards_)
            for (const auto& [number, page] : shard.pages)
                f(number, *page);
    }
    /// No two shadows of a process have the same, not even one after the other.
    std::uint64_t id() const { return id_; }

  private:
    static constexpr std::size_t shard_count = 64;
    static inline std::atomic<std::uint64_t> last_id_ = 0;
    const std::uint64_t id_ = ++last_id_;
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<Address, std::unique_ptr<Page>> pages;
    };
    std::array<Shard, shard_count> shards_;
};

/// Remembers the pages that this host thread used recently. The clusters that it runs one after the other use
/// many of the same pages, and looking one up takes a lock that all host threads share.
class PageCache {
  public:
    /// A cache stays with the thread that made it.
    explicit PageCache(GlobalShadow& shadow) : shadow_(shadow), table_(table_of_this_thread()) {}
    GlobalShadow::Page& page(Address number) {
        if (table_.shadow != shadow_.id()) [[unlikely]] // The thread has worked on another launch meanwhile.
            table_ = {.shadow = shadow_.id()};
        Entry& e = table_.entries[number % table_.entries.size()];
        if (!e.page || e.number != number)
            e = {number, &shadow_.page(number)};
        return *e.page;
    }

  private:
    struct Entry {
        Address number = 0;
        GlobalShadow::Page* page = nullptr;
    };
    struct Table {
        std::uint64_t shadow = 0; ///< The shadow whose pages these are.
        std::array<Entry, 2048> entries{};
    };
    static Table& table_of_this_thread() {
        static thread_local Table table;
        return table;
    }

    GlobalShadow& shadow_;
    Table& table_;
};

} // namespace emu::check

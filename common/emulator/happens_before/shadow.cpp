#include "happens_before/shadow.hpp"

#include <utility>

namespace emu::check {
namespace {

template <class T>
std::uint32_t take(std::vector<T>& table, std::vector<std::uint32_t>& unused) {
    if (unused.empty()) {
        table.emplace_back();
        return static_cast<std::uint32_t>(table.size() - 1);
    }
    const std::uint32_t index = unused.back();
    unused.pop_back();
    return index;
}

} // namespace

void Region::reset(std::size_t words) {
    words_ = words;
    writes_.assign(words, 0);
    reads_.assign(words, 0);
    pairs_.clear();
    free_pairs_.clear();
    splits_.clear();
    free_splits_.clear();
}

void Region::make_room(std::vector<Ref>& table) const { table.resize(words_); }

void Region::set_reader_pair(Cell& cell, ReadPair readers) {
    const bool had_pair = (cell.read & marked) != 0;
    if (readers.second == 0) {
        if (had_pair)
            free_pairs_.push_back(cell.read & ~marked);
        cell.read = readers.first;
        return;
    }
    const std::uint32_t index = had_pair ? cell.read & ~marked : take(pairs_, free_pairs_);
    pairs_[index] = readers;
    cell.read = marked | index;
}

std::uint32_t Region::split(Cell& cell) {
    const std::uint32_t index = take(splits_, free_splits_);
    const ReadPair readers = this->readers(cell);
    for (unsigned k = 0; k < 4; ++k) {
        Cell part{cell.write, 0};
        set_readers(part, readers);
        splits_[index][k] = part;
    }
    set_readers(cell, {});
    cell = {marked | index, 0};
    return index;
}

void Region::merge(Cell& cell, std::uint32_t index) {
    const std::array<Cell, 4> parts = splits_[index];
    if (parts[0].read & marked || parts[0] != parts[1] || parts[0] != parts[2] || parts[0] != parts[3])
        return;
    cell = parts[0];
    free_splits_.push_back(index);
}

GlobalShadow::Page& GlobalShadow::page(Address number) {
    Shard& shard = shards_[(number ^ number >> 6) % shard_count];
    const std::lock_guard lock(shard.mutex);
    auto& page = shard.pages[number];
    if (!page)
        page = std::make_unique<Page>();
    return *page;
}

std::size_t GlobalShadow::pages() const {
    std::size_t sum = 0;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        sum += shard.pages.size();
    }
    return sum;
}

} // namespace emu::check

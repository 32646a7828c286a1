#include "happens_before/records.hpp"

namespace emu::check {

RecordStore::RecordStore(std::uint32_t limit) : limit_(limit) {
    chunks_[0].store(std::make_unique<Chunk>().release(), std::memory_order_release);
    (*this)[forgotten] = Record{};
}

RecordStore::~RecordStore() {
    for (auto& chunk : chunks_)
        std::unique_ptr<Chunk>(chunk.load()).reset();
}

std::uint32_t RecordStore::take_batch() {
    const std::lock_guard lock(mutex_);
    if (next_ >= limit_)
        return 0;
    const std::uint32_t first = next_;
    next_ += batch;
    auto& chunk = chunks_[first / chunk_size];
    if (!chunk.load(std::memory_order_relaxed))
        chunk.store(std::make_unique<Chunk>().release(), std::memory_order_release);
    return first;
}

std::uint32_t RecordSource::add(const Record& record) {
    if (next_ == end_) {
        next_ = end_ = store_.take_batch();
        if (next_ == 0)
            return RecordStore::forgotten;
        end_ += RecordStore::batch;
    }
    store_[next_] = record;
    return next_++;
}

} // namespace emu::check

#include "happens_before/launch_state.hpp"

#include <utility>

namespace emu::check {

LaunchState::LaunchState(DeviceState& of_device) : device(of_device) {}
LaunchState::~LaunchState() = default;

std::unique_ptr<RecordStore> LaunchState::take_store() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty())
        return std::make_unique<RecordStore>();
    auto store = std::move(spare_.back());
    spare_.pop_back();
    return store;
}

void LaunchState::give_back(std::unique_ptr<RecordStore> store) {
    store->clear();
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(store));
}

void LaunchState::note_written(GlobalMemory& memory) const {
    shadow.each_page([&](Address number, const GlobalShadow::Page& page) {
        const std::vector<Ref>& writes = page.region.writes();
        const Address base = number << GlobalShadow::page_bits;
        for (std::size_t word = 0; word < writes.size();) {
            std::size_t end = word;
            while (end < writes.size() && writes[end])
                ++end;
            if (end > word)
                memory.note_written(base + 4 * word, 4 * (end - word));
            word = end + 1;
        }
    });
}

} // namespace emu::check

#include "ptx/locations.hpp"

namespace emu::ptx {

std::size_t LocationTable::Hash::operator()(const Location& at) const {
    std::uint64_t mixed = at.file;
    for (std::uint64_t part : {at.line, at.column, at.inlined_at})
        mixed = (mixed ^ part) * 0x9E37'79B9'7F4A'7C15u + (mixed >> 29);
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

bool LocationTable::Equal::operator()(const Location& a, const Location& b) const {
    return a.file == b.file && a.line == b.line && a.column == b.column && a.inlined_at == b.inlined_at;
}

LocationTable::LocationTable(std::vector<Location>& locations) : locations_(locations) {
    locations_.assign(1, Location{}); // index 0 is "unknown"
}

std::uint32_t LocationTable::intern(const Location& location) {
    const auto [place, is_new] = known_.try_emplace(location, static_cast<std::uint32_t>(locations_.size()));
    if (is_new)
        locations_.push_back(location);
    return place->second;
}

std::uint32_t LocationTable::add_under(std::uint32_t file, std::uint32_t line, std::uint32_t column,
                                       std::uint32_t inlined_at) {
    const std::uint32_t index = intern({file, line, column, inlined_at});
    Use& latest = latest_[{file, line, column, 0}];
    const bool is_other = latest.time >= first_of_function_ && latest.index != index;
    latest.has_others = is_other || (latest.has_others && latest.time >= first_of_function_);
    latest.index = index;
    latest.time = ++uses_;
    last_ = index;
    return index;
}

std::uint32_t LocationTable::add_inlined(std::uint32_t file, std::uint32_t line, std::uint32_t column,
                                         std::uint32_t at_file, std::uint32_t at_line,
                                         std::uint32_t at_column) {
    const auto site = latest_.find({at_file, at_line, at_column, 0});
    const bool is_known = site != latest_.end() && site->second.time >= first_of_function_;
    const std::uint32_t parent = is_known ? site->second.index : intern({at_file, at_line, at_column, 0});
    const bool is_guess = is_known && site->second.has_others && parent != last_;
    const std::uint32_t index = add_under(file, line, column, parent);
    locations_[index].guessed |= is_guess;
    return index;
}

} // namespace emu::ptx

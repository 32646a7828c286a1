#pragma once
/// \file
/// Builds Module::locations from `.loc` directives (PTX ISA 9.0, section 11.5.3).

#include "ptx/module.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace emu::ptx {

/// The highest number that `.file` may give: damaged text must not ask for an endless list.
inline constexpr std::uint64_t most_files = 1u << 20;

/// Keeps each distinct location once. `inlined_at` names a place, not an entry; nvcc writes the call site's
/// own `.loc` before the first inlined one, so the latest entry for that place continues the chain. It is
/// certain if there is no other entry for the place, or if it stands directly before; else it is a guess.
class LocationTable {
  public:
    explicit LocationTable(std::vector<Location>& locations);

    /// Forgets the call sites: chains do not cross functions.
    void begin_function() { first_of_function_ = ++uses_; }

    /// Index of the location that was not inlined.
    std::uint32_t add(std::uint32_t file, std::uint32_t line, std::uint32_t column) {
        return add_under(file, line, column, 0);
    }

    /// Index of the location inlined at the place (at_file, at_line, at_column).
    std::uint32_t add_inlined(std::uint32_t file, std::uint32_t line, std::uint32_t column,
                              std::uint32_t at_file, std::uint32_t at_line, std::uint32_t at_column);

  private:
    /// Index of an entry, and when its place was named last.
    struct Use {
        std::uint32_t index = 0;
        std::uint64_t time = 0;
        bool has_others = false; ///< Other entries of the function have this place.
    };
    struct Hash {
        std::size_t operator()(const Location& at) const;
    };
    struct Equal {
        bool operator()(const Location& a, const Location& b) const;
    };

    std::uint32_t add_under(std::uint32_t file, std::uint32_t line, std::uint32_t column,
                            std::uint32_t inlined_at);
    std::uint32_t intern(const Location& location);

    std::vector<Location>& locations_;
    std::unordered_map<Location, std::uint32_t, Hash, Equal> known_;
    std::unordered_map<Location, Use, Hash, Equal> latest_; ///< Key has inlined_at = 0.
    std::uint64_t uses_ = 0;
    std::uint64_t first_of_function_ = 0;
    std::uint32_t last_ = 0; ///< The entry of the directive before.
};

} // namespace emu::ptx

#pragma once
/// \file
/// Loops that read a place again and again until it holds what they wait for.

#include "machine/program.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace emu {
class Warp;
}

namespace emu::check {

/// A load whose value decides whether its loop comes to an end, and serves nothing else.
struct PollSite {
    /// Where a register lies in the frame.
    struct Place {
        std::uint32_t offset = 0, bytes = 0; ///< Of all lanes.
    };
    const Op* branch = nullptr; ///< Taken: the loop goes on.
    Row loaded;
    unsigned loaded_bytes = 0;
    std::vector<const Op*> steps; ///< From the value to the predicate of the branch.
    std::vector<Place> changed;   ///< What these steps write.

    /// Whether the loop would end if the load gave `value`. Nothing is changed.
    bool ends(Warp& warp, unsigned lane, std::uint64_t value) const;
};

class PollSites {
  public:
    /// The loop of the load at `pc`, or nullptr if it is not of this kind.
    const PollSite* at(const Kernel& kernel, std::uint32_t pc);

  private:
    std::unordered_map<std::uint32_t, std::unique_ptr<PollSite>> known_;
};

} // namespace emu::check

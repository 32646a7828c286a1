#pragma once
/// \file
/// What the tensor cores of a block do, as a lane of the time line for each warpgroup.

#include "machine/cluster.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace emu {

/// A stretch of time in which wgmma of a warpgroup were in flight. Of one product or of several, because the
/// order in which their results come is not told apart.
struct BusyTensorCores {
    std::uint64_t lane = 0;
    std::uint64_t since = 0;
    std::uint64_t products = 0; ///< wgmma.mma_async, each once for its four warps.
    std::string form;           ///< The first one's shape and types: "m64n8k16.f32.bf16.bf16".
};

/// Which warpgroups have wgmma in flight.
class TensorCores {
  public:
    /// A share of a wgmma, that of one warp, was issued.
    void issued(const AsyncOperation& operation, std::uint64_t now);
    /// It has landed. The stretch that it ended, if it was the last in flight.
    std::optional<BusyTensorCores> landed(const AsyncOperation& operation);

    static std::uint64_t lane_of(const Warp& warp);
    static std::string name_of(std::uint64_t lane);

  private:
    struct State {
        BusyTensorCores busy;
        unsigned in_flight = 0;
    };
    std::map<std::uint64_t, State> states_; ///< By lane.
};

} // namespace emu

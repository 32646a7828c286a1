#pragma once
/// \file
/// What Moments keeps of a launch.

#include "hopper_emulator/launch.hpp"
#include "hopper_emulator/moments.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace emu {

/// The events of one cluster.
struct ClusterMoments {
    /// Places of the numbers that every event begins with.
    enum Head : std::size_t { length, kind, warp, pc, lanes, head_size };
    /// A finding was made while these instructions were looked at.
    struct Noted {
        Finding finding{};
        std::vector<std::uint32_t> pcs;
        std::size_t event = 0;
    };

    std::uint64_t cluster = 0; ///< In the grid.
    std::vector<Dim3> blocks;  ///< blockIdx, by rank.
    std::vector<std::int64_t> numbers;
    std::vector<std::size_t> begins; ///< Of each event in `numbers`.
    std::vector<Noted> noted;
    std::set<std::uint32_t> barriers; ///< Addresses of mbarriers.
    bool cut = false;                 ///< There were more.

    std::int64_t at(std::size_t event, std::size_t place) const { return numbers[begins[event] + place]; }
};

struct Moments::Recorded {
    std::size_t most = 0;
    std::atomic<std::size_t> events = 0; ///< Of all clusters.
    std::mutex mutex;
    bool launched = false;
    std::string head; ///< What is known of the launch, as members of JSON.
    LaunchConfig config;
    std::vector<ClusterMoments> clusters; ///< By number, when the launch has ended.
};

/// Kernel, shape, instructions with their lines, texts, names of shared memory, for those clusters.
std::string describe_launch(const LaunchInfo& info, const std::vector<ClusterMoments>& clusters);

} // namespace emu

/// \file
/// Recorded moments as JSON.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/report.hpp"
#include "findings/source_text.hpp"
#include "hopper_emulator/events.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "ptx/module.hpp"
#include "recording/recorded_moments.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <ranges>

namespace emu {
namespace moments {
namespace {

using Head = ClusterMoments::Head;

/// "[1,2,3]" of what `text` makes of each.
template <class Range, class Text>
std::string list(const Range& all, Text text) {
    std::string json = "[";
    for (const auto& each : all)
        json += (json.size() > 1 ? "," : "") + text(each);
    return json + "]";
}

std::string numbers(const Dim3& d) {
    return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}
std::string shape(const Dim3& d) { return "[" + numbers(d) + "]"; }

/// Files by number, in the order in which they are met.
class Files {
  public:
    std::string number_of(const std::string& file) {
        const auto number = std::ranges::find(names_, file) - names_.begin();
        if (number == std::ssize(names_))
            names_.push_back(file);
        return std::to_string(number);
    }
    /// A list of names and texts; `ptx` is that of the file of this name. The toolkit's own stay out.
    std::string json(const std::string& ptx) const {
        return list(names_, [&](const std::string& name) {
            const std::string text = name == "PTX"                ? ptx
                                     : ptx::is_toolkit_file(name) ? ""
                                                                  : source_file(name);
            return "[" + json_string(name) + "," + json_string(text) + "]";
        });
    }

  private:
    std::vector<std::string> names_;
};

/// The instructions that events name, by number: spelling, file, line, and who called that, innermost first.
std::string instructions_of(const LaunchInfo& info, const std::vector<ClusterMoments>& clusters,
                            Files& files) {
    std::set<std::uint32_t> used;
    for (const ClusterMoments& each : clusters)
        for (std::size_t event = 0; event < each.begins.size(); ++event)
            if (each.at(event, Head::warp) >= 0)
                used.insert(static_cast<std::uint32_t>(each.at(event, Head::pc)));
    const LaunchFacts facts(info);
    std::string json = "{";
    for (const std::uint32_t pc : used) {
        if (pc >= facts.instruction_count())
            continue;
        const SourceLine line = facts.line(pc);
        const auto callers = list(line.callers, [&](const CallSite& call) {
            return "[" + files.number_of(call.file) + "," + std::to_string(call.line) + "]";
        });
        json += (json.size() > 1 ? "," : "") + ("\"" + std::to_string(pc)) + "\":[" +
                json_string(facts.instruction(pc)) + "," + files.number_of(line.file) + "," +
                std::to_string(line.line) + "," + callers + "]";
    }
    return json + "}";
}

/// Names of the mbarriers, by their address.
std::string barriers_of(const LaunchInfo& info, const std::vector<ClusterMoments>& clusters) {
    std::map<std::uint32_t, std::string> names;
    for (const ClusterMoments& each : clusters)
        for (const std::uint32_t address : each.barriers)
            names.try_emplace(address, shared_name(info, shared_offset(address)));
    std::string json = "{";
    for (const auto& [address, name] : names)
        json += (json.size() > 1 ? ",\"" : "\"") + std::to_string(address) + "\":" + json_string(name);
    return json + "}";
}

/// Whether one of the threads of an event is the one that a location names.
bool is_by(const ClusterMoments& all, std::size_t event, const Dim3& block_size, const std::string& role) {
    const std::int64_t track = all.at(event, Head::warp);
    const auto rank = static_cast<std::size_t>(track / warp_size);
    bool found = false;
    for_lanes(static_cast<LaneMask>(all.at(event, Head::lanes)), [&](unsigned lane) {
        const Dim3 thread = thread_index(block_size, static_cast<unsigned>(track % warp_size), lane);
        const std::string name =
            "thread (" + numbers(thread) + ") of block (" + numbers(all.blocks[rank]) + ")";
        found = found || role.find(name) != std::string::npos;
    });
    return found;
}

/// The last event up to `until` at a line of a finding, by the thread that it names; by any if there is none.
std::int64_t place_of(const ClusterMoments& all, std::size_t until, const Dim3& block_size,
                      const SourceLine& line) {
    std::int64_t other = -1;
    for (std::size_t event = until + 1; event-- > 0;) {
        if (all.at(event, Head::warp) < 0 || all.at(event, Head::pc) != line.pc)
            continue;
        if (is_by(all, event, block_size, line.role))
            return static_cast<std::int64_t>(event);
        if (other < 0)
            other = static_cast<std::int64_t>(event);
    }
    return other;
}

struct Place {
    const ClusterMoments* cluster;
    std::size_t event;
};

/// When a finding was made, if that was recorded.
std::optional<Place> moment_of(const std::vector<ClusterMoments>& clusters, const Diagnostic& finding) {
    const auto is_named = [&](std::uint32_t pc) {
        return std::ranges::find(finding.locations, pc, &SourceLine::pc) != finding.locations.end();
    };
    for (const ClusterMoments& cluster : clusters)
        for (const ClusterMoments::Noted& each : cluster.noted)
            if (each.finding == finding.finding && std::ranges::any_of(each.pcs, is_named))
                return Place{&cluster, each.event};
    if (finding.finding == Finding::deadlock)
        for (const ClusterMoments& cluster : clusters)
            if (const std::size_t last = cluster.begins.size();
                last != 0 && !cluster.cut &&
                cluster.at(last - 1, Head::kind) == static_cast<std::int64_t>(Moment::deadlock))
                return Place{&cluster, last - 1};
    return std::nullopt;
}

/// The finding, its cluster, the moment when it was made, and the moment of each of its lines; -1 for what
/// was not recorded.
std::string finding_json(const Moments::Recorded& all, const Diagnostic& finding) {
    const auto moment = moment_of(all.clusters, finding);
    const auto places = list(finding.locations, [&](const SourceLine& line) {
        return std::to_string(moment ? place_of(*moment->cluster, moment->event, all.config.block, line)
                                     : -1);
    });
    const std::string where = moment ? std::to_string(moment->cluster->cluster) : "-1";
    const std::string when = moment ? std::to_string(moment->event) : "-1";
    return "{\"finding\":" + format_json(finding) + ",\"cluster\":" + where + ",\"event\":" + when +
           ",\"places\":" + places + "}";
}

/// What the numbers of enumerations mean, so that a reader of the recording needs nothing else.
std::string names_json() {
    constexpr std::array moments{"instruction",
                                 "shared_access",
                                 "global_access",
                                 "fence",
                                 "barrier_arrive",
                                 "barrier_complete",
                                 "mbarrier_init",
                                 "mbarrier_inval",
                                 "mbarrier_arrive",
                                 "mbarrier_phase",
                                 "mbarrier_observed",
                                 "mbarrier_fresh",
                                 "issue",
                                 "source_read",
                                 "landed",
                                 "commit",
                                 "group_wait",
                                 "group_observed",
                                 "wait",
                                 "exit",
                                 "block_start",
                                 "block_exit",
                                 "deadlock"};
    static_assert(moments.size() == static_cast<std::size_t>(Moment::deadlock) + 1);
    constexpr std::array copies{"cp.async",       "bulk load",   "bulk store",   "bulk copy to the cluster",
                                "bulk reduction", "tensor load", "tensor store", "tensor reduction",
                                "st.async",       "red.async",   "prefetch",     "cp.async arrival",
                                "wgmma"};
    static_assert(copies.size() == static_cast<std::size_t>(AsyncKind::wgmma) + 1);
    constexpr std::array completions{"cp.async group", "bulk group", "mbarrier", "none", "wgmma group"};
    static_assert(completions.size() == static_cast<std::size_t>(CompletionKind::wgmma_group) + 1);
    constexpr std::array fences{"fence or membar",     "fence.proxy.async",
                                "fence.proxy.alias",   "fence.proxy.tensormap",
                                "fence.mbarrier_init", "fence.proxy.async of one direction"};
    static_assert(fences.size() == static_cast<std::size_t>(FenceKind::proxy_async_acquire_release) + 1);
    constexpr std::array waits{"nothing",       "its end",         "the other lanes",
                               "the warpgroup", "a block barrier", "the cluster barrier",
                               "earlier grids", "an mbarrier"};
    static_assert(waits.size() == static_cast<std::size_t>(Wait::mbarrier) + 1);
    const auto quoted = [](const char* name) { return json_string(name); };
    return "{\"moments\":" + list(moments, quoted) + ",\"copies\":" + list(copies, quoted) +
           ",\"completions\":" + list(completions, quoted) + ",\"fences\":" + list(fences, quoted) +
           ",\"waits\":" + list(waits, quoted) + "}";
}

std::string cluster_json(const ClusterMoments& all) {
    std::string json = "{\"cluster\":" + std::to_string(all.cluster) +
                       ",\"blocks\":" + list(all.blocks, shape) + ",\"cut\":" + (all.cut ? "true" : "false") +
                       ",\"events\":[";
    for (std::size_t i = 0; i < all.numbers.size(); ++i) {
        if (i)
            json += ',';
        json += std::to_string(all.numbers[i]);
    }
    return json + "]}";
}

} // namespace
} // namespace moments

std::string describe_launch(const LaunchInfo& info, const std::vector<ClusterMoments>& clusters) {
    using namespace moments;
    Files files;
    const Kernel& kernel = *info.kernel;
    std::string json =
        "\"kernel\":" + json_string(kernel.name) + ",\"axis\":\"order, not time\",\"names\":" + names_json() +
        ",\"grid\":" + shape(info.config.grid) + ",\"block\":" + shape(info.config.block) +
        ",\"cluster\":" + shape(info.config.cluster) + ",\"shared\":" + std::to_string(info.shared_size);
    json += ",\"instructions\":" + instructions_of(info, clusters, files);
    json += ",\"files\":" + files.json(*kernel.program->module().text);
    return json + ",\"barriers\":" + barriers_of(info, clusters);
}

std::string Moments::json(std::span<const Diagnostic> findings) const {
    using namespace moments;
    if (!recorded_->launched)
        return "";
    return "{" + recorded_->head + ",\"clusters\":" + list(recorded_->clusters, cluster_json) +
           ",\"findings\":" +
           list(findings, [&](const Diagnostic& each) { return finding_json(*recorded_, each); }) + "}\n";
}

} // namespace emu

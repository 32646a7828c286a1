// Counters as a table and as JSON.

#include "listeners/counters.hpp"
#include "listeners/report.hpp"

#include "machine/reports.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace emu {
namespace {

constexpr std::array<std::string_view, counter_count> names{"warp_instructions",
                                                            "thread_instructions",
                                                            "global_load_requests",
                                                            "global_load_sectors",
                                                            "global_store_requests",
                                                            "global_store_sectors",
                                                            "global_atomic_requests",
                                                            "shared_load_requests",
                                                            "shared_load_wavefronts",
                                                            "shared_load_conflicts",
                                                            "shared_store_requests",
                                                            "shared_store_wavefronts",
                                                            "shared_store_conflicts",
                                                            "shared_atomic_requests",
                                                            "local_requests",
                                                            "bytes_global_to_registers",
                                                            "bytes_registers_to_global",
                                                            "bytes_cluster_shared",
                                                            "bytes_cp_async",
                                                            "bytes_cp_async_zeros",
                                                            "bytes_bulk_load",
                                                            "bytes_bulk_store",
                                                            "bytes_bulk_shared",
                                                            "bytes_bulk_reduce",
                                                            "bytes_tensor_load",
                                                            "bytes_tensor_store",
                                                            "bytes_tensor_reduce",
                                                            "tensor_load_sectors",
                                                            "tensor_store_sectors",
                                                            "bytes_st_async",
                                                            "bytes_multicast",
                                                            "async_operations",
                                                            "block_barriers",
                                                            "cluster_barriers",
                                                            "mbarrier_arrivals",
                                                            "mbarrier_phases"};

std::string shape(const Dim3& d) {
    return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

std::string values(const Counts& counts, bool zeros) {
    std::string text;
    for (unsigned i = 0; i < counter_count; ++i)
        if (zeros || counts.value[i])
            text += (text.empty() ? "" : ",") + json_string(names[i]) + ":" + std::to_string(counts.value[i]);
    return "{" + text + "}";
}

/// The last two parts of a path: enough to know the file.
std::string short_path(const std::string& path) {
    const auto last = path.rfind('/');
    if (last == std::string::npos || last == 0)
        return path;
    const auto before = path.rfind('/', last - 1);
    return before == std::string::npos ? path : path.substr(before + 1);
}

std::string row(std::string_view name, std::uint64_t value) {
    char line[96];
    std::snprintf(line, sizeof line, "  %-28.*s %16llu\n", static_cast<int>(name.size()), name.data(),
                  static_cast<unsigned long long>(value));
    return line;
}

} // namespace

std::string_view name_of(Counter counter) { return names[static_cast<unsigned>(counter)]; }

Counts& Counts::operator+=(const Counts& other) {
    for (unsigned i = 0; i < counter_count; ++i)
        value[i] += other.value[i];
    return *this;
}

void LaunchCounts::merge(const LaunchCounts& other) {
    launches += other.launches;
    total += other.total;
    for (const auto& [line, counts] : other.lines)
        lines[line] += counts;
}

Counters::Counters(std::string file) : file_(std::move(file)) {
    if (!file_.empty() && file_ != "-")
        std::ofstream(file_, std::ios::trunc);
}

Counters::~Counters() {
    if (file_ == "-")
        for (const LaunchCounts& launch : launches_)
            std::fputs(table(launch).c_str(), stderr);
}

void Counters::on_launch_begin(const LaunchInfo& info) {
    const std::lock_guard lock(mutex_);
    by_pc_[info.serial].assign(info.kernel->code.size(), {});
}

void Counters::add(std::uint64_t serial, const std::vector<std::pair<std::uint32_t, Counts>>& by_pc) {
    const std::lock_guard lock(mutex_);
    std::vector<Counts>& launch = by_pc_.at(serial);
    for (const auto& [pc, counts] : by_pc)
        launch[pc] += counts;
}

void Counters::on_launch_end(const LaunchInfo& info) {
    LaunchCounts launch;
    launch.kernel = info.kernel->name;
    launch.config = info.config;
    launch.serial = info.serial;
    const std::lock_guard lock(mutex_);
    const auto counted = by_pc_.extract(info.serial);
    const std::vector<Counts>& by_pc = counted.mapped();
    for (std::uint32_t pc = 0; pc < by_pc.size(); ++pc) {
        if (by_pc[pc] == Counts{})
            continue;
        launch.total += by_pc[pc];
        const SourceLine line = source_line(*info.kernel, pc, {});
        launch.lines[{line.file, line.line}] += by_pc[pc];
    }
    if (file_ == "-") {
        // One table for all launches of a kernel of one shape.
        for (LaunchCounts& known : launches_)
            if (known.kernel == launch.kernel && known.config == launch.config)
                return known.merge(launch);
    } else if (!file_.empty()) {
        std::ofstream out(file_, std::ios::app);
        out << json(launch) << '\n';
        if (!out)
            std::fprintf(stderr, "emulator: cannot write the counters file %s\n", file_.c_str());
        return;
    }
    launches_.push_back(std::move(launch));
}

std::string Counters::table(const LaunchCounts& counts) {
    const LaunchConfig& c = counts.config;
    std::string text = "counters of " + counts.kernel + ", " + std::to_string(counts.launches) +
                       (counts.launches == 1 ? " launch" : " launches") + ", grid " + shape(c.grid) +
                       " block " + shape(c.block) + "\n";
    for (unsigned i = 0; i < counter_count; ++i)
        if (counts.total.value[i])
            text += row(names[i], counts.total.value[i]);
    for (const auto& [line, values] : counts.lines) {
        const std::uint64_t conflicts =
            values[Counter::shared_load_conflicts] + values[Counter::shared_store_conflicts];
        const std::uint64_t sectors =
            values[Counter::global_load_sectors] + values[Counter::global_store_sectors];
        const std::uint64_t requests =
            values[Counter::global_load_requests] + values[Counter::global_store_requests];
        if (!conflicts && !requests)
            continue;
        char numbers[160];
        std::snprintf(numbers, sizeof numbers, "%llu global requests, %llu sectors, %llu bank conflicts",
                      static_cast<unsigned long long>(requests), static_cast<unsigned long long>(sectors),
                      static_cast<unsigned long long>(conflicts));
        text += "  " + short_path(line.first) + ":" + std::to_string(line.second) + ": " + numbers + "\n";
    }
    return text;
}

std::string Counters::json(const LaunchCounts& counts) {
    const LaunchConfig& c = counts.config;
    std::string text = "{\"launch\":" + std::to_string(counts.serial) +
                       ",\"kernel\":" + json_string(counts.kernel) + ",\"grid\":" + shape(c.grid) +
                       ",\"block\":" + shape(c.block) + ",\"cluster\":" + shape(c.cluster) +
                       ",\"total\":" + values(counts.total, true) + ",\"lines\":[";
    const char* separator = "";
    for (const auto& [line, numbers] : counts.lines) {
        text += separator + ("{\"file\":" + json_string(line.first)) +
                ",\"line\":" + std::to_string(line.second) + ",\"counts\":" + values(numbers, false) + "}";
        separator = ",";
    }
    return text + "]}";
}

} // namespace emu

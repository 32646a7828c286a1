// Counters as a table and as JSON.

#include "findings/report.hpp"
#include "hopper_emulator/counters.hpp"

#include "findings/lines.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace emu {
namespace {

struct Named {
    std::string_view name;
    std::string_view meaning; ///< For the table.
};

constexpr std::array<Named, counter_count> names{{
    {"warp_instructions", "PTX instructions, once for each warp that executes them"},
    {"thread_instructions", "the same, once for each active thread"},
    {"global_load_requests", "loads of a warp from global memory"},
    {"global_load_sectors", "32-byte sectors that they touch, each once per request"},
    {"global_store_requests", "stores of a warp to global memory"},
    {"global_store_sectors", "32-byte sectors that they touch"},
    {"global_atomic_requests", "atomics and reductions of a warp in global memory"},
    {"shared_load_requests", "loads of a warp from shared memory"},
    {"shared_load_wavefronts", "passes over the 32 banks that they take"},
    {"shared_load_conflicts", "passes beyond the fewest that an access of that width takes"},
    {"shared_store_requests", "stores of a warp to shared memory"},
    {"shared_store_wavefronts", "passes over the 32 banks that they take"},
    {"shared_store_conflicts", "passes beyond the fewest that an access of that width takes"},
    {"shared_atomic_requests", "atomics and reductions of a warp in shared memory"},
    {"local_requests", "accesses of a warp to its stack; spills are the assembler's and not among them"},
    {"bytes_global_to_registers", "by ordinary loads"},
    {"bytes_registers_to_global", "by ordinary stores"},
    {"bytes_cluster_shared", "between registers and the shared memory of another block"},
    {"bytes_cp_async", "landed in shared memory by cp.async"},
    {"bytes_cp_async_zeros", "of these: zeros that were not read"},
    {"bytes_bulk_load", "from global to shared memory by bulk copies"},
    {"bytes_bulk_store", "from shared to global memory by bulk copies"},
    {"bytes_bulk_shared", "from shared memory to that of a block of the cluster"},
    {"bytes_bulk_reduce", "by bulk reductions"},
    {"bytes_tensor_load", "of the boxes of tensor loads; multicast counts each destination"},
    {"bytes_tensor_store", "of tensor stores; only what lies inside the tensor"},
    {"bytes_tensor_reduce", "of the boxes of tensor reductions"},
    {"tensor_load_sectors", "32-byte sectors that tensor loads read, as an H200 counts them"},
    {"tensor_store_sectors", "32-byte sectors that tensor stores write"},
    {"bytes_st_async", "by st.async and red.async"},
    {"bytes_multicast", "of the loaded bytes: copies for further blocks, not read again"},
    {"async_operations", "asynchronous copies, stores and reductions issued"},
    {"block_barriers", "__syncthreads() and named barriers completed"},
    {"cluster_barriers", "cluster barriers completed"},
    {"mbarrier_arrivals", "arrivals that the count of mbarrier.init expects"},
    {"mbarrier_phases", "phases of mbarriers completed"},
    {"mbarriers", "that completed a phase after their mbarrier.init"},
    {"launches", "of the kernel"},
    {"blocks", "of all launches"},
    {"warps", "of all blocks"},
    {"threads", "of all blocks"},
    {"global_load_extra_sectors", "sectors beyond the fewest that hold the bytes of a load"},
    {"global_store_extra_sectors", "sectors beyond the fewest that hold the bytes of a store"},
    {"global_load_requests_wide", "of the loads: those of 16 bytes a thread"},
    {"global_store_requests_wide", "of the stores: those of 16 bytes a thread"},
    {"shared_load_requests_wide", "of the loads: those of 16 bytes a thread"},
    {"shared_store_requests_wide", "of the stores: those of 16 bytes a thread"},
    {"bytes_registers_to_shared", "by ordinary stores to the block's own shared memory"},
    {"bytes_shared_to_registers", "by ordinary loads from the block's own shared memory"},
    {"async_waits", "times that a thread learned of the end of copies of its own"},
    {"bytes_in_flight_at_waits", "of the thread's copies that it had yet to wait for then"},
    {"async_uses", "reads of what copies brought, by threads that issue copies"},
    {"bytes_in_flight_at_uses", "of the thread's copies that it had yet to wait for then"},
    {"bytes_loading_at_uses", "of these: by copies to shared memory"},
    {"bytes_loading_at_stores", "the same at each store of a thread to global memory"},
    {"shared_stores_ahead", "of threads whose warp does not know that its last arrival was answered"},
    {"bytes_in_flight_at_issues", "at each copy: of the thread's copies of other groups and phases"},
    {"instructions_arrival_to_wait", "of each thread between an arrival and its first try to wait"},
    {"instructions_issue_to_wait", "of each thread between its last copy and its first try to wait"},
    {"bytes_loaded_arrival_to_wait", "by ordinary loads between an arrival and the first try to wait"},
    {"bytes_announced", "to mbarriers, by expect_tx"},
    {"wgmma_instructions", "wgmma.mma_async, once for each warp"},
    {"bytes_shared_to_wgmma", "of the tiles of A and B, each once for the four warps"},
    {"wgmma_wavefronts", "passes over the 32 banks that they take; no layout takes more"},
    {"matrix_instructions", "products of matrices that a warp executes"},
    {"multiply_adds_f16", "in them, by the type of A; with a sparse A also those with its zeros"},
    {"multiply_adds_bf16", "the same"},
    {"multiply_adds_tf32", "the same"},
    {"multiply_adds_f64", "the same"},
    {"multiply_adds_fp8", "the same, e4m3 and e5m2"},
    {"multiply_adds_int8", "the same, s8 and u8"},
    {"multiply_adds_int4", "the same, s4 and u4"},
    {"multiply_adds_b1", "the same, single bits"},
}};

/// What is worth dividing.
struct Ratio {
    Counter above, below;
    std::string_view name;
    std::string_view meaning;
};

constexpr Ratio ratios[] = {
    {Counter::thread_instructions, Counter::warp_instructions, "threads per instruction",
     "active threads of a warp; 32 is full"},
    {Counter::global_load_sectors, Counter::global_load_requests, "sectors per global load",
     "4 is the fewest for 32 threads and 4 bytes each, 16 for 16 bytes"},
    {Counter::global_store_sectors, Counter::global_store_requests, "sectors per global store",
     "4 is the fewest for 32 threads and 4 bytes each, 16 for 16 bytes"},
    {Counter::shared_load_wavefronts, Counter::shared_load_requests, "wavefronts per shared load",
     "1 is the fewest for up to 4 bytes a thread, 2 for 8, 4 for 16"},
    {Counter::shared_store_wavefronts, Counter::shared_store_requests, "wavefronts per shared store",
     "1 is the fewest for up to 4 bytes a thread, 2 for 8, 4 for 16"},
};

std::string shape(const Dim3& d) {
    return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

std::string values(const Counts& counts, bool zeros) {
    std::string text;
    for (unsigned i = 0; i < counter_count; ++i)
        if (zeros || counts.value[i])
            text += (text.empty() ? "" : ",") + json_string(names[i].name) + ":" +
                    std::to_string(counts.value[i]);
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

std::string row(std::string_view name, const std::string& value, std::string_view meaning) {
    std::string text = "  " + std::string(name);
    text.resize(std::max<std::size_t>(text.size(), 30), ' ');
    text += std::string(value.size() < 14 ? 14 - value.size() : 0, ' ') + value;
    return text + "  " + std::string(meaning) + "\n";
}

std::string row(const Ratio& ratio, const Counts& counts) {
    const std::uint64_t below = counts[ratio.below];
    char value[32] = "-";
    if (below)
        std::snprintf(value, sizeof value, "%.2f",
                      static_cast<double>(counts[ratio.above]) / static_cast<double>(below));
    return row(ratio.name, value, ratio.meaning);
}

} // namespace

std::string_view name_of(Counter counter) { return names[static_cast<unsigned>(counter)].name; }
std::string_view meaning_of(Counter counter) { return names[static_cast<unsigned>(counter)].meaning; }

Counts& Counts::operator+=(const Counts& other) {
    for (unsigned i = 0; i < counter_count; ++i)
        value[i] += other.value[i];
    return *this;
}

void LaunchCounts::merge(const LaunchCounts& other) {
    launches += other.launches;
    total += other.total;
    warps.resize(std::max(warps.size(), other.warps.size()));
    for (std::size_t i = 0; i < other.warps.size(); ++i)
        warps[i] += other.warps[i];
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
    running_[info.serial].by_pc.assign(info.kernel->code.size(), {});
}

void Counters::add(std::uint64_t serial, const std::vector<std::pair<std::uint32_t, Counts>>& by_pc,
                   const std::vector<Counts>& by_warp) {
    const std::lock_guard lock(mutex_);
    Running& launch = running_.at(serial);
    for (const auto& [pc, counts] : by_pc)
        launch.by_pc[pc] += counts;
    launch.by_warp.resize(std::max(launch.by_warp.size(), by_warp.size()));
    for (std::size_t i = 0; i < by_warp.size(); ++i)
        launch.by_warp[i] += by_warp[i];
}

void Counters::on_launch_end(const LaunchInfo& info) {
    LaunchCounts launch;
    launch.kernel = info.kernel->name;
    launch.config = info.config;
    launch.serial = info.serial;
    const std::lock_guard lock(mutex_);
    auto counted = running_.extract(info.serial);
    const std::vector<Counts>& by_pc = counted.mapped().by_pc;
    launch.warps = std::move(counted.mapped().by_warp);
    for (std::uint32_t pc = 0; pc < by_pc.size(); ++pc) {
        if (by_pc[pc] == Counts{})
            continue;
        launch.total += by_pc[pc];
        const SourceLine line = source_line(*info.kernel, pc, {});
        launch.lines[{line.file, line.line}] += by_pc[pc];
    }
    launch.total[Counter::launches] = 1;
    if (file_ == "-") {
        // One table for all launches of a kernel of one shape.
        for (LaunchCounts& known : launches_)
            if (known.kernel == launch.kernel && known.config == launch.config)
                return known.merge(launch);
    } else if (!file_.empty()) {
        std::ofstream out(file_, std::ios::app);
        out << json(launch) << std::endl;
        if (!out)
            lose_output(Output::counters, file_);
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
        text += row(names[i].name, std::to_string(counts.total.value[i]), names[i].meaning);
    for (const Ratio& each : ratios)
        text += row(each, counts.total);
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
                       ",\"total\":" + values(counts.total, true) + ",\"warps\":[";
    const char* separator = "";
    for (const Counts& warp : counts.warps) {
        text += separator + values(warp, false);
        separator = ",";
    }
    text += "],\"lines\":[";
    separator = "";
    for (const auto& [line, numbers] : counts.lines) {
        text += separator + ("{\"file\":" + json_string(line.first)) +
                ",\"line\":" + std::to_string(line.second) + ",\"counts\":" + values(numbers, false) + "}";
        separator = ",";
    }
    return text + "]}";
}

} // namespace emu

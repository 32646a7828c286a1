#include "fair_clock.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sstream>
#include <utility>

namespace test_support {
namespace {

unsigned usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

Load load_of_machine() {
    std::ifstream file("/proc/loadavg");
    return parse_load(std::string(std::istreambuf_iterator<char>(file), {}), usable_cores());
}

} // namespace

Load parse_load(const std::string& text, unsigned cores) {
    std::istringstream words(text);
    double average = 0;
    Load load{.running = 1, .cores = std::max(cores, 1u)};
    words >> average >> average >> average >> load.running;
    load.running = std::max(words ? load.running : 1u, 1u);
    return load;
}

FairClock::FairClock(std::function<Load()> load) : load_(load ? std::move(load) : load_of_machine) {}

FairClock::Milliseconds FairClock::look() {
    const auto now = Clock::now();
    const Load load = load_();
    const double share = static_cast<double>(load.cores) / load.running;
    counted_ +=
        std::chrono::duration_cast<Clock::duration>((now - last_) * std::clamp(share, 1.0 / slowest, 1.0));
    last_ = now;
    return std::chrono::duration_cast<Milliseconds>(counted_);
}

FairClock::Milliseconds FairClock::elapsed() const {
    return std::chrono::duration_cast<Milliseconds>(Clock::now() - begin_);
}

} // namespace test_support

#include "wasm/outcome.hpp"

#include <array>
#include <exception>
#include <memory>
#include <utility>

namespace page {
namespace {

std::string list_of(const std::vector<emu::Diagnostic>& findings) {
    std::string json = "[";
    for (const emu::Diagnostic& each : findings)
        json += (json.size() > 1 ? "," : "") + emu::format_json(each);
    return json + "]";
}

std::size_t recorded_events = 0; ///< Of each launch, at most.

const std::string& text(unsigned which) {
    const Outcome& o = outcome();
    const std::array texts{&o.error, &o.findings, &o.counters, &o.trace, &o.told, &o.moments};
    return *texts.at(which);
}

} // namespace

Outcome& outcome() {
    static Outcome last;
    return last;
}

emu::Settings settings_of(unsigned order, double seed, bool checks, double most_instructions) {
    using Order = emu::CompletionOrder;
    emu::Settings settings;
    constexpr std::array orders{Order::late, Order::early, Order::random};
    settings.order = orders.at(order);
    settings.seed = static_cast<std::uint64_t>(seed);
    settings.checks = checks;
    settings.threads = 1; // As in a page, so that what is found first is the same on a host with more.
    settings.most_instructions = static_cast<std::uint64_t>(most_instructions);
    return settings;
}

Watch::Watch(emu::Device& device) {
    auto counters = std::make_unique<emu::Counters>("");
    auto trace = std::make_unique<emu::Trace>("");
    counters_ = counters.get();
    trace_ = trace.get();
    device.add_observer(std::move(counters));
    device.add_observer(std::move(trace));
    if (recorded_events == 0)
        return;
    auto moments = std::make_unique<emu::Moments>(recorded_events);
    moments_ = moments.get();
    device.add_observer(std::move(moments));
}

void Watch::keep(const emu::LaunchOutcome& launched) const {
    if (launched.result.error)
        std::rethrow_exception(launched.result.error);
    Outcome& o = outcome();
    o.error = launched.message;
    o.findings = list_of(launched.result.diagnostics);
    for (const emu::Diagnostic& each : launched.result.diagnostics)
        o.told += emu::format(each);
    o.instructions = launched.result.instructions;
    o.stopped = launched.result.stopped;
    if (!counters_->launches().empty())
        o.counters = emu::Counters::json(counters_->launches().back());
    o.trace = trace_->json();
    if (moments_)
        o.moments = moments_->json(launched.result.diagnostics);
}

} // namespace page

// meson.build exports each of these.
extern "C" {

/// From now on launches are recorded moment by moment, up to so many events of each; 0: they are not.
void emulator_record(double events) { page::recorded_events = static_cast<std::size_t>(events); }
/// Of the launch that ran last. 0: why it could not be run; 1: the findings, a list of JSON; 2: counters, 3:
/// time line, both of JSON; 4: the findings as the command line prints them; 5: its moments, of JSON.
const char* emulator_text(unsigned which) { return page::text(which).data(); }
/// Its bytes.
std::size_t emulator_text_size(unsigned which) { return page::text(which).size(); }
/// Thread instructions that it executed.
double emulator_instructions() { return static_cast<double>(page::outcome().instructions); }
/// Whether it was stopped before its end.
bool emulator_stopped() { return page::outcome().stopped; }
/// What the array number `which` (of the arrays alone) held at its end, or null if there is none.
const std::byte* emulator_array(unsigned which) {
    const auto& arrays = page::outcome().arrays;
    return which < arrays.size() ? arrays[which].data() : nullptr;
}
/// Its bytes.
std::size_t emulator_array_size(unsigned which) {
    const auto& arrays = page::outcome().arrays;
    return which < arrays.size() ? arrays[which].size() : 0;
}

} // extern "C"

// What Order tells: two operations that nothing orders, memory that the host changed or freed too early.

#include "cuda/diagnostics.hpp"
#include "cuda/order.hpp"
#include "cuda/order_words.hpp"
#include "cuda/state.hpp"
#include "hopper_emulator/finding_kinds.hpp"

#include <algorithm>
#include <cstdio>

namespace emu::cuda {
namespace {

/// "1 byte", "2 bytes".
std::string count_of(std::uint64_t n, const std::string& what) {
    return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

const char* kind_of(Allocation::Kind kind) {
    switch (kind) {
    case Allocation::Kind::managed:
        return "managed memory";
    case Allocation::Kind::host:
    case Allocation::Kind::registered:
        return "page-locked host memory";
    default:
        return "device memory";
    }
}

} // namespace

std::string Order::describe(Address begin, Address end) const {
    auto found = state_.device().memory().find(begin);
    if (!found)
        found = state_.device().memory().find_freed(begin);
    if (!found)
        return count_of(end - begin, "byte");
    if (begin == found->base && end - begin == found->size)
        return "the " + count_of(found->size, "byte") + " of " +
               (found->name.empty() ? kind_of(found->kind) : "the variable " + found->name);
    const Address first = begin - found->base;
    return "bytes " + std::to_string(first) + " to " + std::to_string(end - found->base - 1) + " of " +
           (found->name.empty()
                ? "an array of " + count_of(found->size, "byte") + " in " + kind_of(found->kind)
                : "the variable " + found->name);
}

void Order::tell(Finding kind, const std::string& key, std::string message, std::string advice,
                 std::vector<SourceLine> lines) {
    if (!told_.insert(std::string(name_of(kind)) + ' ' + key).second)
        return;
    Diagnostic finding;
    finding.finding = kind;
    finding.fault = Fault::none;
    finding.message = std::move(message);
    finding.advice = std::move(advice);
    finding.locations = std::move(lines);
    report(state_, finding);
}

/// The later operation stands behind an event of the other's stream, but one from before the other.
bool Order::waits_for_early_event(const Operation& earlier, const Operation& later) const {
    const auto line = lines_.find(earlier.place.line);
    const std::uint32_t known = later.place.clock.at(earlier.place.line);
    return line != lines_.end() && known != 0 && std::ranges::binary_search(line->second.recorded, known);
}

std::string Order::why_unordered(const Operation& earlier, const Operation& later) const {
    const OperationFacts &a = earlier.facts, &b = later.facts;
    if (a.graph && a.graph == b.graph)
        return "no path of edges leads from one node to the other";
    if (waits_for_early_event(earlier, later))
        return b.stream + " waits for an event of " + a.stream + ", but the event was recorded before the " +
               (a.kind == OperationKind::kernel ? "kernel" : "operation") + " that it should cover";
    if ((a.legacy && b.non_blocking) || (b.legacy && a.non_blocking))
        return (a.legacy ? b : a).stream + " was made with cudaStreamNonBlocking and so does not wait for "
                                           "the default stream, nor the default "
                                           "stream for it";
    return "no event orders the two";
}

std::string Order::how_to_order(const Operation& earlier, const Operation& later) const {
    const OperationFacts &a = earlier.facts, &b = later.facts;
    if (a.graph && a.graph == b.graph)
        return b.captured
                   ? "Record an event after " + a.what + " in its stream and let the stream of " + b.what +
                         " wait for it: cudaStreamWaitEvent before the launch of " + b.what + "."
                   : "Add a dependency of the node of " + b.what + " on the node of " + a.what + ".";
    if (waits_for_early_event(earlier, later))
        return "Record the event after the launch of " + a.what + ", and let " + b.stream +
               " wait for it after that.";
    return "Record an event after " + a.what + " (cudaEventRecord) and let " + b.stream +
           " wait for it before " + b.what + " (cudaStreamWaitEvent).";
}

void Order::tell_race(const Operation& earlier, const Operation& later, const Clash& clash) {
    const OperationFacts &a = earlier.facts, &b = later.facts;
    if (clash.later->touch == Touch::free)
        return tell_freed(earlier, with_stream(b), why_unordered(earlier, later),
                          "Record an event after " + a.what + " and let " + b.stream +
                              " wait for it: cudaStreamWaitEvent before cudaFreeAsync.",
                          clash);
    std::vector<SourceLine> lines;
    add_line(lines, b, *clash.later);
    add_line(lines, a, *clash.earlier);
    const std::string same =
        verb(clash.earlier->touch) == std::string(verb(clash.later->touch)) ? " as well" : "";
    const auto found = state_.device().memory().find(clash.begin);
    tell(Finding::race_kernels,
         a.what + '\n' + b.what + '\n' + std::to_string(found ? found->base : clash.begin),
         capitalised(with_stream(b)) + " " + verb(clash.later->touch) + " " +
             describe(clash.begin, clash.end) + ", which " + with_stream(a, b) + " " +
             verb(clash.earlier->touch) + same +
             ". They may run at the same time or in any order: " + why_unordered(earlier, later) + ".",
         how_to_order(earlier, later), std::move(lines));
}

void Order::tell_freed(const Operation& user, const std::string& freeing, const std::string& why,
                       const std::string& advice, const Clash& clash) {
    std::vector<SourceLine> lines;
    add_line(lines, user.facts, *clash.earlier);
    const auto found = state_.device().memory().find(clash.begin);
    tell(Finding::freed_in_use, user.facts.what + '\n' + std::to_string(found ? found->base : clash.begin),
         freeing + " gives back " + describe(clash.begin, clash.end) + ", which " + with_stream(user.facts) +
             " may still use: " + why + ".",
         advice, std::move(lines));
}

void Order::tell_host_write(const Operation& operation, const HostWatch& watch, Address begin, Address end) {
    const OperationFacts& facts = operation.facts;
    std::vector<SourceLine> lines;
    for (const FootprintPiece& piece : facts.footprint->pieces)
        if (lines.empty() && watch.overlaps(piece.begin, piece.end))
            add_line(lines, facts, piece);
    const auto found = state_.device().memory().find(begin);
    tell(Finding::race_host, facts.what + '\n' + std::to_string(found ? found->base : begin),
         "The host changed " + describe(begin, end) + ", which " + a_kind(facts) +
             " that has not been waited for may still " + (watch.written() ? "write" : "read") + ": " +
             with_stream(facts) + ".",
         "Wait before the host writes there: cudaStreamSynchronize on the stream of the " +
             (a_kind(facts).substr(2)) +
             ", or cudaEventSynchronize on an event recorded after it. Or give each round memory of its own.",
         std::move(lines));
}

void Order::tell_host_access(const OperationFacts& facts, const HostGuard::Touched& touched) {
    const char* const how = touched.write ? "writes" : "reads";
    const auto found = state_.device().memory().find(touched.address);
    const Address base = found ? found->base : touched.address;
    std::vector<SourceLine> lines;
    for (const FootprintPiece& piece : facts.footprint->pieces)
        if (touched.address >= piece.begin && touched.address < piece.end)
            add_line(lines, facts, piece);
    tell(Finding::race_host, facts.what + '\n' + std::to_string(base),
         std::string("The host ") + how + " byte " + std::to_string(touched.address - base) + " of " +
             (found ? describe(found->base, found->base + found->size) : "memory") + ", which " +
             a_kind(facts) + " that has not been waited for may still write: " + with_stream(facts) + ".",
         std::string("Wait before the host ") + how + " there: cudaStreamSynchronize on the stream of the " +
             a_kind(facts).substr(2) + ", or cudaEventSynchronize on an event recorded after it.",
         std::move(lines));
}

} // namespace emu::cuda

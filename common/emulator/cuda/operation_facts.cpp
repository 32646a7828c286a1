#include "cuda/operation_facts.hpp"

#include "cuda/memory.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/timeline.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace emu::cuda {
namespace {

constexpr std::size_t most_rows = 1u << 16; ///< Boxes of more rows are not compared with anything.

Address address_of(const std::byte* pointer) { return reinterpret_cast<Address>(pointer); }

/// A box of rows in memory.
struct Box {
    Address base = 0;
    std::size_t width = 0, height = 1, depth = 1, pitch = 0, slice = 0; ///< Bytes, rows, slices.
    bool is_flat() const { return depth == 1 && (height == 1 || pitch == width); }
};
Box destination_of(const CopyOperation& c) {
    return {address_of(c.destination), c.width, c.height, c.depth, c.destination_pitch, c.destination_slice};
}
Box source_of(const CopyOperation& c) {
    return {address_of(c.source), c.width, c.height, c.depth, c.source_pitch, c.source_slice};
}
Box destination_of(const FillOperation& f) {
    return {address_of(f.destination), f.width * f.element_size, f.height, f.depth, f.pitch, f.slice};
}

void add(Footprint& footprint, const Box& box, Touch touch) {
    if (box.width == 0 || box.height == 0 || box.depth == 0)
        return;
    if (box.is_flat()) {
        footprint.pieces.push_back({box.base, box.base + box.width * box.height, touch});
        return;
    }
    for (std::size_t z = 0; z < box.depth; ++z)
        for (std::size_t y = 0; y < box.height; ++y) {
            const Address row = box.base + z * box.slice + y * box.pitch;
            footprint.pieces.push_back({row, row + box.width, touch});
        }
}

bool is_small_enough(const Box& box) { return box.is_flat() || box.height * box.depth <= most_rows; }

const char* kind_of(const std::optional<Allocation>& memory) {
    if (!memory)
        return "pageable host";
    switch (memory->kind) {
    case Allocation::Kind::host:
    case Allocation::Kind::registered:
        return "page-locked host";
    case Allocation::Kind::managed:
        return "managed";
    default:
        return "device";
    }
}

/// "a::f<int>" of "void a::f<int>(int*)".
std::string short_name(std::string name) {
    for (const std::string gone : {"(anonymous namespace)::", "void "})
        for (std::size_t at = 0; (at = name.find(gone)) != std::string::npos;)
            name.erase(at, gone.size());
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
        if (name[i] == '(' && depth == 0 && i > 0)
            return name.substr(0, i);
    }
    return name;
}

bool is_host_side(const std::optional<Allocation>& memory) {
    return !memory || memory->kind == Allocation::Kind::host || memory->kind == Allocation::Kind::registered;
}

OperationFacts facts_about(State& state, const CopyOperation& copy) {
    const GlobalMemory& memory = state.device().memory();
    const auto to = memory.find(address_of(copy.destination)), from = memory.find(address_of(copy.source));
    OperationFacts facts;
    facts.kind = OperationKind::copy;
    facts.what = std::string("the copy from ") + kind_of(copy.staged ? std::nullopt : from) + " to " +
                 kind_of(to) + " memory";
    // "For transfers from any host memory to any host memory, the function is fully synchronous with respect
    // to the host" (CUDA runtime API, "API synchronization behavior").
    const bool returns_early = !copy.host_waits && to && !(is_host_side(to) && is_host_side(from));
    facts.watched = returns_early && (is_host_visible(to->kind) || (from && is_host_visible(from->kind)));
    const bool all = state.device().footprint_wish() == FootprintWish::all;
    if (!(facts.watched || all) || !is_small_enough(destination_of(copy)) ||
        !is_small_enough(source_of(copy)))
        return facts;
    auto footprint = std::make_shared<Footprint>();
    if (to)
        add(*footprint, destination_of(copy), Touch::write);
    if (from)
        add(*footprint, source_of(copy), Touch::read);
    std::ranges::sort(footprint->pieces, {}, &FootprintPiece::begin);
    facts.footprint = std::move(footprint);
    return facts;
}

OperationFacts facts_about(State& state, const FillOperation& fill) {
    OperationFacts facts;
    facts.kind = OperationKind::fill;
    facts.what = "the memset";
    const auto to = state.device().memory().find(address_of(fill.destination));
    // cudaMemset of such memory is "fully synchronous" (CUDA runtime API, "API synchronization behavior").
    const bool of_host = to && is_host_visible(to->kind);
    facts.watched = of_host && !fill.host_waits;
    facts.tells_host = of_host && fill.host_waits;
    const bool all = state.device().footprint_wish() == FootprintWish::all;
    if (!(facts.watched || all) || !is_small_enough(destination_of(fill)))
        return facts;
    auto footprint = std::make_shared<Footprint>();
    add(*footprint, destination_of(fill), Touch::write);
    facts.footprint = std::move(footprint);
    return facts;
}

OperationFacts facts_about(State& state, const FreeOperation& free) {
    OperationFacts facts;
    facts.kind = OperationKind::free;
    facts.what = "cudaFreeAsync";
    if (const auto found = state.device().memory().find(reinterpret_cast<Address>(free.pointer)))
        facts.footprint = std::make_shared<Footprint>(
            Footprint{{{found->base, found->base + found->size, Touch::free}}, {}, false});
    return facts;
}

OperationFacts facts_about(State&, const KernelOperation& kernel) {
    OperationFacts facts;
    facts.kind = OperationKind::kernel;
    facts.what = "kernel " + short_name(kernel.function->readable_name());
    facts.watched = true;
    return facts;
}

OperationFacts facts_about(State&, const EventOperation& event) {
    OperationFacts facts;
    facts.kind = event.record ? OperationKind::record : OperationKind::other;
    return facts;
}

template <class Other>
OperationFacts facts_about(State&, const Other&) {
    return {};
}

template <class Row>
bool all_rows(const Box& box, Row&& row) {
    for (std::size_t z = 0; z < box.depth; ++z)
        for (std::size_t y = 0; y < box.height; ++y)
            if (!row(z, y))
                return false;
    return true;
}

/// The copy changes nothing.
bool is_there_already(State& state, const CopyOperation& c) {
    const std::byte* const to = bytes_of(state, c.destination);
    const std::byte* const from = bytes_of(state, c.source);
    return all_rows(destination_of(c), [&](std::size_t z, std::size_t y) {
        return std::memcmp(to + z * c.destination_slice + y * c.destination_pitch,
                           from + z * c.source_slice + y * c.source_pitch, c.width) == 0;
    });
}

bool is_there_already(State& state, const FillOperation& f) {
    const std::byte* const to = bytes_of(state, f.destination);
    return all_rows(destination_of(f), [&](std::size_t z, std::size_t y) {
        const std::byte* const row = to + z * f.slice + y * f.pitch;
        for (std::size_t i = 0; i < f.width; ++i)
            if (std::memcmp(row + i * f.element_size, &f.value, f.element_size) != 0)
                return false;
        return true;
    });
}

template <class WritingOperation>
void note_write(State& state, const WritingOperation& operation, OperationFacts& facts) {
    if (!facts.footprint || facts.footprint->pieces.empty())
        return;
    for (const FootprintPiece& piece : facts.footprint->pieces)
        if (piece.touch == Touch::write)
            state.timeline().order().before_write(piece.begin, piece.end);
    if (state.device().footprint_wish() != FootprintWish::all || !is_there_already(state, operation))
        return;
    auto unchanged = std::make_shared<Footprint>(*facts.footprint);
    for (FootprintPiece& piece : unchanged->pieces)
        if (piece.touch == Touch::write)
            piece.touch = Touch::same_value;
    facts.footprint = std::move(unchanged);
}

} // namespace

OperationFacts facts_of(State& state, const Operation& operation) {
    if (!state.settings().checks)
        return {};
    return std::visit([&](const auto& each) { return facts_about(state, each); }, operation);
}

void note_start(State& state, const Operation& operation, OperationFacts& facts) {
    if (const auto* const copy = std::get_if<CopyOperation>(&operation))
        note_write(state, *copy, facts);
    else if (const auto* const fill = std::get_if<FillOperation>(&operation))
        note_write(state, *fill, facts);
    else if (const auto* const free = std::get_if<FreeOperation>(&operation))
        facts.footprint = facts_about(state, *free).footprint; // A node's memory exists only now.
}

} // namespace emu::cuda

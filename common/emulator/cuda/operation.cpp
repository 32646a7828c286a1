#include "cuda/operation.hpp"

#include "cuda/graph.hpp"
#include "cuda/memory.hpp"
#include "cuda/operation_facts.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

namespace emu::cuda {
namespace {

/// Bytes from the first to behind the last that a box of rows touches; nothing on overflow.
std::optional<std::uint64_t> reach(std::size_t width, std::size_t height, std::size_t depth,
                                   std::size_t pitch, std::size_t slice) {
    std::uint64_t rows = 0, slices = 0, total = 0;
    if (__builtin_mul_overflow(height - 1, pitch, &rows) ||
        __builtin_mul_overflow(depth - 1, slice, &slices) || __builtin_add_overflow(rows, slices, &total) ||
        __builtin_add_overflow(total, width, &total))
        return std::nullopt;
    return total;
}

std::string hex(const void* address) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", address);
    return text;
}

enum class Side { host, device, any };

/// Checks one end of a transfer of `bytes` bytes at `address`.
Error check_range(State& state, const char* end, const void* address, std::uint64_t bytes, Side side) {
    const auto base = reinterpret_cast<Address>(address);
    auto found = state.device().memory().find(base);
    const auto freed = found ? std::nullopt : state.device().memory().find_freed(base);
    if (freed && freed->kept)
        found = freed; // A graph's memory: it exists while the graph runs.
    if (!found) {
        if (side == Side::device) {
            say_once(
                std::string("the ") + end + " " + hex(address) +
                (freed ? " of a copy or memset lies in device memory that was freed"
                       : " of a copy or memset is not device memory; were destination and source swapped?"));
            return Error::invalid_value;
        }
        return address ? Error::success : Error::invalid_value;
    }
    if (side == Side::host && found->kind == Allocation::Kind::device) {
        say_once(std::string("the ") + end + " " + hex(address) +
                 " of a copy is device memory, but the copy kind says host memory");
        return Error::invalid_value;
    }
    const std::uint64_t left = found->base + found->size - base;
    if (bytes > left) {
        say_once("a copy or memset of " + std::to_string(bytes) + " bytes reaches " +
                 std::to_string(bytes - left) + " bytes beyond the end of its " + end +
                 ", an allocation of " + std::to_string(found->size) + " bytes");
        return Error::invalid_value;
    }
    return Error::success;
}

struct Sides {
    Side destination, source;
};
std::optional<Sides> sides_of(abi::CopyKind kind) {
    switch (kind) {
    case abi::CopyKind::host_to_host:
        return Sides{Side::host, Side::host};
    case abi::CopyKind::host_to_device:
        return Sides{Side::device, Side::host};
    case abi::CopyKind::device_to_host:
        return Sides{Side::host, Side::device};
    case abi::CopyKind::device_to_device:
        return Sides{Side::device, Side::device};
    case abi::CopyKind::by_address:
        return Sides{Side::any, Side::any};
    }
    return std::nullopt;
}

/// A row of the destination has been written.
void note_row(State& state, const std::byte* row, std::uint64_t bytes) {
    state.device().memory().note_written(reinterpret_cast<Address>(row), bytes);
}

Error run(State& state, const CopyOperation& c) {
    if (c.width == 0 || c.height == 0 || c.depth == 0)
        return Error::success;
    std::byte* const to = bytes_of(state, c.destination);
    const std::byte* const from = bytes_of(state, c.source);
    const bool flat =
        c.depth == 1 && (c.height == 1 || (c.destination_pitch == c.width && c.source_pitch == c.width));
    if (flat) {
        std::memmove(to, from, c.width * c.height);
        note_row(state, c.destination, c.width * c.height);
        return Error::success;
    }
    for (std::size_t z = 0; z < c.depth; ++z)
        for (std::size_t y = 0; y < c.height; ++y) {
            const std::size_t row = z * c.destination_slice + y * c.destination_pitch;
            std::memmove(to + row, from + z * c.source_slice + y * c.source_pitch, c.width);
            note_row(state, c.destination + row, c.width);
        }
    return Error::success;
}

void fill_row(std::byte* row, const FillOperation& f) {
    switch (f.element_size) {
    case 1:
        std::memset(row, static_cast<int>(f.value & 0xff), f.width);
        break;
    case 2:
        std::fill_n(reinterpret_cast<std::uint16_t*>(row), f.width, static_cast<std::uint16_t>(f.value));
        break;
    default:
        std::fill_n(reinterpret_cast<std::uint32_t*>(row), f.width, f.value);
    }
}

Error run(State& state, const FillOperation& f) {
    for (std::size_t z = 0; z < f.depth; ++z)
        for (std::size_t y = 0; y < f.height; ++y) {
            std::byte* const row = f.destination + z * f.slice + y * f.pitch;
            fill_row(bytes_of(state, row), f);
            note_row(state, row, f.width * f.element_size);
        }
    return Error::success;
}

Error run(State& state, const AllocationOperation& a) {
    if (state.device().memory().restore(a.base))
        return Error::success;
    say_once("a graph is launched again before the memory of its allocation node was freed; free it, or "
             "instantiate "
             "the graph with cudaGraphInstantiateFlagAutoFreeOnLaunch");
    return Error::invalid_value;
}
Error run(State& state, const FreeOperation& f) { return release(state, f.pointer); }

/// Only what is done at once; events only order, which their tasks do by where they stand.
template <class Other>
Error run(State&, const Other&) {
    return Error::success;
}

bool is_pageable(State& state, const void* pointer) {
    return !state.device().memory().find(reinterpret_cast<Address>(pointer));
}

} // namespace

Error check(State& state, const CopyOperation& c) {
    const auto sides = sides_of(c.kind);
    if (!sides)
        return Error::invalid_copy_direction;
    if (c.width == 0 || c.height == 0 || c.depth == 0)
        return Error::success;
    if (c.height > 1 && (c.width > c.destination_pitch || c.width > c.source_pitch))
        return Error::invalid_pitch;
    const auto to = reach(c.width, c.height, c.depth, c.destination_pitch, c.destination_slice);
    const auto from = reach(c.width, c.height, c.depth, c.source_pitch, c.source_slice);
    if (!to || !from)
        return Error::invalid_value;
    if (const Error e = check_range(state, "destination", c.destination, *to, sides->destination);
        e != Error::success)
        return e;
    return check_range(state, "source", c.source, *from, sides->source);
}

Error check(State& state, const FillOperation& f) {
    if (f.element_size != 1 && f.element_size != 2 && f.element_size != 4)
        return Error::invalid_value;
    if (f.width == 0 || f.height == 0 || f.depth == 0)
        return Error::success;
    std::size_t row = 0;
    if (__builtin_mul_overflow(f.width, f.element_size, &row))
        return Error::invalid_value;
    if (f.height > 1 && row > f.pitch)
        return Error::invalid_value;
    if (reinterpret_cast<Address>(f.destination) % f.element_size != 0 ||
        (f.height > 1 && f.pitch % f.element_size))
        return Error::invalid_value;
    const auto bytes = reach(row, f.height, f.depth, f.pitch, f.slice);
    return bytes ? check_range(state, "destination", f.destination, *bytes, Side::device)
                 : Error::invalid_value;
}

TaskRef task_of(State& state, const Operation& operation) {
    if (const auto* host = std::get_if<HostOperation>(&operation))
        return std::make_shared<Task>(HostWork{[call = *host] { call.function(call.user_data); }});
    const auto task = empty_task();
    task->facts = facts_of(state, operation);
    if (const auto* kernel = std::get_if<KernelOperation>(&operation)) {
        if (kernel->programmatic)
            state.device().wish_for(FootprintWish::all);
        task->work = KernelWork{prepare_kernel(state, *kernel)};
        task->name = kernel->function->readable_name();
        task->programmatic = kernel->programmatic;
        return task;
    }
    task->work = QuickWork([&state, operation, &facts = task->facts] { // The task outlives its work.
        note_start(state, operation, facts);
        const Error error = std::visit([&](const auto& each) { return run(state, each); }, operation);
        if (error != Error::success)
            facts.footprint = nullptr;
        return error;
    });
    return task;
}

void stage(State& state, CopyOperation& c) {
    if (c.width == 0 || c.height == 0 || c.depth == 0 || !is_pageable(state, c.source))
        return;
    auto kept = std::make_shared<std::vector<std::byte>>(c.width * c.height * c.depth);
    CopyOperation keep = c;
    keep.destination = kept->data();
    keep.destination_pitch = c.width;
    keep.destination_slice = c.width * c.height;
    run(state, keep);
    c.source = kept->data();
    c.source_pitch = keep.destination_pitch;
    c.source_slice = keep.destination_slice;
    c.staged = std::move(kept);
}

bool is_synchronous(State& state, const CopyOperation& c) { return is_pageable(state, c.destination); }

} // namespace emu::cuda

// Control flow (PTX ISA 9.7.12), stack manipulation (9.7.17) and miscellaneous instructions (9.7.19).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/access.hpp"
#include "machine/cluster.hpp"
#include "machine/mistake.hpp"

#include <algorithm>
#include <cstring>

namespace emu {
namespace {

using ptx::Operand;
using ptx::SymbolKind;

Flow branch_to(Warp& warp, const Op& op, LaneMask mask) { return warp.branch(mask, op.target); }

void decode_bra(DecodeContext& c, Op& op) {
    c.allow({"uni"});
    if (c.operand(0).kind != Operand::Kind::label)
        c.malformed("takes a label");
    op.target = c.function().first + c.operand(0).index;
    op.handler = branch_to;
}

struct TargetTable final : OpExtra {
    std::vector<std::uint32_t> targets;
};

Flow branch_indexed(Warp& warp, const Op& op, LaneMask mask) {
    const auto& table = *static_cast<const TargetTable*>(op.extra);
    const auto* index = warp.row<std::uint32_t>(op.a);
    std::array<std::uint32_t, warp_size> targets{};
    for (LaneMask rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (index[lane] >= table.targets.size()) {
            Place(warp, lane)
                .report(Finding::out_of_bounds, Fault::illegal_instruction, "branch-index",
                        {{"targets", table.targets.size()}, {"index", index[lane]}});
            return Flow::next;
        }
        targets[lane] = table.targets[index[lane]];
    }
    return warp.scatter(mask, targets);
}

void decode_brx(DecodeContext& c, Op& op) {
    c.allow({"idx", "uni"});
    op.a = c.source(0, ptx::Type::u32);
    if (c.operand(1).symbol_kind != SymbolKind::table)
        c.malformed("takes a .branchtargets label");
    auto table = std::make_unique<TargetTable>();
    for (const std::uint32_t t : c.function().source->tables[c.operand(1).index].targets)
        table->targets.push_back(c.function().first + t);
    op.extra = c.keep(std::move(table));
    op.handler = branch_indexed;
}

/// One call site: where the caller keeps the `.param` variables it passes and receives.
struct CallSite final : OpExtra {
    const DecodedFunction* caller = nullptr;
    const DecodedFunction* callee = nullptr; ///< nullptr for an indirect call.
    Builtin builtin = nullptr;
    std::vector<LocalPlacement> arguments;
    std::vector<LocalPlacement> results;
    /// Of a direct call, the callee's side of the two. A vector register counts as its parts.
    std::vector<LocalPlacement> parameters, returned;
    struct Immediate {
        std::size_t argument;
        std::uint64_t bits;
    };
    std::vector<Immediate> immediates; ///< Arguments that are constants; their placement is empty.
};

/// Copies `.param` values of some lanes between two frames; storage is lane-major.
void copy_parameters(Warp& warp, LaneMask lanes, std::uint32_t from_frame,
                     std::span<const LocalPlacement> from, std::uint32_t to_frame,
                     std::span<const LocalPlacement> to) {
    for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
        const std::byte* source = warp.frame_storage(from_frame) + from[i].offset;
        std::byte* target = warp.frame_storage(to_frame) + to[i].offset;
        const std::uint32_t bytes = std::min(from[i].size, to[i].size);
        for_lanes(lanes, [&](unsigned lane) {
            std::memcpy(target + std::size_t{lane} * to[i].size, source + std::size_t{lane} * from[i].size,
                        bytes);
        });
    }
}

Flow enter(Warp& warp, const CallSite& site, const DecodedFunction& callee, LaneMask mask) {
    const std::uint32_t from = warp.frame();
    const std::uint32_t to = warp.next_frame(*site.caller, callee);
    const Flow flow = warp.call(mask, *site.caller, callee);
    if (warp.cluster().stopped())
        return flow;
    const std::span<const LocalPlacement> parameters = site.callee ? site.parameters : callee.parameters;
    copy_parameters(warp, mask & ~warp.exited(), from, site.arguments, to, parameters);
    for (const CallSite::Immediate& each : site.immediates) {
        const LocalPlacement& parameter = parameters[each.argument];
        for_lanes(mask & ~warp.exited(), [&](unsigned lane) {
            std::memcpy(warp.frame_storage(to) + parameter.offset + std::size_t{lane} * parameter.size,
                        &each.bits, std::min<std::size_t>(parameter.size, sizeof each.bits));
        });
    }
    return flow;
}

Flow call_direct(Warp& warp, const Op& op, LaneMask mask) {
    const auto& site = *static_cast<const CallSite*>(op.extra);
    return enter(warp, site, *site.callee, mask);
}

Flow call_builtin(Warp& warp, const Op& op, LaneMask mask) {
    const auto& site = *static_cast<const CallSite*>(op.extra);
    return site.builtin({warp, mask, site.arguments, site.results, warp.pc()});
}

/// Lanes may call different functions: the first lane's go now, the others execute the instruction again.
Flow call_indirect(Warp& warp, const Op& op, LaneMask mask) {
    const auto& site = *static_cast<const CallSite*>(op.extra);
    const auto* address = warp.row<std::uint64_t>(op.a);
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint64_t target = address[first];
    LaneMask same = 0;
    for_lanes(mask, [&](unsigned lane) { same |= LaneMask{address[lane] == target} << lane; });
    const Kernel& kernel = *warp.cluster().info().kernel;
    const auto it = in_code_window(target)
                        ? kernel.by_module_index.find(static_cast<std::uint32_t>((target - code_window) / 16))
                        : kernel.by_module_index.end();
    if (it == kernel.by_module_index.end()) {
        Place(warp, first).report(Finding::out_of_bounds, Fault::invalid_pc, "call-pointer");
        return Flow::next;
    }
    const Flow flow = enter(warp, site, *kernel.functions[it->second], same);
    if (same != mask && !warp.cluster().stopped())
        warp.hold(mask & ~same);
    return flow;
}

/// Where a register keeps its value; its row is laid out as a `.param` variable of its size would be.
LocalPlacement placement(DecodeContext& c, const DecodedFunction& f, std::uint32_t index) {
    const ptx::Type type = f.source->registers[index].type;
    if (ptx::size_of(type) < 2)
        c.unsupported("an argument of this type must be a .param variable");
    return {ptx::Space::param, f.registers[index], ptx::size_of(type)};
}

LocalPlacement placement(DecodeContext& c, const Operand& o) {
    const DecodedFunction& f = c.function();
    switch (o.symbol_kind) {
    case SymbolKind::function_variable:
        return f.variables[o.index];
    case SymbolKind::parameter:
        return f.parameters[o.index];
    case SymbolKind::result:
        return f.results[o.index];
    default:
        c.unsupported("arguments must be .param variables, registers or constants");
    }
}

/// The variables and registers of `(a, b)` at a call, vectors as their parts.
std::vector<LocalPlacement> placements(DecodeContext& c, const Operand& tuple) {
    std::vector<LocalPlacement> result;
    for (const Operand& o : tuple.elements) {
        if (o.kind == Operand::Kind::vector)
            for (const Operand& part : o.elements)
                result.push_back(placement(c, c.function(), part.index));
        else if (o.kind == Operand::Kind::reg)
            result.push_back(placement(c, c.function(), o.index));
        else if (o.kind == Operand::Kind::sink || o.kind == Operand::Kind::integer ||
                 o.kind == Operand::Kind::float32 || o.kind == Operand::Kind::float64)
            result.push_back({ptx::Space::param, 0, 0});
        else
            result.push_back(placement(c, o));
    }
    return result;
}

/// The same list on the side of the called function.
std::vector<LocalPlacement> placements(DecodeContext& c, const DecodedFunction& callee,
                                       const std::vector<ptx::Variable>& variables,
                                       const std::vector<LocalPlacement>& placed) {
    std::vector<LocalPlacement> result;
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const ptx::Variable& v = variables[i];
        const auto parts = v.in_register ? v.size / std::max(1u, ptx::size_of(v.type)) : 1;
        for (std::uint32_t part = 0; parts > 1 && part < parts; ++part)
            result.push_back(placement(c, callee, v.register_index + part));
        if (parts <= 1)
            result.push_back(placed[i]);
    }
    return result;
}

/// Constants among the arguments of a direct call, as the callee's parameters type them.
void decode_immediates(DecodeContext& c, const Operand& tuple, const ptx::Function& callee, CallSite& site) {
    for (std::size_t i = 0; i < tuple.elements.size(); ++i) {
        const Operand& o = tuple.elements[i];
        if (o.kind != Operand::Kind::integer && o.kind != Operand::Kind::float32 &&
            o.kind != Operand::Kind::float64)
            continue;
        // Vectors take several places, and ptxas wants a register or variable beside a constant anyway.
        if (i >= callee.parameters.size() || site.parameters.size() != callee.parameters.size() ||
            callee.parameters[i].size > 8)
            c.unsupported("a constant argument is not supported here");
        CallSite::Immediate immediate{i, 0};
        const ptx::Type type = callee.parameters[i].type;
        const Row row = c.source(o, type);
        std::memcpy(&immediate.bits, c.kernel().constants.data() + row.offset,
                    std::max(2u, ptx::size_of(type)));
        site.immediates.push_back(immediate);
    }
}

void decode_call(DecodeContext& c, Op& op) {
    c.allow({"uni"});
    auto site = std::make_unique<CallSite>();
    site->caller = &c.function();
    std::size_t next = 0;
    if (c.operand(0).kind == Operand::Kind::tuple)
        site->results = placements(c, c.operand(next++));
    const Operand& target = c.operand(next++);
    if (next < c.operand_count() && c.operand(next).kind == Operand::Kind::tuple)
        site->arguments = placements(c, c.operand(next));
    if (target.kind == Operand::Kind::reg) {
        op.a = c.source(target, ptx::Type::u64);
        op.handler = call_indirect;
    } else if (target.symbol_kind == SymbolKind::function) {
        const ptx::Function& callee = c.module().functions[target.index];
        if (callee.has_body) {
            site->callee = c.kernel().functions[c.kernel().by_module_index.at(target.index)].get();
            site->parameters = placements(c, *site->callee, callee.parameters, site->callee->parameters);
            site->returned = placements(c, *site->callee, callee.results, site->callee->results);
            if (next < c.operand_count() && c.operand(next).kind == Operand::Kind::tuple)
                decode_immediates(c, c.operand(next), callee, *site);
            op.handler = call_direct;
        } else if ((site->builtin = find_builtin(callee.name))) {
            op.handler = call_builtin;
        } else if (callee.name.starts_with("__cudaCDP2")) {
            c.unsupported("kernels that launch kernels are outside of what this emulator executes; launch "
                          "from the host, or run the program on a GPU");
        } else {
            c.unsupported("device function " + std::string(callee.name) +
                          " has no body in this module (device code is not linked here; build without -rdc)");
        }
    } else {
        c.malformed("calls something that is not a function");
    }
    op.extra = c.keep(std::move(site));
}

/// Copies results to where the call site wants them, then returns.
Flow return_from(Warp& warp, const Op&, LaneMask mask) {
    const Kernel& kernel = *warp.cluster().info().kernel;
    const DecodedFunction& callee = *kernel.functions[kernel.function_of[warp.pc()]];
    if (!callee.results.empty())
        for_lanes(mask, [&](unsigned lane) {
            if (const Warp::Return* back = warp.return_of(lane)) {
                const auto& site = *static_cast<const CallSite*>(kernel.code[back->pc - 1].extra);
                copy_parameters(warp, 1u << lane, warp.frame(),
                                site.callee ? std::span(site.returned) : std::span(callee.results),
                                back->frame, site.results);
            }
        });
    return warp.ret(mask);
}

void decode_ret(DecodeContext& c, Op& op) {
    c.allow({"uni"});
    op.handler = return_from;
}

Flow exit_thread(Warp& warp, const Op&, LaneMask mask) { return warp.exit_lanes(mask); }

void decode_exit(DecodeContext& c, Op& op) {
    c.allow({});
    op.handler = exit_thread;
}

Flow trap_thread(Warp& warp, const Op&, LaneMask mask) {
    const LaunchInfo& info = warp.cluster().info();
    const bool grid =
        !info.config.cooperative && is_inlined_from(*info.kernel, warp.pc(), "/cooperative_groups.h");
    Place::first(warp, mask).report(Finding::trap, Fault::trap, grid ? "trap-grid-sync" : "trap");
    return Flow::next;
}

void decode_trap(DecodeContext& c, Op& op) {
    c.allow({});
    op.handler = trap_thread;
}

/// Without a debugger a breakpoint ends the kernel, with the error of a trap (as on an H200).
Flow break_thread(Warp& warp, const Op&, LaneMask mask) {
    Place::first(warp, mask).report(Finding::trap, Fault::trap, "breakpoint");
    return Flow::next;
}

void decode_brkpt(DecodeContext& c, Op& op) {
    c.allow({});
    op.handler = break_thread;
}

Flow nothing(Warp&, const Op&, LaneMask) { return Flow::next; }

void decode_nothing(DecodeContext& c, Op& op) {
    c.allow({"mask"});
    op.handler = nothing;
}

/// Which registers a warpgroup has, the rule about them knows (rules/register_counts.cpp).
void decode_setmaxnreg(DecodeContext& c, Op& op) {
    c.allow({"inc", "dec", "sync", "aligned"});
    constexpr std::int64_t least = 24, most = 256, step = 8;
    const std::int64_t count = c.immediate(0);
    if (count < least || count > most || count % step)
        c.malformed("takes a multiple of 8 from 24 to 256, not " + std::to_string(count));
    op.handler = nothing;
}

/// nanosleep gives way to everybody else; emulated time passes.
Flow give_way(Warp& warp, const Op& op, LaneMask mask) {
    const auto* t = warp.row<std::uint32_t>(op.a);
    warp.cluster().launch().pass_time(t[std::countr_zero(mask)]);
    warp.yield();
    return Flow::next;
}

void decode_nanosleep(DecodeContext& c, Op& op) {
    c.allow({});
    op.a = c.source(0, ptx::Type::u32);
    op.handler = give_way;
}

/// alloca returns a local-space address.
Flow allocate_on_stack(Warp& warp, const Op& op, LaneMask mask) {
    const auto* size = warp.row<std::uint64_t>(op.a);
    auto* d = warp.row<std::uint64_t>(op.dst);
    const auto alignment = static_cast<std::uint32_t>(op.immediate);
    bool fits = true;
    for_lanes(mask, [&](unsigned lane) {
        const std::uint32_t top = warp.local_top(lane);
        const std::uint32_t start = (top + alignment - 1) / alignment * alignment;
        fits &= size[lane] <= local_limit &&
                warp.grow_local(1u << lane, start - top + static_cast<std::uint32_t>(size[lane]));
        d[lane] = start;
    });
    if (!fits)
        Place::first(warp, mask).report(Finding::stack_overflow, Fault::illegal_address, "stack-alloca");
    return Flow::next;
}

void decode_alloca(DecodeContext& c, Op& op) {
    c.allow({});
    op.dst = c.destination(0, ptx::Type::u64);
    op.a = c.source(1, ptx::Type::u64);
    op.immediate = c.operand_count() > 2 ? c.immediate(2) : 8;
    op.handler = allocate_on_stack;
}

Flow save_stack(Warp& warp, const Op& op, LaneMask mask) {
    map_lanes(mask, warp.row<std::uint64_t>(op.dst),
              [&](unsigned i) { return std::uint64_t{warp.local_top(i)}; });
    return Flow::next;
}

void decode_stacksave(DecodeContext& c, Op& op) {
    c.allow({});
    op.dst = c.destination(0, ptx::Type::u64);
    op.handler = save_stack;
}

Flow restore_stack(Warp& warp, const Op& op, LaneMask mask) {
    const auto* top = warp.row<std::uint64_t>(op.a);
    for_lanes(mask, [&](unsigned lane) { warp.set_local_top(lane, static_cast<std::uint32_t>(top[lane])); });
    return Flow::next;
}

void decode_stackrestore(DecodeContext& c, Op& op) {
    c.allow({});
    op.a = c.source(0, ptx::Type::u64);
    op.handler = restore_stack;
}

constexpr InstructionRow control_table[] = {
    {"bra", "9.7.12.3", decode_bra}, {"brx.idx", "9.7.12.4", decode_brx}, {"call", "9.7.12.5", decode_call},
    {"ret", "9.7.12.6", decode_ret}, {"exit", "9.7.12.7", decode_exit},
};

constexpr InstructionRow misc_table[] = {
    {"stacksave", "9.7.17.1", decode_stacksave}, {"stackrestore", "9.7.17.2", decode_stackrestore},
    {"alloca", "9.7.17.3", decode_alloca},       {"brkpt", "9.7.19.1", decode_brkpt},
    {"nanosleep", "9.7.19.2", decode_nanosleep}, {"pmevent", "9.7.19.3", decode_nothing},
    {"trap", "9.7.19.4", decode_trap},           {"setmaxnreg", "9.7.19.5", decode_setmaxnreg},
};

} // namespace

std::span<const InstructionRow> control_instructions() { return control_table; }
std::span<const InstructionRow> misc_instructions() { return misc_table; }

} // namespace emu

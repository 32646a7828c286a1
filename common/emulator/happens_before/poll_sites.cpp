#include "happens_before/poll_sites.hpp"

#include "machine/cluster.hpp"
#include "machine/warp.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// Arithmetic: its result depends on its operands, and it does nothing else.
bool is_arithmetic(const Instruction& i) {
    constexpr std::string_view pure[] = {"mov", "and", "or",  "xor", "not", "add",  "sub", "mul",
                                         "shl", "shr", "min", "max", "neg", "setp", "cvt", "selp"};
    return i.guard < 0 && !i.operands.empty() && i.operands[0].kind == Operand::Kind::reg && !i.has("cc") &&
           std::ranges::find(pure, i.opcode) != std::end(pure);
}

/// What may stand in such a loop beside the load and its arithmetic.
bool is_idle(const Instruction& i) {
    return i.guard < 0 && (i.opcode == "nanosleep" || (i.opcode == "ld" && i.has("param")));
}

void add_registers(const Operand& operand, std::set<std::uint32_t>& all) {
    if (operand.kind == Operand::Kind::reg)
        all.insert(operand.index);
    for (const Operand& element : operand.elements)
        add_registers(element, all);
}

std::set<std::uint32_t> registers_of(const Instruction& i) {
    std::set<std::uint32_t> all;
    for (const Operand& operand : i.operands)
        add_registers(operand, all);
    if (i.guard >= 0)
        all.insert(static_cast<std::uint32_t>(i.guard));
    return all;
}

/// The loop from `begin` to the branch back at `end`.
struct Loop {
    std::uint32_t begin = 0, end = 0;
};

/// The branch that follows the load, if nothing but arithmetic lies between them and it leads back.
bool find_loop(const ptx::Function& function, std::uint32_t load, Loop& loop) {
    const auto& body = function.body;
    std::uint32_t at = load + 1;
    while (at < body.size() && (is_arithmetic(body[at]) || is_idle(body[at])))
        ++at;
    if (at == body.size() || body[at].opcode != "bra" || body[at].guard < 0 || body[at].operands.empty() ||
        body[at].operands[0].kind != Operand::Kind::label || body[at].operands[0].index > load)
        return false;
    loop = {body[at].operands[0].index, at};
    return std::all_of(body.begin() + loop.begin, body.begin() + load,
                       [](const Instruction& each) { return is_arithmetic(each) || is_idle(each); });
}

/// What the loop computes is used behind it too, or in front of it.
bool is_used_elsewhere(const ptx::Function& function, const Loop& loop) {
    std::set<std::uint32_t> inside;
    for (std::uint32_t at = loop.begin; at < loop.end; ++at)
        if (!function.body[at].operands.empty())
            add_registers(function.body[at].operands[0], inside);
    for (std::uint32_t at = 0; at < function.body.size(); ++at)
        if (at < loop.begin || at > loop.end)
            for (const std::uint32_t used : registers_of(function.body[at]))
                if (inside.contains(used))
                    return true;
    return false;
}

PollSite::Place place_of(const DecodedFunction& function, std::uint32_t reg) {
    const ptx::Type type = function.source->registers[reg].type;
    const std::uint32_t bytes = type == ptx::Type::pred ? sizeof(LaneMask) : warp_size * size_of(type);
    return {function.registers[reg], bytes};
}

std::unique_ptr<PollSite> site_of(const Kernel& kernel, std::uint32_t pc) {
    const DecodedFunction& function = *kernel.functions[kernel.function_of[pc]];
    const std::uint32_t load = pc - function.first;
    const Instruction& i = function.source->body[load];
    Loop loop;
    if (i.opcode != "ld" || i.guard >= 0 || i.operands.empty() || i.operands[0].kind != Operand::Kind::reg ||
        !find_loop(*function.source, load, loop) || is_used_elsewhere(*function.source, loop))
        return nullptr;
    auto site = std::make_unique<PollSite>();
    const PollSite::Place loaded = place_of(function, i.operands[0].index);
    site->loaded.offset = loaded.offset;
    site->loaded_bytes = loaded.bytes / warp_size;
    if (site->loaded_bytes != 4 && site->loaded_bytes != 8)
        return nullptr;
    site->branch = &kernel.code[function.first + loop.end];
    site->changed.push_back(loaded);
    for (std::uint32_t at = load + 1; at < loop.end; ++at) {
        if (!is_arithmetic(function.source->body[at]))
            continue;
        site->steps.push_back(&kernel.code[function.first + at]);
        site->changed.push_back(place_of(function, function.source->body[at].operands[0].index));
    }
    return site;
}

} // namespace

bool PollSite::ends(Warp& warp, unsigned lane, std::uint64_t value) const {
    std::vector<std::vector<std::byte>> before;
    for (const Place& place : changed) {
        const std::byte* const bytes = warp.row<std::byte>({.offset = place.offset});
        before.emplace_back(bytes, bytes + place.bytes);
    }
    std::memcpy(warp.row<std::byte>(loaded) + lane * loaded_bytes, &value, loaded_bytes);
    for (const Op* const step : steps)
        step->handler(warp, *step, LaneMask{1} << lane);
    const bool goes_on = warp.guarded(*branch, LaneMask{1} << lane) != 0;
    for (std::size_t i = 0; i < changed.size(); ++i)
        std::ranges::copy(before[i], warp.row<std::byte>({.offset = changed[i].offset}));
    return !goes_on;
}

const PollSite* PollSites::at(const Kernel& kernel, std::uint32_t pc) {
    const auto [known, is_new] = known_.try_emplace(pc);
    if (is_new)
        known->second = site_of(kernel, pc);
    return known->second.get();
}

} // namespace emu::check

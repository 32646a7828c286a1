#include "rules/analysis/wgmma_uses.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool is_multiply(const Instruction& i) { return i.opcode == "wgmma" && i.has("mma_async"); }

bool is_plain_move(const Instruction& i) {
    return i.opcode == "mov" && i.operands.size() == 2 && i.operands[0].kind == Operand::Kind::reg;
}

/// Instructions whose first operand is no result.
bool has_no_result(const Instruction& i) {
    static constexpr std::array<std::string_view, 10> names{"st",  "red",      "stmatrix", "bar",  "barrier",
                                                            "bra", "prefetch", "cp",       "call", "fence"};
    return std::ranges::find(names, i.opcode) != names.end() || (i.opcode == "wmma" && i.has("store"));
}

template <class Visit>
void for_registers(const Operand& operand, Visit&& visit) {
    if (operand.kind == Operand::Kind::reg)
        visit(operand.index);
    for (const Operand& element : operand.elements)
        for_registers(element, visit);
}

WgmmaUse::Kind kind_of(const Instruction& i) {
    using Kind = WgmmaUse::Kind;
    if (i.opcode == "wgmma")
        return is_multiply(i)          ? Kind::multiply
               : i.has("fence")        ? Kind::fence
               : i.has("commit_group") ? Kind::commit
                                       : Kind::wait;
    if (!is_plain_move(i))
        return Kind::other;
    return i.operands[1].kind == Operand::Kind::reg ? Kind::copy : Kind::constant;
}

} // namespace

/// Copies make further registers interesting, in both directions, until there are no more.
void WgmmaUses::collect(const Kernel& kernel, std::vector<std::vector<bool>>& watched) const {
    for (const auto& function : kernel.functions)
        watched.emplace_back(function->registers.size());
    const auto of = [&](std::size_t pc) -> std::vector<bool>& { return watched[kernel.function_of[pc]]; };
    for (std::size_t pc = 0; pc < kernel.sources.size(); ++pc)
        if (const Instruction& each = *kernel.sources[pc]; is_multiply(each)) {
            for_registers(each.operands[0], [&](std::uint32_t r) { of(pc)[r] = true; });
            if (each.operands[1].kind == Operand::Kind::vector)
                for_registers(each.operands[1], [&](std::uint32_t r) { of(pc)[r] = true; });
        }
    for (bool more = true; more;) {
        more = false;
        for (std::size_t pc = 0; pc < kernel.sources.size(); ++pc)
            if (const Instruction& each = *kernel.sources[pc]; kind_of(each) == WgmmaUse::Kind::copy) {
                auto&& into = of(pc)[each.operands[0].index];
                auto&& from = of(pc)[each.operands[1].index];
                more |= into != from;
                into = from = into || from;
            }
    }
}

WgmmaUses::WgmmaUses(const Kernel& kernel) : any_(kernel.has_wgmma) {
    if (!any_)
        return;
    std::vector<std::vector<bool>> watched;
    collect(kernel, watched);
    uses_.resize(kernel.sources.size());
    for (std::size_t pc = 0; pc < kernel.sources.size(); ++pc) {
        const Instruction& each = *kernel.sources[pc];
        const std::uint32_t f = kernel.function_of[pc];
        WgmmaUse& use = uses_[pc];
        const auto add = [&](std::vector<std::uint32_t>& places, const Operand& operand) {
            for_registers(operand, [&](std::uint32_t r) {
                if (watched[f][r])
                    places.push_back(kernel.functions[f]->registers[r]);
            });
        };
        for (std::size_t i = 0; i < each.operands.size(); ++i)
            add(i == 0 && !has_no_result(each) ? use.writes : use.reads, each.operands[i]);
        const WgmmaUse::Kind kind = kind_of(each);
        if (each.opcode == "wgmma" || !use.reads.empty() || !use.writes.empty())
            use.kind = kind;
        if (kind == WgmmaUse::Kind::wait && use.kind == kind)
            use.pending = each.operands[0].bits;
    }
}

} // namespace emu::check

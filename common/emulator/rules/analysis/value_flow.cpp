// What each instruction does with the meaningless values among its operands: hands them on, or uses them.

#include "rules/analysis/values.hpp"

#include "machine/access.hpp"
#include "machine/block.hpp"
#include "machine/cluster.hpp"
#include "rules/analysis/opcodes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool is_predicate(const Kernel& kernel, std::uint32_t pc, const Operand& operand) {
    const ptx::Function& f = *kernel.functions[kernel.function_of[pc]]->source;
    return operand.kind == Operand::Kind::reg && f.registers[operand.index].type == ptx::Type::pred;
}

unsigned lowest(LaneMask lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); }

unsigned element_bytes(const Instruction& instruction) {
    for (const auto modifier : instruction.modifiers)
        if (const auto type = ptx::type_from_name(modifier))
            return std::max(1u, ptx::size_of(*type));
    return 4;
}

/// The lane from which `lane` gets its value in a shuffle by `by` with the operand `c` (PTX ISA 9.7.9.6).
unsigned shuffle_source(const Instruction& shuffle, unsigned lane, std::uint32_t by, std::uint32_t c) {
    const unsigned segment = c >> 8 & 31, clamp = c & 31;
    const unsigned last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    const int distance = static_cast<int>(by & 31), here = static_cast<int>(lane);
    int from = 0;
    bool inside = false;
    if (shuffle.has("up")) {
        from = here - distance;
        inside = from >= static_cast<int>(last);
    } else {
        from = shuffle.has("down")   ? here + distance
               : shuffle.has("bfly") ? here ^ distance
                                     : static_cast<int>(first | (by & 31 & ~segment));
        inside = from <= static_cast<int>(last);
    }
    return inside && from >= 0 && from < static_cast<int>(warp_size) ? static_cast<unsigned>(from) : lane;
}

const AccessExtra* access_of(const Kernel& kernel, std::uint32_t pc) {
    return dynamic_cast<const AccessExtra*>(kernel.code[pc].extra);
}

/// The lane of ldmatrix and stmatrix that holds an element.
unsigned holder_of(const Instruction& instruction, unsigned row, unsigned column) {
    return instruction.has("trans") ? 4 * column + row / 2 : 4 * row + column / 2;
}

/// The result depends on what all lanes hold.
constexpr std::array<std::string_view, 3> of_the_warp{"vote", "match", "redux"};

} // namespace

Values::Rule Values::rule_of(const Instruction& instruction) {
    static constexpr std::array<std::string_view, 4> jumps{"bra", "brx", "ret", "exit"};
    static constexpr std::array<std::string_view, 15> acting{
        "call",     "bar",     "barrier", "fence",     "membar",     "cp",        "prefetch", "prefetchu",
        "mbarrier", "discard", "pmevent", "nanosleep", "setmaxnreg", "tensormap", "trap"};
    const std::string_view opcode = instruction.opcode;
    if (is_one_of(opcode, jumps))
        return Rule::branch;
    if (is_one_of(opcode, of_the_warp))
        return Rule::collective;
    if (is_one_of(opcode, acting) || ((opcode == "st" || opcode == "red") && instruction.has("async")))
        return Rule::use_all;
    if (opcode == "ld" || opcode == "ldu" || opcode == "ldmatrix" ||
        (opcode == "wmma" && instruction.has("load")))
        return Rule::load;
    if (opcode == "st" || opcode == "stmatrix" || (opcode == "wmma" && instruction.has("store")))
        return Rule::store;
    if (opcode == "mma" || opcode == "wmma")
        return Rule::product;
    if (opcode == "wgmma")
        return instruction.has("mma_async") ? Rule::sum : Rule::nothing;
    if (opcode == "atom")
        return Rule::atomic;
    if (opcode == "red")
        return Rule::reduce;
    if (opcode == "shfl" || opcode == "movmatrix")
        return Rule::shuffle;
    if (opcode == "selp" && instruction.operands.size() == 4)
        return Rule::select;
    if ((opcode == "setp" && instruction.operands.size() == 4) ||
        ((opcode == "and" || opcode == "or") && instruction.operands.size() == 3))
        return Rule::predicates;
    return instruction.operands.empty() ? Rule::nothing : Rule::combine;
}

bool Values::hands_on(const Instruction& instruction) {
    static constexpr std::array<std::string_view, 9> those{"mov", "cvt", "setp", "not", "neg",
                                                           "add", "sub", "shl",  "shr"};
    return is_one_of(instruction.opcode, those) ||
           ((instruction.opcode == "and" || instruction.opcode == "or") && instruction.operands.size() == 3);
}

bool Values::tells_lanes_apart(const Instruction& instruction) {
    static constexpr std::array<std::string_view, 4> others{"atom", "call", "elect", "movmatrix"};
    return is_one_of(instruction.opcode, of_the_warp) || is_one_of(instruction.opcode, others);
}

/// The instruction at hand: where its registers lie and which lanes of them hold meaningless values.
struct Values::Flow {
    Values& all;
    Warp& warp;
    std::uint32_t pc;
    LaneMask mask;
    const Kernel& kernel = *warp.cluster().info().kernel;
    const Instruction& instruction = *kernel.sources[pc];
    OriginId origin = 0; ///< Of the last such value seen.

    std::array<OriginId, warp_size>
        by_lane{}; ///< Where only registers are followed: the origin in each lane.

    /// These lanes of a row come into play.
    void note(const Tainted& row, std::uint32_t place, LaneMask lanes) {
        origin = row.origin;
        if (!all.in_registers_)
            return;
        const auto& origins = all.rows_of(warp).by_lane[place / 4];
        for_lanes(lanes, [&](unsigned lane) {
            by_lane[lane] = by_lane[lane] && by_lane[lane] != origins[lane]
                                ? all.listener_.on_lane_joins(by_lane[lane], origins[lane], lane)
                                : origins[lane];
        });
    }
    std::uint32_t place(std::uint32_t index) const {
        return warp.frame() + kernel.functions[kernel.function_of[pc]]->registers[index];
    }
    /// Lanes of `among` in which the operand, or an element of it, holds such a value.
    LaneMask of(const Operand& operand, LaneMask among) {
        LaneMask lanes = 0;
        if (operand.kind == Operand::Kind::reg)
            if (const Tainted* known = all.row(warp, place(operand.index)); known && known->lanes & among) {
                note(*known, place(operand.index), known->lanes & among);
                lanes = known->lanes & among;
            }
        for (const Operand& element : operand.elements)
            lanes |= of(element, among);
        return lanes;
    }
    LaneMask of(const Operand& operand) { return of(operand, mask); }
    LaneMask of_sources(std::size_t first, LaneMask among) {
        LaneMask lanes = 0;
        for (std::size_t i = first; i < instruction.operands.size(); ++i)
            lanes |= of(instruction.operands[i], among);
        return lanes;
    }
    /// The bits of a predicate operand, its negation applied.
    LaneMask bits(const Operand& operand) {
        if (operand.kind == Operand::Kind::integer)
            return operand.bits ? all_lanes : 0;
        if (operand.kind != Operand::Kind::reg)
            return 0;
        const LaneMask p = warp.predicate(
            {kernel.functions[kernel.function_of[pc]]->registers[operand.index], Row::Base::frame});
        return operand.negated ? ~p : p;
    }
    void write(const Operand& destination, LaneMask lanes, LaneMask tainted) {
        if (destination.kind == Operand::Kind::reg)
            all.set(warp, place(destination.index), lanes, {tainted, origin}, by_lane);
        for (const Operand& element : destination.elements)
            write(element, lanes, tainted);
    }
    void use(LaneMask lanes, Use how) {
        if (all.in_registers_)
            for_lanes(lanes, [&](unsigned lane) { all.listener_.on_lane_uses(by_lane[lane], lane); });
        else if (lanes)
            all.use(origin, how, warp, lowest(lanes), pc);
    }
    std::uint32_t value(const Operand& operand, unsigned lane) {
        if (operand.kind != Operand::Kind::reg)
            return static_cast<std::uint32_t>(operand.bits);
        return warp.row<std::uint32_t>(
            {kernel.functions[kernel.function_of[pc]]->registers[operand.index], Row::Base::frame})[lane];
    }

    LaneMask decided();
    LaneMask shuffled();
    LaneMask transposed();
    LaneMask result(Rule rule);
    void multiply();
    void add_product();
    void send(std::size_t first);
    void act(Rule rule, LaneMask unsure);
};

/// A logical operation of predicates: an operand that decides the result alone hides the other.
LaneMask Values::Flow::decided() {
    const bool compares = instruction.opcode == "setp";
    if (!compares && !is_predicate(kernel, pc, instruction.operands[0]))
        return of_sources(1, mask);
    const bool is_and = instruction.opcode == "and" || instruction.has("and");
    const bool is_or = instruction.opcode == "or" || instruction.has("or");
    const Operand& last = instruction.operands.back();
    const LaneMask b = of(last);
    LaneMask a = of(instruction.operands[1]);
    if (compares)
        a |= of(instruction.operands[2]);
    const auto decides = [&](const Operand& operand) {
        return is_and ? ~bits(operand) : is_or ? bits(operand) : LaneMask{0};
    };
    const LaneMask hidden_a = decides(last) & ~b;
    const LaneMask hidden_b = compares ? 0 : decides(instruction.operands[1]) & ~a;
    return (a & ~hidden_a) | (b & ~hidden_b);
}

/// A shuffle hands on the value of another lane.
LaneMask Values::Flow::shuffled() {
    const auto& operands = instruction.operands;
    if (operands.size() < 4)
        return 0;
    const LaneMask source = of(operands[1], all_lanes);
    LaneMask result = of(operands[2]) | of(operands[3]);
    if (source)
        for_lanes(mask, [&](unsigned lane) {
            const unsigned from =
                shuffle_source(instruction, lane, value(operands[2], lane), value(operands[3], lane));
            result |= LaneMask{(source >> from & 1) != 0} << lane;
        });
    return result;
}

/// movmatrix (PTX ISA 9.7.14.5.17): a lane gets a half of one lane and a half of another, which holds the
/// next row.
LaneMask Values::Flow::transposed() {
    const LaneMask source = of(instruction.operands[1], all_lanes);
    LaneMask result = 0;
    for_lanes(mask, [&](unsigned lane) {
        const unsigned from = 8 * (lane % 4) + lane / 8;
        result |= LaneMask{((source >> from | source >> (from + 4)) & 1) != 0} << lane;
    });
    return result;
}

/// The rows or columns, eight in a register, that the lanes of a fragment hold: four lanes each.
std::uint32_t lines_of(LaneMask lanes) {
    std::uint32_t lines = 0;
    for (unsigned line = 0; line < 8; ++line)
        lines |= std::uint32_t{(lanes >> 4 * line & 0xf) != 0} << line;
    return lines;
}

/// mma (PTX ISA 9.0, section 9.7.14.5): an element depends on its row of A, its column of B and its element
/// of C. Rows of a partial tile may hold anything as long as nobody uses their results.
void Values::Flow::multiply() {
    const auto& operands = instruction.operands;
    const auto& d = operands[0].elements;
    const bool small = instruction.opcode == "wmma" || instruction.has("m8n8k4") || operands.size() < 4 ||
                       operands[3].elements.size() != d.size();
    if (small || (operands.size() > 4 && of(operands[4], all_lanes)))
        return write(operands[0], mask, of_sources(1, all_lanes) ? mask : 0);
    const unsigned height =
        instruction.modifiers[2].starts_with("m16") || instruction.modifiers[3].starts_with("m16") ? 2 : 1;
    std::uint32_t rows[2] = {0, 0}, columns = 0;
    for (std::size_t i = 0; i < operands[1].elements.size(); ++i)
        rows[i % height] |= lines_of(of(operands[1].elements[i], all_lanes));
    for (const Operand& b : operands[2].elements)
        columns |= lines_of(of(b, all_lanes));
    const bool pairs = d.size() == height; ///< Two elements of a row in a register.
    for (std::size_t i = 0; i < d.size(); ++i) {
        LaneMask tainted = of(operands[3].elements[i], mask);
        for_lanes(mask, [&](unsigned lane) {
            const unsigned column = 2 * (lane % 4);
            const std::uint32_t own = pairs ? columns >> column & 3 : columns >> (column + i % 2) & 1;
            const bool row = rows[pairs ? i : i / 2] >> lane / 4 & 1;
            tainted |= LaneMask{row || own} << lane;
        });
        write(d[i], mask, tainted);
    }
}

/// wgmma (PTX ISA 9.0, section 9.7.15.5.2): a register of D depends on what it held if scale-d is true.
void Values::Flow::add_product() {
    const LaneMask factors = of_sources(1, mask);
    const bool adds = bits(instruction.operands[instruction.has("sp") ? 5 : 3]) & mask;
    for (const Operand& each : instruction.operands[0].elements)
        write(each, mask, factors | (adds ? of(each) : 0));
}

LaneMask Values::Flow::result(Rule rule) {
    const auto& operands = instruction.operands;
    switch (rule) {
    case Rule::select: {
        const LaneMask a = of(operands[1]), b = of(operands[2]), c = of(operands[3]);
        const LaneMask taken = bits(operands[3]);
        return (a & taken) | (b & ~taken) | c;
    }
    case Rule::predicates:
        return decided();
    case Rule::shuffle:
        return instruction.opcode == "shfl" ? shuffled() : transposed();
    case Rule::collective:
        return of_sources(1, all_lanes) ? mask : 0;
    default:
        return of_sources(1, mask);
    }
}

/// Remembers what the store or atomic at hand writes; access() learns where.
void Values::Flow::send(std::size_t first) {
    all.outgoing_ = {&warp, pc, {}, instruction.opcode == "stmatrix" || instruction.opcode == "wmma"};
    const auto add = [&](const Operand& operand) {
        const LaneMask lanes = of(operand);
        all.outgoing_.elements.push_back({lanes, lanes ? origin : 0});
    };
    LaneMask any = 0;
    for (std::size_t i = first; i < instruction.operands.size(); ++i) {
        const Operand& operand = instruction.operands[i];
        if (operand.kind == Operand::Kind::vector)
            std::ranges::for_each(operand.elements, add);
        else
            add(operand);
        any |= of(operand);
    }
    if (!any)
        all.outgoing_ = {};
}

/// `unsure`: lanes in which the guard is such a value.
void Values::Flow::act(Rule rule, LaneMask unsure) {
    const auto& operands = instruction.operands;
    const bool goes_on = rule == Rule::combine || rule == Rule::predicates || rule == Rule::select ||
                         rule == Rule::shuffle || rule == Rule::collective || rule == Rule::product ||
                         rule == Rule::sum || rule == Rule::load || rule == Rule::nothing;
    const OriginId guard = origin;
    if (unsure && !goes_on)
        use(unsure, Use::decision);
    if (all.in_registers_ && (rule == Rule::store || rule == Rule::reduce || gives_result(rule)) &&
        !(operands[0].kind == Operand::Kind::reg &&
          (hands_on(instruction) || rule == Rule::predicates || rule == Rule::select)))
        rule = Rule::use_all;
    switch (rule) {
    case Rule::unknown:
    case Rule::nothing:
        return;
    case Rule::branch:
        return use(of_sources(0, mask), Use::decision);
    case Rule::use_all: {
        const bool has_result = (instruction.opcode == "mbarrier" || gives_result(rule_of(instruction))) &&
                                !operands.empty() && operands[0].kind != Operand::Kind::address;
        use(of_sources(has_result, mask), Use::handed_on);
        return has_result ? write(operands[0], mask, 0) : void();
    }
    case Rule::store:
        use(of(operands[0]), Use::address);
        if (instruction.opcode == "wmma" && operands.size() > 2)
            use(of(operands[2]), Use::address); // The stride.
        if (const AccessExtra* access = access_of(kernel, pc); access && access->address.in_frame)
            return use(of_sources(1, mask), Use::handed_on); // An argument of a call.
        return send(1);
    case Rule::reduce:
        use(of(operands[0]), Use::address);
        return send(1);
    case Rule::atomic:
        use(of(operands[1]), Use::address);
        send(2);
        return write(operands[0], mask, 0);
    case Rule::product:
        multiply();
        break;
    case Rule::sum:
        add_product();
        break;
    case Rule::load:
        use(of_sources(1, mask), Use::address);
        write(operands[0], mask, 0);
        break;
    default: {
        const LaneMask tainted = result(rule);
        const Operand& destination = operands[0];
        // Of d|p in a shuffle, p tells whether there was a source.
        if (rule == Rule::shuffle && destination.kind == Operand::Kind::pair) {
            write(destination.elements[0], mask, tainted);
            write(destination.elements[1], mask, of(operands[2]) | of(operands[3]));
        } else {
            write(destination, mask, tainted);
        }
    }
    }
    if (unsure) { // Whether the register keeps its old value is not known.
        origin = guard;
        write(operands[0], unsure, unsure);
    }
}

/// `lane` writes one row of a matrix, or one element or pair of elements of its own.
void Values::store_of_matrix(const AccessEvent& event, unsigned lane) {
    const Warp& warp = *event.warp;
    const Instruction& instruction = *warp.cluster().info().kernel->sources[event.pc];
    const auto& elements = outgoing_.elements;
    const auto origin = [&](std::size_t element, unsigned from) -> OriginId {
        return element < elements.size() && elements[element].lanes >> from & 1 ? elements[element].origin
                                                                                : 0;
    };
    if (instruction.opcode == "wmma")
        return mark_lane(event, lane, 0, event.bytes, origin(warp.accessed_element, lane));
    for (unsigned column = 0; column < 8; ++column)
        mark_lane(event, lane, 2 * column, 2, origin(lane / 8, holder_of(instruction, lane % 8, column)));
}

void Values::before_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
    outgoing_ = {};
    if (!rows_of(warp).tainted)
        return;
    const Kernel& kernel = *warp.cluster().info().kernel;
    if (rules_.empty())
        rules_.resize(kernel.code.size());
    if (rules_[pc] == Rule::unknown)
        rules_[pc] = rule_of(*kernel.sources[pc]);
    Flow flow{*this, warp, pc, mask};
    LaneMask unsure = 0;
    if (flow.instruction.guard >= 0)
        if (const auto place = flow.place(static_cast<std::uint32_t>(flow.instruction.guard)); true)
            if (const Tainted* guard = row(warp, place); guard && guard->lanes & warp.active()) {
                unsure = guard->lanes & warp.active();
                flow.note(*guard, place, unsure);
            }
    if (mask || unsure)
        flow.act(rules_[pc], unsure);
}

void Values::taint_result(Warp& warp, std::uint32_t pc, unsigned lane, unsigned element, OriginId origin) {
    Flow flow{*this, warp, pc, LaneMask{1} << lane};
    flow.origin = flow.by_lane[lane] = origin;
    const Operand& destination = flow.instruction.operands.front();
    flow.write(destination.kind == Operand::Kind::vector ? destination.elements[element] : destination,
               flow.mask, flow.mask);
}

void Values::taint_register(Warp& warp, std::uint32_t pc, unsigned lane, std::int64_t offset,
                            OriginId origin) {
    Flow flow{*this, warp, pc, LaneMask{1} << lane};
    if (flow.instruction.opcode == "red")
        return;
    const Operand& destination = flow.instruction.operands.front();
    flow.origin = flow.by_lane[lane] = origin;
    const AccessExtra* access = flow.instruction.opcode == "wmma" ? access_of(flow.kernel, pc) : nullptr;
    if (access && access->one_by_one) {
        const std::size_t count = destination.elements.size(), each = count / access->copies;
        for (std::size_t i = warp.accessed_element; i < count; i += each)
            flow.write(destination.elements[i], flow.mask, flow.mask);
        return;
    }
    if (flow.instruction.opcode == "ldmatrix") {
        const unsigned matrix = lane / 8;
        // Lane 8 i + j has read row j of matrix i, which goes to register i of four lanes, or a column of it.
        const unsigned row = lane % 8, column = static_cast<unsigned>(offset) / 2;
        lane = holder_of(flow.instruction, row, column);
        flow.mask = LaneMask{1} << lane;
        flow.origin = flow.by_lane[lane] = origin;
        return flow.write(destination.elements[matrix], flow.mask, flow.mask);
    }
    if (destination.kind != Operand::Kind::vector)
        return flow.write(destination, flow.mask, flow.mask);
    const auto element = static_cast<std::size_t>(offset) / element_bytes(flow.instruction);
    if (offset >= 0 && element < destination.elements.size())
        flow.write(destination.elements[element], flow.mask, flow.mask);
}

} // namespace emu::check

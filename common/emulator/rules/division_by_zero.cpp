// Integers divided by zero: the result is unspecified (PTX ISA 9.7.1.8, 9.7.1.9), and no GPU stops there. A
// result that is dropped is no mistake, so only a use is told.

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/use_rule.hpp"

#include <algorithm>
#include <bit>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Type;

/// Bytes of the divisor, by instruction; 0: it divides no integers.
struct Divisions {
    std::vector<std::uint8_t> bytes;

    explicit Divisions(const Kernel& kernel) {
        for (const Instruction* each : kernel.sources)
            bytes.push_back(bytes_of(*each));
    }
    bool any() const {
        return std::ranges::any_of(bytes, [](unsigned each) { return each != 0; });
    }
    static std::uint8_t bytes_of(const Instruction& instruction) {
        if ((instruction.opcode != "div" && instruction.opcode != "rem") || instruction.operands.size() != 3)
            return 0;
        for (const Type type : {Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64})
            if (instruction.has(ptx::name_of(type)))
                return static_cast<std::uint8_t>(ptx::size_of(type));
        return 0;
    }
};

class DivisionByZero final : public UseRule {
  public:
    explicit DivisionByZero(const Desk& desk)
        : UseRule(desk),
          divisions_(launch_.shelf.get<Divisions>([this] { return std::make_shared<Divisions>(kernel()); })) {
        if (divisions_.any())
            engine_.watch(*this, Watch::instructions);
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override {
        UseRule::on_instruction(warp, pc, mask);
        if (mask && divisions_.bytes[pc]) [[unlikely]]
            if (const LaneMask lanes = zeros(warp, pc) & mask)
                follow(warp, pc, lanes, [&] { return describe(warp, lanes, pc); });
    }

  private:
    LaneMask zeros(Warp& warp, std::uint32_t pc) const;
    Diagnostic describe(const Warp& warp, LaneMask lanes, std::uint32_t pc) const;
    std::string_view reason() const override {
        return "PTX does not say what the result is (all bits are ones on an H200)";
    }

    const Divisions& divisions_;
};

template <class T>
LaneMask zeros_in(Warp& warp, Row row) {
    const T* const values = warp.row<T>(row);
    LaneMask lanes = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane)
        lanes |= LaneMask{values[lane] == 0} << lane;
    return lanes;
}

/// Lanes whose divisor is zero.
LaneMask DivisionByZero::zeros(Warp& warp, std::uint32_t pc) const {
    const ptx::Operand& divisor = instruction(pc).operands[2];
    if (divisor.kind == ptx::Operand::Kind::integer)
        return divisor.bits == 0 ? all_lanes : 0;
    if (divisor.kind != ptx::Operand::Kind::reg)
        return 0;
    const Row row{kernel().functions[kernel().function_of[pc]]->registers[divisor.index], Row::Base::frame};
    return divisions_.bytes[pc] == 8   ? zeros_in<std::uint64_t>(warp, row)
           : divisions_.bytes[pc] == 4 ? zeros_in<std::uint32_t>(warp, row)
                                       : zeros_in<std::uint16_t>(warp, row);
}

Diagnostic DivisionByZero::describe(const Warp& warp, LaneMask lanes, std::uint32_t pc) const {
    const bool quotient = instruction(pc).opcode == "div";
    const std::string who = thread_name(warp, static_cast<unsigned>(std::countr_zero(lanes)));
    return make(
        Finding::division_by_zero,
        who + (quotient ? " divides an integer by zero." : " takes the remainder of a division by zero."),
        "Put the division inside an if (divisor != 0), and say there what the result is for zero. If the "
        "divisor "
        "was computed by a division, see whether that was to round up: (n + parts - 1) / parts.",
        {line(pc, (quotient ? "division by " : "remainder by ") + who)}, true);
}

} // namespace

std::unique_ptr<Rule> make_division_by_zero(const Desk& desk) {
    return std::make_unique<DivisionByZero>(desk);
}

} // namespace emu::check

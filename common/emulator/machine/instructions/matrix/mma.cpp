// Products of small matrices in the registers of a warp: mma.sync, mma.sp (PTX ISA 9.0, sections 9.7.14.5 and
// 9.7.14.6). Values are those of an H200, bit for bit (tests/hardware).

#include "machine/instructions/matrix/mma_operands.hpp"

namespace emu {
namespace {

using namespace matrix;

/// The selector names the lanes of each group that hold the metadata: one of four, one of two pairs, or all.
unsigned selector_of(const DecodeContext& c, const MmaForm& form) {
    const std::int64_t selector = c.immediate(5);
    if (selector < 0 || selector >= 4 / Metadata::lanes(form.a, form.stored_k()))
        c.malformed("has a selector that names no lanes of a group");
    return static_cast<unsigned>(selector);
}

void decode_mma(DecodeContext& c, Op& op) {
    auto plan = std::make_unique<MmaPlan>();
    const MmaForm form = mma_form(c);
    const auto bytes = [](Element e) { return e == Element::f64 ? 8u : 4u; };
    plan->form = form;
    plan->d = destinations(c, 0, form.registers_of(form.d), bytes(form.d));
    plan->a = sources(c, 1, form.registers_of_a(), bytes(form.a));
    plan->b = sources(c, 2, form.registers_of_b(), bytes(form.b));
    plan->c = sources(c, 3, form.registers_of(form.c), bytes(form.c));
    if (form.sparse) {
        plan->metadata = c.source(4, ptx::Type::b32);
        plan->selector = selector_of(c, form);
    }
    if (is_tensor_float(form))
        plan->find_places();
    plan->action = action_of(form);
    op.extra = c.keep(std::move(plan));
    op.handler = execute_together;
}

constexpr InstructionRow table[] = {
    {"mma", "9.7.14.5", decode_mma},
};

} // namespace

std::span<const InstructionRow> mma_instructions() { return table; }

} // namespace emu

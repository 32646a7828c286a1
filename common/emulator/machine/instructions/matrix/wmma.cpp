// wmma.mma (PTX ISA 9.0, section 9.7.14.4). PTX leaves open which lane holds which element; here it is as on
// an H200.

#include "machine/instructions/matrix/mma_operands.hpp"
#include "machine/instructions/matrix/wmma_forms.hpp"

namespace emu {
namespace {

using namespace matrix;

void decode_wmma_mma(DecodeContext& c, Op& op) {
    auto plan = std::make_unique<MmaPlan>();
    const MmaForm form = wmma_form(c);
    const auto bytes = [](Element e) { return e == Element::f64 ? 8u : 4u; };
    plan->form = form;
    plan->d = destinations(c, 0, form.registers_of(form.d), bytes(form.d));
    plan->a = sources(c, 1, wmma_registers_of_a(form), bytes(form.a));
    plan->b = sources(c, 2, wmma_registers_of_b(form), bytes(form.b));
    plan->c = sources(c, 3, form.registers_of(form.c), bytes(form.c));
    if (is_tensor_float(form))
        plan->find_places();
    plan->action = action_of(form);
    op.extra = c.keep(std::move(plan));
    op.handler = execute_together;
}

constexpr InstructionRow table[] = {
    {"wmma.mma", "9.7.14.4.5", decode_wmma_mma},
};

} // namespace

std::span<const InstructionRow> wmma_instructions() { return table; }

} // namespace emu

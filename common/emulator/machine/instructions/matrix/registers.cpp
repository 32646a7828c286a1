#include "machine/instructions/matrix/registers.hpp"

namespace emu::matrix {
namespace {

const std::vector<ptx::Operand>& elements_of(DecodeContext& context, std::size_t operand, std::size_t count) {
    const ptx::Operand& o = context.operand(operand);
    if (o.kind != ptx::Operand::Kind::vector || o.elements.size() != count)
        context.malformed("has {" + std::to_string(count) + (count == 1 ? " register}" : " registers}") +
                          " as operand " + std::to_string(operand + 1));
    return o.elements;
}

ptx::Type type_of(unsigned bytes) { return bytes == 8 ? ptx::Type::b64 : ptx::Type::b32; }

} // namespace

Rows sources(DecodeContext& context, std::size_t operand, std::size_t count, unsigned bytes) {
    Rows rows;
    for (const ptx::Operand& element : elements_of(context, operand, count))
        rows.push_back(context.source(element, type_of(bytes)));
    return rows;
}

Rows destinations(DecodeContext& context, std::size_t operand, std::size_t count, unsigned bytes) {
    Rows rows;
    for (const ptx::Operand& element : elements_of(context, operand, count))
        rows.push_back(context.destination(element, type_of(bytes)));
    return rows;
}

Flow execute_together(Warp& warp, const Op& op, LaneMask mask) {
    return warp.meet(op, mask, all_lanes, static_cast<const WarpPlan*>(op.extra)->action);
}

} // namespace emu::matrix

// Asynchronous products of a warpgroup: wgmma.mma_async, wgmma.fence, commit_group, wait_group (PTX ISA 9.0,
// section 9.7.15). Each warp issues its own share: 16 rows of D.

#include "machine/async_tasks.hpp"
#include "machine/instructions/async_operands.hpp"
#include "machine/instructions/matrix/wgmma_task.hpp"

#include <bit>

namespace emu {
namespace {

using namespace matrix;

const WgmmaPlan& wgmma_of(const Op& op) { return *static_cast<const WgmmaPlan*>(op.extra); }

unsigned lowest(LaneMask lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); }

std::uint32_t pc_of(const Warp& warp, const Op& op) {
    return static_cast<std::uint32_t>(&op - warp.cluster().info().kernel->code.data());
}

/// The units of shared memory that operands lie in, each once, as pieces.
class Units {
  public:
    explicit Units(std::uint32_t bytes) : used_((bytes / unit_bytes + 63) / 64) {}

    void add(std::uint32_t address) { used_[address / unit_bytes / 64] |= 1ull << address / unit_bytes % 64; }
    std::vector<AsyncPiece> pieces(std::uint32_t window) const {
        std::vector<AsyncPiece> result;
        std::uint32_t end = ~0u; // Of the last piece.
        for (std::uint32_t word = 0; word < used_.size(); ++word)
            for (std::uint64_t rest = used_[word]; rest; rest &= rest - 1) {
                const auto at = (word * 64 + static_cast<std::uint32_t>(std::countr_zero(rest))) * unit_bytes;
                if (at == end)
                    result.back().bytes += unit_bytes;
                else
                    result.push_back({0, window + at, unit_bytes});
                end = at + unit_bytes;
            }
        return result;
    }

  private:
    std::vector<std::uint64_t> used_;
};

/// Marks what this warp reads of a tile: lines from `first` on. False after a report: it lies outside of the
/// block's shared memory.
bool mark(const emu::Place& place, const Descriptor& from, unsigned first, unsigned lines,
          unsigned line_bytes, bool along_lines, const char* what, Units& units) {
    std::uint32_t outside = 0;
    bool is_inside = true;
    Block& block = place.warp.block();
    for_units(from, first + lines, line_bytes, along_lines,
              [&](std::uint32_t address, unsigned line, unsigned) {
                  if (line < first || !is_inside)
                      return;
                  is_inside = block.shared_bytes(address, unit_bytes) != nullptr;
                  if (is_inside)
                      units.add(address);
                  else
                      outside = address;
              });
    return is_inside || check_shared(place, block.rank() << shared_rank_shift | outside, unit_bytes, what,
                                     SharedUse::matrix);
}

std::uint64_t descriptor_bits(Warp& warp, const Op& op, unsigned lane, Row WgmmaPlan::*which) {
    const WgmmaPlan& plan = wgmma_of(op);
    return warp.row<std::uint64_t>(plan.*which)[lane];
}

void multiply(Warp& warp, const Op& op, LaneMask lanes) {
    const WgmmaPlan& plan = wgmma_of(op);
    const WgmmaForm& form = plan.form;
    const emu::Place place(warp, lowest(lanes), pc_of(warp, op));
    auto task = std::make_unique<WgmmaTask>(warp, plan, warp.frame());
    const auto bytes = static_cast<std::uint32_t>(warp.block().shared().size());
    Units of_a(bytes), of_b(bytes);
    const unsigned first = warp.index() % warpgroup_warps * warp_rows;
    if (!form.a_in_registers) {
        task->a = Descriptor(descriptor_bits(warp, op, place.lane, &WgmmaPlan::a_descriptor));
        if (!mark(place, *task->a, first, warp_rows, bytes_of_a_row, form.a_by_column, "matrix A of wgmma",
                  of_a))
            return;
    }
    task->b = Descriptor(descriptor_bits(warp, op, place.lane, &WgmmaPlan::b_descriptor));
    if (!mark(place, task->b, 0, form.n, form.bytes_of_b_line(), form.b_by_row, "matrix B of wgmma", of_b))
        return;
    task->adds = adds_to_sums(warp, op, lanes);
    task->lanes = lanes;
    task->source_rank = static_cast<std::int8_t>(warp.block().rank());
    AsyncOperation& operation = task->operation;
    operation = make_operation(place, AsyncKind::wgmma, CompletionKind::wgmma_group);
    operation.reads_shared = true;
    if (task->a)
        operation.swizzle[0] = static_cast<std::int16_t>(task->a->pattern_bytes());
    operation.swizzle[1] = static_cast<std::int16_t>(task->b.pattern_bytes());
    const std::uint32_t window = warp.block().rank() << shared_rank_shift;
    if (warp.cluster().listening())
        operation.source_pieces = of_a.pieces(window), operation.pieces = of_b.pieces(window);
    warp.cluster().async().issue(std::move(task));
    // Code of nvcc -G stores every accumulator behind each instruction, and the assembler waits before that.
    if (warp.cluster().info().kernel->program->module().is_debug)
        warp.cluster().async().land_products(warp);
}

/// One lane stands for the warp.
void commit(Warp& warp, const Op&, LaneMask) {
    warp.cluster().async().commit(warp, 0, CompletionKind::wgmma_group);
    warp.cluster().async().warpgroup_changed(warp);
}

/// Lanes that came one after the other: they do not wait for the rest of the warpgroup.
void wait_alone(Warp& warp, const Op& op, LaneMask) {
    warp.cluster().async().wait(warp, 0, CompletionKind::wgmma_group,
                                static_cast<std::uint64_t>(op.immediate), false, false, pc_of(warp, op));
}

/// op.immediate: groups that may stay pending.
Flow run_wait(Warp& warp, const Op& op, LaneMask mask) {
    if (mask != (warp.present() & ~warp.exited()))
        return warp.meet(op, mask, all_lanes, wait_alone);
    if (warp.cluster().async().wait_for_products(warp, static_cast<std::uint64_t>(op.immediate), warp.pc()))
        return Flow::next;
    return warp.block_lanes(mask, Wait::warpgroup, 0);
}

void keep_order(Warp&, const Op&, LaneMask) {}

// -- decoding

void finish(DecodeContext& c, Op& op, std::unique_ptr<WarpPlan> plan, Warp::MeetingAction action) {
    plan->action = action;
    op.extra = c.keep(std::move(plan));
    op.handler = execute_together;
}

/// An immediate operand that is one of two numbers; true if it is the second.
bool decode_choice(const DecodeContext& c, std::size_t i, std::int64_t no, std::int64_t yes,
                   const char* what) {
    const std::int64_t value = c.immediate(i);
    if (value != no && value != yes)
        c.malformed(std::string("takes ") + what);
    return value == yes;
}

/// The operands behind scale-d: the signs of A and B, of floating-point types, and the orders in shared
/// memory, of 16-bit types.
void decode_immediates(DecodeContext& c, std::size_t next, WgmmaForm& form) {
    if (form.d != Element::s32) {
        form.negate_a = decode_choice(c, next++, 1, -1, "1 or -1 as imm-scale-a");
        form.negate_b = decode_choice(c, next++, 1, -1, "1 or -1 as imm-scale-b");
    }
    if (bits_of(form.a) == 16) {
        if (!form.a_in_registers)
            form.a_by_column = decode_choice(c, next++, 0, 1, "0 or 1 as imm-trans-a");
        form.b_by_row = decode_choice(c, next++, 0, 1, "0 or 1 as imm-trans-b");
    }
    if (next != c.operand_count())
        c.malformed("has " + std::to_string(c.operand_count()) + " operands, and not " +
                    std::to_string(next));
}

void decode_multiply(DecodeContext& c, Op& op) {
    auto plan = std::make_unique<WgmmaPlan>();
    WgmmaForm form = wgmma_form(c);
    form.a_in_registers = c.operand(1).kind == ptx::Operand::Kind::vector;
    plan->d = destinations(c, 0, form.registers_of_d(), 4);
    if (form.a_in_registers)
        plan->a = sources(c, 1, bytes_of_a_row / 8, 4);
    else
        plan->a_descriptor = c.source(1, ptx::Type::b64);
    plan->b_descriptor = c.source(2, ptx::Type::b64);
    std::size_t next = 3;
    if (form.sparse) {
        plan->metadata = c.source(next++, ptx::Type::b32);
        const std::int64_t selector = c.immediate(next++);
        if (selector < 0 || selector >= 4 / Metadata::lanes(form.a, form.stored_k()))
            c.malformed("has a selector that names no lanes of a group");
        plan->selector = static_cast<unsigned>(selector);
    }
    plan->adds_negated = c.operand(next).negated;
    plan->adds = c.predicate(c.operand(next++));
    decode_immediates(c, next, form);
    plan->form = form;
    op.progress = true;
    finish(c, op, std::move(plan), multiply);
}

/// The assembler takes these without .aligned, too.
void require_sync(const DecodeContext& c, std::initializer_list<std::string_view> modifiers) {
    c.allow(modifiers);
    if (!c.has("sync"))
        c.malformed("has no .sync");
}

void decode_fence(DecodeContext& c, Op& op) {
    require_sync(c, {"fence", "sync", "aligned"});
    finish(c, op, std::make_unique<WarpPlan>(), keep_order);
}

void decode_commit(DecodeContext& c, Op& op) {
    require_sync(c, {"commit_group", "sync", "aligned"});
    finish(c, op, std::make_unique<WarpPlan>(), commit);
}

void decode_wait(DecodeContext& c, Op& op) {
    require_sync(c, {"wait_group", "sync", "aligned"});
    op.immediate = c.immediate(0);
    if (op.immediate < 0)
        c.malformed("takes a count of groups that is not negative");
    op.handler = run_wait;
}

constexpr InstructionRow table[] = {
    {"wgmma.mma_async", "9.7.15.5.2", decode_multiply},
    {"wgmma.fence", "9.7.15.7.1", decode_fence},
    {"wgmma.commit_group", "9.7.15.7.2", decode_commit},
    {"wgmma.wait_group", "9.7.15.7.3", decode_wait},
};

} // namespace

std::span<const InstructionRow> wgmma_instructions() { return table; }

} // namespace emu

// wmma.load and wmma.store (PTX ISA 9.0, sections 9.7.14.4.3 and 9.7.14.4.4).

#include "machine/access.hpp"
#include "machine/cluster.hpp"
#include "machine/instructions/matrix/mma_operands.hpp"
#include "machine/instructions/matrix/wmma_forms.hpp"

#include <cstring>

namespace emu {
namespace {

using namespace matrix;
using ptx::Space;
using ptx::Type;

/// Where a lane's element stands in its matrix.
struct Position {
    unsigned row = 0, column = 0;
};

struct FragmentMove final : AccessExtra {
    Warp::MeetingAction action = nullptr;
    DecodeContext::AddressParts
        matrix; ///< Of the matrix. AccessExtra::address is that of one access of each lane.
    bool has_stride = false;
    Row stride;                ///< In elements.
    std::uint32_t natural = 0; ///< The stride of a matrix without gaps.
    bool by_column = false;
    unsigned bits = 0;               ///< Of an element.
    unsigned in_register = 1;        ///< Elements.
    std::vector<Position> positions; ///< [register][lane][element], of the registers that differ.

    unsigned different_registers() const {
        return static_cast<unsigned>(positions.size()) / warp_size / in_register;
    }
    const Position& position(unsigned index, unsigned lane, unsigned element) const {
        return positions[(index * warp_size + lane) * in_register + element];
    }
    /// The elements of a register follow each other in memory.
    bool is_contiguous() const {
        if (in_register == 1)
            return true;
        const Position &first = position(0, 0, 0), &second = position(0, 0, 1);
        return by_column ? second.row == first.row + 1 : second.column == first.column + 1;
    }
    unsigned bytes_of_access() const { return is_contiguous() ? std::max(4u, bits / 8) : bits / 8; }
};

const FragmentMove& move_of(const Op& op) { return *static_cast<const FragmentMove*>(op.extra); }

Flow meet_all(Warp& warp, const Op& op, LaneMask mask) {
    return warp.meet(op, mask, all_lanes, move_of(op).action);
}

/// Calls use(pointers, register, element) for each access of the lanes, until one is bad. What is stored is
/// `value`.
template <class Use>
void for_accesses(Warp& warp, const Op& op, LaneMask lanes, Use use) {
    const FragmentMove& move = move_of(op);
    std::array<Address, warp_size> base{};
    compute_addresses(warp, move.matrix, lanes);
    for_lanes(lanes, [&](unsigned lane) { base[lane] = warp.addresses[lane]; });
    const unsigned steps = move.is_contiguous() ? 1 : move.in_register, bytes = move.bytes_of_access();
    for (unsigned index = 0; index < move.different_registers(); ++index)
        for (unsigned element = 0; element < steps; ++element) {
            auto* addresses = warp.row<Address>(move.address.base);
            for_lanes(lanes, [&](unsigned lane) {
                const std::uint64_t stride =
                    move.has_stride ? warp.row<std::uint32_t>(move.stride)[lane] : move.natural;
                const Position& at = move.position(index, lane, element);
                const std::uint64_t place =
                    move.by_column ? at.column * stride + at.row : at.row * stride + at.column;
                addresses[lane] = base[lane] + place * move.bits / 8;
            });
            Pointers pointers;
            if (!resolve(warp, move, lanes, bytes, pointers))
                return;
            use(pointers, index, element);
        }
}

void load_fragment(Warp& warp, const Op& op, LaneMask lanes) {
    const FragmentMove& move = move_of(op);
    const unsigned bytes = move.bytes_of_access(), words = move.bits == 64 ? 2 : 1;
    for_accesses(warp, op, lanes, [&](const Pointers& from, unsigned index, unsigned element) {
        warp.accessed_element = index;
        if (warp.cluster().listening())
            emit_access(warp, op, move, from, lanes, bytes);
        // Registers of a fragment of f16 come twice or four times.
        for (unsigned copy = index; copy < move.rows.size(); copy += move.different_registers()) {
            auto* into = warp.row<std::uint32_t>(move.rows[copy]);
            for_lanes(lanes, [&](unsigned lane) {
                std::uint32_t* const word = into + words * lane;
                std::memcpy(reinterpret_cast<std::byte*>(word) + element * move.bits / 8, from.at[lane],
                            bytes);
            });
        }
    });
}

void store_fragment(Warp& warp, const Op& op, LaneMask lanes) {
    const FragmentMove& move = move_of(op);
    const unsigned bytes = move.bytes_of_access(), words = move.bits == 64 ? 2 : 1;
    for_accesses(warp, op, lanes, [&](const Pointers& into, unsigned index, unsigned element) {
        const auto* from = warp.row<std::uint32_t>(move.rows[index]);
        const auto value = [&](unsigned lane) {
            return reinterpret_cast<const std::byte*>(from + words * lane) + element * move.bits / 8;
        };
        warp.accessed_element = index;
        const auto lock = in_order(warp, move, lanes);
        if (warp.cluster().listening()) {
            LaneMask changing = 0;
            for_lanes(lanes, [&](unsigned lane) {
                changing |= LaneMask{std::memcmp(into.at[lane], value(lane), bytes) != 0} << lane;
            });
            emit_access(warp, op, move, into, lanes, bytes, changing, find_clash(into, lanes, bytes, value));
        }
        for_lanes(lanes, [&](unsigned lane) { std::memcpy(into.at[lane], value(lane), bytes); });
    });
    warp.cluster().made_progress();
}

Place place_in_fragment(const FragmentForm& form, unsigned row, unsigned column) {
    if (form.matrix == Matrix::c)
        return place_of_c(form.product, form.type, row, column);
    return form.matrix == Matrix::a ? place_of_a(form.product, row, column)
                                    : place_of_b(form.product, row, column);
}

std::vector<Position> positions_of(const FragmentForm& form) {
    const unsigned bits = bits_of(form.type), in_register = bits < 32 ? 32 / bits : 1;
    std::vector<Position> positions(form.rows() * form.columns());
    for (unsigned row = 0; row < form.rows(); ++row)
        for (unsigned column = 0; column < form.columns(); ++column) {
            const Place place = place_in_fragment(form, row, column);
            positions[(place.index * warp_size + place.lane) * in_register + place.shift / bits] = {row,
                                                                                                    column};
        }
    return positions;
}

void decode_move(DecodeContext& c, Op& op, bool store) {
    const FragmentForm form = fragment_form(c, store);
    auto move = std::make_unique<FragmentMove>();
    const std::size_t address = store ? 0 : 1, registers = store ? 1 : 0,
                      bytes = form.type == Element::f64 ? 8 : 4;
    move->matrix = c.address(c.operand(address));
    move->address = {.base = c.scratch(8)};
    move->space = space_of(c, c.operand(address));
    move->own_block_only = true;
    move->kind = store ? AccessKind::write : AccessKind::read;
    const std::size_t count = form.registers();
    move->rows = store ? sources(c, registers, count, static_cast<unsigned>(bytes))
                       : destinations(c, registers, count, static_cast<unsigned>(bytes));
    move->has_stride = c.operand_count() > 2;
    if (move->has_stride)
        move->stride = c.source(2, Type::u32);
    move->by_column = form.by_column;
    move->natural = form.by_column ? form.rows() : form.columns();
    move->bits = bits_of(form.type);
    move->in_register = move->bits < 32 ? 32 / move->bits : 1;
    move->positions = positions_of(form);
    move->one_by_one = true;
    move->copies = static_cast<unsigned>(move->rows.size()) / move->different_registers();
    move->action = store ? store_fragment : load_fragment;
    op.progress = store;
    op.extra = c.keep(std::move(move));
    op.handler = meet_all;
}

void decode_load(DecodeContext& c, Op& op) { decode_move(c, op, false); }
void decode_store(DecodeContext& c, Op& op) { decode_move(c, op, true); }

constexpr InstructionRow table[] = {
    {"wmma.load", "9.7.14.4.3", decode_load},
    {"wmma.store", "9.7.14.4.4", decode_store},
};

} // namespace

std::span<const InstructionRow> wmma_move_instructions() { return table; }

} // namespace emu

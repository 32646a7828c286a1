// Matrices between shared memory and the registers of a warp: ldmatrix, stmatrix (PTX ISA 9.0,
// sections 9.7.14.5.15 and 9.7.14.5.16). Each matrix has 8 rows of 16 bytes; lane 8 i + j has the address of
// row j of matrix i.

#include "machine/access.hpp"
#include "machine/cluster.hpp"
#include "machine/instructions/matrix/registers.hpp"

#include <bit>
#include <cstring>

namespace emu {
namespace {

using ptx::Space;

constexpr unsigned row_bytes = 16;

struct MatrixAccess final : AccessExtra {
    Warp::MeetingAction action = nullptr;
    bool transposed = false;

    /// The lanes whose addresses count.
    LaneMask addressing() const {
        return rows.size() == 4 ? all_lanes : (LaneMask{1} << 8 * rows.size()) - 1;
    }
};

const MatrixAccess& access_of(const Op& op) { return *static_cast<const MatrixAccess*>(op.extra); }

Flow meet_all(Warp& warp, const Op& op, LaneMask mask) {
    return warp.meet(op, mask, all_lanes, access_of(op).action);
}

/// The 16-bit element of a matrix that lane `lane` holds in half `half` of its register.
struct Element {
    unsigned row, column;
};
constexpr Element element_of(unsigned lane, unsigned half, bool transposed) {
    const Element e{lane / 4, 2 * (lane % 4) + half};
    return transposed ? Element{e.column, e.row} : e;
}

void load_matrices(Warp& warp, const Op& op, LaneMask lanes) {
    const MatrixAccess& access = access_of(op);
    const LaneMask addressing = access.addressing() & lanes;
    Pointers from;
    if (!addressing || !resolve(warp, access, addressing, row_bytes, from))
        return;
    if (warp.cluster().listening())
        emit_access(warp, op, access, from, addressing, row_bytes);
    for (unsigned i = 0; i < access.rows.size(); ++i) {
        auto* into = warp.row<std::uint32_t>(access.rows[i]);
        for_lanes(lanes, [&](unsigned lane) {
            std::uint32_t word = 0;
            for (unsigned half = 0; half < 2; ++half) {
                const Element e = element_of(lane, half, access.transposed);
                std::uint16_t value = 0;
                if (addressing >> (8 * i + e.row) & 1)
                    std::memcpy(&value, from.at[8 * i + e.row] + 2 * e.column, sizeof value);
                word |= std::uint32_t{value} << 16 * half;
            }
            into[lane] = word;
        });
    }
}

void store_matrices(Warp& warp, const Op& op, LaneMask lanes) {
    const MatrixAccess& access = access_of(op);
    const LaneMask addressing = access.addressing() & lanes;
    Pointers into;
    if (!addressing || !resolve(warp, access, addressing, row_bytes, into))
        return;
    std::array<std::array<std::uint16_t, row_bytes / 2>, warp_size> values{};
    for (unsigned i = 0; i < access.rows.size(); ++i) {
        const auto* from = warp.row<std::uint32_t>(access.rows[i]);
        for_lanes(lanes, [&](unsigned lane) {
            for (unsigned half = 0; half < 2; ++half) {
                const Element e = element_of(lane, half, access.transposed);
                values[8 * i + e.row][e.column] = static_cast<std::uint16_t>(from[lane] >> 16 * half);
            }
        });
    }
    if (warp.cluster().listening()) {
        LaneMask changing = 0;
        for_lanes(addressing, [&](unsigned lane) {
            changing |= LaneMask{std::memcmp(values[lane].data(), into.at[lane], row_bytes) != 0} << lane;
        });
        const Clash clash =
            find_clash(into, addressing, row_bytes, [&](unsigned lane) { return values[lane].data(); });
        emit_access(warp, op, access, into, addressing, row_bytes, changing, clash);
    }
    for_lanes(addressing, [&](unsigned lane) { std::memcpy(into.at[lane], values[lane].data(), row_bytes); });
    warp.cluster().made_progress();
}

void decode_access(DecodeContext& c, Op& op, bool store) {
    c.allow({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"});
    const std::size_t count = c.has("x1") ? 1 : c.has("x2") ? 2 : c.has("x4") ? 4 : 0;
    if (!c.has("sync") || !c.has("aligned") || !c.has("m8n8") || count == 0 || c.type() != ptx::Type::b16)
        c.malformed("is .sync.aligned.m8n8 with .x1, .x2 or .x4 and .b16");
    auto access = std::make_unique<MatrixAccess>();
    access->address = c.address(c.operand(store ? 0 : 1));
    access->space = c.space() == Space::generic ? space_of(c, c.operand(store ? 0 : 1)) : c.space();
    access->own_block_only = access->space == Space::shared;
    access->kind = store ? AccessKind::write : AccessKind::read;
    access->rows = store ? matrix::sources(c, 1, count, 4) : matrix::destinations(c, 0, count, 4);
    access->transposed = c.has("trans");
    access->action = store ? store_matrices : load_matrices;
    op.progress = store;
    op.extra = c.keep(std::move(access));
    op.handler = meet_all;
}

void decode_ldmatrix(DecodeContext& c, Op& op) { decode_access(c, op, false); }
void decode_stmatrix(DecodeContext& c, Op& op) { decode_access(c, op, true); }

constexpr InstructionRow table[] = {
    {"ldmatrix", "9.7.14.5.15", decode_ldmatrix},
    {"stmatrix", "9.7.14.5.16", decode_stmatrix},
};

} // namespace

std::span<const InstructionRow> ldmatrix_instructions() { return table; }

} // namespace emu

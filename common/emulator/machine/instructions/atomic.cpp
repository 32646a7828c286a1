// Atomic operations on memory (PTX ISA 9.7.13.5 atom, 9.7.13.6 red).

#include "machine/access.hpp"
#include "machine/cluster.hpp"
#include "machine/instructions/float16.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

namespace emu {
namespace {

using ptx::Operand;
using ptx::Type;

/// An atomic access: `access.rows` holds the operands b (one per element of a vector), then c for cas.
struct AtomicExtra final : AccessExtra {
    std::vector<Row> results; ///< Empty for red.
};

/// Sends the event; atomics count as changing.
bool prepare(Warp& warp, const Op& op, const AtomicExtra& x, LaneMask mask, unsigned bytes, Pointers& p) {
    if (!resolve(warp, x, mask, bytes, p))
        return false;
    if (warp.cluster().listening())
        emit_access(warp, op, x, p, mask, bytes);
    return true;
}

/// What changed memory may end a wait; what did not may be one.
template <class T>
void moved(Warp& warp, LaneMask mask, bool changed, const T* result) {
    if (changed)
        warp.cluster().made_progress();
    else if (result)
        warp.note_poll(poll_of(warp, mask, result));
}

/// Replaces the value at `p` by `f(old)`; other host threads may work on the same global memory.
template <class T, class F>
T replace(std::byte* p, F&& f) {
    T* at = reinterpret_cast<T*>(p);
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, f(old), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return old;
}

/// Whether a lane's access goes to global memory.
bool is_global(const Warp& warp, const AtomicExtra& x, unsigned lane) {
    const Address address = warp.addresses[lane];
    return x.space == ptx::Space::global ||
           (x.space == ptx::Space::generic && !in_shared_window(address) && !in_local_window(address));
}

/// Read-modify-write of elements of type T (an unsigned integer of the element's size) by Combine(old,
/// operand), or Combine(old, operand, in global memory).
template <class T, class Combine>
Flow update(Warp& warp, const Op& op, LaneMask mask) {
    const auto& x = *static_cast<const AtomicExtra*>(op.extra);
    Pointers p;
    const auto ordered = in_order(warp, x, mask);
    if (!prepare(warp, op, x, mask, static_cast<unsigned>(sizeof(T) * x.rows.size()), p))
        return Flow::next;
    bool changed = false;
    for (std::size_t e = 0; e < x.rows.size(); ++e) {
        const T* b = warp.row<T>(x.rows[e]);
        T* d = x.results.empty() ? nullptr : warp.row<T>(x.results[e]);
        for_lanes(mask, [&](unsigned lane) {
            const auto combined = [&, operand = b[lane]](T value) -> T {
                if constexpr (std::is_invocable_v<Combine, T, T, bool>)
                    return Combine{}(value, operand, is_global(warp, x, lane));
                else
                    return Combine{}(value, operand);
            };
            const T old = replace<T>(p.at[lane] + e * sizeof(T), combined);
            changed |= combined(old) != old;
            if (d)
                d[lane] = old;
        });
    }
    moved(warp, mask, changed, x.results.empty() ? nullptr : warp.row<T>(x.results.front()));
    return Flow::next;
}

template <class T>
Flow compare_and_swap(Warp& warp, const Op& op, LaneMask mask) {
    const auto& x = *static_cast<const AtomicExtra*>(op.extra);
    Pointers p;
    const auto ordered = in_order(warp, x, mask);
    if (!prepare(warp, op, x, mask, sizeof(T), p))
        return Flow::next;
    const T* expected = warp.row<T>(x.rows[0]);
    const T* wanted = warp.row<T>(x.rows[1]);
    T* d = warp.row<T>(x.results[0]);
    bool changed = false;
    for_lanes(mask, [&](unsigned lane) {
        T old = expected[lane];
        changed |= __atomic_compare_exchange_n(reinterpret_cast<T*>(p.at[lane]), &old, wanted[lane], false,
                                               __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
                   wanted[lane] != old;
        d[lane] = old;
    });
    moved(warp, mask, changed, d);
    return Flow::next;
}

struct Wide {
    std::uint64_t half[2];
};

/// 128-bit exch and cas: one lock for all, since the host may lack a 16-byte compare-and-swap.
Flow update_wide(Warp& warp, const Op& op, LaneMask mask) {
    static std::mutex mutex;
    const auto& x = *static_cast<const AtomicExtra*>(op.extra);
    Pointers p;
    const auto ordered = in_order(warp, x, mask);
    if (!prepare(warp, op, x, mask, sizeof(Wide), p))
        return Flow::next;
    const bool cas = x.rows.size() == 2;
    const Wide* b = warp.row<Wide>(x.rows[0]);
    const Wide* wanted = warp.row<Wide>(x.rows.back());
    Wide* d = warp.row<Wide>(x.results[0]);
    const std::lock_guard lock(mutex);
    for_lanes(mask, [&](unsigned lane) {
        Wide old;
        std::memcpy(&old, p.at[lane], sizeof old);
        if (!cas || (old.half[0] == b[lane].half[0] && old.half[1] == b[lane].half[1]))
            std::memcpy(p.at[lane], &wanted[lane], sizeof old);
        d[lane] = old;
    });
    warp.cluster().made_progress();
    return Flow::next;
}

struct Add {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a + b);
    }
};
struct And {
    template <class T>
    T operator()(T a, T b) const {
        return a & b;
    }
};
struct Or {
    template <class T>
    T operator()(T a, T b) const {
        return a | b;
    }
};
struct Xor {
    template <class T>
    T operator()(T a, T b) const {
        return a ^ b;
    }
};
struct Exchange {
    template <class T>
    T operator()(T, T b) const {
        return b;
    }
};
struct Increment {
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a >= b ? 0 : a + 1; }
};
struct Decrement {
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a == 0 || a > b ? b : a - 1; }
};
template <class Value>
struct Min {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(std::min(static_cast<Value>(a), static_cast<Value>(b)));
    }
};
template <class Value>
struct Max {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(std::max(static_cast<Value>(a), static_cast<Value>(b)));
    }
};
/// f32 addition, nearest even. On global memory it takes subnormal numbers for zero and makes none (PTX
/// ISA 9.7.13.5).
struct AddF32 {
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b, bool global) const {
        const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
        return std::bit_cast<std::uint32_t>(canonical(global ? flush(flush(x) + flush(y)) : x + y));
    }
};
struct AddF64 {
    std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
        return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
    }
};

template <class H>
std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
    return H::encode(H::decode(a) + H::decode(b));
}
/// A NaN loses against a number; -0 is smaller than +0.
template <class H, bool Max>
std::uint16_t extreme_half(std::uint16_t a, std::uint16_t b) {
    if (is_nan16<H>(a) || is_nan16<H>(b))
        return !is_nan16<H>(a) ? a : !is_nan16<H>(b) ? b : canonical_nan16;
    return (ordered16(a) < ordered16(b)) == Max ? b : a;
}

/// A half operation on one 16-bit value or on both halves of a 32-bit one.
template <std::uint16_t (*f)(std::uint16_t, std::uint16_t)>
struct Half {
    std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const { return f(a, b); }
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
        const auto low = f(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
        const auto high = f(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
        return static_cast<std::uint32_t>(high) << 16 | low;
    }
};

template <class Combine>
Handler by_size(unsigned bytes) {
    return bytes == 8 ? update<std::uint64_t, Combine> : update<std::uint32_t, Combine>;
}

template <class H>
Handler pick_half(const DecodeContext& c, bool packed) {
    if (c.has("min"))
        return packed ? update<std::uint32_t, Half<extreme_half<H, false>>>
                      : update<std::uint16_t, Half<extreme_half<H, false>>>;
    if (c.has("max"))
        return packed ? update<std::uint32_t, Half<extreme_half<H, true>>>
                      : update<std::uint16_t, Half<extreme_half<H, true>>>;
    return packed ? update<std::uint32_t, Half<add_half<H>>> : update<std::uint16_t, Half<add_half<H>>>;
}

/// min, max: signed or unsigned.
template <template <class> class M>
Handler pick_extreme(Type type) {
    switch (type) {
    case Type::s32:
        return update<std::uint32_t, M<std::int32_t>>;
    case Type::s64:
        return update<std::uint64_t, M<std::int64_t>>;
    case Type::u64:
        return update<std::uint64_t, M<std::uint64_t>>;
    default:
        return update<std::uint32_t, M<std::uint32_t>>;
    }
}

Handler pick(DecodeContext& c, Type type) {
    const unsigned bytes = ptx::size_of(type);
    if (type == Type::f16 || type == Type::f16x2)
        return pick_half<F16>(c, bytes == 4);
    if (type == Type::bf16 || type == Type::bf16x2)
        return pick_half<BF16>(c, bytes == 4);
    if (bytes == 16)
        return update_wide;
    if (c.has("cas"))
        return bytes == 2   ? compare_and_swap<std::uint16_t>
               : bytes == 4 ? compare_and_swap<std::uint32_t>
                            : compare_and_swap<std::uint64_t>;
    if (bytes < 4)
        c.unsupported("this operation does not exist for 16-bit values");
    if (c.has("add") && type == Type::f32)
        return update<std::uint32_t, AddF32>;
    if (c.has("add") && type == Type::f64)
        return update<std::uint64_t, AddF64>;
    if (type == Type::f32 || type == Type::f64)
        c.unsupported("only addition exists for ." + std::string(ptx::name_of(type)) +
                      " on this architecture");
    if (c.has("add"))
        return by_size<Add>(bytes);
    if (c.has("and"))
        return by_size<And>(bytes);
    if (c.has("or"))
        return by_size<Or>(bytes);
    if (c.has("xor"))
        return by_size<Xor>(bytes);
    if (c.has("exch"))
        return by_size<Exchange>(bytes);
    if (c.has("min"))
        return pick_extreme<Min>(type);
    if (c.has("max"))
        return pick_extreme<Max>(type);
    if (c.has("inc"))
        return update<std::uint32_t, Increment>;
    if (c.has("dec"))
        return update<std::uint32_t, Decrement>;
    c.malformed("names no operation");
}

void add_rows(DecodeContext& c, const Operand& operand, Type type, bool destination, std::vector<Row>& rows) {
    const auto row = [&](const Operand& o) {
        return destination ? c.destination(o, type) : c.source(o, type);
    };
    if (operand.kind == Operand::Kind::vector)
        for (const Operand& element : operand.elements)
            rows.push_back(row(element));
    else
        rows.push_back(row(operand));
}

void decode_atomic(DecodeContext& c, Op& op, bool with_result) {
    c.allow({"relaxed",
             "acquire",
             "release",
             "acq_rel",
             "volatile",
             "cta",
             "cluster",
             "gpu",
             "sys",
             "global",
             "shared",
             "shared::cta",
             "shared::cluster",
             "and",
             "or",
             "xor",
             "cas",
             "exch",
             "add",
             "inc",
             "dec",
             "min",
             "max",
             "noftz",
             "v2",
             "v4",
             "v8",
             "L2::cache_hint"});
    const Type type = c.type();
    auto x = std::make_unique<AtomicExtra>();
    x->kind = AccessKind::atomic;
    x->space = space_of(c, c.operand(with_result ? 1 : 0));
    x->semantics = Semantics::relaxed;
    decode_semantics(c, *x);
    if (x->semantics == Semantics::weak)
        x->semantics = Semantics::relaxed;
    std::size_t next = 0;
    if (with_result)
        add_rows(c, c.operand(next++), type, true, x->results);
    x->address = c.address(c.operand(next++));
    add_rows(c, c.operand(next++), type, false, x->rows);
    if (c.has("cas"))
        add_rows(c, c.operand(next), type, false, x->rows);
    op.handler = pick(c, type);
    op.extra = static_cast<AccessExtra*>(c.keep(std::move(x)));
}

void decode_atom(DecodeContext& c, Op& op) { decode_atomic(c, op, true); }
void decode_red(DecodeContext& c, Op& op) { decode_atomic(c, op, false); }

constexpr InstructionRow table[] = {
    {"atom", "9.7.13.5", decode_atom},
    {"red", "9.7.13.6", decode_red},
};

} // namespace

std::span<const InstructionRow> atomic_instructions() { return table; }

} // namespace emu

#include "machine/instructions/matrix/mma_forms.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace emu::matrix {
namespace {

struct Depths {
    unsigned with_8_rows[2], with_16_rows[3], sparse[2]; ///< Of k; 0: no more.
};

/// The depths in which there are products of elements of this type.
Depths depths_of(Element element) {
    switch (element) {
    case Element::f16:
        return {{4}, {8, 16}, {16, 32}};
    case Element::bf16:
        return {{}, {8, 16}, {16, 32}};
    case Element::tf32:
        return {{}, {4, 8}, {8, 16}};
    case Element::e4m3:
    case Element::e5m2:
        return {{}, {16, 32}, {64}};
    case Element::s8:
    case Element::u8:
        return {{16}, {16, 32}, {32, 64}};
    case Element::s4:
    case Element::u4:
        return {{32}, {32, 64}, {64, 128}};
    case Element::b1:
        return {{128}, {128, 256}, {}};
    case Element::f64:
        return {{4}, {4, 8, 16}, {}};
    default:
        return {};
    }
}

bool is_fp8(Element e) { return e == Element::e4m3 || e == Element::e5m2; }

/// Types of A and B that may differ.
bool may_meet(Element a, Element b) {
    return a == b || (is_fp8(a) && is_fp8(b)) ||
           (is_integer(a) && is_integer(b) && a != Element::s32 && b != Element::s32 &&
            bits_of(a) == bits_of(b));
}

void read_shape(std::string_view name, MmaForm& form) {
    unsigned* const sizes[] = {&form.m, &form.n, &form.k};
    const char* at = name.data();
    const char* const end = at + name.size();
    for (unsigned* size : sizes)
        at = std::from_chars(std::min(at + 1, end), end, *size).ptr;
}

bool is_shape(std::string_view name) {
    return name.size() > 5 && name[0] == 'm' && name.find('n') != name.npos && name.find('k') != name.npos;
}

void check_accumulators(const DecodeContext& context, const MmaForm& form) {
    const auto both = [&form](Element e) { return form.c == e && form.d == e; };
    const bool half = both(Element::f16), single = both(Element::f32);
    bool right = false;
    if (form.is_quad())
        right = half || (form.d == Element::f32 && (form.c == Element::f16 || form.c == Element::f32));
    else if (form.a == Element::f16)
        right = half || single;
    else if (is_fp8(form.a)) // Sparse ones with f16 came with later architectures.
        right = single || (half && !form.sparse);
    else if (is_integer(form.a))
        right = both(Element::s32);
    else
        right = form.a == Element::f64 ? both(Element::f64) : single;
    if (!right)
        context.malformed("has types of C and D that do not go with A and B");
}

void check(const DecodeContext& context, const MmaForm& form) {
    const Depths depths = depths_of(form.a);
    const auto among = [&form](std::span<const unsigned> some) {
        return form.k != 0 && std::ranges::find(some, form.k) != some.end();
    };
    const bool shape = form.n == 8 && (form.sparse    ? form.m == 16 && among(depths.sparse)
                                       : form.m == 8  ? among(depths.with_8_rows)
                                       : form.m == 16 ? among(depths.with_16_rows)
                                                      : false);
    if (!shape || !may_meet(form.a, form.b))
        context.malformed("has a shape that does not go with its types");
    check_accumulators(context, form);
    if (!form.is_quad() && (form.a_by_column || form.b_by_row))
        context.malformed("takes A by rows and B by columns, .row.col");
    const bool small =
        form.a == Element::s8 || form.a == Element::u8 || form.a == Element::s4 || form.a == Element::u4;
    if (form.saturate && !small)
        context.malformed("takes .satfinite with integers of 8 or 4 bits alone");
    if ((form.bits != BitOperation::none) != (form.a == Element::b1))
        context.malformed("takes .xor.popc or .and.popc with .b1, and must have one there");
    if (form.rounding != Rounding::away && form.a != Element::f64)
        context.malformed("takes a rounding modifier with .f64 alone");
}

} // namespace

unsigned MmaForm::registers_of_a() const {
    return a == Element::f64 ? m * k / 32
           : is_quad()       ? 2
                             : std::max(1u, m * stored_k() * bits_of(a) / 32 / 32);
}

unsigned MmaForm::registers_of_b() const {
    return b == Element::f64 ? n * k / 32 : is_quad() ? 2 : std::max(1u, n * k * bits_of(b) / 32 / 32);
}

unsigned MmaForm::registers_of(Element accumulator) const {
    const unsigned elements = m * n * (is_quad() ? 4 : 1) / 32;
    return accumulator == Element::f16 ? elements / 2 : elements;
}

MmaForm mma_form(const DecodeContext& context) {
    // The types of mma.sync are four; of those that PTX has elsewhere too, DecodeContext knows.
    context.allow({"sync",     "aligned",  "sp",        "sp::ordered_metadata",
                   "row",      "col",      "satfinite", "s4",
                   "u4",       "b1",       "xor",       "and",
                   "popc",     "rn",       "rz",        "rm",
                   "rp",       "m8n8k4",   "m8n8k16",   "m8n8k32",
                   "m8n8k128", "m16n8k4",  "m16n8k8",   "m16n8k16",
                   "m16n8k32", "m16n8k64", "m16n8k128", "m16n8k256"});
    MmaForm form;
    std::array<Element, 4> types{};
    std::size_t count = 0, orders = 0;
    for (const std::string_view modifier : context.instruction().modifiers) {
        if (is_shape(modifier))
            read_shape(modifier, form);
        else if (modifier == "row" || modifier == "col")
            ++orders == 1 ? form.a_by_column = modifier == "col" : form.b_by_row = modifier == "row";
        else if (const auto element = element_of(modifier); element && count++ < types.size())
            types[count - 1] = *element;
    }
    if (count != types.size() || orders != 2 || !context.has("sync") || !context.has("aligned"))
        context.malformed("is mma.sync.aligned.shape.alayout.blayout with four types");
    form.d = types[0], form.a = types[1], form.b = types[2], form.c = types[3];
    form.sparse = context.has("sp") || context.has("sp::ordered_metadata");
    form.saturate = context.has("satfinite");
    form.rounding = rounding_of(context, Rounding::away);
    if (context.has("popc"))
        form.bits = context.has("xor")   ? BitOperation::exclusive_or
                    : context.has("and") ? BitOperation::conjunction
                                         : BitOperation::none;
    check(context, form);
    if (form.rounding == Rounding::away)
        form.rounding = Rounding::nearest;
    return form;
}

} // namespace emu::matrix

#include "machine/instructions/matrix/wmma_forms.hpp"

#include <array>
#include <string_view>

namespace emu::matrix {
namespace {

struct Shape {
    std::string_view name;
    unsigned m, n, k;
};
constexpr Shape shapes[] = {{"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16},
                            {"m16n16k8", 16, 16, 8},   {"m8n8k4", 8, 8, 4},     {"m8n8k32", 8, 8, 32},
                            {"m8n8k128", 8, 8, 128}};

/// The depth of a product of elements of this type.
unsigned depth_of(Element element) {
    switch (element) {
    case Element::f16:
    case Element::bf16:
    case Element::s8:
    case Element::u8:
        return 16;
    case Element::tf32:
        return 8;
    case Element::f64:
        return 4;
    case Element::s4:
    case Element::u4:
        return 32;
    case Element::b1:
        return 128;
    default:
        return 0;
    }
}

bool accumulators_fit(const MmaForm& form) {
    if (form.a == Element::f16)
        return (form.c == Element::f16 || form.c == Element::f32) &&
               (form.d == Element::f16 || form.d == Element::f32);
    const Element wanted = form.a == Element::f64 ? Element::f64
                           : is_integer(form.a)   ? Element::s32
                                                  : Element::f32;
    return form.c == wanted && form.d == wanted;
}

void check(const DecodeContext& context, const MmaForm& form) {
    if (form.a != form.b || form.k != depth_of(form.a) || !accumulators_fit(form))
        context.malformed("has a shape that does not go with its types");
    const bool sub_byte = bits_of(form.a) < 8;
    if (sub_byte && (form.a_by_column || form.b_by_row))
        context.malformed("takes A by rows and B by columns, .row.col, where elements have less than 8 bits");
    if (form.saturate && (!is_integer(form.a) || form.a == Element::b1))
        context.malformed("takes .satfinite with integers of 8 or 4 bits alone");
    if ((form.bits != BitOperation::none) != (form.a == Element::b1))
        context.malformed("takes .xor.popc or .and.popc with .b1, and must have one there");
    if (form.rounding != Rounding::away && form.a != Element::f64)
        context.malformed("takes a rounding modifier with .f64 alone");
}

void read_shape(std::string_view modifier, MmaForm& form) {
    for (const Shape& shape : shapes)
        if (shape.name == modifier)
            form.m = shape.m, form.n = shape.n, form.k = shape.k;
}

/// Types of A and B of a product of this depth with such a C.
bool is_accumulator_of(Element type, unsigned depth) {
    switch (depth) {
    case 16:
        return type == Element::f16 || type == Element::f32 || type == Element::s32;
    case 8:
        return type == Element::f32;
    case 4:
        return type == Element::f64;
    default:
        return type == Element::s32;
    }
}

/// Checks the type of the one matrix, and gives it to the product.
void complete(const DecodeContext& context, FragmentForm& form) {
    MmaForm& product = form.product;
    const bool right = form.matrix == Matrix::c ? product.k && is_accumulator_of(form.type, product.k)
                                                : product.k && depth_of(form.type) == product.k;
    if (!right)
        context.malformed("has a shape that does not go with its type");
    product.a = product.b = product.c = product.d = form.type;
    const bool sub_byte = form.matrix != Matrix::c && bits_of(form.type) < 8;
    if (sub_byte && form.by_column != (form.matrix == Matrix::b))
        context.malformed("takes A by rows and B by columns where elements have less than 8 bits");
}

unsigned registers(Element element, unsigned elements) {
    if (element == Element::f16)
        return 8;
    return element == Element::f64 ? elements / 32 : elements * bits_of(element) / 32 / 32;
}

} // namespace

unsigned FragmentForm::registers() const {
    if (matrix == Matrix::c)
        return product.registers_of(type);
    return matrix == Matrix::a ? wmma_registers_of_a(product) : wmma_registers_of_b(product);
}

FragmentForm fragment_form(const DecodeContext& context, bool store) {
    context.allow({"load",     "store",    "a",      "b",           "c",         "d",
                   "sync",     "aligned",  "row",    "col",         "s4",        "u4",
                   "b1",       "global",   "shared", "shared::cta", "m16n16k16", "m32n8k16",
                   "m8n32k16", "m16n16k8", "m8n8k4", "m8n8k32",     "m8n8k128"});
    FragmentForm form;
    std::size_t types = 0;
    for (const std::string_view modifier : context.instruction().modifiers) {
        read_shape(modifier, form.product);
        if (const auto element = element_of(modifier); element && ++types)
            form.type = *element;
    }
    form.matrix = context.has("a") ? Matrix::a : context.has("b") ? Matrix::b : Matrix::c;
    form.by_column = context.has("col");
    const bool named = store ? context.has("d") : context.has("a") || context.has("b") || context.has("c");
    if (types != 1 || !named || context.has("row") == form.by_column || !context.has("sync") ||
        !context.has("aligned"))
        context.malformed("is .sync.aligned.layout.shape with one matrix and one type");
    complete(context, form);
    return form;
}

MmaForm wmma_form(const DecodeContext& context) {
    context.allow({"mma",       "sync",     "aligned",  "row",      "col",    "satfinite", "s4",      "u4",
                   "b1",        "xor",      "and",      "popc",     "rn",     "rz",        "rm",      "rp",
                   "m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4", "m8n8k32",   "m8n8k128"});
    MmaForm form;
    std::array<Element, 4> types{};
    std::size_t count = 0, orders = 0;
    for (const std::string_view modifier : context.instruction().modifiers) {
        read_shape(modifier, form);
        if (modifier == "row" || modifier == "col")
            ++orders == 1 ? form.a_by_column = modifier == "col" : form.b_by_row = modifier == "row";
        else if (const auto element = element_of(modifier); element && count++ < types.size())
            types[count - 1] = *element;
    }
    if ((count != 2 && count != 4) || orders != 2 || !context.has("sync") || !context.has("aligned"))
        context.malformed("is wmma.mma.sync.aligned.alayout.blayout.shape with two or four types");
    if (count == 4 && types[1] == Element::f16)
        context.malformed("names the types of D and C alone where A and B are .f16");
    form.d = types[0];
    form.a = count == 4 ? types[1] : Element::f16;
    form.b = count == 4 ? types[2] : Element::f16;
    form.c = types[count - 1];
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

unsigned wmma_registers_of_a(const MmaForm& form) { return registers(form.a, form.m * form.k); }
unsigned wmma_registers_of_b(const MmaForm& form) { return registers(form.b, form.n * form.k); }

} // namespace emu::matrix

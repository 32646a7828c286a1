#include "machine/instructions/matrix/wgmma_forms.hpp"

#include <array>
#include <charconv>

namespace emu::matrix {
namespace {

bool is_fp8(Element e) { return e == Element::e4m3 || e == Element::e5m2; }
bool is_byte_integer(Element e) { return e == Element::s8 || e == Element::u8; }

/// m64n8k16 to m64n256k16, and the like.
bool is_shape(std::string_view name) { return name.starts_with("m64n") && name.find('k') != name.npos; }

void read_shape(std::string_view name, WgmmaForm& form) {
    const char* const end = name.data() + name.size();
    const auto n = std::from_chars(name.data() + 4, end, form.n);
    if (n.ptr != end && *n.ptr == 'k')
        std::from_chars(n.ptr + 1, end, form.k);
}

bool has_right_types(const WgmmaForm& form) {
    if (is_fp8(form.a))
        return is_fp8(form.b) && (form.d == Element::f16 || form.d == Element::f32);
    if (is_byte_integer(form.a))
        return is_byte_integer(form.b) && form.d == Element::s32;
    if (form.a != form.b)
        return false;
    switch (form.a) {
    case Element::f16:
        return form.d == Element::f16 || form.d == Element::f32;
    case Element::bf16:
    case Element::tf32:
        return form.d == Element::f32;
    case Element::b1:
        return form.d == Element::s32 && !form.sparse;
    default:
        return false;
    }
}

/// Every multiple of 8 to 256; of integers 8, 24 and the multiples of 16.
bool has_right_n(const WgmmaForm& form) {
    if (form.n == 0 || form.n > 256 || form.n % 8 != 0)
        return false;
    return form.d != Element::s32 || form.n % 16 == 0 || form.n == 8 || form.n == 24;
}

void check(const DecodeContext& context, const WgmmaForm& form) {
    if (!has_right_types(form))
        context.malformed("has types that do not go together");
    if (!has_right_n(form) || form.stored_k() * bits_of(form.a) != 8 * bytes_of_a_row)
        context.malformed("has a shape that does not go with its types");
    if (form.saturate && !is_byte_integer(form.a))
        context.malformed("takes .satfinite with 8-bit integers alone");
    const bool of_bits = context.has("and") && context.has("popc");
    if (context.has("and") != context.has("popc") || of_bits != (form.a == Element::b1))
        context.malformed("takes .and.popc with .b1, and must have it there");
}

} // namespace

WgmmaForm wgmma_form(const DecodeContext& context) {
    WgmmaForm form;
    std::array<Element, 3> types{};
    std::size_t count = 0;
    for (const std::string_view modifier : context.instruction().modifiers) {
        if (is_shape(modifier))
            read_shape(modifier, form);
        else if (const auto element = element_of(modifier); element && count++ < types.size())
            types[count - 1] = *element;
        else if (!element && modifier != "mma_async" && modifier != "sp" && modifier != "sync" &&
                 modifier != "aligned" && modifier != "satfinite" && modifier != "and" && modifier != "popc")
            context.malformed("has a modifier that it does not take: ." + std::string(modifier));
    }
    if (count != types.size() || !context.has("sync"))
        context.malformed("is wgmma.mma_async.sync.aligned.shape with three types");
    form.d = types[0], form.a = types[1], form.b = types[2];
    form.sparse = context.has("sp");
    form.saturate = context.has("satfinite");
    check(context, form);
    return form;
}

} // namespace emu::matrix

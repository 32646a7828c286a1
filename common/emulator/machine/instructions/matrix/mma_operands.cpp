#include "machine/instructions/matrix/mma_operands.hpp"

#include "machine/instructions/float16.hpp"

#include <algorithm>
#include <bit>

namespace emu::matrix {
namespace {

unsigned words(Element e) { return e == Element::f64 ? 2 : 1; }

std::uint32_t element_at(const Registers& registers, const Place& place, unsigned bits) {
    const std::uint32_t word = registers.word(place.index, place.lane) >> place.shift;
    return bits == 32 ? word : word & ((1u << bits) - 1);
}

void put(Registers& registers, const Place& place, unsigned bits, std::uint32_t value) {
    std::uint32_t& word = registers.word(place.index, place.lane);
    const std::uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << place.shift;
    word = (word & ~mask) | (value << place.shift & mask);
}

// A wmma of 16 rows and more is one of blocks of 16 rows and 8 columns. One of 8 rows and 32 columns is
// turned: its B lies as A does otherwise.

Place blocked_a(const MmaForm& form, Element type, unsigned row, unsigned k) {
    const unsigned bits = bits_of(type);
    if (row < 16 && form.m <= 16)
        return place_in_a(form.m, bits, row, k);
    Place place = place_in_a(16, bits, row % 16, k);
    place.index += row / 16 * (16 * form.k * bits / 32 / warp_size);
    return place;
}

Place blocked_b(const MmaForm& form, Element type, unsigned k, unsigned column) {
    const unsigned bits = bits_of(type);
    Place place = place_in_b(bits, k, column % 8);
    place.index += column / 8 * (8 * form.k * bits / 32 / warp_size);
    return place;
}

Place blocked_c(const MmaForm& form, unsigned bits, unsigned row, unsigned column) {
    Place place = place_in_c(bits, row % 16, column % 8);
    const unsigned in_block = bits == 16 ? 2 : 4;
    place.index += row / 16 * in_block + column / 8 * (form.m >= 16 ? (form.m / 16) * in_block : 0);
    return place;
}

} // namespace

Place place_of_a(const MmaForm& form, unsigned row, unsigned k) {
    if (!form.turned())
        return blocked_a(form, form.a, row, k);
    return blocked_b(form, form.a, k, row);
}

Place place_of_b(const MmaForm& form, unsigned k, unsigned column) {
    if (!form.turned())
        return blocked_b(form, form.b, k, column);
    Place place = place_in_a(16, bits_of(form.b), column % 16, k);
    place.index += column / 16 * (16 * form.k * bits_of(form.b) / 32 / warp_size);
    return place;
}

Place place_of_c(const MmaForm& form, Element type, unsigned row, unsigned column) {
    const unsigned bits = bits_of(type);
    if (!form.turned())
        return blocked_c(form, bits, row, column);
    Place place = place_in_c(bits, column % 16, row);
    place.index += column / 16 * (bits == 16 ? 2 : 4);
    return place;
}

MmaOperands::MmaOperands(Warp& warp, const Op& op)
    : plan_(plan_of(op)), form_(plan_.form),
      a_(read(warp, op, words(form_.a), [](const Op& o) -> const Rows& { return plan_of(o).a; })),
      b_(read(warp, op, words(form_.b), [](const Op& o) -> const Rows& { return plan_of(o).b; })),
      c_(read(warp, op, words(form_.c), [](const Op& o) -> const Rows& { return plan_of(o).c; })),
      d_(plan_.d.size(), words(form_.d)) {
    if (!form_.sparse)
        return;
    metadata_ = {.type = form_.a, .stored = form_.stored_k(), .selector = plan_.selector};
    const Registers all = read(warp, op, 1, [](const Op& o) { return Rows{plan_of(o).metadata}; });
    std::copy_n(all.row(0), warp_size, metadata_.bits.begin());
}

void MmaOperands::write_d(Warp& warp, const Op& op, LaneMask lanes) const {
    write(warp, op, lanes, d_, [](const Op& o) -> const Rows& { return plan_of(o).d; });
}

std::uint32_t MmaOperands::a(unsigned row, unsigned stored) const {
    return element_at(a_, place_of_a(form_, row, stored), bits_of(form_.a));
}
std::uint32_t MmaOperands::b(unsigned k, unsigned column) const {
    return element_at(b_, place_of_b(form_, k, column), bits_of(form_.b));
}
std::uint32_t MmaOperands::c(unsigned row, unsigned column) const {
    return element_at(c_, place_of_c(form_, form_.c, row, column), bits_of(form_.c));
}
void MmaOperands::set_d(unsigned row, unsigned column, std::uint32_t bits) {
    put(d_, place_of_c(form_, form_.d, row, column), bits_of(form_.d), bits);
}

void MmaPlan::find_places() {
    const auto word = [](const Place& place) {
        return static_cast<std::uint16_t>(place.index * warp_size + place.lane);
    };
    // A register holds elements that follow each other along k.
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned k = 0; k < form.stored_k(); k += 32 / bits_of(form.a))
            words_of_a.push_back(word(place_of_a(form, row, k)));
    for (unsigned column = 0; column < form.n; ++column)
        for (unsigned k = 0; k < form.k; k += 32 / bits_of(form.b))
            words_of_b.push_back(word(place_of_b(form, k, column)));
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column)
            for (const bool of_d : {false, true}) {
                const Place place = place_of_c(form, of_d ? form.d : form.c, row, column);
                (of_d ? places_of_d : places_of_c)
                    .push_back(static_cast<std::uint16_t>(2 * word(place) + place.shift / 16));
            }
}

static std::vector<std::uint32_t> words_at(const Registers& registers,
                                           const std::vector<std::uint16_t>& places) {
    std::vector<std::uint32_t> words(places.size());
    const std::uint32_t* from = registers.row(0);
    std::ranges::transform(places, words.begin(), [from](std::uint16_t place) { return from[place]; });
    return words;
}

std::vector<std::uint32_t> MmaOperands::rows_of_a() const { return words_at(a_, plan_.words_of_a); }
std::vector<std::uint32_t> MmaOperands::columns_of_b() const { return words_at(b_, plan_.words_of_b); }

double MmaOperands::wide_a(unsigned row, unsigned k) const {
    const Place place = place_in_a(form_.m, 64, row, k);
    return std::bit_cast<double>(a_.wide(place.index, place.lane));
}
double MmaOperands::wide_b(unsigned k, unsigned column) const {
    const Place place = place_in_b(64, k, column);
    return std::bit_cast<double>(b_.wide(place.index, place.lane));
}
double MmaOperands::wide_c(unsigned row, unsigned column) const {
    const Place place = place_in_c(64, row, column);
    return std::bit_cast<double>(c_.wide(place.index, place.lane));
}
void MmaOperands::set_wide_d(unsigned row, unsigned column, double value) {
    const Place place = place_in_c(64, row, column);
    d_.set_wide(place.index, place.lane, std::bit_cast<std::uint64_t>(value));
}

std::uint32_t MmaOperands::bits_of_a(unsigned row, unsigned k) const {
    return element_at(a_, place_in_a(form_.m, 1, row, k), 32);
}
std::uint32_t MmaOperands::bits_of_b(unsigned k, unsigned column) const {
    return element_at(b_, place_in_b(1, k, column), 32);
}

float MmaOperands::quad_a(unsigned quad, unsigned row, unsigned k) const {
    return F16::decode(static_cast<std::uint16_t>(
        element_at(a_, quad_pairs::place_in_factor(!form_.a_by_column, quad, row, k), 16)));
}
float MmaOperands::quad_b(unsigned quad, unsigned k, unsigned column) const {
    return F16::decode(static_cast<std::uint16_t>(
        element_at(b_, quad_pairs::place_in_factor(!form_.b_by_row, quad, column, k), 16)));
}
float MmaOperands::quad_c(unsigned quad, unsigned row, unsigned column) const {
    const unsigned bits = bits_of(form_.c);
    const std::uint32_t value = element_at(c_, quad_pairs::place_in_c(bits, quad, row, column), bits);
    return bits == 16 ? F16::decode(static_cast<std::uint16_t>(value)) : std::bit_cast<float>(value);
}
void MmaOperands::set_quad_d(unsigned quad, unsigned row, unsigned column, std::uint32_t bits) {
    put(d_, quad_pairs::place_in_c(bits_of(form_.d), quad, row, column), bits_of(form_.d), bits);
}

unsigned MmaOperands::k_of(unsigned row, unsigned stored) const {
    return form_.sparse ? metadata_.k_of(row, stored) : stored;
}

} // namespace emu::matrix

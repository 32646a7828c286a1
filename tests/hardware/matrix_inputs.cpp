#include "matrix_inputs.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hardware {

namespace {

/// splitmix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        return z ^ z >> 31;
    }
    unsigned below(unsigned limit) { return static_cast<unsigned>((next() >> 32) * limit >> 32); }

  private:
    std::uint64_t state_;
};

/// What the numbers of a product are like.
enum class Manner : unsigned {
    near,         ///< Exponents a few apart.
    wide,         ///< Exponents far apart.
    all,          ///< All exponents.
    special,      ///< Some infinities and NaNs.
    small,        ///< Subnormal numbers, and those just above.
    cancelling,   ///< Pairs of products of opposite sign.
    sparse,       ///< Mostly zeros.
    large,        ///< Near the largest number.
    edges,        ///< The edges of the type, among zeros.
    cut,          ///< Few digits, where terms are cut.
    carry,        ///< Sums near powers of two, and near zero.
    out_of_range, ///< Products near the ends of the range of results.
};

Manner manner_of(std::uint64_t problem) {
    return static_cast<Manner>(problem < first_directed ? problem % 8 : 8 + problem % 4);
}

struct Format {
    unsigned exponent_bits, fraction_bits;
    bool has_infinities = true;

    int top() const { return (1 << exponent_bits) - 1; }
    int bias() const { return top() >> 1; }
    int largest() const { return has_infinities ? top() - 1 : top(); }
    std::uint64_t all_digits() const { return (std::uint64_t{1} << fraction_bits) - 1; }
    std::uint64_t bits(std::uint64_t sign, int exponent, std::uint64_t fraction) const {
        return sign << (exponent_bits + fraction_bits) |
               static_cast<std::uint64_t>(exponent) << fraction_bits | fraction;
    }
};

Format format_of(MatrixType type) {
    switch (type) {
    case MatrixType::f16:
        return {5, 10};
    case MatrixType::bf16:
        return {8, 7};
    case MatrixType::f64:
        return {11, 52};
    case MatrixType::e4m3:
        return {4, 3, false};
    case MatrixType::e5m2:
        return {5, 2};
    default: // tf32 lies in the upper bits of an f32.
        return {8, 23};
    }
}

std::uint64_t directed(Random& random, const Format& format, Manner manner) {
    const std::uint64_t sign = random.next() & 1, all = format.all_digits();
    const std::uint64_t lowest = std::min<std::uint64_t>(1, all), middle = (all + 1) / 2;
    const std::array<std::uint64_t, 4> fractions{0, format.fraction_bits == 23 ? 1u << 13 : lowest, middle,
                                                 all};
    const std::uint64_t fraction = fractions[random.below(4)];
    const int bias = format.bias(), largest = format.largest();
    const auto within = [largest](int exponent) { return std::clamp(exponent, 0, largest); };
    int exponent = bias;
    switch (manner) {
    case Manner::edges: {
        if (random.below(4))
            return format.bits(sign, 0, 0);
        const int exponents[] = {0, 1, bias - 1, bias, bias + 1, largest, format.top()};
        exponent = exponents[random.below(7)];
        break;
    }
    case Manner::cut:
        exponent = within(bias + static_cast<int>(random.below(28)) - 14);
        break;
    case Manner::carry:
        exponent = bias + static_cast<int>(random.below(2));
        break;
    default: {
        const int half = bias / 2 + static_cast<int>(random.below(5)) - 2;
        exponent = within(random.below(2) ? bias + half : bias - half);
    }
    }
    return format.bits(sign, exponent, fraction);
}

std::uint64_t floating(Random& random, const Format& format, Manner manner, bool accumulator) {
    if (manner >= Manner::edges)
        return directed(random, format, manner);
    const std::uint64_t sign = random.next() & 1;
    std::uint64_t fraction = random.next() & format.all_digits();
    const int bias = format.bias(), largest = format.largest();
    const auto between = [&](int low, int high) {
        low = std::max(low, 0);
        return low + static_cast<int>(random.below(static_cast<unsigned>(std::min(high, largest) - low + 1)));
    };
    int exponent = 0;
    switch (manner) {
    case Manner::near:
    case Manner::cancelling:
        exponent = between(bias - (accumulator ? 5 : 3), bias + (accumulator ? 8 : 3));
        break;
    case Manner::wide: {
        const int half = format.exponent_bits > 5 ? 40 : bias * 2 / 3;
        exponent = between(bias - half, bias + half);
        break;
    }
    case Manner::all:
        exponent = between(0, largest);
        break;
    case Manner::special:
        if (random.below(64) != 0) {
            exponent = between(bias - 6, bias + 6);
        } else {
            exponent = format.top();
            if (!format.has_infinities)
                fraction = format.all_digits();
            else if (random.below(2))
                fraction = 0;
        }
        break;
    case Manner::small:
        if (random.below(2)) {
            if (random.below(4) == 0)
                fraction = 0;
        } else {
            exponent = between(0, 4);
        }
        break;
    case Manner::sparse:
        if (random.below(4))
            fraction = 0;
        else
            exponent = between(bias - 8, bias + 8);
        break;
    default:
        exponent = between(largest - 4, largest);
    }
    const bool is_nan = !format.has_infinities && exponent == format.top() && fraction == format.all_digits();
    if (is_nan && manner != Manner::special)
        --fraction;
    if (random.below(16) == 0 && manner != Manner::special)
        fraction = 0;
    return format.bits(sign, exponent, fraction);
}

std::uint64_t element(Random& random, MatrixType type, Manner manner, bool accumulator) {
    if (type < MatrixType::s8)
        return floating(random, format_of(type), manner, accumulator);
    if (type == MatrixType::s32 && manner == Manner::large)
        return 0x7fffffff - random.below(100000);
    if (type == MatrixType::s32 && manner == Manner::sparse)
        return 0x80000000u + random.below(100000);
    const std::uint64_t bits = random.next();
    if (manner != Manner::edges || type == MatrixType::s32)
        return bits;
    const std::uint64_t half = std::uint64_t{1} << (bits_of(type) - 1); // The least of signed numbers.
    return bits & 1 ? half : bits & 2 ? half - 1 : bits & 4 ? 2 * half - 1 : 0;
}

class Filler {
  public:
    Filler(const MatrixForm& form, std::uint64_t problem, std::span<std::uint32_t> words)
        : form_(form), words_(words), random_(problem * 0x1234567 + 99), manner_(manner_of(problem)) {
        random_.next();
    }

    void fill() {
        accumulators();
        factors(form_.a.count * form_.threads(), form_.type_a, false);
        factors(form_.b.count * form_.threads(), form_.type_b, true);
        if (form_.sparse)
            metadata();
        for (unsigned i = 0; i < form_.shared_words(); ++i) {
            const bool is_b = i >= form_.shared_words_of_a();
            const MatrixType type = is_b ? form_.type_b : form_.type_a;
            const std::uint32_t bits = word(type);
            put(manner_ == Manner::cancelling && bits_of(type) == 16 ? paired(bits, type, is_b) : bits);
        }
    }

  private:
    void put(std::uint64_t word) { words_[at_++] = static_cast<std::uint32_t>(word); }
    void put_wide(std::uint64_t value) {
        put(value);
        put(value >> 32);
    }

    void accumulators() {
        for (unsigned i = 0; i < form_.c.count * form_.threads(); ++i) {
            if (form_.c.kind == 'd') {
                put_wide(element(random_, MatrixType::f64, manner_, true));
                continue;
            }
            const std::uint64_t low = element(random_, form_.type_c, manner_, true);
            if (form_.type_c == MatrixType::f16)
                put(low | element(random_, form_.type_c, manner_, true) << 16);
            else
                put(low);
        }
    }

    void factors(unsigned count, MatrixType type, bool is_b) {
        for (unsigned i = 0; i < count; ++i) {
            if (type == MatrixType::f64) {
                put_wide(element(random_, type, manner_, false));
                continue;
            }
            std::uint32_t bits = word(type);
            if (manner_ == Manner::cancelling)
                bits = paired(bits, type, is_b);
            put(bits);
        }
    }

    std::uint32_t word(MatrixType type) {
        const unsigned bits = bits_of(type);
        if (bits == 32)
            return static_cast<std::uint32_t>(element(random_, type, manner_, false));
        if (bits < 8 && manner_ != Manner::edges)
            return static_cast<std::uint32_t>(random_.next());
        std::uint32_t result = 0;
        for (unsigned shift = 0; shift < 32; shift += bits)
            result |= static_cast<std::uint32_t>(element(random_, type, manner_, false) & ((1u << bits) - 1))
                      << shift;
        return result;
    }

    /// The second of two elements is the first; in A with the other sign.
    static std::uint32_t paired(std::uint32_t bits, MatrixType type, bool is_b) {
        if (bits_of(type) == 16)
            return (bits & 0xffff) | (bits << 16 ^ (is_b ? 0 : 0x80000000u));
        if (type == MatrixType::e4m3 || type == MatrixType::e5m2)
            return (bits & 0x00ff00ff) | ((bits & 0x00ff00ff) << 8 ^ (is_b ? 0 : 0x80008000u));
        return bits;
    }

    /// Pairs of different indices, or of tf32 one pair of places.
    void metadata() {
        constexpr std::uint32_t pairs[] = {4, 8, 12, 9, 13, 14}, places[] = {14, 4};
        for (unsigned i = 0; i < form_.threads(); ++i) {
            std::uint32_t bits = 0;
            for (unsigned digit = 0; digit < 8; ++digit)
                bits |=
                    (form_.type_a == MatrixType::tf32 ? places[random_.below(2)] : pairs[random_.below(6)])
                    << 4 * digit;
            put(bits);
        }
    }

    const MatrixForm& form_;
    std::span<std::uint32_t> words_;
    std::size_t at_ = 0;
    Random random_;
    Manner manner_;
};

} // namespace

void fill_inputs(const MatrixForm& form, std::uint64_t problem, std::span<std::uint32_t> words) {
    Filler(form, problem, words).fill();
}

unsigned passes_of_load(const MatrixForm& form) {
    const unsigned bits = bits_of(form.type_a);
    return bits >= 16 ? 1 : (10 + bits - 1) / bits;
}

void fill_elements(const MatrixForm& form, unsigned pass, std::span<std::uint32_t> words) {
    const unsigned bits = bits_of(form.type_a);
    std::ranges::fill(words, 0);
    const auto bytes = std::as_writable_bytes(words);
    for (std::size_t i = 0; i < words.size_bytes() * 8 / bits && i < 65536; ++i) {
        const auto value =
            static_cast<std::uint32_t>(bits >= 16 ? i : i >> (pass * bits) & ((1u << bits) - 1));
        if (bits >= 8)
            std::memcpy(&bytes[i * bits / 8], &value, std::min(bits / 8, 4u));
        else
            bytes[i * bits / 8] |= static_cast<std::byte>(value << (i * bits % 8));
    }
}

} // namespace hardware

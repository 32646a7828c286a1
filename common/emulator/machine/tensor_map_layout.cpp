/// \file
/// The 128 bytes of a tensor map as the driver of an H200 writes them.

#include "machine/tensor_map.hpp"

#include <algorithm>
#include <cstring>

namespace emu {

namespace {

using Words = std::array<std::uint32_t, tensor_map_bytes / 4>;
using Bytes = std::span<std::byte, tensor_map_bytes>;

/// Some bits of one word.
struct Bits {
    unsigned word, low, width;

    constexpr std::uint32_t mask() const {
        return static_cast<std::uint32_t>(((std::uint64_t{1} << width) - 1) << low);
    }
};

// Words 0 and 1 are the address, of which the hardware uses 57 bits.
constexpr Bits im2col{2, 0, 1};
constexpr Bits last_dimension{2, 4, 3}; ///< Rank less one.
constexpr Bits element_format{2, 7, 4};
constexpr Bits interleave{2, 11, 2};
constexpr Bits swizzle{2, 13, 2};
constexpr Bits fill{2, 15, 1};
constexpr Bits round_to_tf32{2, 16, 1};
constexpr Bits promotion{2, 17, 2};
constexpr Bits stride_low(unsigned i) { return {3 + i, 0, 32}; } ///< In units of 16 bytes.
constexpr Bits stride_high(unsigned i) { return {7, 4 * i, 4}; }
constexpr Bits last_element(unsigned i) { return {8 + i, 0, 32}; } ///< Size of the dimension less one.
constexpr Bits last_step(unsigned i) { return {13, 3 * i, 3}; }    ///< Element stride less one.
constexpr Bits last_of_box(unsigned i) { return i == 0 ? Bits{13, 24, 8} : Bits{14, 8 * (i - 1), 8}; }
// In im2col mode word 14 holds the corners, which share its halves, and word 15 the pixels.
constexpr unsigned corner_bits(unsigned rank) { return rank == 3 ? 16 : rank == 4 ? 8 : 5; }
constexpr Bits lower_corner(unsigned rank, unsigned i) {
    return {14, i * corner_bits(rank), corner_bits(rank)};
}
constexpr Bits upper_corner(unsigned rank, unsigned i) {
    return {14, 16 + i * corner_bits(rank), corner_bits(rank)};
}
constexpr Bits last_pixel{15, 0, 10};
// The hardware does not look at the others, and the driver leaves them zero but for two.
constexpr unsigned box_bytes = 16, tile_alignment = 18;

constexpr std::uint64_t address_mask = (std::uint64_t{1} << 57) - 1;

std::uint32_t get(const Words& words, Bits bits) { return (words[bits.word] & bits.mask()) >> bits.low; }
void set(Words& words, Bits bits, std::uint64_t value) {
    words[bits.word] =
        (words[bits.word] & ~bits.mask()) | (static_cast<std::uint32_t>(value << bits.low) & bits.mask());
}

/// With a sign.
std::int32_t get_signed(const Words& words, Bits bits) {
    const auto value = static_cast<std::int32_t>(get(words, bits));
    return value >> (bits.width - 1) ? value - (1 << bits.width) : value;
}

Words words_of(std::span<const std::byte, tensor_map_bytes> bytes) {
    Words words;
    std::memcpy(words.data(), bytes.data(), sizeof words);
    return words;
}
void put(const Words& words, Bytes bytes) { std::memcpy(bytes.data(), words.data(), sizeof words); }

/// The formats of elements in the numbering of the hardware, which is that of PTX up to 10. There TF32 has
/// numbers of its own; the hardware has a bit that asks for rounding.
constexpr std::array formats{TensorType::u8,      TensorType::u16, TensorType::u32, TensorType::s32,
                             TensorType::u64,     TensorType::s64, TensorType::f16, TensorType::f32,
                             TensorType::f32_ftz, TensorType::f64, TensorType::bf16};
constexpr std::uint64_t ptx_tf32 = 11, ptx_tf32_ftz = 12;

bool rounds_to_tf32(TensorType type) { return type == TensorType::f32 || type == TensorType::f32_ftz; }

void set_type(Words& words, TensorType type) {
    const bool rounds = type == TensorType::tf32 || type == TensorType::tf32_ftz;
    if (rounds)
        type = type == TensorType::tf32 ? TensorType::f32 : TensorType::f32_ftz;
    const auto found = std::ranges::find(formats, type);
    set(words, element_format, static_cast<std::uint64_t>(found - formats.begin()));
    set(words, round_to_tf32, rounds ? 1 : 0);
}

TensorType type_in(const Words& words) {
    const std::uint32_t number = get(words, element_format);
    if (number >= formats.size())
        return TensorType::none;
    const TensorType type = formats[number];
    if (get(words, round_to_tf32) && rounds_to_tf32(type))
        return type == TensorType::f32 ? TensorType::tf32 : TensorType::tf32_ftz;
    return type;
}

TensorType type_from_ptx(std::uint64_t number) {
    if (number == ptx_tf32 || number == ptx_tf32_ftz)
        return number == ptx_tf32 ? TensorType::tf32 : TensorType::tf32_ftz;
    return number < formats.size() ? formats[number] : TensorType::none;
}

void set_stride(Words& words, unsigned i, std::uint64_t bytes) {
    set(words, stride_low(i), bytes >> 4);
    set(words, stride_high(i), bytes >> 36);
}

void set_address(Words& words, std::uint64_t address) {
    words[0] = static_cast<std::uint32_t>(address);
    words[1] = static_cast<std::uint32_t>(address >> 32);
}

/// Corners of the pixel box, and the pixels of a column.
void set_pixels(Words& words, const TensorMap& map) {
    words[14] = 0;
    for (unsigned i = 0; i + 2 < std::min(map.rank, 5u); ++i) {
        set(words, lower_corner(map.rank, i), static_cast<std::uint32_t>(map.lower_corner[i]));
        set(words, upper_corner(map.rank, i), static_cast<std::uint32_t>(map.upper_corner[i]));
    }
    set(words, last_pixel, map.pixels_per_column - 1);
}

void get_pixels(const Words& words, TensorMap& map) {
    for (unsigned i = 0; i + 2 < std::clamp(map.rank, 3u, 5u); ++i) {
        map.lower_corner[i] = get_signed(words, lower_corner(map.rank, i));
        map.upper_corner[i] = get_signed(words, upper_corner(map.rank, i));
    }
    map.pixels_per_column = get(words, last_pixel) + 1;
}

} // namespace

void write_tensor_map(const TensorMap& map, Bytes out) {
    Words words{};
    set_address(words, map.address);
    set(words, im2col, map.im2col);
    set(words, last_dimension, map.rank - 1);
    set_type(words, map.type);
    set(words, interleave, static_cast<std::uint64_t>(map.interleave));
    set(words, swizzle, static_cast<std::uint64_t>(map.swizzle));
    set(words, fill, map.oob_fill);
    set(words, promotion, map.l2_promotion);
    for (unsigned i = 0; i < std::min(map.rank, 5u); ++i) {
        set(words, last_element(i), map.dims[i] - 1);
        set(words, last_step(i), map.element_strides[i] - 1);
        set(words, last_of_box(i), map.box[i] - 1);
        if (i > 0)
            set_stride(words, i - 1, map.strides[i - 1]);
    }
    if (map.im2col)
        set_pixels(words, map);
    words[box_bytes] = static_cast<std::uint32_t>(bytes_in_whole_steps(map));
    words[tile_alignment] = map.swizzle == TensorSwizzle::none ? 16 : 8 * swizzle_bytes(map.swizzle);
    put(words, out);
}

TensorMap read_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes) {
    const Words words = words_of(bytes);
    TensorMap map;
    map.address = (std::uint64_t{words[1]} << 32 | words[0]) & address_mask;
    map.im2col = get(words, im2col);
    map.rank = get(words, last_dimension) + 1;
    map.type = type_in(words);
    map.rounds_other =
        get(words, round_to_tf32) && !rounds_to_tf32(formats[get(words, element_format) % formats.size()]);
    map.interleave = static_cast<TensorInterleave>(get(words, interleave));
    map.swizzle = static_cast<TensorSwizzle>(get(words, swizzle));
    map.oob_fill = static_cast<std::uint8_t>(get(words, fill));
    map.l2_promotion = static_cast<std::uint8_t>(get(words, promotion));
    for (unsigned i = 0; i < 5; ++i) {
        map.dims[i] = std::uint64_t{get(words, last_element(i))} + 1;
        map.element_strides[i] = get(words, last_step(i)) + 1;
        map.box[i] = get(words, last_of_box(i)) + 1;
        if (i > 0)
            map.strides[i - 1] =
                (std::uint64_t{get(words, stride_high(i - 1))} << 32 | get(words, stride_low(i - 1))) << 4;
    }
    if (map.im2col)
        get_pixels(words, map);
    return map;
}

bool looks_encoded(std::span<const std::byte, tensor_map_bytes> bytes) {
    Words words = words_of(bytes);
    if (get(words, im2col))
        set(words, last_pixel, 0);
    for (const Bits used :
         {im2col, last_dimension, element_format, interleave, swizzle, fill, round_to_tf32, promotion})
        set(words, used, 0);
    if (words[2] != 0 || words[15] != 0 || words[box_bytes + 1] != 0)
        return false;
    const std::uint32_t alignment = words[tile_alignment];
    return (alignment == 16 || alignment == 256 || alignment == 512 || alignment == 1024) &&
           std::all_of(words.begin() + tile_alignment + 1, words.end(),
                       [](std::uint32_t w) { return w == 0; });
}

void replace_in_tensor_map(Bytes bytes, TensorMapField field, unsigned dimension, std::uint64_t value) {
    Words words = words_of(bytes);
    switch (field) {
    case TensorMapField::global_address:
        set_address(words, value);
        break;
    case TensorMapField::rank:
        set(words, last_dimension, value);
        break;
    case TensorMapField::box_dim:
        set(words, last_of_box(dimension), value - 1);
        break;
    case TensorMapField::global_dim:
        set(words, last_element(dimension), value - 1);
        break;
    case TensorMapField::global_stride:
        set_stride(words, dimension, value);
        break;
    case TensorMapField::element_stride:
        set(words, last_step(dimension), value - 1);
        break;
    case TensorMapField::elemtype:
        set_type(words, type_from_ptx(value));
        break;
    case TensorMapField::interleave_layout:
        set(words, interleave, value);
        break;
    case TensorMapField::swizzle_mode:
        set(words, swizzle, value);
        break;
    case TensorMapField::fill_mode:
        set(words, fill, value);
        break;
    }
    put(words, bytes);
}

void replace_tensor_map_address(Bytes bytes, std::uint64_t address) {
    Words words = words_of(bytes);
    const std::uint64_t old = std::uint64_t{words[1]} << 32 | words[0];
    set_address(words, (old & ~address_mask) | (address & address_mask));
    put(words, bytes);
}

} // namespace emu

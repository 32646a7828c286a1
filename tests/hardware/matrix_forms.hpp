#pragma once
/// \file
/// Instructions that multiply matrices, each a line of text, and a kernel for each: a block loads the
/// operands of one product, executes the instruction once and stores D.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hardware {

enum class MatrixType : std::uint8_t { f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8, s4, u4, b1, s32 };

constexpr unsigned bits_of(MatrixType type) {
    switch (type) {
    case MatrixType::f16:
    case MatrixType::bf16:
        return 16;
    case MatrixType::f64:
        return 64;
    case MatrixType::b1:
        return 1;
    case MatrixType::s4:
    case MatrixType::u4:
        return 4;
    case MatrixType::tf32:
    case MatrixType::f32:
    case MatrixType::s32:
        return 32;
    default:
        return 8;
    }
}

/// Registers of an operand in each thread.
struct RegisterList {
    unsigned count = 0;
    char kind = 'r'; ///< r, f or d

    unsigned words() const { return kind == 'd' ? 2 * count : count; }
};

/// `opcode D A B C - [operands]`, as in `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 4f 4r 2r 4f -`:
/// how many registers, and of which kind; `sp` instead of `-` where A is sparse; for wgmma, whose operands
/// without registers lie in shared memory, the operands that follow the predicate. Or `opcode D -` of a
/// wmma.load.
struct MatrixForm {
    explicit MatrixForm(const std::string& text);

    std::string opcode, tail;
    RegisterList d, a, b, c;
    bool sparse = false, load = false;
    unsigned m = 0, n = 0, k = 0;
    MatrixType type_d{}, type_a{}, type_b{}, type_c{};

    bool is_wgmma() const { return opcode.starts_with("wgmma"); }
    unsigned threads() const { return is_wgmma() ? 128 : 32; }
    /// Of both operands in shared memory, A first.
    unsigned shared_words_of_a() const { return is_wgmma() ? 64 * 32 / 4 : 0; }
    unsigned shared_words() const;
    unsigned input_words() const;
    unsigned output_words() const { return threads() * d.words(); }
    /// Sums of products in a result.
    unsigned sums() const {
        return is_wgmma() ? 64 * n : m * n * (k == 4 && type_a == MatrixType::f16 ? 4 : 1);
    }

    /// A kernel `k(in, out)`; a block for each product.
    std::string ptx() const;

  private:
    std::string load_ptx() const;
    std::string prepare_wgmma(unsigned first_word) const;
    void read_types();
};

} // namespace hardware

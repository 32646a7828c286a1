#pragma once
/// \file
/// Single instructions on an emulated device: a snippet of PTX, operands in, results out.
///
///     const auto sums = run_ptx<std::uint32_t>("add.u32 %d, %a, %b;", rows<std::uint32_t, std::uint32_t>);
///     CHECK(run_one<std::int32_t>("min.s32 %d, %a, %b;", 3, -4) == -4);
///
/// The snippet runs once per row, a thread each. It finds the row's values in the registers %a, %b, %c and
/// %e, whose widths are those of the values' C++ types (at least 16 bits), and leaves its result in %d, whose
/// width is that of the result. It may use %p0 to %p7 (predicates), %h0 to %h7 (16 bits), %r0 to %r7 (32),
/// %l0 to %l7 (64) and %q0 to %q7 (128).

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/device.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace emu::test {

namespace detail {

inline unsigned register_bits(std::size_t bytes) {
    return bytes <= 2 ? 16 : static_cast<unsigned>(8 * bytes);
}

/// The kernel: parameters are the buffer and the number of rows; a row is eight bytes for each operand and
/// eight for the result.
inline std::string snippet_kernel(const std::string& body, std::span<const std::size_t> operand_bytes,
                                  std::size_t result_bytes) {
    constexpr std::array names{"a", "b", "c", "e"};
    const auto reg = [](const char* name, std::size_t bytes) {
        return "  .reg .b" + std::to_string(register_bits(bytes)) + " %" + name + ";\n";
    };
    const auto row = std::to_string(8 * (operand_bytes.size() + 1));
    std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry snippet(.param .u64 buffer, .param .u32 count)\n{\n"
        "  .reg .pred %p<8>, %snippet_out;\n  .reg .b16 %h<8>;\n  .reg .b32 %r<8>, %snippet_row<4>;\n"
        "  .reg .b64 %l<8>, %snippet_at;\n  .reg .b128 %q<8>;\n";
    text += reg("d", result_bytes);
    for (std::size_t i = 0; i < operand_bytes.size(); ++i)
        text += reg(names[i], operand_bytes[i]);
    text += "  ld.param.u64 %snippet_at, [buffer];\n  ld.param.u32 %snippet_row3, [count];\n"
            "  mov.u32 %snippet_row0, %tid.x;\n  mov.u32 %snippet_row1, %ctaid.x;\n"
            "  mov.u32 %snippet_row2, %ntid.x;\n"
            "  mad.lo.u32 %snippet_row0, %snippet_row1, %snippet_row2, %snippet_row0;\n"
            "  setp.ge.u32 %snippet_out, %snippet_row0, %snippet_row3;\n  @%snippet_out ret;\n"
            "  mad.wide.u32 %snippet_at, %snippet_row0, " +
            row + ", %snippet_at;\n";
    for (std::size_t i = 0; i < operand_bytes.size(); ++i)
        text += "  ld.global.b" + std::to_string(register_bits(operand_bytes[i])) + " %" + names[i] +
                ", [%snippet_at+" + std::to_string(8 * i) + "];\n";
    text += "  " + body + "\n  st.global.b" + std::to_string(register_bits(result_bytes)) + " [%snippet_at+" +
            std::to_string(8 * operand_bytes.size()) + "], %d;\n  ret;\n}\n";
    return text;
}

/// One launch over a copy of `slots` with `block` threads a block.
inline std::vector<std::uint64_t> launch_rows(Device& device, Module& program,
                                              std::vector<std::uint64_t> slots, std::uint32_t count,
                                              std::uint32_t block) {
    const std::uint64_t bytes = slots.size() * sizeof(std::uint64_t);
    const Address buffer = device.memory().allocate(bytes, Allocation::Kind::device);
    std::memcpy(reinterpret_cast<void*>(buffer), slots.data(), bytes);
    std::array<std::byte, 12> parameters;
    std::memcpy(parameters.data(), &buffer, 8);
    std::memcpy(parameters.data() + 8, &count, 4);
    const LaunchOutcome outcome =
        device.launch(program, "snippet",
                      {{(count + block - 1) / block, 1, 1}, {block, 1, 1}, {1, 1, 1}, 0, false}, parameters);
    if (outcome.error != LaunchError::none)
        throw std::runtime_error(outcome.message);
    if (!outcome.result.diagnostics.empty())
        throw std::runtime_error(outcome.result.diagnostics.front().message);
    std::memcpy(slots.data(), reinterpret_cast<void*>(buffer), bytes);
    device.memory().release(buffer);
    return slots;
}

/// Runs the rows twice, in full warps and in warps with gaps, because handlers treat the two differently.
inline std::vector<std::uint64_t> run_slots(const std::string& text, const std::vector<std::uint64_t>& slots,
                                            std::size_t row, std::uint32_t count) {
    Settings settings;
    settings.threads = 1;
    Device device(settings, make_reporter());
    const auto program = device.load(text);
    // Rows repeated until the last warp is full.
    std::vector<std::uint64_t> padded = slots;
    const std::uint32_t full = (count + 31) / 32 * 32;
    for (std::uint32_t i = count; i < full; ++i)
        for (std::size_t k = 0; k < row; ++k)
            padded.push_back(slots[k]);
    padded = launch_rows(device, *program, std::move(padded), full, 32);
    const auto gaps = launch_rows(device, *program, slots, count, 29);
    padded.resize(slots.size());
    if (padded != gaps)
        throw std::logic_error("a full warp and a warp with gaps give different results");
    return gaps;
}

} // namespace detail

/// The results of `body` for every row. Throws std::runtime_error with the emulator's message if it refuses.
template <class R, class... Operands>
std::vector<R> run_ptx(const std::string& body, const std::vector<std::tuple<Operands...>>& rows) {
    static_assert(sizeof...(Operands) <= 4 && sizeof(R) <= 8 && ((sizeof(Operands) <= 8) && ...));
    constexpr std::array<std::size_t, sizeof...(Operands)> sizes{sizeof(Operands)...};
    constexpr std::size_t row = sizeof...(Operands) + 1;
    std::vector<std::uint64_t> slots(rows.size() * row);
    for (std::size_t r = 0; r < rows.size(); ++r)
        std::apply(
            [&](const Operands&... values) {
                std::size_t i = r * row;
                (std::memcpy(&slots[i++], &values, sizeof values), ...);
            },
            rows[r]);
    slots = detail::run_slots(detail::snippet_kernel(body, sizes, sizeof(R)), slots, row,
                              static_cast<std::uint32_t>(rows.size()));
    std::vector<R> results(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
        std::memcpy(&results[r], &slots[r * row + row - 1], sizeof(R));
    return results;
}

/// The same for a single row.
template <class R, class... Operands>
R run_one(const std::string& body, Operands... operands) {
    return run_ptx<R>(body, std::vector<std::tuple<Operands...>>{{operands...}}).front();
}

/// The message with which the emulator refuses a snippet over two 32-bit operands and a 32-bit result, "" if
/// it runs.
inline std::string refusal(const std::string& body) {
    try {
        run_one<std::uint32_t>(body, std::uint32_t{1}, std::uint32_t{2});
        return {};
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

/// The bits of a number, so that NaN compares equal to itself and -0 differs from +0.
inline std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline float float_of(std::uint32_t value) { return std::bit_cast<float>(value); }
inline double double_of(std::uint64_t value) { return std::bit_cast<double>(value); }

/// Integers a test should not forget, then random ones up to `count`. The seed is fixed.
template <class T>
std::vector<T> integers(std::size_t count, unsigned seed = 1) {
    using limits = std::numeric_limits<T>;
    std::vector<T> values{0,
                          1,
                          2,
                          static_cast<T>(-1),
                          limits::min(),
                          limits::max(),
                          static_cast<T>(limits::min() + 1),
                          static_cast<T>(limits::max() - 1),
                          31,
                          32,
                          33,
                          static_cast<T>(T{1} << (8 * sizeof(T) / 2))};
    std::mt19937_64 random(seed);
    while (values.size() < count) {
        // Random lengths too: small numbers matter as much as large ones.
        const auto shift = random() % (8 * sizeof(T));
        values.push_back(static_cast<T>(static_cast<T>(random()) >> shift));
    }
    values.resize(count);
    return values;
}

/// Bit patterns of floating-point numbers: every kind there is, then random ones with exponents near each
/// other.
inline std::vector<float> floats(std::size_t count, unsigned seed = 1) {
    std::vector<float> values;
    for (const std::uint32_t u :
         {0x00000000u, 0x3f800000u, 0x7f800000u, 0x7fc00000u, 0x00000001u, 0x007fffffu, 0x00800000u,
          0x7f7fffffu, 0x3f7fffffu, 0x3f800001u, 0x34000000u, 0x4b800000u, 0x7f800001u, 0x00400000u,
          0x3f000000u, 0x40490fdbu})
        for (const std::uint32_t sign : {0u, 0x80000000u})
            values.push_back(float_of(u | sign));
    std::mt19937 random(seed);
    while (values.size() < count) {
        const std::uint32_t exponent = 100 + random() % 56;
        values.push_back(float_of((random() & 0x807fffffu) | exponent << 23));
    }
    values.resize(count);
    return values;
}
inline std::vector<double> doubles(std::size_t count, unsigned seed = 1) {
    std::vector<double> values;
    for (const std::uint64_t u : {0x0ull, 0x3ff0000000000000ull, 0x7ff0000000000000ull, 0x7ff8000000000000ull,
                                  0x1ull, 0x000fffffffffffffull, 0x0010000000000000ull, 0x7fefffffffffffffull,
                                  0x3fefffffffffffffull, 0x3ff0000000000001ull, 0x3e50000000000000ull})
        for (const std::uint64_t sign : {0ull, 0x8000000000000000ull})
            values.push_back(double_of(u | sign));
    std::mt19937_64 random(seed);
    while (values.size() < count) {
        const std::uint64_t exponent = 1013 + random() % 20;
        values.push_back(double_of((random() & 0x800fffffffffffffull) | exponent << 52));
    }
    values.resize(count);
    return values;
}

/// Every value of `a` with every value of `b`.
template <class A, class B>
std::vector<std::tuple<A, B>> pairs(const std::vector<A>& a, const std::vector<B>& b) {
    std::vector<std::tuple<A, B>> rows;
    for (const A& x : a)
        for (const B& y : b)
            rows.emplace_back(x, y);
    return rows;
}
/// Values as rows of one operand.
template <class A>
std::vector<std::tuple<A>> singles(const std::vector<A>& values) {
    std::vector<std::tuple<A>> rows;
    for (const A& value : values)
        rows.emplace_back(value);
    return rows;
}

} // namespace emu::test

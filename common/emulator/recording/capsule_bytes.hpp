#pragma once
/// \file
/// Numbers and bytes as a capsule has them: numbers in groups of seven bits, the lowest first; bytes in runs.

#include "hopper_emulator/capsule.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emu::capsule {

/// What a record holds, and the byte that names it.
enum class Record : std::uint8_t { module = 'P', source = 'S', bytes = 'B', launch = 'L', end = 'E' };

inline constexpr std::string_view magic = "HOPPERCAPSULE\n"; ///< Each file begins with it
inline constexpr std::uint32_t format = 1;                   ///< and this number.

/// Appends to a record.
class Writer {
  public:
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7)
            byte(static_cast<std::uint8_t>(value | 0x80));
        byte(static_cast<std::uint8_t>(value));
    }
    void flag(bool value) { byte(value ? 1 : 0); }
    void text(std::string_view value) {
        number(value.size());
        plain(std::as_bytes(std::span(value.data(), value.size())));
    }
    /// A number of that many bytes, the lowest first.
    void fixed(std::uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i)
            byte(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    void plain(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
    /// Bytes, of which long runs of one value take little room.
    void runs(std::span<const std::byte> bytes);
    std::span<const std::byte> bytes() const { return out_; }

  private:
    void byte(std::uint8_t value) { out_.push_back(std::byte{value}); }
    std::vector<std::byte> out_;
};

/// Reads a record. Each function throws CapsuleError where the record ends too early.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
    std::uint64_t number();
    /// A number of at most that much.
    std::uint64_t number_to(std::uint64_t most);
    bool flag() { return number_to(1) != 0; }
    std::string text();
    std::span<const std::byte> plain(std::uint64_t bytes);
    /// Bytes as Writer::runs() wrote them, at most that many.
    std::vector<std::byte> runs(std::uint64_t most);
    bool at_end() const { return rest_.empty(); }

  private:
    std::span<const std::byte> rest_;
};

/// The file is not what a recorder wrote.
[[noreturn]] void refuse(const std::string& why);

} // namespace emu::capsule

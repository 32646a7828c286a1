#pragma once
/// \file
/// The records of what an H200 does with tensor maps and tensor copies: text files with one case a line,
/// `arguments > result`. Lines that begin with # are comments.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hardware {

struct RecordLine {
    std::string arguments; ///< Empty for a comment.
    std::string result;    ///< Of a comment: the whole line.
};

/// Throws std::runtime_error if the file cannot be read or holds no case.
std::vector<RecordLine> read_record(const std::string& path);
void write_record(const std::string& path, const std::vector<RecordLine>& lines);

/// `1,0x20,3` as numbers; `-` as none.
std::vector<std::int64_t> numbers(std::string_view text);

/// The arguments of cuTensorMapEncodeTiled; arrays innermost dimension first.
struct MapArguments {
    int type = 0;
    std::uint32_t rank = 0;
    std::uint64_t address = 0;
    std::array<std::uint64_t, 8> dims{}, strides{};
    std::array<std::uint32_t, 8> box{}, element_strides{};
    int interleave = 0, swizzle = 0, l2_promotion = 0, fill = 0;
};

/// From `type rank address dims strides box element-strides interleave swizzle promotion fill`.
MapArguments map_arguments(const std::string& text);

/// The 16 words of a tensor map as text: hexadecimal, zeros at the end left out; and back.
std::string words_text(const std::array<std::uint64_t, 16>& words);
std::array<std::uint64_t, 16> words_of(const std::string& text);

/// Bytes of an element of a CUtensorMapDataType, 0 to 12.
unsigned element_bytes(int type);

/// Bytes that look random and are the same every time; no two words of 4 bytes are equal.
std::vector<unsigned char> noise(std::size_t size, std::uint32_t seed);

/// FNV-1a with 64 bits, as 16 hexadecimal digits.
std::string digest(const std::vector<unsigned char>& bytes);

/// Changes bits of the 16 words of a map as `word.bit,word.bit` says.
void flip_bits(std::array<std::uint64_t, 16>& words, const std::string& places);

/// A tensor copy: `load key=value …`, where the values are lists of numbers.
class CopyCase {
  public:
    explicit CopyCase(const std::string& text);
    const std::string& operation() const { return operation_; }
    bool has(const std::string& key) const { return values_.contains(key); }
    /// The list at a key; empty if the case does not have it.
    std::vector<std::int64_t> list(const std::string& key) const;
    std::int64_t number(const std::string& key, std::int64_t otherwise) const;
    const std::string& text(const std::string& key) const { return values_.at(key); }
    /// type, dims, strides, box, es, il, sw, l2, oob; the address is `base`.
    MapArguments map() const;

  private:
    std::string operation_;
    std::map<std::string, std::string> values_;
};

} // namespace hardware

#include "tensor_records.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hardware {

namespace {

constexpr std::string_view separator = " > ";

template <class T, std::size_t size>
std::array<T, size> array_of(const std::vector<std::int64_t>& list) {
    std::array<T, size> values{};
    std::transform(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(size, list.size())),
                   values.begin(), [](std::int64_t value) { return static_cast<T>(value); });
    return values;
}

} // namespace

std::vector<RecordLine> read_record(const std::string& path) {
    std::ifstream file(path);
    std::vector<RecordLine> lines;
    bool any = false;
    for (std::string line; std::getline(file, line);) {
        const std::size_t at = line.find(separator);
        if (line.starts_with('#'))
            lines.push_back({"", line});
        else if (!line.empty()) {
            any = true;
            lines.push_back(
                {line.substr(0, at), at == std::string::npos ? "" : line.substr(at + separator.size())});
        }
    }
    if (!any)
        throw std::runtime_error(path + ": cannot be read, or holds no cases");
    return lines;
}

void write_record(const std::string& path, const std::vector<RecordLine>& lines) {
    std::ofstream file(path);
    for (const RecordLine& line : lines)
        file << line.arguments << (line.arguments.empty() ? "" : separator) << line.result << '\n';
    if (!file.flush())
        throw std::runtime_error(path + ": cannot be written");
}

std::vector<std::int64_t> numbers(std::string_view text) {
    std::vector<std::int64_t> list;
    std::istringstream in{std::string(text)};
    for (std::string item; std::getline(in, item, ',');)
        if (item != "-")
            list.push_back(static_cast<std::int64_t>(
                item.starts_with('-') ? std::stoll(item, nullptr, 0)
                                      : static_cast<long long>(std::stoull(item, nullptr, 0))));
    return list;
}

MapArguments map_arguments(const std::string& text) {
    std::istringstream in(text);
    std::array<std::string, 11> words;
    for (std::string& word : words)
        if (!(in >> word))
            throw std::runtime_error("'" + text + "' has fewer than 11 words");
    MapArguments map;
    map.type = std::stoi(words[0]);
    map.rank = static_cast<std::uint32_t>(std::stoul(words[1]));
    map.address = std::stoull(words[2], nullptr, 0);
    map.dims = array_of<std::uint64_t, 8>(numbers(words[3]));
    map.strides = array_of<std::uint64_t, 8>(numbers(words[4]));
    map.box = array_of<std::uint32_t, 8>(numbers(words[5]));
    map.element_strides = array_of<std::uint32_t, 8>(numbers(words[6]));
    map.interleave = std::stoi(words[7]);
    map.swizzle = std::stoi(words[8]);
    map.l2_promotion = std::stoi(words[9]);
    map.fill = std::stoi(words[10]);
    return map;
}

std::string words_text(const std::array<std::uint64_t, 16>& words) {
    std::size_t count = words.size();
    while (count > 1 && words[count - 1] == 0)
        --count;
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        char digits[24];
        std::snprintf(digits, sizeof digits, "%s%llx", i ? " " : "",
                      static_cast<unsigned long long>(words[i]));
        text += digits;
    }
    return text;
}

std::array<std::uint64_t, 16> words_of(const std::string& text) {
    std::array<std::uint64_t, 16> words{};
    std::istringstream in(text);
    in >> std::hex;
    for (std::uint64_t& word : words)
        if (!(in >> word))
            break;
    return words;
}

unsigned element_bytes(int type) {
    constexpr std::array<unsigned, 13> sizes{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return sizes.at(static_cast<std::size_t>(type));
}

// A hash by Chris Wellons of each word's number; it maps no two numbers to the same word.
std::vector<unsigned char> noise(std::size_t size, std::uint32_t seed) {
    std::vector<unsigned char> bytes(size);
    for (std::uint32_t i = 0; i < size / 4; ++i) {
        std::uint32_t word = i + seed * 0x10000000u;
        word = (word ^ word >> 16) * 0x7feb352du;
        word = (word ^ word >> 15) * 0x846ca68bu;
        word ^= word >> 16;
        std::memcpy(bytes.data() + 4 * std::size_t{i}, &word, sizeof word);
    }
    return bytes;
}

std::string digest(const std::vector<unsigned char>& bytes) {
    std::uint64_t state = 0xcbf29ce484222325ull;
    for (const unsigned char byte : bytes)
        state = (state ^ byte) * 0x100000001b3ull;
    char text[24];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state));
    return text;
}

void flip_bits(std::array<std::uint64_t, 16>& words, const std::string& places) {
    for (std::istringstream in(places); in.good();) {
        unsigned word = 0, bit = 0;
        char dot = 0, comma = 0;
        if (!(in >> word >> dot >> bit) || word > 15 || bit > 63)
            throw std::runtime_error("flip=" + places + " is not word.bit,…");
        words[word] ^= std::uint64_t{1} << bit;
        in >> comma;
    }
}

CopyCase::CopyCase(const std::string& text) {
    std::istringstream in(text);
    in >> operation_;
    for (std::string word; in >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos)
            throw std::runtime_error("'" + word + "' in '" + text + "' is not key=value");
        values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
}

std::vector<std::int64_t> CopyCase::list(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::vector<std::int64_t>{} : numbers(found->second);
}

std::int64_t CopyCase::number(const std::string& key, std::int64_t otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() ? otherwise : numbers(found->second).at(0);
}

MapArguments CopyCase::map() const {
    MapArguments map;
    map.type = static_cast<int>(number("type", 7)); // float
    map.rank = static_cast<std::uint32_t>(list("dims").size());
    map.address = static_cast<std::uint64_t>(number("base", 0));
    map.dims = array_of<std::uint64_t, 8>(list("dims"));
    map.strides = array_of<std::uint64_t, 8>(list("strides"));
    map.box = array_of<std::uint32_t, 8>(list("box"));
    map.element_strides.fill(1);
    if (has("es"))
        map.element_strides = array_of<std::uint32_t, 8>(list("es"));
    map.interleave = static_cast<int>(number("il", 0));
    map.swizzle = static_cast<int>(number("sw", 0));
    map.l2_promotion = static_cast<int>(number("l2", 0));
    map.fill = static_cast<int>(number("oob", 0));
    return map;
}

} // namespace hardware

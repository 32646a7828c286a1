/// \file
/// What cuTensorMapEncodeTiled accepts and refuses (CUDA driver API 13.0, tensor map object management), and
/// the bytes that an H200's driver writes.

#include "../../hardware/tensor_records.hpp"
#include "findings/words/words.hpp"
#include "machine/tensor_map.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <sstream>

using emu::TensorInterleave;
using emu::TensorMap;
using emu::TensorSwizzle;
using emu::TensorType;

namespace {

/// A legal map of rank 3.
TensorMap legal() {
    TensorMap map;
    map.type = TensorType::f32;
    map.rank = 3;
    map.address = 0x10000;
    map.dims = {100, 50, 7, 0, 0};
    map.strides = {400, 20000, 0, 0};
    map.box = {32, 8, 2, 0, 0};
    map.element_strides = {1, 1, 1, 0, 0};
    return map;
}

struct Change {
    std::string argument; ///< Named by the error; empty if the map stays legal.
    std::function<void(TensorMap&)> apply;
};

void check(const std::vector<Change>& changes) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
        TensorMap map = legal();
        changes[i].apply(map);
        const auto error = emu::tensor_map_error(map);
        const std::string words = error ? emu::put_into_words(*error) : "";
        INFO("change " << i << " " << changes[i].argument << ": " << words);
        if (changes[i].argument.empty())
            REQUIRE_FALSE(error);
        else {
            REQUIRE(error);
            REQUIRE(words.starts_with(changes[i].argument + " = "));
        }
    }
}

} // namespace

TEST_CASE("Rank, address, dimensions and strides of a tensor map") {
    check({
        {"", [](TensorMap&) {}},
        {"tensorRank", [](TensorMap& m) { m.rank = 0; }},
        {"tensorRank", [](TensorMap& m) { m.rank = 6; }},
        {"globalAddress", [](TensorMap& m) { m.address = 0x10008; }},
        {"", [](TensorMap& m) { m.address = 0; }},
        {"", [](TensorMap& m) { m.address = std::uint64_t{1} << 56; }},
        {"globalAddress", [](TensorMap& m) { m.address = std::uint64_t{1} << 57; }},
        {"globalDim[1]", [](TensorMap& m) { m.dims[1] = 0; }},
        {"", [](TensorMap& m) { m.dims[2] = std::uint64_t{1} << 32; }},
        {"globalDim[2]", [](TensorMap& m) { m.dims[2] = (std::uint64_t{1} << 32) + 1; }},
        {"globalStrides[0]", [](TensorMap& m) { m.strides[0] = 404; }},
        {"globalStrides[1]", [](TensorMap& m) { m.strides[1] = std::uint64_t{1} << 40; }},
        {"", [](TensorMap& m) { m.strides[1] = (std::uint64_t{1} << 40) - 16; }},
        {"", [](TensorMap& m) { m.rank = 2, m.strides[1] = 3; }}, // Beyond the rank nothing is read.
    });
}

TEST_CASE("Box, element strides and swizzle of a tensor map") {
    check({
        {"boxDim[1]", [](TensorMap& m) { m.box[1] = 0; }},
        {"", [](TensorMap& m) { m.box[1] = 256; }},
        {"boxDim[1]", [](TensorMap& m) { m.box[1] = 257; }},
        {"boxDim[0]", [](TensorMap& m) { m.box[0] = 30; }}, // 120 bytes.
        {"", [](TensorMap& m) { m.box[0] = 4; }},
        {"elementStrides[2]", [](TensorMap& m) { m.element_strides[2] = 0; }},
        {"", [](TensorMap& m) { m.element_strides[2] = 8; }},
        {"elementStrides[2]", [](TensorMap& m) { m.element_strides[2] = 9; }},
        {"", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes128; }},
        {"boxDim[0]", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes64; }},
        {"", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes64, m.box[0] = 16; }},
        {"boxDim[0]", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes32, m.box[0] = 16; }},
        {"", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes32, m.box[0] = 8; }},
        {"boxDim[0]", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes128, m.box[0] = 36; }},
        {"swizzle", [](TensorMap& m) { m.swizzle = static_cast<TensorSwizzle>(7); }},
        {"swizzle", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes128_atom32; }},
    });
}

TEST_CASE("Types, interleave, promotion and fill of a tensor map") {
    check({
        {"tensorDataType", [](TensorMap& m) { m.type = static_cast<TensorType>(16); }},
        {"tensorDataType", [](TensorMap& m) { m.type = TensorType::u4x16_align8; }},
        {"", [](TensorMap& m) { m.oob_fill = 1; }},
        {"oobFill", [](TensorMap& m) { m.oob_fill = 1, m.type = TensorType::s32; }},
        {"oobFill", [](TensorMap& m) { m.oob_fill = 2; }},
        {"", [](TensorMap& m) { m.l2_promotion = 3; }},
        {"l2Promotion", [](TensorMap& m) { m.l2_promotion = 4; }},
        {"", [](TensorMap& m) { m.interleave = TensorInterleave::bytes16; }},
        {"tensorRank", [](TensorMap& m) { m.interleave = TensorInterleave::bytes16, m.rank = 2; }},
        {"interleave", [](TensorMap& m) { m.interleave = static_cast<TensorInterleave>(3); }},
        {"globalStrides[0]", [](TensorMap& m) { m.interleave = TensorInterleave::bytes32; }},
        {"", [](TensorMap& m) { m.interleave = TensorInterleave::bytes32, m.strides[0] = 416; }},
        {"globalStrides[0]",
         [](TensorMap& m) { m.interleave = TensorInterleave::bytes32, m.swizzle = TensorSwizzle::bytes32; }},
        {"globalAddress",
         [](TensorMap& m) {
             m.interleave = TensorInterleave::bytes32, m.swizzle = TensorSwizzle::bytes32,
             m.address = 0x10010;
         }},
    });
}

namespace {

TensorMap map_of(const hardware::MapArguments& arguments) {
    TensorMap map;
    map.type = static_cast<TensorType>(arguments.type);
    map.rank = arguments.rank;
    map.address = arguments.address;
    std::copy_n(arguments.dims.begin(), 5, map.dims.begin());
    std::copy_n(arguments.strides.begin(), 4, map.strides.begin());
    std::copy_n(arguments.box.begin(), 5, map.box.begin());
    std::copy_n(arguments.element_strides.begin(), 5, map.element_strides.begin());
    map.interleave = static_cast<TensorInterleave>(arguments.interleave);
    map.swizzle = static_cast<TensorSwizzle>(arguments.swizzle);
    map.l2_promotion = static_cast<std::uint8_t>(arguments.l2_promotion);
    map.oob_fill = static_cast<std::uint8_t>(arguments.fill);
    return map;
}

/// Calls `check(arguments, result)` for each recorded call of the driver.
void for_each_record(const std::function<void(const std::string&, const std::string&)>& check) {
    for (const hardware::RecordLine& line : hardware::read_record(RECORDS "/tensor_maps.txt"))
        if (!line.arguments.empty())
            check(line.arguments, line.result);
}

using Bytes = std::array<std::byte, emu::tensor_map_bytes>;

Bytes bytes_of(const std::string& words) {
    const std::array<std::uint64_t, 16> values = hardware::words_of(words);
    Bytes bytes;
    std::memcpy(bytes.data(), values.data(), sizeof bytes);
    return bytes;
}

} // namespace

TEST_CASE("Maps have the bytes that an H200's driver writes, and what it refuses is refused") {
    unsigned maps = 0, refusals = 0;
    for_each_record([&](const std::string& arguments, const std::string& result) {
        Bytes bytes;
        bytes.fill(std::byte{0xA5});
        const auto error = emu::encode_tensor_map(map_of(hardware::map_arguments(arguments)), bytes);
        INFO(arguments << ": " << error.value_or("accepted"));
        if (!result.starts_with("0 ")) {
            ++refusals;
            REQUIRE(error);
            return;
        }
        ++maps;
        REQUIRE_FALSE(error);
        std::array<std::uint64_t, 16> words;
        std::memcpy(words.data(), bytes.data(), sizeof words);
        REQUIRE(hardware::words_text(words) == result.substr(2));
    });
    REQUIRE(maps >= 300);
    REQUIRE(refusals >= 50);
}

TEST_CASE("Maps that an H200's driver wrote are read back") {
    for_each_record([&](const std::string& arguments, const std::string& result) {
        if (!result.starts_with("0 "))
            return;
        INFO(arguments << " > " << result);
        const TensorMap wanted = map_of(hardware::map_arguments(arguments));
        const Bytes bytes = bytes_of(result.substr(2));
        const TensorMap map = emu::read_tensor_map(bytes);
        REQUIRE(emu::looks_encoded(bytes));
        // The driver takes dimensions that no copy takes.
        const bool too_large = std::ranges::any_of(wanted.dims, [](auto size) { return size > 1ull << 31; });
        REQUIRE(emu::tensor_map_fault(map, true).has_value() == too_large);
        REQUIRE(map.type == wanted.type);
        REQUIRE(map.rank == wanted.rank);
        REQUIRE(map.address == wanted.address);
        for (std::size_t i = 0; i < map.rank; ++i) {
            REQUIRE(map.dims[i] == wanted.dims[i]);
            REQUIRE(map.box[i] == wanted.box[i]);
            REQUIRE(map.element_strides[i] == wanted.element_strides[i]);
            if (i > 0)
                REQUIRE(map.strides[i - 1] == wanted.strides[i - 1]);
        }
        REQUIRE(map.interleave == wanted.interleave);
        REQUIRE(map.swizzle == wanted.swizzle);
        REQUIRE(map.l2_promotion == wanted.l2_promotion);
        REQUIRE(map.oob_fill == wanted.oob_fill);
    });
}

TEST_CASE("tensormap.replace changes the bits that it changes on an H200") {
    constexpr std::array names{"global_address", "rank",           "box_dim",  "global_dim",
                               "global_stride",  "element_stride", "elemtype", "interleave_layout",
                               "swizzle_mode",   "fill_mode"};
    std::array<std::uint64_t, 16> before{};
    unsigned checked = 0;
    for (const hardware::RecordLine& line : hardware::read_record(RECORDS "/tensor_replace.txt")) {
        if (line.arguments.empty())
            continue;
        if (line.arguments == "map") {
            before = hardware::words_of(line.result);
            continue;
        }
        INFO(line.arguments << " > " << line.result);
        std::istringstream in(line.arguments);
        std::string name;
        unsigned dimension = 0;
        std::uint64_t value = 0;
        in >> name >> dimension >> std::hex >> value;
        const auto field = std::ranges::find(names, name);
        REQUIRE(field != names.end());
        std::array<std::uint64_t, 16> expected = before, words = before;
        std::istringstream changes(line.result);
        std::uint64_t number = 0;
        for (char colon = 0; changes >> std::hex >> number >> colon;)
            REQUIRE(changes >> expected.at(number));
        Bytes bytes;
        std::memcpy(bytes.data(), words.data(), sizeof bytes);
        emu::replace_in_tensor_map(bytes, static_cast<emu::TensorMapField>(field - names.begin()), dimension,
                                   value);
        std::memcpy(words.data(), bytes.data(), sizeof bytes);
        REQUIRE(hardware::words_text(words) == hardware::words_text(expected));
        ++checked;
    }
    REQUIRE(checked >= 400);
}

TEST_CASE("Bits of a map mean to a copy what they mean to an H200, and those without a meaning nothing") {
    TensorMap wanted = legal();
    wanted.swizzle = TensorSwizzle::bytes128;
    Bytes bytes;
    REQUIRE_FALSE(emu::encode_tensor_map(wanted, bytes));
    const auto flipped = [&](unsigned word, unsigned bit) {
        Bytes changed = bytes;
        changed[word * 8 + bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        return changed;
    };
    // CuTe clears bit 21 of word 1 for small tensors (copy_traits_sm90_tma.hpp); bits 1 to 3 are a version.
    const auto same = [&](unsigned word, unsigned bit) {
        const TensorMap map = emu::read_tensor_map(flipped(word, bit));
        Bytes again;
        emu::write_tensor_map(map, again);
        return again == bytes && !emu::tensor_map_fault(map, true);
    };
    for (const unsigned bit : {1, 2, 3, 19, 20, 21, 25, 31})
        REQUIRE(same(1, bit));
    for (unsigned word = 8; word < 16; ++word)
        for (unsigned bit = 0; bit < 64; ++bit)
            REQUIRE(same(word, bit));
    for (unsigned bit = 57; bit < 64; ++bit)
        REQUIRE(same(0, bit));
    REQUIRE(emu::read_tensor_map(flipped(0, 4)).address == (wanted.address ^ 16));
    REQUIRE(emu::read_tensor_map(flipped(1, 34)).strides[0] == (wanted.strides[0] ^ 64));
    REQUIRE(emu::read_tensor_map(flipped(4, 0)).dims[0] == 99); // 100 is stored as 99.
    REQUIRE(emu::read_tensor_map(flipped(4, 32)).dims[1] == 49);
    REQUIRE(emu::tensor_map_fault(emu::read_tensor_map(flipped(1, 0)), true));  // im2col
    REQUIRE(emu::tensor_map_fault(emu::read_tensor_map(flipped(1, 10)), true)); // no type
    REQUIRE(
        emu::tensor_map_fault(emu::read_tensor_map(flipped(6, 56)), true)); // 31 floats in a row of the box
    for (const std::byte fill : {std::byte{0}, std::byte{0xff}, std::byte{0xfb}}) {
        bytes.fill(fill);
        REQUIRE_FALSE(emu::looks_encoded(bytes));
        REQUIRE(emu::tensor_map_fault(emu::read_tensor_map(bytes), true));
    }
}

TEST_CASE("A refused map writes nothing") {
    TensorMap map = legal();
    map.box[0] = 3;
    std::array<std::byte, emu::tensor_map_bytes> bytes;
    bytes.fill(std::byte{0x5a});
    REQUIRE(emu::encode_tensor_map(map, bytes));
    for (const std::byte b : bytes)
        REQUIRE(b == std::byte{0x5a});
}

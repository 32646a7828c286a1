/// \file
/// What cuTensorMapEncodeTiled accepts and refuses (CUDA driver API 13.0, tensor map object management).

#include "machine/tensor_map.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>

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
        INFO("change " << i << " " << changes[i].argument << ": " << error.value_or("accepted"));
        if (changes[i].argument.empty())
            REQUIRE_FALSE(error);
        else {
            REQUIRE(error);
            REQUIRE(error->starts_with(changes[i].argument + " = "));
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
        {"swizzle", [](TensorMap& m) { m.interleave = TensorInterleave::bytes32; }},
        {"globalStrides[0]",
         [](TensorMap& m) { m.interleave = TensorInterleave::bytes32, m.swizzle = TensorSwizzle::bytes32; }},
        {"globalAddress",
         [](TensorMap& m) {
             m.interleave = TensorInterleave::bytes32, m.swizzle = TensorSwizzle::bytes32,
             m.address = 0x10010;
         }},
    });
}

TEST_CASE("A map survives its 128 bytes, and other bytes are no map") {
    TensorMap map = legal();
    map.dims[2] = std::uint64_t{1} << 32;
    map.box[1] = 256;
    map.swizzle = TensorSwizzle::bytes128;
    map.oob_fill = 1;
    map.l2_promotion = 2;
    std::array<std::byte, emu::tensor_map_bytes> bytes;
    REQUIRE_FALSE(emu::encode_tensor_map(map, bytes));
    const auto back = emu::read_tensor_map(bytes);
    REQUIRE(back);
    REQUIRE(back->type == map.type);
    REQUIRE(back->rank == map.rank);
    REQUIRE(back->address == map.address);
    for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(back->dims[i] == map.dims[i]);
        REQUIRE(back->box[i] == map.box[i]);
        REQUIRE(back->element_strides[i] == map.element_strides[i]);
    }
    REQUIRE(back->strides[0] == map.strides[0]);
    REQUIRE(back->strides[1] == map.strides[1]);
    REQUIRE(back->swizzle == map.swizzle);
    REQUIRE(back->oob_fill == map.oob_fill);
    REQUIRE(back->l2_promotion == map.l2_promotion);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto damaged = bytes;
        damaged[i] ^= std::byte{0x10};
        INFO("byte " << i);
        REQUIRE_FALSE(emu::read_tensor_map(damaged));
    }
    bytes.fill(std::byte{0});
    REQUIRE_FALSE(emu::read_tensor_map(bytes));
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

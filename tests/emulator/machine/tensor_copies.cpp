/// \file
/// Tensor copies in tile mode (PTX ISA 9.7.9.27) against an element-by-element reference.

#include "machine/async_support.hpp"

#include "findings/words/words.hpp"
#include "machine/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <random>

using namespace async_test;
using emu::TensorMap;
using emu::TensorSwizzle;
using emu::TensorType;

namespace {

/// A tensor with dense or padded rows in host memory, and a box at a place in it.
struct Case {
    TensorMap map;
    std::vector<std::int32_t> start;
    std::uint32_t tile_offset = 0; ///< Of the tile behind 1024-byte alignment.

    std::uint32_t count(std::size_t i) const {
        const std::uint32_t step = i == 0 ? 1 : map.element_strides[i];
        return (map.box[i] + step - 1) / step;
    }
    std::uint32_t elements() const {
        std::uint32_t n = 1;
        for (std::size_t i = 0; i < map.rank; ++i)
            n *= count(i);
        return n;
    }
    std::uint32_t bytes() const { return elements() * emu::element_bytes(map.type); }
    std::uint64_t tensor_bytes() const {
        return map.rank == 1 ? map.dims[0] * emu::element_bytes(map.type)
                             : map.strides[map.rank - 2] * map.dims[map.rank - 1];
    }
    /// Byte offset in the tensor of the box's element `n`, or -1 outside.
    std::int64_t source_of(std::uint32_t n) const { return offset_of(n, map.dims[0]); }
    /// The same for stores, which end at the first multiple of 16 bytes behind a row (seen on an H200).
    std::int64_t destination_of(std::uint32_t n) const {
        const std::uint64_t per_chunk = 16 / emu::element_bytes(map.type);
        return offset_of(n, (map.dims[0] + per_chunk - 1) / per_chunk * per_chunk);
    }
    std::int64_t offset_of(std::uint32_t n, std::uint64_t width) const {
        std::int64_t at = 0;
        for (std::size_t i = 0; i < map.rank; ++i) {
            const std::int64_t c =
                start[i] + std::int64_t{n % count(i)} * (i == 0 ? 1 : map.element_strides[i]);
            n /= count(i);
            if (c < 0 || c >= static_cast<std::int64_t>(i == 0 ? width : map.dims[i]))
                return -1;
            at += c * static_cast<std::int64_t>(i == 0 ? emu::element_bytes(map.type) : map.strides[i - 1]);
        }
        return at;
    }
    /// Byte offset in the tile area (which is aligned to 1024 bytes) of the box's element `n`. With a swizzle
    /// every row begins a pattern width after the one before (tests/hardware/tensor_copies.txt).
    std::uint32_t place_of(std::uint32_t n) const {
        const std::uint32_t element = emu::element_bytes(map.type);
        const std::uint32_t pitch = std::max(count(0) * element, emu::swizzle_bytes(map.swizzle));
        const std::uint32_t a = tile_offset + n / count(0) * pitch + n % count(0) * element;
        const std::uint32_t line = a / 128, chunk = a / 16 % 8;
        const std::uint32_t mask =
            emu::swizzle_bytes(map.swizzle) ? emu::swizzle_bytes(map.swizzle) / 16 - 1 : 0;
        return line * 128 + (chunk ^ (line & mask)) * 16 + a % 16;
    }
};

Case make(TensorType type, std::vector<std::uint64_t> dims, std::vector<std::uint32_t> box,
          std::vector<std::int32_t> start, TensorSwizzle swizzle = TensorSwizzle::none) {
    Case c;
    c.map.type = type;
    c.map.rank = static_cast<std::uint32_t>(dims.size());
    c.map.swizzle = swizzle;
    std::uint64_t pitch = (dims[0] * emu::element_bytes(type) + 15) / 16 * 16;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        c.map.dims[i] = dims[i];
        c.map.box[i] = box[i];
        c.map.element_strides[i] = 1;
        if (i) {
            c.map.strides[i - 1] = pitch;
            pitch *= dims[i];
        }
    }
    c.start = std::move(start);
    return c;
}

/// `[map, {coordinates}]`; the coordinates are loaded from %rd2 into %r30, ….
std::string coordinates(const Case& c) {
    std::string text = "[%rd0, {";
    for (std::size_t i = 0; i < c.start.size(); ++i)
        text += (i ? ", %r" : "%r") + std::to_string(30 + i);
    return text + "}]";
}

/// Loads coordinates; copies the tile area (4 KiB) from %rd1 by 32 threads; thread 0 goes on alone with
/// `issue`; all wait for the barrier if `wait`; the area goes back to %rd1.
std::string tile_kernel(const Case& c, const std::string& issue, bool wait) {
    std::string body =
        ".reg .b32 %t<4>;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n";
    for (std::size_t i = 0; i < c.start.size(); ++i)
        body += "ld.global.u32 %r" + std::to_string(30 + i) + ", [%rd2+" + std::to_string(4 * i) + "];\n";
    const auto loop = [](const std::string& label, const std::string& move) {
        return "mov.u32 %r3, %r0;\n" + label +
               ":\nmul.lo.u32 %r4, %r3, 4; mov.u32 %r5, area; add.u32 %r5, %r5, %r4;\n"
               "cvt.u64.u32 %rd8, %r4; add.u64 %rd8, %rd8, %rd1;\n" +
               move + "add.u32 %r3, %r3, 32; setp.lt.u32 %p2, %r3, 2048;\n@%p2 bra " + label + ";\n";
    };
    body += loop("IN", "ld.global.u32 %r6, [%rd8]; st.shared.u32 [%r5], %r6;\n");
    body += "fence.proxy.async;\nbar.sync 0;\n@!%p1 bra READY;\nmov.u32 %r7, area; add.u32 %r7, %r7, " +
            std::to_string(c.tile_offset) + ";\n" + issue + "\nREADY:\n";
    if (wait)
        body += wait_parity("bar", "0", "W");
    return body + "bar.sync 0;\n" + loop("OUT", "ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd8], %r6;\n");
}

const std::string area = ".shared .align 1024 .b8 area[8192];\n.shared .align 8 .b64 bar;\n";

std::string rank_of(const Case& c) { return std::to_string(c.map.rank) + "d"; }

std::vector<std::uint8_t> noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(size);
    for (auto& b : bytes)
        b = static_cast<std::uint8_t>(random());
    return bytes;
}

/// A machine with the tensor, its map, the tile area and the coordinates in memory.
struct Setup {
    Machine machine;
    std::vector<std::uint8_t> tensor, tile;
    emu::Address tensor_at, map_at, tile_at, start_at;

    Setup(const Order& order, Case& c)
        : machine(order), tensor(noise(c.tensor_bytes(), 1)), tile(noise(8192, 2)),
          tensor_at(machine.buffer(tensor)), map_at(0), tile_at(machine.buffer(tile)),
          start_at(machine.buffer(c.start)) {
        c.map.address = tensor_at;
        std::vector<std::byte> bytes(emu::tensor_map_bytes);
        const auto error = emu::encode_tensor_map(c.map, std::span<std::byte, emu::tensor_map_bytes>(bytes));
        INFO(error.value_or(""));
        REQUIRE_FALSE(error);
        map_at = machine.buffer(bytes);
    }
    emu::LaunchOutcome run(const Case& c, const std::string& issue, bool wait) {
        return machine.run(kernel(3, area, tile_kernel(c, issue, wait)), {map_at, tile_at, start_at});
    }
};

void check_load(Case c, const Order& order, std::uint64_t fill = 0) {
    INFO(name_of(order));
    Setup setup(order, c);
    const std::string issue = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(c.bytes()) +
                              ";\ncp.async.bulk.tensor." + rank_of(c) +
                              ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r7], " +
                              coordinates(c) + ", [bar];";
    require_clean(setup.run(c, issue, true));
    auto expected = setup.tile;
    const unsigned element = emu::element_bytes(c.map.type);
    for (std::uint32_t n = 0; n < c.elements(); ++n) {
        const std::int64_t from = c.source_of(n);
        if (from < 0)
            std::memcpy(expected.data() + c.place_of(n), &fill, element);
        else
            std::memcpy(expected.data() + c.place_of(n), setup.tensor.data() + from, element);
    }
    REQUIRE(setup.machine.read<std::uint8_t>(setup.tile_at, 8192) == expected);
}

void check_store(Case c, const Order& order) {
    INFO(name_of(order));
    Setup setup(order, c);
    const std::string issue = "cp.async.bulk.tensor." + rank_of(c) + ".global.shared::cta.tile.bulk_group " +
                              coordinates(c) +
                              ", [%r7];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
    require_clean(setup.run(c, issue, false));
    auto expected = setup.tensor;
    for (std::uint32_t n = 0; n < c.elements(); ++n)
        if (const std::int64_t to = c.destination_of(n); to >= 0)
            std::memcpy(expected.data() + to, setup.tile.data() + c.place_of(n),
                        emu::element_bytes(c.map.type));
    REQUIRE(setup.machine.read<std::uint8_t>(setup.tensor_at, expected.size()) == expected);
}

std::vector<Case> geometry_cases() {
    using enum TensorType;
    std::vector<Case> cases{
        make(u32, {100}, {64}, {8}),
        make(u32, {100}, {64}, {-8}),
        make(u32, {100}, {64}, {88}),
        make(f32, {20, 10}, {16, 8}, {0, 0}),
        make(f32, {20, 10}, {16, 8}, {4, 2}),
        make(f32, {19, 7}, {16, 8}, {-4, -2}),
        make(f32, {19, 7}, {16, 8}, {12, 3}),
        make(f32, {19, 7}, {16, 8}, {40, 0}), // Entirely outside.
        make(u8, {50, 9}, {32, 5}, {32, 6}),
        make(f64, {9, 9}, {4, 4}, {6, 7}),
        make(bf16, {33, 5, 4}, {16, 3, 3}, {24, 3, 2}),
        make(s32, {8, 5, 4, 3}, {4, 3, 2, 2}, {4, -1, 3, 2}),
        make(u16, {16, 3, 3, 3, 3}, {8, 2, 2, 2, 2}, {8, 2, 1, -1, 2}),
    };
    Case strided = make(u32, {40, 30}, {16, 15}, {4, 1});
    strided.map.element_strides = {1, 4, 0, 0, 0};
    cases.push_back(strided);
    strided.start = {32, -3};
    cases.push_back(strided);
    return cases;
}

} // namespace

TEST_CASE("Tensor loads of rank 1 to 5: overhanging boxes, negative coordinates, element strides") {
    for (const Case& c : geometry_cases())
        for (const Order& order : all_orders())
            check_load(c, order);
}

TEST_CASE("Tensor stores are clipped at the far edges of the tensor, rows at a multiple of 16 bytes") {
    for (const Case& c : geometry_cases()) {
        if (std::any_of(c.start.begin(), c.start.end(), [](std::int32_t x) { return x < 0; }))
            continue; // Only loads may begin before the tensor.
        for (const Order& order : all_orders())
            check_store(c, order);
    }
}

TEST_CASE("Swizzles XOR bits of the absolute shared address, at every offset of the tile") {
    for (const auto& [swizzle, inner] :
         {std::pair{TensorSwizzle::bytes32, 8u}, std::pair{TensorSwizzle::bytes64, 16u},
          std::pair{TensorSwizzle::bytes128, 32u}})
        for (const std::uint32_t offset : {0u, 128u, 384u, 512u, 1024u, 1920u})
            for (const std::int32_t x : {0, 4, -8}) {
                Case c = make(TensorType::f32, {60, 40}, {inner, 9}, {x, 33}, swizzle);
                c.tile_offset = offset;
                INFO("inner " << inner << " offset " << offset << " x " << x);
                check_load(c, all_orders()[0]);
                if (x >= 0)
                    check_store(c, all_orders()[0]);
            }
}

namespace {

const std::string load_2d = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
                            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes ";

void finding(const Case& original, const std::string& issue, const std::string& name,
             const std::string& text) {
    INFO(issue);
    for (const Order& order : all_orders()) {
        Case c = original;
        Setup setup(order, c);
        require_finding(setup.run(c, issue, true), name, text);
    }
}

} // namespace

TEST_CASE("Rows narrower than the swizzle lie at its width, and the gaps stay untouched") {
    for (const auto& [swizzle, width] :
         {std::pair{TensorSwizzle::none, 48u}, std::pair{TensorSwizzle::bytes32, 32u},
          std::pair{TensorSwizzle::bytes64, 64u}, std::pair{TensorSwizzle::bytes128, 128u}})
        for (std::uint32_t inner = 16; inner <= width; inner += 16)
            for (const std::uint32_t offset : {0u, 384u}) {
                INFO("width " << width << " inner " << inner << " offset " << offset);
                std::vector<Case> cases{
                    make(TensorType::f32, {60, 40}, {inner / 4, 9}, {8, 33}, swizzle),
                    make(TensorType::u8, {200, 40}, {inner, 9}, {192, 3}, swizzle),
                    make(TensorType::f64, {30, 9, 5}, {inner / 8, 3, 2}, {2, 7, 1}, swizzle),
                    make(TensorType::u16, {80, 4, 4, 3, 3}, {inner / 2, 3, 2, 1, 2}, {8, 1, 0, 2, 1},
                         swizzle)};
                cases.push_back(cases[0]);
                cases.back().map.element_strides[1] = 2;
                for (Case& c : cases) {
                    c.tile_offset = offset;
                    check_load(c, all_orders()[0]);
                    check_store(c, all_orders()[0]);
                }
            }
}

TEST_CASE("A narrow tile must end inside shared memory with its last row, not with its bytes") {
    // 8 rows of 16 bytes are 128 bytes, and span 1024 under the 128-byte swizzle.
    Case c = make(TensorType::u32, {16, 8}, {4, 8}, {0, 0}, TensorSwizzle::bytes128);
    const std::string issue = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
                              "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes ";
    const auto at = [&](int offset) {
        return "add.u32 %r7, %r7, " + std::to_string(offset) + ";\n" + issue + "[%r7], " + coordinates(c) +
               ", [bar];";
    };
    finding(c, at(7424), "out-of-bounds", "tile");
    Setup setup(all_orders()[0], c);
    require_clean(setup.run(c, at(7168), true));
}

TEST_CASE("The 128-byte pattern, chunk by chunk") {
    // Row r of the tile holds its chunks in the order c XOR r (CUDA programming guide, table of the 128-byte
    // swizzle).
    Case c = make(TensorType::u16, {64, 8}, {64, 8}, {0, 0}, TensorSwizzle::bytes128);
    for (std::uint32_t r = 0; r < 8; ++r)
        for (std::uint32_t chunk = 0; chunk < 8; ++chunk)
            REQUIRE(emu::swizzled(2048 + r * 128 + chunk * 16, c.map.swizzle) ==
                    2048 + r * 128 + ((chunk ^ r) * 16));
    // 64-byte rows: chunk XOR (row / 2); 32-byte rows: chunk XOR (row / 4).
    for (std::uint32_t r = 0; r < 16; ++r)
        for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
            REQUIRE(emu::swizzled(r * 64 + chunk * 16, TensorSwizzle::bytes64) ==
                    r * 64 + ((chunk ^ (r / 2 % 4)) * 16));
            if (chunk < 2)
                REQUIRE(emu::swizzled(r * 32 + chunk * 16, TensorSwizzle::bytes32) ==
                        r * 32 + ((chunk ^ (r / 4 % 2)) * 16));
        }
}

TEST_CASE("NaN fills what lies outside a floating-point tensor") {
    Case c = make(TensorType::f32, {19, 7}, {16, 8}, {12, 3});
    c.map.oob_fill = 1;
    check_load(c, all_orders()[0], 0x7ff77ff7);
    c = make(TensorType::f16, {19, 7}, {16, 8}, {8, 3}, TensorSwizzle::bytes32);
    c.map.oob_fill = 1;
    check_load(c, all_orders()[0], 0x7ff7);
}

TEST_CASE("Tensor reductions are clipped like stores") {
    for (const Order& order : all_orders()) {
        Case c = make(TensorType::u32, {19, 7}, {16, 8}, {12, 3}, TensorSwizzle::bytes64);
        Setup setup(order, c);
        const std::string issue = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group " +
                                  coordinates(c) +
                                  ", [%r7];\n"
                                  "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
        require_clean(setup.run(c, issue, false));
        auto expected = setup.tensor;
        for (std::uint32_t n = 0; n < c.elements(); ++n)
            if (const std::int64_t to = c.destination_of(n); to >= 0) {
                std::uint32_t old, value;
                std::memcpy(&old, expected.data() + to, 4);
                std::memcpy(&value, setup.tile.data() + c.place_of(n), 4);
                old += value;
                std::memcpy(expected.data() + to, &old, 4);
            }
        REQUIRE(setup.machine.read<std::uint8_t>(setup.tensor_at, expected.size()) == expected);
    }
}

TEST_CASE("Prefetches of tensors and of tensor maps do nothing") {
    Case c = make(TensorType::f32, {20, 10}, {16, 8}, {4, 2});
    Setup setup(all_orders()[0], c);
    require_clean(setup.run(
        c,
        "prefetch.tensormap [%rd0];\ncp.async.bulk.prefetch.tensor.2d.L2.global.tile " + coordinates(c) +
            ";\ncp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint " + coordinates(c) + ", %rd8;",
        false));
    REQUIRE(setup.machine.read<std::uint8_t>(setup.tile_at, 8192) == setup.tile);
}

TEST_CASE("Mistakes with tensor copies are named") {
    const Case c = make(TensorType::f32, {20, 10}, {16, 8}, {4, 2});
    const std::string at = coordinates(c);
    finding(c, "add.u32 %r7, %r7, 64;\n" + load_2d + "[%r7], " + at + ", [bar];", "misaligned", "128");
    finding(c, "add.u32 %r7, %r7, 1048576;\n" + load_2d + "[%r7], " + at + ", [bar];", "out-of-bounds",
            "tile");
    finding(c, load_2d + "[%r7], " + at + ", [area];", "barrier-uninitialised", "");
    finding(c, "add.u64 %rd0, %rd0, 32;\n" + load_2d + "[%r7], " + at + ", [bar];", "tensor-map-invalid",
            "64");
    finding(c, "mov.u64 %rd0, %rd1;\n" + load_2d + "[%r7], " + at + ", [bar];", "tensor-map-invalid",
            "no tensor map");
    finding(c, "mov.u64 %rd0, 4096;\n" + load_2d + "[%r7], " + at + ", [bar];", "tensor-map-invalid", "host");
    finding(c,
            "mov.u32 %r9, area; cvt.u64.u32 %rd0, %r9; cvta.shared.u64 %rd0, %rd0;\n" + load_2d + "[%r7], " +
                at + ", [bar];",
            "tensor-map-invalid", "shared");
    finding(c,
            "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd0, "
            "{%r30}], [bar];",
            "tensor-map-invalid", "rank 2");
    finding(c, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.bulk_group " + at + ", [%r7];",
            "tensor-map-invalid", "FLOAT32");
    Case larger = c;
    larger.map.strides[0] = 1 << 20; // The memory behind the map is much smaller.
    INFO("too small");
    Machine machine;
    larger.map.address = machine.buffer(std::vector<std::uint32_t>(200, 0));
    std::vector<std::byte> bytes(emu::tensor_map_bytes);
    REQUIRE_FALSE(emu::encode_tensor_map(larger.map, std::span<std::byte, emu::tensor_map_bytes>(bytes)));
    const auto map = machine.buffer(bytes);
    const auto tile = machine.buffer(std::vector<std::uint32_t>(2048, 0));
    const auto start = machine.buffer(larger.start);
    const auto outcome =
        machine.run(kernel(3, area, tile_kernel(larger, load_2d + "[%r7], " + at + ", [bar];", true)),
                    {map, tile, start});
    require_finding(outcome, "out-of-bounds", "tensor");
    const std::uint64_t extent = 9 * larger.map.strides[0] + 20 * sizeof(float);
    REQUIRE(outcome.result.diagnostics.front().advice.find("describes " + std::to_string(extent) +
                                                           " bytes") != std::string::npos);
}

TEST_CASE("A box starts at a multiple of 16 bytes along the innermost dimension") {
    // As measured on an H200: cudaErrorIllegalInstruction for every other coordinate, loads and stores alike.
    for (const std::int32_t x : {1, 2, 3, -1, 19}) {
        const Case c = make(TensorType::f32, {20, 10}, {16, 8}, {x, 0});
        finding(c, load_2d + "[%r7], " + coordinates(c) + ", [bar];", "misaligned", "multiple of 16");
    }
    const Case halves = make(TensorType::f16, {40, 10}, {16, 8}, {4, 0});
    finding(halves,
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group " + coordinates(halves) + ", [%r7];",
            "misaligned", "multiple of 16");
}

TEST_CASE("What is written may not begin before the tensor") {
    const Case c = make(TensorType::f32, {20, 10}, {16, 8}, {-4, 0});
    finding(c, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group " + coordinates(c) + ", [%r7];",
            "out-of-bounds", "before the tensor");
}

TEST_CASE("The full box counts at the barrier; the clipped size never completes the phase") {
    Case c = make(TensorType::f32, {20, 10}, {16, 8}, {12, 5});
    finding(c,
            "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 160;\n" // 8 x 5 elements are inside.
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], " +
                coordinates(c) + ", [bar];",
            "deadlock", "bar");
}

TEST_CASE("tensormap.replace changes one field each, and the copy uses the new map") {
    // From a map of one element type and box to another, in global memory, through every field.
    Case c = make(TensorType::u8, {16, 16}, {16, 16}, {4, 1});
    Case wanted = make(TensorType::f32, {20, 10}, {16, 8}, {4, 1}, TensorSwizzle::bytes64);
    Setup setup(all_orders()[0], c);
    std::vector<std::uint8_t> tensor = noise(wanted.tensor_bytes(), 3);
    const auto tensor_at = setup.machine.buffer(tensor);
    const std::string replace = "tensormap.replace.tile.";
    const std::string issue =
        replace + "global_address.global.b1024.b64 [%rd0], " + std::to_string(tensor_at) + ";\n" + replace +
        "rank.global.b1024.b32 [%rd0], 1;\n" + replace + "box_dim.global.b1024.b32 [%rd0], 1, 8;\n" +
        replace + "global_dim.global.b1024.b32 [%rd0], 0, 20;\n" + replace +
        "global_dim.b1024.b32 [%rd0], 1, 10;\n" + replace +
        "global_stride.global.b1024.b64 [%rd0], 0, 80;\n" + replace +
        "element_stride.global.b1024.b32 [%rd0], 1, 1;\n" + replace +
        "elemtype.global.b1024.b32 [%rd0], 7;\n" + replace +
        "interleave_layout.global.b1024.b32 [%rd0], 0;\n" + replace +
        "swizzle_mode.global.b1024.b32 [%rd0], 2;\n" + replace + "fill_mode.global.b1024.b32 [%rd0], 1;\n" +
        "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;\n"
        "mov.u64 %rd8, 0; fence.proxy.tensormap::generic.acquire.gpu [%rd8], 128;\n" + // Reads nothing.
        load_2d +
        "[%r7], " + coordinates(c) + ", [bar];";
    require_clean(setup.run(c, issue, true));
    auto expected = setup.tile;
    for (std::uint32_t n = 0; n < wanted.elements(); ++n) {
        const std::uint32_t nan = 0x7ff77ff7;
        const std::int64_t from = wanted.source_of(n);
        std::memcpy(expected.data() + wanted.place_of(n),
                    from < 0 ? reinterpret_cast<const std::uint8_t*>(&nan) : tensor.data() + from, 4);
    }
    REQUIRE(setup.machine.read<std::uint8_t>(setup.tile_at, 8192) == expected);
}

TEST_CASE("A map is changed in shared memory and published with tensormap.cp_fenceproxy") {
    Case c = make(TensorType::f32, {20, 10}, {16, 8}, {4, 1});
    Setup setup(all_orders()[0], c);
    const auto copy = setup.machine.buffer(std::vector<std::uint32_t>(32, 0));
    // The whole warp copies the map to shared memory, one thread changes the rank there, the warp publishes
    // it.
    const std::string body =
        "mul.wide.u32 %rd8, %r0, 4; add.u64 %rd9, %rd8, %rd0; ld.global.u32 %r3, [%rd9];\n"
        "mov.u32 %r4, area; mad.lo.u32 %r5, %r0, 4, %r4; st.shared.u32 [%r5], %r3;\n"
        "bar.warp.sync -1;\nsetp.eq.u32 %p1, %r0, 0;\n"
        "@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r4], 1, 7;\n"
        "bar.warp.sync -1;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%rd1], [%r4], 128;\n";
    require_clean(setup.machine.run(kernel(2, area, body), {setup.map_at, copy}));
    const auto bytes = setup.machine.read<std::byte>(copy, emu::tensor_map_bytes);
    const auto map = emu::read_tensor_map(std::span<const std::byte, emu::tensor_map_bytes>(bytes));
    REQUIRE(map.dims[0] == 20);
    REQUIRE(map.dims[1] == 7);
}

TEST_CASE("Modes this device lacks are refused with the reason") {
    const std::string to_shared = ".shared::cluster.global", at_barrier = ".mbarrier::complete_tx::bytes";
    for (const auto& [modifiers, operands, why] : std::vector<std::array<std::string, 3>>{
             {"4d" + to_shared + ".im2col::w" + at_barrier, "%r1, %r2, %r1, %r1}], [bar], {%h0, %h1}",
              "10.0"},
             {"2d" + to_shared + ".tile::gather4" + at_barrier, "%r1, %r2, %r1, %r1, %r1}], [bar]", "10.0"},
             {"2d" + to_shared + at_barrier + ".cta_group::1", "%r1, %r2}], [bar]", "10.0"},
             {"3d" + to_shared + at_barrier, "%r1, %r2}], [bar]", "coordinates"}}) {
        const std::string wrong = "cp.async.bulk.tensor." + modifiers + " [area], [%rd0, {" + operands + ";";
        Machine machine;
        const auto outcome = machine.run(kernel(1, area, wrong), {0});
        INFO(wrong);
        REQUIRE(outcome.error == emu::LaunchError::unsupported);
        REQUIRE(outcome.message.find(why) != std::string::npos);
    }
}

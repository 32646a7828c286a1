/// \file
/// Tensor copies in im2col mode (PTX ISA 5.5.4) against an element-by-element reference, and their maps.
/// tests/hardware/im2col.txt holds what an H200 does.

#include "machine/async_support.hpp"

#include "../../hardware/tensor_records.hpp"
#include "findings/words/words.hpp"
#include "machine/tensor_map.hpp"

#include <functional>
#include <random>

using namespace async_test;
using emu::TensorMap;
using emu::TensorSwizzle;
using emu::TensorType;

namespace {

constexpr std::uint32_t area_bytes = 8192;

/// A convolution's view of a tensor: dimension 0 are the channels, the last one the images.
struct Case {
    TensorMap map;
    std::vector<std::int32_t> start;
    std::vector<std::uint16_t> offsets;

    std::uint32_t element() const { return emu::element_bytes(map.type); }
    std::uint32_t row_bytes() const { return map.box[0] * element(); }
    std::uint32_t bytes() const { return row_bytes() * map.pixels_per_column; }
    std::uint64_t tensor_bytes() const { return map.strides[map.rank - 2] * map.dims[map.rank - 1]; }

    /// Steps that fit into the box in dimension i of the tensor.
    std::int64_t steps(std::size_t i) const {
        const std::int64_t last = static_cast<std::int64_t>(map.dims[i]) - 1 + map.upper_corner[i - 1];
        return (last - map.lower_corner[i - 1]) / map.element_strides[i] + 1;
    }
    /// Byte offset in the tensor of a channel of a pixel of the column, or -1 outside. The column begins at a
    /// step of the box: its pixels are numbered through, images last.
    std::int64_t source_of(std::uint32_t pixel, std::uint32_t channel, bool with_offsets = true) const {
        const std::size_t image = map.rank - 1;
        std::int64_t number = 0, weight = 1;
        for (std::size_t i = 1; i < image; weight *= steps(i), ++i)
            number += (start[i] - map.lower_corner[i - 1]) / map.element_strides[i] * weight;
        number += pixel;
        const std::int64_t c = start[0] + static_cast<std::int64_t>(channel);
        std::int64_t at = c * element();
        bool inside = c >= 0 && c < static_cast<std::int64_t>(map.dims[0]);
        for (std::size_t i = 1; i <= image; ++i) {
            std::int64_t x = start[image] + number * map.element_strides[image];
            if (i < image) {
                x = map.lower_corner[i - 1] + number % steps(i) * map.element_strides[i] +
                    (with_offsets ? offsets[i - 1] : 0);
                number /= steps(i);
            }
            inside &= x >= 0 && x < static_cast<std::int64_t>(map.dims[i]);
            at += x * static_cast<std::int64_t>(map.strides[i - 1]);
        }
        return inside ? at : -1;
    }
    std::uint32_t place_of(std::uint32_t pixel, std::uint32_t channel) const {
        const std::uint32_t pitch = std::max(row_bytes(), emu::swizzle_bytes(map.swizzle));
        return emu::swizzled(pixel * pitch + channel * element(), map.swizzle);
    }
};

Case make(TensorType type, std::vector<std::uint64_t> dims, std::vector<std::int32_t> lower,
          std::vector<std::int32_t> upper, std::uint32_t channels, std::uint32_t pixels,
          std::vector<std::int32_t> start, std::vector<std::uint16_t> offsets,
          TensorSwizzle swizzle = TensorSwizzle::none) {
    Case c;
    c.map.im2col = true;
    c.map.type = type;
    c.map.rank = static_cast<std::uint32_t>(dims.size());
    c.map.swizzle = swizzle;
    c.map.box[0] = channels;
    c.map.pixels_per_column = pixels;
    std::ranges::copy(lower, c.map.lower_corner.begin());
    std::ranges::copy(upper, c.map.upper_corner.begin());
    std::uint64_t pitch = (dims[0] * c.element() + 15) / 16 * 16;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        c.map.dims[i] = dims[i];
        c.map.element_strides[i] = 1;
        if (i > 0) {
            c.map.strides[i - 1] = pitch;
            pitch *= dims[i];
        }
    }
    c.start = std::move(start);
    c.offsets = std::move(offsets);
    return c;
}

template <class T>
std::string list(const std::vector<T>& values) {
    std::string text;
    for (const T value : values)
        text += (text.empty() ? "{" : ", ") + std::to_string(value);
    return text + "}";
}

std::string rank_of(const Case& c) { return std::to_string(c.map.rank) + "d"; }
std::string place(const Case& c) { return "[%rd0, " + list(c.start) + "]"; }
std::string load(const Case& c, const std::string& more = "") {
    return "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(c.bytes()) +
           ";\ncp.async.bulk.tensor." + rank_of(c) +
           ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes" + more + " [area], " + place(c) +
           ", [bar], " + list(c.offsets);
}
std::string write(const Case& c, const std::string& opcode) {
    return opcode + ".bulk_group " + place(c) +
           ", [area];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
}
std::string store(const Case& c) {
    return write(c, "cp.async.bulk.tensor." + rank_of(c) + ".global.shared::cta.im2col_no_offs");
}

const std::string shared = ".shared .align 1024 .b8 area[8192];\n.shared .align 8 .b64 bar;\n";

/// 32 threads copy the area from %rd1, thread 0 issues, all wait for the barrier if `wait`; the area goes
/// back.
std::string body(const std::string& issue, bool wait) {
    const auto loop = [](const std::string& label, const std::string& move) {
        return "mov.u32 %r3, %r0;\n" + label +
               ":\nmul.lo.u32 %r4, %r3, 4; mov.u32 %r5, area; add.u32 %r5, %r5, %r4;\n"
               "cvt.u64.u32 %rd8, %r4; add.u64 %rd8, %rd8, %rd1;\n" +
               move + "add.u32 %r3, %r3, 32; setp.lt.u32 %p2, %r3, 2048;\n@%p2 bra " + label + ";\n";
    };
    std::string text = "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [bar], 1;\n" +
                       loop("IN", "ld.global.u32 %r6, [%rd8]; st.shared.u32 [%r5], %r6;\n") +
                       "fence.proxy.async;\nbar.sync 0;\n@!%p1 bra READY;\n" + issue + "\nREADY:\n";
    if (wait)
        text += wait_parity("bar", "0", "W");
    return text + "bar.sync 0;\n" + loop("OUT", "ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd8], %r6;\n");
}

std::vector<std::uint8_t> noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(size);
    for (auto& b : bytes)
        b = static_cast<std::uint8_t>(random());
    return bytes;
}

/// A machine with the tensor, its map and the area in memory.
struct Setup {
    Machine machine;
    std::vector<std::uint8_t> tensor, area;
    emu::Address tensor_at, map_at = 0, area_at;

    Setup(const Order& order, Case c)
        : machine(order), tensor(noise(c.tensor_bytes(), 1)), area(noise(area_bytes, 2)),
          tensor_at(machine.buffer(tensor)), area_at(machine.buffer(area)) {
        c.map.address = tensor_at;
        std::vector<std::byte> bytes(emu::tensor_map_bytes);
        const auto error = emu::encode_tensor_map(c.map, std::span<std::byte, emu::tensor_map_bytes>(bytes));
        INFO(error.value_or(""));
        REQUIRE_FALSE(error);
        map_at = machine.buffer(bytes);
    }
    emu::LaunchOutcome run(const std::string& issue, bool wait) {
        return machine.run(kernel(2, shared, body(issue, wait)), {map_at, area_at});
    }
};

void check_load(const Case& c, const Order& order, std::uint64_t fill = 0) {
    INFO(name_of(order));
    Setup setup(order, c);
    require_clean(setup.run(load(c) + ";", true));
    auto expected = setup.area;
    for (std::uint32_t pixel = 0; pixel < c.map.pixels_per_column; ++pixel)
        for (std::uint32_t channel = 0; channel < c.map.box[0]; ++channel) {
            const std::int64_t from = c.source_of(pixel, channel);
            std::memcpy(expected.data() + c.place_of(pixel, channel),
                        from < 0 ? reinterpret_cast<const std::uint8_t*>(&fill) : setup.tensor.data() + from,
                        c.element());
        }
    REQUIRE(setup.machine.read<std::uint8_t>(setup.area_at, area_bytes) == expected);
}

void check_store(const Case& c, const Order& order) {
    INFO(name_of(order));
    Setup setup(order, c);
    require_clean(setup.run(store(c), false));
    auto expected = setup.tensor;
    for (std::uint32_t pixel = 0; pixel < c.map.pixels_per_column; ++pixel)
        for (std::uint32_t channel = 0; channel < c.map.box[0]; ++channel)
            if (const std::int64_t to = c.source_of(pixel, channel, false); to >= 0)
                std::memcpy(expected.data() + to, setup.area.data() + c.place_of(pixel, channel),
                            c.element());
    REQUIRE(setup.machine.read<std::uint8_t>(setup.tensor_at, expected.size()) == expected);
}

std::vector<Case> cases() {
    using enum TensorType;
    std::vector<Case> list{
        make(f32, {16, 9, 4}, {0}, {0}, 16, 9, {0, 0, 0}, {0}),
        make(f32, {16, 9, 4}, {0}, {0}, 16, 30, {0, 3, 1}, {2}),
        make(f32, {16, 9, 4}, {-2}, {1}, 8, 30, {8, -2, 0}, {1}),
        make(f32, {16, 9, 4}, {2}, {-3}, 8, 12, {0, 4, 1}, {40}),
        make(f32, {18, 9, 4}, {0}, {0}, 12, 12, {12, 0, 0}, {0}), // Channels that do not exist.
        make(f16, {32, 9, 7, 3}, {-1, -1}, {-1, -1}, 8, 100, {8, -1, -1, 0}, {2, 1}),
        make(f16, {32, 9, 7, 3}, {0, 0}, {-2, -2}, 16, 60, {0, 4, 3, 1}, {2, 0}),
        make(u8, {64, 6, 5, 4, 3}, {-1, 0, 1}, {0, -1, 1}, 32, 100, {32, 2, 1, 3, 1}, {1, 0, 2}),
        make(f64, {4, 6, 5, 4, 2}, {0, 0, 0}, {0, 0, 0}, 4, 120, {0, 0, 0, 0, 0}, {0, 0, 0}),
        make(u32, {32, 9, 4}, {-1}, {0}, 32, 30, {0, 1, 0}, {1}, TensorSwizzle::bytes128),
        make(u32, {32, 9, 4}, {-1}, {0}, 12, 30, {4, 1, 0}, {1}, TensorSwizzle::bytes64),
        make(u16, {32, 9, 7, 3}, {-1, 1}, {0, -1}, 16, 60, {0, 1, 2, 0}, {1, 1}, TensorSwizzle::bytes32),
    };
    Case strided = make(f16, {32, 8, 14, 4}, {-1, -1}, {-1, -1}, 16, 32, {0, 5, 7, 2}, {1, 1});
    strided.map.element_strides = {1, 2, 2, 1, 0}; // The example of PTX ISA 5.5.4.2, smaller.
    list.push_back(strided);
    strided.map.element_strides = {3, 3, 4, 2, 0};
    list.push_back(strided);
    return list;
}

} // namespace

TEST_CASE("Im2col loads: pixels of the box in turn, offsets, steps, what lies outside, swizzles") {
    for (const Case& c : cases())
        for (const Order& order : all_orders())
            check_load(c, order);
}

TEST_CASE("Im2col stores write the pixels that loads without offsets read") {
    for (Case c : cases()) {
        const auto spatial = static_cast<std::ptrdiff_t>(c.map.rank - 2);
        for (std::ptrdiff_t i = 0; i < spatial; ++i) { // The box of what is written lies inside the tensor.
            c.map.lower_corner[i] = std::max(c.map.lower_corner[i], 0);
            c.map.upper_corner[i] = std::min(c.map.upper_corner[i], 0);
            c.start[i + 1] = c.map.lower_corner[i] + (i < 2 ? c.map.element_strides[i + 1] : 0);
        }
        c.map.dims[0] = c.map.strides[0] / c.element();
        for (const Order& order : all_orders())
            check_store(c, order);
    }
}

TEST_CASE("A column begins in the box, and the box of what is written lies in the tensor") {
    const auto case_at = [](std::int32_t low, std::int32_t high, std::int32_t x) {
        return make(TensorType::f32, {16, 9, 4}, {low}, {high}, 16, 8, {0, x, 0}, {1});
    };
    const auto run = [](const Case& c, bool loads) {
        Setup setup(all_orders()[0], c);
        return setup.run(loads ? load(c) + ";" : store(c), loads);
    };
    for (const auto& [low, high, last] : {std::array{-2, 1, 9}, std::array{2, -3, 5}}) {
        require_clean(run(case_at(low, high, low), true));
        require_clean(run(case_at(low, high, last), true));
        const std::string from_to = "from " + std::to_string(low) + " to " + std::to_string(last);
        require_finding(run(case_at(low, high, low - 1), true), "out-of-bounds", from_to);
        require_finding(run(case_at(low, high, last + 1), true), "out-of-bounds", from_to);
    }
    require_clean(run(case_at(2, -3, 2), false));
    require_finding(run(case_at(-1, 0, 0), false), "out-of-bounds", "pixelBoxLowerCorner[0] is -1");
    require_finding(run(case_at(0, 1, 0), false), "out-of-bounds", "pixelBoxUpperCorner[0] is 1");
    // The image is no part of the box: what begins behind the last one moves nothing.
    Case c = case_at(0, 0, 0);
    c.start[2] = 4;
    require_clean(run(c, false));
    check_load(c, all_orders()[0]);
}

TEST_CASE("Offsets are packed into 16 bits as the assembler does it") {
    Case four = make(TensorType::f32, {4, 9, 7, 3}, {-1, -1}, {-1, -1}, 4, 30, {0, -1, -1, 0}, {1, 2});
    Case five = make(TensorType::f32, {4, 6, 5, 4, 3}, {-1, -1, -1}, {-1, -1, -1}, 4, 30, {0, -1, -1, -1, 0},
                     {1, 2, 1});
    for (const auto& [c, given] : {std::pair{four, std::vector<std::uint16_t>{257, 0x302}},
                                   std::pair{five, std::vector<std::uint16_t>{33, 1, 1}},
                                   std::pair{five, std::vector<std::uint16_t>{1, 34, 0}}}) {
        Setup expected(all_orders()[0], c), setup(all_orders()[0], c);
        require_clean(expected.run(load(c) + ";", true));
        Case other = c;
        other.offsets = given;
        require_clean(setup.run(load(other) + ";", true));
        REQUIRE(setup.machine.read<std::uint8_t>(setup.area_at, area_bytes) ==
                expected.machine.read<std::uint8_t>(expected.area_at, area_bytes));
    }
}

TEST_CASE("Pixels outside the tensor are filled with NaN if the map says so") {
    Case c = make(TensorType::f32, {18, 9, 4}, {-2}, {1}, 12, 30, {12, -2, 0}, {1});
    c.map.oob_fill = 1;
    check_load(c, all_orders()[0], 0x7ff77ff7);
}

TEST_CASE("Im2col reductions add to the pixels of the box") {
    const Case c = make(TensorType::u32, {4, 5, 4, 2}, {0, 0}, {-1, -1}, 4, 14, {0, 1, 1, 0}, {0, 0});
    for (const Order& order : all_orders()) {
        Setup setup(order, c);
        require_clean(setup.run(
            write(c, "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs"), false));
        auto expected = setup.tensor;
        for (std::uint32_t pixel = 0; pixel < 14; ++pixel)
            for (std::uint32_t channel = 0; channel < 4; ++channel)
                if (const std::int64_t at = c.source_of(pixel, channel, false); at >= 0) {
                    std::uint32_t sum, term;
                    std::memcpy(&sum, expected.data() + at, 4);
                    std::memcpy(&term, setup.area.data() + c.place_of(pixel, channel), 4);
                    sum += term;
                    std::memcpy(expected.data() + at, &sum, 4);
                }
        REQUIRE(setup.machine.read<std::uint8_t>(setup.tensor_at, expected.size()) == expected);
    }
}

TEST_CASE("An im2col load reaches every block of the multicast mask; prefetches move nothing") {
    const Case c = make(TensorType::f32, {16, 9, 4}, {-1}, {1}, 16, 8, {0, -1, 0}, {0});
    for (const Order& order : all_orders()) {
        Setup setup(order, c);
        const std::string ptx =
            "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r0, 0;\nsetp.eq.u32 %p2, %r1, 0;\n"
            "@%p1 mbarrier.init.shared.b64 [bar], 1;\n@%p1 fence.mbarrier_init.release.cluster;\n"
            "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
            "barrier.cluster.arrive; barrier.cluster.wait;\nmov.u16 %h1, 3;\nand.pred %p2, %p1, %p2;\n"
            "@%p2 cp.async.bulk.prefetch.tensor.3d.L2.global.im2col " +
            place(c) + ", {0};\n@%p2 cp.async.bulk.tensor.3d.shared::cluster.global.im2col" +
            ".mbarrier::complete_tx::bytes.multicast::cluster [area], " + place(c) + ", [bar], {0}, %h1;\n" +
            wait_parity("bar", "0", "W") +
            // The last of the pixels, of each block.
            "mul.lo.u32 %r2, %r0, 4;\nmov.u32 %r3, area;\nadd.u32 %r3, %r3, %r2;\nld.shared.u32 %r4, "
            "[%r3+448];\nmad.lo.u32 %r5, %r1, 64, %r2;\ncvt.u64.u32 %rd8, %r5;\nadd.u64 %rd8, %rd8, %rd1;\n"
            "setp.lt.u32 %p3, %r0, 16;\n@%p3 st.global.u32 [%rd8], %r4;\n"
            "barrier.cluster.arrive; barrier.cluster.wait;";
        require_clean(setup.machine.run(kernel(2, shared, ptx), {setup.map_at, setup.area_at}, 32, 2));
        const auto result = setup.machine.read<std::uint8_t>(setup.area_at, 128);
        for (std::uint32_t i = 0; i < 128; ++i)
            REQUIRE(result[i] == setup.tensor[static_cast<std::size_t>(c.source_of(7, 0)) + i % 64]);
    }
}

TEST_CASE("A map for one mode does not serve the other") {
    const Case c = make(TensorType::f32, {16, 9, 4}, {0}, {0}, 16, 8, {0, 0, 0}, {0});
    const std::string tile = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
                             "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                             "[area], " +
                             place(c) + ", [bar];";
    for (const Order& order : all_orders()) {
        Setup setup(order, c);
        require_finding(setup.run(tile, true), "tensor-map-invalid", "the copy is in tile mode");
        Setup tiled(order, c);
        TensorMap map = c.map;
        map.im2col = false;
        map.address = tiled.tensor_at;
        map.box = {16, 4, 2, 0, 0};
        emu::write_tensor_map(map, std::span<std::byte, emu::tensor_map_bytes>(
                                       reinterpret_cast<std::byte*>(tiled.map_at), emu::tensor_map_bytes));
        require_finding(tiled.run(load(c) + ";", true), "tensor-map-invalid", "the copy is in im2col mode");
    }
}

TEST_CASE("What im2col copies lack is refused with the reason") {
    const std::string begin = "cp.async.bulk.tensor.", to_shared = ".shared::cluster.global",
                      at_barrier = ".mbarrier::complete_tx::bytes";
    const std::string three = " [area], [%rd0, {%r1, %r1, %r1}], [bar]";
    for (const auto& [wrong, why] : std::vector<std::array<std::string, 2>>{
             {begin + "3d" + to_shared + ".im2col::w" + at_barrier + three + ", {%h1, %h1}", "10.0"},
             {begin + "3d" + to_shared + ".im2col" + at_barrier + three + ", {%h1, %h1}", "offsets"},
             {begin + "3d" + to_shared + ".im2col" + at_barrier + three, "operand"},
             {begin + "3d" + to_shared + at_barrier + three + ", {%h1}", "operands"},
             {begin + "3d" + to_shared + ".im2col_no_offs" + at_barrier + three, "reads with .im2col"},
             {begin + "3d" + to_shared + ".tile.im2col" + at_barrier + three + ", {%h1}", "two modes"},
             {begin + "3d.global.shared::cta.im2col.bulk_group [%rd0, {%r1, %r1, %r1}], [area]",
              "writes with .im2col_no_offs"},
             {begin + "2d" + to_shared + ".im2col" + at_barrier + " [area], [%rd0, {%r1, %r1}], [bar], {%h1}",
              "3 dimensions"}}) {
        Machine machine;
        const auto outcome = machine.run(kernel(1, shared, wrong + ";"), {0});
        INFO(wrong << "\n" << outcome.message);
        REQUIRE(outcome.error == emu::LaunchError::unsupported);
        REQUIRE(outcome.message.find(why) != std::string::npos);
    }
}

namespace {

using Bytes = std::array<std::byte, emu::tensor_map_bytes>;

TensorMap map_of(const hardware::CopyCase& c) {
    const hardware::MapArguments m = c.map();
    TensorMap map;
    map.im2col = true;
    map.type = static_cast<TensorType>(m.type);
    map.rank = m.rank;
    map.address = m.address;
    std::copy_n(m.dims.begin(), 5, map.dims.begin());
    std::copy_n(m.strides.begin(), 4, map.strides.begin());
    std::copy_n(m.element_strides.begin(), 5, map.element_strides.begin());
    map.interleave = static_cast<emu::TensorInterleave>(m.interleave);
    map.swizzle = static_cast<TensorSwizzle>(m.swizzle);
    map.l2_promotion = static_cast<std::uint8_t>(m.l2_promotion);
    map.oob_fill = static_cast<std::uint8_t>(m.fill);
    map.box[0] = static_cast<std::uint32_t>(c.number("ch", 0));
    map.pixels_per_column = static_cast<std::uint32_t>(c.number("px", 0));
    const auto copy = [](const std::vector<std::int64_t>& from, std::array<std::int32_t, 3>& to) {
        for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
            to[i] = static_cast<std::int32_t>(from[i]);
    };
    copy(c.list("lo"), map.lower_corner);
    copy(c.list("hi"), map.upper_corner);
    return map;
}

void require_read_back(const Bytes& bytes, const TensorMap& wanted) {
    REQUIRE(emu::looks_encoded(bytes));
    const TensorMap map = emu::read_tensor_map(bytes);
    REQUIRE(map.im2col);
    REQUIRE_FALSE(emu::tensor_map_fault(map, true, true));
    REQUIRE(emu::tensor_map_fault(map, true, false));
    REQUIRE(map.type == wanted.type);
    REQUIRE(map.box[0] == wanted.box[0]);
    REQUIRE(map.pixels_per_column == wanted.pixels_per_column);
    for (std::size_t i = 0; i + 2 < wanted.rank; ++i) {
        REQUIRE(map.lower_corner[i] == wanted.lower_corner[i]);
        REQUIRE(map.upper_corner[i] == wanted.upper_corner[i]);
    }
    for (std::size_t i = 0; i < wanted.rank; ++i) {
        REQUIRE(map.dims[i] == wanted.dims[i]);
        REQUIRE(map.element_strides[i] == wanted.element_strides[i]);
        if (i > 0)
            REQUIRE(map.strides[i - 1] == wanted.strides[i - 1]);
    }
}

} // namespace

TEST_CASE(
    "Im2col maps have the bytes that an H200's driver writes and are read back; what it refuses is refused") {
    unsigned maps = 0, refusals = 0;
    for (const hardware::RecordLine& line : hardware::read_record(RECORDS "/im2col.txt")) {
        if (!line.arguments.starts_with("map "))
            continue;
        const TensorMap wanted = map_of(hardware::CopyCase(line.arguments));
        Bytes bytes;
        bytes.fill(std::byte{0xA5});
        const auto error = emu::encode_tensor_map(wanted, bytes);
        INFO(line.arguments << ": " << error.value_or("accepted"));
        if (!line.result.starts_with("0 ")) {
            ++refusals;
            REQUIRE(error);
            continue;
        }
        ++maps;
        REQUIRE_FALSE(error);
        std::array<std::uint64_t, 16> words;
        std::memcpy(words.data(), bytes.data(), sizeof words);
        REQUIRE(hardware::words_text(words) == line.result.substr(2));
        require_read_back(bytes, wanted);
        emu::replace_tensor_map_address(bytes, 0x7f0000001230);
        REQUIRE(emu::read_tensor_map(bytes).address == 0x7f0000001230);
    }
    REQUIRE(maps >= 100);
    REQUIRE(refusals >= 300);
}

TEST_CASE("A refused im2col map names the argument") {
    const auto legal = [] {
        TensorMap map =
            make(TensorType::f32, {64, 20, 12, 5}, {-1, -1}, {0, 0}, 16, 64, {0, 0, 0, 0}, {0, 0}).map;
        map.address = 0x10000;
        return map;
    };
    REQUIRE_FALSE(emu::tensor_map_error(legal()));
    for (const auto& [argument, change] : std::vector<std::pair<std::string, void (*)(TensorMap&)>>{
             {"tensorRank", [](TensorMap& m) { m.rank = 2; }},
             {"tensorRank", [](TensorMap& m) { m.rank = 6; }},
             {"globalDim[1]", [](TensorMap& m) { m.dims[1] = 1ull << 31; }},
             {"globalStrides[0]", [](TensorMap& m) { m.strides[0] = 8; }},
             {"pixelBoxLowerCorner[1]", [](TensorMap& m) { m.lower_corner[1] = -129; }},
             {"pixelBoxUpperCorner[0]", [](TensorMap& m) { m.upper_corner[0] = 128; }},
             {"pixelBoxUpperCorner[1]", [](TensorMap& m) { m.upper_corner[1] = -13; }},
             {"channelsPerPixel", [](TensorMap& m) { m.box[0] = 0; }},
             {"channelsPerPixel", [](TensorMap& m) { m.box[0] = 257; }},
             {"channelsPerPixel", [](TensorMap& m) { m.box[0] = 6; }},
             {"channelsPerPixel", [](TensorMap& m) { m.swizzle = TensorSwizzle::bytes32; }},
             {"pixelsPerColumn", [](TensorMap& m) { m.pixels_per_column = 0; }},
             {"pixelsPerColumn", [](TensorMap& m) { m.pixels_per_column = 1025; }},
             {"pixelsPerColumn", [](TensorMap& m) { m.box[0] = 256, m.pixels_per_column = 229; }},
             {"elementStrides[2]", [](TensorMap& m) { m.element_strides[2] = 9; }}}) {
        TensorMap map = legal();
        change(map);
        const auto error = emu::tensor_map_error(map);
        INFO(argument << ": " << (error ? emu::put_into_words(*error) : ""));
        REQUIRE(error);
        REQUIRE(emu::put_into_words(*error).starts_with(argument + " = "));
    }
}

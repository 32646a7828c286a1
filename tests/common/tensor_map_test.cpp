/// @file tensor_map_test.cpp
/// The tensor-map builder: each wrong argument is named with its rule before the driver is asked, and what
/// the builder lets pass the driver takes.
#include "workbook/buffer.hpp"
#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include "../hardware/tensor_records.hpp"
#include "device_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using namespace workbook;

namespace {

constexpr DeviceNeeds hopper{.compute_major = 9};

/// A tensor of 100 × 50 × 7 floats, rows dense, and a box of 32 × 8 × 2.
constexpr TensorLayout<3> legal{.dims = {100, 50, 7}, .strides = {400, 20'000}, .box = {32, 8, 2}};
constexpr std::size_t legal_elements = 100 * 50 * 7;

const float* address(std::uintptr_t value) { return reinterpret_cast<const float*>(value); }
constexpr std::uintptr_t somewhere = 0x10000;

struct Change {
    std::function<void(TensorLayout<3>&)> apply;
    std::string argument; ///< named first by the problem; empty: the layout stays legal
    std::string rule = "";
};

const std::vector<Change>& changes() {
    using Layout = TensorLayout<3>;
    static const std::vector<Change> all{
        {[](Layout&) {}, ""},
        {[](Layout& l) { l.dims[1] = 0; }, "dims[1] = 0", "1 to 2^32"},
        {[](Layout& l) { l.dims[2] = std::uint64_t{1} << 32; }, ""},
        {[](Layout& l) { l.dims[2] = (std::uint64_t{1} << 32) + 1; }, "dims[2] = 4294967297", "1 to 2^32"},
        {[](Layout& l) { l.strides[0] = 404; }, "strides[0] = 404", "multiple of 16 bytes"},
        {[](Layout& l) { l.strides[0] = 100; }, "strides[0] = 100", "strides count bytes, not elements"},
        // Elements may overlap and strides need not grow: the driver takes all of these.
        {[](Layout& l) { l.strides[0] = 112; }, ""},
        {[](Layout& l) { l.strides[0] = 384; }, ""},
        {[](Layout& l) { l.strides[1] = 128; }, ""},
        {[](Layout& l) {
             l.strides = {0, 0};
         },
         ""},
        {[](Layout& l) {
             l.strides = {416, 20'800};
         },
         ""},
        {[](Layout& l) { l.strides[0] = 0, l.dims[1] = 1; }, ""},
        {[](Layout& l) { l.strides[1] = std::uint64_t{1} << 40; }, "strides[1] = 1099511627776",
         "less than 2^40"},
        {[](Layout& l) { l.strides[1] = (std::uint64_t{1} << 40) - 16; }, ""},
        {[](Layout& l) { l.dims[1] = std::uint64_t{1} << 32; }, ""},
        {[](Layout& l) { l.box[1] = 0; }, "box[1] = 0", "1 to 256"},
        {[](Layout& l) { l.box[1] = 256; }, ""},
        {[](Layout& l) { l.box[2] = 257; }, "box[2] = 257", "1 to 256"},
        {[](Layout& l) {
             l.box = {64, 228, 4};
         },
         ""},
        {[](Layout& l) {
             l.box = {64, 229, 4};
         },
         "box: it has 234496 bytes", "shared memory holds 233472"},
        {[](Layout& l) {
             l.box = {64, 256, 8}, l.element_strides = {1, 2, 2};
         },
         ""},
        {[](Layout& l) {
             l.box = {256, 256, 256};
         },
         "box: it has 67108864 bytes", "shared memory"},
        {[](Layout& l) { l.box[0] = 30; }, "box[0] = 30", "has 120 bytes, it must be a multiple of 16"},
        {[](Layout& l) { l.box[0] = 4; }, ""},
        {[](Layout& l) { l.element_strides[1] = 0; }, "element_strides[1] = 0", "1 to 8"},
        {[](Layout& l) { l.element_strides[2] = 8; }, ""},
        {[](Layout& l) { l.element_strides[2] = 9; }, "element_strides[2] = 9", "1 to 8"},
        {[](Layout& l) { l.element_strides[0] = 2; }, ""},
        {[](Layout& l) { l.swizzle = Swizzle::bytes128; }, ""},
        {[](Layout& l) { l.swizzle = Swizzle::bytes64; }, "box[0] = 32",
         "128 bytes, this swizzle takes at most 64"},
        {[](Layout& l) { l.swizzle = Swizzle::bytes64, l.box[0] = 16; }, ""},
        {[](Layout& l) { l.swizzle = Swizzle::bytes32, l.box[0] = 12; }, "box[0] = 12", "at most 32"},
        {[](Layout& l) { l.swizzle = Swizzle::bytes32, l.box[0] = 8; }, ""},
        {[](Layout& l) { l.swizzle = static_cast<Swizzle>(4); }, "swizzle",
         "not a mode of compute capability 9.0"},
        {[](Layout& l) { l.l2_promotion = L2Promotion::bytes256; }, ""},
        {[](Layout& l) { l.l2_promotion = static_cast<L2Promotion>(4); }, "l2_promotion", "not a size"},
        {[](Layout& l) { l.out_of_bounds = OutOfBounds::nan; }, ""},
        {[](Layout& l) { l.out_of_bounds = static_cast<OutOfBounds>(2); }, "out_of_bounds", "not a fill"},
        {[](Layout& l) { l.interleave = static_cast<Interleave>(3); }, "interleave", "not a mode"},
        {[](Layout& l) { l.interleave = Interleave::bytes32, l.strides[0] = 416; }, ""},
        {[](Layout& l) { l.interleave = Interleave::bytes32, l.swizzle = Swizzle::bytes32; },
         "strides[0] = 400", "multiple of 32"},
    };
    return all;
}

} // namespace

TEST_CASE("each argument is checked, and the problem names it, its value and the rule") {
    for (const auto& [apply, argument, rule] : changes()) {
        TensorLayout<3> layout = legal;
        apply(layout);
        const std::string problem = tensor_map_problem(address(somewhere), layout);
        if (argument.empty())
            CHECK(problem == "");
        else
            CHECK_THAT(problem, StartsWith(argument) && ContainsSubstring(rule));
    }
}

TEST_CASE("the base address is checked") {
    CHECK(tensor_map_problem(address(0), legal) == "");
    CHECK_THAT(tensor_map_problem(address(std::uintptr_t{1} << 57), legal), ContainsSubstring("2^57"));
    CHECK_THAT(tensor_map_problem(address(somewhere + 8), legal),
               StartsWith("base = 65544: ") && ContainsSubstring("multiple of 16"));
    CHECK(tensor_map_problem(address(somewhere + 16), legal) == "");
}

TEST_CASE("what depends on rank and type is checked") {
    TensorLayout<2> flat{
        .dims = {100, 50}, .strides = {416}, .box = {8, 8}, .interleave = Interleave::bytes16};
    CHECK_THAT(tensor_map_problem(address(somewhere), flat),
               StartsWith("interleave: ") && ContainsSubstring("at least 3 dimensions"));
    const auto* integers = reinterpret_cast<const int*>(somewhere);
    TensorLayout<1> line{.dims = {5}, .box = {4}, .out_of_bounds = OutOfBounds::nan};
    CHECK_THAT(tensor_map_problem(integers, line), StartsWith("out_of_bounds: "));
    CHECK(tensor_map_problem(address(somewhere), line) == "");
    CHECK(tensor_map_problem(reinterpret_cast<const __half*>(somewhere),
                             TensorLayout<1>{.dims = {9}, .box = {8}}) == "");
    CHECK_THAT(tensor_map_problem(reinterpret_cast<const std::uint8_t*>(somewhere),
                                  TensorLayout<1>{.dims = {9}, .box = {8}}),
               StartsWith("box[0] = 8"));
}

TEST_CASE("the bytes of a box are those of the elements that are not skipped") {
    TensorLayout<3> layout = legal;
    CHECK(layout.count() == 32 * 8 * 2);
    layout.element_strides = {1, 3, 2};
    CHECK(layout.count(1) == 3);
    CHECK(layout.count() == 32 * 3 * 1);
    layout.element_strides[0] = 2; // takes no effect
    CHECK(layout.count() == 32 * 3 * 1);
}

TEST_CASE("a tile takes the pitch of its swizzle for each row") {
    TensorLayout<3> layout = legal;
    CHECK(tile_bytes<float>(layout) == 32 * 8 * 2 * 4);
    layout.box[0] = 4;
    CHECK(tile_bytes<float>(layout) == 16 * 8 * 2);
    layout.swizzle = Swizzle::bytes64;
    CHECK(tile_bytes<float>(layout) == 64 * 8 * 2);
    layout.element_strides = {1, 2, 1};
    CHECK(tile_bytes<float>(layout) == 64 * 4 * 2);
}

namespace {

/// What the builder says to the recorded arguments, for elements of type T.
template <class T, std::size_t rank>
std::string problem_of(const hardware::MapArguments& m) {
    TensorLayout<rank> layout;
    std::copy_n(m.dims.begin(), rank, layout.dims.begin());
    std::copy_n(m.strides.begin(), rank - 1, layout.strides.begin());
    std::copy_n(m.box.begin(), rank, layout.box.begin());
    std::copy_n(m.element_strides.begin(), rank, layout.element_strides.begin());
    layout.interleave = static_cast<Interleave>(m.interleave);
    layout.swizzle = static_cast<Swizzle>(m.swizzle);
    layout.l2_promotion = static_cast<L2Promotion>(m.l2_promotion);
    layout.out_of_bounds = static_cast<OutOfBounds>(m.fill);
    return tensor_map_problem(reinterpret_cast<const T*>(m.address), layout);
}

/// Nothing if there is no builder of this rank or type.
std::optional<std::string> problem_of(const hardware::MapArguments& m) {
    const auto with_rank = [&]<class T>(T) -> std::optional<std::string> {
        switch (m.rank) {
        case 1:
            return problem_of<T, 1>(m);
        case 2:
            return problem_of<T, 2>(m);
        case 3:
            return problem_of<T, 3>(m);
        case 4:
            return problem_of<T, 4>(m);
        case 5:
            return problem_of<T, 5>(m);
        default:
            return std::nullopt;
        }
    };
    switch (m.type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return with_rank(std::uint8_t{});
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        return with_rank(__half{});
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
        return with_rank(std::int32_t{});
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        return with_rank(float{});
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        return with_rank(std::uint64_t{});
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return with_rank(double{});
    default:
        return std::nullopt;
    }
}

} // namespace

TEST_CASE("the builder refuses what an H200's driver refused, and nothing else") {
    unsigned accepted = 0, refused = 0;
    for (const hardware::RecordLine& line : hardware::read_record(RECORDS "/tensor_maps.txt")) {
        if (line.arguments.empty())
            continue;
        const auto problem = problem_of(hardware::map_arguments(line.arguments));
        if (!problem)
            continue;
        const bool accepts = line.result.starts_with("0 ");
        ++(accepts ? accepted : refused);
        INFO(line.arguments << ": " << *problem);
        CHECK(problem->empty() == accepts);
    }
    CHECK(accepted > 500);
    CHECK(refused > 150);
}

TEST_CASE("the driver's names of the element types") {
    CHECK(tensor_data_type<float>() == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
    CHECK(tensor_data_type<double>() == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
    CHECK(tensor_data_type<__half>() == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    CHECK(tensor_data_type<__nv_bfloat16>() == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
    CHECK(tensor_data_type<std::byte>() == CU_TENSOR_MAP_DATA_TYPE_UINT8);
    CHECK(tensor_data_type<short>() == CU_TENSOR_MAP_DATA_TYPE_UINT16);
    CHECK(tensor_data_type<int>() == CU_TENSOR_MAP_DATA_TYPE_INT32);
    CHECK(tensor_data_type<unsigned>() == CU_TENSOR_MAP_DATA_TYPE_UINT32);
    CHECK(tensor_data_type<long long>() == CU_TENSOR_MAP_DATA_TYPE_INT64);
    CHECK(tensor_data_type<std::uint64_t>() == CU_TENSOR_MAP_DATA_TYPE_UINT64);
}

TEST_CASE("an error is one line that says where the map was asked for") {
    TensorLayout<2> layout{.dims = {101, 50}, .strides = {404}, .box = {32, 8}};
    std::string message;
    int line = 0;
    try {
        line = __LINE__ + 1;
        (void)make_tensor_map(address(somewhere), layout);
    } catch (const TensorMapError& error) {
        message = error.what();
    }
    CHECK_THAT(message,
               ContainsSubstring("tensor_map_test.cpp:" + std::to_string(line) + ": strides[0] = 404: "));
    CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("the driver takes what the builder lets pass") {
    require_device(hopper);
    const DeviceBuffer<float> tensor(legal_elements);
    for (const auto& [apply, argument, rule] : changes()) {
        TensorLayout<3> layout = legal;
        apply(layout);
        const auto make = [&] { return make_tensor_map(tensor.data(), layout); };
        if (argument.empty())
            CHECK_NOTHROW((void)make());
        else
            CHECK_THROWS_AS((void)make(), TensorMapError);
    }
}

TEST_CASE("the driver takes every rank and every element type") {
    require_device(hopper);
    const DeviceBuffer<std::byte> memory(4096);
    const auto make = [&]<class T>(T) {
        const auto* base = reinterpret_cast<const T*>(memory.data());
        constexpr std::uint32_t inner = 16;
        CHECK_NOTHROW((void)make_tensor_map(base, TensorLayout<1>{.dims = {17}, .box = {inner}}));
        CHECK_NOTHROW((void)make_tensor_map(
            base, TensorLayout<2>{.dims = {16, 3}, .strides = {128}, .box = {inner, 2}}));
        CHECK_NOTHROW((void)make_tensor_map(
            base,
            TensorLayout<4>{.dims = {16, 3, 2, 2}, .strides = {128, 384, 768}, .box = {inner, 2, 2, 1}}));
        CHECK_NOTHROW((void)make_tensor_map(base, TensorLayout<5>{.dims = {16, 3, 2, 2, 1},
                                                                  .strides = {128, 384, 768, 1536},
                                                                  .box = {inner, 2, 2, 1, 1}}));
    };
    make(std::uint8_t{});
    make(std::uint16_t{});
    make(int{});
    make(unsigned{});
    make(std::int64_t{});
    make(std::uint64_t{});
    make(float{});
    make(double{});
    make(__half{});
    make(__nv_bfloat16{});
}

TEST_CASE("different tensors have different maps") {
    require_device(hopper);
    const DeviceBuffer<float> tensor(legal_elements);
    const auto bytes = [&](const TensorLayout<3>& layout) {
        const CUtensorMap map = make_tensor_map(tensor.data(), layout);
        return std::vector<cuuint64_t>(std::begin(map.opaque), std::end(map.opaque));
    };
    TensorLayout<3> other = legal;
    other.swizzle = Swizzle::bytes128;
    CHECK(bytes(legal) == bytes(legal));
    CHECK(bytes(legal) != bytes(other));
}

TEST_CASE("rows of a matrix are padded to 16 bytes, and a shape fills its size without being square") {
    CHECK(row_pitch<int>(0) == 0);
    CHECK(row_pitch<int>(1) == 4);
    CHECK(row_pitch<int>(4) == 4);
    CHECK(row_pitch<std::byte>(17) == 32);
    CHECK(shape_of(0).width == 0);
    for (const std::size_t size : {1, 7, 100, 1025, 30'001}) {
        const Shape shape = shape_of(size);
        CHECK(shape.width * shape.height <= size);
        CHECK(shape.width * (shape.height + 1) > size);
        CHECK((shape.width > shape.height || size == 1));
        CHECK(shape.padded_size<int>() == row_pitch<int>(shape.width) * shape.height);
    }
}

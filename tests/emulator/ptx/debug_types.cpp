// Names of members from debug information. The offsets are those that offsetof gives for the same text, by
// the host's compiler.
#include "ptx_text.hpp"

#include "ptx/debug_bytes.hpp"
#include "ptx/debug_types.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

using namespace emu::ptx;
using namespace ptx_text;

namespace {

constexpr std::string_view sm = "_ZZ6kernelILi3EEvPfiE2sm", tile = "_ZZ6kernelILi3EEvPfiE4tile",
                           scalar = "_ZZ6kernelILi3EEvPfiE6scalar", pairs = "_ZZ6kernelILi3EEvPfiE5pairs";

const DebugTypes& types() {
    static const Module module = parse(data_file("members.ptx"));
    static const DebugTypes known(module);
    return known;
}

std::string in_sm(std::uint64_t offset) { return types().path(sm, 1696, offset).value_or("?"); }

} // namespace

TEST_CASE("members, elements, bases and anonymous parts have the names that the source gives them") {
    CHECK(in_sm(0) == ".count");
    CHECK(in_sm(16) == ".bias[3]");
    CHECK(in_sm(24) == ".stage[0].a[0][0]");
    CHECK(in_sm(948) == ".stage[1].a[12][5]");
    CHECK(in_sm(1576) == ".stage[2].bar");
    CHECK(in_sm(1616) == ".letter");
    CHECK(in_sm(1618) == ".small");
    CHECK(in_sm(1624) == ".kind");
    CHECK(in_sm(1640) == ".slots[1]"); // __elems_ is nobody's word
    CHECK(in_sm(1648) == ".full[0]");
    CHECK(in_sm(1672) == ".full[3]");
    CHECK(in_sm(1688) == ".last.z");
}

TEST_CASE("of a union the first member that reaches so far") {
    CHECK(in_sm(1584) == ".i[0]");
    CHECK(in_sm(1599) == ".i[3] + 3");
    CHECK(in_sm(1612) == ".f[7]");
}

TEST_CASE("a bit field is named by the bits of the byte") {
    CHECK(in_sm(1620) == ".flag"); // 3 bits, 5 of the next and then 17
    CHECK(in_sm(1621) == ".wide");
    CHECK(in_sm(1623) == ".wide"); // its last bit
}

TEST_CASE("bytes inside a value and in padding are counted from the last name") {
    CHECK(in_sm(949) == ".stage[1].a[12][5] + 1");
    CHECK(in_sm(1617) == " + 1617"); // behind the char, in a structure without a name
    CHECK(in_sm(1628) == " + 1628"); // behind the enumeration
    CHECK(types().path(pairs, 1800, 1798) == "[299][2]");
}

TEST_CASE("arrays, values and global variables") {
    CHECK(types().path(tile, 4224, 4 * (3 * 33 + 5)) == "[3][5]");
    CHECK(types().path(scalar, 8, 0) == "");
    CHECK(types().path(scalar, 8, 4) == " + 4");
    CHECK(types().path("table", 60, 4 * 7) == "[1][2]");
    CHECK(types().path("global_s", 1696, 1576) == ".stage[2].bar");
    CHECK(types().path("_ZN7weights8of_layerE", 28, 24) == "[6]");
    CHECK(types().path("packed", 8, 4) == "[1].value");         // not .tag, which has no data
    CHECK(types().path("row", 0, 16 * 1000 + 4) == "[1000].y"); // extern __shared__ float4 row[]
}

TEST_CASE("what is not known has no path, and its bytes are counted") {
    CHECK_FALSE(types().path("other", 4, 0));
    CHECK_FALSE(types().path(tile, 4220, 0)); // not the size of its type: they are not of one program
    CHECK(types().path(tile, 4224, 4224) == " + 4224");
    CHECK(types().behind_name("other", 8, 4) == " + 4");
    CHECK(types().behind_name("other", 8, 0).empty());
    CHECK(types().behind_name(tile, 4224, 4) == "[0][1]");
    const Module lines_only = parse(data_file("calls.ptx"));
    CHECK_FALSE(DebugTypes(lines_only).path("table", 12, 0));
}

TEST_CASE("two modules that were linked keep their own tables") {
    std::string text = data_file("members.ptx");
    const std::string sections = text.substr(text.find("\t.section\t.debug_abbrev"));
    const std::string other = ".global .align 4 .b8 second[24];\n.section .debug_abbrev {\n"
                              ".b8 1,17,1,0,0, 2,52,0,3,8,73,19,2,10,0,0, 3,1,1,73,19,0,0, 4,33,0,47,11,0,0\n"
                              ".b8 5,36,0,3,14,11,11,0,0, 0\n}\n"
                              ".section .debug_info {\n.b32 42\n.b8 2,0\n.b32 .debug_abbrev\n.b8 8\n.b8 1\n"
                              ".b8 2,115,0\n.b32 29\n.b8 9,3\n.b64 second\n"
                              ".b8 3\n.b32 39\n.b8 4,2,4,1,0\n"         // at 29: [3][2]
                              ".b8 5\n.b32 $L__name\n.b8 4\n.b8 0\n}\n" // at 39
                              ".section .debug_str {\n.b8 88,0\n$L__name:\n.b8 105,110,116,0\n}\n";
    const Module module = parse(text + other + sections);
    REQUIRE(module.debug_sections.size() == 9);
    const DebugTypes both(module);
    CHECK(both.path("second", 24, 20) == "[2][1]");
    CHECK(both.path(tile, 4224, 4) == "[0][1]");
}

TEST_CASE("lines of a section become bytes, and names stay names") {
    const DebugBytes all =
        debug_bytes("\n.b8 1,2,255\n$L__here:\n.b16 258\n.b32 .debug_str+3\n.b64 sym\n.b8 -1\n");
    CHECK(all.bytes == std::string("\1\2\377\2\1\3\0\0\0\0\0\0\0\0\0\0\0\377", 18));
    REQUIRE(all.names.size() == 2);
    CHECK(all.names.at(5) == "debug_str");
    CHECK(all.names.at(9) == "sym");
    CHECK(all.labels.at("$L__here") == 3);
    CHECK(debug_bytes(".b8 7\n.b8 ?\n.b8 8").bytes == "\7");
    CHECK(debug_bytes(".b32 $L__b-$L__a").bytes.size() == 4);
}

TEST_CASE("damaged debug information gives names or none, and no more") {
    const std::string original = data_file("members.ptx");
    const std::size_t first = original.find(".debug_abbrev");
    std::mt19937 random(20260101);
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    unsigned named = 0, lost = 0;
    for (unsigned round = 0; round < 400; ++round) {
        std::string text = original;
        for (std::size_t count = 1 + below(8); count > 0; --count) {
            // A number becomes another one: what a damaged file, or another compiler, would have there.
            const std::size_t at = text.find(".b8 ", first + below(text.size() - first));
            if (at != std::string::npos)
                text.replace(at + 4, text.find_first_of(",\n", at) - at - 4, std::to_string(below(256)));
        }
        const Module module = parse(std::move(text));
        const DebugTypes known(module);
        for (const Variable& each : module.variables)
            for (const std::uint64_t offset : {std::uint64_t{0}, each.size / 2, ~std::uint64_t{0} / 4})
                ++(known.path(each.name, each.size, offset) ? named : lost);
        for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1696}})
            ++(known.path(sm, size, 948) ? named : lost);
    }
    CHECK(named > 500);
    CHECK(lost > 500);
}

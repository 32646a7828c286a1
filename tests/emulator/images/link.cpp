// The PTX linker: what programs built with -rdc=true need.

#include "images/link.hpp"
#include "ptx/parser.hpp"

#include <catch2/catch_test_macros.hpp>

#include <stdexcept>
#include <string>

using emu::cuda::link_ptx;

namespace {

const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

const std::string caller = header + R"(
.extern .func (.param .b32 result) twice(.param .b32 x);
.extern .global .align 4 .u32 offset;
.global .align 4 .u32 local = 1; // twice "offset" { in a comment
.visible .entry run(.param .u64 out)
{
    .reg .b32 %r<3>;
    .loc 1 7 0
    ld.global.u32 %r1, [offset];
    ld.global.u32 %r2, [local];
    ret;
}
.file 1 "caller.cu"
)";

const std::string callee = header + R"(
.visible .global .align 4 .u32 offset = 5;
.global .align 4 .u32 local = 100;
.visible .func (.param .b32 result) twice(.param .b32 x)
{
    .reg .b32 %r<3>;
    .loc 1 3 0
    ld.global.u32 %r1, [local];
    ret;
}
.file 1 "callee.cu"
)";

} // namespace

TEST_CASE("one module passes unchanged") { CHECK(link_ptx({caller}) == caller); }

TEST_CASE("external names meet their definitions, local ones stay apart") {
    const std::string linked = link_ptx({caller, callee});
    INFO(linked);
    const emu::ptx::Module module = emu::ptx::parse(linked);
    REQUIRE(module.find_variable("offset") >= 0);
    CHECK(module.variables[static_cast<std::size_t>(module.find_variable("offset"))].linkage !=
          emu::ptx::Linkage::external);
    CHECK(module.find_variable("local") >= 0);
    CHECK(module.variables.size() == 3);
    const auto twice = module.find_function("twice");
    REQUIRE(twice >= 0);
    CHECK(module.functions[static_cast<std::size_t>(twice)].has_body);
}

TEST_CASE("source lines keep their files") {
    const emu::ptx::Module module = emu::ptx::parse(link_ptx({caller, callee}));
    const auto file_of = [&](const char* function) {
        const auto& f = module.functions[static_cast<std::size_t>(module.find_function(function))];
        for (const auto& instruction : f.body)
            if (instruction.location)
                return module.files[module.locations[instruction.location].file];
        return std::string();
    };
    CHECK(file_of("run") == "caller.cu");
    CHECK(file_of("twice") == "callee.cu");
}

TEST_CASE("of weak duplicates the first is kept, strong ones are an error") {
    const std::string weak = header + ".weak .global .align 4 .u32 shared_once = 1;\n";
    const std::string strong = header + ".visible .global .align 4 .u32 once = 1;\n";
    CHECK(emu::ptx::parse(link_ptx({weak, weak})).variables.size() == 1);
    CHECK_THROWS_AS(link_ptx({strong, strong}), std::runtime_error);
}

TEST_CASE("damaged modules do not make the linker fail") {
    for (std::size_t size = 0; size < caller.size(); ++size)
        CHECK_FALSE(link_ptx({caller.substr(0, size), callee}).empty());
}

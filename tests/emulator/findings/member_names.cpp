// What messages call a byte of a variable.
#include "ptx_text.hpp"

#include "findings/log.hpp"
#include "findings/places.hpp"
#include "machine/device.hpp"
#include "machine/variable_names.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu;

namespace {

/// The kernel of members.ptx in a launch with 64 bytes of dynamic shared memory.
struct Launched {
    explicit Launched(const std::string& text, const char* name = "_Z6kernelILi3EEvPfi")
        : program(std::static_pointer_cast<Program>(device.load(text))) {
        info.kernel = program->kernel(name);
        info.config.dynamic_shared = 64;
        info.shared_size = info.kernel->dynamic_shared_offset + 64;
    }
    /// Of a byte of a static variable, given by the end of its symbol.
    std::string name(std::string_view variable, std::uint32_t offset) const {
        const DecodedFunction& function = info.kernel->entry();
        for (std::size_t i = 0; i < function.variables.size(); ++i)
            if (function.source->variables[i].name.ends_with(variable))
                return shared_name(info, function.variables[i].offset + offset);
        return "no such variable";
    }
    std::string dynamic_name(std::uint32_t offset) const {
        return shared_name(info, info.kernel->dynamic_shared_offset + offset);
    }
    std::string global_name(std::string_view symbol, std::uint64_t offset) {
        const std::int64_t index = program->module().find_variable(symbol);
        const auto found = device.memory().find(program->variable_address(static_cast<std::uint32_t>(index)));
        return global_byte_name(*program, *found, offset);
    }

    Device device{MachineSettings{}, make_reporter()};
    std::shared_ptr<Program> program;
    LaunchInfo info;
};

std::string without_debug_information(const std::string& text) {
    return text.substr(0, text.find("\t.section\t.debug_abbrev"));
}

} // namespace

TEST_CASE("with debug information, members and elements are named") {
    Launched launched(ptx_text::data_file("members.ptx"));
    CHECK(launched.name("E2sm", 1648) == "sm.full[0]");
    CHECK(launched.name("E2sm", 948) == "sm.stage[1].a[12][5]");
    CHECK(launched.name("E4tile", 4 * 104) == "tile[3][5]");
    CHECK(launched.name("E6scalar", 0) == "scalar");
    CHECK(launched.dynamic_name(20) == "row[1].y");
    CHECK(launched.dynamic_name(64) == "right behind 64 bytes of dynamic shared memory");
    CHECK(launched.global_name("global_s", 1576) == "global_s.stage[2].bar");
    CHECK(launched.global_name("_ZN7weights8of_layerE", 24) == "weights::of_layer[6]");
}

TEST_CASE("without it, variables and bytes") {
    Launched launched(without_debug_information(ptx_text::data_file("members.ptx")));
    CHECK(launched.name("E2sm", 1648) == "sm + 1648");
    CHECK(launched.name("E2sm", 0) == "sm");
    CHECK(launched.dynamic_name(20) == "dynamic shared memory + 20");
    CHECK(launched.global_name("global_s", 1576) == "global_s + 1576");
    CHECK(launched.global_name("_ZN7weights8of_layerE", 0) == "weights::of_layer");
}

TEST_CASE("dynamic shared memory of bytes, or with several names, has no members") {
    std::string text = ptx_text::data_file("members.ptx");
    const std::size_t row = text.find(".extern .shared");
    const Launched several(text.substr(0, row) + ".extern .shared .align 16 .b8 other[];\n" +
                               text.substr(row) +
                               ".visible .entry two() { .reg .u32 %r; mov.u32 %r, row; mov.u32 %r, other; }",
                           "two");
    CHECK(several.dynamic_name(20) == "dynamic shared memory + 20");
    const std::string before = ".b8 3\n.b64 row\n";
    const std::size_t address = text.find(before);
    REQUIRE(address != std::string::npos);
    text.replace(address, before.size(), ".b8 3\n.b64 raw\n");
    const Launched unknown(text);
    CHECK(unknown.dynamic_name(20) == "dynamic shared memory + 20");
}

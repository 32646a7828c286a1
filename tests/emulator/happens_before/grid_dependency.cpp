// What a kernel that may begin before another one ends did before it waited, and behind where it let others
// begin.

#include "happens_before/grid_dependency.hpp"
#include "hopper_emulator/device.hpp"
#include "hopper_emulator/grid_dependency.hpp"
#include "machine/async_support.hpp"

#include <future>

using emu::FootprintPiece;
using emu::Touch;

namespace {

const std::string wait = "griddepcontrol.wait;\n", trigger = "griddepcontrol.launch_dependents;\n";

struct Ran {
    emu::Address in = 0, out = 0;
    emu::LaunchResult result;

    /// "read of in + 4", … of each piece that is early.
    std::vector<std::string> early() const {
        std::vector<std::string> said;
        for (const FootprintPiece& piece : result.grids->early->pieces) {
            const bool of_in = piece.begin < out;
            CHECK(piece.end - piece.begin == 4);
            said.push_back((piece.touch == Touch::read           ? "read of "
                            : piece.touch == Touch::write        ? "write of "
                            : piece.touch == Touch::strong_write ? "strong write of "
                                                                 : "other touch of ") +
                           std::string(of_in ? "in" : "out") + " + " +
                           std::to_string(piece.begin - (of_in ? in : out)));
        }
        return said;
    }
};

/// One thread; `dependent`: another grid, which has ended, stands before the launch.
Ran run(const std::string& body, bool dependent = true) {
    emu::Device device(emu::Settings{}, emu::make_reporter());
    device.add_observer(emu::check::make_grid_observer());
    Ran ran;
    ran.in = device.memory().allocate(1024, emu::Allocation::Kind::device);
    ran.out = device.memory().allocate(1024, emu::Allocation::Kind::device);
    std::fill_n(reinterpret_cast<std::uint32_t*>(ran.in), 256, 7u);
    std::fill_n(reinterpret_cast<std::uint32_t*>(ran.out), 256, 0u);
    REQUIRE(ran.in < ran.out);
    const std::array<std::uint64_t, 2> parameters{ran.in, ran.out};
    const auto module = device.load(async_test::kernel(2, ".shared .align 16 .b8 tile[64];", body));
    emu::LaunchOutcome refused;
    const auto launch = device.prepare(*module, "k", {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                                       std::as_bytes(std::span(parameters)), 0, false, refused);
    INFO(refused.message);
    REQUIRE(launch);
    if (dependent)
        emu::Device::grids(*launch).depend(true);
    std::promise<emu::LaunchResult> result;
    device.start(launch, {.on_end = [&](emu::LaunchResult r) { result.set_value(std::move(r)); }});
    ran.result = result.get_future().get();
    REQUIRE(ran.result.diagnostics.empty());
    return ran;
}

const std::string load_0 = "ld.global.u32 %r1, [%rd0];\n", load_4 = "ld.global.u32 %r1, [%rd0+4];\n";
const std::string store_8 = "st.global.u32 [%rd1+8], %r1;\n";
const std::string copy = "cp.async.ca.shared.global [tile], [%rd0+64], 4;\ncp.async.wait_all;\n";

} // namespace

TEST_CASE("griddepcontrol: what comes before the wait is early, what comes behind it is not") {
    using Said = std::vector<std::string>;
    CHECK(run(load_0 + wait + load_4 + store_8).early() == Said{"read of in + 0"});
    CHECK(run(load_0 + store_8 + wait + load_4).early() == Said{"read of in + 0", "write of out + 8"});
    CHECK(run("atom.global.add.u32 %r1, [%rd1+8], 1;\n" + wait).early() == Said{"strong write of out + 8"});
    CHECK(run(copy + wait + load_4).early() == Said{"read of in + 64"});
    CHECK(run(wait + load_0 + store_8 + copy).early().empty());
    // Nothing stands before the launch.
    CHECK(run(load_0 + wait + load_4, false).early().empty());
}

TEST_CASE("griddepcontrol: reads behind the trigger are noted, those before it are not") {
    const auto behind = [](const std::string& body) { return run(body).result.grids->behind_trigger.size(); };
    CHECK(behind(load_0 + trigger) == 0);
    CHECK(behind(load_0 + trigger + load_4) == 1);
    CHECK(behind(copy + trigger) == 0);
    CHECK(behind(trigger + copy) == 1);
    CHECK(behind(trigger + load_0 + load_4 + copy + store_8) == 3);
}

TEST_CASE("griddepcontrol: whether a thread waited, let others begin, and which of the two came first") {
    struct Row {
        std::string body;
        bool triggered, waited, waited_first;
    };
    for (const Row& row : {Row{wait, false, true, true}, Row{trigger, true, false, false},
                           Row{wait + trigger, true, true, true}, Row{trigger + wait, true, true, false}}) {
        INFO(row.body);
        const auto grids = run(row.body).result.grids;
        REQUIRE(grids);
        CHECK(grids->triggered == row.triggered);
        CHECK(grids->waited == row.waited);
        CHECK(grids->waited_first == row.waited_first);
    }
    CHECK_FALSE(run(load_0).result.grids); // It does not use griddepcontrol at all.
}

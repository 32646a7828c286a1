// setmaxnreg: by whole warpgroups, and no more registers than the launch gave.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

/// Three warpgroups that were given 168 registers for each thread, or what other directives say.
emu::LaunchOutcome run_groups(const std::string& producer, const std::string& consumer,
                              std::uint32_t threads = 384, const std::string& directives = ".maxnreg 168") {
    Case c{"", "setp.lt.u32 %p1, %r0, 128;\nsetp.lt.u32 %p2, %r0, 32;\n@!%p1 bra OTHERS;\n" + producer +
                   "\nbra DONE;\nOTHERS:\n" + consumer + "\nDONE:\n"};
    std::string text = c.text();
    text.replace(text.find(")\n{"), 3, ")\n" + directives + "\n{");
    emu::Device device(emu::Settings{}, emu::make_reporter());
    device.add_observer(emu::make_checks());
    const std::array<std::uint64_t, 2> parameters{};
    const auto program = device.load(text);
    return device.launch(*program, "k", {{1, 1, 1}, {threads, 1, 1}, {1, 1, 1}, 0, false},
                         std::as_bytes(std::span(parameters)));
}

std::string found(const emu::LaunchOutcome& outcome) {
    std::string all;
    for (const auto& each : outcome.result.diagnostics)
        all += emu::format(each);
    return all;
}

const std::string dec_40 = "setmaxnreg.dec.sync.aligned.u32 40;",
                  dec_24 = "setmaxnreg.dec.sync.aligned.u32 24;";
const std::string inc_232 = "setmaxnreg.inc.sync.aligned.u32 232;",
                  inc_240 = "setmaxnreg.inc.sync.aligned.u32 240;";

} // namespace

TEST_CASE("divergent-setmaxnreg: one warp of a warpgroup executes it") {
    CHECK(found(run_groups(dec_40, inc_232)).empty());
    // A branch that only one warp takes; the instruction in all, though, is one by its meaning.
    CHECK(
        found(run_groups("@%p2 bra FIRST;\n" + dec_40 + "\nbra DONE;\nFIRST:\n" + dec_40, inc_232)).empty());
    const std::string one = found(run_groups("@!%p2 bra DONE;\n" + dec_40, ""));
    CHECK(one.find("divergent-setmaxnreg") != std::string::npos);
    CHECK(one.find("only 1 of the 4 warps of its warpgroup") != std::string::npos);
    const std::string other =
        found(run_groups("@%p2 bra FIRST;\n" + dec_40 + "\nbra DONE;\nFIRST:\n" + dec_24, ""));
    INFO(other);
    CHECK(other.find("executed another one in its place") != std::string::npos);
    // The last warpgroup of the block has one warp.
    CHECK(found(run_groups(dec_40, "", 160)).empty());
}

TEST_CASE("setmaxnreg takes a multiple of 8 from 24 to 256, as ptxas has it") {
    const auto refused = [](const std::string& count) {
        return run_groups("setmaxnreg.dec.sync.aligned.u32 " + count + ";", "").message;
    };
    for (const char* count : {"24", "256", "152"})
        CHECK(refused(count).empty());
    for (const char* count : {"16", "157", "264", "0"})
        CHECK(refused(count).find("takes a multiple of 8 from 24 to 256, not " + std::string(count)) !=
              std::string::npos);
}

TEST_CASE("deadlock: more registers are asked for than the launch gave") {
    CHECK(found(run_groups(dec_24, inc_240)).empty());
    const std::string starved = found(run_groups(dec_40, inc_240));
    CHECK(starved.find("error[deadlock]") != std::string::npos);
    CHECK(starved.find("setmaxnreg.inc 240") != std::string::npos);
    CHECK(starved.find("setmaxnreg.dec 24") != std::string::npos);
    CHECK(starved.find("setmaxnreg.inc 232") != std::string::npos);
}

TEST_CASE("deadlock: launch bounds say what the launch gave") {
    const std::string bounds = ".maxntid 384, 1, 1\n.minnctapersm 1";
    CHECK(found(run_groups(dec_40, inc_232, 384, bounds)).empty());
    CHECK(found(run_groups(dec_40, inc_240, 384, bounds)).find("the launch gave 168") != std::string::npos);
    // 96 for each of 640 threads: an H200 hangs with 40 and four times 112, not with 40 and four times 104.
    const std::string five = ".maxntid 640, 1, 1\n.minnctapersm 1";
    const std::string inc_112 = "setmaxnreg.inc.sync.aligned.u32 112;",
                      inc_104 = "setmaxnreg.inc.sync.aligned.u32 104;";
    CHECK(found(run_groups(dec_40, inc_112, 640, five)).find("the launch gave 96") != std::string::npos);
    CHECK(found(run_groups(dec_40, inc_104, 640, five)).empty());
    // Without the number of blocks the assembler need not give all.
    CHECK(found(run_groups(dec_40, inc_240, 384, ".maxntid 384, 1, 1")).empty());
}

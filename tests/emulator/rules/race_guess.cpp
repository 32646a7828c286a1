// Ordinary loads that race with atomic updates: silent where the thread updates the place itself afterwards,
// and a finding where only a barrier is missing.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {
const std::string barrier = "bar.sync 0;\n";
const std::string zero =
    addresses(64) + "@%p0 st.shared.v2.u32 [tile], {0, 0};\n" + barrier + "mov.u32 %r12, tile;\n";
} // namespace

TEST_CASE("a compare-and-swap loop may begin with an ordinary load") {
    const auto loop = [](const std::string& space, const std::string& place, const std::string& update) {
        return "ld." + space + ".u32 %r13, [" + place + "];\nAGAIN:\nadd.u32 %r14, %r13, 3;\natom." + space +
               ".cas.b32 %r15, [" + update +
               "], %r13, %r14;\nsetp.ne.u32 %p1, %r13, %r15;\nmov.u32 %r13, %r15;\n" + "@%p1 bra AGAIN;\n";
    };
    require_silent({tile, zero + loop("shared", "tile", "%r12"), 64});
    require_silent({tile, zero + loop("shared", "%r12", "tile"), 64});
    require_silent({"", loop("global", "%rd1", "%rd1"), 64, 4});
    require_silent({"", "add.u64 %rd9, %rd1, 8;\n" + loop("global", "%rd1+8", "%rd9"), 64, 4});
}

TEST_CASE("a look at the maximum before it is raised is no race") {
    const std::string raise = "ld.global.u32 %r13, [%rd1];\nsetp.gt.u32 %p1, %r0, %r13;\n@!%p1 bra DONE;\n"
                              "red.global.max.u32 [%rd1], %r0;\nDONE:\n";
    require_silent({"", "mov.u32 %r0, %tid.x;\n" + raise, 96, 4});
}

TEST_CASE("a loop that counts its rounds in shared memory until there are enough") {
    require_silent(
        {tile, zero + "ROUND:\nld.shared.u32 %r13, [tile];\nsetp.ge.u32 %p1, %r13, 200;\n@%p1 bra DONE;\n"
                      "atom.shared.add.u32 %r14, [%r12], 1;\nbra ROUND;\nDONE:\n"});
}

TEST_CASE("a load behind the update, or of another place, is a race as before") {
    const std::string update = "atom.shared.add.u32 %r14, [%r12], 1;//!\n";
    const std::string load = "ld.shared.u32 %r13, [tile];//!\nst.global.u32 [%rd11], %r13;\n";
    require_found("race-shared", {tile, zero + update + load});
    // Another update comes, but only behind a barrier.
    require_found("race-shared",
                  {tile, zero + update + load + barrier + "atom.shared.add.u32 %r14, [%r12], 1;\n"});
    // The update behind the load is of the next word.
    require_found("race-shared", {tile, zero + update + load + "atom.shared.add.u32 %r14, [%r12+4], 1;\n"});
}

TEST_CASE("a load in front of an update that does not depend on it is a race") {
    const std::string load = "ld.global.u32 %r13, [%rd1];//!\n";
    const std::string add = "red.global.add.u32 [%rd1], 1;//!\n";
    const std::string out =
        "mov.u32 %r5, %ctaid.x;\nmul.wide.u32 %rd10, %r5, 4;\nadd.u64 %rd9, %rd1, %rd10;\n"
        "add.u64 %rd9, %rd9, 64;\n";
    require_found("race-global", {"", load + add, 64, 4});
    require_found("race-global", {"", out + load + "st.global.u32 [%rd9], %r13;\n" + add, 1, 4});
    // What the value decides is something else, before the update or instead of nothing.
    require_found("race-global", {"",
                                  out + load +
                                      "setp.gt.u32 %p1, %r13, 9;\n@!%p1 bra NO;\nred.global.add.u32 "
                                      "[%rd9], 1;\nNO:\n" +
                                      add,
                                  1, 4});
    // In a loop, too.
    require_found("race-global",
                  {"",
                   out + "mov.u32 %r0, 0;\nAGAIN:\n" + load +
                       "setp.gt.u32 %p1, %r13, 9;\n@!%p1 bra NO;\nred.global.add.u32 [%rd9], 1;\nNO:\n" +
                       add + "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p2, %r0, 3;\n@%p2 bra AGAIN;\n",
                   1, 4});
}

TEST_CASE("a value may decide an update in any way") {
    const std::string load = "ld.global.u32 %r13, [%rd1];\n";
    const auto silent = [](const std::string& body) { require_silent({"", body, 1, 4}); };
    // The operand, by arithmetic, by selection and by a branch.
    silent(load + "mul.lo.u32 %r14, %r13, 3;\nred.global.add.u32 [%rd1], %r14;\n");
    silent(load + "setp.gt.u32 %p1, %r13, 9;\nselp.u32 %r14, 1, 2, %p1;\nred.global.add.u32 [%rd1], %r14;\n");
    silent(load + "setp.gt.u32 %p1, %r13, 9;\nmov.u32 %r14, 1;\n@%p1 bra SMALL;\nmov.u32 %r14, 2;\nSMALL:\n"
                  "red.global.add.u32 [%rd1], %r14;\n");
    // Whether it comes: by its own guard, an early end, a branch.
    silent(load + "setp.gt.u32 %p1, %r13, 9;\n@%p1 red.global.add.u32 [%rd1], 1;\n");
    silent(load + "setp.gt.u32 %p1, %r13, 9;\n@%p1 exit;\nred.global.add.u32 [%rd1], 1;\n");
    // When: a thread waits until the place is free.
    silent("mov.u32 %r0, 0;\nAGAIN:\n" + load +
           "add.u32 %r0, %r0, 1;\nsetp.gt.u32 %p1, %r13, %r0;\n@%p1 bra AGAIN;\nred.global.add.u32 [%rd1], "
           "1;\n");
    // Through memory of the thread's own.
    silent(".local .align 4 .b32 own;\n" + load +
           "st.local.u32 [own], %r13;\nld.local.u32 %r14, [own];\n"
           "red.global.max.u32 [%rd1], %r14;\n");
}

TEST_CASE("an exchange may give shared memory its first value, an addition may not") {
    const auto first = [](const std::string& update) {
        return Case{tile, "mov.u32 %r12, tile;\natom.shared." + update + ";\n" + barrier +
                              "ld.shared.u32 %r14, [tile];\n" + addresses(64) +
                              "st.global.u32 [%rd11], %r14;\n"};
    };
    require_silent(first("exch.b32 %r13, [%r12], 0"));
    Case sum = first("add.u32 %r13, [%r12], 1");
    sum.body.replace(sum.body.find(", 1;\n"), 5, ", 1;//!\n");
    sum.body.replace(sum.body.rfind(";\n"), 2, ";//!\n");
    require_found("uninitialised-shared", sum);
}

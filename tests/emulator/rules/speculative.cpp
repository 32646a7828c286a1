// Loads that the compiler executes for all threads although the program wants the value in some of them.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

/// Thread 0 writes a word of shared memory before or behind a load by all threads. `decision` sets %p2 from
/// the value %r13; %p0 is true in thread 0, %p3 in all.
Case around(const std::string& decision, bool write_first, bool marked) {
    const std::string mark = marked ? "//!\n" : "\n";
    const std::string zero =
        addresses(64) + "setp.lt.u32 %p3, %r0, 64;\n@%p0 st.shared.u32 [tile], 0;\nbar.sync 0;\n";
    const std::string write = "@%p0 st.shared.u32 [tile], 5;" + mark;
    const std::string read =
        "ld.shared.u32 %r13, [tile];" + mark + decision + "@%p2 st.global.u32 [%rd11], 1;\n";
    return {tile, zero + (write_first ? write + read : read + write), 64};
}

void require_both_ways(const std::string& of_thread_0, const std::string& of_all) {
    for (const bool write_first : {true, false}) {
        INFO(of_thread_0 << (write_first ? "written before" : "written behind"));
        require_silent(around(of_thread_0, write_first, false));
        require_found("race-shared", around(of_all, write_first, true));
    }
}

} // namespace

TEST_CASE("a comparison that another predicate hides is no read") {
    const std::string compare = "setp.eq.u32 %p1, %r13, 5;\n";
    require_both_ways(compare + "and.pred %p2, %p0, %p1;\n", compare + "and.pred %p2, %p3, %p1;\n");
    require_both_ways(compare + "and.pred %p2, %p1, %p0;\n", compare + "and.pred %p2, %p1, %p3;\n");
    require_both_ways("setp.eq.and.u32 %p2, %r13, 5, %p0;\n", "setp.eq.and.u32 %p2, %r13, 5, %p3;\n");
    require_both_ways("setp.ne.and.u32 %p2, %r13, 5, %p0;\n", "setp.ne.or.u32 %p2, %r13, 5, %p0;\n");
}

TEST_CASE("the same with or, which true hides") {
    const std::string compare =
        "setp.ne.u32 %p1, %r13, 5;\nsetp.ne.u32 %p4, %r0, 0;\nsetp.ge.u32 %p5, %r0, 64;\n";
    require_both_ways(compare + "or.pred %p2, %p4, %p1;\n", compare + "or.pred %p2, %p5, %p1;\n");
    require_both_ways(compare + "or.pred %p2, %p1, %p4;\nnot.pred %p2, %p2;\n",
                      compare + "or.pred %p2, %p1, %p5;\nnot.pred %p2, %p2;\n");
}

TEST_CASE("a chain of predicates, of which any may hide the value") {
    const std::string compare =
        "shr.u32 %r14, %r13, 1;\nsetp.eq.u32 %p1, %r14, 2;\nsetp.ne.u32 %p4, %r6, 0;\n";
    require_both_ways(compare + "and.pred %p5, %p1, %p4;\nand.pred %p2, %p5, %p0;\n",
                      compare + "and.pred %p5, %p1, %p4;\nand.pred %p2, %p5, %p3;\n");
}

TEST_CASE("a value that is selected only where the thread wants it") {
    const std::string test = "setp.eq.u32 %p2, %r14, 5;\n";
    require_both_ways("selp.b32 %r14, %r13, 9, %p0;\n" + test, "selp.b32 %r14, %r13, 9, %p3;\n" + test);
    require_both_ways("setp.ne.u32 %p4, %r0, 0;\nselp.b32 %r14, 9, %r13, %p4;\n" + test,
                      "setp.ne.u32 %p4, %r0, 0;\nselp.b32 %r14, %r13, 9, %p4;\n" + test);
}

TEST_CASE("a value that is used elsewhere too has been read") {
    const std::string hidden = "setp.eq.u32 %p1, %r13, 5;\nand.pred %p2, %p0, %p1;\n";
    require_found("race-shared", around(hidden + "st.global.u32 [%rd11+256], %r13;\n", true, true));
    require_found("race-shared", around(hidden + "st.global.u32 [%rd11+256], %r13;\n", false, true));
}

TEST_CASE("two loads that are compared are hidden together, and used together") {
    const auto compared = [](const char* order, const char* other) {
        return "ld.shared.u32 %r15, [%r10+256];\nsetp.eq.u32 %p1, " + std::string(order) +
               ";\nand.pred %p2, %p1, " + other + ";\n";
    };
    for (const char* order : {"%r13, %r15", "%r15, %r13"})
        for (const bool write_first : {true, false}) {
            const auto program = [&](const char* other, bool marked) {
                Case c = around(compared(order, other), write_first, marked);
                c.body.replace(c.body.find("@%p0 st"), 0, "st.shared.u32 [%r10+256], 3;\n");
                return c;
            };
            INFO(order << (write_first ? " written before" : " written behind"));
            require_silent(program("%p0", false));
            require_found("race-shared", program("%p3", true));
        }
}

TEST_CASE("of two hidden values the one that is used has been read") {
    const std::string hidden =
        "ld.shared.u32 %r15, [%r10+256];\nsetp.eq.u32 %p4, %r15, 3;\n"
        "and.pred %p5, %p0, %p4;\nsetp.eq.u32 %p1, %r13, 5;\nand.pred %p2, %p0, %p1;\n";
    for (const bool write_first : {true, false}) {
        const auto program = [&](const std::string& use, bool marked) {
            Case c = around(hidden + use, write_first, marked);
            c.body.replace(c.body.find("@%p0 st"), 0, "st.shared.u32 [%r10+256], 3;\n");
            return c;
        };
        INFO((write_first ? "written before" : "written behind"));
        require_silent(program("st.global.u32 [%rd11+256], %r15;\n", false));
        require_found("race-shared", program("st.global.u32 [%rd11+256], %r13;\n", true));
    }
}

TEST_CASE("what leaves the thread's registers, or goes through other arithmetic, is used") {
    const std::string hidden = "setp.eq.u32 %p1, %r13, 5;\nand.pred %p2, %p0, %p1;\n";
    for (const char* use : {"st.shared.u32 [%r10+256], %r13;\n", "shfl.sync.idx.b32 %r14, %r13, 0, 31, -1;\n",
                            "mul.lo.u32 %r14, %r13, 3;\n", "setp.eq.u32 %p4|%p5, %r13, 7;\n",
                            "setp.eq.u32 %p4, %r13, 7;\n@%p4 st.global.u32 [%rd11+256], 2;\n",
                            "add.u32 %r14, %r13, 1;\nst.global.u32 [%rd11+256], %r14;\n"}) {
        INFO(use);
        require_found("race-shared", around(hidden + use, true, true));
        require_found("race-shared", around(hidden + use, false, true));
    }
}

TEST_CASE("a register that holds the hidden value of some lanes and a new one of others") {
    // As nvcc writes a loop in which thread 0 changes the variable: its own value is in the register already.
    const std::string round = "setp.eq.u32 %p1, %r13, 5;\nand.pred %p2, %p0, %p1;\n"
                              "@%p2 st.global.u32 [%rd11], 1;\n@!%p0 bra L;\nld.global.u32 %r13, [%rd10];\n"
                              "st.shared.u32 [tile], %r13;\nL:\n";
    const auto rounds = [&](const std::string& guard) {
        std::string second = round;
        second.replace(second.find("L;"), 2, "M;");
        second.replace(second.find("L:"), 2, "M:");
        second.replace(second.find("%p0, %p1"), 3, guard);
        return Case{tile,
                    addresses(64) +
                        "setp.lt.u32 %p3, %r0, 64;\n@%p0 st.shared.u32 [tile], 0;\nbar.sync 0;\n"
                        "ld.shared.u32 %r13, [tile];\n" +
                        round + second,
                    64};
    };
    require_silent(rounds("%p0"));
    const auto wrong = run(rounds("%p3"), {emu::CompletionOrder::late, 1});
    REQUIRE(wrong.result.diagnostics.size() == 1);
    CHECK(wrong.result.diagnostics.front().name() == "race-shared");
}

TEST_CASE("the value of a hidden read may still be unwritten where it counts") {
    const std::string body = addresses(64) + "setp.lt.u32 %p3, %r0, 64;\nld.shared.u32 %r13, [tile];//!\n"
                                             "setp.eq.u32 %p1, %r13, 5;\nand.pred %p2, %p3, %p1;\n"
                                             "@%p2 st.global.u32 [%rd11], 1;//!\n";
    require_found("uninitialised-shared", {tile, body, 64});
    // Behind a barrier, and hidden: nobody has used what nobody wrote.
    const std::string hidden = addresses(64) + "setp.ge.u32 %p3, %r0, 64;\nld.shared.u32 %r13, [tile];\n"
                                               "setp.eq.u32 %p1, %r13, 5;\nand.pred %p2, %p3, %p1;\n"
                                               "@%p2 st.global.u32 [%rd11], 1;\n";
    require_silent({tile, hidden, 64});
}

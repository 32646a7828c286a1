/// \file
/// cp.async and its groups (PTX ISA 9.7.9.25.3).

#include "machine/async_support.hpp"

#include <chrono>

using namespace async_test;

namespace {

const std::string tile = ".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 bar;";

/// %r1 = address of the thread's 16 bytes in the tile, %rd8 and %rd9 = of its 16 bytes in input and output.
const std::string own_16_bytes = R"(
mov.u32 %r1, tile; mul.lo.u32 %r2, %r0, 16; add.u32 %r1, %r1, %r2;
mul.wide.u32 %rd10, %r0, 16; add.u64 %rd8, %rd0, %rd10; add.u64 %rd9, %rd1, %rd10;
)";
const std::string store_16_bytes = R"(
ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r1];
st.global.v4.u32 [%rd9], {%r10, %r11, %r12, %r13};
)";

/// Runs `body` on 32 threads with `input` in %rd0; returns 128 words written at %rd1 (zero before).
std::vector<std::uint32_t> copied(const Order& order, const std::string& body,
                                  const std::vector<std::uint32_t>& input = sequence(128)) {
    Machine machine(order);
    const auto in = machine.buffer(input);
    const auto out = machine.buffer(std::vector<std::uint32_t>(128, 0));
    require_clean(machine.run(kernel(2, tile, body), {in, out}));
    return machine.read<std::uint32_t>(out, 128);
}

} // namespace

TEST_CASE("cp.async copies 4, 8 and 16 bytes, .ca and .cg, with every prefetch and cache hint") {
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        for (const std::string copy :
             {"cp.async.ca.shared.global [%r1], [%rd8], 16;", "cp.async.cg.shared.global [%r1], [%rd8], 16;",
              "cp.async.cg.shared::cta.global.L2::128B [%r1], [%rd8], 16;",
              "cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r1], [%rd8], 16, %rd10;",
              "cp.async.ca.shared.global [%r1], [%rd8], 8; cp.async.ca.shared.global [%r1+8], [%rd8+8], 8;",
              "cp.async.ca.shared.global [%r1], [%rd8], 4; cp.async.ca.shared.global [%r1+4], [%rd8+4], 4;"
              "cp.async.ca.shared.global.L2::64B [%r1+8], [%rd8+8], 4;"
              "cp.async.ca.shared.global [%r1+12], [%rd8+12], 4;"}) {
            INFO(copy);
            REQUIRE(copied(order, own_16_bytes + copy + "cp.async.wait_all;" + store_16_bytes) ==
                    sequence(128));
        }
    }
}

TEST_CASE("cp.async fills with zeros what src-size leaves out and what ignore-src ignores") {
    const auto first_words = [](unsigned words) {
        auto expected = sequence(128);
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (i % 4 >= words)
                expected[i] = 0;
        return expected;
    };
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        const std::string end = "cp.async.wait_all;" + store_16_bytes;
        REQUIRE(copied(order, own_16_bytes + "cp.async.ca.shared.global [%r1], [%rd8], 16, 12;" + end) ==
                first_words(3));
        REQUIRE(copied(order, own_16_bytes +
                                  "mov.u32 %r5, 16; cp.async.cg.shared.global [%r1], [%rd8], 16, %r5;" +
                                  end) == first_words(4));
        REQUIRE(copied(order, own_16_bytes + "cp.async.cg.shared.global [%r1], [%rd8], 16, 0;" + end) ==
                first_words(0));
        // Lanes below 8 ignore the source; with the negated predicate the others do.
        const std::string low =
            own_16_bytes + "setp.lt.u32 %p1, %r0, 8; cp.async.cg.shared.global [%r1], [%rd8], 16, ";
        const auto ignored = copied(order, low + "%p1;" + end);
        REQUIRE(std::all_of(ignored.begin(), ignored.begin() + 32, [](auto v) { return v == 0; }));
        REQUIRE(ignored[32] == 33);
        const auto kept = copied(order, low + "!%p1;" + end);
        REQUIRE(kept[31] == 32);
        REQUIRE(kept[32] == 0);
    }
}

TEST_CASE("An unread source may be any address") {
    const std::string nowhere = own_16_bytes +
                                "mov.u64 %rd8, 64; cp.async.cg.shared.global [%r1], [%rd8], 16, 0;"
                                "cp.async.wait_all;" +
                                store_16_bytes;
    REQUIRE(copied(all_orders().front(), nowhere) == std::vector<std::uint32_t>(128, 0));
}

TEST_CASE("wait_group N leaves the N most recent groups pending: late landing shows old bytes, the others "
          "may not") {
    // The tile holds 7 everywhere; two groups overwrite two halves; the halves are read after wait_group 1
    // and 0.
    const std::string body = own_16_bytes + R"(
mov.u32 %r5, 7;
st.shared.v4.u32 [%r1], {%r5, %r5, %r5, %r5};
cp.async.ca.shared.global [%r1], [%rd8], 8;
cp.async.commit_group;
cp.async.ca.shared.global [%r1+8], [%rd8+8], 8;
cp.async.commit_group;
cp.async.wait_group 1;
ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r1];
st.global.v4.u32 [%rd9], {%r10, %r11, %r12, %r13};
cp.async.wait_group 0;
)";
    const auto late = copied(all_orders().front(), body);
    REQUIRE(late[0] == 1);
    REQUIRE(late[1] == 2);
    REQUIRE(late[2] == 7);
    REQUIRE(late[3] == 7);
    const auto early = copied(all_orders()[1], body);
    REQUIRE(early[2] == 3);
}

TEST_CASE("An open group is not waited for by wait_group, but by wait_all") {
    const std::string start = own_16_bytes + R"(
mov.u32 %r5, 7;
st.shared.v4.u32 [%r1], {%r5, %r5, %r5, %r5};
cp.async.cg.shared.global [%r1], [%rd8], 16;
)";
    REQUIRE(copied(all_orders().front(),
                   start + "cp.async.wait_group 0;" + store_16_bytes + "cp.async.wait_all;")[0] == 7);
    REQUIRE(copied(all_orders().front(), start + "cp.async.wait_all;" + store_16_bytes)[0] == 1);
}

TEST_CASE("Within a group the last copy issued lands first by default") {
    // Two copies to the same place, which no program should do: the first one wins.
    const std::string body = own_16_bytes + R"(
cp.async.cg.shared.global [%r1], [%rd8], 16;
cp.async.cg.shared.global [%r1], [%rd0], 16;
cp.async.wait_all;
)" + store_16_bytes;
    REQUIRE(copied(all_orders().front(), body)[4] == 5);
    REQUIRE(copied(all_orders()[1], body)[4] == 1);
}

TEST_CASE("cp.async.mbarrier.arrive arrives when the copies have landed, with and without .noinc") {
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        const auto body = [](const std::string& count, const std::string& arrive) {
            return own_16_bytes + "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [bar], " + count +
                   ";\nbar.sync 0;\ncp.async.cg.shared.global [%r1], [%rd8], 16;\n" + arrive +
                   wait_parity("bar", "0", "W") + store_16_bytes;
        };
        REQUIRE(copied(order, body("32", "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];")) ==
                sequence(128));
        REQUIRE(copied(order, body("32", "cp.async.mbarrier.arrive.shared::cta.b64 [bar];\n"
                                         "mbarrier.arrive.shared.b64 _, [bar];")) == sequence(128));
    }
}

TEST_CASE("Mistakes with cp.async are named") {
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        const auto finding = [&](const std::string& body, const std::string& name, const std::string& text) {
            Machine machine(order);
            const auto in = machine.buffer(sequence(128));
            const auto out = machine.buffer(sequence(128));
            INFO(body);
            require_finding(machine.run(kernel(2, tile, own_16_bytes + body), {in, out}), name, text);
        };
        finding("cp.async.cg.shared.global [%r1], [%rd8], 16; cp.async.commit_group;",
                "exited-with-copies-in-flight", "writes");
        finding("cp.async.cg.shared.global [%r1+4], [%rd8], 16; cp.async.wait_all;", "misaligned",
                "destination");
        finding("cp.async.cg.shared.global [%r1], [%rd8+8], 16; cp.async.wait_all;", "misaligned", "source");
        finding("cp.async.cg.shared.global [%r1], [%rd8+16], 16; cp.async.wait_all;", "out-of-bounds",
                "source");
        finding("cp.async.cg.shared.global [%r1+102400], [%rd8], 16; cp.async.wait_all;", "out-of-bounds",
                "destination");
        finding("mov.u32 %r5, 17; cp.async.cg.shared.global [%r1], [%rd8], 16, %r5; cp.async.wait_all;",
                "invalid-size", "17");
        finding("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];", "barrier-uninitialised", "bar");
    }
}

TEST_CASE("What ptxas refuses is refused when the kernel is decoded") {
    for (const std::string wrong :
         {"cp.async.cg.shared.global [%r1], [%rd8], 8;", "cp.async.ca.shared.global [%r1], [%rd8], 12;",
          "cp.async.ca.shared.global.L1::evict [%r1], [%rd8], 4;", "cp.async.wait_group -1;"}) {
        Machine machine;
        const auto outcome = machine.run(kernel(2, tile, wrong), {0, 0});
        INFO(wrong);
        REQUIRE(outcome.error == emu::LaunchError::unsupported);
        REQUIRE(outcome.message.find("cp.async") != std::string::npos);
    }
}

TEST_CASE("a loop without end meets the watchdog in time, however many copies are pending") {
    emu::Settings settings;
    settings.threads = 1;
    settings.watchdog = 50'000'000;
    Machine machine(settings);
    const auto in = machine.buffer(sequence(8192));
    const auto begin = std::chrono::steady_clock::now();
    const auto outcome = machine.run(kernel(1, ".shared .align 128 .b8 tile[32768];", R"(
mov.u32 %r1, tile; mul.lo.u32 %r2, %r0, 4; add.u32 %r1, %r1, %r2;
mul.wide.u32 %rd10, %r0, 4; add.u64 %rd8, %rd0, %rd10; mov.u32 %r3, 0;
COPY: cp.async.ca.shared.global [%r1], [%rd8], 4;
add.u32 %r1, %r1, 128; add.u64 %rd8, %rd8, 128; add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 256; @%p1 bra COPY;
SPIN: add.u32 %r3, %r3, 1; bra SPIN;
)"),
                                     {in});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    REQUIRE(!outcome.result.diagnostics.empty());
    CHECK(outcome.result.diagnostics[0].name() == "watchdog");
    CHECK(seconds.count() < 3); // the copies land one after the other, a millisecond apart
}

// What is under way as the program knows it, and how much a thread does before it waits: the same in every
// order of completion, and 0 where a program has waited.

#include "counters/counters_support.hpp"

using namespace check_test;
using namespace counters_test;
using emu::Counter;

namespace {

emu::Counts total_in(const Case& c, const Order& order) {
    emu::Settings s = settings(1, order.order);
    s.seed = order.seed;
    emu::Device device(s, emu::make_reporter());
    return run_with(c, device, std::make_unique<emu::Counters>("")).launches().front().total;
}

constexpr Counter steady[] = {Counter::async_waits,
                              Counter::bytes_in_flight_at_waits,
                              Counter::async_uses,
                              Counter::bytes_in_flight_at_uses,
                              Counter::bytes_loading_at_uses,
                              Counter::bytes_loading_at_stores,
                              Counter::mbarriers,
                              Counter::shared_stores_ahead,
                              Counter::bytes_in_flight_at_issues,
                              Counter::instructions_arrival_to_wait,
                              Counter::instructions_issue_to_wait,
                              Counter::bytes_loaded_arrival_to_wait,
                              Counter::bytes_announced};

/// What is counted. No order changes what is under test here; how often a wait is repeated may change.
emu::Counts total(const Case& c) {
    const std::vector<Order> orders = async_test::all_orders();
    const emu::Counts first = total_in(c, orders.front());
    for (const Order& order : orders) {
        INFO(async_test::name_of(order));
        const emu::Counts other = total_in(c, order);
        for (const Counter counter : steady) {
            INFO(emu::name_of(counter));
            REQUIRE(other[counter] == first[counter]);
        }
    }
    return first;
}

const std::string copy = "cp.async.ca.shared.global [%r10], [%rd10], 4;\n";
const std::string second_copy = "cp.async.ca.shared.global [%r10 + 1024], [%rd10 + 1024], 4;\n";
const std::string commit = "cp.async.commit_group;\n";
const std::string use = "ld.shared.u32 %r5, [%r10];\nst.global.u32 [%rd11], %r5;\n";

Case two_groups(const std::string& first_wait) {
    return {".shared .align 128 .b8 tile[4096];\n", addresses(64) + copy + commit + second_copy + commit +
                                                        first_wait + use + "cp.async.wait_group 0;\n"};
}

/// Thread 0 loads two times 256 bytes; each load has a barrier, and everybody waits for both.
Case two_loads(const std::string& between) {
    const std::string init =
        "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 mbarrier.init.shared.b64 [bar + 8], 1;\n"
        "@%p0 fence.proxy.async;\nbar.sync 0;\n";
    const auto load = [](const std::string& at) {
        return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar + " + at +
               "], 256;\n@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile + 32 "
               "* " +
               at + "], [%rd0], 256, [bar + " + at + "];\n";
    };
    return {".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b8 bar[16];\n",
            addresses(64) + init + load("0") + between + load("8") + wait_parity("bar", "0", "W0") + use +
                wait_parity("bar + 8", "0", "W1")};
}

} // namespace

TEST_CASE("a group that is not waited for is under way, at the wait and at the use") {
    const emu::Counts ahead = total(two_groups("cp.async.wait_group 1;\n"));
    REQUIRE(ahead[Counter::async_waits] == 2 * 64);
    REQUIRE(ahead[Counter::bytes_in_flight_at_waits] == 4 * 64);
    REQUIRE(ahead[Counter::async_uses] == 64);
    REQUIRE(ahead[Counter::bytes_in_flight_at_uses] == 4 * 64);
    REQUIRE(ahead[Counter::bytes_loading_at_uses] == 4 * 64);
    REQUIRE(ahead[Counter::bytes_loading_at_stores] == 4 * 64);
    REQUIRE(ahead[Counter::bytes_in_flight_at_issues] == 4 * 64);

    const emu::Counts waited = total(two_groups("cp.async.wait_group 0;\n"));
    REQUIRE(waited[Counter::async_waits] == 64);
    REQUIRE(waited[Counter::bytes_in_flight_at_waits] == 0);
    REQUIRE(waited[Counter::async_uses] == 64);
    REQUIRE(waited[Counter::bytes_in_flight_at_uses] == 0);
    REQUIRE(waited[Counter::bytes_loading_at_stores] == 0);
}

TEST_CASE("a wait that finds nothing new does not count") {
    const emu::Counts twice = total(two_groups("cp.async.wait_group 1;\ncp.async.wait_group 1;\n"));
    REQUIRE(twice[Counter::async_waits] == 2 * 64);
    REQUIRE(twice[Counter::bytes_in_flight_at_waits] == 4 * 64);
}

TEST_CASE("a wait for groups tells of copies that an mbarrier waits for too") {
    const std::string declared = ".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b8 bar[8];\n";
    const std::string init = "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n";
    const std::string arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
    const auto with = [&](const std::string& wait) {
        return total({declared, addresses(64) + copy + commit + "cp.async.wait_group 0;\n" + init +
                                    second_copy + arrive + wait + use + wait_parity("bar", "0", "W0")});
    };
    REQUIRE(with("")[Counter::bytes_in_flight_at_uses] == 4 * 64);
    REQUIRE(with("")[Counter::async_waits] == 2 * 64);
    REQUIRE(with("cp.async.wait_all;\n")[Counter::bytes_in_flight_at_uses] == 0);
    REQUIRE(with("cp.async.wait_all;\n")[Counter::async_waits] == 2 * 64);
}

TEST_CASE("copies of one group are one step") {
    const emu::Counts c =
        total({".shared .align 128 .b8 tile[4096];\n",
               addresses(64) + copy + second_copy + commit + "cp.async.wait_group 0;\n" + use});
    REQUIRE(c[Counter::bytes_in_flight_at_issues] == 0);
    REQUIRE(c[Counter::async_waits] == 64);
}

TEST_CASE("what a thread stored itself is no use of a copy") {
    const emu::Counts c = total({".shared .align 128 .b8 tile[4096];\n",
                                 addresses(64) + second_copy + commit + "st.shared.u32 [%r10], %r0;\n" + use +
                                     "cp.async.wait_group 0;\n"});
    REQUIRE(c[Counter::async_uses] == 0);
}

TEST_CASE("a phase ends what it tells of, for who has seen it") {
    const emu::Counts ahead = total(two_loads(""));
    REQUIRE(ahead[Counter::async_waits] == 2);
    REQUIRE(ahead[Counter::bytes_in_flight_at_waits] == 256);
    REQUIRE(ahead[Counter::bytes_in_flight_at_uses] == 256);
    REQUIRE(ahead[Counter::bytes_in_flight_at_issues] == 256);

    const emu::Counts one_by_one = total(two_loads(wait_parity("bar", "0", "B0")));
    REQUIRE(one_by_one[Counter::bytes_in_flight_at_waits] == 0);
    REQUIRE(one_by_one[Counter::bytes_in_flight_at_issues] == 0);
    REQUIRE(one_by_one[Counter::bytes_in_flight_at_uses] == 256); // the second is under way then
}

TEST_CASE("what a bulk store reads is under way and is no load") {
    const std::string store = "@%p0 fence.proxy.async;\n@%p0 cp.async.bulk.global.shared::cta.bulk_group "
                              "[%rd1 + 4096], [tile + 2048], "
                              "64;\n@%p0 cp.async.bulk.commit_group;\n";
    Case c = two_loads("");
    const std::size_t use_at = c.body.find(use);
    REQUIRE(use_at != std::string::npos);
    c.body.insert(use_at, wait_parity("bar + 8", "0", "B0") + "st.shared.u32 [%r10 + 2048], %r0;\n" +
                              "fence.proxy.async;\nbar.sync 0;\n" + store);
    c.body += "@%p0 cp.async.bulk.wait_group.read 0;\n";
    const emu::Counts stores = total(c);
    REQUIRE(stores[Counter::bytes_in_flight_at_uses] == 64);
    REQUIRE(stores[Counter::bytes_loading_at_uses] == 0);
    REQUIRE(stores[Counter::bytes_loading_at_stores] == 0);
    REQUIRE(total(two_loads(""))[Counter::bytes_loading_at_uses] == 256);
    REQUIRE(total(two_loads(""))[Counter::bytes_loading_at_stores] == 256);
}

TEST_CASE("mbarriers that complete a phase, each once") {
    const std::string init = "@%p0 mbarrier.init.shared.b64 [bar], 64;\n@%p0 mbarrier.init.shared.b64 [bar + "
                             "8], 64;\nbar.sync 0;\n";
    const auto with = [&](const std::string& second, const std::string& parity) {
        const std::string arrive = "mbarrier.arrive.shared.b64 _, ";
        return total({".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b8 bar[16];\n",
                      addresses(64) + init + arrive + "[bar];\n" + wait_parity("bar", "0", "W0") + arrive +
                          "[" + second + "];\n" + wait_parity(second, parity, "W1")});
    };
    const emu::Counts one = with("bar", "1");
    REQUIRE(one[Counter::mbarriers] == 1);
    REQUIRE(one[Counter::mbarrier_phases] == 2);
    const emu::Counts two = with("bar + 8", "0");
    REQUIRE(two[Counter::mbarriers] == 2);
    REQUIRE(two[Counter::mbarrier_phases] == 2);
}

TEST_CASE("stores ahead of an answer") {
    // Warp 0 writes twice and hands over twice; warp 1 waits, reads, and arrives at a barrier of its own.
    const auto with = [](const std::string& between) {
        const auto init = [](const std::string& at) {
            return "@%p0 mbarrier.init.shared.b64 [bar + " + at + "], 32;\n";
        };
        const auto arrive = [](const std::string& at) {
            return "mbarrier.arrive.shared.b64 _, [bar + " + at + "];\n";
        };
        const std::string split = "bar.sync 0;\nsetp.ge.u32 %p4, %r0, 32;\n@%p4 bra USE;\n";
        const std::string producer = "st.shared.u32 [%r10], %r0;\n" + arrive("0") + between +
                                     "st.shared.u32 [%r10 + 1024], %r0;\n" + arrive("8") + "bra END;\n";
        const std::string consumer =
            "USE:\n" + wait_parity("bar", "0", "W0") + "ld.shared.u32 %r5, [%r10 + -128];\n" + arrive("16") +
            wait_parity("bar + 8", "0", "W1") + "ld.shared.u32 %r5, [%r10 + 896];\nEND:\n";
        return total({".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b8 bar[24];\n",
                      addresses(64) + init("0") + init("8") + init("16") + split + producer + consumer});
    };
    REQUIRE(with("")[Counter::shared_stores_ahead] == 32); // not the first: nothing was handed over yet
    REQUIRE(with(wait_parity("bar + 16", "0", "A0"))[Counter::shared_stores_ahead] == 0);
}

TEST_CASE("a barrier of the block tells of another thread's wait") {
    const std::string other =
        "setp.ne.u32 %p4, %r0, 32;\n@%p4 bra B1;\n" + wait_parity("bar", "0", "B0") + "B1:\n";
    const emu::Counts told = total(two_loads(other + "bar.sync 0;\n"));
    REQUIRE(told[Counter::bytes_in_flight_at_issues] == 0);
    const emu::Counts untold = total(two_loads(other));
    REQUIRE(untold[Counter::bytes_in_flight_at_issues] == 256);
}

TEST_CASE("instructions between an arrival and the first try to wait") {
    const auto with = [](const std::string& work) {
        const std::string init = "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n";
        return total({tile_and_bar, addresses(64) + init + "mbarrier.arrive.shared.b64 _, [bar];\n" + work +
                                        wait_parity("bar", "0", "W0")});
    };
    const std::string three = "add.u32 %r5, %r0, 1;\nadd.u32 %r5, %r5, 1;\nadd.u32 %r5, %r5, 1;\n";
    const std::uint64_t without = with("")[Counter::instructions_arrival_to_wait];
    REQUIRE(with(three)[Counter::instructions_arrival_to_wait] == without + 3 * 64);
}

TEST_CASE("bytes loaded between an arrival and the first try to wait") {
    const auto with = [](const std::string& before, const std::string& between, const std::string& behind) {
        const std::string init = "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n";
        return total({tile_and_bar, addresses(64) + init + before + "mbarrier.arrive.shared.b64 _, [bar];\n" +
                                        between + wait_parity("bar", "0", "W0") +
                                        behind})[Counter::bytes_loaded_arrival_to_wait];
    };
    const std::string load = "ld.global.u32 %r5, [%rd10];\n";
    REQUIRE(with("", load + load, "") == 2 * 4 * 64);
    REQUIRE(with("", "@%p0 " + load, "") == 4);
    REQUIRE(with(load, "st.shared.u32 [%r10], %r0;\nld.shared.u32 %r5, [%r10];\n", load) == 0);
}

TEST_CASE("bytes announced, with an arrival and without") {
    const std::string announce = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"
                                 "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar + 8], 64;\n"
                                 "@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar + 8], 64;\n";
    REQUIRE(total(two_loads(""))[Counter::bytes_announced] == 512);
    REQUIRE(total({".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b8 bar[16];\n",
                   addresses(32) +
                       "@%p0 mbarrier.init.shared.b64 [bar], 1;\n"
                       "@%p0 mbarrier.init.shared.b64 [bar + 8], 1;\n" +
                       announce})[Counter::bytes_announced] == 256 + 64);
}

TEST_CASE("instructions between the last copy and the wait") {
    const auto with = [](const std::string& work) {
        return total({".shared .align 128 .b8 tile[4096];\n",
                      addresses(64) + copy + work + commit + "cp.async.wait_group 0;\n" + use});
    };
    REQUIRE(with("")[Counter::instructions_issue_to_wait] == 64); // the commit
    REQUIRE(with("add.u32 %r5, %r0, 1;\n")[Counter::instructions_issue_to_wait] == 2 * 64);
}

TEST_CASE("what is launched, and what each warp of a block does") {
    const emu::Counts c =
        total({".shared .align 128 .b8 tile[4096];\n", addresses(48) + copy + "cp.async.wait_all;\n", 48, 3});
    REQUIRE(c[Counter::launches] == 1);
    REQUIRE(c[Counter::blocks] == 3);
    REQUIRE(c[Counter::warps] == 6);
    REQUIRE(c[Counter::threads] == 3 * 48);
}

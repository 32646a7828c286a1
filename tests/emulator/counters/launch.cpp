// Counters and time lines of whole launches.

#include "counters/counters_support.hpp"
#include "findings/log.hpp"
#include "hopper_emulator/recording.hpp"
#include "hopper_emulator/settings.hpp"
#include "json.hpp"
#include "report.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

using namespace check_test;
using namespace counters_test;
using emu::Counter;

namespace {

emu::LaunchCounts count(const Case& c, const emu::Settings& s = settings()) {
    emu::Device device(s, emu::make_reporter());
    const auto* const counters = &run_with(c, device, std::make_unique<emu::Counters>(""));
    REQUIRE(counters->launches().size() == 1);
    return counters->launches().front();
}

/// Writes a row of the tile and reads a column: lane i reads word i * pitch.
Case column(unsigned pitch) {
    return {".shared .align 128 .b8 tile[8192];\n",
            "mov.u32 %r9, tile;\nshl.b32 %r8, %r0, 2;\nadd.u32 %r10, %r9, %r8;\n"
            "mad.lo.u32 %r11, %r0, " +
                std::to_string(4 * pitch) +
                ", %r9;\n"
                "st.shared.u32 [%r11], %r0;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r5, [%r11];\n"
                "cvt.u64.u32 %rd9, %r8;\nadd.u64 %rd11, %rd1, %rd9;\nst.global.u32 [%rd11], %r5;\n",
            32};
}

const Case loads_and_stores{
    tile_and_bar,
    addresses(64) + initialised_barrier() + expect_256 + "@%p0 " + bulk_load + "\n" +
        wait_parity("bar", "0", "W0") +
        "ld.shared.u32 %r5, [%r10];\nadd.u32 %r5, %r5, 1;\nst.shared.u32 [%r10], %r5;\n"
        "fence.proxy.async;\nbar.sync 0;\n@%p0 " +
        bulk_store + "\n" + commit_and_wait_read,
    64, 2};

} // namespace

TEST_CASE("bank conflicts of a column, plain and padded") {
    const emu::LaunchCounts plain = count(column(32));
    REQUIRE(plain.total[Counter::shared_load_requests] == 1);
    REQUIRE(plain.total[Counter::shared_load_wavefronts] == 32);
    REQUIRE(plain.total[Counter::shared_load_conflicts] == 31);
    REQUIRE(plain.total[Counter::shared_store_conflicts] == 31);
    const emu::LaunchCounts padded = count(column(33));
    REQUIRE(padded.total[Counter::shared_load_wavefronts] == 1);
    REQUIRE(padded.total[Counter::shared_load_conflicts] == 0);
    REQUIRE(padded.total[Counter::shared_store_conflicts] == 0);
    REQUIRE(padded.total[Counter::global_store_requests] == 1);
    REQUIRE(padded.total[Counter::global_store_sectors] == 4);
    REQUIRE(padded.total[Counter::bytes_registers_to_global] == 128);
}

TEST_CASE("sectors beyond the fewest that hold the bytes, and the width of an access") {
    const auto loads = [](const std::string& load) {
        return count({".shared .align 128 .b8 tile[4096];\n", addresses(64) + load, 32}).total;
    };
    const auto next = loads("");
    REQUIRE(next[Counter::global_load_extra_sectors] == 0); // 32 neighbouring words
    REQUIRE(next[Counter::global_load_requests_wide] == 0);
    const auto wide = loads("shl.b32 %r8, %r0, 4;\ncvt.u64.u32 %rd9, %r8;\nadd.u64 %rd10, %rd0, %rd9;\n"
                            "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd10];\n");
    REQUIRE(wide[Counter::global_load_extra_sectors] == 0); // 16 sectors hold 512 bytes
    REQUIRE(wide[Counter::global_load_requests_wide] == 1);
    const auto apart = loads("shl.b32 %r8, %r0, 5;\ncvt.u64.u32 %rd9, %r8;\nadd.u64 %rd10, %rd0, %rd9;\n"
                             "ld.global.u32 %r5, [%rd10];\n");
    REQUIRE(apart[Counter::global_load_extra_sectors] == 32 - 4);
    const auto same = loads("ld.global.u32 %r5, [%rd0];\n");
    REQUIRE(same[Counter::global_load_extra_sectors] == 0);
}

TEST_CASE("shared memory and registers, by warp too") {
    const emu::LaunchCounts c =
        count({".shared .align 128 .b8 tile[4096];\n",
               addresses(64) + "st.shared.u32 [%r10], %r0;\nbar.sync 0;\n"
                               "setp.lt.u32 %p1, %r0, 32;\n@%p1 ld.shared.u32 %r5, [%r11];\n"});
    REQUIRE(c.total[Counter::bytes_registers_to_shared] == 256);
    REQUIRE(c.total[Counter::bytes_shared_to_registers] == 128);
    REQUIRE(c.warps.size() == 2);
    REQUIRE(c.warps[0][Counter::bytes_shared_to_registers] == 128);
    REQUIRE(c.warps[1][Counter::bytes_shared_to_registers] == 0);
    REQUIRE(c.warps[1][Counter::bytes_registers_to_shared] == 128);
    const std::string json = emu::Counters::json(c);
    REQUIRE(json.find("\"warps\":[{") != std::string::npos);
}

TEST_CASE("instructions are counted by warp and by thread") {
    const emu::LaunchCounts c = count({"", "setp.lt.u32 %p1, %r0, 3;\n@%p1 add.u32 %r5, %r5, 1;\n", 32});
    // Two parameters, mov %tid, setp, the guarded add, ret.
    REQUIRE(c.total[Counter::warp_instructions] == 6);
    REQUIRE(c.total[Counter::thread_instructions] == 5 * 32 + 3);
}

TEST_CASE("bytes by path, barriers and phases of bulk copies") {
    const emu::LaunchCounts c = count(loads_and_stores);
    REQUIRE(c.total[Counter::bytes_bulk_load] == 2 * 256);
    REQUIRE(c.total[Counter::bytes_bulk_store] == 2 * 256);
    REQUIRE(c.total[Counter::async_operations] == 4);
    REQUIRE(c.total[Counter::block_barriers] == 4);
    REQUIRE(c.total[Counter::mbarrier_arrivals] == 2);
    REQUIRE(c.total[Counter::mbarrier_phases] == 2);
    REQUIRE(c.total[Counter::global_load_requests] == 4); // `addresses` loads one word per thread.
    REQUIRE(c.total[Counter::global_load_sectors] == 16);
}

TEST_CASE("a multicast is read once, and counts in every block") {
    const std::string body =
        addresses(64) + initialised_barrier() + expect_256 +
        "mov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p4, %r20, 0;\nand.pred %p4, %p4, %p0;\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u16 %h1, 6;\n" // to ranks 1 and 2
        "@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[tile], [%rd0], 256, [bar], %h1;\n"
        "setp.eq.u32 %p5, %r20, 1;\nsetp.eq.u32 %p6, %r20, 2;\nor.pred %p5, %p5, %p6;\n@!%p5 bra DONE;\n" +
        wait_parity("bar", "0", "W0") + "DONE:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const emu::LaunchCounts c = count({tile_and_bar, body, 64, 4, 4});
    REQUIRE(c.total[Counter::bytes_bulk_load] == 2 * 256);
    REQUIRE(c.total[Counter::bytes_multicast] == 256);
    REQUIRE(count(loads_and_stores).total[Counter::bytes_multicast] == 0);
}

TEST_CASE("the lanes of a cp.async are one request") {
    const emu::LaunchCounts c = count(
        {tile, addresses(64) + "cp.async.ca.shared.global [%r10], [%rd10], 4;\ncp.async.wait_all;\n", 64});
    REQUIRE(c.total[Counter::bytes_cp_async] == 256);
    REQUIRE(c.total[Counter::global_load_requests] == 2 + 2);
    REQUIRE(c.total[Counter::global_load_sectors] == 8 + 8);
}

TEST_CASE("arrivals of cp.async count where mbarrier.init counts them") {
    const auto arrivals = [](const std::string& arrive) {
        const std::string init = "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n";
        return count({tile_and_bar, addresses(64) + init + "cp.async.ca.shared.global [%r10], [%rd10], 4;\n" +
                                        arrive + wait_parity("bar", "0", "W0")});
    };
    const emu::LaunchCounts fixed = arrivals("cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n");
    REQUIRE(fixed.total[Counter::mbarrier_arrivals] == 64);
    REQUIRE(fixed.total[Counter::mbarrier_phases] == 1);
    // Without .noinc the copy expects its arrival itself, and the 64 are those of the threads.
    const emu::LaunchCounts extra = arrivals("cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                                             "mbarrier.arrive.shared.b64 _, [bar];\n");
    REQUIRE(extra.total[Counter::mbarrier_arrivals] == 64);
    REQUIRE(extra.total[Counter::mbarrier_phases] == 1);
}

TEST_CASE("lines add up to the total, and nothing depends on host threads") {
    Case c = column(32);
    c.blocks = 16;
    c.body.replace(c.body.find("st.global"), c.body.size(), "");
    const emu::LaunchCounts one = count(c, settings(1));
    const emu::LaunchCounts two = count(c, settings(4));
    REQUIRE(one.total == two.total);
    REQUIRE(one.lines == two.lines);
    emu::Counts sum;
    for (const auto& [line, counts] : one.lines)
        sum += counts;
    CHECK(sum[Counter::launches] == 0); // Of no line.
    sum[Counter::launches] = one.total[Counter::launches];
    CHECK(one.total[Counter::blocks] == 16);
    REQUIRE(sum == one.total);
    REQUIRE(one.total[Counter::shared_load_conflicts] == 16 * 31);
}

TEST_CASE("counters as JSON lines and as a table") {
    const test_support::TemporaryDirectory directory;
    const std::string file = directory.path() / "counters.json";
    {
        emu::Device device(settings(), emu::make_reporter());
        run_with(column(32), device, std::make_unique<emu::Counters>(file));
    }
    std::ifstream in(file);
    std::string line;
    REQUIRE(std::getline(in, line));
    const auto json = test_support::JsonValue::parse(line);
    REQUIRE(json["kernel"].string() == "k");
    REQUIRE(json["total"]["shared_load_conflicts"].number() == 31);
    REQUIRE(json["total"]["bytes_bulk_load"].number() == 0);
    REQUIRE(json["lines"].array().size() > 1);
    const std::string table = emu::Counters::table(count(column(32)));
    const auto row = [&](const std::string& name) {
        const auto at = table.find("\n  " + name + " ");
        REQUIRE(at != std::string::npos);
        std::istringstream rest(table.substr(at + 3 + name.size()));
        std::string value, meaning;
        rest >> value >> meaning;
        REQUIRE(!meaning.empty());
        return value;
    };
    REQUIRE(row("shared_load_conflicts") == "31");
    REQUIRE(row("bytes_bulk_load") == "0");
    REQUIRE(row("threads per instruction") == "32.00");
    REQUIRE(row("wavefronts per shared load") == "32.00");
    REQUIRE(row("sectors per global load") == "-"); // There are none.
}

TEST_CASE("the time line begins and ends every operation, in legal JSON") {
    for (const auto order : {emu::CompletionOrder::late, emu::CompletionOrder::early}) {
        emu::Device device(settings(1, order), emu::make_reporter());
        const auto* const trace = &run_with(loads_and_stores, device, std::make_unique<emu::Trace>(""));
        const auto json = test_support::JsonValue::parse(trace->json());
        REQUIRE(json["otherData"]["axis"].string().find("not time") != std::string::npos);
        int begun = 0, landed = 0, ended = 0, phases = 0, completed = 0, warps = 0;
        std::set<std::pair<double, double>> named, used;
        double expected = 0, bytes = 0;
        for (const auto& event : json["traceEvents"].array()) {
            const std::string phase = event["ph"].string();
            begun += phase == "b";
            landed += phase == "n";
            ended += phase == "e";
            const std::pair where{
                event["pid"].number(),
                phase == "M" && event["name"].string() == "process_name" ? -1.0 : event["tid"].number()};
            if (phase == "M" && event["name"].string() == "thread_name")
                REQUIRE(named.insert(where).second);
            else if (phase != "M")
                used.insert(where);
            phases += phase == "X" && event["cat"].string() == "barrier";
            if (phase == "X" && event["cat"].string() == "warp") {
                ++warps;
                REQUIRE(event["args"]["instructions"].number() > 0);
                REQUIRE(event["dur"].number() >= event["args"]["instructions"].number());
            }
            if (phase != "i")
                continue;
            completed += event["args"]["step"].string() == "complete";
            if (event["args"]["step"].string() != "arrive")
                continue;
            bytes += event["args"]["tx"].number();
            expected += std::max(0.0, event["args"]["tx"].number());
        }
        REQUIRE(begun == 4);
        REQUIRE(landed == 4);
        REQUIRE(ended == 4);
        REQUIRE(completed == 2);
        REQUIRE(expected > 0);
        REQUIRE(bytes == 0);      // What was expected has come.
        REQUIRE(warps == 2 * 2);  // Two in each block.
        REQUIRE(named == used);   // Every track has a name.
        REQUIRE(phases == 2 * 3); // Two block barriers and one mbarrier phase in each block.
    }
}

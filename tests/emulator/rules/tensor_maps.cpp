/// \file
/// Tensor maps in global memory that change: who changes one releases it, and each block that uses it
/// acquires it through the tensormap proxy (PTX ISA 9.7.13.4; CUDA programming guide, "Modify a tensor map on
/// device").

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/tensor_map.hpp"
#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string shared = ".shared .align 128 .b8 tile[128];\n.shared .align 8 .b64 bar;\n"
                           ".shared .align 128 .b8 copy[128];\n";
const std::string meet = "bar.sync 0;\n";
const std::string start =
    "setp.eq.u32 %p0, %r0, 0;\n" + initialised_barrier() + "mov.u32 %r1, 0;\nmov.u32 %r2, copy;\n";
/// Thread 0 loads a box of 32 words through the map at %rd0; everybody waits.
const std::string use =
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
    "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
    "[%rd0, {%r1}], [bar];//!\n" +
    wait_parity("bar", "0", "W");
const std::string acquire = "@%p0 fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;\n";
const std::string start_narrow =
    "setp.eq.u32 %p0, %r0, 0;\n" + initialised_barrier() + acquire + "mov.u32 %r1, 0;\n";
const std::string release = "@%p0 fence.proxy.tensormap::generic.release.gpu;\n";
const std::string change = "@%p0 tensormap.replace.tile.global_dim.global.b1024.b32 [%rd0], 0, 48;";
/// The map is changed in shared memory and copied back, which releases it.
const std::string change_copy =
    "setp.lt.u32 %p1, %r0, 32;\nmul.wide.u32 %rd9, %r0, 4;\nadd.u64 %rd10, %rd0, %rd9;\n"
    "@%p1 ld.global.u32 %r4, [%rd10];\nshl.b32 %r5, %r0, 2;\nadd.u32 %r5, %r5, %r2;\n"
    "@%p1 st.shared.u32 [%r5], %r4;\n@%p1 bar.warp.sync 0xffffffff;\n"
    "@%p0 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, 48;\n"
    "@%p1 bar.warp.sync 0xffffffff;\n"
    "@%p1 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], "
    "[%r2], "
    "128;";

/// A device with a map of 64 words and its launches.
class Maps {
  public:
    explicit Maps(const Order& order) : device_(settings(order), emu::make_reporter()) {
        device_.add_observer(emu::make_checks());
        tensor_ = device_.memory().allocate(256, emu::Allocation::Kind::device);
        other_ = device_.memory().allocate(256, emu::Allocation::Kind::device);
        map_ = device_.memory().allocate(256, emu::Allocation::Kind::device);
        other_map_ = device_.memory().allocate(256, emu::Allocation::Kind::device);
        put(map_, tensor_);
        put(other_map_, other_);
    }
    /// As cudaMemcpy would.
    void put_other() { put(map_, other_); }
    /// A tensor whose last 16 bytes are half padding.
    void put_short() { put(map_, tensor_, 62); }
    /// Threads find the map in %rd0, another one in %rd2.
    emu::LaunchOutcome run(const std::string& body, std::uint32_t blocks = 1, std::uint32_t cluster = 1) {
        const std::array<std::uint64_t, 3> parameters{map_, tensor_, other_map_};
        const auto program = device_.load(kernel(3, shared, body));
        return device_.launch(*program, "k", {{blocks, 1, 1}, {64, 1, 1}, {cluster, 1, 1}, 0, false},
                              std::as_bytes(std::span(parameters)));
    }

  private:
    static void put(emu::Address at, emu::Address tensor, std::uint32_t words = 64) {
        emu::TensorMap map;
        map.type = emu::TensorType::u32;
        map.rank = 1;
        map.address = tensor;
        map.dims[0] = words;
        map.box[0] = 32;
        map.element_strides[0] = 1;
        emu::write_tensor_map(map, std::span<std::byte, emu::tensor_map_bytes>(
                                       reinterpret_cast<std::byte*>(at), emu::tensor_map_bytes));
    }
    static emu::Settings settings(const Order& order) {
        emu::Settings s;
        s.order = order.order;
        s.seed = order.seed;
        s.threads = 1;
        return s;
    }
    emu::Device device_;
    emu::Address tensor_ = 0, other_ = 0, map_ = 0, other_map_ = 0;
};

std::string findings_of(const emu::LaunchOutcome& outcome) {
    std::string text = outcome.message;
    for (const auto& d : outcome.result.diagnostics)
        text += emu::format(d);
    return text;
}

void require_no_finding(const emu::LaunchOutcome& outcome) {
    INFO(findings_of(outcome));
    REQUIRE(outcome.error == emu::LaunchError::none);
    REQUIRE(outcome.result.diagnostics.empty());
}

void require_stale(const emu::LaunchOutcome& outcome, const std::string& why, const std::string& instead,
                   std::size_t lines, bool warning = false) {
    INFO(findings_of(outcome));
    REQUIRE(outcome.result.diagnostics.size() == 1);
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    REQUIRE(d.name() == "missing-proxy-fence");
    CHECK_THAT(d.message, ContainsSubstring(why));
    CHECK_THAT(d.advice, ContainsSubstring(instead));
    CHECK(d.locations.size() == lines);
    CHECK((d.fault == emu::Fault::none) == warning);
}

} // namespace

TEST_CASE("missing-proxy-fence: a map that this launch changed is released and acquired") {
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        require_no_finding(Maps(order).run(start + change + "\n" + release + acquire + meet + use));
        require_no_finding(Maps(order).run(start + change + "\n" + release + meet + acquire + use));
        require_no_finding(Maps(order).run(start + change_copy + "\n" + meet + acquire + use));
        require_stale(Maps(order).run(start + change + "\n" + release + meet + use), "no thread of its block",
                      "fence.proxy.tensormap::generic.acquire", 2);
        require_stale(Maps(order).run(start + change_copy + "\n" + meet + use), "no thread of its block",
                      "fence.proxy.tensormap::generic.acquire", 2);
        require_stale(Maps(order).run(start + change + "\n" + meet + acquire + use), "nothing releases",
                      "fence.proxy.tensormap::generic.release", 2);
        require_stale(Maps(order).run(start + acquire + change + "\n" + release + meet + use),
                      "does not come after the change", "after the change", 2);
    }
}

TEST_CASE("missing-proxy-fence: ordinary stores that write a map need the same fences") {
    const std::string store = "setp.lt.u32 %p1, %r0, 32;\nmul.wide.u32 %rd9, %r0, 4;\n"
                              "add.u64 %rd10, %rd0, %rd9;\nadd.u64 %rd11, %rd2, %rd9;\n"
                              "@%p1 ld.global.u32 %r4, [%rd11];\n@%p1 st.global.u32 [%rd10], %r4;\n";
    const std::string release_all = "@%p1 fence.proxy.tensormap::generic.release.gpu;\n";
    for (const Order& order : async_test::all_orders()) {
        require_no_finding(Maps(order).run(start + store + release_all + meet + acquire + use));
        require_stale(Maps(order).run(start + store + release_all + meet + use), "changed in this launch",
                      "acquire", 2);
        require_stale(Maps(order).run(start + store + meet + acquire + use), "nothing releases", "release",
                      2);
    }
}

TEST_CASE("missing-proxy-fence: each block of a later launch acquires a map that an earlier one changed") {
    const std::string only_first = "mov.u32 %r3, %ctaid.x;\nsetp.eq.and.u32 %p2, %r3, 0, %p0;\n"
                                   "@%p2 fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;\n";
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        Maps maps(order);
        require_no_finding(maps.run(start + change_copy + "\n"));
        require_stale(maps.run(start + use), "changed by an earlier launch",
                      "fence.proxy.tensormap::generic.acquire", 2);
        Maps blocks(order);
        require_no_finding(blocks.run(start + change_copy + "\n"));
        require_stale(blocks.run(start + only_first + use, 2), "changed by an earlier launch",
                      "In each block", 2);
        Maps right(order);
        require_no_finding(right.run(start + change_copy + "\n"));
        require_no_finding(right.run(start + acquire + use, 2));
        // An acquire behind the copy, or of another address, is none.
        Maps behind(order);
        require_no_finding(behind.run(start + change_copy + "\n"));
        require_stale(behind.run(start + use + acquire), "changed by an earlier launch", "before the copy",
                      2);
        Maps another(order);
        require_no_finding(another.run(start + change_copy + "\n"));
        require_stale(
            another.run(start + "@%p0 fence.proxy.tensormap::generic.acquire.gpu [%rd0+128], 128;\n" + use),
            "changed by an earlier launch", "acquire", 2);
    }
}

TEST_CASE(
    "missing-proxy-fence: a map that the host wrote to global memory is acquired, else it is a warning") {
    for (const Order& order : async_test::all_orders()) {
        Maps maps(order);
        require_stale(maps.run(start + use), "written by the host or by an earlier launch",
                      "fence.proxy.tensormap::generic.acquire.sys", 1, true);
        maps.put_other();
        require_stale(maps.run(start + use), "after an earlier launch had used it", "acquire", 1, true);
        Maps right(order);
        require_no_finding(right.run(start + acquire + use));
        right.put_other();
        require_no_finding(right.run(start + acquire + use));
    }
}

TEST_CASE("missing-proxy-fence: a change that nobody released or acquired lacks both") {
    const auto outcome = Maps({emu::CompletionOrder::late, 1}).run(start + change + "\n" + meet + use);
    require_stale(outcome, "and nothing has released it to that proxy", "tensormap::generic.release", 2);
    CHECK_THAT(outcome.result.diagnostics.front().advice, ContainsSubstring("tensormap::generic.acquire"));
}

TEST_CASE("missing-proxy-fence: the scope of the acquire takes in the thread that made the change") {
    // Block 0 changes the map, block 1 uses it; the cluster barrier orders them.
    const std::string first = "mov.u32 %r3, %cluster_ctarank;\nsetp.eq.and.u32 %p2, %r3, 0, %p0;\n"
                              "setp.eq.and.u32 %p3, %r3, 1, %p0;\n";
    const std::string sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const auto program = [&](const std::string& released, const std::string& acquired) {
        return start + first + "@%p2 tensormap.replace.tile.global_dim.global.b1024.b32 [%rd0], 0, 48;\n" +
               "@%p2 fence.proxy.tensormap::generic.release." + released + ";\n" + sync +
               "@%p3 fence.proxy.tensormap::generic.acquire." + acquired +
               " [%rd0], 128;\nand.pred %p0, %p0, %p3;\n" +
               "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
               "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
               "[%rd0, {%r1}], [bar];\nsetp.eq.u32 %p4, %r3, 0;\n@%p4 bra END;\n" +
               wait_parity("bar", "0", "W") + "END:\n" + sync;
    };
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        for (const std::string scope : {"cluster", "gpu", "sys"})
            require_no_finding(Maps(order).run(program(scope, scope), 2, 2));
        require_stale(Maps(order).run(program("gpu", "cta"), 2, 2), "was acquired at .cta scope",
                      "fence.proxy.tensormap::generic.acquire.cluster", 2);
        require_stale(Maps(order).run(program("cta", "gpu"), 2, 2), "was released at .cta scope",
                      "fence.proxy.tensormap::generic.release.cluster", 2);
    }
}

TEST_CASE("overwrite-in-flight: a map changed while a copy that reads it is under way") {
    const std::string issue =
        "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
        "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[tile], [%rd0, {%r1}], [bar];\n";
    const std::string wait = wait_parity("bar", "0", "W");
    const std::string other = "@%p0 tensormap.replace.tile.global_dim.global.b1024.b32 [%rd2], 0, 48;\n";
    const std::string stores = "@%p0 st.global.u32 [%rd0+16], %r0;\n";
    const auto name = [](const emu::LaunchOutcome& outcome) {
        INFO(findings_of(outcome));
        REQUIRE(outcome.result.diagnostics.size() == 1);
        CHECK_THAT(outcome.result.diagnostics.front().message,
                   ContainsSubstring("may still read the tensor map"));
        return std::string(outcome.result.diagnostics.front().name());
    };
    for (const Order& order : async_test::all_orders()) {
        CHECK(name(Maps(order).run(start + acquire + issue + change + "\n" + wait)) == "overwrite-in-flight");
        CHECK(name(Maps(order).run(start + acquire + issue + meet + change_copy + "\n" + wait)) ==
              "overwrite-in-flight");
        CHECK(name(Maps(order).run(start + "mov.u32 %r0, 7;\n" + acquire + issue + stores + wait)) ==
              "overwrite-in-flight");
        require_no_finding(Maps(order).run(start + acquire + issue + wait + change + "\n"));
        require_no_finding(Maps(order).run(start + acquire + issue + wait + meet + change_copy + "\n"));
        require_no_finding(Maps(order).run(start + acquire + issue + other + wait));
        // As CUTLASS does.
        require_no_finding(Maps(order).run(start + acquire + issue +
                                           "@%p0 cp.async.bulk.commit_group;\n"
                                           "@%p0 cp.async.bulk.wait_group.read 0;\n" +
                                           change + "\n" + wait));
    }
}

TEST_CASE("race-shared: a map changed in shared memory is copied behind __syncwarp") {
    std::string unordered = change_copy;
    const std::string meets = "@%p1 bar.warp.sync 0xffffffff;\n";
    unordered.erase(unordered.rfind(meets), meets.size());
    const auto outcome =
        Maps({emu::CompletionOrder::late, 1}).run(start + unordered + "\n" + meet + acquire + use);
    INFO(findings_of(outcome));
    REQUIRE(outcome.result.diagnostics.size() == 1);
    CHECK(outcome.result.diagnostics.front().name() == "race-shared");
}

TEST_CASE("a tensor store may take padding that nobody wrote, but no data") {
    const auto store = [](const std::string& threads) {
        return "setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r1, 32;\nmov.u32 %r2, tile;\n"
               "shl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r3, %r2;\nsetp.lt.u32 %p1, %r0, " +
               threads + ";\n@%p1 st.shared.u32 [%r3], %r0;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n" +
               acquire +
               "@%p0 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd0, {%r1}], [tile];\n"
               "@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk.wait_group 0;\n";
    };
    for (const Order& order : async_test::all_orders()) {
        Maps maps(order);
        maps.put_short();
        REQUIRE(maps.run(store("30")).result.diagnostics.empty());
        const auto outcome = maps.run(store("29"));
        REQUIRE(outcome.result.diagnostics.size() == 1);
        REQUIRE(outcome.result.diagnostics.front().name() == "uninitialised-shared");
    }
}

namespace {

/// 8 rows of 16 bytes, tensor and box alike, moved under the 128-byte swizzle: row r takes one 16-byte chunk
/// of line r of `tile`, which is %rd0's map; %rd1 is memory for results.
emu::LaunchOutcome run_narrow(const Order& order, const std::string& body) {
    emu::Settings settings;
    settings.order = order.order;
    settings.seed = order.seed;
    settings.threads = 1;
    emu::Device device(settings, emu::make_reporter());
    device.add_observer(emu::make_checks(settings));
    const auto tensor = device.memory().allocate(128, emu::Allocation::Kind::device);
    const auto out = device.memory().allocate(1024, emu::Allocation::Kind::device);
    const auto at = device.memory().allocate(128, emu::Allocation::Kind::device);
    emu::TensorMap map;
    map.type = emu::TensorType::u32;
    map.rank = 2;
    map.address = tensor;
    map.dims = {4, 8};
    map.strides = {16};
    map.box = {4, 8};
    map.element_strides = {1, 1};
    map.swizzle = emu::TensorSwizzle::bytes128;
    emu::write_tensor_map(map, std::span<std::byte, emu::tensor_map_bytes>(reinterpret_cast<std::byte*>(at),
                                                                           emu::tensor_map_bytes));
    const std::array<std::uint64_t, 2> parameters{at, out};
    const auto program = device.load(
        kernel(2, ".shared .align 1024 .b8 tile[1024];\n.shared .align 8 .b64 bar;\n", start_narrow + body));
    return device.launch(*program, "k", {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, false},
                         std::as_bytes(std::span(parameters)));
}

} // namespace

TEST_CASE("uninitialised-shared: the gaps between rows that are narrower than the swizzle") {
    const std::string load =
        "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
        "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
        "[%rd0, {%r1, %r1}], [bar];\n" +
        wait_parity("bar", "0", "W");
    const auto read = [&](unsigned offset) {
        return load + "@%p0 ld.shared.u32 %r6, [tile+" + std::to_string(offset) +
               "];\n@%p0 st.global.u32 [%rd1], %r6;";
    };
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        for (unsigned row = 0; row < 8; ++row) {
            require_no_finding(run_narrow(order, read(row * 128 + row * 16)));
            const auto outcome = run_narrow(order, read(row * 128 + (row ^ 1) * 16));
            INFO(findings_of(outcome));
            REQUIRE(outcome.result.diagnostics.size() == 1);
            REQUIRE(outcome.result.diagnostics.front().name() == "uninitialised-shared");
        }
    }
}

TEST_CASE("a tensor store of narrow rows takes the rows and not the gaps between them") {
    // Threads 0 to 7 write 16 bytes each, at `place` of their line.
    const auto store = [](const std::string& place) {
        return "setp.lt.u32 %p1, %r0, 8;\nmov.u32 %r2, tile;\nmad.lo.u32 %r3, %r0, 128, %r2;\n" + place +
               "@%p1 st.shared.v4.u32 [%r3], {%r0, %r0, %r0, %r0};\nfence.proxy.async.shared::cta;\n"
               "bar.sync 0;\n"
               "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd0, {%r1, %r1}], [tile];\n"
               "@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk.wait_group 0;\n";
    };
    for (const Order& order : async_test::all_orders()) {
        require_no_finding(run_narrow(order, store("mad.lo.u32 %r3, %r0, 16, %r3;\n")));
        const auto outcome = run_narrow(order, store(""));
        REQUIRE(outcome.result.diagnostics.size() == 1);
        REQUIRE(outcome.result.diagnostics.front().name() == "uninitialised-shared");
    }
}

// Mistakes around tensor copies in im2col mode: the same as around those in tile mode.

#include "machine/tensor_map.hpp"
#include "rules/check_support.hpp"

#include <catch2/catch_test_macros.hpp>

using async_test::Order;
using check_test::initialised_barrier;
using check_test::kernel;
using check_test::wait_parity;

namespace {

const std::string shared = ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 bar;\n";
const std::string start = "setp.eq.u32 %p0, %r0, 0;\n" + initialised_barrier() +
                          "@%p0 fence.proxy.tensormap::generic.acquire.sys [%rd0], 128;\n";
const std::string load =
    "@%p0 cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
    "[tile], [%rd0, {0, -1, -1, 0}], [bar], {1, 0};\n";
const std::string announce_before = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], ";
/// Every thread reads a word of the tile.
const std::string read_tile =
    "mov.u32 %r1, tile;\nmad.lo.u32 %r1, %r0, 4, %r1;\nld.shared.u32 %r2, [%r1];\n"
    "mul.wide.u32 %rd8, %r0, 4;\nadd.u64 %rd8, %rd8, %rd1;\nst.global.u32 [%rd8], %r2;\n";

/// Launches it with 64 threads and a map whose columns have 16 pixels of 16 bytes, some of them outside of
/// the tensor.
emu::LaunchOutcome run(const std::string& body, const Order& order, std::int32_t corner) {
    emu::Settings settings;
    settings.order = order.order;
    settings.seed = order.seed;
    settings.threads = 1;
    emu::Device device(settings, emu::make_reporter());
    device.add_observer(emu::make_checks(settings));
    const auto allocate = [&](std::size_t bytes) {
        return device.memory().allocate(bytes, emu::Allocation::Kind::device);
    };
    const emu::Address map_at = allocate(256), out = allocate(256), tensor = allocate(2 * 4 * 5 * 16);
    emu::TensorMap map;
    map.im2col = true;
    map.type = emu::TensorType::f32;
    map.rank = 4;
    map.address = tensor;
    map.dims = {4, 5, 4, 2, 0};
    map.strides = {16, 80, 320, 0};
    map.box[0] = 4;
    map.element_strides = {1, 1, 1, 1, 0};
    map.lower_corner = {corner, corner, 0};
    map.upper_corner = {corner, corner, 0};
    map.pixels_per_column = 16;
    std::memset(reinterpret_cast<void*>(tensor), 0, 2 * 4 * 5 * 16);
    emu::write_tensor_map(map, std::span<std::byte, emu::tensor_map_bytes>(
                                   reinterpret_cast<std::byte*>(map_at), emu::tensor_map_bytes));
    const std::array<std::uint64_t, 2> parameters{map_at, out};
    const auto program = device.load(kernel(2, shared, body));
    return device.launch(*program, "k", {{1, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, false},
                         std::as_bytes(std::span(parameters)));
}

std::string findings_of(const emu::LaunchOutcome& outcome) {
    std::string text = outcome.message;
    for (const auto& d : outcome.result.diagnostics)
        text += emu::format(d);
    return text;
}

void require_silent(const std::string& body, std::int32_t corner = -1) {
    for (const Order& order : async_test::all_orders()) {
        const auto outcome = run(body, order, corner);
        INFO(async_test::name_of(order) << findings_of(outcome));
        async_test::require_clean(outcome);
    }
}

void require_one(const std::string& body, const std::string& name, const std::string& text,
                 std::int32_t corner = -1) {
    for (const Order& order : async_test::all_orders()) {
        const auto outcome = run(body, order, corner);
        INFO(async_test::name_of(order) << findings_of(outcome));
        REQUIRE(outcome.result.diagnostics.size() == 1);
        REQUIRE(outcome.result.diagnostics.front().name() == name);
        REQUIRE(findings_of(outcome).find(text) != std::string::npos);
    }
}

} // namespace

TEST_CASE("An im2col load counts every pixel of its column, those outside of the tensor too") {
    require_silent(start + announce_before + "256;\n" + load + wait_parity("bar", "0", "W") + read_tile);
}

TEST_CASE("deadlock: an im2col load of more bytes than were announced") {
    // As if the 4 pixels outside were not counted.
    require_one(start + announce_before + "192;\n" + load + wait_parity("bar", "0", "W") + read_tile,
                "deadlock", "tx-count -64 bytes (192 expected, 256 arrived)");
}

TEST_CASE("tx-count-mismatch: two im2col loads where the bytes of one were announced") {
    std::string second = load;
    second.replace(second.find("[tile]"), 6, "[tile+256]");
    const std::string wait = wait_parity("bar", "0", "W");
    require_silent(start + announce_before + "512;\n" + load + second + wait + read_tile);
    require_one(start + announce_before + "256;\n" + load + second + wait, "tx-count-mismatch", "256 bytes");
}

TEST_CASE("deadlock: an im2col load of fewer bytes than were announced") {
    require_one(start + announce_before + "320;\n" + load + wait_parity("bar", "0", "W") + read_tile,
                "deadlock", "tx-count 64 bytes (320 expected, 256 arrived)");
}

TEST_CASE("read-before-completion: a pixel is read before the im2col load has ended") {
    require_one(start + announce_before + "256;\n" + load + read_tile + wait_parity("bar", "0", "W"),
                "read-before-completion", "");
}

TEST_CASE("missing-proxy-fence: an im2col store of what threads have written") {
    const std::string write = "mov.u32 %r1, tile;\nmad.lo.u32 %r1, %r0, 4, %r1;\nst.shared.u32 [%r1], %r0;\n";
    const std::string store =
        "bar.sync 0;\n@%p0 cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
        "[%rd0, {0, 0, 0, 0}], [tile];\n@%p0 cp.async.bulk.commit_group;\n@%p0 cp.async.bulk.wait_group 0;\n";
    require_silent(start + write + "fence.proxy.async;\n" + store, 0);
    require_one(start + write + store, "missing-proxy-fence", "tensor store", 0);
}

// The public edge as a program sees it: only public headers, linked with the shared library.

#include <hopper_emulator/counters.hpp>
#include <hopper_emulator/device.hpp>
#include <hopper_emulator/events.hpp>
#include <hopper_emulator/finding_kinds.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace emu;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string head =
    ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"/home/reader/program.cu\"\n";

/// Each thread writes its number into shared memory, and after a barrier its neighbour's to out[thread].
const std::string neighbours = head + R"(
.visible .entry neighbours(.param .u64 out, .param .u32 unused)
.maxntid 128, 1, 1
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    .shared .align 4 .b8 line[512];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    mov.u64 %rd3, line;
    add.s64 %rd3, %rd3, %rd2;
    .loc 1 10 1
    st.shared.u32 [%rd3], %r1;
    .loc 1 11 1
    bar.sync 3;
    xor.b32 %r2, %r1, 1;
    mul.wide.u32 %rd4, %r2, 4;
    mov.u64 %rd3, line;
    add.s64 %rd3, %rd3, %rd4;
    .loc 1 12 1
    ld.shared.u32 %r3, [%rd3];
    add.s64 %rd1, %rd1, %rd2;
    .loc 1 13 1
    st.global.u32 [%rd1], %r3;
    ret;
}
)";

/// One thread copies 64 bytes into shared memory and waits for them at an mbarrier.
const std::string copies = head + R"(
.visible .entry copies(.param .u64 in)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .shared .align 16 .b8 tile[64];
    .shared .align 8 .b64 full;
    ld.param.u64 %rd1, [in];
    mov.u32 %r1, full;
    mov.u32 %r2, tile;
    mbarrier.init.shared.b64 [%r1], 1;
    fence.proxy.async;
    mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r1], 64;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 64, [%r1];
wait:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
    @!%p1 bra wait;
    ret;
}
)";

struct Event {
    std::string what;
    EventPlace at = {};
    Access access = {};
    std::vector<Address> addresses = {};
    std::uint64_t number = 0;
};

/// Writes down what it hears.
class Scribe final : public Listener {
  public:
    explicit Scribe(std::uint64_t clusters = ~std::uint64_t{0}) : clusters_(clusters) {}
    void on_launch_begin(const LaunchFacts& launch) override {
        log({"begin", {}, {}, {}, launch.serial()});
        for (std::uint32_t pc = 0; pc < launch.instruction_count(); ++pc) {
            instructions.push_back(launch.instruction(pc));
            lines.push_back(launch.line(pc));
        }
        kernel = launch.kernel();
        config = launch.config();
    }
    std::unique_ptr<ClusterEvents> on_cluster_begin(const LaunchFacts&, std::uint64_t cluster) override {
        return cluster < clusters_ ? std::make_unique<Hand>(*this) : nullptr;
    }
    void on_launch_end(const LaunchFacts& launch) override { log({"end", {}, {}, {}, launch.serial()}); }

    std::vector<Event> all(const std::string& what) const {
        std::vector<Event> found;
        std::ranges::copy_if(events, std::back_inserter(found),
                             [&](const Event& e) { return e.what == what; });
        return found;
    }
    std::size_t index(const std::string& what) const {
        return static_cast<std::size_t>(std::ranges::find(events, what, &Event::what) - events.begin());
    }

    std::vector<Event> events;
    std::vector<std::string> instructions;
    std::vector<SourceLine> lines;
    std::string kernel;
    LaunchConfig config;

  private:
    struct Hand final : ClusterEvents {
        explicit Hand(Scribe& scribe) : scribe(scribe) {}
        void on_instruction(const EventPlace& at) override { scribe.log({"instruction", at}); }
        void on_access(const EventPlace& at, const Access& access) override {
            scribe.log({"access", at, access, {access.addresses, access.addresses + warp_size}});
        }
        void on_fence(const EventPlace& at, const Fence&) override { scribe.log({"fence", at}); }
        void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const EventPlace> arrived,
                                 std::span<const EventPlace> waiting) override {
            if (kind != BarrierKind::block)
                return;
            for (const EventPlace& each : arrived)
                scribe.log({"arrived", each, {}, {}, id});
            for (const EventPlace& each : waiting)
                scribe.log({"waiting", each, {}, {}, id});
        }
        void on_mbarrier_init(const EventPlace& at, const MbarrierUse& use) override {
            scribe.log({"init", at, {}, {}, use.count});
        }
        void on_mbarrier_arrive(const EventPlace& at, const MbarrierUse&, std::uint64_t copy) override {
            scribe.log({copy ? "completed" : "arrive", at, {}, {}, copy});
        }
        void on_mbarrier_phase(const EventPlace& at, const MbarrierUse& use) override {
            scribe.log({"phase", at, {}, {}, use.phase});
        }
        void on_mbarrier_observed(const EventPlace& at, const MbarrierUse& use) override {
            scribe.log({"observed", at, {}, {}, use.phase});
        }
        void on_copy_issued(const EventPlace& at, const AsyncCopy& copy) override {
            scribe.log({"issued", at, {}, {}, copy.id});
        }
        void on_copy_source_read(const AsyncCopy& copy) override {
            scribe.log({"read", {}, {}, {}, copy.id});
        }
        void on_copy_landed(const AsyncCopy& copy) override { scribe.log({"landed", {}, {}, {}, copy.id}); }
        void on_copy_retired(const AsyncCopy& copy) override { scribe.log({"retired", {}, {}, {}, copy.id}); }
        void on_thread_exit(const EventPlace& at) override { scribe.log({"exit", at}); }
        void on_block_start(Dim3 block, unsigned) override { scribe.log({"start", {block}}); }
        void on_block_exit(Dim3 block, unsigned) override { scribe.log({"leave", {block}}); }
        void on_cluster_end() override { scribe.log({"done"}); }
        Scribe& scribe;
    };

    void log(Event event) {
        const std::lock_guard lock(mutex_);
        events.push_back(std::move(event));
    }

    const std::uint64_t clusters_;
    std::mutex mutex_;
};

struct Run {
    LaunchOutcome outcome;
    std::shared_ptr<Scribe> scribe;
    Address memory = 0;
};

Run run(const std::string& text, const std::string& kernel, const LaunchConfig& config,
        std::shared_ptr<Scribe> scribe = std::make_shared<Scribe>()) {
    const auto device = make_device();
    device->add_observer(listen_with(scribe));
    const auto module = device->load(text);
    const Address memory = device->memory().allocate(1024, Allocation::Kind::device);
    Run result{device->launch(*module, kernel, config, std::as_bytes(std::span(&memory, 1))), scribe, memory};
    INFO(result.outcome.message);
    REQUIRE(result.outcome.error == LaunchError::none);
    REQUIRE(result.outcome.result.fault == Fault::none);
    return result;
}

LaunchConfig shape(std::uint32_t grid, std::uint32_t block) {
    LaunchConfig config;
    config.grid = {grid, 1, 1};
    config.block = {block, 1, 1};
    return config;
}

} // namespace

TEST_CASE("a listener hears who does what, in the order of execution") {
    const Run heard = run(neighbours, "neighbours", shape(2, 64));
    const Scribe& s = *heard.scribe;
    CHECK(s.kernel == "neighbours");
    CHECK(s.config == shape(2, 64));
    CHECK(s.events.front().what == "begin");
    CHECK(s.events.back().what == "end");
    CHECK(s.all("done").size() == 2);

    std::vector<Event> stores, loads;
    for (const Event& e : s.all("access"))
        if (e.access.space == Space::shared)
            (e.access.kind == AccessKind::write ? stores : loads).push_back(e);
    REQUIRE(stores.size() == 4);
    REQUIRE(loads.size() == 4);
    std::set<std::pair<unsigned, unsigned>> who;
    for (const Event& store : stores) {
        who.emplace(store.at.block.x, store.at.warp);
        CHECK(store.at.lanes == all_lanes);
        CHECK(store.access.bytes == 4);
        CHECK(store.access.semantics == Semantics::weak);
        CHECK(s.instructions.at(store.at.pc) == "st.shared.u32");
        CHECK(s.lines.at(store.at.pc).file == "/home/reader/program.cu");
        CHECK(s.lines.at(store.at.pc).line == 10);
        CHECK(store.addresses[5] == store.addresses[0] + 20);
        CHECK(thread_index(s.config.block, store.at.warp, 5) == Dim3{store.at.warp * 32 + 5, 0, 0});
    }
    CHECK(who == std::set<std::pair<unsigned, unsigned>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
    CHECK(loads[0].addresses[0] == loads[0].addresses[1] + 4);

    for (const char* role : {"arrived", "waiting"}) {
        const auto at_barrier = s.all(role);
        REQUIRE(at_barrier.size() == 4);
        CHECK(std::ranges::all_of(at_barrier, [](const Event& e) { return e.number == 3; }));
        CHECK(std::ranges::all_of(at_barrier, [](const Event& e) { return e.at.lanes == all_lanes; }));
    }
    for (const char* once : {"start", "leave"})
        CHECK(s.all(once).size() == 2);
    CHECK(s.all("exit").size() == 4);
    CHECK_FALSE(s.all("instruction").empty());
}

TEST_CASE("a listener hears only the clusters that it asked for") {
    const Run heard = run(neighbours, "neighbours", shape(4, 32), std::make_shared<Scribe>(1));
    const auto starts = heard.scribe->all("start");
    REQUIRE(starts.size() == 1);
    CHECK(starts.front().at.block == Dim3{0, 0, 0});
    CHECK(heard.scribe->all("begin").size() == 1);
    CHECK(heard.scribe->all("end").size() == 1);
}

TEST_CASE("blocks that store the same value at the same moment are no race") {
    // On two host threads; the listener makes a store long enough for another to meet it. run() requires
    // that nothing is found.
    for (int i = 0; i < 50; ++i)
        CHECK(run(neighbours, "neighbours", shape(4, 32)).scribe->all("start").size() == 4);
}

TEST_CASE("a copy is issued, reads, lands, arrives and retires") {
    const Run heard = run(copies, "copies", shape(1, 1));
    const Scribe& s = *heard.scribe;
    CHECK(s.all("init").front().number == 1);
    CHECK(s.all("fence").size() == 1);
    const std::uint64_t id = s.all("issued").front().number;
    CHECK(id == 1);
    CHECK(s.all("issued").front().at.lanes == 1);
    CHECK(s.all("arrive").size() == 1);
    REQUIRE(s.all("completed").size() == 1);
    CHECK(s.all("completed").front().number == id);
    CHECK(s.all("completed").front().at.lanes == 0);
    const std::vector<std::string> order{"init",   "arrive",    "issued", "read",
                                         "landed", "completed", "phase",  "observed"};
    for (std::size_t i = 1; i < order.size(); ++i) {
        INFO(order[i - 1] << " before " << order[i]);
        CHECK(s.index(order[i - 1]) < s.index(order[i]));
    }
    CHECK(s.all("retired").size() == 1);
}

TEST_CASE("a module says what its kernels ask of a launch") {
    const auto device = make_device();
    const auto module =
        device->load(head + ".const .align 4 .b8 table[24];\n.global .align 4 .b8 numbers[40];\n" +
                     neighbours.substr(head.size()));
    CHECK(module->target() == "sm_90");
    CHECK(module->kernel_names() == std::vector<std::string_view>{"neighbours"});
    CHECK(module->has_kernel("neighbours"));
    CHECK_FALSE(module->has_kernel("nobody"));
    CHECK(module->constant_bytes() == 24);
    REQUIRE(module->variable("numbers"));
    CHECK(module->variable("numbers")->size == 40);
    CHECK(device->memory().find(module->variable("numbers")->address)->kind == Allocation::Kind::module);
    CHECK_FALSE(module->variable("nothing"));
    CHECK(module->kernel("nobody") == nullptr);
    const KernelFacts* facts = module->kernel("neighbours");
    REQUIRE(facts);
    CHECK(facts->name == "neighbours");
    CHECK(facts->static_shared == 512);
    CHECK(facts->max_threads == 128);
    CHECK(facts->parameter_bytes == 12);
    REQUIRE(facts->signature.size() == 2);
    CHECK(facts->signature[1].offset == 8);
    CHECK(facts->signature[1].size == 4);
    CHECK(facts->required_cluster[0] == 0);
}

TEST_CASE("errors of a text can be caught outside of the library") {
    const auto device = make_device();
    try {
        device->load(head + ".visible .entry k()\n{\n  ret\n}\n");
        FAIL("no exception");
    } catch (const ParseError& error) {
        CHECK_THAT(error.what(), ContainsSubstring("ptx:8:1"));
        CHECK_THAT(error.excerpt(), ContainsSubstring("^"));
    }
    const auto module = device->load(
        head + ".visible .entry k()\n{\n  wgmma.fence.sync.aligned;\n  nonsense.u32;\n  ret;\n}\n");
    CHECK_THROWS_AS(module->kernel("k"), DecodeError);
    const LaunchOutcome outcome = device->launch(*module, "k", shape(1, 1), {});
    CHECK(outcome.error == LaunchError::unsupported);
    CHECK(device->launch(*module, "nobody", shape(1, 1), {}).error == LaunchError::invalid_parameters);
    CHECK(device->launch(*module, "k", shape(0, 1), {}).error != LaunchError::none);
}

TEST_CASE("a launch in two steps tells its end") {
    const auto device = make_device();
    const auto module = device->load(neighbours);
    const Address out = device->memory().allocate(256, Allocation::Kind::device);
    LaunchOutcome refused;
    const auto launch =
        device->prepare(*module, "neighbours", shape(1, 64), std::as_bytes(std::span(&out, 1)),
                        max_shared_per_block, false, refused);
    REQUIRE(launch);
    std::promise<LaunchResult> promise;
    Device::LaunchHooks hooks;
    hooks.on_end = [&](LaunchResult result) { promise.set_value(std::move(result)); };
    device->start(launch, hooks);
    const LaunchResult result = promise.get_future().get();
    CHECK(result.fault == Fault::none);
    CHECK(result.instructions > 64 * 10);
    CHECK(reinterpret_cast<const std::uint32_t*>(out)[6] == 7);
    CHECK_FALSE(
        device->prepare(*module, "neighbours", shape(1, 256), {}, max_shared_per_block, false, refused));
    CHECK(refused.error == LaunchError::out_of_resources);
}

TEST_CASE("a launch that is stopped says so") {
    // A race is an error, but stops nothing.
    const auto device = make_device();
    std::string racy = neighbours;
    racy.replace(racy.find("bar.sync 3;"), 11, "");
    const auto module = device->load(racy);
    const Address out = device->memory().allocate(256, Allocation::Kind::device);
    const auto parameters = std::as_bytes(std::span(&out, 1));
    const LaunchResult raced = device->launch(*module, "neighbours", shape(1, 64), parameters).result;
    CHECK(raced.fault == Fault::launch_failure);
    CHECK_FALSE(raced.stopped);
    const Address nowhere = 4096;
    const LaunchResult faulted =
        device->launch(*module, "neighbours", shape(1, 64), std::as_bytes(std::span(&nowhere, 1))).result;
    CHECK(faulted.fault == Fault::illegal_address);
    CHECK(faulted.stopped);

    // The host would have written what the kernel waits for.
    const auto polls = device->load(head + R"(
.visible .entry polls(.param .u64 flag)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
wait:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra wait;
    ret;
}
)");
    *reinterpret_cast<std::uint32_t*>(out) = 0;
    LaunchOutcome refused;
    const auto launch =
        device->prepare(*polls, "polls", shape(1, 1), parameters, max_shared_per_block, false, refused);
    REQUIRE(launch);
    std::promise<LaunchResult> promise;
    device->start(launch, {.on_end = [&](LaunchResult result) { promise.set_value(std::move(result)); }});
    device->finish();
    const LaunchResult result = promise.get_future().get();
    CHECK(result.fault == Fault::none);
    CHECK(result.stopped);
    CHECK_THROWS_AS(device->launch(*module, "neighbours", shape(1, 64), parameters), std::logic_error);
}

TEST_CASE("what a program must not do is told, not done") {
    const auto device = make_device(), other = make_device();
    const auto module = device->load(neighbours);
    CHECK_THROWS_AS(other->launch(*module, "neighbours", shape(1, 64), {}), std::invalid_argument);
    static_assert(!std::is_constructible_v<Device, const Settings&>); // It would have no checks.
    LaunchConfig config = shape(1, 64);
    config.dynamic_shared = ~std::uint32_t{0}; // With the static part it is a small number again.
    CHECK(device->launch(*module, "neighbours", config, {}, ~std::uint32_t{0}).error ==
          LaunchError::invalid_configuration);
    alignas(256) static std::uint32_t numbers[64];
    CHECK_THROWS_AS(
        device->memory().adopt(reinterpret_cast<Address>(numbers), sizeof numbers, Allocation::Kind::device),
        std::invalid_argument);
}

TEST_CASE(
    "where an error stops a launch, the events of its clusters end before it, without an end of their own") {
    struct Ends final : Listener {
        std::unique_ptr<ClusterEvents> on_cluster_begin(const LaunchFacts&, std::uint64_t) override {
            return std::make_unique<Events>(*this);
        }
        void on_launch_end(const LaunchFacts&) override { heard += "launch "; }
        struct Events final : ClusterEvents {
            explicit Events(Ends& all) : all(all) {}
            ~Events() override { all.heard += "gone "; }
            void on_cluster_end() override { all.heard += "cluster "; }
            Ends& all;
        };
        std::string heard;
    };
    const auto device = make_device();
    const auto ends = std::make_shared<Ends>();
    device->add_observer(listen_with(ends));
    const auto module = device->load(neighbours);
    const Address out = device->memory().allocate(256, Allocation::Kind::device), nowhere = 4096;
    for (const Address* where : {&out, &nowhere})
        device->launch(*module, "neighbours", shape(1, 64), std::as_bytes(std::span(where, 1)));
    CHECK(ends->heard == "cluster gone launch gone launch ");
}

TEST_CASE("an exception of a listener comes out of the launch") {
    struct Thrower final : Listener {
        explicit Thrower(unsigned where) : where(where) {}
        void on_launch_begin(const LaunchFacts&) override { fail(0); }
        std::unique_ptr<ClusterEvents> on_cluster_begin(const LaunchFacts&, std::uint64_t) override {
            fail(1);
            return std::make_unique<Events>(*this);
        }
        void on_launch_end(const LaunchFacts&) override { fail(3); }
        struct Events final : ClusterEvents {
            explicit Events(Thrower& all) : all(all) {}
            void on_access(const EventPlace&, const Access&) override { all.fail(2); }
            Thrower& all;
        };
        void fail(unsigned here) const {
            if (here == where)
                throw std::runtime_error("of the listener");
        }
        unsigned where;
    };
    for (unsigned where = 0; where < 4; ++where) {
        INFO(where);
        const auto device = make_device();
        device->add_observer(listen_with(std::make_shared<Thrower>(where)));
        const auto module = device->load(neighbours);
        const Address out = device->memory().allocate(256, Allocation::Kind::device);
        CHECK_THROWS_WITH(
            device->launch(*module, "neighbours", shape(2, 64), std::as_bytes(std::span(&out, 1))),
            "of the listener");
    }
}

TEST_CASE("checks and counters are observers that a program attaches") {
    const auto device = make_device();
    auto counters = std::make_unique<Counters>("");
    const Counters& counted = *counters;
    device->add_observer(std::move(counters));
    std::string racy = neighbours;
    racy.replace(racy.find("bar.sync 3;"), 11, "");
    const auto module = device->load(racy);
    const Address out = device->memory().allocate(256, Allocation::Kind::device);
    const auto outcome =
        device->launch(*module, "neighbours", shape(1, 64), std::as_bytes(std::span(&out, 1)));
    REQUIRE(outcome.result.diagnostics.size() == 1);
    const Diagnostic& finding = outcome.result.diagnostics.front();
    CHECK(finding.finding == Finding::race_shared);
    CHECK(finding.name() == "race-shared");
    CHECK_THAT(format(finding), ContainsSubstring("/home/reader/program.cu:12"));
    REQUIRE(counted.launches().size() == 1);
    CHECK(counted.launches().front().total[Counter::shared_store_requests] == 2);
    CHECK(counted.launches().front().total[Counter::block_barriers] == 0);
}

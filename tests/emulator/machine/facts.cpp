// What the machine hands on of a mistake and of a deadlock: facts, to whoever the device was given.

#include "hopper_emulator/finding_kinds.hpp"
#include "kernel.hpp"

#include "machine/deadlock.hpp"
#include "machine/mistake.hpp"
#include "machine/reporter.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <optional>

using namespace emu;
using namespace emu::test;

namespace {

/// The last things that were reported.
struct Seen {
    std::optional<Mistake> mistake;
    std::optional<Cause> cause;
    std::uint64_t waiting = 0; ///< Threads at the root.
};

class Keeper final : public Reporter {
  public:
    explicit Keeper(Seen& seen) : seen_(seen) {}
    std::unique_ptr<LaunchReporter> begin(Launch& launch) override {
        return std::make_unique<OfLaunch>(launch, seen_);
    }
    std::string explain(const Flaw& flaw) const override { return "because of " + std::string(flaw.kind); }

  private:
    class OfLaunch final : public LaunchReporter {
      public:
        OfLaunch(Launch& launch, Seen& seen) : launch_(launch), seen_(seen) {}
        void report(const Mistake& mistake) override {
            seen_.mistake = mistake;
            end(mistake.fault);
        }
        void report(const Deadlock& deadlock) override {
            seen_.cause = deadlock.root.cause;
            seen_.waiting = deadlock.root.group->threads.count();
            end(Fault::timeout);
        }
        void report(Diagnostic, bool) override {}
        std::vector<Diagnostic> take() override { return {}; }

      private:
        void end(Fault fault) {
            launch_.note_fault(fault);
            launch_.stop();
        }
        Launch& launch_;
        Seen& seen_;
    };
    Seen& seen_;
};

/// A listener that keeps deadlocks.
class Deadlocks final : public Observer {
  public:
    explicit Deadlocks(Seen& seen) : seen_(seen) {}
    std::unique_ptr<ClusterListener> listen(Cluster&) override { return std::make_unique<Listener>(seen_); }

  private:
    class Listener final : public ClusterListener {
      public:
        explicit Listener(Seen& seen) : seen_(seen) {}
        void on_deadlock(const Deadlock& deadlock) override {
            seen_.cause = deadlock.root.cause;
            seen_.waiting = deadlock.root.group->threads.count();
        }

      private:
        Seen& seen_;
    };
    Seen& seen_;
};

/// Listeners that speak when they end, and count what they hear.
class LastWords final : public Observer {
  public:
    explicit LastWords(unsigned& heard) : heard_(heard) {}
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        return std::make_unique<Listener>(cluster, heard_);
    }

  private:
    class Listener final : public ClusterListener {
      public:
        Listener(Cluster& cluster, unsigned& heard) : cluster_(cluster), heard_(heard) {}
        ~Listener() override {
            Diagnostic said;
            said.fault = Fault::none;
            cluster_.report(said, false);
        }
        void on_finding(Finding, std::span<const std::uint32_t>) override { ++heard_; }

      private:
        Cluster& cluster_;
        unsigned& heard_;
    };
    unsigned& heard_;
};

LaunchOutcome launch(Device& device, const std::string& body, Dim3 block = {64, 1, 1}) {
    const auto program = device.load(kernel_text(body));
    const std::array<std::uint64_t, 2> parameters{device.memory().allocate(256, Allocation::Kind::device),
                                                  64};
    LaunchConfig config;
    config.block = block;
    return device.launch(*program, "k", config, std::as_bytes(std::span(parameters)).first(12));
}

MachineSettings one_thread() {
    MachineSettings settings;
    settings.threads = 1;
    return settings;
}

const std::string misaligned = "  ld.global.u32 %r2, [%rd0+6];\n  ret;";
/// The upper warp does not come.
const std::string half_a_barrier = "  setp.lt.u32 %p1, %r1, 32;\n  @!%p1 bra LOOP;\n  bar.sync 0;\n  ret;\n"
                                   "LOOP: bar.sync 1, 64;\n  ret;";

} // namespace

TEST_CASE("a reporter gets the kind of a mistake, its place and its facts") {
    Seen seen;
    Device device(one_thread(), std::make_shared<Keeper>(seen));
    const LaunchOutcome outcome = launch(device, misaligned);
    CHECK(outcome.result.fault == Fault::misaligned_address);
    CHECK(outcome.result.diagnostics.empty());
    REQUIRE(seen.mistake);
    CHECK(seen.mistake->finding == Finding::misaligned);
    CHECK(seen.mistake->kind == "access-misaligned");
    CHECK(seen.mistake->lane == 0);
    const auto bytes = std::ranges::find(seen.mistake->facts, "bytes", &Fact::name);
    REQUIRE(bytes != seen.mistake->facts.end());
    CHECK(std::get<std::uint64_t>(bytes->value) == 4);
}

TEST_CASE("a reporter and listeners get a deadlock with its root") {
    Seen seen, heard;
    Device device(one_thread(), std::make_shared<Keeper>(seen));
    device.add_observer(std::make_unique<Deadlocks>(heard));
    const LaunchOutcome outcome = launch(device, half_a_barrier);
    CHECK(outcome.result.fault == Fault::timeout);
    REQUIRE(seen.cause);
    CHECK(seen.waiting == 32);
    CHECK(heard.cause == seen.cause);
    CHECK(heard.waiting == seen.waiting);
}

TEST_CASE("a reporter says why a launch is refused") {
    Seen seen;
    Device device(one_thread(), std::make_shared<Keeper>(seen));
    const LaunchOutcome outcome = launch(device, "  ret;", {2048, 1, 1});
    CHECK(outcome.error == LaunchError::invalid_configuration);
    CHECK(outcome.message == "because of launch-block-size");
}

TEST_CASE("without a reporter launches fail as they must, and nothing is said") {
    Device device(one_thread());
    const LaunchOutcome wrong = launch(device, misaligned);
    CHECK(wrong.result.fault == Fault::misaligned_address);
    CHECK(wrong.result.diagnostics.empty());
    Device other(one_thread());
    CHECK(launch(other, half_a_barrier).result.fault == Fault::timeout);
    CHECK(launch(other, "  ret;", {2048, 1, 1}).message == "launch-block-size");
}

TEST_CASE("the last words of a listener are heard by those that are still listening, and by no other") {
    unsigned first = 0, second = 0;
    Device device(one_thread());
    device.add_observer(std::make_unique<LastWords>(first));
    device.add_observer(std::make_unique<LastWords>(second));
    CHECK(launch(device, "  ret;").result.fault == Fault::none);
    CHECK(first == 0);
    CHECK(second == 1);
}

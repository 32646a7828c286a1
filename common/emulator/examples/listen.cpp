// A listener of your own: which lines of a kernel read how many bytes of global memory.
#include <hopper_emulator/device.hpp>
#include <hopper_emulator/events.hpp>

#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

// [listener]
class Reads final : public emu::Listener {
  public:
    using Bytes = std::map<std::uint32_t, std::uint64_t>; // By instruction.

    std::unique_ptr<emu::ClusterEvents> on_cluster_begin(const emu::LaunchFacts&, std::uint64_t) override {
        return std::make_unique<OfCluster>(*this);
    }
    void on_launch_end(const emu::LaunchFacts& launch) override {
        for (const auto& [pc, bytes] : all_) {
            const emu::SourceLine line = launch.line(pc);
            std::printf("%s:%u: %s reads %llu bytes\n", line.file.c_str(), line.line,
                        launch.instruction(pc).c_str(), static_cast<unsigned long long>(bytes));
        }
    }

  private:
    // Clusters run on several host threads; the events of one come from one of them.
    struct OfCluster final : emu::ClusterEvents {
        explicit OfCluster(Reads& reads) : reads(reads) {}
        void on_access(const emu::EventPlace& at, const emu::Access& access) override {
            if (access.space == emu::Space::global && access.kind == emu::AccessKind::read)
                bytes[at.pc] += access.bytes * static_cast<unsigned>(std::popcount(at.lanes));
        }
        // Also when an error stops the launch: then there is no on_cluster_end().
        ~OfCluster() override {
            const std::lock_guard lock(reads.mutex_);
            for (const auto& [pc, count] : bytes)
                reads.all_[pc] += count;
        }
        Reads& reads;
        Bytes bytes;
    };
    std::mutex mutex_;
    Bytes all_;
};
// [/listener]

namespace {

const std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 numbers)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [numbers];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r4, [%rd1];
    add.u32 %r4, %r4, 1;
    st.global.u32 [%rd1], %r4;
    ret;
}
)";

} // namespace

int main() {
    const auto device = emu::make_device();
    device->add_observer(emu::listen_with(std::make_shared<Reads>()));
    const auto module = device->load(text);
    const emu::Address address = device->memory().allocate(4 * 64 * 4, emu::Allocation::Kind::device);
    emu::LaunchConfig config;
    config.grid = {4, 1, 1};
    config.block = {64, 1, 1};
    return device->launch(*module, "add", config, std::as_bytes(std::span(&address, 1))).result.fault ==
                   emu::Fault::none
               ? 0
               : 1;
}

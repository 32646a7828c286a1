#include "hopper_emulator/capsule.hpp"

#include "findings/log.hpp"
#include "findings/source_text.hpp"
#include "library/attach.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

namespace emu {

struct Replay::State {
    const CapsuleLaunch& launch;
    std::unique_ptr<Device> device;
    std::shared_ptr<Module> module;
};

Replay::Replay(const Capsule& capsule, std::size_t number, const Settings& settings) {
    if (number >= capsule.launches.size())
        throw CapsuleError("it has no launch number " + std::to_string(number + 1));
    for (const CapsuleSource& source : capsule.sources)
        know_source(source.file, source.text);
    const CapsuleLaunch& launch = capsule.launches[number];
    try {
        auto device =
            std::make_unique<Device>(settings, make_reporter(), launch.memory, launch.awaited, launch.serial);
        attach_all(*device, settings);
        auto module = device->load(capsule.modules[launch.module]);
        state_ = std::make_unique<State>(State{launch, std::move(device), std::move(module)});
    } catch (const std::invalid_argument& error) {
        throw CapsuleError(std::string("it is damaged: ") + error.what());
    } catch (const std::runtime_error& error) { // A ParseError, or variables that have no room.
        throw CapsuleError(std::string("it is damaged: ") + error.what());
    } catch (const std::bad_alloc&) {
        throw CapsuleError("it needs more memory than there is");
    }
}

Replay::~Replay() {
    if (state_)
        state_->device->finish();
}

Device& Replay::device() { return *state_->device; }

LaunchOutcome Replay::run() {
    const CapsuleLaunch& launch = state_->launch;
    Device& device = *state_->device;
    LaunchOutcome outcome;
    const auto prepared = device.prepare(*state_->module, launch.kernel, launch.config, launch.parameters,
                                         max_shared_per_block, true, outcome);
    if (!prepared)
        return outcome;
    try {
        device.memory().restore_awaited(launch.memory);
    } catch (const std::invalid_argument& error) {
        throw CapsuleError(std::string("it is damaged: ") + error.what());
    }
    outcome.result = device.run(prepared);
    return outcome;
}

bool Replay::comparable() const { return state_->launch.ended && state_->launch.alone; }

std::vector<std::size_t> Replay::differing() const {
    std::vector<std::size_t> numbers;
    const GlobalMemory& memory = state_->device->memory();
    std::size_t number = 0;
    for (const MemoryImage::Piece& piece : state_->launch.memory.pieces) {
        const Allocation& a = piece.allocation;
        if (piece.freed || number >= state_->launch.results.size())
            continue;
        // Parameters live and die with launches, this one and others.
        if (a.kind != Allocation::Kind::parameters && memory.find(a.base) &&
            memory_digest({memory.bytes(a.base), static_cast<std::size_t>(a.size)}) !=
                state_->launch.results[number])
            numbers.push_back(number);
        ++number;
    }
    return numbers;
}

} // namespace emu

#pragma once
/// \file
/// Capsules: recorded launches, each with all that it needs to run again anywhere: PTX, shape, parameters,
/// the memory it may touch, source text. A recorder writes them while a program runs; Replay runs one again,
/// in any order of completion, with the same findings, counters, trace and results.

#include "hopper_emulator/device.hpp"
#include "hopper_emulator/memory_image.hpp"
#include "hopper_emulator/observer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// The bytes are no capsule, or a damaged one. what() is one line.
class CapsuleError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// One launch, as it was when its first block began.
struct CapsuleLaunch {
    std::size_t module = 0;             ///< Index in Capsule::modules.
    std::string kernel;                 ///< Its mangled name.
    std::string name;                   ///< Demangled.
    LaunchConfig config;                ///< Its shape.
    std::vector<std::byte> parameters;  ///< The parameter block.
    MemoryImage memory;                 ///< All of it, the module's variables among it.
    std::vector<Address> awaited;       ///< What the module and the launch allocate again.
    std::uint64_t serial = 1;           ///< Number of the launch in its program.
    Settings settings;                  ///< It ran under these; names of files are not kept.
    bool ended = false;                 ///< The recording has its end: what follows is known.
    bool alone = false;                 ///< Neither the host nor another launch acted beside it.
    std::vector<std::uint64_t> results; ///< memory_digest() of each live piece of `memory` after it.
};

/// A source file that the kernels' lines name.
struct CapsuleSource {
    std::string file; ///< As SourceLine has it.
    std::string text; ///< All of it.
};

/// What a file of recorded launches holds.
struct Capsule {
    std::vector<std::string> modules;    ///< PTX. Files below the working directory are named relative to it.
    std::vector<CapsuleSource> sources;  ///< Those that could be read.
    std::vector<CapsuleLaunch> launches; ///< In the order of their begin.
    bool cut = false; ///< The last record is not complete: the program that wrote it was ended.
};

/// Bytes of one launch's memory that a capsule takes, at most.
inline constexpr std::uint64_t capsule_memory = 256u << 20;

/// Reads what a recorder wrote. Throws CapsuleError.
Capsule read_capsule(std::span<const std::byte> bytes);
/// A number that stands for some bytes.
std::uint64_t memory_digest(std::span<const std::byte> bytes);

/// Which launches to record.
struct RecordSettings {
    std::string file; ///< Is emptied first.
    /// Numbers of launches and (demangled, mangled or plain) names of kernels, separated by commas; "": all.
    std::string only{};
};
/// Writes each launch to the file as it begins, and its results as it ends. A launch whose memory is too
/// large is left out, and stderr told so; a file that cannot be written is told there once. `settings` go
/// into the capsule.
std::unique_ptr<Observer> make_recorder(const RecordSettings& what, const Settings& settings);

/// One launch of a capsule, ready to run on a device of its own.
class Replay {
  public:
    /// Loads the module and brings the memory back; nothing runs yet. The capsule must outlive it. Throws
    /// CapsuleError if that does not fit together.
    Replay(const Capsule& capsule, std::size_t launch, const Settings& settings);
    ~Replay();
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    /// Its device, to attach further observers before run() and to look at the memory after it.
    Device& device();
    /// Runs it, once. Throws as Device::launch().
    LaunchOutcome run();
    /// After run(): which live pieces of the recorded memory hold something else than after the recorded
    /// launch, by number among the live ones. Of a launch with Replay::comparable() only.
    std::vector<std::size_t> differing() const;
    /// Whether its results are known, and nobody else had a hand in them.
    bool comparable() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace emu
#pragma GCC visibility pop

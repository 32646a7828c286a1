#pragma once
/// \file
/// Which bytes of global memory an operation read and wrote: a kernel, a copy, a fill. Whoever orders
/// operations compares those that may overlap in time.

#include "hopper_emulator/address.hpp"
#include "hopper_emulator/findings.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// What was done to some bytes. Of several things the one that disturbs others most.
enum class Touch : std::uint8_t {
    strong_read,  ///< Only by volatile, relaxed or acquire loads: the program expects changes meanwhile.
    read,         ///< By an ordinary load or a copy.
    same_value,   ///< Written with what was there already.
    strong_write, ///< By atomics, volatile, relaxed or release stores.
    write,        ///< By an ordinary store or a copy.
    free,         ///< They went back to the allocator.
};

/// Bytes begin … end-1, all touched in the same way.
struct FootprintPiece {
    Address begin = 0;            ///< The first byte.
    Address end = 0;              ///< Behind the last one.
    Touch touch = Touch::read;    ///< What was done.
    std::uint32_t line = no_line; ///< Index into the footprint's lines.
    /// It is not known.
    static constexpr std::uint32_t no_line = ~std::uint32_t{0};
};

/// What an operation read and wrote.
struct Footprint {
    std::vector<FootprintPiece> pieces; ///< In ascending order, disjoint.
    std::vector<SourceLine> lines;      ///< Without a role.
    bool fences = false; ///< The kernel's code has fences, or loads and stores with acquire or release.
};

/// What a kernel did with griddepcontrol, as far as its order with other kernels depends on it.
struct GridFacts {
    bool triggered = false; ///< A thread executed griddepcontrol.launch_dependents.
    bool waited = false;    ///< A thread executed griddepcontrol.wait.
    /// In some block a thread had done so before the block let others begin, be it by its end.
    bool waited_first = false;
    /// Of a kernel that waited: what it did before, or without standing behind a thread that had waited.
    /// Null: not known.
    std::shared_ptr<const Footprint> early = nullptr;
    /// Instructions that read global memory after their block had let others begin, in ascending order.
    std::vector<std::uint32_t> behind_trigger;
};

/// How much of its footprint a launch keeps.
enum class FootprintWish : std::uint8_t {
    none,
    host_memory, ///< Memory that the host reaches, too.
    all,
};

} // namespace emu
#pragma GCC visibility pop

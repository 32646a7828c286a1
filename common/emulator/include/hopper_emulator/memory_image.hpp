#pragma once
/// \file
/// What global memory holds at one moment: allocations, their bytes, and where the next ones will lie. A
/// recording has one of each launch; memory made of it has the same addresses, whatever the host's are.

#include "hopper_emulator/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// Global memory at one moment.
struct MemoryImage {
    /// Addresses that programs get, one after the other.
    struct Part {
        Address begin = 0;      ///< The first.
        std::uint64_t size = 0; ///< So many.
        std::uint64_t next = 0; ///< Behind the last that was ever given, as an offset.
    };
    /// The bytes of an allocation, or its written words. Equal ones of several launches are one.
    template <class T>
    using Shared = std::shared_ptr<const std::vector<T>>;
    /// An allocation.
    struct Piece {
        Allocation allocation;     ///< Where it lies.
        bool freed = false;        ///< It is only remembered, for messages.
        Shared<std::byte> bytes{}; ///< What it holds; null if it is freed.
        Shared<std::uint64_t>
            written_words{}; ///< A bit for each 4-byte word, if writes are tracked; else null.
    };
    Part device;                 ///< Of all kinds, unless the host's are apart.
    Part host;                   ///< Of what the host reaches, too, if device memory is closed to it.
    bool closed = false;         ///< It is: see MachineSettings::closed_memory.
    std::uint64_t capacity = 0;  ///< Bytes that can be allocated in all.
    std::uint64_t serial = 0;    ///< Of the latest allocation.
    std::vector<Piece> pieces{}; ///< In ascending order of their addresses.
};

} // namespace emu
#pragma GCC visibility pop

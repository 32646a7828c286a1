#pragma once
/// \file
/// Facts by name: what the machine knows of a mistake, without words.

#include "hopper_emulator/address.hpp"
#include "hopper_emulator/dim3.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace emu {

class Warp;
enum class AccessKind : std::uint8_t;

/// A number that is read in hexadecimal.
struct Hexadecimal {
    std::uint64_t value;
};
/// A place in the cluster's shared memory, by its address in the window.
struct SharedPlace {
    std::uint32_t address;
};
/// A place in the shared memory of any block, by its offset.
struct SharedOffset {
    std::uint32_t offset;
};
/// A block, by its index in the grid.
struct BlockIndex {
    Dim3 index;
};
/// Bytes of global memory.
struct GlobalBytes {
    Address address;
    std::uint64_t bytes;
};
/// A thread.
struct Thread {
    const Warp* warp;
    unsigned lane;
};

struct Fact;
using Facts = std::vector<Fact>;

/// What is wrong with something that is not at an instruction, such as the bytes of a tensor map or the shape
/// of a launch.
struct Flaw {
    std::string_view kind; ///< As Mistake::kind.
    Facts facts{};
};

/// One fact of a mistake, by name.
struct Fact {
    std::string_view name;
    std::variant<std::int64_t, std::uint64_t, Hexadecimal, SharedPlace, SharedOffset, BlockIndex, GlobalBytes,
                 Thread, AccessKind, Dim3, std::string, Flaw>
        value;

    template <std::signed_integral T>
    Fact(std::string_view n, T number) : name(n), value(std::int64_t{number}) {}
    template <std::unsigned_integral T>
    Fact(std::string_view n, T number) : name(n), value(std::uint64_t{number}) {}
    /// A short technical term, such as the name of an operand.
    Fact(std::string_view n, const char* term) : name(n), value(std::string(term)) {}
    template <class T>
    Fact(std::string_view n, T v) : name(n), value(std::move(v)) {}
};

} // namespace emu

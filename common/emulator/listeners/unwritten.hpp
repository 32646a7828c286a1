#pragma once
/// \file
/// Follows values that were read from shared memory nobody has written, from register to register. Reading
/// such bytes is no mistake yet: sorts and exchanges of partial tiles read past what they hold and then drop
/// the value. Only a value that decides something, is stored or is handed on counts as used.

#include "machine/warp.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace emu::check {

/// The unwritten values in the registers of a cluster's warps.
class UnwrittenValues {
  public:
    bool empty() const { return values_.empty(); }

    /// The load at `pc` gave `lane` bytes that nobody has written, `offset` bytes behind the lane's address.
    /// Call it while the load executes, after before_instruction().
    void load(Warp& warp, std::uint32_t pc, unsigned lane, std::int64_t offset);

    /// To be called before each instruction. `used` gets the pc of each load whose value is used by it.
    void before_instruction(Warp& warp, std::uint32_t pc, LaneMask mask,
                            const std::function<void(std::uint32_t)>& used);

  private:
    /// Lanes of one register that hold such a value.
    struct Value {
        const Warp* warp = nullptr;
        std::uint32_t place = 0; ///< Offset of the register's row among the warp's frames.
        LaneMask lanes = 0;
        std::uint32_t load = 0; ///< pc of the load it comes from.
    };
    struct Flow; ///< One instruction, while it is looked at.

    const Value* find(const Warp& warp, std::uint32_t place) const;
    void set(const Warp& warp, std::uint32_t place, LaneMask lanes, LaneMask unwritten, std::uint32_t load);

    std::vector<Value> values_; ///< Few: such loads are rare.
};

} // namespace emu::check

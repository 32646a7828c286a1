#pragma once
/// \file
/// Which instructions of a kernel use registers of its wgmma, and how.

#include "machine/program.hpp"

#include <cstdint>
#include <vector>

namespace emu::check {

/// What an instruction does with registers that some wgmma.mma_async has as accumulators or as A, or that are
/// copied from or to such.
struct WgmmaUse {
    enum class Kind : std::uint8_t {
        none,     ///< It uses no such register.
        multiply, ///< wgmma.mma_async
        fence,    ///< wgmma.fence
        commit,
        wait,
        copy,     ///< mov from register to register: the assembler may take both for one.
        constant, ///< mov of a constant.
        other,
    };
    Kind kind = Kind::none;
    std::vector<std::uint32_t> reads, writes; ///< Places in the frame, of such registers.
    std::uint64_t pending = 0;                ///< wait: groups that may go on.
};

class WgmmaUses {
  public:
    explicit WgmmaUses(const Kernel& kernel);

    bool any() const { return any_; }
    const WgmmaUse& of(std::uint32_t pc) const { return uses_[pc]; }

  private:
    void collect(const Kernel& kernel, std::vector<std::vector<bool>>& watched) const;

    bool any_ = false;
    std::vector<WgmmaUse> uses_; ///< By instruction.
};

} // namespace emu::check

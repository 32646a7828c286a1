#include "findings/words/paths.hpp"

namespace emu::check {
namespace {

bool waits_for_groups(const ptx::Instruction& i) {
    return i.opcode == "cp" && i.has("async") && !i.has("bulk") && (i.has("wait_group") || i.has("wait_all"));
}

} // namespace

bool leads_back(const Kernel& kernel, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t pc = from; pc < kernel.sources.size(); ++pc)
        if (kernel.sources[pc]->opcode == "bra" && kernel.code[pc].target <= to)
            return true;
    return false;
}

bool has_barrier(const Kernel& kernel, std::uint32_t from, std::uint32_t to, bool in_warp) {
    for (std::uint32_t pc = from; pc < to; ++pc) {
        const ptx::Instruction& i = *kernel.sources[pc];
        if ((i.opcode == "bar" || i.opcode == "barrier") && !i.has("arrive") && !i.has("cluster") &&
            (in_warp || !i.has("warp")))
            return true;
    }
    return false;
}

bool lacks_barrier_on_way_back(const Kernel& kernel, std::uint32_t copy, std::uint32_t read, bool in_warp) {
    // Where rounds are unrolled, the later copy stands behind the read; in a loop it may stand before it.
    if (read < copy ? has_barrier(kernel, read, copy, in_warp) : !leads_back(kernel, read, copy))
        return false;
    const std::uint32_t begin = copy < read ? copy : 0;
    for (std::uint32_t pc = read; pc-- > begin;)
        if (waits_for_groups(*kernel.sources[pc]))
            return has_barrier(kernel, pc, read, in_warp);
    return false;
}

} // namespace emu::check

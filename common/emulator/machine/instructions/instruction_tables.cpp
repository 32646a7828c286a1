#include "machine/decoder.hpp"

namespace emu {

std::span<const std::span<const InstructionRow>> all_instruction_tables() {
    static const std::span<const InstructionRow> tables[] = {
        integer_instructions(),    floating_instructions(),  half_instructions(),
        compare_instructions(),    logic_instructions(),     convert_instructions(),
        video_instructions(),      move_instructions(),      memory_instructions(),
        atomic_instructions(),     control_instructions(),   warp_instructions(),
        barrier_instructions(),    fence_instructions(),     mbarrier_instructions(),
        async_copy_instructions(), bulk_copy_instructions(), tensor_copy_instructions(),
        cluster_instructions(),    misc_instructions(),
    };
    return tables;
}

} // namespace emu

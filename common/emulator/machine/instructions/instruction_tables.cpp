#include "machine/decoder.hpp"

namespace emu {

// One line for each file, here and below. No header declares them, so that a new table rebuilds only this
// file.
std::span<const InstructionRow> async_copy_instructions();
std::span<const InstructionRow> atomic_instructions();
std::span<const InstructionRow> barrier_instructions();
std::span<const InstructionRow> bulk_copy_instructions();
std::span<const InstructionRow> cluster_instructions();
std::span<const InstructionRow> compare_instructions();
std::span<const InstructionRow> control_instructions();
std::span<const InstructionRow> convert_instructions();
std::span<const InstructionRow> fence_instructions();
std::span<const InstructionRow> floating_instructions();
std::span<const InstructionRow> half_instructions();
std::span<const InstructionRow> integer_instructions();
std::span<const InstructionRow> ldmatrix_instructions();
std::span<const InstructionRow> wgmma_instructions();
std::span<const InstructionRow> logic_instructions();
std::span<const InstructionRow> mbarrier_instructions();
std::span<const InstructionRow> memory_instructions();
std::span<const InstructionRow> misc_instructions();
std::span<const InstructionRow> mma_instructions();
std::span<const InstructionRow> move_instructions();
std::span<const InstructionRow> tensor_copy_instructions();
std::span<const InstructionRow> video_instructions();
std::span<const InstructionRow> warp_instructions();
std::span<const InstructionRow> wmma_instructions();
std::span<const InstructionRow> wmma_move_instructions();

std::span<const std::span<const InstructionRow>> all_instruction_tables() {
    static const std::span<const InstructionRow> tables[] = {
        integer_instructions(),    floating_instructions(),  half_instructions(),
        compare_instructions(),    logic_instructions(),     convert_instructions(),
        video_instructions(),      move_instructions(),      memory_instructions(),
        atomic_instructions(),     control_instructions(),   warp_instructions(),
        barrier_instructions(),    fence_instructions(),     mbarrier_instructions(),
        async_copy_instructions(), bulk_copy_instructions(), tensor_copy_instructions(),
        cluster_instructions(),    misc_instructions(),      mma_instructions(),
        wmma_instructions(),       wmma_move_instructions(), ldmatrix_instructions(),
        wgmma_instructions(),
    };
    return tables;
}

} // namespace emu

#include "hopper_emulator/module.hpp"
#include "machine/decoder.hpp"

namespace emu {

std::vector<InstructionFacts> known_instructions() {
    std::vector<InstructionFacts> all;
    for (const auto table : all_instruction_tables())
        for (const InstructionRow& row : table)
            all.push_back({row.opcode, row.section});
    return all;
}

} // namespace emu

/// \file
/// Words for control flow, and for what ends a kernel on purpose.

#include "findings/words/words.hpp"

namespace emu {
namespace {

constexpr MistakeWords control_table[] = {
    {"branch-index", "brx.idx has {targets} targets, but its index is {index}.",
     "Check the value a switch or a computed branch depends on."},
    {"call-pointer",
     "The kernel calls through a pointer that does not point to a device function of this program.",
     "Take the function's address in device code; an address taken on the host is not valid here."},
    {"trap", "The kernel executed a trap instruction.",
     "The program or a library it uses stops here on purpose: look at the condition before it."},
    {"trap-grid-sync",
     "The kernel executed a trap instruction. Cooperative groups do so when grid.sync() is called in a "
     "launch "
     "that is not cooperative.",
     "Launch the kernel with cudaLaunchCooperativeKernel, or with the launch attribute "
     "cudaLaunchAttributeCooperative, and no more blocks than the device can hold at once."},
    {"breakpoint", "The kernel executed a brkpt instruction, and no debugger is there to continue it.",
     "Libraries put one where a program was built for another architecture than the code needs (CUTLASS "
     "does): "
     "check -gencode. Otherwise take out the breakpoint."},
    {"assertion", "Assertion `{condition}` failed in {function}.",
     "The kernel's author states this must hold here: look at the values it compares."},
    {"loop-same-state",
     "The loop comes back to the same state again and again: no register changes for good, nothing is "
     "written, and nothing is read that something else could write.",
     "Look for a loop whose condition never becomes false."},
    {"loop-counted",
     "The block executed {instructions} instructions without writing memory, passing a barrier or ending a "
     "thread.",
     "Look for a loop whose condition never becomes false."},
};

} // namespace

std::span<const MistakeWords> control_words() { return control_table; }

} // namespace emu

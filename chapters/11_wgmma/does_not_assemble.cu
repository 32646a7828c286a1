/// @file does_not_assemble.cu
/// Chapter 11: a mistake that no device ever sees. wgmma belongs to the architecture 90a, and the assembler
/// refuses it for plain 90. Not part of any program; the tests compile it for both and read the message.
__global__ void fence_alone() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

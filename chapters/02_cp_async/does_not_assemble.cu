/// @file does_not_assemble.cu
/// Chapter 2: a mistake that no device ever sees. `.cg` copies 16 bytes and nothing else, and the assembler
/// refuses 8 or 4. Not part of any program; the tests compile it with -DBYTES=8, 4 and 16 and read the
/// message.
#ifndef BYTES
#define BYTES 8
#endif

__global__ void cg_with_8_bytes(const float* in, float* out) {
    __shared__ alignas(16) float tile[4];
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(tile))),
                 "l"(__cvta_generic_to_global(in)), "n"(BYTES)
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[0] = tile[0];
}

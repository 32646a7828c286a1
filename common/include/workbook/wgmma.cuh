/// @file wgmma.cuh
/// wgmma: products of matrices that a warpgroup (128 threads, 4 warps) asks for and waits for, as for copies.
///
/// D (64 × N, in the registers of the warpgroup) = A (64 × K) · B (K × N) + D, where K is 32 bytes of
/// elements: 16 of bf16 and f16, 8 of tf32, 32 of e4m3. B lies in shared memory, A there too or in registers.
/// Where in shared memory says a matrix descriptor. The order is always
///
///     wgmma_fence();                 // what was written to d (and to a, in registers) comes first
///     wgmma_multiply<MatrixType::bf16>(d, a, b, adds);
///     ...
///     wgmma_commit();                // all since the last commit become a group
///     wgmma_wait<0>(d);              // until no group is pending; now d may be read
///
/// All of it is executed by all threads of the warpgroup, converged. Tiles that threads have written need
/// fence.proxy.async and a barrier before the first wgmma that reads them, since wgmma reads them through the
/// async proxy; tiles that a bulk or tensor copy has brought need the wait on its mbarrier.
///
/// Compile for compute_90a: no other target has these instructions (PTX ISA, 'wgmma.mma_async', 'Target ISA
/// Notes').
#pragma once

#include "matrix_layout.hpp"

#include <cstdint>

namespace workbook {

/// The descriptor of a tile by its generic address.
__device__ inline std::uint64_t matrix_descriptor(const void* tile, const MatrixLayout& layout) {
    return matrix_descriptor(static_cast<std::uint32_t>(__cvta_generic_to_shared(tile)), layout);
}

// ---- order ----

/// What the warpgroup's threads have done with registers so far comes before the wgmma that follow. Wanted
/// before the first one, and whenever accumulators or an A in registers were touched since (PTX ISA,
/// 'wgmma.fence').
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// The wgmma since the last commit become a group.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Keeps the compiler from moving uses of accumulators across this line. It knows no dependency between the
/// wait and the registers. Costs no instruction.
template <int count>
__device__ inline void wgmma_tie(float (&d)[count]) {
#pragma unroll
    for (float& each : d)
        asm volatile("" : "+f"(each)::"memory");
}

/// Waits until at most `pending` of the groups are not complete, the newest; the accumulators `d` of the
/// others may be read after it.
template <int pending, int... counts>
__device__ inline void wgmma_wait(float (&... d)[counts]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
    (wgmma_tie(d), ...);
}

// ---- the multiplications ----

/// Types of the elements of A and B. The sums are f32.
enum class MatrixType : std::uint8_t { bf16, f16, tf32, e4m3 };

// Inline assembly wants each register as an operand of its own and each type in the text, so lists are made
// by macros; undefined again below. The text of the accumulators: "%0, %1, …".
#define WORKBOOK_TEN(t)                                                                                      \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define WORKBOOK_TEXT_4 "%0, %1, %2, %3"
#define WORKBOOK_TEXT_8 WORKBOOK_TEXT_4 ", %4, %5, %6, %7"
#define WORKBOOK_TEXT_16 WORKBOOK_TEN() ", %10, %11, %12, %13, %14, %15"
#define WORKBOOK_TEXT_32 WORKBOOK_TEN() ", " WORKBOOK_TEN(1) ", " WORKBOOK_TEN(2) ", %30, %31"
#define WORKBOOK_TEXT_60                                                                                     \
    WORKBOOK_TEN()                                                                                           \
    ", " WORKBOOK_TEN(1) ", " WORKBOOK_TEN(2) ", " WORKBOOK_TEN(3) ", " WORKBOOK_TEN(4) ", " WORKBOOK_TEN(5)
#define WORKBOOK_TEXT_64 WORKBOOK_TEXT_60 ", %60, %61, %62, %63"
#define WORKBOOK_TEXT_90 WORKBOOK_TEXT_60 ", " WORKBOOK_TEN(6) ", " WORKBOOK_TEN(7) ", " WORKBOOK_TEN(8)
#define WORKBOOK_TEXT_96 WORKBOOK_TEXT_90 ", %90, %91, %92, %93, %94, %95"
#define WORKBOOK_TEXT_128                                                                                    \
    WORKBOOK_TEXT_90 ", " WORKBOOK_TEN(9) ", " WORKBOOK_TEN(10) ", " WORKBOOK_TEN(                           \
        11) ", %120, %121, %122, %123, %124, %125, %126, %127"

// The accumulators as operands, from d[i] on.
#define WORKBOOK_SUMS_4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define WORKBOOK_SUMS_8(i) WORKBOOK_SUMS_4(i), WORKBOOK_SUMS_4((i) + 4)
#define WORKBOOK_SUMS_16(i) WORKBOOK_SUMS_8(i), WORKBOOK_SUMS_8((i) + 8)
#define WORKBOOK_SUMS_32(i) WORKBOOK_SUMS_16(i), WORKBOOK_SUMS_16((i) + 16)
#define WORKBOOK_SUMS_64(i) WORKBOOK_SUMS_32(i), WORKBOOK_SUMS_32((i) + 32)
#define WORKBOOK_SUMS_96(i) WORKBOOK_SUMS_64(i), WORKBOOK_SUMS_32((i) + 64)
#define WORKBOOK_SUMS_128(i) WORKBOOK_SUMS_64(i), WORKBOOK_SUMS_64((i) + 64)

// One instruction. `p` is the predicate scale-d: false overwrites D. The factors 1, 1 are the signs.
#define WORKBOOK_WGMMA(shape_and_types, text, a, b, adds, tail)                                              \
    "{\n.reg .pred p;\nsetp.ne.b32 p, %" #adds ", 0;\nwgmma.mma_async.sync.aligned.m64" shape_and_types      \
    " {" text "}, " a ", %" #b ", p, 1, 1" tail ";\n}"

// All multiplications of one N: with A by descriptor and with A in registers. The numbers are those of the
// operands behind the accumulators, of which there are n / 2.
#define WORKBOOK_DEFINE_WGMMA(n, sums, text, o0, o1, o2, o3, o4, o5, o6)                                     \
    template <MatrixType type, Major major_a = Major::k, Major major_b = Major::k>                           \
    __device__ inline void wgmma_multiply(float(&d)[sums], std::uint64_t a, std::uint64_t b, bool adds) {    \
        constexpr int across_a = major_a == Major::mn, across_b = major_b == Major::mn;                      \
        static_assert(type <= MatrixType::f16 || !(across_a || across_b), "only 16-bit types lie across k"); \
        if constexpr (type == MatrixType::bf16)                                                              \
            asm volatile(                                                                                    \
                WORKBOOK_WGMMA("n" #n "k16.f32.bf16.bf16", text, "%" #o0, o1, o2, ", %" #o3 ", %" #o4)       \
                : WORKBOOK_SUMS_##sums(0)                                                                    \
                : "l"(a), "l"(b), "r"(int{adds}), "n"(across_a), "n"(across_b));                             \
        else if constexpr (type == MatrixType::f16)                                                          \
            asm volatile(                                                                                    \
                WORKBOOK_WGMMA("n" #n "k16.f32.f16.f16", text, "%" #o0, o1, o2, ", %" #o3 ", %" #o4)         \
                : WORKBOOK_SUMS_##sums(0)                                                                    \
                : "l"(a), "l"(b), "r"(int{adds}), "n"(across_a), "n"(across_b));                             \
        else if constexpr (type == MatrixType::tf32)                                                         \
            asm volatile(WORKBOOK_WGMMA("n" #n "k8.f32.tf32.tf32", text, "%" #o0, o1, o2, "")                \
                         : WORKBOOK_SUMS_##sums(0)                                                           \
                         : "l"(a), "l"(b), "r"(int{adds}));                                                  \
        else                                                                                                 \
            asm volatile(WORKBOOK_WGMMA("n" #n "k32.f32.e4m3.e4m3", text, "%" #o0, o1, o2, "")               \
                         : WORKBOOK_SUMS_##sums(0)                                                           \
                         : "l"(a), "l"(b), "r"(int{adds}));                                                  \
    }                                                                                                        \
    template <MatrixType type, Major major_b = Major::k>                                                     \
    __device__ inline void wgmma_multiply(float(&d)[sums], const std::uint32_t(&a)[4], std::uint64_t b,      \
                                          bool adds) {                                                       \
        static_assert(type == MatrixType::bf16, "A in registers is there for bf16");                         \
        asm volatile(WORKBOOK_WGMMA("n" #n "k16.f32.bf16.bf16", text,                                        \
                                    "{%" #o0 ", %" #o1 ", %" #o2 ", %" #o3 "}", o4, o5, ", %" #o6)           \
                     : WORKBOOK_SUMS_##sums(0)                                                               \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int{adds}),                   \
                       "n"(int{major_b == Major::mn}));                                                      \
    }

/// d = A · B, added to what d holds if `adds`. A and B by descriptor, in the order in memory that `major_a`
/// and `major_b` say; or A in registers, where a[i] has the elements of fragment register i (PTX ISA,
/// 'Register Fragments'), which must stay unchanged until the group is waited for. N is twice the number of
/// accumulators.
WORKBOOK_DEFINE_WGMMA(8, 4, WORKBOOK_TEXT_4, 4, 5, 6, 7, 8, 9, 10)
WORKBOOK_DEFINE_WGMMA(16, 8, WORKBOOK_TEXT_8, 8, 9, 10, 11, 12, 13, 14)
WORKBOOK_DEFINE_WGMMA(32, 16, WORKBOOK_TEXT_16, 16, 17, 18, 19, 20, 21, 22)
WORKBOOK_DEFINE_WGMMA(64, 32, WORKBOOK_TEXT_32, 32, 33, 34, 35, 36, 37, 38)
WORKBOOK_DEFINE_WGMMA(128, 64, WORKBOOK_TEXT_64, 64, 65, 66, 67, 68, 69, 70)
WORKBOOK_DEFINE_WGMMA(192, 96, WORKBOOK_TEXT_96, 96, 97, 98, 99, 100, 101, 102)
WORKBOOK_DEFINE_WGMMA(256, 128, WORKBOOK_TEXT_128, 128, 129, 130, 131, 132, 133, 134)

#undef WORKBOOK_TEN
#undef WORKBOOK_TEXT_4
#undef WORKBOOK_TEXT_8
#undef WORKBOOK_TEXT_16
#undef WORKBOOK_TEXT_32
#undef WORKBOOK_TEXT_60
#undef WORKBOOK_TEXT_64
#undef WORKBOOK_TEXT_90
#undef WORKBOOK_TEXT_96
#undef WORKBOOK_TEXT_128
#undef WORKBOOK_SUMS_4
#undef WORKBOOK_SUMS_8
#undef WORKBOOK_SUMS_16
#undef WORKBOOK_SUMS_32
#undef WORKBOOK_SUMS_64
#undef WORKBOOK_SUMS_96
#undef WORKBOOK_SUMS_128
#undef WORKBOOK_WGMMA
#undef WORKBOOK_DEFINE_WGMMA

} // namespace workbook

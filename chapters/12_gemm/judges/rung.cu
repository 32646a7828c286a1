/// @file rung.cu
/// The only device code among the judges: they launch what others wrote, and this is the chapter's own.
#include "rung.hpp"

#include "../launching.cuh"
#include "../rungs/roles.cuh"

void judge::launch_rung(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, unsigned m,
                        unsigned n, unsigned k) {
    using namespace gemm;
    using T = roles::T;
    constexpr int stages = 6;
    const Operands of{a, b, out, {m, n, k}};
    if (anything_to_do(of))
        workbook::launch(roles::roles_gemm<stages>,
                         {.grid = grid_of<T>(of.extent),
                          .block = roles::threads,
                          .dynamic_shared = sizeof(roles::Memory<stages>)},
                         of.extent, operand_map(a, m, k, T::rows), operand_map(b, n, k, T::columns), out);
}

/// @file rung.hpp
/// The rung that beat_this_rung is about, as the chapter has it: what an answer is measured against on a GPU.
#pragma once

#include <cuda_bf16.h>

namespace judge {

/// out (m × n) = a (m × k) · b (n rows of k), all in device memory, packed, at multiples of 16 bytes; n and k
/// are multiples of 8. Enqueues it and does not wait. Throws std::invalid_argument for other matrices.
void launch_rung(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, unsigned m, unsigned n,
                 unsigned k);

} // namespace judge

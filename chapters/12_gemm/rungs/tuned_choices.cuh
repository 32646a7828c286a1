/// @file tuned_choices.cuh
/// The fastest that the tuner found for each of its sizes. Made by tuner/choices.py from its trials on an
/// H200, docs/measurements/h200_gemm_tuner.json, and not by hand.
#pragma once

#include "tuned.cuh"

namespace gemm::tuned {

inline constexpr Tuned choices[] = {
    {{8192, 8192, 8192}, 8, launch<Choice<3, 128, 4, 1, 2, 2>>},
    {{4096, 4096, 4096}, 4, launch<Choice<4, 128, 4, 2, 1, 1>>},
    {{2048, 2048, 2048}, 16, launch<Choice<2, 128, 6, 1, 2, 2>>},
    {{8192, 8192, 1024}, 8, launch<Choice<3, 128, 4, 1, 2, 2>>},
    {{16384, 1024, 4096}, 16, launch<Choice<4, 128, 4, 1, 2, 1>>},
};

} // namespace gemm::tuned

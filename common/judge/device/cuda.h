// <cuda.h> for NVRTC, which refuses the functions of the driver: what device code needs of it.
#pragma once

/// The 128 bytes of a tensor map (CUDA driver API, 'Tensor Map Object Management').
struct alignas(64) CUtensorMap_st {
    unsigned long long opaque[16];
};
using CUtensorMap = CUtensorMap_st;

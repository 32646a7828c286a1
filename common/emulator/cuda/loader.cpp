/// \file
/// Nothing but a name: libcudart.so.NN and libcuda.so.1 are this file, linked with
/// libhopper_emulator_cuda.so, where every function is. So both libraries share one emulator, whichever of
/// them a program loads first.

extern "C" int cuDriverGetVersion(int* version);

/// A use of the emulator, so that the linker keeps the dependency.
[[gnu::used]] static int (*const emulator_dependency)(int*) = cuDriverGetVersion;

/// @file backend.hpp
/// Whether the tests of this process run on a GPU or on the emulator.
#pragma once

#include <string>

namespace test_support {

/// An environment variable, or `otherwise` where it is not set or empty.
[[nodiscard]] std::string environment_variable(const char* name, const std::string& otherwise = {});

/// 'gpu' or 'emulator', whatever WORKBOOK_BACKEND (auto, gpu, emulator) and the machine say: auto is the GPU
/// if there is one of compute capability 9.0 or newer. Asks nvidia-smi and so leaves CUDA alone. Throws
/// std::runtime_error if WORKBOOK_BACKEND is something else.
[[nodiscard]] std::string choose_backend();

/// Directory of the emulator's libcudart.so.13, given by EMULATOR_LIB; empty if there is none.
[[nodiscard]] std::string emulator_library();

/// Puts the emulator's libraries first in the loader's search and starts this program anew, if the backend is
/// the emulator and its libraries are known and not first yet. Else only notes the choice in
/// WORKBOOK_BACKEND.
void enter_backend(char** argv);

} // namespace test_support

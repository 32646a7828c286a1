#include "images/demangle.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace emu::cuda {

std::string demangled(const std::string& mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        __cxxabiv1::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : mangled;
}

} // namespace emu::cuda

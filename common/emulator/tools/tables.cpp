/// \file
/// Prints what the emulator supports, from the tables that it works with, one entry a line:
///
///     tables instructions         section of the PTX ISA and opcode, from the decoder's tables
///     tables counters             name and meaning
///     tables functions LIBRARY    those of the names on standard input that LIBRARY defines itself
///
/// Functions that the emulator does not have are weak definitions which say so (make_fallbacks.py); what is
/// defined once more by the emulator is not.

#include "hopper_emulator/counters.hpp"
#include "hopper_emulator/module.hpp"

#include <dlfcn.h>
#include <link.h>

#include <iostream>
#include <string>
#include <string_view>

namespace {

int print_instructions() {
    for (const emu::InstructionFacts& each : emu::known_instructions())
        std::cout << each.section << ' ' << each.opcode << '\n';
    return 0;
}

int print_counters() {
    for (unsigned i = 0; i < emu::counter_count; ++i)
        std::cout << name_of(emu::Counter{static_cast<std::uint8_t>(i)}) << ' '
                  << meaning_of(emu::Counter{static_cast<std::uint8_t>(i)}) << '\n';
    return 0;
}

/// Whether the library, or one that it brings, has the name, and not as a weak definition.
bool defines(void* library, const std::string& name) {
    void* const address = dlsym(library, name.c_str());
    Dl_info info{};
    void* extra = nullptr;
    if (!address || !dladdr1(address, &info, &extra, RTLD_DL_SYMENT) || !extra)
        return false;
    const auto* symbol = static_cast<const ElfW(Sym)*>(extra);
    return ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
}

int print_functions(const char* path) {
    void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        std::cerr << "tables: " << dlerror() << '\n';
        return 2;
    }
    for (std::string name; std::cin >> name;)
        if (defines(library, name))
            std::cout << name << '\n';
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == "instructions")
        return print_instructions();
    if (argc == 2 && std::string_view(argv[1]) == "counters")
        return print_counters();
    if (argc == 3 && std::string_view(argv[1]) == "functions")
        return print_functions(argv[2]);
    std::cerr << "usage: tables instructions | counters | functions LIBRARY\n";
    return 2;
}

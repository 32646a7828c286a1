// For ptx_forms.py: decodes the kernels k0, k1, … of a PTX file and prints what each of them is refused for.

#include "findings/log.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/device.hpp"
#include "machine/program.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: decode_forms FILE COUNT\n";
        return 2;
    }
    std::ifstream in(arguments[1]);
    std::ostringstream text;
    text << in.rdbuf();
    bool all = true;
    try {
        emu::Device device(emu::Settings{}, emu::make_reporter());
        const auto program = device.load(text.str());
        for (int i = 0; i < std::atoi(arguments[2]); ++i)
            try {
                if (!program->kernel("k" + std::to_string(i)))
                    throw std::runtime_error("not found");
            } catch (const std::exception& error) {
                std::cout << "k" << i << ": " << error.what() << "\n";
                all = false;
            }
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 2;
    }
    return all ? 0 : 1;
}

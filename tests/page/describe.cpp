/// \file
/// Runs a launch as a page does (common/emulator/wasm/page.cpp), on the host: what it prints must be the same
/// from describe.mjs, which runs it in WebAssembly.
///
///     describe FILE late|early|random SEED
///
/// FILE: lines 'kernel NAME', 'shape' and ten numbers, 'array BYTES' or 'value' and a number of 64 bits for
/// each parameter, 'ptx', and then the module's text. Arrays hold bytes 0, 1, 2, …

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
void emulator_describe(const char*, std::size_t, const char*, std::size_t, const std::uint32_t*);
void emulator_add_value(const std::byte*, std::size_t);
void emulator_add_array(const std::byte*, std::size_t);
bool emulator_run(unsigned, double, bool, double);
void emulator_record(double);
const char* emulator_text(unsigned);
std::size_t emulator_text_size(unsigned);
double emulator_instructions();
const std::byte* emulator_array(unsigned);
std::size_t emulator_array_size(unsigned);
}

namespace {

void add_parameter(const std::string& kind, std::uint64_t number) {
    if (kind == "value")
        return emulator_add_value(reinterpret_cast<const std::byte*>(&number), sizeof number);
    std::vector<std::byte> bytes(number);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i);
    emulator_add_array(bytes.data(), bytes.size());
}

void describe(std::istream& in) {
    struct Parameter {
        std::string kind;
        std::uint64_t number = 0;
    };
    std::string word, kernel;
    std::vector<std::uint32_t> shape(10);
    std::vector<Parameter> parameters;
    while (in >> word && word != "ptx") {
        if (word == "kernel")
            in >> kernel;
        else if (word == "shape")
            for (std::uint32_t& number : shape)
                in >> number;
        else
            in >> parameters.emplace_back(Parameter{word}).number;
    }
    in.get();
    const std::string ptx(std::istreambuf_iterator<char>(in), {});
    emulator_describe(ptx.data(), ptx.size(), kernel.data(), kernel.size(), shape.data());
    for (const Parameter& each : parameters)
        add_parameter(each.kind, each.number);
}

} // namespace

int main(int count, char** arguments) {
    if (count != 4)
        return 2;
    std::ifstream file(arguments[1]);
    describe(file);
    const std::string_view order = arguments[2];
    emulator_record(100'000);
    if (!emulator_run(order == "early" ? 1 : order == "random" ? 2 : 0, std::stod(arguments[3]), true, 0))
        std::cout << "refused: " << emulator_text(0) << '\n';
    for (const unsigned which : {1u, 2u, 3u, 5u})
        std::cout << std::string_view(emulator_text(which), emulator_text_size(which)) << '\n';
    std::cout << static_cast<std::uint64_t>(emulator_instructions()) << " instructions\n";
    for (unsigned i = 0; const std::byte* at = emulator_array(i); ++i) {
        for (std::size_t k = 0; k < emulator_array_size(i); ++k)
            std::cout << static_cast<unsigned>(at[k]) << ' ';
        std::cout << '\n';
    }
}

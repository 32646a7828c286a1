/// \file
/// Short ways to PTX for the tests of the front end.
#pragma once

#include "ptx/parser.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ptx_text {

/// The three lines that every module begins with; the text after them begins on line 4.
inline const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";

inline emu::ptx::Module module_of(std::string_view text) {
    return emu::ptx::parse(header + std::string(text));
}

/// A module with one kernel `k`; the body begins on line 5.
inline std::string kernel_text(std::string_view body) {
    return header + ".visible .entry k()\n{\n" + std::string(body) + "\nret;\n}\n";
}

inline emu::ptx::Module kernel(std::string_view body) { return emu::ptx::parse(kernel_text(body)); }

/// The first instruction of the first function.
inline const emu::ptx::Instruction& first(const emu::ptx::Module& module) {
    return module.functions.at(0).body.at(0);
}

/// What the parser says about a whole text; empty if it accepts it.
inline std::string error_in(std::string text) {
    try {
        emu::ptx::parse(std::move(text));
    } catch (const emu::ptx::ParseError& error) {
        return error.what();
    }
    return {};
}

inline std::string error_in_module(std::string_view text) { return error_in(header + std::string(text)); }
inline std::string error_in_kernel(std::string_view body) { return error_in(kernel_text(body)); }

/// A file of the directory data/.
inline std::string data_file(const std::string& name) {
    std::ifstream file(std::string(DATA) + "/" + name, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read the test data " + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Number of the first line of `text` that contains `marker`, from 1; 0 if none does.
inline unsigned line_with(std::string_view text, std::string_view marker) {
    const std::size_t place = text.find(marker);
    if (place == std::string_view::npos)
        return 0;
    unsigned line = 1;
    for (const char c : text.substr(0, place))
        line += c == '\n';
    return line;
}

} // namespace ptx_text

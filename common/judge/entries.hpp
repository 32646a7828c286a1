/// @file entries.hpp
/// The kernels of a PTX text: their names and the sizes of their parameters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace judge {

/// A kernel as PTX declares it.
struct Entry {
    std::string symbol;             ///< as the compiler mangled it
    std::vector<std::size_t> sizes; ///< bytes of each parameter
};

/// Every kernel that the text defines.
[[nodiscard]] std::vector<Entry> entries(std::string_view ptx);

/// The name that the symbol had in the source, for functions outside of namespaces; else the symbol.
[[nodiscard]] std::string plain_name(std::string_view symbol);

/// What the symbol, or a type's name by typeid, means: 'reverse_tile(float const*, float*, unsigned long)'.
[[nodiscard]] std::string demangled(const std::string& symbol);

} // namespace judge

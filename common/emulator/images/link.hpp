#pragma once
/// \file
/// A linker for PTX: programs built with -rdc=true bring one module per source file, and these refer to each
/// other's functions and variables.

#include <string>
#include <vector>

namespace emu::cuda {

/// One module that holds everything of `texts`: external declarations give way to definitions, weak
/// duplicates to the first, and names of local linkage that occur in several modules become distinct. Throws
/// std::runtime_error if two modules define the same symbol, and ptx::ParseError, which says in which module,
/// where the text is damaged. A single text is returned as it is.
std::string link_ptx(std::vector<std::string> texts);

} // namespace emu::cuda

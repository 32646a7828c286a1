#pragma once
/// \file
/// Words that Order uses for operations and what they do.

#include "cuda/order.hpp"

#include <string>
#include <vector>

namespace emu::cuda {

/// "reads", "writes", "frees".
const char* verb(Touch touch);
std::string capitalised(std::string text);
/// "kernel f in stream 1".
std::string with_stream(const OperationFacts& facts);
/// The same beside the other operation.
std::string with_stream(const OperationFacts& facts, const OperationFacts& beside);
/// "a kernel", "a copy".
std::string a_kind(const OperationFacts& facts);
/// Adds the line of a piece of the operation's footprint, if that is known, or of another footprint of it.
void add_line(std::vector<SourceLine>& lines, const OperationFacts& facts, const FootprintPiece& piece);
void add_line(std::vector<SourceLine>& lines, const OperationFacts& facts, const Footprint& footprint,
              const FootprintPiece& piece);

} // namespace emu::cuda

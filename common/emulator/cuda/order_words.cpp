#include "cuda/order_words.hpp"

namespace emu::cuda {

const char* verb(Touch touch) {
    switch (touch) {
    case Touch::read:
    case Touch::strong_read:
        return "reads";
    case Touch::free:
        return "frees";
    default:
        return "writes";
    }
}

std::string capitalised(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

std::string with_stream(const OperationFacts& facts) {
    return facts.what + " in " + (facts.graph ? "a graph launched in " : "") + facts.stream;
}
std::string with_stream(const OperationFacts& facts, const OperationFacts& beside) {
    return facts.graph && facts.graph == beside.graph ? facts.what + " of the same graph"
                                                      : with_stream(facts);
}

std::string a_kind(const OperationFacts& facts) {
    return facts.kind == OperationKind::kernel ? "a kernel"
           : facts.kind == OperationKind::fill ? "a memset"
                                               : "a copy";
}

void add_line(std::vector<SourceLine>& lines, const OperationFacts& facts, const Footprint& footprint,
              const FootprintPiece& piece) {
    if (piece.line >= footprint.lines.size())
        return;
    lines.push_back(footprint.lines[piece.line]);
    lines.back().role = facts.what + " " + verb(piece.touch) + " here";
}
void add_line(std::vector<SourceLine>& lines, const OperationFacts& facts, const FootprintPiece& piece) {
    add_line(lines, facts, *facts.footprint, piece);
}

} // namespace emu::cuda

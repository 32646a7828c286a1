#include "findings/words/uses.hpp"

namespace emu::check {

std::string_view deed(Use use) {
    switch (use) {
    case Use::stored:
        return "stored to global memory";
    case Use::address:
        return "part of an address";
    case Use::decision:
        return "what a branch, a store or a barrier depends on";
    case Use::copied:
        return "copied to global memory by an asynchronous copy";
    case Use::handed_on:
        return "handed to a function or to an instruction that acts on it";
    }
    return "used";
}

} // namespace emu::check

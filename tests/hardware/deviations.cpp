#include "deviations.hpp"

#include <algorithm>
#include <array>
#include <regex>

namespace hardware {
namespace {

constexpr auto table = std::to_array<Deviation>({
    {R"(\bbfe\.s32 [^;]*, (3[2-9]|[4-9]\d), \d+;)",
     "of a constant position of 32 or more and a constant length: folded to -1"},
    {R"(\bbfi\.b32 [^;]*, \d+, (3[2-9]|[4-9]\d);)",
     "of a constant position and a constant length of 32 or more: of the length 5 bits count"},
    {R"(@p shfl\.sync\.(down|bfly|idx))", "reads lanes that do not take part, whose values PTX leaves open"},
    {R"(\b(abs|neg)\.s16)", "of -32768: the assembler takes what uses it for 32768, in 32 bits"},
});

} // namespace

std::span<const Deviation> deviations() { return table; }

std::vector<bool> comparable(const RandomProgram& program) {
    std::vector<std::regex> patterns;
    for (const Deviation& deviation : table)
        patterns.emplace_back(std::string(deviation.pattern));
    std::vector<bool> good;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const auto& needs = program.needs[i];
        good.push_back(std::ranges::all_of(needs, [&](std::size_t k) { return good[k]; }) &&
                       std::ranges::none_of(patterns, [&](const std::regex& pattern) {
                           return std::regex_search(program.instructions[i], pattern);
                       }));
    }
    return good;
}

} // namespace hardware

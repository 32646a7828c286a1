#include "deviations.hpp"

#include <algorithm>
#include <array>
#include <regex>

namespace hardware {
namespace {

constexpr auto table = std::to_array<Deviation>({
    {R"(\bbfe\.s32 [^;]*, (3[2-9]|[4-9]\d), \d+;)", "",
     "of a constant position of 32 or more and a constant length: folded to -1"},
    {R"(\bbfi\.b32 [^;]*, \d+, (3[2-9]|[4-9]\d);)", "",
     "of a constant position and a constant length of 32 or more: of the length 5 bits count"},
    {R"(@p shfl\.sync\.(down|bfly|idx))", "",
     "reads lanes that do not take part, whose values PTX leaves open"},
    {"", R"(\b(abs|neg)\.s16)", "of -32768: what uses it takes it for 32768, in 32 bits"},
    {R"(\bcvt\.sat\.)", R"(\b(abs|neg)\.s32)", "of -2^31 is taken for 2^31"},
    {R"(\bcvt\S*\.sat\.[us](8|16)\.)", R"(\bcvt\.)",
     "of a conversion: the two become one, which saturates otherwise"},
    {R"(\bcvt\.rzi\S*f16 )", R"(\b(cvt|neg|abs)\S*f16)",
     "of a half made of another: the two become one, which reads the bits of the other or rounds to nearest"},
    {R"(\bsetp\.ne\.b32 q, )", R"(\bset\.\S*ftz)",
     "of the mask that a comparison made, with zero: the comparison is repeated without its .ftz"},
});

struct Patterns {
    std::regex own, producer;
    bool any_operand;
};

} // namespace

std::span<const Deviation> deviations() { return table; }

std::vector<bool> comparable(const RandomProgram& program) {
    std::vector<Patterns> patterns;
    for (const Deviation& deviation : table)
        patterns.push_back({std::regex(std::string(deviation.pattern)),
                            std::regex(std::string(deviation.producer)), deviation.producer.empty()});
    const auto& text = program.instructions;
    std::vector<bool> good;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto& needs = program.needs[i];
        const auto deviates = [&](const Patterns& each) {
            return std::regex_search(text[i], each.own) &&
                   (each.any_operand || std::ranges::any_of(needs, [&](std::size_t k) {
                        return std::regex_search(text[k], each.producer);
                    }));
        };
        good.push_back(std::ranges::all_of(needs, [&](std::size_t k) { return good[k]; }) &&
                       std::ranges::none_of(patterns, deviates));
    }
    return good;
}

} // namespace hardware

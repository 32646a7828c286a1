#include "findings/words/words.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "machine/cluster.hpp"
#include "machine/device.hpp"

#include <algorithm>
#include <array>

namespace emu {
namespace {

/// The text of one fact. What depends on the place of the mistake asks its cluster.
class FactText {
  public:
    explicit FactText(Cluster* cluster) : cluster_(cluster) {}
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(Hexadecimal number) const { return hexadecimal(number.value); }
    std::string operator()(SharedPlace place) const { return shared_text(*cluster_, place.address); }
    std::string operator()(SharedOffset place) const { return shared_name(cluster_->info(), place.offset); }
    std::string operator()(BlockIndex block) const { return block_name(block.index); }
    std::string operator()(GlobalBytes where) const {
        return describe_global_address(memory(), where.address, where.bytes);
    }
    std::string operator()(Thread thread) const { return thread_name(*thread.warp, thread.lane); }
    std::string operator()(AccessKind kind) const {
        return kind == AccessKind::read ? "reads" : kind == AccessKind::write ? "writes" : "updates";
    }
    std::string operator()(Dim3 d) const {
        return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
    }
    std::string operator()(const std::string& term) const { return term; }
    std::string operator()(const Flaw& flaw) const { return put_into_words(flaw); }

    std::string advice(const Fact& fact) const {
        return advice_for_global_address(memory(), std::get<GlobalBytes>(fact.value).address);
    }

  private:
    const GlobalMemory& memory() const { return cluster_->launch().device().memory(); }
    Cluster* cluster_;
};

/// Puts the facts into a text. Throws std::logic_error where a fact is missing.
std::string fill(std::string_view text, std::span<const Fact> facts, const FactText& text_of) {
    std::string filled;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = std::min(text.find('{', at), text.size());
        filled += text.substr(at, open - at);
        if (open == text.size())
            break;
        const std::size_t close = text.find('}', open);
        std::string_view name = text.substr(open + 1, close - open - 1);
        at = close + 1;
        std::string_view noun; // {number:noun}: "1 noun", "2 nouns"
        if (const std::size_t colon = name.find(':'); colon != name.npos) {
            noun = name.substr(colon + 1);
            name = name.substr(0, colon);
        }
        constexpr std::string_view suffix = ".advice";
        const bool wants_advice = name.ends_with(suffix);
        if (wants_advice)
            name.remove_suffix(suffix.size());
        const auto fact = std::ranges::find(facts, name, &Fact::name);
        if (fact == facts.end())
            throw std::logic_error("no fact " + std::string(name) + " for: " + std::string(text));
        const std::string value = wants_advice ? text_of.advice(*fact) : std::visit(text_of, fact->value);
        filled += value;
        if (!noun.empty())
            filled += " " + std::string(noun) + (value == "1" ? "" : "s");
    }
    return filled;
}

const MistakeWords& words_for(std::string_view kind) {
    if (const MistakeWords* const words = find_words(kind))
        return *words;
    throw std::logic_error("no words for " + std::string(kind));
}

} // namespace

std::span<const std::span<const MistakeWords>> all_mistake_words() {
    static const std::array tables{barrier_words(), cluster_words(), control_words(),   copy_words(),
                                   launch_words(),  memory_words(),  tensor_map_words()};
    return tables;
}

const MistakeWords* find_words(std::string_view kind) {
    for (const auto& table : all_mistake_words())
        if (const auto found = std::ranges::find(table, kind, &MistakeWords::kind); found != table.end())
            return &*found;
    return nullptr;
}

Diagnostic put_into_words(const Mistake& mistake) {
    const MistakeWords& words = words_for(mistake.kind);
    Facts facts = mistake.facts;
    facts.emplace_back("thread", Thread{mistake.warp, mistake.lane});
    const FactText text_of(&mistake.warp->cluster());
    const auto text = [&](std::string_view pattern) { return fill(pattern, facts, text_of); };
    Diagnostic d;
    d.finding = mistake.finding;
    d.fault = mistake.fault;
    d.message = text(words.message);
    d.advice = text(words.advice);
    d.locations.push_back(source_line(*mistake.warp, mistake.lane, mistake.pc, text(words.role)));
    if (mistake.other_pc)
        d.locations.insert(words.other_first ? d.locations.begin() : d.locations.end(),
                           source_line(mistake.warp->cluster(), *mistake.other_pc, text(words.other_role)));
    return d;
}

std::string put_into_words(const Flaw& flaw) {
    return fill(words_for(flaw.kind).message, flaw.facts, FactText(nullptr));
}

} // namespace emu

#pragma once
/// \file
/// What an asynchronous operation has asked already. A tile has been written by few threads and read by few,
/// so most of its words ask the same.

#include "happens_before/shadow.hpp"

#include <array>
#include <cstdint>

namespace emu::check {

class Answers {
  public:
    /// Another operation asks, or about another space, whose references are others.
    void begin() {
        if (++asker_ == 0) // Once around: what the first ones asked would seem to be new.
            *this = {};
    }

    /// Whether the access `ref` is ordered before the operation; `ask()` says so.
    template <class Ask>
    bool ordered(Ref ref, Ask&& ask) {
        return known(at(ref).ordered, ask);
    }
    /// Whether what the access `ref` wrote can be seen in the operation's proxy; `ask()` says so.
    template <class Ask>
    bool visible(Ref ref, Ask&& ask) {
        return known(at(ref).visible, ask);
    }
    /// The readers that a word remembers once the operation, as `reader`, has read it too; `ask(before)` says
    /// who.
    template <class Ask>
    ReadPair readers(ReadPair before, Ref reader, Ask&& ask) {
        if (last_.asker != asker_ || last_.reader != reader || last_.before != before)
            last_ = {asker_, reader, before, ask(before)};
        return last_.after;
    }

  private:
    enum class Known : std::uint8_t { nothing, no, yes };
    struct Answer {
        Ref ref = 0;
        std::uint32_t asker = 0;
        Known ordered = Known::nothing, visible = Known::nothing;
    };
    struct Readers {
        std::uint32_t asker = 0;
        Ref reader = 0;
        ReadPair before, after;
    };

    Answer& at(Ref ref) {
        Answer& answer = answers_[ref % answers_.size()];
        if (answer.ref != ref || answer.asker != asker_)
            answer = {.ref = ref, .asker = asker_};
        return answer;
    }
    template <class Ask>
    static bool known(Known& answer, Ask&& ask) {
        if (answer == Known::nothing)
            answer = ask() ? Known::yes : Known::no;
        return answer == Known::yes;
    }

    std::uint32_t asker_ = 1;
    std::array<Answer, 128> answers_{}; ///< For the lanes of four records.
    Readers last_;
};

} // namespace emu::check

#pragma once
/// \file
/// Why a flag in memory does not order two accesses, in words.

#include "findings/words/waits.hpp"
#include "happens_before/engine.hpp"

#include <functional>
#include <string>

namespace emu::check {

class FlagWords {
  public:
    explicit FlagWords(Engine& engine) : engine_(engine), cluster_(engine.cluster()) {}

    /// Words for a race, to be asked for at the end, when it is known who has read the flag.
    std::function<Hint()> of(const Meeting& meeting) const;

  private:
    /// One of two accesses.
    struct End : FlagEnd {
        std::string name;
        bool is_write = false;
        ClockRef knew; ///< Of the later one.
    };
    Hint explain(const End& first, const End& second) const;
    Hint stale_wait(const End& data, const End& user) const;
    Hint weak_flag(const End& data, const End& user) const;
    Hint set_early(const End& data, const End& user) const;
    Hint not_passed_on(const End& data, const End& user) const;
    bool is_known(const End& user, const FlagEnd& of) const;
    bool is_fenced(const FlagEnd& take) const;
    std::string name_of(const FlagEnd& end) const;
    Hint weak_words(const End& data, const FlagGive& give, const FlagEnd& take, bool weak_take) const;

    Engine& engine_;
    Cluster& cluster_;
};

} // namespace emu::check

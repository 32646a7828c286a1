#pragma once
/// \file
/// Races that look meant: flags, winners and relaxations. What decides is the text of the kernel.

#include "machine/program.hpp"
#include "rules/analysis/dataflow.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>

namespace emu::check {

/// Recognises stores that race on purpose. Each of them depends on a comparison of what memory holds at a
/// place of the thread's own; and it is one of
/// - a flag: it stores what all threads store there, and whoever reads the place only decides by it, before
/// its
///   own store, and about no barrier;
/// - a winner: the only number that it stores under this condition is none from memory but the thread's own,
/// and
///   it goes to one place for all threads, or to a place that a flag claims;
/// - a relaxation: it stores a value that it has compared with the old one, and sets a flag for another
/// round.
class Deliberate {
  public:
    enum class Kind : std::uint8_t { none, flag, winner, relaxation };

    struct Access {
        std::uint32_t pc = 0;
        bool stores = false;
    };
    /// Of two ordinary accesses that race, at least one of them a store. `same_cluster`: a barrier could
    /// order them.
    Kind of(const Kernel& kernel, Access one, Access other, bool same_cluster);
    /// Of two stores: by the text of the kernel both write the same, whoever executes them.
    bool same_value(const Kernel& kernel, std::uint32_t one, std::uint32_t other);

  private:
    const Dataflow& flow(const Kernel& kernel, std::uint32_t function);
    std::mutex mutex_;
    std::map<std::uint32_t, Dataflow> flows_; ///< By function of the kernel.
    std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Kind> pairs_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> same_; ///< Pairs of stores.
};

/// What such a race may be, for a message; begins with an article.
std::string_view describe(Deliberate::Kind kind);

} // namespace emu::check

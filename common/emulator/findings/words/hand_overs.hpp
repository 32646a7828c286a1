#pragma once
/// \file
/// Which hand-over was meant to order two accesses, and why it does not: the steps of the two threads
/// (happens_before/hand_overs.hpp) in words.

#include "findings/words/waits.hpp"
#include "happens_before/engine.hpp"

#include <functional>
#include <optional>
#include <string>

namespace emu::check {

/// An access of this cluster, and who made it.
struct Access {
    Warp* warp = nullptr;
    unsigned lane = 0;
    Component thread = 0;
    Epoch epoch = 0;
    std::uint32_t pc = 0;
    bool is_write = false;
    bool issues = false; ///< An asynchronous operation that the thread issued.

    std::string deed() const { return is_write ? "write" : "read"; }
};

/// What is wrong with a hand-over.
struct HandOverFault {
    enum class Teller : std::uint8_t { itself, other_lane, other_warp };
    Hint hint;
    /// How it was told, if it was,
    std::optional<Step> step{};
    /// by whom for the thread that was not done.
    Teller teller = Teller::itself;
    Warp* teller_warp = nullptr;
    unsigned teller_lane = 0;
    Access early{}, other{}; ///< The access that was not done, and the one that had been told so.
};

class HandOverWords {
  public:
    explicit HandOverWords(Engine& engine) : engine_(engine), cluster_(engine.cluster()) {}

    /// The access as it is remembered; nothing if it belongs to another cluster or an operation.
    std::optional<Access> earlier(const Meeting& meeting) const;
    /// The access that is made now, or the operation that is issued.
    static Access later(const Actor& actor);

    /// `early` was handed over before it was done, by its thread or by another of its block: that is what
    /// `knower` has been told when it makes `other`.
    HandOverFault handed_over_early(const Access& early, const SharedClock& knower,
                                    const Access& other) const;

    /// The same for a thread that comes last: before its access `early` it had told what made the other
    /// thread go on and make `other`.
    HandOverFault told_before(const Access& early, const Access& other) const;
    /// Since its access the thread has told the same once more, or has ended.
    bool tells_again(const Access& access, const Step& told) const;
    /// Words for what another thread told, to be asked for at the end: only then it is known who never tells
    /// it.
    Hint told_by_other(const HandOverFault& fault) const;
    /// The two threads have different parts in the kernel.
    bool differ(const Access& one, const Access& other) const {
        return &one.warp->block() != &other.warp->block() ||
               engine_.hand_overs().have_roles(*one.warp, *other.warp);
    }
    /// How to order two accesses of the cluster, by who the two threads are.
    std::string order_between(const Access& first, const Access& second) const;
    /// Why the barriers that both passed do not order them.
    Hint passed_barriers(const Access& first, const Access& second) const;
    /// One went on from a named barrier to which the other comes too, and had not come yet.
    Hint passed_too_early(const Access& first, const Access& second) const;

    // -- hand_overs_of_copies.cpp
    /// The thread that issued an operation (of a group) told the others before it had waited for it. The
    /// message " " means: nothing to add but the advice.
    Hint told_before_waiting(const Operation& operation, const Record& record, Ref ref,
                             const Actor& actor) const;
    /// Whoever fills a stage again, in the block `rank`, has not waited for its readers: `barrier` is where
    /// the copy completes.
    Hint unguarded_refill(const Access& issue, std::uint32_t barrier, unsigned rank) const;
    /// How a warpgroup may overwrite what `product`, a wgmma of another of its block, reads; else empty.
    std::string after_product(const Operation& product, const Access& write) const;
    /// Whoever fills a stage again has waited for arrivals of which none came from the warpgroup of
    /// `product`, a wgmma that reads the stage: words to be asked for at the end, when it is known who never
    /// arrives.
    std::function<Hint()> product_not_released(const Operation& product, const Actor& actor) const;
    /// The phase that it waited for last had ended with the arrivals of some readers, before others who read
    /// what comes at `barrier` had arrived.
    Hint readers_not_counted(const Access& issue, std::uint32_t barrier) const;

  private:
    Hint came_to_barrier(const Step& give, const std::string& who, const std::string& wait,
                         const std::string& done, bool bulk) const;
    bool is_for_another_place(const Step& wait, const Access& issue, Epoch begin, std::uint32_t barrier,
                              const Operation& before) const;
    const Step* announcement(const Access& issue, std::uint32_t barrier) const;
    const Operation* last_copy(const Access& issue, std::uint32_t barrier) const;
    HandOverFault by_own_step(const Access& early, const SharedClock& knower, const Access& other) const;
    /// The warp tells it itself, later.
    bool tells_itself(const Step& step, const Warp& warp) const;
    Hint too_many_arrivals(const Step& step, const Warp& warp) const;
    Hint told_by_lane(const HandOverFault& fault) const;
    Hint told_by_warp(const HandOverFault& fault) const;
    HandOverFault by_lane(const Access& early, const SharedClock& knower, const Access& other) const;
    HandOverFault by_other_warp(const Access& early, const SharedClock& knower, const Access& other) const;
    bool is_same_round(const Access& early, const Warp& giver, unsigned lane, const Step& give) const;
    /// What each of the two threads waited for last before its access was one barrier, in one round.
    bool in_one_round(const Access& first, const Access& second) const;
    std::string name_of(const Step& step, bool with_place) const;
    std::vector<SourceLine> lines(const Step& give, const std::string& giver, const Access& other) const;
    std::string line_number(std::uint32_t pc) const;

    Engine& engine_;
    Cluster& cluster_;
};

} // namespace emu::check

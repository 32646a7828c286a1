#include "findings/words/flags.hpp"
#include "findings/lines.hpp"

#include "findings/words/accesses.hpp"

#include <algorithm>

namespace emu::check {
namespace {

bool covers(const FlagGive& give, const FlagEnd& access) {
    return give.cluster == access.cluster &&
           (give.thread == access.thread ? give.epoch >= access.epoch
                                         : give.knew && give.knew->get(order, access.thread) >= access.epoch);
}

bool reaches(const FlagEnd& one, const FlagEnd& other) {
    return one.is_same_block(other) || one.scope == Scope::gpu || one.scope == Scope::sys ||
           (one.scope == Scope::cluster && one.cluster == other.cluster);
}

/// Behind the wait comes a block barrier, before anything else that uses memory.
bool is_passed_on(const Kernel& kernel, std::uint32_t pc) {
    for (unsigned steps = 0; ++pc < kernel.sources.size() && steps < 100; ++steps) {
        const ptx::Instruction& i = *kernel.sources[pc];
        if (i.opcode == "bar" || i.opcode == "barrier")
            return true;
        const bool loads = i.opcode == "ld" && !i.has("param");
        if (loads || i.opcode == "st" || i.opcode == "atom" || i.opcode == "red" || i.opcode == "cp" ||
            i.opcode == "ret")
            return false;
        if (i.opcode == "bra" && i.guard < 0)
            pc = kernel.code[pc].target - 1;
    }
    return false;
}

bool acquires(const FlagEnd& take) {
    return take.semantics == Semantics::acquire || take.semantics == Semantics::acq_rel;
}

} // namespace

std::string FlagWords::name_of(const FlagEnd& end) const {
    Record record;
    record.cluster = end.cluster;
    record.warp = end.warp;
    record.flags = Record::by_lane;
    return who(cluster_, record, make_ref(1, end.lane), 0);
}

std::function<Hint()> FlagWords::of(const Meeting& meeting) const {
    const auto& [old, ref, k, n, actor] = meeting;
    if (old.is(Record::async) || actor.record->is(Record::async) || old.epoch == 0)
        return {};
    End first, second;
    first.cluster = old.cluster;
    first.warp = old.warp;
    first.lane = lane_at(ref, old, k);
    first.thread = Threads::component_of(old, ref, k);
    first.epoch = old.epoch;
    first.pc = old.pc;
    first.is_write = old.is(Record::write);
    first.name = who(cluster_, old, ref, k);
    second.cluster = engine_.threads().cluster();
    second.warp = actor.record->warp;
    second.lane = actor.lane;
    second.thread = actor.clock->first + actor.lane;
    second.epoch = actor.clock->now;
    second.pc = actor.record->pc;
    second.is_write = actor.is_write;
    second.name = who(cluster_, actor);
    second.knew = actor.clock->base[actor.lane];
    return [this, first, second] { return explain(first, second); };
}

Hint FlagWords::explain(const End& first, const End& second) const {
    // Who wrote was to tell who read; of two writes any may come first.
    for (const auto& [data, user] : {std::pair(&first, &second), std::pair(&second, &first)}) {
        if (!data->is_write && user->is_write && data == &second)
            continue;
        if (Hint hint = stale_wait(*data, *user))
            return hint;
        if (Hint hint = weak_flag(*data, *user))
            return hint;
        if (Hint hint = set_early(*data, *user))
            return hint;
        if (Hint hint = not_passed_on(*data, *user))
            return hint;
    }
    return {};
}

bool FlagWords::is_known(const End& user, const FlagEnd& of) const {
    if (!user.knew)
        return false;
    if (of.cluster == engine_.threads().cluster())
        return user.knew->clock.get(order, of.thread) >= of.epoch;
    if (!user.knew->foreign)
        return false;
    const auto found = user.knew->foreign->find(of.cluster);
    return found != user.knew->foreign->end() && found->second->get(order, of.thread) >= of.epoch;
}

/// A fence behind the read of the flag completes it, and a barrier unless the read asks for another order.
/// (Not seen in other clusters.)
bool FlagWords::is_fenced(const FlagEnd& take) const {
    if (acquires(take) || take.cluster != engine_.threads().cluster())
        return true;
    const Warp& warp = *cluster_.block(take.block())->warps()[take.warp % 32];
    const Step* const step = engine_.hand_overs().last(warp, take.lane, ~Epoch{0}, [&](const Step& each) {
        const bool barrier = each.kind == Step::Kind::block_barrier && take.semantics != Semantics::release;
        return each.first >= take.epoch &&
               (barrier || (each.kind == Step::Kind::fence && !each.by_proxy_fence));
    });
    return step != nullptr;
}

/// What one block waited for at a flag that the other sets too had come true in an earlier round.
Hint FlagWords::stale_wait(const End& data, const End& user) const {
    Hint hint;
    engine_.launch().flags.each([&](Address, const FlagLog::Flag& flag) {
        const bool sets =
            std::ranges::any_of(flag.gives, [&](const FlagGive& each) { return each.is_same_block(data); });
        for (const FlagEnd& wait : flag.stale) {
            if (hint || !sets || !wait.is_same_block(user) ||
                (user.knew && !wait.is_same_thread(user) && !is_known(user, wait)))
                continue;
            const std::string waiter = name_of(wait);
            hint.message = " " + waiter +
                           " waited for the other block's signal, but its wait may end with a value of an "
                           "earlier round, which was there already when its wait before ended.";
            hint.advice =
                "Wait for a value that only this round gives: a target that grows with every round, "
                "or a flag that is reset or flipped in each round.";
            hint.lines = {source_line(cluster_, wait.pc, "wait of " + waiter)};
        }
    });
    return hint;
}

/// The flag was set behind the data and read, but one of the two orders nothing.
Hint FlagWords::weak_flag(const End& data, const End& user) const {
    Hint hint;
    engine_.launch().flags.each([&](Address, const FlagLog::Flag& flag) {
        for (const FlagGive& give : flag.gives)
            for (const FlagEnd& take : flag.takes) {
                if (hint || !covers(give, data) || !take.is_same_block(user) || take.when < give.when ||
                    take.is_same_thread(give))
                    continue;
                const bool weak_take = !is_fenced(take);
                if (!give.ordered || !reaches(give, take) || weak_take || !reaches(take, give))
                    hint = weak_words(data, give, take, weak_take);
            }
    });
    return hint;
}

Hint FlagWords::weak_words(const End& data, const FlagGive& give, const FlagEnd& take, bool weak_take) const {
    const bool one_block = give.is_same_block(take);
    const bool by_volatile = give.semantics == Semantics::volatile_ || take.semantics == Semantics::volatile_;
    const std::string fence = one_block ? "__threadfence_block()" : "__threadfence()";
    const char* const scope = one_block ? "cuda::thread_scope_block" : "cuda::thread_scope_device";
    const auto kind = [](const FlagEnd& end) {
        return end.semantics == Semantics::volatile_ ? "volatile" : "relaxed";
    };
    Hint hint;
    hint.lines = {source_line(cluster_, give.pc, "flag set by " + name_of(give)),
                  source_line(cluster_, take.pc, "flag read by " + name_of(take))};
    if (!reaches(give, take) || !reaches(take, give)) {
        hint.message = " The flag that " + name_of(give) + " sets and " + name_of(take) +
                       " reads has block scope (.cta) on one side, and these are of two blocks.";
        hint.advice = "Use device scope where the flag is set and where it is read: "
                      "cuda::thread_scope_device for the atomic, semaphore or barrier that it belongs to, "
                      ".gpu in PTX.";
        return hint;
    }
    if (give.ordered && take.semantics == Semantics::release) {
        hint.message = " " + name_of(take) +
                       " counted with release order only: that publishes what it has done, and acquires "
                       "nothing of what the others released.";
        hint.advice =
            "Count with cuda::memory_order_acq_rel (atom.acq_rel in PTX), or put " + fence + " after it.";
        hint.lines = {source_line(cluster_, give.pc, "counted by " + name_of(give)),
                      source_line(cluster_, take.pc, "counted by " + name_of(take))};
        return hint;
    }
    if (!give.ordered)
        hint.message += " " + name_of(give) + " sets a flag after the " + (data.is_write ? "write" : "read") +
                        ", but by a " + kind(give) + " store: it does not order the data before it.";
    if (weak_take)
        hint.message += " " + name_of(take) + " read the flag by a " + kind(take) +
                        " load, with no fence between the flag and the data.";
    if (by_volatile)
        hint.message += " volatile keeps a value out of registers and orders nothing.";
    if (give.semantics == Semantics::volatile_ || (give.ordered && take.semantics == Semantics::volatile_))
        hint.advice = "Put " + fence +
                      (give.ordered ? " between the flag and the data"
                                    : std::string(" between the data and the flag") +
                                          (weak_take ? ", and between the flag and the data" : "")) +
                      "; or let the flag be a cuda::atomic_ref<int, " + scope +
                      "> stored with cuda::memory_order_release and loaded with cuda::memory_order_acquire.";
    else
        hint.advice = std::string("The flag must be ") +
                      (give.ordered ? "" : "stored with cuda::memory_order_release (st.release in PTX)") +
                      (!give.ordered && weak_take ? " and " : "") +
                      (weak_take ? "loaded with cuda::memory_order_acquire (ld.acquire in PTX)" : "") + ".";
    return hint;
}

/// The flag was set before the access was done, by the thread or by another for its block.
Hint FlagWords::set_early(const End& data, const End& user) const {
    Hint hint;
    engine_.launch().flags.each([&](Address, const FlagLog::Flag& flag) {
        for (const FlagGive& give : flag.gives) {
            if (hint || !give.ordered || !give.is_same_block(data) || covers(give, data) ||
                give.is_same_block(user))
                continue;
            const bool taken = std::ranges::any_of(flag.takes, [&](const FlagEnd& take) {
                return take.is_same_block(user) && take.when > give.when;
            });
            // Who sets it again, behind the access, speaks of an earlier round here.
            const bool later_round = std::ranges::any_of(flag.gives, [&](const FlagGive& other) {
                return other.when > give.when && other.is_same_block(data) && covers(other, data);
            });
            if (!taken || later_round || (user.knew && !is_known(user, give)))
                continue;
            const std::string deed = data.is_write ? "write" : "read", giver = name_of(give);
            hint.lines = {source_line(cluster_, give.pc, "release by " + giver)};
            if (give.is_same_thread(data)) {
                hint.message = " " + giver + " had released the flag before this " + deed +
                               ", and with that told the others that it was done.";
                hint.advice = "Move the release after the " + deed + ".";
                continue;
            }
            const bool one_warp =
                give.warp == data.warp && cluster_.info().config.block.volume() <= warp_size;
            const std::string barrier = one_warp ? "__syncwarp()" : "__syncthreads()";
            hint.message = " The data was released by " + giver + " before this " + deed + ": " + giver +
                           " sets the flag for its block, and nothing made it wait for " + data.name + ".";
            hint.advice = "Put " + barrier + " between the " + deed + " and the release by " + giver + ".";
        }
    });
    return hint;
}

/// The flag is right, but only one thread of the block waits for it.
Hint FlagWords::not_passed_on(const End& data, const End& user) const {
    Hint hint;
    engine_.launch().flags.each([&](Address, const FlagLog::Flag& flag) {
        const auto has_taken = [&](const FlagEnd& take) { return take.is_same_thread(user); };
        if (hint || std::ranges::any_of(flag.takes, has_taken))
            return;
        for (const FlagGive& give : flag.gives)
            for (const FlagEnd& take : flag.takes) {
                if (hint || !give.ordered || give.is_same_block(user) || !covers(give, data) ||
                    !take.is_same_block(user) || take.when < give.when || !acquires(take) ||
                    is_passed_on(*cluster_.info().kernel, take.pc))
                    continue;
                const std::string waiter = name_of(take);
                hint.message = " The flag that tells that the data is there is set, but only " + waiter +
                               " has waited for it; nothing orders that wait before the " +
                               (user.is_write ? "write" : "read") + " by " + user.name + ".";
                hint.advice = "Put __syncthreads() after the wait, before others use the data.";
                hint.lines = {source_line(cluster_, take.pc, "wait of " + waiter)};
            }
    });
    return hint;
}

} // namespace emu::check

// The findings in words.

#include "findings/catalogue.hpp"
#include "machine/device.hpp"
#include "machine/reports.hpp"
#include "rules/race.hpp"

namespace emu::check {
namespace {

std::string triple(const Dim3& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

Dim3 position(std::uint64_t linear, const Dim3& shape) {
    return {static_cast<std::uint32_t>(linear % shape.x),
            static_cast<std::uint32_t>(linear / shape.x % shape.y),
            static_cast<std::uint32_t>(linear / shape.x / shape.y)};
}

const char* name_of(AsyncKind kind) {
    switch (kind) {
    case AsyncKind::cp_async:
    case AsyncKind::cp_async_arrive:
        return "cp.async";
    case AsyncKind::bulk_load:
        return "bulk load";
    case AsyncKind::bulk_store:
        return "bulk store";
    case AsyncKind::bulk_shared:
        return "bulk copy to shared memory of the cluster";
    case AsyncKind::bulk_reduce:
        return "bulk reduction";
    case AsyncKind::tensor_load:
        return "tensor load";
    case AsyncKind::tensor_store:
        return "tensor store";
    case AsyncKind::tensor_reduce:
        return "tensor reduction";
    case AsyncKind::st_async:
        return "st.async";
    case AsyncKind::red_async:
        return "red.async";
    case AsyncKind::prefetch:
        return "prefetch";
    }
    return "asynchronous operation";
}

std::string verb(const Record& record) {
    if (record.is(Record::async))
        return record.is(Record::write) ? "written by" : "read by";
    if (record.is(Record::strong) && record.is(Record::write))
        return "atomic access by";
    return record.is(Record::write) ? "write by" : "read by";
}

/// An ordinary store meets an atomic access (or a volatile, relaxed, acquire or release one) of another
/// thread.
bool is_weak_handover(const Record& old, const Record& mine) {
    const auto stores = [](const Record& r) {
        return r.is(Record::write) && !r.is(Record::strong) && !r.is(Record::async);
    };
    const auto strong = [](const Record& r) { return r.is(Record::strong) && !r.is(Record::async); };
    return (stores(old) && strong(mine)) || (strong(old) && stores(mine));
}

} // namespace

std::string Checker::who(const Record& record, Ref ref, unsigned k) const {
    const LaunchConfig& c = cluster_.info().config;
    const Dim3 clusters{c.grid.x / c.cluster.x, c.grid.y / c.cluster.y, c.grid.z / c.cluster.z};
    const Dim3 corner = position(record.cluster, clusters);
    const Dim3 within = position(record.rank(), c.cluster);
    const Dim3 block{corner.x * c.cluster.x + within.x, corner.y * c.cluster.y + within.y,
                     corner.z * c.cluster.z + within.z};
    const Dim3 thread = position(record.warp_in_block() * warp_size + lane_at(ref, record, k), c.block);
    return "thread " + triple(thread) + " of block " + triple(block);
}

std::string Checker::who(const Actor& actor, unsigned k) const { return who(*actor.record, actor.ref, k); }

std::string Checker::place(const Actor& actor, unsigned k, unsigned n) const {
    const std::string bytes = std::to_string(n) + (n == 1 ? " byte" : " bytes") + " at ";
    if (actor.shared) {
        const auto at = static_cast<std::uint32_t>(actor.word) + k;
        std::string text = bytes + shared_name(cluster_.info(), shared_offset(at));
        if (cluster_.launch().info().config.cluster.volume() > 1)
            text += " in the shared memory of cluster rank " + std::to_string(shared_rank(at));
        return text;
    }
    const auto allocation = cluster_.launch().device().memory().find(actor.word + k);
    if (!allocation)
        return bytes + "global memory";
    const std::string offset = std::to_string(actor.word + k - allocation->base);
    return bytes + (allocation->name.empty() ? "offset " + offset + " of a global allocation of " +
                                                   std::to_string(allocation->size) + " bytes"
                                             : allocation->name + " + " + offset + " in global memory");
}

bool Checker::first_time(Finding finding, std::uint32_t pc_a, std::uint32_t pc_b) {
    return told_.emplace(finding, std::min(pc_a, pc_b), std::max(pc_a, pc_b)).second;
}

Diagnostic Checker::make(Finding finding, std::string message, std::string advice,
                         std::vector<SourceLine> lines, bool warning) {
    Diagnostic d;
    d.finding = finding;
    d.fault = warning ? Fault::none : Fault::launch_failure;
    d.message = std::move(message);
    d.advice = std::move(advice);
    d.locations = std::move(lines);
    return d;
}

void Checker::publish(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines,
                      bool warning) {
    cluster_.report(make(finding, std::move(message), std::move(advice), std::move(lines), warning));
}

void Checker::note(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines) {
    if (!strict_)
        return;
    Diagnostic d = make(finding, std::move(message), std::move(advice), std::move(lines), true);
    d.note = true;
    cluster_.report(std::move(d));
}

void Checker::conflict(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    // Lanes that copy a word byte by byte are one record, and one of them may be the other party too: the
    // finding is about the first byte that two threads used.
    for (; n > 1 && is_ordered(ref, old, k, 1, actor); ++k)
        --n;
    if (!waits_for_use(old, ref, k, n, actor))
        tell_conflict(old, ref, k, n, actor);
}

void Checker::tell_conflict(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    if (old.is(Record::async))
        return conflict_with_operation(old, ref, k, n, actor);
    race(old, ref, k, n, actor);
}

/// The read among the two is of a value that nobody needs so far.
bool Checker::waits_for_use(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    const Record& mine = *actor.record;
    const Record& read = old.is(Record::write) ? mine : old;
    if (!speculative_loads_.is_site(read.pc) || !read.is(Record::by_lane) || read.is(Record::write) ||
        read.cluster != threads_.cluster())
        return false;
    const unsigned lane = lane_at(&read == &old ? ref : actor.ref, read, k);
    const std::uint32_t other = &read == &old ? mine.pc : old.pc;
    return speculative_loads_.when_used(
        read.warp, read.pc, read.epoch, lane, other,
        [this, &old, ref, k, n, actor] { tell_conflict(old, ref, k, n, actor); });
}

bool Checker::read_too_early(const Record& old, Ref ref, unsigned k, const Actor& actor) {
    // A read, then the copy that writes the bytes, unordered. Either the reader should have waited for this
    // copy and only happened to come before its issue, or the copy should have waited for the reader.
    if (!actor.shared || old.is(Record::write) || !actor.record->is(Record::async))
        return false;
    if (actor.first_write)
        return true; // There was nothing else to read.
    const Operation& copy = operations_[actor.record->operation];
    const auto barrier = mbarriers_.find(copy.barrier);
    if (copy.completion != CompletionKind::mbarrier || barrier == mbarriers_.end())
        return false;
    // The issuing thread knows that the reader had seen the last phase, so this read belongs to the next.
    const Component reader = Threads::component_of(old, ref, k);
    const Passed* passed = barrier->second.passed_by(reader);
    if (!passed || passed->phases == 0)
        return false;
    Record last;
    last.cluster = threads_.cluster();
    last.epoch = passed->epoch;
    return threads_.sees(*actor.clock, actor.lane, last, reader);
}

void Checker::decide(std::vector<SourceLine> lines, const std::string& message, const Record& operation,
                     Ref ref, bool shared) {
    Undecided finding;
    finding.if_waited =
        make(shared ? Finding::race_shared : Finding::race_global,
             message + " The issuing thread waits for its copy, but nothing orders that wait before the read "
                       "by another thread.",
             "Put a barrier (__syncthreads()) between the wait and reads by other threads.", lines);
    finding.if_not =
        make(Finding::read_before_completion, message + " Nobody has waited for the copy before that read.",
             how_to_wait(operations_[operation.operation], false), std::move(lines));
    Hint hint = short_group_wait(operations_[operation.operation], operation, ref);
    if (!hint)
        hint = foreign_group_wait(operations_[operation.operation], operation, ref);
    hint.extend(finding.if_not);
    finding.agent = Threads::component_of(operation, ref, 0);
    finding.epoch = operation.epoch;
    if (WarpClock& issuer = threads_.of(*operations_[operation.operation].warp); issuer.streams)
        finding.waited =
            threads_.sees(issuer, lane_of(ref), operation, finding.agent); // It may have waited already.
    undecided_.push_back(std::move(finding));
}

void Checker::race_with_early_read(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    const Operation& copy = operations_[actor.record->operation];
    const std::string reader = who(old, ref, k);
    const std::string what = name_of(copy.kind);
    const std::string message = place(actor, k, n) + ": " + reader + " read it before a " + what +
                                " issued by " + who(actor) + " wrote it; nothing orders the two.";
    std::vector<SourceLine> lines{cluster_.source_line(actor.record->pc, what + " issued by " + who(actor)),
                                  cluster_.source_line(old.pc, "read by " + reader)};
    if (copy.completion != CompletionKind::mbarrier)
        return decide(std::move(lines), message, *actor.record, actor.ref, actor.shared);
    Diagnostic finding =
        make(Finding::read_before_completion, message + " The reader has not waited for the copy.",
             how_to_wait(copy, false), std::move(lines));
    Hint hint = wrong_phase(copy, Threads::component_of(old, ref, k));
    if (!hint && old.cluster == threads_.cluster())
        hint = ignored_wait(copy, *cluster_.block(old.rank())->warps()[old.warp_in_block()],
                            lane_at(ref, old, k));
    hint.extend(finding);
    cluster_.report(std::move(finding));
}

std::string Checker::how_to_order(const Record& old, const Actor& actor) const {
    const Record& mine = *actor.record;
    if (old.is(Record::strong) && mine.is(Record::strong)) // Else they would be no race.
        return "An atomic of block scope (atomicAdd_block, cuda::thread_scope_block, .cta in PTX) is atomic "
               "for the threads of one block only, and these are of two. Use device scope: atomicAdd, "
               "cuda::thread_scope_device, .gpu.";
    if (is_weak_handover(old, mine))
        return std::string("If the store releases a lock or sets a flag: an ordinary store takes no part in "
                           "the order that atomics make, not even behind __threadfence(). Write "
                           "atomicExch(&lock, 0) behind the __threadfence(), or cuda::atomic_ref<int, ") +
               (old.cluster != mine.cluster ? "cuda::thread_scope_device" : "cuda::thread_scope_block") +
               ">(lock).store(0, cuda::memory_order_release) (st.release in PTX)." +
               (old.cluster != mine.cluster
                    ? " Otherwise set it before the launch, or with an atomic."
                    : " If it gives the first value: put a __syncthreads() between the two lines.");
    if (old.cluster != mine.cluster && old.is(Record::write) && !actor.is_write && actor.clock->sync)
        return "Blocks are not ordered inside a launch. If a flag or counter tells the reader that the data "
               "is "
               "there, fences are missing: the writer needs __threadfence() between the data and the flag, "
               "the "
               "reader between the flag and the data; or the flag is stored with "
               "cuda::memory_order_release and loaded with cuda::memory_order_acquire, both of device scope.";
    if (old.cluster != mine.cluster)
        return "Blocks are not ordered inside a launch. Use atomics, give each block its own memory, or use "
               "two launches.";
    if (old.rank() != mine.rank())
        return "Put a cluster barrier between the two lines (barrier.cluster, cluster.sync()).";
    if (mine.is(Record::async) && actor.is_write)
        return "If the thread works on what the copy brings: " +
               how_to_wait(operations_[mine.operation], false) +
               " If it used the place before: put a __syncthreads() between its access and the issue of the "
               "copy.";
    const std::string barrier = "Put a barrier that both threads pass between the two lines: __syncthreads() "
                                "in a block, __syncwarp() inside a warp";
    const bool neighbours = actor.shared && cluster_.blocks().size() > 1;
    return barrier + (neighbours ? ", cluster.sync() where blocks use each other's shared memory." : ".");
}

void Checker::race(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    const Record& mine = *actor.record;
    if (is_guess(old, mine))
        return;
    // Morally strong accesses do not race (PTX ISA 8.7.1): atomics, if their scope includes both threads.
    const bool same_block = old.cluster == mine.cluster && old.rank() == mine.rank();
    if (old.is(Record::strong) && mine.is(Record::strong) &&
        (same_block || !(old.is(Record::narrow) || mine.is(Record::narrow)))) {
        if (counts_on_lockstep(old, ref, k, actor)) [[unlikely]]
            tell_lockstep(old, ref, k, n, actor);
        return;
    }
    // A write of the value that was there cannot be told from none, unless another thread then writes another
    // value: in the other order that one would be lost.
    if (mine.is(Record::same_value) || old.is(Record::init) || mine.is(Record::init) ||
        (old.is(Record::same_value) && !(actor.is_write && mine.is(Record::by_lane))))
        return;
    // All threads write the same pointer, and each reads it: it finds what it wrote itself.
    if (!actor.is_write && old.is(Record::write) && wrote_it_too(record_of(ref), actor))
        return;
    if (stores_the_same(old, actor))
        return;
    const Finding name = actor.shared ? Finding::race_shared : Finding::race_global;
    raced_.insert(old.pc);
    raced_.insert(mine.pc);
    if (!actor.shared) // Order of free and malloc inside a kernel is not followed.
        if (const auto a = cluster_.launch().device().memory().find(actor.word);
            a && (a->kind == Allocation::Kind::heap || a->kind == Allocation::Kind::parameters))
            return;
    const bool early = read_too_early(old, ref, k, actor);
    if (!first_time(name, old.pc, mine.pc))
        return;
    if (mine.is(Record::async)) // Whoever reads after the issue makes the same mistake.
        operations_[mine.operation].reported = true;
    if (early)
        return race_with_early_read(old, ref, k, n, actor);
    if (const Deliberate::Kind meant = deliberate(old, actor); meant != Deliberate::Kind::none)
        return tell_deliberate(meant, old, ref, k, n, actor);
    const std::string what = old.is(Record::write)
                                 ? (actor.is_write ? "Two writes to " : "A write and a read of ")
                                 : "A read and a write of ";
    const std::string other = who(old, ref, k);
    const std::string later =
        mine.is(Record::async) ? "an asynchronous operation issued by " + who(actor, k) : who(actor, k);
    Diagnostic finding = make(
        name,
        what + place(actor, k, n) + " by two threads, and nothing orders one before the other: first " +
            other + ", then " + later + ". In another run it can be the other way round.",
        how_to_order(old, actor),
        {cluster_.source_line(old.pc, verb(old) + " " + other), line_of(actor, verb(mine) + " " + later)});
    Hint hint = relaxed_order(old, ref, k, actor);
    if (!hint)
        hint = unfenced_flag(old, ref, k, actor);
    hint.extend(finding);
    cluster_.report(std::move(finding));
}

void Checker::missing_fence(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    const Part part = actor.shared ? shared_proxy : global_proxy;
    if (old.is(Record::same_value) || old.epoch == 0 ||
        threads_.sees(*actor.clock, actor.lane, old, Threads::component_of(old, ref, k), part))
        return;
    Operation& operation = operations_[actor.record->operation];
    if (operation.reported || !first_time(Finding::missing_proxy_fence, old.pc, actor.record->pc))
        return;
    // Generic write, then asynchronous read or write, needs the fence (PTX ISA 8.8, 9.7.13.4). A generic read
    // before an asynchronous write: race_overtaken.cpp.
    // Only a read in shared memory is sure to go wrong on hardware; the other cases are warnings.
    const bool warning = actor.is_write || !actor.shared;
    operation.reported = !warning;
    const std::string writer = who(old, ref, k);
    const std::string what = name_of(operation.kind);
    Diagnostic finding = make(
        Finding::missing_proxy_fence,
        place(actor, k, n) + ": written through the generic proxy by " + writer + ", then " +
            (actor.is_write ? "overwritten" : "read") + " through the async proxy by a " + what + " that " +
            who(actor, k) + " issued. No fence.proxy.async lies between them, so the " + what +
            (actor.is_write ? " and the write may land in either order."
                            : " may see the bytes from before the write."),
        "After the write and before the barrier, each writing thread must execute fence.proxy.async "
        "(cuda::ptx::fence_proxy_async); or the issuing thread after the barrier and before the copy.",
        {cluster_.source_line(old.pc, "written by " + writer),
         cluster_.source_line(actor.record->pc, what + " issued by " + who(actor, k))},
        warning);
    if (warning)
        hold(actor.record->operation, std::move(finding), old.pc);
    else
        cluster_.report(std::move(finding));
}

bool Checker::saw_issue(const Operation& operation, Ref ref, const Actor& actor) const {
    Record issue;
    issue.cluster = threads_.cluster();
    issue.epoch = operation.epoch;
    const Component issuer = operation.issuer + (operation.kind == AsyncKind::cp_async ? lane_of(ref) : 0);
    return threads_.sees(*actor.clock, actor.lane, issue, issuer);
}

Finding Checker::finding_of_conflict(const Record& old, Ref ref, const Operation& operation,
                                     const Operation* second, const Actor& actor) {
    const bool group = operation.completion != CompletionKind::mbarrier;
    if (!old.is(Record::write))
        return group ? Finding::reuse_before_read_done : Finding::overwrite_in_flight;
    if (actor.is_write) {
        const auto issuer = [](const Operation& o, Ref r) {
            return o.issuer + (o.kind == AsyncKind::cp_async ? lane_of(r) : 0);
        };
        const bool by_two = second && (old.cluster != threads_.cluster() ||
                                       issuer(operation, ref) != issuer(*second, actor.ref));
        return by_two && old.pc == actor.record->pc ? Finding::duplicate_copy : Finding::overwrite_in_flight;
    }
    // Only the issuing thread can wait for a group. A reader that not even the issue is ordered before lacks
    // the barrier; one behind such a barrier lacks the wait.
    if (group && (old.cluster != threads_.cluster() || !saw_issue(operation, ref, actor)))
        return actor.shared ? Finding::race_shared : Finding::race_global;
    const Mbarrier* barrier = group ? nullptr : cluster_.mbarrier(operation.barrier);
    return operation.surplus || (barrier && barrier->tx < 0) ? Finding::tx_count_mismatch
                                                             : Finding::read_before_completion;
}

void Checker::conflict_with_operation(const Record& old, Ref ref, unsigned k, unsigned n,
                                      const Actor& actor) {
    if (old.is(Record::strong) && actor.record->is(Record::strong))
        return; // Reductions are atomic.
    if (actor.record->is(Record::init))
        return;
    raced_.insert(actor.record->pc);
    const bool theirs = old.cluster != threads_.cluster();
    Operation none;
    none.kind = old.is(Record::write) ? AsyncKind::bulk_store : AsyncKind::bulk_load;
    none.completion = CompletionKind::bulk_group;
    Operation& operation = theirs ? none : operations_[old.operation];
    Operation* const second =
        actor.record->is(Record::async) ? &operations_[actor.record->operation] : nullptr;
    if (operation.reported || (second && second->reported))
        return;
    const bool source = !old.is(Record::write);
    const Finding is = finding_of_conflict(old, ref, operation, second, actor);
    operation.reported = true;
    if (second)
        second->reported = true;
    if (!first_time(is, old.pc, actor.record->pc))
        return;
    const std::string issuer = who(old, ref, k);
    const std::string what = name_of(operation.kind);
    const std::string deed =
        second ? std::string("a ") + name_of(second->kind) + " issued by " + who(actor, k) : who(actor, k);
    std::string message = place(actor, k, n) + ": ";
    std::vector<SourceLine> lines{
        cluster_.source_line(old.pc, what + " issued by " + issuer),
        line_of(actor, std::string(actor.is_write ? "written by " : "read by ") + deed)};
    if (is == Finding::race_shared && !theirs)
        return decide(std::move(lines),
                      message + deed + " reads what a " + what + " issued by " + issuer + " writes.", old,
                      ref, actor.shared);
    std::string advice = how_to_wait(operation, source);
    if (is == Finding::duplicate_copy) {
        message += issuer + " and " + who(actor, k) + " both issued this " + what +
                   " to the same bytes, and the first is still under way.";
        advice = "One thread issues a bulk copy for the whole tile: if (threadIdx.x == 0), or elect.sync in "
                 "one warp. For a load that thread alone also announces the bytes, and the mbarrier expects "
                 "its one arrival.";
    } else if (is == Finding::tx_count_mismatch) {
        message += "the " + what + " issued by " + issuer +
                   " brings more bytes than its mbarrier was told to expect, so the phase that was waited "
                   "for ended before it landed; " +
                   deed + " reads too early.";
        advice = "expect_tx must announce the bytes of all copies of the phase.";
    } else if (!actor.is_write) {
        message += deed + " reads what a " + what + " issued by " + issuer +
                   " writes, without having seen that operation complete. It may read the old bytes.";
    } else {
        message += deed + (source ? " overwrites what a " : " writes where a ") + what + " issued by " +
                   issuer + (source ? " may still read." : " may still write.");
    }
    Diagnostic finding = make(is, std::move(message), std::move(advice), std::move(lines));
    if (!theirs && is != Finding::duplicate_copy && is != Finding::tx_count_mismatch) {
        Hint hint = relaxed_order(old, ref, k, actor);
        if (!hint)
            hint = short_wait(operation, old, ref, actor);
        hint.extend(finding);
    }
    cluster_.report(std::move(finding));
}

void Checker::check_started(Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank) {
    if (all_started_ || rank >= cluster_.blocks().size())
        return;
    // Whoever knows of anything that a thread of the other block did knows that the block has started.
    Record any;
    any.cluster = threads_.cluster();
    any.epoch = 1;
    const WarpClock& clock = threads_.of(warp);
    for (const auto& other : cluster_.block(rank)->warps())
        for (unsigned i = 0; i < warp_size; ++i)
            if (threads_.sees(clock, lane, any, threads_.of(*other).first + i))
                return;
    if (not_started_.contains(pc))
        return;
    not_started_[pc] =
        make(Finding::remote_block_not_started,
             thread_name(warp, lane) + " uses the shared memory of cluster block " + std::to_string(rank) +
                 ", and nothing has told it that this block has started.",
             "Put a cluster barrier (cluster.sync(), barrier.cluster) before the first access to the shared "
             "memory of another block.",
             {cluster_.source_line(pc, "by " + thread_name(warp, lane))});
}

void Checker::unfinished_phase(const BarrierState& barrier, std::uint32_t index, std::uint32_t address,
                               std::uint64_t phase) {
    Operation& operation = operations_[index];
    if (operation.surplus)
        return;
    operation.surplus = true;
    const std::string what = name_of(operation.kind);
    const std::string issuer = thread_name(*operation.warp, operation.lane);
    std::vector<SourceLine> lines;
    if (barrier.expect_warp)
        lines.push_back(cluster_.source_line(barrier.expect_pc,
                                             "bytes expected by " +
                                                 thread_name(*barrier.expect_warp, barrier.expect_lane)));
    lines.push_back(cluster_.source_line(operation.pc, what + " issued by " + issuer));
    unfinished_[index] = make(
        Finding::tx_count_mismatch,
        "Phase " + std::to_string(phase) + " of mbarrier " +
            shared_name(cluster_.info(), shared_offset(address)) + " ended although a " + what + " of " +
            std::to_string(operation.bytes) + " bytes that belongs to it has not landed (issued by " +
            issuer + "): the barrier was told to expect too few bytes, so waiting threads go on too early.",
        "expect_tx must announce the bytes of all copies of the phase, edges included: the full box of a "
        "tensor copy.",
        std::move(lines));
}

} // namespace emu::check

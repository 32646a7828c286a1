/// \file
/// Words for mbarriers, the numbered barriers of a block and warp-synchronous instructions.

#include "findings/words/words.hpp"

namespace emu {
namespace {

constexpr MistakeWords barrier_table[] = {
    // -- mbarriers
    {"mbarrier-count", "mbarrier.init with a count of {count}: it must be between 1 and 1048575.",
     "Give the number of arrivals each phase needs."},
    {"mbarrier-in-use",
     "mbarrier.init on the valid mbarrier {barrier} in the middle of phase {phase}: {pending} of "
     "{expected:arrival} "
     "and {tx:byte} are pending.",
     "Initialise a barrier once, or invalidate it with mbarrier.inval when nobody uses it any more."},
    {"mbarrier-of-other-block",
     "This form works only on mbarriers of the own block, but mbarrier {barrier} belongs to the block with "
     "rank {rank}.",
     "Threads can only arrive at another block's mbarrier, with .shared::cluster and the sink _ in place of "
     "a state."},
    {"mbarrier-missing", "There is no initialised mbarrier at {barrier}.",
     "One thread must execute mbarrier.init, and a block (or cluster) barrier must follow, before anybody "
     "uses it."},
    {.kind = "mbarrier-not-yet-initialised",
     .message = "mbarrier {barrier} is used by {thread} of another block, and cluster block {rank} has not "
                "come to its "
                "mbarrier.init yet: nothing orders its initialisation before that use.",
     .advice = "Put a cluster barrier (cluster.sync()) between mbarrier.init and the first use by another "
               "block; if "
               "its arrive is .relaxed, the initialising thread executes fence.mbarrier_init.release.cluster "
               "before it.",
     .other_role = "where each block initialises its own"},
    {.kind = "mbarrier-invalidated",
     .message = "The mbarrier at {barrier} has been invalidated.",
     .advice = "mbarrier.inval, or the destructor of a cuda::barrier, must come after everybody's last use, "
               "after a block (or cluster) barrier.",
     .other_role = "invalidated"},
    {"mbarrier-would-complete",
     "An arrival with .noComplete would complete phase {phase} of mbarrier {barrier}, which is not allowed.",
     "Use the form without .noComplete for the last arrival of a phase."},
    {"mbarrier-arrival-count",
     "An arrival of {count} at mbarrier {barrier}, which expects {expected} per phase.",
     "The count must be at least 1 and at most the expected arrivals."},
    {"mbarrier-too-many-arrivals",
     "An arrival of {count} at mbarrier {barrier}, whose phase {phase} expects only {pending:more arrival}.",
     "The number of arrivals in each phase must equal the count given to mbarrier.init. Who arrives again "
     "must have waited for the end of the phase before: check that there is such a wait, and that its parity "
     "changes with every phase."},
    {"mbarrier-only-bytes-missing",
     "An arrival of {count} at mbarrier {barrier}, whose phase {phase} expects only {pending:more arrival} "
     "and {tx:byte}.",
     "The number of arrivals in each phase must equal the count given to mbarrier.init. Who arrives again "
     "must have waited for the end of the phase before: check that there is such a wait, and that its parity "
     "changes with every phase."},
    {"mbarrier-arrivals-of-one-line",
     "An arrival of {count} at mbarrier {barrier}, whose phase {phase} expects only {pending:more arrival} "
     "and "
     "{tx:byte}: {other} has arrived at it in this phase too, and {thread} is one too many, all at this "
     "line.",
     "Give mbarrier.init the number of threads that arrive in a phase. Where one thread alone is to announce "
     "and issue "
     "the copies, let one warp come here and choose a lane (elect.sync in one warp), or the one thread whose "
     "threadIdx.x, y and z are 0."},
    {.kind = "mbarrier-arrived-already",
     .message = "An arrival of {count} at mbarrier {barrier}, whose phase {phase} expects only {pending:more "
                "arrival} and {tx:byte}: {thread} has arrived in this phase already.",
     .advice =
         "The number of arrivals in each phase must equal the count given to mbarrier.init. Arrive once in a "
         "phase: expect the bytes of all its copies with one arrive.expect_tx, or announce the others with "
         "expect_tx, which is no arrival.",
     .other_role = "its arrival before"},
    {.kind = "mbarrier-parity",
     .message = "The parity of this wait at mbarrier {barrier} is {parity}: only 0 and 1 are defined.",
     .advice = "Take it modulo 2: phase n has parity n & 1, and in a ring of S stages tile k is in phase "
               "k / S of the mbarriers of its stage.",
     .role = "wait of {thread}"},
    {"mbarrier-tx-range",
     "The tx-count of mbarrier {barrier} would become {tx} (change {change}); it must stay within +/-(2^20 - "
     "1).",
     "Expect at most 1048575 bytes per phase; use several barriers or phases for more."},
    {"mbarrier-pending-range", "cp.async.mbarrier.arrive raised the pending arrivals above 2^20 - 1.",
     "Use the .noinc form and count these arrivals in mbarrier.init."},
    {"mbarrier-unexpected-bytes",
     "Asynchronous copies complete {bytes:byte} more at mbarrier {barrier} than were expected there: a "
     "phase could end before this one had landed.",
     "Expect all bytes of the phase: the sum of the sizes of its copies, a full box for each tensor copy."},

    // -- barriers of a block
    {"barrier-operands",
     "Barrier {id} for {threads:thread}: the number must be below 16 and the count a positive multiple of "
     "32.",
     "Correct the operands of the barrier instruction."},
    {.kind = "barrier-counts-differ",
     .message = "Barrier {id} of the block: {first} arrives with a count of {expected:thread}, {thread} "
                "with {threads}.",
     .advice = "All threads that meet at a barrier name the same number of threads.",
     .role = "arrival of {thread}",
     .other_role = "arrival of {first}",
     .other_first = true},

    // -- the lanes of a warp
    {"mask-without-self",
     "The thread executes a warp-synchronous instruction whose member mask does not name it.",
     "Pass a mask with every lane that executes the instruction; 0xffffffff when the whole warp comes."},
};

} // namespace

std::span<const MistakeWords> barrier_words() { return barrier_table; }

} // namespace emu

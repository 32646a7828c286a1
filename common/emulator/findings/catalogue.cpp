#include "findings/catalogue.hpp"

#include <algorithm>
#include <array>

namespace emu {
namespace {

constexpr CatalogueEntry entries[] = {
    {"race-shared", "Race in shared memory",
     "Two threads used the same bytes of shared memory, at least one of them wrote, and nothing orders one "
     "before the "
     "other. Which comes first may differ from run to run and from GPU to GPU; that a test passes proves "
     "nothing.",
     "A __syncthreads() is missing between writing a tile and reading it, or between reading it and writing "
     "the next "
     "one. Inside a warp it is a __syncwarp(): lanes do not run in lockstep. A barrier is there but was "
     "passed "
     "with .relaxed, which publishes nothing. Nor does volatile order anything. A race that looks meant (a "
     "flag, a "
     "search that any thread may win) is a warning, and the launch goes on."},
    {"race-global", "Race in global memory",
     "Two threads used the same bytes of global memory, at least one of them wrote, and nothing orders one "
     "before the "
     "other. Blocks of one launch run in any order.",
     "Two blocks compute the same output (wrong index, block offset forgotten), a sum without atomicAdd, or "
     "a flag "
     "without release and acquire. Launches in one stream are ordered, but for programmatic dependent "
     "launch. A race that looks meant (a flag, a "
     "search that any thread may win, labels that sink until none changes) is a warning, and the launch goes "
     "on."},
    {"race-kernels", "Two operations of the device that nothing orders",
     "Two kernels, copies or memsets used the same bytes, at least one of them wrote, and neither stands "
     "behind "
     "the other: they are in different streams, or in branches of a graph. The emulator carried them out one "
     "after the other; a GPU may run them at the same time or the other way round.",
     "No event between the streams (cudaEventRecord behind the first, cudaStreamWaitEvent before the "
     "second), or "
     "an event that was recorded too early. A stream made with cudaStreamNonBlocking, which does not wait "
     "for the "
     "default stream; cudaMemcpy waits for the default stream only. In a graph an edge is missing."},
    {"race-host", "The host uses memory that the device still uses",
     "The host wrote to page-locked or managed memory while an asynchronous copy or a kernel that uses it "
     "might "
     "still have been under way, or read what they write. Such a call returns before its work is done.",
     "A result is read before its copy has been waited for, or another stream was waited for. A buffer is "
     "refilled before its copy has ended: cudaEventSynchronize on an event recorded behind the copy, or two "
     "buffers in turn, each with an event of its own. Managed parameters change from launch to launch: pass "
     "them "
     "by value."},
    {"freed-in-use", "Memory freed while another operation may use it",
     "cudaFreeAsync, or cudaFree of memory from a pool, gave back memory that a kernel, copy or memset may "
     "still "
     "have been using. The next allocation may get the same place.",
     "cudaFreeAsync orders the end of the memory behind its own stream only. Let that stream wait for an "
     "event "
     "recorded behind the last use in each other stream. cudaFree waits for the device only where the memory "
     "came "
     "from cudaMalloc."},
    {"missing-proxy-fence", "No fence between generic and async proxy",
     "Ordinary loads and stores go through the generic proxy, bulk and tensor copies through the async "
     "proxy. A barrier "
     "orders threads, but only fence.proxy.async makes what the generic proxy wrote visible to the async "
     "proxy. "
     "Without it the copy may take the bytes from before the write.",
     "The fence before a bulk or tensor store is missing. Each thread that wrote executes fence.proxy.async, "
     "then the "
     "barrier, then one thread issues the copy. Where the copy only overwrites such bytes, or reads global "
     "memory "
     "that the same kernel wrote, the finding is a warning. A tensor map in global memory that changes has "
     "fences of its own: "
     "fence.proxy.tensormap with release behind the change, and with acquire in each block that "
     "uses the map."},
    {"read-overtaken", "A copy overtakes an ordinary read",
     "A thread read shared memory into a register, met the others at a barrier, and a bulk or tensor copy "
     "into "
     "the same bytes was issued behind it. A barrier waits for threads, not for their loads: the read may "
     "still "
     "be under way, and the async proxy does not queue behind it. On an H200 up to a third of the words were "
     "wrong, at __syncthreads(), named barriers and arrivals at an mbarrier, more at __syncwarp().",
     "The value is used only behind the barrier and fence.proxy.async is missing: each reading thread "
     "executes "
     "it behind its reads and before the barrier or arrival, or the issuing thread behind the barrier. A "
     "value "
     "that was stored before the barrier has been waited for. The emulator sees where the PTX uses the "
     "value; "
     "the compiler may move arithmetic, but not stores, behind the barrier."},
    {"read-before-completion", "Read before an asynchronous copy completed",
     "A thread read bytes that an asynchronous operation writes, and had not observed its completion, "
     "neither itself "
     "nor through another thread that told it by a barrier. It may read the old bytes.",
     "The wait is missing (wait_group, try_wait on the mbarrier, consumer_wait of a pipeline), waits for too "
     "few "
     "groups or the wrong phase, or only one thread waited and no __syncthreads() followed. For bulk stores "
     "wait_group.read is not enough. Where there is a wait, the message says why it did not help."},
    {"overwrite-in-flight", "Memory of a running copy overwritten",
     "Bytes that an asynchronous operation still writes (or, if it completes at an mbarrier, still reads) "
     "were written "
     "by somebody else. The operation may land before or after.",
     "A stage of a ring is filled again before its last copy was waited for, or two copies have the same "
     "destination."},
    {"reuse-before-read-done", "Source of a bulk store reused too early",
     "Shared memory that a bulk or tensor store reads was overwritten before the store was known to have "
     "read it. The "
     "new bytes may end up in global memory.",
     "commit_group and wait_group.read are missing in the issuing thread, or the barrier that tells the "
     "other threads "
     "after it. Bulk groups belong to one thread: another thread's wait_group waits for nothing."},
    {"deadlock", "Nobody can go on",
     "All threads that are left wait, and nothing that is under way can end a wait. The report lists who "
     "waits where and "
     "what is missing: arrivals, bytes, or threads that exited.",
     "The mbarrier's count does not equal the arrivals; the bytes expected are not those copied; the parity "
     "was not flipped; "
     "a __syncthreads() stands in a branch; a stage is never released."},
    {"tx-count-mismatch", "Expected bytes do not equal copied bytes",
     "The phase of an mbarrier ends when all arrivals have come and as many bytes have landed as expect_tx "
     "announced. "
     "Here a phase ended while one of its copies was under way, so waiting threads go on too early; an H200 "
     "was seen to hang instead.",
     "The tx-count forgets a copy, or counts elements instead of bytes; for a tensor copy that hangs over "
     "the "
     "edge it "
     "must still be the full box. A count that no landing brings to zero, too large or too small, shows as a "
     "deadlock that names the bytes."},
    {"barrier-uninitialised", "mbarrier used without init",
     "An mbarrier operation named an address where no mbarrier.init has made a barrier, or where it was "
     "invalidated.",
     "init is missing or comes later, the address is wrong, or only some blocks of a cluster initialised "
     "theirs."},
    {"barrier-init-not-visible", "mbarrier used before its initialisation is ordered",
     "A thread used an mbarrier, or issued a copy that completes there, and nothing orders mbarrier.init by "
     "another thread before that. It may find the barrier of before, or none.",
     "After mbarrier.init all threads of the block pass __syncthreads(); in a cluster, where other blocks "
     "use "
     "the barrier, a cluster barrier. Is that barrier's arrive .relaxed, the initialising thread executes "
     "fence.mbarrier_init.release.cluster before it."},
    {"barrier-init-unfenced", "mbarrier's initialisation not fenced for the async proxy",
     "A note that only strict checks give. An asynchronous copy completes at an mbarrier whose "
     "initialisation "
     "is ordered before it, without a proxy fence. The PTX ISA says since version 9.2 that a copy reaches "
     "its "
     "mbarrier through the generic proxy, so none is needed; the CUDA C++ Programming Guide up to 13.0 "
     "fenced "
     "there.",
     "Nothing is wrong. Add fence.proxy.async or fence.mbarrier_init.release.cluster after mbarrier.init if "
     "the code is to follow the older manuals as well."},
    {"barrier-reinit-in-use", "mbarrier initialised again while in use",
     "mbarrier.init was executed on a barrier on which arrivals, bytes or waiting threads are outstanding, "
     "or "
     "several threads initialised it.",
     "init stands inside the loop. Initialise once; phases follow each other by themselves. One thread does "
     "it: if "
     "(threadIdx.x == 0)."},
    {"arrival-count-mismatch", "More arrivals than expected",
     "A phase of an mbarrier got more arrivals than the count given to mbarrier.init, or threads "
     "name different counts at one barrier of the block.",
     "The count was computed for another number of threads or warps, or a thread arrives twice in one "
     "phase."},
    {"out-of-bounds", "Access outside an allocation",
     "An access lies outside the allocation, shared memory or stack it was meant for.",
     "A missing bounds check on the last block, an index in elements used as bytes, or a forgotten block "
     "offset."},
    {"misaligned", "Address not aligned",
     "The address is not a multiple of what the instruction demands. Hardware faults too, but for local "
     "memory.",
     "float4 access at an odd element, a bulk copy of addresses that are not multiples of 16, a tensor tile "
     "that is not "
     "aligned to 128 bytes, or an aligned_size_t that promises too much."},
    {"uninitialised-shared", "Read of shared memory that nobody wrote",
     "A thread read bytes of shared memory that no thread and no copy has written in this block. Their "
     "contents are "
     "arbitrary; on hardware often zero, or what the previous block left.",
     "The load loop covers fewer elements than the read, a counter is not set to zero, or the tail of a tile "
     "was skipped. Where a copy to global memory takes such bytes, the finding is a warning."},
    {"uninitialised-global", "Read of global memory that nobody wrote",
     "A kernel read bytes of memory from cudaMalloc that neither a copy or memset of the host nor a kernel "
     "has "
     "written, and used them. Their contents are arbitrary: on hardware often zero, or what another program "
     "left. A warning: the launch goes on.",
     "cudaMemset is missing before a kernel that adds to its output, or before an atomicAdd; a copy takes "
     "fewer "
     "bytes than the kernel reads, often elements counted as bytes. Copies of the TMA are not followed."},
    {"divergent-barrier", "A warp split across barriers",
     "Threads of one warp arrived at a block barrier by different instructions. __syncthreads() is an "
     "aligned barrier: "
     "all threads of a warp must execute the same one.",
     "__syncthreads() in both branches of an if, or in a loop that threads leave at different times. Where "
     "the others "
     "have ended without it, the finding is a warning."},
    {"exited-with-copies-in-flight", "Block ended while copies use its shared memory",
     "All threads of a block exited although an asynchronous operation that reads or writes its shared "
     "memory was never "
     "waited for. That memory may belong to another block by then.",
     "Missing wait_group or wait_group.read before the end, or a load whose mbarrier nobody waited for."},
    {"remote-block-exited", "Shared memory of an exited block",
     "A block of a cluster used the shared memory of another block that has exited, or that "
     "nothing keeps from exiting before.",
     "The last cluster barrier is missing: all blocks must stay until nobody needs their shared memory."},
    {"remote-block-not-started", "Shared memory of a block that may not have started",
     "A block of a cluster used the shared memory of another block before anything told it that this block "
     "runs. The "
     "blocks of a cluster are scheduled together, but they do not start at the same instant.",
     "The first cluster barrier is missing, before the first access to another block's shared memory."},
    {"rank-out-of-range", "No such block in the cluster",
     "A cluster address was made for a block rank that the cluster does not have.",
     "Wrong arithmetic on the rank, or a launch with a smaller cluster than the kernel assumes."},
    {"no-cluster-launch", "Instruction outside a cluster launch",
     "st.async, red.async and bulk copies from shared memory to the cluster's shared memory need a kernel "
     "that "
     "was launched as a cluster. Elsewhere a GPU ends it with cudaErrorIllegalInstruction.",
     "The cluster attribute is missing in the launch, or is left out where the cluster has one block."},
    {"multicast-mask-out-of-range", "Multicast to a block outside the cluster",
     "The mask of a multicast copy has a bit for a rank that the cluster does not have.",
     "The mask was made for another cluster size."},
    {"tensor-map-invalid", "Not a tensor map",
     "A tensor copy got an address that holds no valid tensor map, or not in a space where it may lie.",
     "The CUtensorMap was passed by reference to ordinary memory instead of as const __grid_constant__ "
     "parameter, or its "
     "encoding failed unnoticed."},
    {"invalid-size", "Size that the instruction does not take",
     "The size of a copy is not one the instruction allows; bulk copies take multiples of 16 bytes.",
     "A tail that is not a multiple of 16: copy it with ordinary loads and stores, or pad."},
    {"unsupported-instruction", "Instruction the emulator does not know",
     "The kernel contains a PTX instruction or form that the emulator does not execute. Nothing was run.",
     "See the table of supported instructions; warp matrix instructions are outside its scope."},
    {"unsupported-api", "Function the emulator does not know",
     "The program called a CUDA function that the emulator does not offer. The call returned an error.",
     "See the table of supported functions."},
    {"trap", "Trap executed",
     "The kernel executed a trap instruction, which ends the whole launch with an error.",
     "__trap(), a failed check in device code, or code the compiler proved unreachable."},
    {"assert", "Assertion failed",
     "An assert in device code was false; the message names the expression and the thread.",
     "The message gives file, line, block and thread of the assertion."},
    {"stack-overflow", "Stack too small",
     "A thread's stack of local variables and calls outgrew the limit the device sets.",
     "Endless recursion, or a large array in a recursive function."},
    {"watchdog", "No progress",
     "A loop came back to the state in which it had been, and so will run for ever: it writes nothing, and "
     "nothing that it reads can change.",
     "A loop waits for something that never changes, or a condition never becomes false."},
    {"duplicate-copy", "The same copy issued by several threads",
     "Several threads issued the same asynchronous copy to the same bytes at the same time.",
     "The if (threadIdx.x == 0), or elect.sync, around a bulk copy and the announcement of its bytes is "
     "missing. One thread moves the whole tile, and the mbarrier expects that thread's arrival alone."},
};

} // namespace

std::span<const CatalogueEntry> catalogue() { return entries; }

const CatalogueEntry* find_in_catalogue(std::string_view name) {
    const auto it = std::ranges::find(entries, name, &CatalogueEntry::name);
    return it == std::end(entries) ? nullptr : it;
}

} // namespace emu

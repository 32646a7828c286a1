"""The claims of chapters 3 and 5 about what synchronising takes, and what comes of leaving it out."""

from collections.abc import Iterator

from .bench_file import Claim, Tables
from .bench_rows import Rows, as_float, ratio, some


def barriers(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["sync_cycles"].rows, "operation")

    def cycles(operation: str, warps: int) -> float | None:
        return rows.figure("cycles", operation=operation, warps=warps)

    block, library = cycles("__syncthreads()", 8), cycles("cuda::barrier, arrive_and_wait()", 8)
    yield Claim("sync-block", "8 warps: a round of cuda::barrier takes more than __syncthreads()", ratio(library, block), ">=", 2, "times")
    many = ratio(cycles("__syncthreads()", 32), cycles("__syncthreads()", 8))
    yield Claim("sync-warps", "__syncthreads() of 32 warps takes more than of 8", many, ">=", 2, "times")
    hit, miss = (cycles(f"test_wait, phase {state}complete", 8) for state in ("", "not "))
    yield Claim("sync-look", "8 warps: a look that fails takes no longer than one that succeeds", ratio(miss, hit), "<=", 1.05, "times")
    arrive, look = cycles("mbarrier.arrive, all lanes", 1), cycles("try_wait, phase complete", 1)
    yield Claim("sync-arrive", "one warp: a look takes longer than an arrival", ratio(look, arrive), ">=", 3, "times")
    all_lanes, one_lane = (cycles(f"mbarrier.arrive, {who}", 8) for who in ("all lanes", "one lane of each warp"))
    yield Claim("sync-one-lane", "8 warps: arrivals of all lanes take no longer than those of one lane", ratio(all_lanes, one_lane), "<=", 1.1, "times")


def fences(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["fence_cycles"].rows, "fence")

    def cycles(fence: str, after: str = "nothing") -> float | None:
        return rows.figure("cycles", fence=fence, after=after, warps=1)

    block, device, system = (cycles(f"__threadfence{scope}()") for scope in ("_block", "", "_system"))
    yield Claim("fence-device", "the fence of the GPU takes longer than that of the block", ratio(device, block), ">=", 10, "times")
    yield Claim("fence-system", "the fence of the system takes longer than that of the GPU", ratio(system, device), ">=", 2, "times")
    shared, everywhere = cycles("fence.proxy.async.shared::cta"), cycles("fence.proxy.async")
    yield Claim("fence-proxy", "the proxy fence for shared memory takes about as long as the block's fence", ratio(shared, block), "<=", 1.5, "times")
    yield Claim("fence-proxy-all", "the proxy fence for all memory takes longer than that for shared memory", ratio(everywhere, shared), ">=", 5, "times")
    yield Claim("fence-init", "fence.mbarrier_init takes next to nothing", cycles("fence.mbarrier_init.release.cluster"), "<=", 4, "cycles")
    waits = ratio(cycles("__threadfence()", "a store to global memory"), device)
    yield Claim("fence-waits", "the fence of the GPU takes longer after a store to global memory", waits, ">=", 1.2, "times")


def turns(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["turn_cycles"].rows, "signal")
    sleeping, polling = (rows.figure("cycles", signal=f"mbarrier, arrive and {how}_wait") for how in ("try", "test"))
    yield Claim("turns-try", "who waits by try_wait hears sooner than who polls by test_wait", ratio(polling, sleeping), ">=", 1.3, "times")
    named = rows.figure("cycles", signal="bar.arrive and bar.sync")
    yield Claim("turns-named", "a named barrier hands over sooner than an mbarrier", ratio(sleeping, named), ">=", 1.5, "times")


def misses(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["try_wait_misses"].rows, "delay")
    yield Claim("try-wait-sleeps", "a try_wait that fails has slept", rows.figure("per_look", delay=1_000_000), ">=", 1000, "cycles")
    yield Claim("try-wait-wakes", "a try_wait that slept returns soon after the arrival", rows.figure("cycles", delay=1_000_000), "<=", 200, "cycles")


def twins(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["twins"].rows, "wait")
    eight = some(*(rows.time(wait=wait, loads=8) for wait in ("cuda::barrier, token", "mbarrier, token", "mbarrier, parity")))
    apart = ratio(max(eight, default=None), min(eight, default=None))
    yield Claim("twins-equal", "eight loads at a time: whatever the wait, the times agree", apart, "<=", 1.06, "times")
    few = ratio(rows.time(wait="mbarrier, parity", loads=1), rows.time(wait="mbarrier, parity", loads=8))
    yield Claim("twins-loads", "one load at a time takes longer than eight", few, ">=", 2, "times")
    twin = ratio(rows.time(wait="producer_consumer_mbarrier"), rows.time(wait="mbarrier, parity", loads=8))
    yield Claim("twins-gain", "producer_consumer_mbarrier gains by eight loads at a time", twin, ">=", 1.3, "times")


def prefetch(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["prefetch"].rows)

    def gain(blocks: int) -> float | None:
        without, ahead = (rows.time(kernel=kernel, blocks_per_sm=blocks) for kernel in ("add_one_loop", "add_one_prefetch"))
        return ratio(without, ahead)

    yield Claim("prefetch-few", "one block per SM: prefetching the next tile is faster", gain(1), ">=", 1.2, "times")
    yield Claim("prefetch-many", "16 blocks per SM: prefetching the next tile wins nothing", gain(16), "<=", 1.01, "times")


def overwritten(tables: Tables) -> Iterator[Claim]:
    rows = tables["overwritten"].rows

    def wrong(fenced: bool) -> list[float]:
        return some(*(as_float(row["wrong"]) for row in rows if row["lanes_per_bank"] == 32 and (row["fence"] != "nobody") == fenced))

    yield Claim("reads-overtaken", "without a fence words of the next tile come in", min(wrong(False), default=None), ">=", 1, "words")
    yield Claim("reads-fenced", "with a fence no word is of the next tile", max(wrong(True), default=None), "<=", 0, "words")

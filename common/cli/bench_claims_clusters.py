"""What the measurements of chapter 9, and of the causes in chapter 8, must show."""

from collections.abc import Callable, Iterator

from .bench_file import Claim, Tables
from .bench_rows import Rows, ratio


def _clusters(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["multicast"].rows)
    alone, shared = "each block loads", "multicast"

    def slower(cluster: int, kib: int) -> float | None:
        """How much longer multicast takes than loads by each block."""
        one = rows.time(loads=alone, cluster=cluster, batch=1024 * kib)
        return ratio(rows.time(loads=shared, cluster=cluster, batch=1024 * kib), one)

    for size in (2, 4, 8):
        loads = rows.figure("l2_bytes", loads=alone, cluster=size)
        asked = rows.figure("l2_bytes", loads=shared, cluster=size)
        yield Claim(f"multicast-bytes-{size}", f"clusters of {size}: multicast asks L2 for fewer bytes", ratio(loads, asked), ">=", size * 0.9, "times")
    yield Claim("multicast-even", "clusters of two, batches of 16 KiB: multicast takes as long as loads by each block", slower(2, 16), "<=", 1.05, "times")
    yield Claim("multicast-gain", "clusters of two, batches of 32 KiB: multicast takes less time", slower(2, 32), "<=", 0.97, "times")
    yield Claim("multicast-eight", "clusters of eight, batches of 16 KiB: multicast takes longer", slower(8, 16), ">=", 1.15, "times")


def _handover(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["handover"].rows)

    def costs(loads: str, way: str, than: str = "plain", cluster: int = 2, kib: int = 16) -> float | None:
        times = [rows.time(loads=loads, handover=name, cluster=cluster, batch=1024 * kib) for name in (way, than)]
        return ratio(*times)

    release = "arrive.release.cluster"
    for id, loads in (("alone", "each block loads"), ("multicast", "multicast")):
        sentence = f"{loads}: an arrival with .release.cluster costs more than the choice who loads"
        yield Claim(f"handover-release-{id}", sentence, costs(loads, release), ">=", 1.8, "times")
    yield Claim("handover-wait", "multicast: a wait with .acquire.cluster costs little", costs("multicast", "plain, wait.acquire.cluster"), "<=", 1.06, "times")
    gathered = costs("multicast", "gathered, plain", cluster=8)
    yield Claim("handover-gathered", "multicast to eight blocks: one arrival per block instead of eight takes less time", gathered, "<=", 0.95, "times")


def _stream(tables: Tables) -> Iterator[Claim]:
    rows = Rows([row for row in tables["stream_limits"].rows if row["loads"] == "each block loads"])

    def rate(kib: int, stages: int, reads: str = "all") -> float | None:
        return rows.figure("gb_per_s", batch=1024 * kib, stages=stages, reads=reads)

    yield Claim("stream-stages", "batches of 16 KiB: twelve stages are no faster than six", ratio(rate(16, 12), rate(16, 6)), "<=", 1.05, "times")
    yield Claim("stream-batch", "a ring of 192 KiB: batches of 32 KiB are faster than of 16", ratio(rate(32, 6), rate(16, 12)), ">=", 1.2, "times")
    part = ratio(rate(16, 12, "4 KiB of each batch"), rate(16, 12))
    yield Claim("stream-reads", "batches of 16 KiB of which 4 are read come faster", part, ">=", 1.2, "times")


def _tiles(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["multicast_tile"].where(cluster=4))

    def costs(kernel: str, than: str) -> float | None:
        return ratio(rows.time(kernel=kernel), rows.time(kernel=than))

    yield Claim("tile-sync", "clusters of four: cluster.sync() costs time", costs("tile_for_each_synced", "tile_for_each"), ">=", 1.2, "times")
    yield Claim("tile-relaxed", "clusters of four: a relaxed arrival costs less", costs("tile_for_each_synced", "tile_for_each_met"), ">=", 1.1, "times")
    for id, one, two in (("met", "tile_for_each_met", "multicast_tile"), ("synced", "tile_for_each_synced", "multicast_tile_synced")):
        yield Claim(f"tile-{id}", f"clusters of four, at the same barrier: {two} takes less time than {one}", costs(one, two), ">=", 1.02, "times")


def _cluster_launch(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["cluster_launch"].rows)
    for size, least in ((1, 2.0), (2, 1.2)):
        figure = ratio(rows.time(cluster=size), rows.time(cluster=0))
        yield Claim(f"launch-cluster-{size}", f"blocks in clusters of {size} are launched more slowly than blocks without", figure, ">=", least, "times")


def _causes(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["histogram_causes"].rows)
    there, home = "in the block that has the bin", "in the own block"
    cross = ratio(rows.time(counts=there, values="sloping", cluster=2), rows.time(counts=home, cluster=2))
    yield Claim("histogram-network", "clusters of two: counting in another block's memory takes longer than at home", cross, ">=", 2, "times")
    slope = ratio(rows.time(counts=there, values="sloping", cluster=16), rows.time(counts=there, values="even", cluster=16))
    yield Claim("histogram-slope", "clusters of sixteen: values that slope take longer than even ones", slope, ">=", 1.5, "times")


def _exchange(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["exchange"].rows)
    push, pull = (rows.time(way=f"{way} of 16 bytes", cluster=4) for way in ("stores", "loads"))
    yield Claim("exchange-push", "clusters of four: stores to a neighbour move more than loads from it", ratio(pull, push), ">=", 1.05, "times")
    if "multicast" in tables:
        l2 = Rows(tables["multicast"].rows).figure("gb_per_s", loads="each block loads", cluster=4, batch=65536)
        far = rows.figure("gb_per_s", way="bulk copies of 32 KiB", cluster=4)
        yield Claim("exchange-l2", "bulk copies from L2 deliver more than those from a neighbour", ratio(l2, far), ">=", 1.5, "times")


def _histogram(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["cluster_size"].rows)
    one = rows.time(kernel="histogram", cluster=1)
    two = rows.time(kernel="histogram", cluster=2)
    yield Claim(
        "histogram-one", "8192 bins, which one block can hold: counting in another block's memory costs time", ratio(two, one), ">=", 1.2, "times"
    )
    yield Claim(
        "sum-pair",
        "a sum per cluster of two is faster than a sum per block",
        ratio(rows.time(kernel="cluster_sum", cluster=1), rows.time(kernel="cluster_sum", cluster=2)),
        ">=",
        1.1,
        "times",
    )


def _crowding(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["crowding"].rows)

    def slower(kernel: str, blocks: int, than: str, of: int) -> float | None:
        return ratio(rows.time(kernel=kernel, blocks_per_sm=blocks), rows.time(kernel=than, blocks_per_sm=of))

    shared, swizzled, batched = "shared_tile", "tma_swizzled", "tma_batched"
    yield Claim("crowding-shared", "two blocks on an SM: tma_plain is hardly slower than shared_tile", slower("tma_plain", 2, shared, 2), "<=", 1.3, "times")
    yield Claim("crowding-batched", "two blocks on an SM: tma_swizzled is hardly slower than tma_batched", slower(swizzled, 2, batched, 2), "<=", 1.3, "times")
    yield Claim("crowding-more", "tma_batched with sixteen blocks on an SM is faster than with two", slower(batched, 2, batched, 16), ">=", 1.8, "times")


def _staying(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["staying"].where(extent="32768 x 32768"))
    nth, next_one = "every n-th", "the next one, by a counter"
    met, roles = rows.time(kernel="tma_persistent"), rows.time(kernel="tma_roles", loaded=3, tiles=nth, reads="")
    yield Claim("staying-roles", "a ring without barriers of the block is no faster than tma_persistent", ratio(met, roles), "<=", 1.02, "times")
    for kernel, stages in (("tma_roles", 4), ("tma_roles_direct", 12)):
        figure = ratio(*(rows.time(kernel=kernel, loaded=stages, tiles=tiles) for tiles in (nth, next_one)))
        yield Claim(f"staying-{kernel}", f"{kernel}, {stages} stages: faster if blocks claim the next tile", figure, ">=", 1.03, "times")
    best = ratio(rows.time(kernel="kept_reads"), rows.time(tiles=next_one))
    yield Claim("staying-best", "the best ring that claims its tiles comes to the last rung", best, ">=", 0.96, "times")
    small = Rows(tables["staying"].where(extent="8192 x 8192"))
    faster = ratio(small.time(kernel="kept_reads"), small.time(tiles=next_one))
    yield Claim("staying-small", "at 8192 x 8192 such a ring is faster than the last rung", faster, ">=", 1.02, "times")


def _publishing(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["publishing"].rows)

    def stale(memory: str, arrive: str, wait: str) -> float | None:
        figure = rows.figure("stale", memory=memory, arrive=arrive, wait=wait)
        words = rows.figure("words", memory=memory, arrive=arrive, wait=wait)
        return 100 * figure / words if figure is not None and words else None

    yield Claim("publishing-letter", "words in another block's shared memory, by the letter", stale("shared", "release.cluster", "acquire.cluster"), "<=", 0, "% stale")
    yield Claim("publishing-plain", "the same with a plain arrival", stale("shared", "plain", "acquire.cluster"), ">=", 1, "% stale")
    yield Claim("publishing-global", "words in global memory, by the letter", stale("global", "release.cluster", "acquire.cluster"), "<=", 0, "% stale")
    yield Claim("publishing-both", "the same with a plain arrival", stale("global", "plain", "acquire.cluster"), ">=", 1, "% stale")


CLAIMS: tuple[tuple[tuple[str, ...], Callable[[Tables], Iterator[Claim]]], ...] = (
    (("multicast",), _clusters),
    (("handover",), _handover),
    (("stream_limits",), _stream),
    (("multicast_tile",), _tiles),
    (("cluster_launch",), _cluster_launch),
    (("histogram_causes",), _causes),
    (("exchange",), _exchange),
    (("cluster_size",), _histogram),
    (("crowding",), _crowding),
    (("staying",), _staying),
    (("publishing",), _publishing),
)

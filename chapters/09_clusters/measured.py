"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, ratio
from cli.bench_tables import number, pivot

from . import rings


def _kib(value: Value) -> str:
    return heading(f"{int(number(value)) // 1024} KiB", "GB/s")


def _handovers_table(tables: Tables) -> Table:
    """How a stage is handed back: a line for each way, columns for who loads, the batch and the cluster."""
    rows = [row for row in tables["handover"].rows if row["cluster"] in (2, 8)]
    table = Table(
        "How a stage is handed back, and what the stream takes then",
        {"handover": "how a stage is handed back"}
        | {
            f"{row['loads']}/{row['cluster']}/{row['batch']}": heading(
                f"{row['loads']}, {int(number(row['batch'])) // 1024} KiB, clusters of {row['cluster']}", "µs"
            )
            for row in rows
        },
    )
    lines: dict[str, Row] = {}
    for row in rows:
        line = lines.setdefault(str(row["handover"]), {"handover": row["handover"]})
        line[f"{row['loads']}/{row['cluster']}/{row['batch']}"] = 1000 * number(row["median_ms"]) if row.get("median_ms") is not None else None
    table.rows = list(lines.values())
    return table


def _causes_of_histogram_table(tables: Tables) -> Table:
    names = {
        ("in the block that has the bin", "sloping"): "in the block that has the bin, values slope",
        ("in the block that has the bin", "even"): "in the block that has the bin, values are even",
        ("in the own block", "sloping"): "in the own block",
    }
    table = Table(
        "The histogram: where it counts, and how its values are spread",
        {"cluster": "blocks of the cluster"} | {words: heading(words, "ms") for words in names.values()},
    )
    lines: dict[Value, Row] = {}
    for row in tables["histogram_causes"].rows:
        line = lines.setdefault(row["cluster"], {"cluster": row["cluster"]})
        line[names[(str(row["counts"]), str(row["values"]))]] = row.get("median_ms")
    table.rows = list(lines.values())
    return table


def _tables_in_l2_table(tables: Tables) -> Table:
    """Histograms in the memory of the smallest cluster that holds the table, and in L2."""
    table = Table(
        "Histograms of tables of any size: counted in shared memory, spread over as few blocks as hold it, or by atomics in L2",
        {"bins": "bins", "values": "values", "cluster": "blocks of the cluster", "there": heading("in the cluster", "ms"), "l2": heading("in L2", "ms")},
    )
    rows = tables["histogram_l2"].rows
    l2 = {(row["bins"], row["values"]): row.get("median_ms") for row in rows if row["cluster"] == 0}
    for row in rows:
        if row["cluster"] != 0:
            table.rows.append(
                {name: row[name] for name in ("bins", "values", "cluster")} | {"there": row.get("median_ms"), "l2": l2.get((row["bins"], row["values"]))}
            )
    return table


def _tables_in_l2_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(_tables_in_l2_table(tables).rows)

    def against(bins: int, cluster: int, values: str = "even") -> float | None:
        """How much longer L2 takes than the cluster."""
        return ratio(rows.figure("l2", bins=bins, values=values, cluster=cluster), rows.figure("there", bins=bins, values=values, cluster=cluster))

    yield Claim("l2-fits", "8192 bins: atomics in L2 take longer than each block's own table", against(8192, 1), ">=", 5, "times")
    yield Claim("l2-pair", "65,536 bins, which two blocks hold: atomics in L2 take longer than a pair", against(65536, 2), ">=", 1.5, "times")
    yield Claim("l2-four", "131,072 bins: atomics in L2 take less time than a cluster of four", against(131072, 4), "<=", 0.8, "times")
    yield Claim("l2-sixteen", "524,288 bins: atomics in L2 take less time than a cluster of sixteen", against(524288, 16), "<=", 0.6, "times")


def _clusters_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["multicast"].rows)
    alone, shared = "each block loads", "multicast"

    def slower(cluster: int, kib: int) -> float | None:
        """How much longer multicast takes than loads by each block."""
        one = rows.time(loads=alone, cluster=cluster, batch=1024 * kib)
        return ratio(rows.time(loads=shared, cluster=cluster, batch=1024 * kib), one)

    yield Claim("multicast-even", "clusters of two, batches of 16 KiB: multicast takes as long as loads by each block", slower(2, 16), "<=", 1.05, "times")
    yield Claim("multicast-gain", "clusters of two, batches of 32 KiB: multicast takes less time", slower(2, 32), "<=", 0.97, "times")
    best = ratio(rows.time(loads=shared, cluster=2, batch=32768), rows.time(loads=alone, cluster=2, batch=65536))
    yield Claim("multicast-64", "clusters of two, a ring of 192 KiB: loads of 64 KiB by each block take less time than multicast of 32", best, ">=", 1.03, "times")
    even = slower(2, 64)
    off = None if even is None else 100 * abs(1 / even - 1)
    yield Claim("multicast-64-pair", "clusters of two, batches of 64 KiB: multicast hardly changes the time", off, "<=", 3, "%")
    yield Claim("multicast-eight", "clusters of eight, batches of 16 KiB: multicast takes longer", slower(8, 16), ">=", 1.15, "times")


def _handover_claims(tables: Tables) -> Iterator[Claim]:
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


def _stream_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows([row for row in tables["stream_limits"].rows if row["loads"] == "each block loads"])

    def rate(kib: int, stages: int, reads: str = "all") -> float | None:
        return rows.figure("gb_per_s", batch=1024 * kib, stages=stages, reads=reads)

    yield Claim("stream-stages", "batches of 16 KiB: twelve stages are no faster than six", ratio(rate(16, 12), rate(16, 6)), "<=", 1.05, "times")
    yield Claim("stream-batch", "a ring of 192 KiB: batches of 32 KiB are faster than of 16", ratio(rate(32, 6), rate(16, 12)), ">=", 1.2, "times")
    part = ratio(rate(16, 12, "4 KiB of each batch"), rate(16, 12))
    yield Claim("stream-reads", "batches of 16 KiB of which 4 are read come faster", part, ">=", 1.2, "times")


def _tiles_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["multicast_tile"].where(cluster=4))

    def costs(kernel: str, than: str) -> float | None:
        return ratio(rows.time(kernel=kernel), rows.time(kernel=than))

    yield Claim("tile-sync", "clusters of four: cluster.sync() costs time", costs("tile_for_each_synced", "tile_for_each"), ">=", 1.2, "times")
    yield Claim("tile-relaxed", "clusters of four: a relaxed arrival costs less", costs("tile_for_each_synced", "tile_for_each_met"), ">=", 1.1, "times")
    for id, one, two in (("met", "tile_for_each_met", "multicast_tile"), ("synced", "tile_for_each_synced", "multicast_tile_synced")):
        yield Claim(f"tile-{id}", f"clusters of four, at the same barrier: {two} takes less time than {one}", costs(one, two), ">=", 1.02, "times")


def _cluster_launch_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["cluster_launch"].rows)
    for size, least in ((1, 2.0), (2, 1.2)):
        figure = ratio(rows.time(cluster=size), rows.time(cluster=0))
        yield Claim(f"launch-cluster-{size}", f"blocks in clusters of {size} are launched more slowly than blocks without", figure, ">=", least, "times")


def _causes_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["histogram_causes"].rows)
    there, home = "in the block that has the bin", "in the own block"
    cross = ratio(rows.time(counts=there, values="sloping", cluster=2), rows.time(counts=home, cluster=2))
    yield Claim("histogram-network", "clusters of two: counting in another block's memory takes longer than at home", cross, ">=", 2, "times")
    slope = ratio(rows.time(counts=there, values="sloping", cluster=16), rows.time(counts=there, values="even", cluster=16))
    yield Claim("histogram-slope", "clusters of sixteen: values that slope take longer than even ones", slope, ">=", 1.5, "times")


def _exchange_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["exchange"].rows)
    push, pull = (rows.time(way=f"{way} of 16 bytes", cluster=4) for way in ("stores", "loads"))
    yield Claim("exchange-push", "clusters of four: stores to a neighbour move more than loads from it", ratio(pull, push), ">=", 1.05, "times")
    if "multicast" in tables:
        l2 = Rows(tables["multicast"].rows).figure("gb_per_s", loads="each block loads", cluster=4, batch=65536)
        far = rows.figure("gb_per_s", way="bulk copies of 32 KiB", cluster=4)
        yield Claim("exchange-l2", "bulk copies from L2 deliver more than those from a neighbour", ratio(l2, far), ">=", 1.5, "times")


def _histogram_claims(tables: Tables) -> Iterator[Claim]:
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
    for size in (2, 8):
        figure = ratio(rows.time(kernel="remote_arrive", cluster=size), rows.time(kernel="sum_in_l2", cluster=size))
        yield Claim(f"sum-l2-{size}", f"one sum for {size} blocks: a remote arrival takes longer than an atomic addition of each block in L2", figure, ">=", 2, "times")


def _publishing_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["publishing"].rows)

    def stale(memory: str, arrive: str, wait: str) -> float | None:
        figure = rows.figure("stale", memory=memory, arrive=arrive, wait=wait)
        words = rows.figure("words", memory=memory, arrive=arrive, wait=wait)
        return 100 * figure / words if figure is not None and words else None

    yield Claim("publishing-letter", "words in another block's shared memory, by the letter", stale("shared", "release.cluster", "acquire.cluster"), "<=", 0, "% stale")
    yield Claim("publishing-plain", "the same with a plain arrival", stale("shared", "plain", "acquire.cluster"), ">=", 1, "% stale")
    yield Claim("publishing-global", "words in global memory, by the letter", stale("global", "release.cluster", "acquire.cluster"), "<=", 0, "% stale")
    yield Claim("publishing-both", "the same with a plain arrival", stale("global", "plain", "acquire.cluster"), ">=", 1, "% stale")


BENCH = Bench(
    raw=("multicast", "handover", "stream_limits", "ring_waits", "ring_begins", "histogram_causes", "histogram_l2"),
    tables={
        "multicast_batches": (("multicast",), pivot(
            "multicast",
            "16 MiB for every block through a ring of 192 KiB: the rate at which all blocks get it, by the size of a batch",
            {"cluster": "blocks of the cluster", "loads": "loads"},
            "batch",
            _kib,
            "gb_per_s",
        )),
        "multicast_bytes": (("multicast",), pivot(
            "multicast",
            "What the blocks ask of L2, computed, for batches of 16 KiB",
            {"cluster": "blocks of the cluster", "blocks": "blocks", "delivered": heading("delivered to blocks", "bytes")},
            "loads",
            lambda v: heading(f"{v}: asked of L2", "bytes"),
            "l2_bytes",
            batch=16384,
        )),
        "multicast_handovers": (("handover",), _handovers_table),
        "multicast_stages": (("stream_limits",), pivot(
            "stream_limits",
            "Clusters of two: the rate by the size of a batch, the number of stages, and how much of a batch is read",
            {"batch": heading("batch", "bytes"), "reads": "read of a batch", "loads": "loads"},
            "stages",
            lambda v: heading(f"{v} stages", "GB/s"),
            "gb_per_s",
        )),
        "ring_late": (("ring_waits",), rings.late_table),
        "begin_chain": (("ring_begins",), rings.chain_table),
        "begin_rings": (("ring_begins",), rings.all_begins_table),
        "ring_ways": (("ring_waits",), rings.waits_table),
        "ring_parts": (("ring_waits",), rings.parts_table),
        "ring_bill": (("ring_waits",), rings.bill_table),
        "histogram_where": (("histogram_causes",), _causes_of_histogram_table),
        "histogram_l2_read": (("histogram_l2",), _tables_in_l2_table),
    },
    claims=(
        (("multicast",), _clusters_claims),
        (("handover",), _handover_claims),
        (("stream_limits",), _stream_claims),
        (("ring_waits",), rings.waits_claims),
        (("ring_waits",), rings.bill_claims),
        (("ring_begins",), rings.begins_claims),
        (("multicast_tile",), _tiles_claims),
        (("cluster_launch",), _cluster_launch_claims),
        (("histogram_causes",), _causes_claims),
        (("exchange",), _exchange_claims),
        (("cluster_size",), _histogram_claims),
        (("histogram_l2",), _tables_in_l2_claims),
        (("publishing",), _publishing_claims),
    ),
)

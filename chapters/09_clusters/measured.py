"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import number, pivot


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


_ALONE, _SHARED = "each block loads", "multicast"


def _ring(row: Row) -> str:
    return f"{row['stages']} × {int(number(row['batch'])) // 1024} KiB"


def _late_table(tables: Tables) -> Table:
    """How often the warps of a pair's rings wait for a batch, and what the pair gains."""
    table = Table(
        "Of 100 batches, those that are late for a warp; and how much more each block gets in a pair",
        {"ring": "ring of each block", "alone": "late: each block loads", "pair": "late: in a pair", "gain": heading("gain of the pair", "%")},
    )
    rows = tables["ring_waits"].where(cluster=2)
    pairs = {(row["batch"], row["stages"]): row for row in rows if row["loads"] == _SHARED}
    for row in rows:
        if row["loads"] == _ALONE and row.get("median_ms") is not None:
            pair = pairs[row["batch"], row["stages"]]
            gain = 100 * (number(row["median_ms"]) / number(pair["median_ms"]) - 1)
            table.rows.append({"ring": _ring(row), "alone": round(number(row["late"])), "pair": round(number(pair["late"])), "gain": round(gain)})
    return table


class _Begins:
    """The rows of ring_begins."""

    def __init__(self, tables: Tables) -> None:
        self.rows = [row for row in tables["ring_begins"].rows if row.get("median_ms") is not None]

    def row(self, kib: int, stages: int, loads: str, alike: int, cluster: int = 2, kernel: str = "stream_begins") -> Row | None:
        wanted = {"kernel": kernel, "loads": loads, "cluster": cluster, "batch": 1024 * kib, "stages": stages}
        for row in self.rows:
            if all(row[name] == value for name, value in wanted.items()) and row["alike"] == (alike or row["blocks"]):
                return row
        return None

    def pair(self, kib: int, stages: int, alike: int) -> Row | None:
        """The ring in pairs: the blocks of one begin alike, so no two blocks is no two pairs."""
        return self.row(kib, stages, _SHARED, alike if alike != 1 else 2)

    def time(self, row: Row | None) -> float | None:
        return as_float(row["median_ms"]) if row else None

    def gain(self, kib: int, stages: int, alike: int) -> float | None:
        """How much longer the blocks take alone than in a pair."""
        return ratio(self.time(self.row(kib, stages, _ALONE, alike)), self.time(self.pair(kib, stages, alike)))

    def shapes(self) -> list[tuple[int, int]]:
        return list(dict.fromkeys((int(number(row["batch"])) // 1024, int(number(row["stages"]))) for row in self.rows))


def _chain_table(tables: Tables) -> Table:
    """A ring changed step by step: no two blocks begin alike, then the two of each cluster do, then they share their loads; and if all begin alike."""
    table = Table("What each block gets, and how many of 100 batches are late for a warp; in clusters of two, batches of 32 KiB", {"step": "step"})
    rows = _Begins(tables)
    steps: dict[str, Row] = {}
    for stages, words in ((3, "three stages"), (4, "four stages")):
        chain = {
            "no two blocks begin alike": rows.row(32, stages, _ALONE, 1),
            "the two of a cluster begin alike": rows.row(32, stages, _ALONE, 2),
            "and share their loads": rows.pair(32, stages, 2),
            "all blocks begin alike": rows.row(32, stages, _ALONE, 0),
            "and pairs share their loads": rows.pair(32, stages, 0),
        }
        table.headings[f"rate_{stages}"] = heading(words, "GB/s")
        table.headings[f"late_{stages}"] = heading(f"{words}: late", "of 100")
        for step, row in chain.items():
            if row:
                found: Row = {f"rate_{stages}": round(number(row["gb_per_s"])), f"late_{stages}": round(number(row["late"]))}
                steps.setdefault(step, {"step": step}).update(found)
    table.rows = list(steps.values())
    return table


def _all_begins_table(tables: Tables) -> Table:
    """Every ring and every way: late batches, and the rate of each block."""
    table = Table(
        "What each block gets, and in parentheses how many of 100 batches are late for a warp, by which blocks begin alike",
        {"ring": "ring of each block", "loads": "loads", "cluster": "blocks of the cluster"},
    )
    lines: dict[tuple[str, str, Value], Row] = {}
    for row in tables["ring_begins"].rows:
        if row["kernel"] != "stream_begins" or row.get("median_ms") is None or row["alike"] in (4, 44):
            continue
        all_of_them = row["alike"] == row["blocks"]
        name, words = ("all", "all alike") if all_of_them else (str(row["alike"]), "no two alike" if row["alike"] == 1 else f"{row['alike']} alike")
        table.headings.setdefault(name, heading(words, "GB/s"))
        line = lines.setdefault((_ring(row), str(row["loads"]), row["cluster"]), {"ring": _ring(row), "loads": row["loads"], "cluster": row["cluster"]})
        line[name] = f"{number(row['gb_per_s']):.1f} ({number(row['late']):.0f})"
    table.rows = list(lines.values())
    return table


def _begins_claims(tables: Tables) -> Iterator[Claim]:
    rows = _Begins(tables)

    def against(one: Row | None, two: Row | None) -> float | None:
        """How much longer one takes than the other."""
        return ratio(rows.time(one), rows.time(two))

    ring = (32, 3)
    alone = [rows.row(*ring, _ALONE, alike) for alike in (1, 2, 0)]
    yield Claim("begins-none", "three stages of 32 KiB: a pair gains over blocks of which no two begin alike", rows.gain(*ring, 1), ">=", 1.5, "times")
    yield Claim("begins-two", "over blocks of which the two of a cluster begin alike", rows.gain(*ring, 2), ">=", 1.15, "times")
    yield Claim("begins-all", "if all do", rows.gain(*ring, 0), ">=", 1.05, "times")
    yield Claim("begins-four-none", "with four stages: over blocks of which no two begin alike", rows.gain(32, 4, 1), ">=", 1.5, "times")
    yield Claim("begins-four-two", "over two by two", rows.gain(32, 4, 2), "<=", 1.04, "times")
    yield Claim("begins-four-all", "all: the pair loses", rows.gain(32, 4, 0), "<=", 0.99, "times")
    yield Claim("begins-alone", "blocks that load alone take longer if no two begin alike than if two by two do", against(alone[0], alone[1]), ">=", 1.25, "times")
    alone_four = [rows.row(32, 4, _ALONE, alike) for alike in (1, 2)]
    yield Claim("begins-alone-four", "with four stages, too", against(alone_four[0], alone_four[1]), ">=", 1.4, "times")
    late = [as_float(row.get("late")) if row else None for row in alone]
    yield Claim("begins-late", "and more of their batches are late", ratio(late[0], late[1]), ">=", 1.5, "times")
    yield Claim("begins-late-all", "more than if all do", ratio(late[1], late[2]), ">=", 1.3, "times")
    apart = against(rows.row(*ring, _ALONE, 1, 1), rows.row(*ring, _ALONE, 2, 1))
    yield Claim("begins-no-cluster", "in clusters of one two blocks that follow each other gain nothing by beginning alike", apart, "<=", 1.03, "times")
    apart = against(rows.row(32, 4, _ALONE, 1, 1), rows.row(32, 4, _ALONE, 2, 1))
    yield Claim("begins-no-cluster-four", "nor with four stages", apart, "<=", 1.03, "times")
    for id, shape, least in (("begins-launch", ring, 1.25), ("begins-launch-four", (32, 4), 1.4)):
        launched = against(rows.row(*shape, _ALONE, 2, 1), rows.row(*shape, _ALONE, 2))
        yield Claim(id, f"{shape[1]} stages of 32 KiB, two by two: clusters of two gain over clusters of one, though they share nothing", launched, ">=", least, "times")
    more = against(rows.row(*ring, _ALONE, 2), rows.row(*ring, _ALONE, 12))
    yield Claim("begins-twelve", "nor do twelve blocks that begin alike gain over two of a cluster", more, "<=", 1.03, "times")
    itself = [against(rows.row(*shape, _SHARED, 0, 1), rows.row(*shape, _SHARED, 1, 1)) for shape in rows.shapes()]
    yield Claim("begins-self", "a multicast to the own block alone is no faster if all begin alike", min(some(*itself), default=None), ">=", 0.99, "times")
    unmerged = [against(rows.row(*shape, _SHARED, 0, 1), rows.row(*shape, _ALONE, 1, 1)) for shape in rows.shapes()]
    yield Claim("begins-unmerged", "and takes a little longer than ordinary copies of which no two begin alike", max(some(*unmerged), default=None), "<=", 1.15, "times")
    listed = against(rows.row(*ring, _SHARED, 0, 2, "stream_multicast"), rows.pair(*ring, 0))
    yield Claim("begins-listed", "the listed kernel takes nearly as long in pairs as this one", None if listed is None else abs(listed - 1) * 100, "<=", 8, "%")
    some_late = [rows.gain(kib, stages, alike) for kib, stages, alike in ((32, 2, 2), (32, 2, 0), (16, 3, 2), (16, 3, 0))]
    yield Claim("begins-rings", "other rings of neighbours that begin alike, with 9 late batches or more: a pair gains", min(some(*some_late), default=None), ">=", 1.03, "times")
    in_time = [rows.gain(16, 6, alike) for alike in (2, 0)]
    yield Claim("begins-six", "six stages of 16 KiB of neighbours that begin alike: a pair gains nothing", max(some(*in_time), default=None), "<=", 1.02, "times")
    unmerged_rates = [as_float(row["gb_per_s"]) for shape in rows.shapes() if (row := rows.row(*shape, _ALONE, 1))]
    spread = ratio(max(some(*unmerged_rates), default=None), min(some(*unmerged_rates), default=None))
    yield Claim("begins-same", "no two begin alike: five rings of blocks alone get nearly the same", spread, "<=", 1.08, "times")


_BILLS = ((8192, 2), (16384, 2), (32768, 2), (16384, 6))
"""The rings, batch and stages, for which the chapter adds up the way and the hold."""


_TOO_LOW = ((16384, 3), (32768, 3), (32768, 6))
"""Those for which it promises less than was measured."""


def _pairs_of_rings(tables: Tables, rings: tuple[tuple[int, int], ...] = _BILLS, cluster: int = 2) -> Iterator[tuple[Row, Row]]:
    """The rings of the bill: each block for itself, and all blocks of the cluster for all."""
    rows = tables["ring_waits"].where(cluster=cluster)
    for batch, stages in rings:
        alone, pair = ([row for row in rows if (row["batch"], row["stages"], row["loads"]) == (batch, stages, loads)] for loads in (_ALONE, _SHARED))
        for one, two in zip(alone, pair):
            if all(row.get(name) is not None for row in (one, two) for name in ("median_ms", "on_way", "held")):
                yield one, two


def _turn(row: Row) -> int:
    """After how many cycles a stage is asked for again, from the rounded parts, as a reader adds them up."""
    return round(number(row["on_way"])) + round(number(row["held"]))


def _parts_table(tables: Tables) -> Table:
    """What a reader adds up: the way and the hold of rings of two stages."""
    table = Table(
        "On its way and held: the two parts of a turn of a stage, in rings of two stages (cycles)",
        {"ring": "ring of each block", "way_alone": "on its way, alone", "way_pair": "on its way, in a pair"}
        | {"held_alone": "held, alone", "held_pair": "held, in a pair"},
    )
    for alone, pair in _pairs_of_rings(tables):
        if alone["stages"] == 2:
            line: Row = {"ring": _ring(alone)}
            for name, part in (("way", "on_way"), ("held", "held")):
                line |= {f"{name}_alone": round(number(alone[part])), f"{name}_pair": round(number(pair[part]))}
            table.rows.append(line)
    return table


def _bill_and_gain(alone: Row, shared: Row) -> tuple[float, float]:
    """The gain in per cent that the turns promise, and the gain by the time."""
    return 100 * (_turn(alone) / _turn(shared) - 1), 100 * (number(alone["median_ms"]) / number(shared["median_ms"]) - 1)


def _bill_table(tables: Tables) -> Table:
    """The gain that the turns of a stage promise, and the gain by the time."""
    table = Table(
        "A turn of a stage, on its way plus held; the gain between these watched runs; and the gain between unwatched ones",
        {"ring": "ring of each block", "alone": heading("a turn, alone", "cycles"), "pair": heading("a turn, in a pair", "cycles")}
        | {"bill": heading("gain of the watched runs", "%"), "gain": heading("gain of the unwatched runs", "%")},
    )
    for alone, pair in _pairs_of_rings(tables):
        bill, gain = _bill_and_gain(alone, pair)
        table.rows.append({"ring": _ring(alone), "alone": _turn(alone), "pair": _turn(pair), "bill": round(bill), "gain": round(gain)})
    return table


def _bill_claims(tables: Tables) -> Iterator[Claim]:
    off = [abs(number(row["bill"]) - number(row["gain"])) for row in _bill_table(tables).rows]
    loops = [
        100 * abs(_turn(row) / number(row["stages"]) / number(row["cycles"]) - 1)
        for row in tables["ring_waits"].rows
        if row.get("cycles") is not None and row.get("on_way") is not None
    ]
    moved = None
    for alone, pair in _pairs_of_rings(tables):
        if alone["stages"] == 6:
            moved = ratio(number(pair["held"]) - number(alone["held"]), number(alone["on_way"]) - number(pair["on_way"]))
    yield Claim("bill-gains", "the gain of the watched runs is that of the unwatched, within a few per cent", max(off, default=None), "<=", 5, "points")
    low = [gain - bill for bill, gain in (_bill_and_gain(*ring) for ring in _pairs_of_rings(tables, _TOO_LOW))]
    sentence = "three rings of more stages and with late batches: the watched runs gain less than the unwatched"
    yield Claim("bill-low", sentence, min(low, default=None), ">=", 4, "points")
    eight = [abs(gain - bill) for bill, gain in (_bill_and_gain(*ring) for ring in _pairs_of_rings(tables, ((32768, 3),), 8))]
    sentence = "three stages of 32 KiB shared by eight blocks: watched runs lose what unwatched do, within a few points"
    yield Claim("bill-eight", sentence, max(eight, default=None), "<=", 4, "points")
    sentence = "way and hold, divided by the stages, are the cycles that a batch takes a warp"
    yield Claim("bill-loops", sentence, max(loops, default=None), "<=", 5, "%")
    yield Claim("bill-six", "six stages of 16 KiB: what a pair takes off the way, the hold gets", moved, ">=", 0.9, "of it")


def _waits_table(tables: Tables) -> Table:
    """All that was counted in a ring, for one batch."""
    table = Table(
        "What the roles of a ring wait for, and how long a batch is on its way",
        {"cluster": "blocks of the cluster", "ring": "ring of each block", "loads": "loads"}
        | {"median_ms": heading("time", "µs"), "late": heading("batches late for a warp", "%"), "at_full": heading("warps wait at full", "%")}
        | {"busy": heading("a batch, without the waits", "cycles"), "at_empty": heading("producers wait at empty", "%")}
        | {"on_way": heading("on its way", "cycles"), "held": heading("held until asked for again", "cycles")},
    )
    for row in tables["ring_waits"].rows:
        line: Row = {"cluster": row["cluster"], "ring": _ring(row), "loads": row["loads"]}
        if row.get("median_ms") is not None:
            line |= {name: row.get(name) for name in ("late", "at_full", "at_empty")}
            line |= {"median_ms": round(1000 * number(row["median_ms"]), 1), "busy": round(number(row["cycles"]) * (1 - number(row["at_full"]) / 100))}
            line |= {name: round(number(row[name])) for name in ("on_way", "held")}
        table.rows.append(line)
    return table


def _waits_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["ring_waits"].rows)

    def of(name: str, kib: int, stages: int, loads: str = _ALONE, cluster: int = 2) -> float | None:
        return rows.figure(name, loads=loads, cluster=cluster, batch=1024 * kib, stages=stages)

    def gain(kib: int, stages: int) -> float | None:
        return ratio(of("median_ms", kib, stages), of("median_ms", kib, stages, _SHARED))

    def sooner(kib: int, name: str = "on_way") -> float | None:
        """By how many cycles the pair's batch is less long on its way, or held, in rings of two stages."""
        one, two = of(name, kib, 2), of(name, kib, 2, _SHARED)
        return one - two if one is not None and two is not None else None

    in_time = ((16, 4), (16, 6), (16, 12), (32, 4))
    late = max(some(*(of("late", *ring) for ring in in_time)), default=None)
    gains = max(some(*(gain(*ring) for ring in in_time)), default=None)
    cost = max(some(*(ratio(as_float(row.get("full_ms")), as_float(row.get("median_ms"))) for row in rows.rows)), default=None)
    yield Claim("waits-cost", "counting the waits makes a ring slower by a few per cent only", cost, "<=", 1.07, "times")
    yield Claim("waits-few", "four stages or more, but six of 32 KiB: a warp waits for few batches", late, "<=", 8, "%")
    yield Claim("waits-few-gain", "and a pair gains next to nothing there", gains, "<=", 1.03, "times")
    for kib, stages, least in ((16, 3, 1.1), (32, 2, 1.2), (32, 3, 1.18), (32, 6, 1.08)):
        name = f"waits-{kib}-{stages}"
        yield Claim(name, f"{stages} stages of {kib} KiB: a warp waits for many batches", of("late", kib, stages), ">=", 15, "%")
        yield Claim(f"{name}-gain", "and a pair gains", gain(kib, stages), ">=", least, "times")
    yield Claim("waits-gone", "three stages of 32 KiB in a pair: a warp waits for few batches", of("late", 32, 3, _SHARED), "<=", 5, "%")
    yield Claim("waits-two", "two stages of 16 KiB: in a pair, too, a warp waits for many batches", of("late", 16, 2, _SHARED), ">=", 40, "%")
    yield Claim("waits-two-gain", "and the pair gains nothing", gain(16, 2), "<=", 1.03, "times")
    yield Claim("way-small", "two stages: in a pair a batch of 16 KiB is hardly sooner there", sooner(16), "<=", 100, "cycles")
    yield Claim("way-large", "and one of 32 KiB much sooner", sooner(32), ">=", 250, "cycles")
    for kib in (16, 32):
        yield Claim(f"way-held-{kib}", f"but a stage of {kib} KiB is held for longer", sooner(kib, "held"), "<=", -30, "cycles")
    yield Claim("waits-8-2", "2 stages of 8 KiB: a warp waits for many batches", of("late", 8, 2), ">=", 40, "%")
    yield Claim("waits-8-2-gain", "and the pair gains nothing", gain(8, 2), "<=", 1.0, "times")
    yield Claim("way-smallest", "two stages: in a pair a batch of 8 KiB is no sooner there", sooner(8), "<=", 20, "cycles")
    yield Claim("way-held-8", "and its stage is held for longer", sooner(8, "held"), "<=", -30, "cycles")
    more = ratio(of("median_ms", 32, 6), of("median_ms", 32, 4))
    yield Claim("waits-32-more", "each block loads: six stages of 32 KiB are slower than four", more, ">=", 1.05, "times")
    yield Claim("waits-eight-32", "clusters of eight, three stages of 32 KiB: a warp waits for many batches", of("late", 32, 3, _ALONE, 8), ">=", 15, "%")
    yield Claim("waits-eight-32-gone", "and for few with multicast", of("late", 32, 3, _SHARED, 8), "<=", 5, "%")
    slower = ratio(of("median_ms", 32, 3, _SHARED, 8), of("median_ms", 32, 3, _ALONE, 8))
    yield Claim("waits-eight-32-slower", "but takes longer in all", slower, ">=", 1.1, "times")
    eight = of("late", 16, 12, _SHARED, 8)
    yield Claim("waits-eight", "clusters of eight, twelve stages of 16 KiB: a warp waits for few batches", eight, "<=", 5, "%")
    longer = ratio(of("cycles", 16, 12, _SHARED, 8), of("cycles", 16, 12, _ALONE, 8))
    yield Claim("waits-eight-busy", "but takes longer for each than if each block loads", longer, ">=", 1.3, "times")


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
        "ring_late": (("ring_waits",), _late_table),
        "begin_chain": (("ring_begins",), _chain_table),
        "begin_rings": (("ring_begins",), _all_begins_table),
        "ring_ways": (("ring_waits",), _waits_table),
        "ring_parts": (("ring_waits",), _parts_table),
        "ring_bill": (("ring_waits",), _bill_table),
        "histogram_where": (("histogram_causes",), _causes_of_histogram_table),
        "histogram_l2_read": (("histogram_l2",), _tables_in_l2_table),
    },
    claims=(
        (("multicast",), _clusters_claims),
        (("handover",), _handover_claims),
        (("stream_limits",), _stream_claims),
        (("ring_waits",), _waits_claims),
        (("ring_waits",), _bill_claims),
        (("ring_begins",), _begins_claims),
        (("multicast_tile",), _tiles_claims),
        (("cluster_launch",), _cluster_launch_claims),
        (("histogram_causes",), _causes_claims),
        (("exchange",), _exchange_claims),
        (("cluster_size",), _histogram_claims),
        (("histogram_l2",), _tables_in_l2_claims),
        (("publishing",), _publishing_claims),
    ),
)

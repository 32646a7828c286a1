"""What the rings of this chapter show: when a batch is late, what blocks gain that begin alike, and what a pair pays."""

from collections.abc import Iterator

from cli.bench_file import Claim, Row, Table, Tables, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import number

_ALONE, _SHARED = "each block loads", "multicast"


def _ring(row: Row) -> str:
    return f"{row['stages']} × {int(number(row['batch'])) // 1024} KiB"


def late_table(tables: Tables) -> Table:
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


def chain_table(tables: Tables) -> Table:
    """A ring changed step by step: no two blocks begin alike, then the two of each cluster do, then they share their loads; and if all begin alike."""
    table = Table("What each block gets, and how many of 100 batches are late for a warp; in clusters of two, batches of 32 KiB", {"step": "step"})
    rows = _Begins(tables)
    steps: dict[str, Row] = {}
    for stages, words in ((3, "three stages"), (4, "four stages")):
        chain = {
            "no two blocks begin alike": rows.row(32, stages, _ALONE, 1),
            "the two blocks of a cluster begin alike": rows.row(32, stages, _ALONE, 2),
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


def all_begins_table(tables: Tables) -> Table:
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


def begins_claims(tables: Tables) -> Iterator[Claim]:
    rows = _Begins(tables)

    def against(one: Row | None, two: Row | None) -> float | None:
        """How much longer one takes than the other."""
        return ratio(rows.time(one), rows.time(two))

    ring = (32, 3)
    alone = [rows.row(*ring, _ALONE, alike) for alike in (1, 2, 0)]
    yield Claim("begins-none", "three stages of 32 KiB: a pair gains over blocks of which no two begin alike", rows.gain(*ring, 1), ">=", 1.5, "times")
    yield Claim("begins-two", "over blocks of which the two blocks of a cluster begin alike", rows.gain(*ring, 2), ">=", 1.15, "times")
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
    for id, shape in (("begins-ordinary", ring), ("begins-ordinary-four", (32, 4))):
        ordinary = against(rows.row(*shape, _ALONE, 2, 0), rows.row(*shape, _ALONE, 2))
        yield Claim(id, f"{shape[1]} stages of 32 KiB, two by two: an ordinary launch takes as long as clusters of two", None if ordinary is None else abs(ordinary - 1) * 100, "<=", 3, "%")
    more = against(rows.row(*ring, _ALONE, 2), rows.row(*ring, _ALONE, 12))
    yield Claim("begins-twelve", "nor do twelve blocks that begin alike gain over two", more, "<=", 1.03, "times")
    itself = [against(rows.row(*shape, _SHARED, 0, 1), rows.row(*shape, _SHARED, 1, 1)) for shape in rows.shapes()]
    yield Claim("begins-self", "a multicast to the own block alone is no faster if all begin alike", min(some(*itself), default=None), ">=", 0.99, "times")
    unmerged = [against(rows.row(*shape, _SHARED, 0, 1), rows.row(*shape, _ALONE, 1, 1)) for shape in rows.shapes()]
    yield Claim("begins-unmerged", "and takes a little longer than ordinary copies of which no two begin alike", max(some(*unmerged), default=None), "<=", 1.15, "times")
    listed = against(rows.row(*ring, _SHARED, 0, 2, "stream_multicast"), rows.pair(*ring, 0))
    yield Claim("begins-listed", "the listed kernel takes nearly as long in pairs as this one", None if listed is None else abs(listed - 1) * 100, "<=", 8, "%")
    some_late = [rows.gain(kib, stages, alike) for kib, stages, alike in ((32, 2, 2), (32, 2, 0), (16, 3, 2), (16, 3, 0))]
    yield Claim("begins-rings", "other rings of neighbours that begin alike, with 11 late batches or more: a pair gains", min(some(*some_late), default=None), ">=", 1.03, "times")
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


def parts_table(tables: Tables) -> Table:
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


def bill_table(tables: Tables) -> Table:
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


def bill_claims(tables: Tables) -> Iterator[Claim]:
    off = [abs(number(row["bill"]) - number(row["gain"])) for row in bill_table(tables).rows]
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


def waits_table(tables: Tables) -> Table:
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


def waits_claims(tables: Tables) -> Iterator[Claim]:
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

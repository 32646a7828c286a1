"""What is made of this chapter's measurements: a table for readers, and what they must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Row, Table, Tables, heading
from cli.bench_rows import Rows, as_float, ratio, some

def _microseconds(row: Row, name: str) -> float | None:
    value = as_float(row.get(name))
    return value * 1000 if value is not None else None


def _filter_table(tables: Tables) -> Table:
    """The filter's twins in a unit that shows how they differ."""
    found = tables["filter_twins"]
    kept = {"kernel": "kernel or twin", "halo": "the tile comes by", "columns": "columns", "work": "a sum adds", "results": "the results go by"}
    times = {
        "median_us": heading("time", "µs"),
        "lower_us": heading("lower quartile", "µs"),
        "upper_us": heading("upper quartile", "µs"),
        "share": heading("of the copy", "%"),
        "rested_us": heading("after a pause", "µs"),
        "rested_share": heading("of it after a pause", "%"),
    }
    copy = Rows(found.rows).figure("rested_ms", kernel="the driver's copy")
    table = Table(found.title, kept | times)
    for row in found.rows:
        measured: Row = {f"{name}_us": _microseconds(row, f"{name}_ms") for name in ("median", "lower", "upper", "rested")}
        measured["share"] = row.get("share")
        rested = ratio(copy, as_float(row.get("rested_ms")))
        measured["rested_share"] = 100 * rested if rested is not None else None
        table.rows.append({name: row.get(name) for name in kept} | measured)
    return table


def _work_table(tables: Tables) -> Table:
    """The filter with less and less work, each timing with the half of its rounds that lies in the middle."""
    found = tables["filter_work"]
    kept = {"kernel": "kernel or twin", "work": "a sum adds"}
    timings = {"rested_": "after a pause", "": "burst on burst"}
    table = Table(found.title, dict(kept))
    for when, words in timings.items():
        table.headings |= {
            f"{when}us": heading(words, "µs"),
            f"{when}half": heading("half of the rounds", "µs"),
            f"{when}share": heading("of the copy", "%"),
            f"{when}mhz": heading("clock", "MHz"),
        }
    for row in found.rows:
        measured: Row = {name: row.get(name) for name in kept}
        for when in timings:
            lower, upper = (_microseconds(row, f"{when}{name}_ms") for name in ("lower", "upper"))
            measured |= {f"{when}us": _microseconds(row, f"{when}median_ms"), f"{when}share": row.get(f"{when}share"), f"{when}mhz": row.get(f"{when}mhz")}
            measured[f"{when}half"] = f"{lower:.1f} to {upper:.1f}" if lower is not None and upper is not None else None
        table.rows.append(measured)
    return table


def _boxes_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_ranks"].rows, column="box")
    for bytes in (320, 960, 3840):
        times = [row for row in rows.rows if row.get("bytes") == bytes and row.get("blocks_per_sm") == 32]
        spread = some(*(as_float(row.get("median_ms")) for row in times))
        if len(spread) > 1:
            yield Claim(f"boxes-rank-{bytes}", f"boxes of {bytes} bytes take the same time in every rank", max(spread) / min(spread), "<=", 1.06, "times")
    each = some(*(rows.figure("ns_per_block", bytes=bytes, blocks_per_sm=32) for bytes in (64, 320, 960)))
    if len(each) == 3:
        yield Claim("boxes-blocks", "up to 960 bytes a block takes the same time", max(each) / min(each), "<=", 1.1, "times")
    half = ratio(rows.figure("median_ms", bytes=960, blocks_per_sm=16), rows.figure("median_ms", box="16 × 5 × 3", blocks_per_sm=32))
    yield Claim("boxes-resident", "and half as many blocks on an SM are enough for it", half, "<=", 1.06, "times")


def _fits_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_fit"].rows, column="box")

    def each(width: int, pitch: int) -> float | None:
        return rows.figure("ns_per_block", width=width, pitch=pitch)

    yield Claim("fits-sectors", "rows that begin inside of sectors", ratio(each(48, 208), each(48, 192)), ">=", 1.5, "times")
    yield Claim("fits-overhang", "more whole boxes cost no more each", ratio(each(64, 256), each(48, 192)), "<=", 1.1, "times")


def _shift_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["box_shift"].rows, column="box")

    def slower(width: int, shift: int) -> float | None:
        return ratio(rows.figure("ns_per_block", width=width, shift=shift), rows.figure("ns_per_block", width=width, shift=0))

    yield Claim("shift-inside", "boxes that are read from the middle of a sector on", slower(103, 16), ">=", 1.15, "times")
    yield Claim("shift-sector", "boxes that are read from the next sector on cost the same", slower(103, 32), "<=", 1.05, "times")


def _plain_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["plain_tiles"].rows)

    def longer(kernel: str, than: str) -> float | None:
        return ratio(rows.time(kernel=kernel), rows.time(kernel=than))

    yield Claim("plain-one", "plain loads and stores, all loads first, against add_one_matrix", longer("add_one_plain, all loads first", "add_one_matrix"), "<=", 1.02, "times")
    yield Claim("plain-serial", "the same one by one", longer("add_one_plain, one by one", "add_one_matrix"), ">=", 1.15, "times")

def _filter_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["filter_twins"].rows)

    def against(kernel: str, other: str) -> float | None:
        return ratio(rows.time(kernel=kernel), rows.time(kernel=other))

    yield Claim("filter-frame", "the twin of box_filter_3x3 takes as long as the kernel", against("box, 72", "box_filter_3x3"), "<=", 1.02, "times")
    yield Claim("filter-sector", "the larger box that begins at a sector, against the box of 72 columns", against("box, 80", "box, 72"), "<=", 0.96, "times")
    yield Claim("filter-wide", "a box with as many sectors as the tensor copy makes of 72 columns, all whole", against("box, 96", "box, 72"), "<=", 0.96, "times")
    yield Claim("filter-adding", "the box at a sector: nine additions against none", against("box, 80", "box, 80, no sums"), "<=", 1.03, "times")
    yield Claim("filter-chunks-sector", "cp.async from a sector on, against 72 columns", against("chunks, 80, no sums", "chunks, 72, no sums"), "<=", 0.95, "times")
    yield Claim("filter-fetch", "without sums: cp.async against the tensor copy", against("chunks, 80, no sums", "box, 80, no sums"), "<=", 1.02, "times")
    yield Claim("filter-threads", "with nine additions: cp.async against the tensor copy", against("chunks, 80", "box, 80"), ">=", 1.05, "times")
    yield Claim("filter-shared", "with shared sums: cp.async against the tensor copy", against("chunks, 80, columns", "box, 80, columns"), "<=", 1.02, "times")
    kinds = ("72", "72, plain", "72, columns", "72, no sums", "80", "80, plain", "80, columns", "80, columns, plain", "80, no sums")
    pairs = some(*(against(f"chunks, {kind}", f"box, {kind}") for kind in kinds))
    if len(pairs) == len(kinds):
        yield Claim("filter-never", "cp.async against the tensor copy, where it comes nearest", min(pairs), ">=", 1.0, "times")
    yield Claim("filter-busy", "the tensor copy, nine additions: each thread stores its results, against a tensor store", against("box, 80, plain", "box, 80"), ">=", 1.03, "times")
    yield Claim("filter-stores", "the tensor copy, shared sums: each thread stores its results, against a tensor store", against("box, 80, columns, plain", "box, 80, columns"), "<=", 1.02, "times")
    beyond = ratio(rows.time(kernel="chunks, 80"), rows.time(kernel="box, 80, plain"))
    yield Claim("filter-beyond", "about 1,490 instructions: cp.async against the tensor copy", beyond, ">=", 1.05, "times")
    beyond_rested = ratio(rows.figure("rested_ms", kernel="chunks, 80"), rows.figure("rested_ms", kernel="box, 80, plain"))
    yield Claim("filter-beyond-rested", "the same after a pause", beyond_rested, ">=", 1.05, "times")
    rested = ratio(rows.figure("rested_ms", kernel="chunks, 80"), rows.figure("rested_ms", kernel="box, 80"))
    yield Claim("filter-rested", "after a pause, nine additions: cp.async against the tensor copy", rested, ">=", 1.05, "times")
    fetch_rested = ratio(rows.figure("rested_ms", kernel="chunks, 80, no sums"), rows.figure("rested_ms", kernel="box, 80, no sums"))
    yield Claim("filter-fetch-rested", "after a pause, without sums: cp.async against the tensor copy", fetch_rested, "<=", 1.02, "times")
    shared_rested = ratio(rows.figure("rested_ms", kernel="chunks, 80, columns"), rows.figure("rested_ms", kernel="box, 80, columns"))
    yield Claim("filter-shared-rested", "after a pause, with shared sums: cp.async against the tensor copy", shared_rested, "<=", 1.02, "times")
    clock = ratio(rows.time(kernel="chunks, 80"), rows.figure("rested_ms", kernel="chunks, 80"))
    yield Claim("filter-bursts", "cp.async, nine additions: burst on burst against after a pause", clock, ">=", 1.03, "times")
    yield Claim("filter-plain", "plain loads of 4 bytes against the tensor copy", against("box_filter_plain", "box, 80"), ">=", 1.2, "times")
    yield Claim("filter-no-tile", "no tile at all, against the tensor copy", against("box_filter_by_columns", "box, 80"), ">=", 1.08, "times")


def _work_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["filter_work"].rows)
    for when, words in (("rested_", "after a pause"), ("", "burst on burst")):
        name = "rested" if when else "bursts"

        def against(kernel: str, other: str, of: str = "median_ms", of_other: str = "median_ms", when: str = when) -> float | None:
            return ratio(rows.figure(f"{when}{of}", kernel=kernel), rows.figure(f"{when}{of_other}", kernel=other))

        apart = against("chunks, 80", "box, 80", "lower_ms", "upper_ms")
        yield Claim(f"gap-nine-{name}", f"{words}, nine additions: the lower quartile of cp.async against the upper one of the tensor copy", apart, ">=", 1.05, "times")
        kinds = ("no sums", "three", "six", "columns")
        less = some(*(against(f"chunks, 80, {kind}", f"box, 80, {kind}") for kind in kinds))
        if len(less) == len(kinds):
            yield Claim(f"gap-less-{name}", f"{words}, less work: cp.async against the tensor copy, where it is furthest behind", max(less), "<=", 1.01, "times")
        yield Claim(f"gap-shared-{name}", f"{words}: cp.async with shared sums against the tensor copy with nine additions", against("chunks, 80, columns", "box, 80"), "<=", 1.01, "times")
        yield Claim(f"gap-sector-{name}", f"{words}: the box of 80 columns against that of 72", against("box, 80", "box, 72"), "<=", 0.95, "times")
        yield Claim(f"gap-wide-{name}", f"{words}: the box of 96 columns against that of 80", against("box, 96", "box, 80"), "<=", 1.01, "times")
    clocks = some(*(ratio(as_float(row.get("mhz")), as_float(row.get("rested_mhz"))) for row in rows.rows))
    if clocks:
        yield Claim("gap-clock", "the clock burst on burst against that after a pause, where it fell most", min(clocks), ">=", 0.98, "times")


BENCH = Bench(
    raw=("filter_twins", "filter_work"),
    tables={"filter_read": (("filter_twins",), _filter_table), "filter_work_read": (("filter_work",), _work_table)},
    claims=(
        (("box_ranks",), _boxes_claims),
        (("box_fit",), _fits_claims),
        (("box_shift",), _shift_claims),
        (("plain_tiles",), _plain_claims),
        (("filter_twins",), _filter_claims),
        (("filter_work",), _work_claims),
    ),
)

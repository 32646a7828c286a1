"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, as_float, ratio
from cli.bench_tables import number, without_spread


def _groups_best_table(tables: Tables) -> Table:
    rows = tables["cp_async_groups"].rows
    values = sorted({int(number(row["tiles_per_block"])) for row in rows}, key=lambda v: v or 1 << 30)
    headings = {"kernel": "kernel", "stages": "stages"}
    headings |= {str(v): heading(f"{v} tile{'s' if v > 1 else ''} per block" if v else "blocks stay", "% of the copy") for v in values}
    table = Table("Groups of cp.async: stages, and tiles that a block takes before it ends", headings)
    lines: dict[tuple[Value, Value], Row] = {}
    for row in rows:
        line = lines.setdefault((row["kernel"], row.get("stages")), {"kernel": row["kernel"], "stages": row.get("stages")})
        line[str(row["tiles_per_block"])] = row.get("share")
    table.rows = list(lines.values())
    return table


def _flags_claims(tables: Tables) -> Iterator[Claim]:
    rows = tables["cp_async_flags"].rows
    plain, predicate, read, both = (as_float(row.get("median_ms")) for row in rows[:4])
    yield Claim("flags-predicate", "ignore-src alone costs nothing", ratio(predicate, plain), "<=", 1.02, "times")
    yield Claim("flags-read", "reading a flag for each element costs time, with no predicate", ratio(read, plain), ">=", 1.15, "times")
    yield Claim("flags-both", "and the predicate adds nothing to it", ratio(both, read), "<=", 1.03, "times")


def _groups_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["cp_async_groups"].rows)
    ring = {each: rows.time(kernel="groups_in_flight", stages=4, tiles_per_block=each) for each in (0, 2)}
    yield Claim("groups-grid", "four groups in flight: blocks that stay are slower than blocks that take two tiles", ratio(ring[0], ring[2]), ">=", 1.08, "times")
    plain = ratio(ring[2], rows.time(kernel="copy_16_bytes"))
    yield Claim("groups-ring", "with two tiles per block the ring is no slower than copy_16_bytes", plain, "<=", 1.02, "times")
    ending = rows.time(kernel="groups_in_flight", stages=4, tiles_per_block=16)
    yield Claim("groups-both", "four groups in flight: blocks of 16 tiles, which keep the ring full for 13 rounds, are faster than blocks that stay", ratio(ring[0], ending), ">=", 1.08, "times")
    one = rows.time(kernel="groups_in_flight", stages=1, tiles_per_block=0)
    yield Claim("groups-much", "blocks that stay: four groups are slower than one", ratio(ring[0], one), ">=", 1.05, "times")


BENCH = Bench(
    raw=("cp_async_flags", "cp_async_groups"),
    tables={
        "groups_best": (("cp_async_groups",), _groups_best_table),
        "flags_short": (("cp_async_flags",), without_spread("cp_async_flags")),
    },
    claims=(
        (("cp_async_flags",), _flags_claims),
        (("cp_async_groups",), _groups_claims),
    ),
)

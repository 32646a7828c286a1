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
    yield Claim("groups-long", "32 KiB in flight: one stage in blocks that stay is slower than copy_16_bytes, whose blocks take one tile", ratio(one, rows.time(kernel="copy_16_bytes")), ">=", 1.03, "times")
    longer = ratio(rows.time(kernel="groups_in_flight", stages=4, tiles_per_block=32), rows.time(kernel="groups_in_flight", stages=1, tiles_per_block=32))
    yield Claim("groups-life", "blocks of 32 tiles: four groups are slower than one", longer, ">=", 1.02, "times")
    yield Claim("groups-short", "blocks of 16 tiles: four groups are little slower than one", ratio(ending, rows.time(kernel="groups_in_flight", stages=1, tiles_per_block=16)), "<=", 1.02, "times")


MODES = (4, 16, 0)
"""Tiles that a block takes before it ends; 0: it stays."""


def _mode(tiles: int) -> str:
    return heading(f"{tiles} tiles per block" if tiles else "blocks stay", "% of the copy")


def _early_read_table(tables: Tables) -> Table:
    headings = {"kernel": "kernel", "threads": "threads", "shape": "tile × stages × blocks", "kib": heading("in flight", "KiB")}
    headings |= {str(tiles): _mode(tiles) for tiles in MODES}
    table = Table("Asking early where four or eight blocks fit on an SM", headings)
    lines: dict[tuple[Value, ...], Row] = {}
    rows = [row for row in tables["cp_async_early"].rows if row["kernel"] != "copy"]
    for row in sorted(rows, key=lambda row: (str(row["kernel"]), number(row["tile_bytes"]), number(row["threads"]), number(row["blocks_per_sm"]), number(row["stages"]))):
        shape = f"{number(row['tile_bytes']) / 1024:g} KiB × {row['stages']} × {row['blocks_per_sm']}"
        line: Row = {"kernel": row["kernel"], "threads": row["threads"], "shape": shape, "kib": int(number(row["in_flight"])) // 1024}
        lines.setdefault(tuple(line.values()), line)[str(row["tiles_per_block"])] = row.get("share")
    table.rows = list(lines.values())
    return table


def _early_shares(tables: Tables, tiles: int) -> dict[int, list[float]]:
    """Shares of the ring by the KiB in flight: of blocks each of whose threads asks for 16 bytes."""
    found: dict[int, list[float]] = {}
    for row in tables["cp_async_early"].where(kernel="groups_in_flight", tiles_per_block=tiles):
        if number(row["tile_bytes"]) == 16 * number(row["threads"]):
            found.setdefault(int(number(row["in_flight"])) // 1024, []).append(number(row.get("share")))
    return dict(sorted(found.items()))


def _early_bytes_table(tables: Tables) -> Table:
    modes = {tiles: _early_shares(tables, tiles) for tiles in (16, 0)}
    headings = {"kib": heading("in flight on an SM", "KiB"), "ways": "shapes"} | {str(tiles): _mode(tiles) for tiles in modes}
    table = Table("The ring of cp.async by its bytes in flight, where each thread asks for 16 bytes of a tile", headings)
    for kib, staying in modes[0].items():
        line: Row = {"kib": kib, "ways": len(staying)}
        for tiles, shares in modes.items():
            low, high = (f"{each(shares[kib]):.0f}" for each in (min, max))
            line[str(tiles)] = low if low == high else f"{low} to {high}"
        table.rows.append(line)
    return table


def _early_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["cp_async_early"].rows)
    bar = {"threads": 128, "tile_bytes": 2048, "blocks_per_sm": 4, "tiles_per_block": 0}
    bars = [rows.time(kernel="groups_in_flight", stages=stages, **bar) for stages in range(1, 7)]
    yield Claim("early-instruction", "four blocks of 2 KiB, one tile after another: cp.async is no faster than registers", ratio(bars[0], rows.time(kernel="registers", **bar)), ">=", 1.0, "times")
    yield Claim("early-wins", "and with the next three tiles asked for it is faster than with none", ratio(bars[0], bars[3]), ">=", 1.6, "times")
    yield Claim("early-registers", "asking for the next tile through registers is faster, too", ratio(rows.time(kernel="registers", **bar), rows.time(kernel="registers, early", **bar)), ">=", 1.05, "times")
    yield Claim("early-too-much", "with the next five the ring is slower than with three", ratio(bars[5], bars[3]), ">=", 1.03, "times")
    for tiles, name in ((0, "stay"), (16, "end")):
        shares = _early_shares(tables, tiles)
        apart = max(max(each) - min(each) for each in shares.values())
        yield Claim(f"early-bytes-{name}", f"blocks that {name}: what has as many bytes in flight, 16 of a tile for each thread, lies together", apart, "<=", 6, "points")
        yield Claim(f"early-enough-{name}", f"blocks that {name}: 32 KiB in flight beat 16 by at least", min(shares[32]) - max(shares[16]), ">=", 10, "points")
    parted = min(min(end) for kib, end in _early_shares(tables, 16).items() if kib >= 48) - max(max(stay) for kib, stay in _early_shares(tables, 0).items() if kib >= 64)
    yield Claim("early-parted", "from 64 KiB on all rings whose blocks end after 16 tiles are ahead of all whose blocks stay", parted, ">=", 4, "points")


def _whole_read_table(tables: Tables) -> Table:
    table = Table("Four blocks of 2 KiB on an SM: the loop through registers, and the ring with and without lengths", {"kernel": "kernel"} | {str(n): heading(f"{n} stage{'s' if n > 1 else ''}", "% of the copy") for n in range(1, 5)})
    lines: dict[Value, Row] = {}
    for row in tables["cp_async_whole"].rows:
        if row["kernel"] != "copy":
            lines.setdefault(row["kernel"], {"kernel": row["kernel"]})[str(row["stages"])] = row.get("share")
    table.rows = list(lines.values())
    return table


def _whole_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["cp_async_whole"].rows)
    registers, plain, ring = (rows.time(kernel=kernel, stages=1) for kernel in ("registers", "whole_tiles", "groups_in_flight"))
    yield Claim("whole-instruction", "whole tiles, one after another: cp.async is no faster than registers", ratio(registers, plain), "<=", 1.01, "times")
    yield Claim("whole-no-slower", "and no slower", ratio(plain, registers), "<=", 1.01, "times")
    yield Claim("whole-lengths", "the ring that computes lengths is slower than that for whole tiles", ratio(ring, plain), ">=", 1.02, "times")


BENCH = Bench(
    raw=("cp_async_flags", "cp_async_groups", "cp_async_early", "cp_async_whole"),
    tables={
        "groups_best": (("cp_async_groups",), _groups_best_table),
        "early_read": (("cp_async_early",), _early_read_table),
        "early_bytes": (("cp_async_early",), _early_bytes_table),
        "whole_read": (("cp_async_whole",), _whole_read_table),
        "flags_short": (("cp_async_flags",), without_spread("cp_async_flags")),
    },
    claims=(
        (("cp_async_flags",), _flags_claims),
        (("cp_async_groups",), _groups_claims),
        (("cp_async_early",), _early_claims),
        (("cp_async_whole",), _whole_claims),
    ),
)

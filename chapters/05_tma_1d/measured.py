"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Callable, Iterator

from cli.bench_chapters import Bench
from cli.bench_claims import copies_agree
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import TIMES, best, copy_rate, grids, number, share_of

_ASYNC = ("cp.async, 4 bytes", "cp.async, 8 bytes", "cp.async, 16 bytes", "bulk load", "bulk load and store")


def _copy_paths_best_table(tables: Tables) -> Table:
    headings = {"path": "way to shared memory", "tile_bytes": heading("tile", "bytes"), "stages": "stages"}
    table = Table("The best tile and number of stages of every way of copying", {**headings, **TIMES})
    ceiling = copy_rate(tables["copy_paths"].rows, "path")
    for row in best(tables["copy_paths"].rows, "path"):
        if not str(row["path"]).startswith("copy"):
            table.rows.append({**row, "share": share_of(row, ceiling)})
    return table


def _copy_paths_against_table(column: str, title: str) -> Callable[[Tables], Table]:
    def make(tables: Tables) -> Table:
        rows = [row for row in tables["copy_paths"].rows if row.get(column) is not None]
        ceiling = copy_rate(tables["copy_paths"].rows, "path")
        values = sorted({int(number(row[column])) for row in rows})
        unit = "KiB" if column == "tile_bytes" else "stages" if values[-1] > 1 else "stage"
        names = {v: f"{v // 1024 if column == 'tile_bytes' else v} {unit}" for v in values}
        table = Table(title, {"path": "way to shared memory"} | {str(v): names[v] for v in values})
        lines: dict[str, Row] = {}
        for row in best(rows, "path", column):
            line = lines.setdefault(str(row["path"]), {"path": row["path"]})
            line[str(row[column])] = share_of(row, ceiling)
        table.rows = list(lines.values())
        return table

    return make


def _prefetch_gain_table(tables: Tables) -> Table:
    """With and without the prefetch, side by side."""
    headings = {"add_one_loop": heading("add_one_loop", "% of the copy"), "add_one_prefetch": heading("add_one_prefetch", "% of the copy")}
    table = Table("Adding one, tile after tile, with and without asking for the next tile in L2", {"blocks_per_sm": "blocks per SM", **headings})
    lines: dict[Value, Row] = {}
    for row in tables["prefetch"].rows:
        if not str(row["kernel"]).startswith("copy"):
            line = lines.setdefault(row["blocks_per_sm"], {"blocks_per_sm": row["blocks_per_sm"]})
            line[str(row["kernel"])] = row.get("share")
    table.rows = list(lines.values())
    return table


def _paths_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["copy_paths"].rows, "path")
    yield Claim(
        "stream-bulk",
        "a ring of bulk loads streams at the speed of the copy",
        max(some(rows.share(path="bulk load"), rows.share(path="bulk load and store")), default=None),
        ">=",
        97,
        "%",
    )
    yield Claim(
        "stream-async", "cp.async of 16 bytes streams nearly as fast as the copy", rows.share(path="cp.async, 16 bytes"), ">=", 96, "%"
    )
    wide, narrow = rows.time(path="cp.async, 16 bytes"), rows.time(path="cp.async, 4 bytes")
    yield Claim("wide-async", "cp.async: 16 bytes per access beat 4", ratio(narrow, wide), ">=", 1.01, "times")
    plain = min(some(*(rows.time(path=f"registers, {n} bytes") for n in (4, 16))), default=None)
    fastest = min(some(*(rows.time(path=path) for path in _ASYNC)), default=None)
    yield Claim(
        "plain-loses-little", "with the best tile, no way of copying beats plain registers by much", ratio(plain, fastest), "<=", 1.1, "times"
    )
    stay = rows.time(path="bulk load", tiles_per_block=0)
    leave = min(some(*(rows.time(path="bulk load", tiles_per_block=each) for each in (1, 4, 16))), default=None)
    yield Claim("blocks-make-room", "bulk loads: blocks that take a few tiles each beat blocks that stay", ratio(stay, leave), ">=", 1.02, "times")
    few_plain = rows.time(path="registers, 16 bytes", tile_bytes=2048, tiles_per_block=0)
    few_async = rows.time(path="cp.async, 16 bytes", tile_bytes=2048, stages=3, tiles_per_block=0)
    yield Claim(
        "async-wins-small", "tiles of 2 KiB: three stages of cp.async beat plain registers", ratio(few_plain, few_async), ">=", 1.3, "times"
    )
    one = rows.time(path="bulk load", tile_bytes=2048, stages=1, tiles_per_block=0)
    two = rows.time(path="bulk load", tile_bytes=2048, stages=2, tiles_per_block=0)
    yield Claim("stages-bulk", "tiles of 2 KiB: two stages of bulk loads beat one", ratio(one, two), ">=", 1.1, "times")


def _ring_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["axpy_ring"].rows)
    yield Claim("stream-axpy", "the ring of chapter 5 streams at the speed of the copy", rows.share(kernel="axpy_ring"), ">=", 97, "%")
    yield Claim("stream-full-empty", "so does the ring with a producer warp, nearly", rows.share(kernel="axpy_full_empty"), ">=", 96, "%")
    alone = ratio(*(rows.time(kernel=kernel, blocks_per_sm=1) for kernel in ("axpy_ring", "axpy_full_empty")))
    at_once = ratio(*(rows.time(kernel=kernel, blocks_per_sm=1) for kernel in ("axpy_ring", "axpy_at_once")))
    yield Claim("at-once", "one block on each SM: a ring that waits for its newest store and loads at once is no faster", at_once, "<=", 1.03, "times")
    yield Claim("full-empty-alone", "one block on each SM: the ring with a producer warp is faster", alone, ">=", 1.08, "times")


def _prefetch_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["prefetch"].rows)

    def gain(blocks: int) -> float | None:
        without, ahead = (rows.time(kernel=kernel, blocks_per_sm=blocks) for kernel in ("add_one_loop", "add_one_prefetch"))
        return ratio(without, ahead)

    yield Claim("prefetch-few", "one block per SM: prefetching the next tile is faster", gain(1), ">=", 1.2, "times")
    yield Claim("prefetch-many", "16 blocks per SM: prefetching the next tile wins nothing", gain(16), "<=", 1.01, "times")


def _overwritten_claims(tables: Tables) -> Iterator[Claim]:
    rows = tables["overwritten"].rows

    def wrong(fenced: bool) -> list[float]:
        return some(*(as_float(row["wrong"]) for row in rows if row["lanes_per_bank"] == 32 and (row["fence"] != "nobody") == fenced))

    yield Claim("reads-overtaken", "without a fence words of the next tile come in", min(wrong(False), default=None), ">=", 1, "words")
    yield Claim("reads-fenced", "with a fence no word is of the next tile", max(wrong(True), default=None), "<=", 0, "words")


def _fenced_table(tables: Tables) -> Table:
    """Bulk loads with and without the proxy fence of the readers."""
    table = Table(
        "Bulk loads into a ring, without and with the readers' proxy fence before the next load",
        {
            "blocks_per_sm": "blocks on an SM",
            "tile_bytes": heading("tile", "bytes"),
            "stages": "stages",
            "tiles_per_block": "tiles of a block, 0: it stays",
            "no": heading("without", "% of the copy"),
            "yes": heading("with the fence", "% of the copy"),
        },
    )
    lines: dict[tuple[Value, ...], Row] = {}
    for row in tables["fenced_loads"].rows:
        if row.get("fence") in ("yes", "no"):
            about = {name: row[name] for name in ("blocks_per_sm", "tile_bytes", "stages", "tiles_per_block")}
            lines.setdefault(tuple(about.values()), about)[str(row["fence"])] = row.get("share")
    table.rows = sorted(lines.values(), key=lambda line: [number(line[name]) for name in ("blocks_per_sm", "tile_bytes", "stages", "tiles_per_block")])
    return table


def _fenced_claims(tables: Tables) -> Iterator[Claim]:
    lines = _fenced_table(tables).rows
    lost = [number(line.get("no")) - number(line.get("yes")) for line in lines if line["blocks_per_sm"] == 6]
    yield Claim("fenced-cost", "six blocks on an SM: what the readers' fence takes at most", max(lost, default=None), "<=", 1.0, "points")
    best = Rows(lines).figure("yes", blocks_per_sm=6, tile_bytes=4096, stages=2, tiles_per_block=4)
    yield Claim("fenced-best", "tiles of 4 KiB, two stages, six blocks, four tiles each, with the fence", best, ">=", 98, "% of the copy")


_SPARED = {
    "cp.async, 4 bytes": "1,024 copies, two block barriers",
    "cp.async, 16 bytes, arriving on mbarriers": "256 copies, on mbarriers",
    "cp.async, 16 bytes": "256 copies, two block barriers",
    "cp.async, 16 bytes, one block barrier": "256 copies, one block barrier",
    "bulk load": "1 copy",
}
"""How a ring that computes is called for readers, by its way into shared memory."""


def _spared_table(tables: Tables) -> Table:
    """Rings that compute, by the copies of a tile and the number of stages, against the work."""
    rows = [row for row in tables["spared_issues"].rows if str(row["path"]) in _SPARED and row.get("median_ms") is not None]
    works = sorted({int(number(row["work"])) for row in rows})
    table = Table(
        "Reading, computing with and writing 1 GiB in tiles of 4 KiB: µs, by the multiply-adds for each word",
        {"ring": "ring", "stages": "stages", **{str(work): str(work) for work in works}},
    )
    lines: dict[tuple[int, int, str], Row] = {}
    for row in rows:
        path, stages = str(row["path"]), int(number(row["stages"]))
        name = _SPARED[path] + (", no fence" if path == "bulk load" and row["fence"] == "no" else "")
        line = lines.setdefault((list(_SPARED).index(path), stages, name), {"ring": name, "stages": stages})
        line[str(row["work"])] = 1000 * number(row["median_ms"])
    table.rows = [lines[place] for place in sorted(lines)]
    return table


def _spared_claims(tables: Tables) -> Iterator[Claim]:
    lines = _spared_table(tables).rows

    def time(work: int, ring: str, stages: int) -> float | None:
        return next((as_float(line.get(str(work))) for line in lines if (line["ring"], line["stages"]) == (ring, stages)), None)

    def least(work: int, copies: str) -> float | None:
        rings = [line for line in lines if str(line["ring"]).startswith(copies) and "no fence" not in str(line["ring"])]
        return min(some(*(as_float(line.get(str(work))) for line in rings)), default=None)

    def against(work: int, ring: str, stages: int = 2) -> float | None:
        return ratio(time(work, ring, stages), time(work, "1 copy", stages))

    met_twice = "256 copies, two block barriers"
    yield Claim("spared-none", "without arithmetic 256 copies for a tile are as fast as one", against(0, met_twice), "<=", 1.01, "times")
    yield Claim("spared-most", "two stages, 64 multiply-adds: one copy is faster than 256 and two block barriers", against(64, met_twice), ">=", 1.03, "times")
    yield Claim("spared-more", "and than 1,024 by more", against(64, "1,024 copies, two block barriers"), ">=", 1.1, "times")
    for stages in (2, 4):
        slower = ratio(time(64, "256 copies, on mbarriers", stages), time(64, met_twice, stages))
        yield Claim(f"spared-arriving-{stages}", f"{stages} stages: 256 copies on mbarriers are slower than with two block barriers", slower, ">=", 1.01, "times")
    best = some(*(ratio(least(work, "256 copies"), least(work, "1 copy")) for work in (0, 16, 32, 48, 64, 80, 96, 128)))
    yield Claim("spared-fair", "the best ring of 256 copies against the best of one: slower at most", max(best, default=None), "<=", 1.01, "times")
    yield Claim("spared-behind", "and faster at most", min(best, default=None), ">=", 0.975, "times")
    four = ratio(time(64, "1 copy", 4), time(64, "1 copy", 2))
    yield Claim("spared-four", "64 multiply-adds: four stages of bulk copies are slower than two", four, ">=", 1.01, "times")
    yield Claim("spared-stages", "256 copies are not", ratio(time(64, met_twice, 4), time(64, met_twice, 2)), "<=", 0.99, "times")


BENCH = Bench(
    raw=("copy_paths", "prefetch", "fenced_loads", "spared_issues"),
    tables={
        "copy_paths_best": (("copy_paths",), _copy_paths_best_table),
        "copy_paths_tiles": (("copy_paths",), _copy_paths_against_table("tile_bytes", "Share of the copy in per cent against the tile, at the best number of stages and of tiles per block")),
        "copy_paths_stages": (("copy_paths",), _copy_paths_against_table("stages", "Share of the copy in per cent against the number of stages, at the best tile")),
        "copy_paths_grids": (("copy_paths",), grids("copy_paths", "path", "way to shared memory")),
        "prefetch_gain": (("prefetch",), _prefetch_gain_table),
        "fenced_read": (("fenced_loads",), _fenced_table),
        "spared_copies": (("spared_issues",), _spared_table),
    },
    claims=(
        (("copy_paths",), _paths_claims),
        (("axpy_ring",), _ring_claims),
        (("prefetch",), _prefetch_claims),
        (("fenced_loads",), _fenced_claims),
        (("spared_issues",), _spared_claims),
        (("overwritten",), _overwritten_claims),
        (("copy_paths",), lambda tables: copies_agree("copy_paths", tables["copy_paths"].rows, "path")),
        (("axpy_ring",), lambda tables: copies_agree("axpy_ring", tables["axpy_ring"].rows)),
        (("prefetch",), lambda tables: copies_agree("prefetch", tables["prefetch"].rows)),
    ),
)

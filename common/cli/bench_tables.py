"""Tables for readers, made from the raw ones: the best of many, side by side, and what limits each rung."""

from collections.abc import Callable, Iterable

from . import bench_tables_clusters, bench_tables_measuring
from .bench_file import Row, Table, Tables, Value, heading

LARGE = "32768 x 32768"

# What the counters, the tuner and the tables `crowding` and `staying` say about each rung of chapter 8.
LIMITS = {
    "global_only": "a warp's store touches 32 sectors and fills 4 bytes of each: L2 takes eight times the sectors, "
    "and DRAM moves a fifth more than the matrix",
    "shared_tile": "the 32 lanes that read a column meet in one bank: nine of ten wavefronts are conflicts",
    "padded_tile": "4 bytes per access: with 16 the tuner's tile of this size has 90 %",
    "tma_plain": "two tiles on an SM, and a column of the loaded tile lies in one bank",
    "tma_swizzled": "two tiles on an SM: with two, tma_batched is a ninth faster, with 16 two and a half times as fast",
    "tma_batched": "4 bytes per access, and 4 wavefronts for each column; what each costs was not measured",
    "micro_tiles": "the order of blocks: column_walk differs in nothing else",
    "tma_micro_tiles": "as tma_kept_reads, which gains by the policy and by what L2 fetches at a time",
    "tma_persistent": "which block gets which tile: rings that claim the next tile are faster",
    "column_walk": "how reads and writes share L2: with the policy alone the tuner had 1.3 points more",
    "tma_kept_reads": "the tensor store from a second tile: with stores straight from registers the tuner had 0.9 points more",
    "kept_reads": "reads and writes at once, as in the copy; the last three points are not explained",
    "cuBLAS geam": "not ours",
}


def derive(tables: Tables) -> Tables:
    """The tables for readers that these raw tables are enough for."""
    made = {}
    for name, (needs, make) in _MAKERS.items():
        if all(need in tables and tables[need].rows for need in needs):
            made[name] = make(tables)
    return made


def best(rows: Iterable[Row], *by: str, least: str = "median_ms") -> list[Row]:
    """The row with the least time of each combination of `by`, in the order of first sight."""
    found: dict[tuple[Value, ...], Row] = {}
    for row in rows:
        if row.get(least) is None:
            continue
        key = tuple(row.get(name) for name in by)
        if key not in found or _number(row[least]) < _number(found[key][least]):
            found[key] = row
    return list(found.values())


def agreement(first: Tables, second: Tables) -> Table:
    """How well the times of two runs agree. Times below 20 microseconds are left out: they are launches more than work."""
    headings = {"table": "table", "times": "times", "within": "within 2 %", "worst": heading("worst", "%")}
    table = Table("Two runs of the same programs, one after the other", headings)
    for name in first:
        if name not in second or name in DERIVED:
            continue
        apart = [
            100 * abs(_number(b["median_ms"]) / _number(a["median_ms"]) - 1)
            for a, b in zip(first[name].rows, second[name].rows, strict=False)
            if _number(a.get("median_ms")) >= 0.02 and _number(b.get("median_ms")) > 0 and _same(a, b)
        ]
        if apart:
            within = sum(percent <= 2 for percent in apart)
            table.rows.append({"table": name, "times": len(apart), "within": within, "worst": max(apart)})
    return table


def _same(a: Row, b: Row) -> bool:
    """Whether two rows are about the same thing: their words are the same."""
    return [v for v in a.values() if isinstance(v, str)] == [v for v in b.values() if isinstance(v, str)]


def copy_rate(rows: Iterable[Row], column: str = "kernel") -> float:
    """The faster of the copies before and after, in GB/s: what shares are of."""
    rates = [_number(row.get("gb_per_s")) for row in rows if str(row.get(column)).startswith("copy")]
    return max(rates, default=0.0)


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _share(row: Row, ceiling: float) -> float | None:
    return 100 * _number(row.get("gb_per_s")) / ceiling if ceiling and row.get("gb_per_s") is not None else None


_TIMES = {"median_ms": heading("time", "ms"), "gb_per_s": heading("rate", "GB/s"), "share": heading("of the copy", "%")}


def _latencies(tables: Tables) -> Table:
    table = Table(
        "One load after the other: the time of each",
        {"memory": "memory", "cycles": heading("time", "cycles"), "ns": heading("time", "ns")},
    )
    rows = {str(row["memory"]): row for row in tables["latency"].rows}
    for name in ("registers (multiply-add)", "shared memory", "L2 cache", "global memory"):
        if name in rows:
            table.rows.append({"memory": name, "cycles": rows[name].get("cycles"), "ns": rows[name].get("ns")})
    if "latency_dsmem" in tables:
        for row in tables["latency_dsmem"].where(cluster=2, owner=1):
            table.rows.insert(2, {"memory": "shared memory of a neighbour", "cycles": row.get("cycles"), "ns": None})
    return table


def _ladder(tables: Tables) -> Table:
    headings = {"kernel": "rung", **_TIMES, "wavefronts": heading("wavefronts of shared memory", "millions")}
    headings |= {"sectors": heading("sectors written in L2", "millions"), "limit": "what limits it"}
    rows = tables["ladder"].where(extent=LARGE, type="float32")
    ceiling = copy_rate(rows)
    counted = {row["kernel"]: row for row in tables["ladder_counters"].rows} if "ladder_counters" in tables else {}
    table = Table(f"The ladder at {LARGE} float32", headings)
    for row in rows:
        name = str(row["kernel"])
        if name.startswith("copy"):
            continue
        counts = counted.get(name, {})
        millions: dict[str, Value] = {
            column: _number(counts[source]) / 1e6 if source in counts else None
            for column, source in (("wavefronts", "wavefronts"), ("sectors", "l2_write_sectors"))
        }
        cells = {"kernel": name, "median_ms": row.get("median_ms"), "gb_per_s": row.get("gb_per_s")}
        table.rows.append({**cells, "share": _share(row, ceiling), **millions, "limit": LIMITS.get(name)})
    table.rows.append({"kernel": "device-to-device copy", "gb_per_s": ceiling, "share": 100.0})
    return table


def _ladder_sizes(tables: Tables) -> Table:
    rows = tables["ladder"].rows
    places = list(dict.fromkeys((str(row["extent"]), str(row["type"])) for row in rows))
    headings = {"kernel": "rung"} | {f"{e}/{t}": heading(f"{e} {t}", "% of the copy") for e, t in places}
    table = Table("Every rung at every size; a rung that cannot take a matrix is left out", headings)
    lines: dict[str, Row] = {}
    for extent, kind in places:
        here = tables["ladder"].where(extent=extent, type=kind)
        ceiling = copy_rate(here)
        for row in here:
            if row["kernel"] == row.get("ran") and not str(row["kernel"]).startswith("copy"):
                line = lines.setdefault(str(row["kernel"]), {"kernel": row["kernel"]})
                line[f"{extent}/{kind}"] = _share(row, ceiling)
    table.rows = list(lines.values())
    return table


def _copy_paths_best(tables: Tables) -> Table:
    headings = {"path": "way to shared memory", "tile_bytes": heading("tile", "bytes"), "stages": "stages"}
    table = Table("The best tile and number of stages of every way of copying", {**headings, **_TIMES})
    ceiling = copy_rate(tables["copy_paths"].rows, "path")
    for row in best(tables["copy_paths"].rows, "path"):
        if not str(row["path"]).startswith("copy"):
            table.rows.append({**row, "share": _share(row, ceiling)})
    return table


def _copy_paths_against(column: str, title: str) -> Callable[[Tables], Table]:
    def make(tables: Tables) -> Table:
        rows = [row for row in tables["copy_paths"].rows if row.get(column) is not None]
        ceiling = copy_rate(tables["copy_paths"].rows, "path")
        values = sorted({int(_number(row[column])) for row in rows})
        unit = "KiB" if column == "tile_bytes" else "stages" if values[-1] > 1 else "stage"
        names = {v: f"{v // 1024 if column == 'tile_bytes' else v} {unit}" for v in values}
        table = Table(title, {"path": "way to shared memory"} | {str(v): names[v] for v in values})
        lines: dict[str, Row] = {}
        for row in best(rows, "path", column):
            line = lines.setdefault(str(row["path"]), {"path": row["path"]})
            line[str(row[column])] = _share(row, ceiling)
        table.rows = list(lines.values())
        return table

    return make


def _grids(source: str, name: str, names: str) -> Callable[[Tables], Table]:
    """Blocks that stay until all is done, against blocks that take a few tiles each and make room."""

    def make(tables: Tables) -> Table:
        rows = [row for row in tables[source].rows if row.get("work") in (None, 1) and not str(row[name]).startswith("copy")]
        ceiling = copy_rate(tables[source].rows, name)
        values = sorted({int(_number(row.get("tiles_per_block"))) for row in rows})
        headings = {str(v): f"{v} tile{'s' if v > 1 else ''} per block" if v else "blocks that stay" for v in values}
        table = Table("Share of the copy in per cent: blocks that stay, and blocks that make room", {name: names, **headings})
        lines: dict[str, Row] = {}
        for row in best([{**row, "each": int(_number(row.get("tiles_per_block")))} for row in rows], name, "each"):
            line = lines.setdefault(str(row[name]), {name: row[name]})
            line[str(row["each"])] = _share(row, ceiling)
        table.rows = list(lines.values())
        return table

    return make


def _sync_cost(tables: Tables) -> Table:
    """The cycles of each operation against the number of warps."""
    rows = tables["sync_cycles"].rows
    warps = sorted({int(_number(row["warps"])) for row in rows})
    headings = {str(w): heading(f"{w} warp{'s' if w > 1 else ''}", "cycles") for w in warps}
    table = Table("One operation after the other: cycles of each, by the number of warps", {"operation": "operation", **headings})
    lines: dict[str, Row] = {}
    for row in rows:
        line = lines.setdefault(str(row["operation"]), {"operation": row["operation"]})
        line[str(row["warps"])] = row.get("cycles")
    table.rows = list(lines.values())
    return table


def _fence_cost(tables: Tables) -> Table:
    """The cycles of each fence against what it has to order."""
    rows = [row for row in tables["fence_cycles"].rows if row["warps"] == 1]
    places = list(dict.fromkeys(str(row["after"]) for row in rows))
    headings = {place: heading(f"after {place}", "cycles") for place in places}
    table = Table("One fence after the other, one warp: cycles of each, with the store before it", {"fence": "fence", **headings})
    lines: dict[str, Row] = {}
    for row in rows:
        line = lines.setdefault(str(row["fence"]), {"fence": row["fence"]})
        line[str(row["after"])] = row.get("cycles")
    table.rows = list(lines.values())
    return table


def _twins_loads(tables: Tables) -> Table:
    """The twins by the loads that each producer has on its way."""
    rows = [row for row in tables["twins"].rows if not str(row["wait"]).startswith("producer")]
    loads = sorted({int(_number(row["loads"])) for row in rows})
    headings = {str(n): heading(f"{n} at a time" if n else "as compiled", "ms") for n in loads}
    table = Table("The twins by the loads of each producer on their way", {"wait": "wait", "loops": "loops", **headings})
    lines: dict[tuple[Value, Value], Row] = {}
    for row in rows:
        line = lines.setdefault((row["wait"], row["loops"]), {"wait": row["wait"], "loops": row["loops"]})
        line[str(row["loads"])] = row.get("median_ms")
    table.rows = list(lines.values())
    return table


def _prefetch_gain(tables: Tables) -> Table:
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


def _pipeline_best(tables: Tables) -> Table:
    rows = tables["pipeline_stages"].rows
    ceiling = copy_rate(rows)
    works = sorted({int(_number(row["work"])) for row in rows if row.get("work") is not None})
    headings = {"kernel": "kernel", "stages": "stages"}
    headings |= {f"work{w}": heading(f"{w} multiply-adds", "% of the copy") for w in works}
    headings["one_block"] = heading("1 multiply-add, one block per SM", "% of the copy")
    table = Table("A stream through a pipeline: the best number of blocks per SM, and a single one", headings)
    lines: dict[tuple[Value, Value], Row] = {}
    for row in best([row for row in rows if row.get("work") is not None], "kernel", "stages", "work"):
        key = (row["kernel"], row["stages"])
        line = lines.setdefault(key, {"kernel": row["kernel"], "stages": row["stages"]})
        line[f"work{row['work']}"] = _share(row, ceiling)
    for row in rows:
        if row.get("work") == 1 and row.get("blocks_per_sm") == 1 and row.get("median_ms") is not None:
            lines[(row["kernel"], row["stages"])]["one_block"] = _share(row, ceiling)
    table.rows = list(lines.values())
    return table


def _little_best(tables: Tables) -> Table:
    table = Table(
        "Bandwidth of reading against the bytes in flight: the fastest way to have so many",
        {
            "in_flight": heading("in flight per SM", "bytes"),
            "threads_per_sm": "threads per SM",
            "bytes_per_thread": heading("per thread", "bytes"),
            "gb_per_s": heading("rate", "GB/s"),
        },
    )
    for row in sorted(best(tables["little"].rows, "in_flight", least="inverse"), key=lambda r: _number(r["in_flight"])):
        per_thread = int(_number(row["load_bytes"]) * _number(row["loads"]))
        table.rows.append({**row, "bytes_per_thread": per_thread})
    return table


_WHO = (
    ("copy", 4, "its block, twice"),
    ("copy", 4, "its block"),
    ("copy", 4, "its warp"),
    ("copy", 4, "nothing"),
    ("copy", 16, "its block"),
    ("copy", 16, "its warp"),
    ("copy", 16, "nothing"),
    ("read", 4, "nothing"),
    ("read", 16, "nothing"),
)


def _turnover_tiles(tables: Tables) -> Table:
    """Rates of reading: a copy reads half of what it moves."""
    rows = [row for row in tables["turnover"].rows if row["block"] == 256 and row["threads_per_sm"] == 2048]
    values = sorted({int(_number(row["tiles_per_block"])) for row in rows}, key=lambda v: v or 1 << 30)
    names = {str(v): heading(f"{v} tile{'s' if v > 1 else ''}" if v else "blocks stay", "GB/s") for v in values}
    headings = {"what": "kernel", "load_bytes": heading("load", "bytes"), "between": "a thread waits for", **names}
    table = Table("Reading by 2048 threads per SM with one load each, against the tiles that a block takes before it ends", headings)
    for what, load, between in _WHO:
        cells: Row = {"what": what, "load_bytes": load, "between": between}
        for row in rows:
            if (row["what"], row["load_bytes"], row["between"]) == (what, load, between):
                rate = _number(row.get("gb_per_s"))
                cells[str(row["tiles_per_block"])] = rate / 2 if what == "copy" else rate
        table.rows.append(cells)
    return table


def _turnover_blocks(tables: Tables) -> Table:
    headings = {
        "block": "threads per block",
        "empty": heading("blocks that end at once", "ms"),
        "ends": heading("one tile per block", "ms"),
        "stays": heading("blocks stay", "ms"),
    }
    table = Table("Copying by loads of 4 bytes, 2048 threads per SM, against the size of a block", headings)
    rows = [row for row in tables["turnover"].rows if row["load_bytes"] == 4 and row["threads_per_sm"] == 2048]
    for block in sorted({int(_number(row["block"])) for row in rows}):
        cells: Row = {"block": block}
        for row in rows:
            if row["block"] == block and row["what"] == "nothing":
                cells["empty"] = row.get("median_ms")
            elif row["block"] == block and (row["what"], row["between"]) == ("copy", "its block"):
                place = {1: "ends", 0: "stays"}.get(int(_number(row["tiles_per_block"])))
                if place:
                    cells[place] = row.get("median_ms")
        table.rows.append(cells)
    return table


def _turnover_flight(tables: Tables) -> Table:
    headings = {
        "in_flight": heading("in flight per SM, at most", "bytes"),
        "threads_per_sm": "threads per SM",
        "load_bytes": heading("load", "bytes"),
        "read": heading("reading", "GB/s"),
        "copy": heading("copying: reading", "GB/s"),
    }
    table = Table("One load per thread in flight, blocks that stay, nobody waits for anybody", headings)
    lines: dict[tuple[Value, Value], Row] = {}
    for row in tables["turnover"].rows:
        if row["block"] != 256 or row["tiles_per_block"] != 0 or row["between"] != "nothing" or row["what"] not in ("read", "copy"):
            continue
        line = lines.setdefault((row["in_flight"], row["load_bytes"]), {name: row[name] for name in ("in_flight", "threads_per_sm", "load_bytes")})
        rate = _number(row.get("gb_per_s"))
        line[str(row["what"])] = rate / 2 if row["what"] == "copy" else rate
    table.rows = sorted(lines.values(), key=lambda row: (_number(row["in_flight"]), _number(row["load_bytes"])))
    return table


def _passages_narrow(tables: Tables) -> Table:
    source = tables["passages"]
    table = Table("Where the time of a warp goes: loads of 4 bytes, blocks of 256 threads, 2048 threads per SM", {})
    names = ("between", "tiles_per_block", "loading", "storing", "resident", "in_flight")
    table.headings = {name: source.headings[name] for name in names}
    for row in source.rows:
        if row["load_bytes"] == 4 and row["block"] == 256:
            table.rows.append({name: row.get(name) for name in names} | {"tiles_per_block": row["tiles_per_block"] or "stays"})
    return table


def _arithmetic(tables: Tables) -> Table:
    headings = {"work": "multiply-adds per element", "median_ms": heading("time", "ms"), "share": heading("a stream could reach", "% of the copy")}
    table = Table("The arithmetic of a stream alone, without a copy", headings)
    table.rows = [{name: row.get(name) for name in headings} for row in tables["pipeline_arithmetic"].rows]
    return table


def _short(source: str) -> Callable[[Tables], Table]:
    """A table without the columns that tell how sure its times are."""

    def make(tables: Tables) -> Table:
        found = tables[source]
        kept = {n: h for n, h in found.headings.items() if n not in ("min_ms", "lower_ms", "upper_ms", "repetitions")}
        return Table(found.title, kept, [{name: row.get(name) for name in kept} for row in found.rows])

    return make


def _index(tables: Tables) -> Table:
    """A row for each kernel and number of stages, a column for each grid; shares of the copy."""
    headings = {"kernel": "kernel", "stages": "stages", "1": heading("one block per SM", "% of the copy")}
    headings |= {"6": heading("six blocks per SM", "% of the copy"), "each": heading("eight tiles per block", "% of the copy")}
    table = Table("The stage of a tile: a remainder of 32 bits, of 64 bits, or counted", headings)
    lines: dict[tuple[Value, Value], Row] = {}
    for row in tables["pipeline_index"].rows:
        line = lines.setdefault((row["kernel"], row["stages"]), {"kernel": row["kernel"], "stages": row["stages"]})
        line["each" if row.get("tiles_per_block") else str(row["blocks_per_sm"])] = row.get("share")
    table.rows = list(lines.values())
    return table


def _groups_best(tables: Tables) -> Table:
    rows = tables["cp_async_groups"].rows
    values = sorted({int(_number(row["tiles_per_block"])) for row in rows}, key=lambda v: v or 1 << 30)
    headings = {"kernel": "kernel", "stages": "stages"}
    headings |= {str(v): heading(f"{v} tile{'s' if v > 1 else ''} per block" if v else "blocks stay", "% of the copy") for v in values}
    table = Table("Groups of cp.async: stages, and tiles that a block takes before it ends", headings)
    lines: dict[tuple[Value, Value], Row] = {}
    for row in rows:
        line = lines.setdefault((row["kernel"], row.get("stages")), {"kernel": row["kernel"], "stages": row.get("stages")})
        line[str(row["tiles_per_block"])] = row.get("share")
    table.rows = list(lines.values())
    return table


def _little(tables: Tables) -> Table:
    for row in tables["little"].rows:
        rate = _number(row.get("gb_per_s"))
        row["inverse"] = 1 / rate if rate else None
    return _little_best(tables)


_MAKERS: dict[str, tuple[tuple[str, ...], Callable[[Tables], Table]]] = {
    "latencies": (("latency",), _latencies),
    "little_best": (("little",), _little),
    "turnover_tiles": (("turnover",), _turnover_tiles),
    "turnover_blocks": (("turnover",), _turnover_blocks),
    "turnover_flight": (("turnover",), _turnover_flight),
    "passages_narrow": (("passages",), _passages_narrow),
    "groups_best": (("cp_async_groups",), _groups_best),
    "strides_short": (("strides",), _short("strides")),
    "flags_short": (("cp_async_flags",), _short("cp_async_flags")),
    "arithmetic_alone": (("pipeline_arithmetic",), _arithmetic),
    "index_best": (("pipeline_index",), _index),
    "copy_paths_best": (("copy_paths",), _copy_paths_best),
    "copy_paths_tiles": (
        ("copy_paths",),
        _copy_paths_against("tile_bytes", "Share of the copy in per cent against the tile, at the best number of stages"),
    ),
    "copy_paths_stages": (
        ("copy_paths",),
        _copy_paths_against("stages", "Share of the copy in per cent against the number of stages, at the best tile"),
    ),
    "copy_paths_grids": (("copy_paths",), _grids("copy_paths", "path", "way to shared memory")),
    "sync_cost": (("sync_cycles",), _sync_cost),
    "fence_cost": (("fence_cycles",), _fence_cost),
    "twins_loads": (("twins",), _twins_loads),
    "prefetch_gain": (("prefetch",), _prefetch_gain),
    "pipeline_best": (("pipeline_stages",), _pipeline_best),
    "pipeline_grids": (("pipeline_stages",), _grids("pipeline_stages", "kernel", "kernel")),
    "ladder_large": (("ladder",), _ladder),
    "ladder_sizes": (("ladder",), _ladder_sizes),
    **bench_tables_clusters.MAKERS,
    **bench_tables_measuring.MAKERS,
}
DERIVED = tuple(_MAKERS)
RAW = (
    "little",
    "turnover",
    "passages",
    "strides",
    "cp_async_flags",
    "cp_async_groups",
    "pipeline_index",
    "pipeline_arithmetic",
    "copy_paths",
    "pipeline_stages",
    "ladder",
    "sync_cycles",
    "fence_cycles",
    "twins",
    "prefetch",
    *bench_tables_clusters.RAW,
    *bench_tables_measuring.RAW,
)

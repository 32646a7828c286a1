"""What is made of this chapter's measurements: tables for readers, and what they must show."""

import math
from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_claims import copies_agree
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import best, copy_rate, grids, number, share_of

SLOWER = 1.0  # the one takes no less time than the other
_TILE_BYTES = 2 * 4096  # of a tile of 1024 floats, read and written
_SMS = 132  # of an H200: NVIDIA H200 data sheet
_VARIANTS = (
    ("single_stage", 1, "the four calls in a row"),
    ("with_staging", 2, "the next copy is issued before this tile is computed"),
    ("n_stages", 4, "up to as many copies under way as there are stages"),
    ("thread_scope", 4, "no barriers in the pipeline; the block meets twice per tile"),
    ("with_specialized_staging_unified", 2, "even threads copy, odd threads compute"),
    ("specialized_warps", 4, "one warp copies, seven compute"),
    ("four_at_a_time", 4, "`thread_scope` for whole tiles: 16 bytes per access, and each thread copies by itself"),
)
_WORKS = (1, 16, 64)  # multiply-adds per element
_REST = 0.5  # microseconds: the L of four_at_a_time with one multiply-add
_PIPELINES = ("n_stages", "thread_scope", "specialized_warps", "four_at_a_time")


def _multiply_adds(count: int) -> str:
    return "1 multiply-add" if count == 1 else f"{count} multiply-adds"


def _arithmetic_table(tables: Tables) -> Table:
    headings = {"work": "multiply-adds per element", "median_ms": heading("time", "ms"), "share": heading("a stream could reach", "% of the copy")}
    table = Table("The arithmetic of a stream alone, without a copy", headings)
    table.rows = [{name: row.get(name) for name in headings} for row in tables["pipeline_arithmetic"].rows]
    return table


def _index_table(tables: Tables) -> Table:
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


def _pipeline_best_table(tables: Tables) -> Table:
    rows = tables["pipeline_stages"].rows
    ceiling = copy_rate(rows)
    works = sorted({int(number(row["work"])) for row in rows if row.get("work") is not None})
    headings = {"kernel": "kernel", "stages": "stages"}
    headings |= {f"work{w}": heading(_multiply_adds(w), "% of the copy") for w in works}
    headings["one_block"] = heading("1 multiply-add, one block per SM", "% of the copy")
    table = Table("A stream through a pipeline: the best number of blocks per SM, and a single one", headings)
    lines: dict[tuple[Value, Value], Row] = {}
    for row in best([row for row in rows if row.get("work") is not None], "kernel", "stages", "work"):
        key = (row["kernel"], row["stages"])
        line = lines.setdefault(key, {"kernel": row["kernel"], "stages": row["stages"]})
        line[f"work{row['work']}"] = share_of(row, ceiling)
    for row in rows:
        if row.get("work") == 1 and row.get("blocks_per_sm") == 1 and row.get("median_ms") is not None:
            lines[(row["kernel"], row["stages"])]["one_block"] = share_of(row, ceiling)
    table.rows = list(lines.values())
    return table


def _blocks_table(tables: Tables) -> Table:
    """Stages against blocks that stay: a row for each number of stages of four_at_a_time; shares of the copy."""
    ceiling = copy_rate(tables["pipeline_stages"].rows)
    blocks = (1, 2, 3, 4, 8)
    headings = {"stages": "stages"}
    headings |= {f"blocks{n}": heading("one block per SM" if n == 1 else f"{n} blocks per SM", "% of the copy") for n in blocks}
    table = Table("four_at_a_time by its stages and by blocks that stay, one multiply-add per element", headings)
    for stages in (1, 2, 3, 4, 5, 6, 8):
        line: Row = {"stages": stages}
        for row in tables["pipeline_stages"].where(kernel="four_at_a_time", stages=stages, work=1):
            if row.get("blocks_per_sm") in blocks:
                line[f"blocks{row['blocks_per_sm']}"] = share_of(row, ceiling)
        table.rows.append(line)
    return table


_CAUSES_ALONE = (("thread_scope", "nothing"), ("own copies", "each thread copies its own 16 bytes, without `copy_tile`"), ("wide accesses", "each thread reads and writes 16 bytes"), ("both", "both: `four_at_a_time`"))
_SET_UP = (("thread_scope", "`thread_scope`"), ("set_up_for_nothing", "the same, with a pipeline of block scope set up and not used"), ("n_stages", "`n_stages`"))


def _four_changes_table(tables: Tables) -> Table:
    """thread_scope with each of the two changes that make four_at_a_time of it."""
    rows = Rows(tables["pipeline_causes"].where(blocks_per_sm=1))
    table = Table("thread_scope, four stages, one block per SM: the two changes that make four_at_a_time of it", {"change": "what changes", "share": heading("rate", "% of the copy")})
    table.rows = [{"change": change, "share": rows.figure("share", kernel=kernel)} for kernel, change in _CAUSES_ALONE]
    return table


def _role_stages_table(tables: Tables) -> Table:
    found = tables["pipeline_causes"].where(kernel="specialized_warps")
    table = Table("specialized_warps, one block per SM", {"stages": "stages", "share": heading("rate", "% of the copy")})
    table.rows = [{"stages": row["stages"], "share": row.get("share")} for row in found]
    return table


def _set_up_table(tables: Tables) -> Table:
    rows = Rows(tables["pipeline_causes"].rows)
    headings = {"kernel": "kernel", "4": heading("blocks take 4 tiles", "% of the copy"), "32": heading("32 tiles", "% of the copy")}
    table = Table("Four stages, one multiply-add per element: what setting up a pipeline of block scope costs", headings)
    for kernel, name in _SET_UP:
        table.rows.append({"kernel": name} | {str(n): rows.figure("share", kernel=kernel, tiles_per_block=n) for n in (4, 32)})
    return table


# The blocks on each SM of the experiment with larger blocks: how many, their threads, and the accesses of a thread for a tile.
_WIDTHS = (
    (1, 256, 1, "256 threads, a piece each"),
    (1, 256, 2, "256 threads, two pieces each"),
    (1, 512, 1, "512 threads, a piece each"),
    (1, 1024, 1, "1024 threads, a piece each"),
    (2, 256, 1, "two blocks of 256, a piece each"),
)


def _width_share(tables: Tables, blocks: int, threads: int, each: int, stages: int) -> float | None:
    rows = Rows(tables["pipeline_wide"].where(kernel="of_width"))
    return rows.figure("share", blocks_per_sm=blocks, threads=threads, each=each, stages=stages)


def _room_of_widths_table(tables: Tables) -> Table:
    """Shares of the copy by the shared memory of a block's stages: a row for each kind of block."""
    room = (16, 32, 64)  # KiB
    headings = {"blocks": "the block"} | {str(kib): f"{kib} KiB" for kib in room}
    table = Table("Share of the copy in per cent, one block per SM, by the shared memory of its stages", headings)
    for blocks, threads, each, name in _WIDTHS:
        if blocks == 1 and threads < 1024:
            tile = threads * each * 16 // 1024
            shares = {str(kib): _width_share(tables, blocks, threads, each, kib // (blocks * tile)) for kib in room}
            table.rows.append({"blocks": name} | shares)
    return table


def _widths_table(tables: Tables) -> Table:
    """The same by the number of stages of a block."""
    counts = (1, 2, 4, 8)
    headings = {"blocks": "on each SM"} | {str(n): f"{n} stage" + "s" * (n > 1) for n in counts}
    table = Table("Share of the copy in per cent: larger blocks and larger tiles, one multiply-add per element", headings)
    for blocks, threads, each, name in _WIDTHS:
        table.rows.append({"blocks": name} | {str(n): _width_share(tables, blocks, threads, each, n) for n in counts})
    return table


def _widths_claims(tables: Tables) -> Iterator[Claim]:
    narrow = {n: _width_share(tables, 1, 256, 1, n) for n in (4, 8)}
    larger, twice, two = (_width_share(tables, *kind, 4) for kind in ((1, 512, 1), (1, 256, 2), (2, 256, 1)))
    yield Claim("wide-threads", "one block per SM, 32 KiB for stages: the rate of 512 threads over that of 256", ratio(larger, narrow[8]), ">=", 1.3, "times")
    yield Claim("wide-tile", "the same: 256 threads with two accesses for a tile over 256 with one", ratio(twice, narrow[8]), ">=", 1.25, "times")
    same = ratio(_width_share(tables, 1, 512, 1, 2), narrow[4])
    yield Claim("wide-room", "the same with 16 KiB for stages: 512 threads over 256", same, ">=", 1.08, "times")
    yield Claim("wide-blocks", "two blocks of 256 threads over one of 512, four stages each", ratio(two, larger), ">=", 1.02, "times")
    chapter = Rows(tables["pipeline_wide"].where(kernel="four_at_a_time")).figure("share", stages=4)
    yield Claim("wide-twin", "256 threads with one access, four stages: the rate over that of four_at_a_time", ratio(narrow[4], chapter), ">=", 0.99, "times")


def _dealing_table(tables: Tables) -> Table:
    headings = {"tiles": "tiles", "first": heading("the first block ends", "µs"), "mean": heading("the average block", "µs"), "last": heading("the last block", "µs")}
    table = Table("Eight blocks on each SM that stay, one stage, one multiply-add per element", headings | {"share": heading("rate", "% of the copy")})
    table.rows = [{name: row.get(name) for name in (*headings, "share")} for row in tables["pipeline_dealing"].rows]
    return table


def _causes_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["pipeline_causes"].rows)

    def against(kernel: str) -> float | None:
        return ratio(rows.time(kernel="thread_scope", blocks_per_sm=1), rows.time(kernel=kernel, blocks_per_sm=1))

    yield Claim("changes-copies", "thread_scope, one block per SM: copies without copy_tile take less time", against("own copies"), ">=", 1.05, "times")
    yield Claim("changes-wide", "the same: accesses of 16 bytes take less time still", ratio(against("wide accesses"), against("own copies")), ">=", 1.05, "times")
    few, many = (rows.time(kernel="specialized_warps", stages=stages) for stages in (4, 8))
    yield Claim("roles-stages", "specialized_warps, one block per SM: eight stages are as fast as four", ratio(few, many), "<=", 1.03, "times")
    part = [rows.time(kernel=kernel, tiles_per_block=4) for kernel in ("thread_scope", "set_up_for_nothing", "n_stages")]
    set_up = (part[1] - part[0]) / (part[2] - part[0]) if all(part) and part[2] != part[0] else None
    yield Claim("set-up-part", "blocks of four tiles: the part of n_stages' longer time that setting the pipeline up takes", set_up, "<=", 0.5)


def _dealing_claims(tables: Tables) -> Iterator[Claim]:
    dealt = next((row for row in tables["pipeline_dealing"].rows if row["tiles"] == "dealt in advance"), {})
    rows = Rows(tables["pipeline_dealing"].rows, "tiles")
    waits = ratio(as_float(dealt.get("mean")), as_float(dealt.get("last")))
    yield Claim("dealt-waits", "tiles dealt in advance: the average block ends before the last", waits, "<=", 0.98)
    gain = ratio(rows.time(tiles="dealt in advance"), rows.time(tiles="claimed, four at a time"))
    yield Claim("claimed-gain", "tiles claimed four at a time take less time than tiles dealt in advance", gain, ">=", 1.015, "times")


def _one_block(tables: Tables) -> Rows:
    """The rows of pipeline_stages with one block on each SM."""
    return Rows(tables["pipeline_stages"].where(blocks_per_sm=1))


def _variants_table(tables: Tables) -> Table:
    """One block per SM: what each step changes, and what a tile takes then."""
    headings = {"kernel": "kernel", "stages": "stages", "changes": "what it changes"}
    headings |= {f"work{work}": heading(_multiply_adds(work), "µs") for work in _WORKS}
    table = Table("The variants with one block per SM: the time for a tile", headings)
    for kernel, stages, changes in _VARIANTS:
        times = {f"work{work}": _per_tile(_one_block(tables), kernel, stages, work) for work in _WORKS}
        table.rows.append({"kernel": f"`{kernel}`", "stages": stages, "changes": changes} | times)
    return table


def _per_tile(rows: Rows, kernel: str, stages: int, work: int) -> float | None:
    """Microseconds that a block takes for one tile, every SM having one block."""
    rate = rows.figure("gb_per_s", kernel=kernel, stages=stages, work=work)
    return 1e-3 * _TILE_BYTES * _SMS / rate if rate else None


def _rule_line(rows: Rows, kernel: str, work: int) -> Row:
    """What one stage takes (L + C), what the best number of stages takes (C), and the model between them."""
    times = {stages: _per_tile(rows, kernel, stages, work) for stages in (1, 2, 3, 4, 5, 6, 8)}
    one, least = times[1], min(some(*times.values()), default=None)
    enough = ratio(one, least)
    line: Row = {"kernel": f"`{kernel}`", "work": work, "one": one, "least": least, "copy": one - least if one and least else None, "rule": enough}
    line["model"] = max(least, one / 2) if one and least else None
    return line | {"two": times[2], "three": times[3]}


def _rule_table(tables: Tables) -> Table:
    headings = {"kernel": "kernel", "work": "multiply-adds", "one": "one stage: L + C", "least": "at best: C", "copy": "L", "rule": "1 + L/C"}
    headings |= {"model": "two stages: model", "two": "measured", "three": "three: measured"}
    table = Table("One block per SM, microseconds per tile: what the rule says and what two and three stages take", headings)
    table.rows = [_rule_line(_one_block(tables), kernel, work) for kernel in ("four_at_a_time", "n_stages") for work in (1, 16, 64)]
    return table


def _rule_claims(tables: Tables) -> Iterator[Claim]:
    rows = _one_block(tables)
    for kernel in ("four_at_a_time", "n_stages"):
        for work in (1, 16, 64):
            line = _rule_line(rows, kernel, work)
            rule, least = as_float(line["rule"]), as_float(line["least"])
            part = ratio(least, _per_tile(rows, kernel, math.ceil(rule), work)) if rule else None
            sentence = f"{kernel}, {_multiply_adds(work)}, one block per SM: 1 + L/C stages reach the best rate, nearly"
            yield Claim(f"rule-{kernel}-{work}", sentence, part, ">=", 0.9)
    for stages, relation, bound in ((2, ">=", 1.5), (3, ">=", 1.15), (4, "<=", 1.1)):
        gain = ratio(_per_tile(rows, "four_at_a_time", stages - 1, 1), _per_tile(rows, "four_at_a_time", stages, 1))
        sentence = f"four_at_a_time, one block per SM: stage {stages} after stage {stages - 1}"
        yield Claim(f"one-block-{stages}", sentence, gain, relation, bound, "times")
    four = _per_tile(rows, "four_at_a_time", 4, 1)
    more = some(*(_per_tile(rows, "four_at_a_time", stages, 1) for stages in (5, 6, 8)))
    apart = max((abs(1 - time / four) for time in more), default=None) if four else None
    sentence = "four_at_a_time, one block per SM: five to eight stages against four, the largest difference"
    yield Claim("one-block-more", sentence, 100 * apart if apart is not None else None, "<=", 3, "%")


def _over(times: dict[int, float | None], stages: int) -> float | None:
    """How much longer a tile takes than with the best number of stages, in per cent."""
    part = ratio(times.get(stages), min(some(*times.values()), default=None))
    return 100 * (part - 1) if part else None


def _thumb_line(kernel: str, work: int, times: dict[int, float | None]) -> Row:
    """How far two, three and four stages are from the best, and the number that _REST makes of the time with one stage."""
    one = times.get(1)
    asks = ratio(one, one - _REST if one else None)
    line: Row = {"kernel": f"`{kernel}`", "work": work, "one": one, "asks": math.ceil(asks) if asks else None}
    return line | {name: _over(times, stages) for stages, name in ((2, "two"), (3, "three"), (4, "four"))}


def _thumb_curves(tables: Tables) -> list[tuple[str, int, dict[int, float | None]]]:
    """Microseconds for a tile by stages: six curves of the kernels in which all threads ask for tiles, and one with roles."""
    counts = (1, 2, 3, 4, 5, 6, 8)
    rows, roles = _one_block(tables), Rows(tables["pipeline_causes"].where(kernel="specialized_warps", blocks_per_sm=1))
    curves = [(kernel, work, {n: _per_tile(rows, kernel, n, work) for n in counts}) for kernel in ("four_at_a_time", "n_stages") for work in _WORKS]
    return [*curves, ("specialized_warps", 1, {n: _per_tile(roles, "specialized_warps", n, 1) for n in counts})]


def _thumb_table(tables: Tables) -> Table:
    headings = {"kernel": "kernel", "work": "multiply-adds", "one": heading("one stage: T", "µs")}
    headings |= {"two": heading("two stages over the best", "%"), "three": heading("three", "%"), "four": heading("four", "%"), "asks": "T / (T − 0.5 µs) asks for"}
    table = Table("One block per SM: how much longer a tile takes with two, three and four stages than with the best number", headings)
    table.rows = [_thumb_line(*curve) for curve in _thumb_curves(tables)]
    return table


def _thumb_claims(tables: Tables) -> Iterator[Claim]:
    curves = _thumb_curves(tables)
    for stages, name, bound in ((3, "three", 6), (4, "four", 2)):
        over = some(*(_over(times, stages) for _, _, times in curves))
        yield Claim(f"thumb-{name}", f"one block per SM, seven curves: {name} stages against the best, the longest time", max(over, default=None), "<=", bound, "%")
    least = [(times.get(1), min(some(*times.values()), default=None)) for kernel, _, times in curves if kernel != "specialized_warps"]
    misses = [abs((one - _REST) / best - 1) for one, best in least if one and best]
    yield Claim("thumb-best", "the six in which all threads ask: T - 0.5 µs against the best time, the largest difference", 100 * max(misses) if misses else None, "<=", 5, "%")
    twos = [_thumb_line(*curve) for curve in curves]
    agree = sum(line["asks"] == 2 for line in twos)
    yield Claim("thumb-asks", "the seven: curves on which T / (T - 0.5 µs) asks for two stages", agree if any(line["one"] for line in twos) else None, ">=", 6)


def _roles_claims(tables: Tables) -> Iterator[Claim]:
    """A warp that only asks saves the others the asking and leaves an eighth of the computing to them."""
    rows = _one_block(tables)
    for work, relation, bound in ((1, ">=", 1.1), (16, ">=", 1.02), (64, "<=", 0.99)):
        gain = ratio(_per_tile(rows, "n_stages", 4, work), _per_tile(rows, "specialized_warps", 4, work))
        yield Claim(f"roles-work-{work}", f"one block per SM, four stages, {_multiply_adds(work)}: n_stages' time over specialized_warps'", gain, relation, bound, "times")


def _many_blocks_claims(tables: Tables) -> Iterator[Claim]:
    """With the best grid, what stages beyond the second add."""
    lines = _pipeline_best_table(tables).rows
    gains = []
    for kernel in ("n_stages", "thread_scope", "four_at_a_time"):
        for work in _WORKS:
            shares = {line["stages"]: as_float(line.get(f"work{work}")) for line in lines if line["kernel"] == kernel}
            more = some(*(share for stages, share in shares.items() if stages not in (1, 2)))
            two = shares.get(2)
            if more and two:
                gains.append(max(more) - two)
    yield Claim("many-stages", "the best grid, three kernels, 1, 16 and 64 multiply-adds: the most that stages beyond the second add", max(gains, default=None), "<=", 1, "points of the copy")
    grid = Rows(tables["pipeline_stages"].where(work=1))
    for kernel, stages, few, many, relation in (
        ("thread_scope", 4, 4, 16, ">="),
        ("specialized_warps", 4, 4, 16, ">="),
        ("with_staging", 2, 4, 8, "<="),
        ("n_stages", 4, 4, 16, "<="),
    ):
        rate = {n: grid.figure("gb_per_s", kernel=kernel, stages=stages, tiles_per_block=n) for n in (few, many)}
        yield Claim(f"few-tiles-{kernel}", f"{kernel}, {stages} stages: the rate with {few} tiles for each block over that with {many}", ratio(rate[few], rate[many]), relation, 1, "times")


def _index_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["pipeline_index"].rows)

    def slower(bits: int, stages: int) -> float | None:
        counted = rows.time(kernel="n_stages", stages=stages, blocks_per_sm=6)
        return ratio(rows.time(kernel=f"remainder of {bits} bits", stages=stages, blocks_per_sm=6), counted)

    for stages in (3, 6):
        yield Claim(f"index-long-{stages}", f"{stages} stages: a remainder of 64 bits is slower than counting", slower(64, stages), ">=", 1.03, "times")
        yield Claim(f"index-short-{stages}", f"{stages} stages: so is one of 32 bits", slower(32, stages), ">=", 1.01, "times")
    yield Claim("index-mask", "4 stages: hardly, where the remainder is a mask", slower(64, 4), "<=", 1.02, "times")
    times = [rows.time(kernel="n_stages", stages=stages, blocks_per_sm=6) for stages in (2, 3, 4, 6, 8)]
    known = some(*times)
    yield Claim("index-flat", "two to eight stages, six blocks per SM: within a few per cent", ratio(max(known, default=None), min(known, default=None)), "<=", 1.04, "times")


def _arithmetic_claims(tables: Tables) -> Iterator[Claim]:
    rows, alone = Rows(tables["pipeline_stages"].rows), Rows(tables["pipeline_arithmetic"].rows)
    for work, relation, bound in ((1, "<=", 0.4), (64, ">=", 0.5)):
        share = ratio(alone.time(work=work), rows.time(kernel="n_stages", work=work))
        yield Claim(f"arithmetic-{work}", f"{_multiply_adds(work)}: the part of n_stages' time that they take alone", share, relation, bound)


def _entangled_claims(tables: Tables) -> Iterator[Claim]:
    rows = {str(row["commits"]): row for row in tables["entangled_wait"].rows}
    part = {name: ratio(as_float(row.get("older")), as_float(row.get("all"))) for name, row in rows.items()}
    yield Claim("entangled-together", "a warp that commits together does not wait for its newer batch", part.get("together"), "<=", 0.3)
    yield Claim("entangled-halves", "a warp that commits in two halves does", part.get("in two halves"), ">=", 0.7)


def _pipeline_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["pipeline_stages"].rows)
    yield Claim(
        "stream-pipeline",
        "a pipeline with little arithmetic streams at the speed of the copy",
        max(some(*(rows.share(kernel=k, work=1) for k in _PIPELINES)), default=None),
        ">=",
        97,
        "%",
    )
    one = rows.time(kernel="single_stage", work=1, blocks_per_sm=1)
    two = rows.time(kernel="n_stages", stages=2, work=1, blocks_per_sm=1)
    four = rows.time(kernel="n_stages", stages=4, work=1, blocks_per_sm=1)
    yield Claim("stages-two", "one block per SM: two stages beat one", ratio(one, two), ">=", 1.1, "times")
    yield Claim("stages-four", "one block per SM: four stages beat two", ratio(two, four), ">=", 1.02, "times")
    unified = rows.time(kernel="with_specialized_staging_unified", work=1)
    warps = rows.time(kernel="specialized_warps", work=1)
    yield Claim("roles-warps", "roles for whole warps beat roles for even and odd threads", ratio(unified, warps), ">=", SLOWER, "times")


def _timeline_claims(tables: Tables) -> Iterator[Claim]:
    rows = tables["pipeline_timeline"]
    for stages in (1, 2, 4):
        tiles = rows.where(stages=stages)
        if len(tiles) < 2 or tiles[0].get("issued") is None:
            continue
        early = sum(
            (as_float(later["issued"]) or 0) < (as_float(tile["computed"]) or 0) for tile, later in zip(tiles, tiles[1:], strict=False)
        )
        count = len(tiles) - 1
        if stages == 1:
            yield Claim("timeline-1", "one stage: no copy is issued before the tile before was computed", early, "<=", 0)
        else:
            sentence = f"{stages} stages: the next copy is issued before this tile is computed"
            yield Claim(f"timeline-{stages}", sentence, early, ">=", count)


BENCH = Bench(
    raw=("pipeline_causes", "pipeline_wide", "pipeline_dealing", "pipeline_index", "pipeline_arithmetic", "pipeline_stages"),
    tables={
        "arithmetic_alone": (("pipeline_arithmetic",), _arithmetic_table),
        "index_best": (("pipeline_index",), _index_table),
        "pipeline_best": (("pipeline_stages",), _pipeline_best_table),
        "pipeline_blocks": (("pipeline_stages",), _blocks_table),
        "pipeline_rule": (("pipeline_stages",), _rule_table),
        "pipeline_thumb": (("pipeline_stages", "pipeline_causes"), _thumb_table),
        "pipeline_variants": (("pipeline_stages",), _variants_table),
        "pipeline_four_changes": (("pipeline_causes",), _four_changes_table),
        "pipeline_role_stages": (("pipeline_causes",), _role_stages_table),
        "pipeline_set_up": (("pipeline_causes",), _set_up_table),
        "pipeline_widths": (("pipeline_wide",), _widths_table),
        "pipeline_room_of_widths": (("pipeline_wide",), _room_of_widths_table),
        "pipeline_by_dealing": (("pipeline_dealing",), _dealing_table),
        "pipeline_grids": (("pipeline_stages",), grids("pipeline_stages", "kernel", "kernel")),
    },
    claims=(
        (("pipeline_index",), _index_claims),
        (("pipeline_arithmetic", "pipeline_stages"), _arithmetic_claims),
        (("entangled_wait",), _entangled_claims),
        (("pipeline_causes",), _causes_claims),
        (("pipeline_wide",), _widths_claims),
        (("pipeline_dealing",), _dealing_claims),
        (("pipeline_stages",), _pipeline_claims),
        (("pipeline_stages",), _rule_claims),
        (("pipeline_stages", "pipeline_causes"), _thumb_claims),
        (("pipeline_stages",), _roles_claims),
        (("pipeline_stages",), _many_blocks_claims),
        (("pipeline_timeline",), _timeline_claims),
        (("pipeline_stages",), lambda tables: copies_agree("pipeline_stages", tables["pipeline_stages"].rows)),
    ),
)

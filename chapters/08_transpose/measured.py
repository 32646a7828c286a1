"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cli import bench_run
from cli.bench_chapters import Bench, Tuner
from cli.bench_claims import copies_agree
from cli.bench_file import Claim, Row, Table, Tables, Value, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import TIMES, best, copy_rate, number, pivot, share_of, without_spread

from .tuner import trials

LARGE = "32768 x 32768"
MIDDLE = "8192 x 8192"
ANY = "any_matrix"  # no rung of the ladder: it takes what the others cannot, and launches the kernel that fits
DOWN, ALONG = "leaning_tiles down columns", "leaning_tiles along rows"
LONG = 65537

# What Nsight Compute counts for each rung, and the columns that it goes to.
COUNTERS = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": ("wavefronts", "wavefronts of shared memory"),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": ("conflicts", "of these bank conflicts"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("load_sectors", "sectors of loads"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("store_sectors", "sectors of stores"),
    "lts__t_sectors_op_read.sum": ("l2_read_sectors", "sectors read in L2"),
    "lts__t_sectors_op_write.sum": ("l2_write_sectors", "sectors written in L2"),
    "dram__bytes_read.sum": ("dram_read", "read from DRAM (bytes)"),
    "dram__bytes_write.sum": ("dram_written", "written to DRAM (bytes)"),
}

# What the counters, the tuner and the tables `crowding` and `staying` say about each rung.
LIMITS = {
    "global_only": "a warp's store touches 32 sectors and fills 4 bytes of each: L2 takes eight times the sectors, "
    "and DRAM moves a fifth more than the matrix",
    "shared_tile": "the 32 lanes that read a column meet in one bank: nine of ten wavefronts are conflicts",
    "padded_tile": "its loops, 32 KiB asked for on an SM and the order of blocks, some 5 points each; then pieces of 128 bytes: with 16-byte accesses too the tuner has 90 %",
    "tma_plain": "two tiles on an SM, and a column of the loaded tile lies in one bank",
    "tma_swizzled": "two tiles on an SM: with two, tma_batched is a ninth faster, with 16 2.6 times as fast",
    "tma_batched": "pieces of 128 bytes, blocks along rows, and 4 wavefronts for each column; what each costs was not measured",
    "micro_tiles": "the order of blocks: column_walk differs in nothing else",
    "tma_micro_tiles": "as tma_kept_reads, which gains by the policy and by what L2 fetches at a time",
    "tma_persistent": "which block gets which tile: rings that claim the next tile are faster",
    "column_walk": "how reads and writes share L2: with the policy alone the tuner had 1.3 points more",
    "tma_kept_reads": "the tensor store from a second tile: with stores straight from registers the tuner had 0.9 points more",
    "kept_reads": "which column of tiles follows: far_columns, with neighbours, is hardly faster",
    "far_columns": "our guess: reads and writes at once, as in the copy",
    "cuBLAS geam": "not ours",
}


def _count(program: Path, env: Mapping[str, str], tables: Tables) -> list[str]:
    """Counts wavefronts and sectors of the rungs with Nsight Compute, if it is there and may count."""
    title = "What the hardware counted for one launch of each rung, 32768 x 32768 float32"
    command = ["-k", "regex:^(?!fill_|count_)", str(program), "--once", "--part", "ladder"]
    table = Table(title, {"kernel": "rung"})
    failures = bench_run.count(command, env, table, COUNTERS)
    if table.rows:
        tables["ladder_counters"] = table
    return failures


def _ladder_table(tables: Tables) -> Table:
    headings = {"kernel": "rung", **TIMES, "wavefronts": heading("wavefronts of shared memory", "millions")}
    headings |= {"sectors": heading("sectors written in L2", "millions"), "limit": "what limits it"}
    rows = tables["ladder"].where(extent=LARGE, type="float32")
    ceiling = copy_rate(rows)
    counted = {row["kernel"]: row for row in tables["ladder_counters"].rows} if "ladder_counters" in tables else {}
    table = Table(f"The ladder at {LARGE} float32", headings)
    for row in rows:
        name = str(row["kernel"])
        if name.startswith("copy"):
            continue
        counts = counted.get(str(row.get("ran")), counted.get(name, {}))
        millions: dict[str, Value] = {
            column: number(counts[source]) / 1e6 if source in counts else None
            for column, source in (("wavefronts", "wavefronts"), ("sectors", "l2_write_sectors"))
        }
        cells = {"kernel": name, "median_ms": row.get("median_ms"), "gb_per_s": row.get("gb_per_s")}
        table.rows.append({**cells, "share": share_of(row, ceiling), **millions, "limit": LIMITS.get(name)})
    table.rows.append({"kernel": "device-to-device copy", "gb_per_s": ceiling, "share": 100.0})
    return table


def _ladder_sizes_table(tables: Tables) -> Table:
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
                line[f"{extent}/{kind}"] = share_of(row, ceiling)
    table.rows = list(lines.values())
    return table


def _ladder_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["ladder"].where(extent=LARGE, type="float32"))
    names = [str(row["kernel"]) for row in rows.rows if not str(row["kernel"]).startswith(("copy", "cuBLAS"))]
    ranked = best([row for row in rows.rows if row["kernel"] in names], "kernel")
    shares = {name: rows.share(kernel=name) for name in names}
    last = names[-1] if names else ""
    yield Claim("ladder-last", f"the last rung, {last}, comes to the copy's speed", shares.get(last), ">=", 98, "%")
    tma = max(some(*(share for name, share in shares.items() if name.startswith("tma"))), default=None)
    yield Claim("ladder-tma", "the best rung with tensor copies comes close", tma, ">=", 95, "%")
    yield from _steps(rows)
    fastest = min((as_float(row["median_ms"]) or 0 for row in ranked), default=None)
    for id, name, sentence in (
        ("cublas", "cuBLAS geam", "cuBLAS geam out of place"),
        ("padded", "padded_tile", "a padded tile of 32 x 32"),
        ("batched", "tma_batched", "TMA with swizzle and batching"),
    ):
        yield Claim(f"ladder-beats-{id}", f"the last rung beats {sentence}", ratio(rows.time(kernel=name), fastest), ">=", 1.02, "times")


def _steps(rows: Rows) -> Iterator[Claim]:
    """Each rung against the one that it improves."""
    steps = (
        ("global_only", "shared_tile"),
        ("shared_tile", "padded_tile"),
        ("tma_plain", "tma_swizzled"),
        ("tma_swizzled", "tma_batched"),
        ("padded_tile", "micro_tiles"),
        ("tma_batched", "tma_micro_tiles"),
        ("micro_tiles", "column_walk"),
        ("column_walk", "kept_reads"),
        ("tma_micro_tiles", "tma_kept_reads"),
        ("kept_reads", "far_columns"),
    )
    for slow, fast in steps:
        figure = ratio(rows.time(kernel=slow), rows.time(kernel=fast))
        if figure is not None:
            yield Claim(f"ladder-{fast}", f"{fast} is faster than {slow}", figure, ">=", 1.005, "times")


def _ladder_sizes_claims(tables: Tables) -> Iterator[Claim]:
    def rung(extent: str, kind: str = "float32") -> float | None:
        rows = Rows(tables["ladder"].where(extent=extent, type=kind))
        own = {str(row["kernel"]) for row in rows.rows if row["kernel"] == row.get("ran")}
        return max(some(*(rows.share(kernel=name) for name in own if not name.startswith(("copy", "cuBLAS")))), default=None)

    yield Claim("ladder-8192", f"the best rung at {MIDDLE}", rung(MIDDLE), ">=", 93, "%")
    yield Claim("ladder-1000", "the best rung at 1000 x 3000, whose rows are multiples of 16 bytes", rung("1000 x 3000"), ">=", 85, "%")
    yield Claim("ladder-bf16", f"the best rung at {LARGE} bfloat16", rung(LARGE, "bfloat16"), ">=", 95, "%")


def _any_table(tables: Tables) -> Table:
    kernels = ("padded_tile", "cuBLAS geam", DOWN, ALONG, ANY)
    table = Table("Matrices whose rows begin anywhere: share of the copy in per cent", {"extent": "matrix"} | {k: k for k in kernels} | {"ran": f"what {ANY} ran"})
    for extent in dict.fromkeys(str(row["extent"]) for row in tables["any"].rows):
        rows = tables["any"].where(extent=extent)
        ceiling = copy_rate(rows)
        by_kernel = {str(row["kernel"]): row for row in rows}
        shares: dict[str, Value] = {k: share_of(by_kernel[k], ceiling) if k in by_kernel else None for k in kernels}
        table.rows.append({"extent": extent, **shares, "ran": by_kernel.get(ANY, {}).get("ran")})
    return table


def _any_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["any"].rows)
    for id, extent, short, long in (("tall", "65537 x 1023", ALONG, DOWN), ("wide", "1023 x 65537", DOWN, ALONG)):
        figure = ratio(rows.time(extent=extent, kernel=long), rows.time(extent=extent, kernel=short))
        yield Claim(f"any-{id}", f"{extent}: blocks that walk along the short side are faster than along the long one", figure, ">=", 1.1, "times")
    shares = {str(row["extent"]): row for row in _any_table(tables).rows}
    sides = {extent: sorted(map(int, extent.split(" x "))) for extent in shares}
    larger = [number(row[ANY]) for row in shares.values() if row["ran"] == "leaning_tiles"]
    yield Claim("any-least", f"{ANY}, the least share of all shapes that it gives to leaning tiles", min(larger, default=None), ">=", 90, "%")
    few = {extent: number(row[ANY]) for extent, row in shares.items() if row["ran"] != "leaning_tiles"}
    shorter = [share for extent, share in few.items() if sides[extent][1] <= LONG]
    yield Claim("any-few", f"{ANY}, the least share of all others whose long side has at most {LONG} elements", min(shorter, default=None), ">=", 90, "%")
    longer = [share for extent, share in few.items() if sides[extent][1] > LONG]
    yield Claim("any-long", f"{ANY}, the least share of all others that are longer", min(longer, default=None), ">=", 90, "%")
    odd = [extent for extent in shares if all(side % 2 or side == 2 for side in sides[extent])]
    times = [ratio(rows.time(extent=extent, kernel="padded_tile"), rows.time(extent=extent, kernel=ANY)) for extent in odd]
    yield Claim("any-faster", f"{ANY} against padded_tile, the least of all shapes with odd sides, or two rows or columns", min(some(*times), default=None), ">=", 1.05, "times")


def _widths_claims(tables: Tables) -> Iterator[Claim]:
    rows = tables["widths"].rows
    widths = sum(number(row["widths"]) for row in rows)
    reached = 100 * (1 - sum(number(row["below"]) for row in rows) / widths) if widths else None
    yield Claim("widths-reached", f"{ANY}, every width from 2 to 340, few rows and few columns: how many reach 90 % of the copy", reached, ">=", 96, "%")
    least = min((number(row["least"]) for row in rows), default=None)
    yield Claim("widths-least", f"{ANY}, every width from 2 to 340: the least share of the copy", least, ">=", 78, "%")
    rates = [number(row["least"]) for row in rows if row["few"] == "rows" and number(row["to"]) <= 192]
    yield Claim("widths-rows", f"{ANY}, 2 to 192 rows: the least share of the copy", min(rates, default=None), ">=", 88, "%")


def _crowding_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["crowding"].rows)

    def slower(kernel: str, blocks: int, than: str, of: int) -> float | None:
        return ratio(rows.time(kernel=kernel, blocks_per_sm=blocks), rows.time(kernel=than, blocks_per_sm=of))

    shared, swizzled, batched = "shared_tile", "tma_swizzled", "tma_batched"
    yield Claim("crowding-shared", "two blocks on an SM: tma_plain is hardly slower than shared_tile", slower("tma_plain", 2, shared, 2), "<=", 1.3, "times")
    yield Claim("crowding-batched", "two blocks on an SM: tma_swizzled is hardly slower than tma_batched", slower(swizzled, 2, batched, 2), "<=", 1.3, "times")
    yield Claim("crowding-more", "tma_batched with sixteen blocks on an SM is faster than with two", slower(batched, 2, batched, 16), ">=", 1.8, "times")


def _staying_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["staying"].where(extent="32768 x 32768"))
    nth, next_one = "every n-th", "the next one, by a counter"
    met, roles = rows.time(kernel="tma_persistent"), rows.time(kernel="tma_roles", loaded=3, tiles=nth, reads="")
    yield Claim("staying-roles", "a ring without barriers of the block is no faster than tma_persistent", ratio(met, roles), "<=", 1.02, "times")
    for kernel, stages in (("tma_roles", 4), ("tma_roles_direct", 12)):
        figure = ratio(*(rows.time(kernel=kernel, loaded=stages, tiles=tiles) for tiles in (nth, next_one)))
        yield Claim(f"staying-{kernel}", f"{kernel}, {stages} stages: faster if blocks claim the next tile", figure, ">=", 1.03, "times")
    best = ratio(rows.time(kernel="kept_reads"), rows.time(tiles=next_one))
    yield Claim("staying-best", "the best ring that claims its tiles comes to the last rung", best, ">=", 0.96, "times")


def _columns_claims(tables: Tables) -> Iterator[Claim]:
    near, far = "far_columns, neighbours", "far_columns, far apart"

    def faster(extent: str, slow: str, fast: str) -> float | None:
        rows = Rows(tables["column_order"].where(extent=extent))
        return min(some(*(ratio(rows.time(kernel=slow, turn=t), rows.time(kernel=fast, turn=t)) for t in (1, 2))), default=None)

    yield Claim("columns-large", "columns of tiles that are far apart help where one fills the GPU", faster(LARGE, near, far), ">=", 1.005, "times")
    yield Claim("columns-pitch", "and hardly where the pitch is no power of two", faster("32768 x 33024", near, far), "<=", 1.005, "times")
    yield Claim("columns-small", "and cost where several are under way", faster(MIDDLE, near, far), "<=", 0.99, "times")
    yield Claim("columns-whole", "whole tiles that ask nothing gain little: far_columns with neighbours against kept_reads", faster(MIDDLE, "kept_reads", near), "<=", 1.01, "times")


def _padded_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["padded_variants"].rows)

    def share(threads: int, work: str = "as padded_tile", walk: str = "along rows") -> float | None:
        return rows.figure("share", kernel="the loops unrolled", threads=threads, work=work, walk=walk)

    def points(more: float | None, less: float | None) -> float | None:
        return None if more is None or less is None else more - less

    own = rows.figure("share", kernel="padded_tile")
    yield Claim("padded-loops", "padded_tile with its loops unrolled, and nothing else changed", points(share(256), own), ">=", 3, "points")
    yield Claim("padded-silence", "64 KiB asked for on an SM in place of 32, by as many threads", points(share(128), share(256)), ">=", 3, "points")
    yield Claim("padded-enough", "128 KiB in place of 64", points(share(64), share(128)), "<=", 1, "points")
    yield Claim("padded-work", "less work, with 32 KiB asked for", points(share(256, "less"), share(256)), ">=", 1, "points")
    yield Claim("padded-work-gone", "less work, with 64 KiB asked for", points(share(128, "less"), share(128)), "<=", 0.5, "points")
    yield Claim("padded-order", "blocks that go down columns, with 64 KiB asked for", points(share(128, walk="down columns"), share(128)), ">=", 3, "points")


BENCH = Bench(
    raw=("ladder", "crowding", "padded_variants", "staying", "column_order", "any", "widths"),
    tables={
        "ladder_large": (("ladder",), _ladder_table),
        "ladder_sizes": (("ladder",), _ladder_sizes_table),
        "any_shares": (("any",), _any_table),
        "padded_read": (("padded_variants",), without_spread("padded_variants")),
        "ladder_crowding": (("crowding",), pivot(
            "crowding",
            "Some rungs with fewer blocks on each SM",
            {"kernel": "rung", "threads": "threads of a block"},
            "blocks_per_sm",
            lambda v: heading(f"{v} block{'s' if v != 1 else ''} per SM", "GB/s"),
            "gb_per_s",
        )),
        "staying_shares": (("staying",), pivot(
            "staying",
            "Blocks that stay, and who gets which tile; two rungs for comparison",
            {
                "kernel": "kernel",
                "tiles": "tiles of a block",
                "loaded": "stages of loaded tiles",
                "turned": "stages of turned tiles",
                "reads": "reads",
            },
            "extent",
            lambda v: heading(str(v), "% of the copy"),
            "share",
        )),
        "columns_rates": (("column_order",), pivot(
            "column_order",
            "Columns of tiles beside each other and far apart, by turns",
            {"kernel": "kernel", "turn": "turn"},
            "extent",
            lambda v: heading(str(v), "GB/s"),
            "gb_per_s",
        )),
    },
    claims=(
        (("padded_variants",), _padded_claims),
        (("ladder",), _ladder_claims),
        (("ladder",), _ladder_sizes_claims),
        (("any",), _any_claims),
        (("widths",), _widths_claims),
        (("crowding",), _crowding_claims),
        (("staying",), _staying_claims),
        (("column_order",), _columns_claims),
        (("ladder",), lambda tables: copies_agree("ladder", tables["ladder"].where(extent=LARGE, type="float32"))),
    ),
    then=_count,
    tuner=Tuner("transpose_tuner", trials.compact, trials.derive),
    # The chapter's own program does on the CPU what its bench does on the GPU: minutes for nothing new.
    own_program=False,
)

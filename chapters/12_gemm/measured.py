"""What is made of this chapter's measurements: tables for readers, and what they must show."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cli import bench_run
from cli.bench_chapters import Bench, Tuner
from cli.bench_file import Claim, Row, Table, Tables, heading
from cli.bench_rows import Rows, as_float, ratio
from cli.bench_tables import best, number, pivot, without_spread

from .places import places

LARGE = "8192 x 8192 x 8192"
MIDDLE = "4096 x 4096 x 4096"
SMALL = "2048 x 2048 x 2048"
SHALLOW = "8192 x 8192 x 1024"
TALL = "16384 x 1024 x 4096"
HOT, COOL = "without pauses", "with pauses"

# What Nsight Compute counts for each rung, and the columns that it goes to.
COUNTERS = {
    "sm__pipe_tensor_cycles_active.sum": ("tensor_cycles", "cycles of the tensor cores"),
    "sm__cycles_elapsed.sum": ("cycles", "cycles of the SMs"),
    "sm__inst_issued.sum": ("issued", "instructions"),
    "lts__t_sectors_op_read.sum": ("l2_read_sectors", "sectors read in L2"),
    "lts__t_sectors_op_write.sum": ("l2_write_sectors", "sectors written in L2"),
    "dram__bytes_read.sum": ("dram_read", "read from DRAM (bytes)"),
}
_TENSOR_CORES = 4  # of an SM, whose cycles are added up
_OPERATIONS_OF_A_CYCLE = 132 * 4096  # of bf16, all SMs of an H200

# The rungs whose warps wait at barriers for their operands.
SAMPLED = ("one_stage", "staged", "roles", "wide_tile", "ordered", "staying", "multicast", "stored", "overlapped", "tuned")
PLACES = {
    "kernel": "rung",
    "stage": heading("waiting for a stage", "%"),
    "block": heading("for the block", "%"),
    "products": heading("at the products", "%"),
    "end": heading("at the end of a tile", "%"),
}


def _count(program: Path, env: Mapping[str, str], tables: Tables) -> list[str]:
    """Counts one launch of each rung with Nsight Compute, and samples its warps, if it is there and may do so."""
    table = Table(f"What the hardware counted for one launch of each rung, {LARGE}", {"kernel": "rung"})
    once = [str(program), "--once", "--part", "ladder"]
    failures = bench_run.count(["-k", "regex:_gemm$", *once], env, table, COUNTERS)
    if not table.rows:
        return failures
    for row in table.rows:
        row["kernel"] = str(row["kernel"]).removesuffix("_gemm")
    tables["gemm_counters"] = table
    found, missed = bench_run.sample(["-k", f"regex:^({'|'.join(SAMPLED)})_gemm$", *once], env)
    if found:
        tables["gemm_places"] = sorted_places(found)
    return failures + missed


def sorted_places(found: Mapping[str, Sequence[bench_run.Sampled]]) -> Table:
    """Where the warps that multiply are in each rung."""
    table = Table(f"Where the warps that multiply are, of all samples of them in one launch, {LARGE}", PLACES)
    for name in SAMPLED:
        if shares := places(found.get(f"{name}_gemm", ())):
            table.rows.append({"kernel": name, **shares})
    return table


def _shares(pace: str, words: str):
    return pivot(
        "gemm_ladder",
        f"Share of cuBLAS's speed, {words}",
        {"kernel": "rung"},
        "extent",
        lambda v: heading(str(v), "%"),
        "share",
        pace=pace,
    )


def _large(tables: Tables) -> Table:
    """The ladder at the largest size, with what was counted."""
    headings = {
        "kernel": "rung",
        "cool": heading("with pauses", "TFLOP/s"),
        "hot": heading("without", "TFLOP/s"),
        "busy": heading("tensor cores busy", "%"),
        "issued": heading("instructions", "millions"),
        "dram": heading("read from DRAM", "GB"),
        "l2": heading("read from L2", "GB"),
        "written": heading("written to L2", "GB"),
    }
    table = Table(f"The ladder at {LARGE}", headings)
    rows = tables["gemm_ladder"].where(extent=LARGE)
    counted = {row["kernel"]: row for row in tables["gemm_counters"].rows} if "gemm_counters" in tables else {}
    for name in dict.fromkeys(str(row["kernel"]) for row in rows):
        line: Row = {"kernel": name}
        for pace, column in ((COOL, "cool"), (HOT, "hot")):
            line[column] = Rows(rows).figure("tflops", kernel=name, pace=pace)
        if counts := counted.get(name):
            line |= {
                "busy": 100 * number(counts["tensor_cycles"]) / number(counts["cycles"]) / _TENSOR_CORES,
                "issued": number(counts["issued"]) * 1e-6,
                "dram": number(counts["dram_read"]) * 1e-9,
                "l2": number(counts["l2_read_sectors"]) * 32e-9,
                "written": number(counts["l2_write_sectors"]) * 32e-9,
            }
        table.rows.append(line)
    return table


def _busy(row: Row) -> float | None:
    """The share of an SM's cycles that the tensor cores need at their full rate, in per cent."""
    m, n, k = (float(part) for part in str(row["extent"]).split(" x "))
    cycles = 1000 * number(row.get("cycles"))
    return 100 * 2 * m * n * k / (_OPERATIONS_OF_A_CYCLE * cycles) if cycles else None


def _clocks(tables: Tables) -> Table:
    """What each rung takes in cycles of its own clock."""
    table = Table(
        f"Each rung alone, a thousand times without a pause, {LARGE}: the second half, by the SMs' counters",
        {
            "kernel": "rung",
            "tflops": heading("rate", "TFLOP/s"),
            "sm_mhz": heading("SM clock", "MHz"),
            "cycles": heading("cycles", "thousands"),
            "busy": heading("tensor cores busy", "%"),
            "watts": heading("power", "W"),
            "nvml_mhz": heading("clock by NVML, right after", "MHz"),
        },
    )
    for row in tables["gemm_clocks"].rows:
        table.rows.append({name: row.get(name) for name in table.headings} | {"busy": _busy(row)})
    return table


def _bursts(tables: Tables) -> Table:
    """Rate, clock and cycles within bursts, with pauses and without."""
    headings = {"kernel": "rung"}
    for pace, id in ((COOL, "cool"), (HOT, "hot")):
        headings |= {
            f"{id}_tflops": heading(f"{pace}: rate", "TFLOP/s"),
            f"{id}_mhz": heading("clock", "MHz"),
            f"{id}_cycles": heading("cycles", "thousands"),
            f"{id}_busy": heading("tensor cores busy", "%"),
        }
    table = Table(f"Within bursts, {LARGE}: rate, clock and cycles by the SMs' counters", headings)
    lines: dict[str, Row] = {}
    for row in tables["gemm_burst_clock"].where(extent=LARGE):
        id = "cool" if row["pace"] == COOL else "hot"
        line = lines.setdefault(str(row["kernel"]), {"kernel": row["kernel"]})
        line |= {f"{id}_tflops": row.get("tflops"), f"{id}_mhz": row.get("sm_mhz"), f"{id}_cycles": row.get("cycles"), f"{id}_busy": _busy(row)}
    table.rows = list(lines.values())
    return table


def _band_clock(tables: Tables) -> Table:
    """Rungs 9 and 10, both with 8 and with 16 rows of tiles in a band."""
    columns = {"extent": "m x n x k", "kernel": "rung", "rows": "rows of tiles in a band", "tflops": heading("rate", "TFLOP/s"), "cycles": heading("cycles", "thousands"), "sm_mhz": heading("clock", "MHz")}
    table = Table("Multicast and the height of a band, one at a time, with pauses", columns)
    table.rows = [{name: row.get(name) for name in columns} for row in tables["gemm_band_clock"].rows]
    return table


def _band_clock_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_band_clock"].where(extent=LARGE))

    def rate(kernel: str, high: int) -> float | None:
        return ratio(rows.figure("tflops", kernel=kernel, rows=high), rows.figure("tflops", kernel="staying", rows=8))

    yield Claim("gemm-band-alone", "rung 9 with bands of 16 rows of tiles against itself with 8", rate("staying", 16), "<=", 1.01, "times")
    yield Claim("gemm-multicast-alone", "rung 10 with bands of 8 rows of tiles against rung 9", rate("multicast", 8), "<=", 1.01, "times")
    yield Claim("gemm-band-and-multicast", "rung 10, with both, against rung 9", rate("multicast", 16), ">=", 1.015, "times")


def _course(tables: Tables) -> Table:
    """The clock from launch to launch of a burst."""
    shown = (1, 2, 4, 8, 12, 16, 20, 24)
    table = Table(
        f"Bursts after a pause of 40 ms, {LARGE}: the clock of some of their launches",
        {"kernel": "rung"} | {str(launch): heading(f"launch {launch}", "MHz") for launch in shown},
    )
    lines: dict[str, Row] = {}
    for row in tables["gemm_burst_course"].rows:
        line = lines.setdefault(str(row["kernel"]), {"kernel": row["kernel"]})
        if row["launch"] in shown:
            line[str(row["launch"])] = row.get("sm_mhz")
    table.rows = list(lines.values())
    return table


def _conditions(tables: Tables) -> Table:
    """Clock and power at the end of each series of turns."""
    table = Table(
        "Clock and power right after the last burst of each size",
        {"extent": "m x n x k", "pace": "bursts", "sm_mhz": heading("SM clock", "MHz"), "watts": heading("power", "W")},
    )
    for row in tables["gemm_ladder"].rows:
        line = {name: row.get(name) for name in table.headings}
        if row["kernel"] == "cuBLAS" and line not in table.rows:
            table.rows.append(line)
    return table


def _ladder_claims(tables: Tables) -> Iterator[Claim]:
    def share(extent: str, pace: str = COOL, kernel: str = "overlapped") -> float | None:
        return Rows(tables["gemm_ladder"].where(extent=extent, pace=pace)).figure("share", kernel=kernel)

    for id, extent, bound in (("large", LARGE, 102), ("middle", MIDDLE, 100), ("small", SMALL, 95), ("shallow", SHALLOW, 95), ("tall", TALL, 95)):
        yield Claim(f"gemm-{id}", f"overlapped at {extent}, with pauses, against cuBLAS", share(extent), ">=", bound, "%")
    for id, extent, bound in (("large", LARGE, 102), ("middle", MIDDLE, 100), ("small", SMALL, 95), ("shallow", SHALLOW, 95), ("tall", TALL, 95)):
        yield Claim(f"gemm-hot-{id}", f"tuned at {extent}, without pauses, against cuBLAS", share(extent, HOT, "tuned"), ">=", bound, "%")
    rows = Rows(tables["gemm_ladder"].where(extent=LARGE))

    def faster(slow: str, fast: str, extent: str = LARGE) -> float | None:
        here = Rows(tables["gemm_ladder"].where(extent=extent, pace=COOL))
        return ratio(here.time(kernel=slow), here.time(kernel=fast))

    naive = ratio(rows.time(kernel="naive"), rows.time(kernel="shared_tile"))
    yield Claim("gemm-shared", "shared_tile against naive", naive, ">=", 10, "times")
    tensor = ratio(rows.time(kernel="shared_tile"), rows.time(kernel="warp_products", pace=HOT))
    yield Claim("gemm-tensor", "warp_products against shared_tile", tensor, ">=", 5, "times")
    for slow, fast, bound in (
        ("warp_products", "one_stage", 1.5),
        ("roles", "wide_tile", 1.1),
        ("wide_tile", "ordered", 1.04),
        ("staying", "multicast", 1.01),
        ("multicast", "stored", 1.02),
    ):
        yield Claim(f"gemm-{fast}", f"{fast} is faster than {slow} at {LARGE}", faster(slow, fast), ">=", bound, "times")
    yield Claim("gemm-staying", f"staying is faster than ordered at {SHALLOW}", faster("ordered", "staying", SHALLOW), ">=", 1.02, "times")
    yield Claim("gemm-overlapped", f"overlapped is faster than stored at {SHALLOW}", faster("stored", "overlapped", SHALLOW), ">=", 1.01, "times")


def _bits_claims(tables: Tables) -> Iterator[Claim]:
    rows = tables["gemm_bits"].rows
    tensor = [number(row["different"]) for row in rows if row["kernel"] not in ("naive", "shared_tile")]
    others = [number(row["different"]) for row in rows if row["kernel"] in ("naive", "shared_tile")]
    yield Claim("gemm-bits", "elements of rungs with tensor cores that differ from cuBLAS's, all sizes", sum(tensor), "<=", 0, "elements")
    yield Claim("gemm-other-order", "elements of the two other rungs that differ", min(others, default=None), ">=", 1, "elements")


def _counter_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_counters"].rows)

    def more(column: str, kernel: str, than: str) -> float | None:
        return ratio(rows.figure(column, kernel=kernel), rows.figure(column, kernel=than))

    yield Claim("gemm-half-sectors", "sectors that multicast writes, against stored", more("l2_write_sectors", "multicast", "stored"), ">=", 1.9, "times")
    yield Claim("gemm-band-dram", "bytes that wide_tile reads from DRAM, against ordered", more("dram_read", "wide_tile", "ordered"), ">=", 1.5, "times")
    yield Claim("gemm-cluster-l2", "sectors that staying reads in L2, against multicast", more("l2_read_sectors", "staying", "multicast"), ">=", 1.15, "times")
    busy = ratio(rows.figure("tensor_cycles", kernel="overlapped"), rows.figure("cycles", kernel="overlapped"))
    yield Claim("gemm-busy", "cycles in which the tensor cores are busy in the last rung", None if busy is None else 100 * busy / _TENSOR_CORES, ">=", 92, "%")


def _places_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_places"].rows)

    def share(column: str, kernel: str) -> float | None:
        return rows.figure(column, kernel=kernel)

    def less(column: str, before: str, after: str) -> float | None:
        return ratio(share(column, before), share(column, after))

    yield Claim("gemm-waits-one-stage", "samples of one_stage's warps that wait for their stage", share("stage", "one_stage"), ">=", 50, "%")
    yield Claim("gemm-waits-staged", "samples that wait for a stage: one_stage against staged", less("stage", "one_stage", "staged"), ">=", 2, "times")
    yield Claim("gemm-waits-roles", "samples of the warps of roles that wait for a stage", share("stage", "roles"), ">=", 40, "%")
    yield Claim("gemm-waits-wide", "samples that wait for a stage: roles against wide_tile", less("stage", "roles", "wide_tile"), ">=", 1.5, "times")
    yield Claim("gemm-waits-ordered", "samples that wait for a stage: wide_tile against ordered", less("stage", "wide_tile", "ordered"), ">=", 3, "times")
    yield Claim("gemm-ends-stored", "samples after a tile's last product: multicast against stored", less("end", "multicast", "stored"), ">=", 2.5, "times")


def _clocks_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_clocks"].rows)
    cycles = {str(row["kernel"]): row.get("cycles") for row in _clocks(tables).rows}

    def more(than: str, kernel: str) -> float | None:
        return ratio(rows.figure("sm_mhz", kernel=kernel), rows.figure("sm_mhz", kernel=than))

    watts = [number(row["watts"]) for row in tables["gemm_clocks"].rows if row.get("watts") is not None]
    yield Claim("gemm-power", "power of all rungs and of cuBLAS: the most against the least", max(watts) / min(watts) if watts else None, "<=", 1.02, "times")
    yield Claim("gemm-clock-ordered", "the SM clock of ordered against that of wide_tile", more("wide_tile", "ordered"), ">=", 1.02, "times")
    same = ratio(as_float(cycles.get("ordered")), as_float(cycles.get("wide_tile")))
    yield Claim("gemm-cycles-ordered", "cycles of ordered against those of wide_tile", same, ">=", 0.97, "times")
    yield Claim("gemm-clock-roles", "the SM clock of one_stage against that of roles", more("roles", "one_stage"), ">=", 1.05, "times")
    yield Claim("gemm-clock-staged", "the SM clock of one_stage against that of staged", more("staged", "one_stage"), ">=", 1.05, "times")
    fewer = ratio(as_float(cycles.get("one_stage")), as_float(cycles.get("staged")))
    yield Claim("gemm-cycles-staged", "cycles of one_stage against those of staged", fewer, ">=", 1.08, "times")


def _bursts_claims(tables: Tables) -> Iterator[Claim]:
    cool, hot = (Rows(tables["gemm_burst_clock"].where(extent=LARGE, pace=pace)) for pace in (COOL, HOT))
    busy = {str(row["kernel"]): as_float(row.get("cool_busy")) for row in _bursts(tables).rows}

    def clock(kernel: str, than: str) -> float | None:
        return ratio(cool.figure("sm_mhz", kernel=kernel), cool.figure("sm_mhz", kernel=than))

    def longer(kernel: str) -> float | None:
        return ratio(cool.figure("cycles", kernel=kernel), hot.figure("cycles", kernel=kernel))

    yield Claim("gemm-burst-busy", "with pauses: cycles in which overlapped's tensor cores must be busy", busy.get("overlapped"), ">=", 92, "%")
    slower = ratio(hot.figure("sm_mhz", kernel="overlapped"), cool.figure("sm_mhz", kernel="overlapped"))
    yield Claim("gemm-burst-hot", "the clock of overlapped without pauses against that with them", slower, "<=", 0.9, "times")
    for kernel in ("one_stage", "staged", "roles"):
        yield Claim(f"gemm-burst-waits-{kernel}", f"cycles of {kernel} with pauses, at a higher clock, against those without", longer(kernel), ">=", 1.08, "times")
    for kernel in ("warp_products", "ordered", "overlapped"):
        yield Claim(f"gemm-burst-same-{kernel}", f"cycles of {kernel} with pauses against those without", longer(kernel), "<=", 1.02, "times")
    yield Claim("gemm-burst-ordered", "with pauses: the clock of ordered against that of wide_tile", clock("ordered", "wide_tile"), ">=", 1.03, "times")
    cycles = ratio(cool.figure("cycles", kernel="wide_tile"), cool.figure("cycles", kernel="ordered"))
    yield Claim("gemm-burst-ordered-cycles", "with pauses: cycles of wide_tile against those of ordered", cycles, "<=", 1.04, "times")
    yield Claim("gemm-burst-staged", "with pauses: the clock of one_stage against that of staged", clock("one_stage", "staged"), ">=", 1.05, "times")


def _rung_3_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_rung3"].rows)
    yield Claim("gemm-rung3-copies", "warp_products against itself with each stage filled once", ratio(rows.time(part="all"), rows.time(part="products")), ">=", 1.3, "times")
    yield Claim("gemm-rung3-products", "warp_products with each stage filled once, against cuBLAS", rows.figure("share", part="products"), "<=", 60, "%")


def _stages_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_stages"].rows)
    crowd = ratio(rows.time(kernel="staged", stages=4), rows.time(kernel="staged", stages=3))
    yield Claim("gemm-two-blocks", "a block that waits at barriers: three stages and two blocks on an SM against four and one", crowd, ">=", 1.3, "times")
    alone = ratio(rows.time(kernel="staged", stages=4), rows.time(kernel="roles", stages=4))
    yield Claim("gemm-roles-alone", "one block on an SM, four stages: roles against barriers of the block", alone, ">=", 1.25, "times")
    equal = ratio(rows.time(kernel="staged", stages=3), rows.time(kernel="roles", stages=3))
    yield Claim("gemm-roles-two", "two blocks on an SM, three stages: roles are no faster", equal, "<=", 1.05, "times")


def _bands_claims(tables: Tables) -> Iterator[Claim]:
    for id, extent in (("large", LARGE), ("middle", MIDDLE), ("tall", TALL)):
        rows = Rows(tables["gemm_bands"].where(extent=extent, kernel="128x256, clusters of 2"))
        times = [time for band in (1, 2, 4, 8, 16, 64) if (time := rows.time(band=band)) is not None]
        apart = max(times) / min(times) if times else None
        yield Claim(f"gemm-bands-{id}", f"clusters of two at {extent}, without pauses: the slowest band against the fastest", apart, "<=", 1.03, "times")


def _halves_claims(tables: Tables) -> Iterator[Claim]:
    alone, clustered = "128x256 alone", "128x256, clusters of 2"
    for id, extent in (("large", LARGE), ("middle", MIDDLE)):
        rows = Rows(tables["gemm_halves"].where(extent=extent))
        loads = ratio(rows.time(kernel=alone, part="loads"), rows.time(kernel=clustered, part="loads"))
        yield Claim(f"gemm-loads-{id}", f"loads alone at {extent}: clusters of two against none", loads, ">=", 1.2, "times")
        bound = ratio(rows.time(kernel=clustered, part="all"), rows.time(kernel=clustered, part="products"))
        yield Claim(f"gemm-products-{id}", f"clusters of two at {extent}: everything against products alone", bound, "<=", 1.06, "times")
    rows = Rows(tables["gemm_halves"].where(extent=LARGE))
    loads = ratio(rows.time(kernel=alone, part="loads"), rows.time(kernel=alone, part="products"))
    yield Claim("gemm-loads-alone", f"no cluster at {LARGE}: loads alone take as long as products alone", loads, ">=", 1.0, "times")


def _data_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_data"].rows)
    normal, zeros, ones = "normal random numbers", "zeros", "ones"
    for kernel, id in (("overlapped", "ours"), ("cuBLAS", "cublas")):
        flattered = ratio(rows.time(kernel=kernel, fill=normal), rows.time(kernel=kernel, fill=zeros))
        yield Claim(f"gemm-zeros-{id}", f"{kernel}: random numbers against zeros", flattered, ">=", 1.1, "times")
    watts = ratio(rows.figure("watts", kernel="overlapped", fill=normal), rows.figure("watts", kernel="overlapped", fill=zeros))
    yield Claim("gemm-zeros-power", "power with random numbers against zeros", watts, ">=", 1.3, "times")


def _eight_bits_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["gemm_eight_bits"].where(extent=LARGE))
    yield Claim("gemm-eight-bits", f"operands of 8 bits at {LARGE} against cuBLASLt's fastest proposal", rows.figure("share", kernel="eight_bits"), ">=", 95, "%")


def _compact(trials: Tables) -> Tables:
    return trials


def _derive(trials: Tables) -> Tables:
    """The fastest of the finalists of each size, and the best with each tile."""
    source = trials["gemm_tuner"]
    kept = ("extent", "rows", "columns", "stages", "down", "across", "panels", "band", "median_ms", "tflops", "share")
    headings = {name: source.headings[name] for name in kept if name in source.headings}
    winners = Table("The fastest that the tuner found for each size", headings)
    winners.rows = [{n: row.get(n) for n in kept} for row in best(source.where(phase="finalists"), "extent")]
    tiles = Table("The best with each tile, at each size", {"tile": "tile"})
    lines: dict[str, Row] = {}
    for row in best(source.where(phase="all"), "extent", "rows", "columns"):
        extent = str(row["extent"])
        tiles.headings[extent] = heading(extent, "% of cuBLAS")
        line = lines.setdefault(f"{row['rows']} x {row['columns']}", {})
        line[extent] = row.get("share")
    tiles.rows = [{"tile": tile, **line} for tile, line in lines.items()]
    return {"gemm_tuner_best": winners, "gemm_tuner_tiles": tiles}


BENCH = Bench(
    raw=("gemm_ladder", "gemm_bits", "gemm_counters", "gemm_places", "gemm_stages", "gemm_halves", "gemm_bands", "gemm_data", "gemm_clocks", "gemm_eight_bits", "gemm_burst_clock", "gemm_burst_course", "gemm_rung3", "gemm_band_clock"),
    tables={
        "gemm_cool": (("gemm_ladder",), _shares(COOL, "with pauses between bursts")),
        "gemm_hot": (("gemm_ladder",), _shares(HOT, "without pauses")),
        "gemm_large": (("gemm_ladder",), _large),
        "gemm_conditions": (("gemm_ladder",), _conditions),
        "gemm_stages_read": (("gemm_stages",), without_spread("gemm_stages")),
        "gemm_halves_read": (("gemm_halves",), pivot(
            "gemm_halves",
            "Rung 12, whole and with one half left out, without pauses",
            {"kernel": "tile and cluster", "part": "what is done"},
            "extent",
            lambda v: heading(str(v), "TFLOP/s"),
            "tflops",
        )),
        "gemm_bands_read": (("gemm_bands",), pivot(
            "gemm_bands",
            "Rows of tiles of a whole cluster in a band, without pauses",
            {"kernel": "tile and cluster", "band": "rows of a band"},
            "extent",
            lambda v: heading(str(v), "% of cuBLAS"),
            "share",
        )),
        "gemm_data_read": (("gemm_data",), without_spread("gemm_data")),
        "gemm_clocks_read": (("gemm_clocks",), _clocks),
        "gemm_bursts_read": (("gemm_burst_clock",), _bursts),
        "gemm_band_clock_read": (("gemm_band_clock",), _band_clock),
        "gemm_course_read": (("gemm_burst_course",), _course),
        "gemm_rung3_read": (("gemm_rung3",), without_spread("gemm_rung3")),
        "gemm_eight_bits_read": (("gemm_eight_bits",), without_spread("gemm_eight_bits")),
    },
    claims=(
        (("gemm_ladder",), _ladder_claims),
        (("gemm_bits",), _bits_claims),
        (("gemm_counters",), _counter_claims),
        (("gemm_places",), _places_claims),
        (("gemm_clocks",), _clocks_claims),
        (("gemm_burst_clock",), _bursts_claims),
        (("gemm_band_clock",), _band_clock_claims),
        (("gemm_rung3",), _rung_3_claims),
        (("gemm_stages",), _stages_claims),
        (("gemm_halves",), _halves_claims),
        (("gemm_bands",), _bands_claims),
        (("gemm_data",), _data_claims),
        (("gemm_eight_bits",), _eight_bits_claims),
    ),
    then=_count,
    tuner=Tuner("gemm_tuner", _compact, _derive, "gemm_tuner"),
    # The bench measures every rung against cuBLAS; the chapter's own program would do so again, without it.
    own_program=False,
)

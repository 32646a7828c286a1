"""What this chapter's measurements must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Row, Table, Tables, heading
from cli.bench_rows import Rows, as_float, ratio, some
from cli.bench_tables import number, pivot

_STEPS = 4  # wgmma in a round: 64 of K
_READ_AT_ONCE = 128  # bytes of shared memory in a cycle


def _rate_claims(tables: Tables) -> Iterator[Claim]:
    rows = Rows(tables["issue_rate"].rows)
    usual = {"type": "bf16", "n": 256, "a": "shared memory", "b": "along k", "mode": "128 bytes", "warps_per_sm": 4}

    def rate(**other: object) -> float | None:
        return rows.figure("tflops", **({"instruction": "wgmma", "data": "random"} | usual | other))

    best = rate()
    ancestor = rows.figure("tflops", instruction="mma.sync", warps_per_sm=16)
    yield Claim("wgmma-mma", "wgmma makes more products a second than mma.sync", ratio(best, ancestor), ">=", 1.2, "times")
    yield Claim("wgmma-narrow", "N = 8 makes a fraction of what N = 256 does", ratio(best, rate(n=8)), ">=", 2, "times")
    for mode in ("none", "32 bytes", "64 bytes"):
        share = ratio(rate(mode=mode), best)
        yield Claim(f"wgmma-mode-{mode.split()[0]}", f"the layout makes no difference to wgmma: {mode}", share, ">=", 0.95, "times")
    yield Claim("wgmma-across", "B across k is nearly as fast", ratio(rate(b="across k"), best), ">=", 0.95, "times")
    yield Claim("wgmma-e4m3", "e4m3 makes more products than bf16", ratio(rate(type="e4m3"), best), ">=", 1.6, "times")
    yield Claim("wgmma-tf32", "tf32 makes half as many", ratio(best, rate(type="tf32")), ">=", 1.8, "times")


def _cycle_claims(tables: Tables) -> Iterator[Claim]:
    """What one wgmma costs is a sum that readers can do: the longer of its products and of reading A and B."""
    rows = [row for row in tables["issue_rate"].where(instruction="wgmma") if row.get("cycles") is not None]
    one = [row for row in rows if row["warps_per_sm"] == 4]

    def off(row: Row, predicted: float) -> float:
        return 100 * abs(number(row["cycles"]) / (_STEPS * predicted) - 1)

    def products(row: Row) -> float:
        return number(row["n"]) / 2

    def reading(row: Row) -> float:
        return (64 + number(row["n"])) * 32 / _READ_AT_ONCE

    shared = [off(row, max(products(row), reading(row))) for row in one if row["a"] == "shared memory"]
    registers = [off(row, products(row)) for row in one if row["a"] == "registers" and number(row["n"]) >= 32]
    narrow = [number(row["cycles"]) / _STEPS for row in one if row["a"] == "registers" and number(row["n"]) < 32]
    groups = [
        100 * abs(number(row["cycles"]) / (2 * number(first["cycles"])) - 1)
        for row in rows
        if row["warps_per_sm"] == 8
        for first in one
        if all(row[name] == first[name] for name in ("type", "n", "a", "b", "mode", "data"))
    ]
    yield Claim("wgmma-cycles", "a wgmma takes as long as its products, or as reading A and B", max(shared, default=None), "<=", 1, "% off")
    yield Claim("wgmma-cycles-registers", "with A in registers and N from 32 on as long as its products", max(registers, default=None), "<=", 1, "% off")
    yield Claim("wgmma-cycles-floor", "with A in registers and N = 8 or 16 longer than its products", min(narrow, default=None), ">=", 12, "cycles")
    yield Claim("wgmma-cycles-groups", "two warpgroups take twice the cycles of one", max(groups, default=None), "<=", 1, "% off")
    mma = [16 * 64 * 64 * number(row["warps_per_sm"]) / number(row["cycles"]) for row in tables["issue_rate"].where(instruction="mma.sync") if row.get("cycles")]
    yield Claim("wgmma-mma-cycles", "products of a cycle by mma.sync, of those by wgmma", ratio(max(mma, default=None), 2048), "<=", 0.6, "times")
    waited = {number(row["n"]): as_float(row.get("cycles")) for row in tables["wgmma_latency"].rows}
    lost = [found / (_STEPS * n / 2) for n in (64, 256) for found in some(waited.get(n))]
    yield Claim("wgmma-waited", "groups that are waited for one by one take longer than their products", min(lost, default=None), ">=", 1.05, "times")


def _turns_claims(tables: Tables) -> Iterator[Claim]:
    """Copies that write what the products read do not take turns with these reads: chapter 12's tile of 192 x 128 leaves no time for that."""
    rows_of_a, n = 192, 128  # of the tile that `tuned` takes for this extent: three warpgroups, 64 rows each
    reading = (64 + n) * 32 / _READ_AT_ONCE
    writing = (rows_of_a + n) * 32 / _READ_AT_ONCE / (rows_of_a / 64)
    in_turn = 100 * (n / 2) / (reading + writing)
    extent = 8192
    products = extent**3 / (64 * n * 16) / 132
    usual = {"kernel": "tuned", "extent": f"{extent} x {extent} x {extent}"}
    rows = [row for name in ("gemm_burst_clock", "gemm_clocks") for row in tables[name].where(**usual)]
    busy = [100 * products * (n / 2) / (1000 * number(row["cycles"])) for row in rows if row.get("cycles") is not None]
    sentence = f"tensor cores busy in chapter 12's tuned: more than the {in_turn:.0f} % that turns of copies and products would allow"
    yield Claim("wgmma-no-turns", sentence, min(busy, default=None), ">=", 90, "%")


def _cycles_table(tables: Tables) -> Table:
    """Cycles of one wgmma, one warpgroup on each SM, by N."""
    rows = [
        row
        for row in tables["issue_rate"].where(instruction="wgmma", type="bf16", b="along k", mode="128 bytes", data="random", warps_per_sm=4)
        if row.get("cycles") is not None
    ]
    columns = sorted({int(number(row["n"])) for row in rows})
    table = Table("Cycles of an SM for one wgmma, 64 x N x 16 of bf16", {"a": "A", **{str(n): f"N = {n}" for n in columns}})
    lines: dict[str, Row] = {}
    for row in rows:
        line = lines.setdefault(str(row["a"]), {"a": row["a"]})
        line[str(int(number(row["n"])))] = number(row["cycles"]) / _STEPS
    table.rows = list(lines.values())
    return table


def _others_table(tables: Tables) -> Table:
    """Everything with N = 256 and one warpgroup on an SM: what differs is one thing each."""
    headings = {
        "type": "elements",
        "a": "A",
        "b": "B",
        "mode": "swizzle",
        "data": "data",
        "cycles": "four wgmma (cycles of the SM)",
        "tflops": heading("rate", "TFLOP/s"),
    }
    table = Table("64 x 256 products of one warpgroup on each SM", headings)
    rows = tables["issue_rate"].where(instruction="wgmma", n=256, warps_per_sm=4)
    table.rows = [{name: row.get(name) for name in headings} for row in rows]
    return table


BENCH = Bench(
    raw=("issue_rate",),
    tables={
        "wgmma_rates": (("issue_rate",), pivot(
            "issue_rate",
            "Multiplications and additions of bf16 per second, nothing loaded",
            {"instruction": "instruction", "a": "A", "warps_per_sm": "warps on an SM"},
            "n",
            lambda v: heading(f"N = {v}", "TFLOP/s"),
            "tflops",
            type="bf16",
            data="random",
            b="along k",
            mode="128 bytes",
        )),
        "mma_rates": (("issue_rate",), pivot(
            "issue_rate",
            "The same by mma.sync",
            {"instruction": "instruction", "n": "N"},
            "warps_per_sm",
            lambda v: heading(f"{v} warps on an SM", "TFLOP/s"),
            "tflops",
            instruction="mma.sync",
        )),
        "wgmma_rates_others": (("issue_rate",), _others_table),
        "wgmma_cycles": (("issue_rate",), _cycles_table),
    },
    claims=((("issue_rate",), _rate_claims), (("issue_rate", "wgmma_latency"), _cycle_claims), (("gemm_burst_clock", "gemm_clocks"), _turns_claims)),
)

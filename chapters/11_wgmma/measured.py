"""What this chapter's measurements must show."""

from collections.abc import Iterator

from cli.bench_chapters import Bench
from cli.bench_file import Claim, Table, Tables, heading
from cli.bench_rows import Rows, ratio
from cli.bench_tables import pivot


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


def _others_table(tables: Tables) -> Table:
    """Everything with N = 256 and one warpgroup on an SM: what differs is one thing each."""
    headings = {"type": "elements", "a": "A", "b": "B", "mode": "swizzle", "data": "data", "tflops": heading("rate", "TFLOP/s")}
    table = Table("64 x 256 products of one warpgroup on each SM", headings)
    rows = tables["issue_rate"].where(instruction="wgmma", n=256, warps_per_sm=4)
    table.rows = [{name: row.get(name) for name in headings} for row in rows]
    return table


BENCH = Bench(
    raw=("issue_rate",),
    tables={
        "wgmma_rates": (("issue_rate",), pivot(
            "issue_rate",
            "Products of bf16 per second, nothing loaded",
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
    },
    claims=((("issue_rate",), _rate_claims),),
)

"""The claims that every measurement has to pass, whatever it measures: its copies agree, and so do two runs.

What a chapter's measurements must show stands in its `measured.py`.
"""

from collections.abc import Iterable, Iterator

from .bench_file import Claim, Row, Tables
from .bench_rows import as_float

COPIES_AGREE = 2.0  # per cent between the copies before and after


def copies_agree(name: str, rows: Iterable[Row], column: str = "kernel") -> Iterator[Claim]:
    """Copies before and after agree, or the GPU was not the same at the end of the table `name` as at its beginning."""
    times = [as_float(row.get("median_ms")) for row in rows if row.get(column) in ("copy before", "copy after")]
    if len(times) == 2 and times[0] and times[1]:
        apart = 100 * abs(times[0] - times[1]) / min(times[0], times[1])
        yield Claim(f"copies-{name}", f"{name}: the copies before and after agree", apart, "<=", COPIES_AGREE, "%")


def runs_agree(tables: Tables) -> Iterator[Claim]:
    """Nearly all times of two runs agree; bench_tables.agreement() makes the table."""
    rows = tables["agreement"].rows
    times, within = (sum(as_float(row[name]) or 0 for row in rows) for name in ("times", "within"))
    yield Claim("runs-agree", "two runs agree within 2 %", 100 * within / times if times else None, ">=", 98, "% of the times")

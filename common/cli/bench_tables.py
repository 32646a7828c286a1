"""What chapters make tables for readers with: the best of many, shares of the copy, things side by side."""

from collections.abc import Callable, Collection, Iterable

from .bench_file import Row, Table, Tables, Value, heading

TIMES = {"median_ms": heading("time", "ms"), "gb_per_s": heading("rate", "GB/s"), "share": heading("of the copy", "%")}


def best(rows: Iterable[Row], *by: str, least: str = "median_ms") -> list[Row]:
    """The row with the least time of each combination of `by`, in the order of first sight."""
    found: dict[tuple[Value, ...], Row] = {}
    for row in rows:
        if row.get(least) is None:
            continue
        key = tuple(row.get(name) for name in by)
        if key not in found or number(row[least]) < number(found[key][least]):
            found[key] = row
    return list(found.values())


def agreement(first: Tables, second: Tables, derived: Collection[str]) -> Table:
    """How well the times of two runs agree. Times below 20 microseconds are left out: they are launches more than work,
    and so are the tables that are made of others, `derived`."""
    headings = {"table": "table", "times": "times", "within": "within 2 %", "worst": heading("worst", "%")}
    table = Table("Two runs of the same programs, one after the other", headings)
    for name in first:
        if name not in second or name in derived:
            continue
        apart = [
            100 * abs(number(b["median_ms"]) / number(a["median_ms"]) - 1)
            for a, b in zip(first[name].rows, second[name].rows, strict=False)
            if number(a.get("median_ms")) >= 0.02 and number(b.get("median_ms")) > 0 and _same(a, b)
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
    rates = [number(row.get("gb_per_s")) for row in rows if str(row.get(column)).startswith("copy")]
    return max(rates, default=0.0)


def number(value: Value) -> float:
    """The cell's number; 0 where there is none."""
    return float(value) if isinstance(value, int | float) else 0.0


def share_of(row: Row, ceiling: float) -> float | None:
    """The row's rate in per cent of `ceiling`."""
    return 100 * number(row.get("gb_per_s")) / ceiling if ceiling and row.get("gb_per_s") is not None else None


def grids(source: str, name: str, names: str) -> Callable[[Tables], Table]:
    """Blocks that stay until all is done, against blocks that take a few tiles each and make room."""

    def make(tables: Tables) -> Table:
        rows = [row for row in tables[source].rows if row.get("work") in (None, 1) and not str(row[name]).startswith("copy")]
        ceiling = copy_rate(tables[source].rows, name)
        values = sorted({int(number(row.get("tiles_per_block"))) for row in rows})
        headings = {str(v): f"{v} tile{'s' if v > 1 else ''} per block" if v else "blocks that stay" for v in values}
        table = Table("Share of the copy in per cent: blocks that stay, and blocks that make room", {name: names, **headings})
        lines: dict[str, Row] = {}
        for row in best([{**row, "each": int(number(row.get("tiles_per_block")))} for row in rows], name, "each"):
            line = lines.setdefault(str(row[name]), {name: row[name]})
            line[str(row["each"])] = share_of(row, ceiling)
        table.rows = list(lines.values())
        return table

    return make


def pivot(source: str, title: str, lines: dict[str, str], column: str, words: Callable[[Value], str], value: str, **only: Value) -> Callable[[Tables], Table]:
    """A line for each combination of `lines` (names and their headings), a column for each value of `column`."""

    def make(tables: Tables) -> Table:
        rows = tables[source].where(**only)
        values = list(dict.fromkeys(row.get(column) for row in rows))
        table = Table(title, dict(lines) | {str(v): words(v) for v in values})
        found: dict[tuple[Value, ...], Row] = {}
        for row in rows:
            key = tuple(row.get(name) for name in lines)
            line = found.setdefault(key, {name: row.get(name) for name in lines})
            line[str(row.get(column))] = row.get(value)
        table.rows = list(found.values())
        return table

    return make


def without_spread(source: str) -> Callable[[Tables], Table]:
    """A table without the columns that tell how sure its times are."""

    def make(tables: Tables) -> Table:
        found = tables[source]
        kept = {n: h for n, h in found.headings.items() if n not in ("min_ms", "lower_ms", "upper_ms", "repetitions")}
        return Table(found.title, kept, [{name: row.get(name) for name in kept} for row in found.rows])

    return make

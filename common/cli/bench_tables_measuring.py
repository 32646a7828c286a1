"""Tables for the page 'How to measure', made from the raw ones of chapters 1 and 3."""

from collections.abc import Callable

from .bench_file import Row, Table, Tables, heading

RAW = ("mixes", "pair_mixes", "empty_launch", "copies")


def _launch_floor(tables: Tables) -> Table:
    table = Table(
        "The time between two events around a kernel that does nothing",
        {"blocks": "blocks of 256 threads", "us": heading("median", "µs"), "least": heading("least", "µs")},
    )
    for row in tables["empty_launch"].rows:
        table.rows.append({"blocks": row.get("blocks"), "us": _micro(row, "median_ms"), "least": _micro(row, "min_ms")})
    return table


def _micro(row: Row, name: str) -> float | None:
    time = row.get(name)
    return 1000 * time if isinstance(time, int | float) else None


def _mix_rates(tables: Tables) -> Table:
    headings = {"reads": "arrays read", "writes": "arrays written", "gb_per_s": heading("rate", "GB/s"), "share": heading("of the copy", "%")}
    table = Table("One kernel with more and fewer arrays, 4.3 GB in all", headings)
    table.rows = [{name: row.get(name) for name in headings} for row in tables["mixes"].rows]
    return table


def _pair_rates(tables: Tables) -> Table:
    headings = {"read": "read", "written": "written", "gb_per_s": heading("rate", "GB/s"), "share": heading("of the copy", "%")}
    table = Table("The kernel of two copies, 1 GB in all", headings)
    table.rows = [{name: row.get(name) for name in headings} for row in tables["pair_mixes"].rows]
    return table


def _copy_sizes(tables: Tables) -> Table:
    headings = {"bytes": heading("read and written", "bytes"), "least": heading("slowest place", "GB/s"), "most": heading("fastest place", "GB/s")}
    table = Table("The driver's copy by size, over five places in memory that are written", headings)
    rows = tables["copies"].where(who="driver")
    for size in dict.fromkeys(row.get("bytes") for row in rows):
        rates = [rate for row in rows if row.get("bytes") == size and isinstance(rate := row.get("gb_per_s"), int | float)]
        if rates:
            table.rows.append({"bytes": size, "least": min(rates), "most": max(rates)})
    return table


MAKERS: dict[str, tuple[tuple[str, ...], Callable[[Tables], Table]]] = {
    "launch_floor": (("empty_launch",), _launch_floor),
    "mix_rates": (("mixes",), _mix_rates),
    "pair_rates": (("pair_mixes",), _pair_rates),
    "copy_sizes": (("copies",), _copy_sizes),
}

"""Tables for readers of chapters 8 and 9: the raw ones turned, so that what is compared stands side by side."""

from collections.abc import Callable

from .bench_file import Row, Table, Tables, Value, heading

RAW = ("crowding", "staying", "multicast", "handover", "stream_limits", "histogram_causes")
"""Tables that only the readers' ones are made of."""


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _pivot(source: str, title: str, lines: dict[str, str], column: str, words: Callable[[Value], str], value: str, **only: Value) -> Callable[[Tables], Table]:
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


def _kib(value: Value) -> str:
    return heading(f"{int(_number(value)) // 1024} KiB", "GB/s")


def _handovers(tables: Tables) -> Table:
    """How a stage is handed back: a line for each way, columns for who loads, the batch and the cluster."""
    rows = [row for row in tables["handover"].rows if row["cluster"] in (2, 8)]
    table = Table(
        "How a stage is handed back, and what the stream takes then",
        {"handover": "how a stage is handed back"}
        | {
            f"{row['loads']}/{row['cluster']}/{row['batch']}": heading(
                f"{row['loads']}, {int(_number(row['batch'])) // 1024} KiB, clusters of {row['cluster']}", "ms"
            )
            for row in rows
        },
    )
    lines: dict[str, Row] = {}
    for row in rows:
        line = lines.setdefault(str(row["handover"]), {"handover": row["handover"]})
        line[f"{row['loads']}/{row['cluster']}/{row['batch']}"] = row.get("median_ms")
    table.rows = list(lines.values())
    return table


def _causes_of_histogram(tables: Tables) -> Table:
    names = {
        ("in the block that has the bin", "sloping"): "in the block that has the bin, values slope",
        ("in the block that has the bin", "even"): "in the block that has the bin, values are even",
        ("in the own block", "sloping"): "in the own block",
    }
    table = Table(
        "The histogram: where it counts, and how its values are spread",
        {"cluster": "blocks of the cluster"} | {words: heading(words, "ms") for words in names.values()},
    )
    lines: dict[Value, Row] = {}
    for row in tables["histogram_causes"].rows:
        line = lines.setdefault(row["cluster"], {"cluster": row["cluster"]})
        line[names[(str(row["counts"]), str(row["values"]))]] = row.get("median_ms")
    table.rows = list(lines.values())
    return table


MAKERS: dict[str, tuple[tuple[str, ...], Callable[[Tables], Table]]] = {
    "ladder_crowding": (
        ("crowding",),
        _pivot(
            "crowding",
            "Some rungs with fewer blocks on each SM",
            {"kernel": "rung", "threads": "threads of a block"},
            "blocks_per_sm",
            lambda v: heading(f"{v} block{'s' if v != 1 else ''} per SM", "GB/s"),
            "gb_per_s",
        ),
    ),
    "staying_shares": (
        ("staying",),
        _pivot(
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
        ),
    ),
    "multicast_batches": (
        ("multicast",),
        _pivot(
            "multicast",
            "16 MiB for every block through a ring of 192 KiB: the rate at which all blocks get it, by the size of a batch",
            {"cluster": "blocks of the cluster", "loads": "loads"},
            "batch",
            _kib,
            "gb_per_s",
        ),
    ),
    "multicast_bytes": (
        ("multicast",),
        _pivot(
            "multicast",
            "What is asked of L2, for batches of 16 KiB",
            {"cluster": "blocks of the cluster", "blocks": "blocks", "delivered": heading("delivered to blocks", "bytes")},
            "loads",
            lambda v: heading(f"{v}: asked of L2", "bytes"),
            "l2_bytes",
            batch=16384,
        ),
    ),
    "multicast_handovers": (("handover",), _handovers),
    "multicast_stages": (
        ("stream_limits",),
        _pivot(
            "stream_limits",
            "Clusters of two: the rate by the size of a batch, the number of stages, and how much of a batch is read",
            {"batch": heading("batch", "bytes"), "reads": "read of a batch", "loads": "loads"},
            "stages",
            lambda v: heading(f"{v} stages", "GB/s"),
            "gb_per_s",
        ),
    ),
    "histogram_where": (("histogram_causes",), _causes_of_histogram),
}

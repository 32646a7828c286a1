"""What the tuner tried: a file of its own with every trial, and the few tables that readers want of it."""

from cli.bench_file import Row, Table, Tables, Value, heading
from cli.bench_tables import best

_SETTINGS = {
    "blocks_per_sm": "blocks per SM at most, 0: as many as fit",
    "cluster": "blocks of a cluster",
    "tiles_per_block": "tiles per block, 0: one or all",
    "load_policy": "L2 policy of loads",
    "store_policy": "L2 policy of stores",
    "promotion": "L2 promotion of the tensor map",
}
_RATE = {"gb_per_s": heading("rate", "GB/s"), "share": heading("of the copy", "%")}


def compact(tables: Tables) -> Tables:
    """The trials with numbers for kernels and orders, which have tables of their own."""
    kernels = Table("The kernels", {"kernel": "number", "name": "kernel"}, raw=True)
    orders = Table("The orders of blocks", {"order": "number", "name": "order"}, raw=True)
    made: Tables = {"kernels": kernels, "orders": orders}
    for name, table in tables.items():
        headings = {"phase": "phase", "kernel": "kernel", "order": "order", **_SETTINGS}
        headings |= {"median_ms": heading("time", "ms"), "share": heading("of the copy", "%")}
        short = Table(table.title, headings, raw=True)
        for row in table.rows:
            numbers: Row = {"kernel": _number_of(kernels, "kernel", row["kernel"])}
            if row.get("order") is not None:
                numbers["order"] = _number_of(orders, "order", row["order"])
            short.rows.append({**row, **numbers, "share": _tenths(row.get("share"))})
        made[name] = short
    return made


def derive(tables: Tables) -> Tables:
    """Tables for readers, of those trials that are there."""
    made: Tables = {}
    if "tuner" in tables:
        trials = [row for row in tables["tuner"].rows if row.get("median_ms") is not None and row.get("order")]
        made["tuner_kernels"] = _best_of(trials, "family", "The fastest trial of every family of kernels")
        made["tuner_shapes"] = _best_of(
            [row for row in trials if row["family"] == "registers" and row["access"] == 16],
            "tile",
            "The fastest trial of every tile, with 16-byte accesses",
        )
        made["tuner_orders"] = _best_of(trials, "order", "The fastest trial of every order of blocks")
        made["tuner_access"] = _best_of(trials, "access", "The fastest trial of every width of access")
        made["tuner_policies"] = _policies(trials)
        made["tuner_blocks"] = _blocks(trials)
    for name, table in tables.items():
        if name.startswith("limits_"):
            made[f"transpose_{name}"] = _limits(table)
    if any(name.startswith("set_aside_") for name in tables):
        made["tuner_set_aside"] = _set_aside(tables)
    return made


def _best_of(trials: list[Row], by: str, title: str) -> Table:
    names = {"family": "family", "tile": "tile (rows x columns)", "order": "order", "access": "access (bytes)"}
    headings = {by: names[by], "kernel": "kernel"} | ({} if by == "order" else {"order": "order"})
    table = Table(title, {**headings, **_SETTINGS, **_RATE})
    table.rows = sorted(best(trials, by), key=_speed, reverse=True)
    return table


def _policies(trials: list[Row]) -> Table:
    """Policies of loads against those of stores, for the kernel and blocks that were tried with most of them."""
    rows = [row for row in trials if row.get("load_policy") and row["order"] == "down columns" and row["cluster"] == 1]
    tried: dict[tuple[Value, Value], set[tuple[Value, Value]]] = {}
    for row in rows:
        tried.setdefault((row["kernel"], row["blocks_per_sm"]), set()).add((row["load_policy"], row["store_policy"]))
    most = max((len(pairs) for pairs in tried.values()), default=0)
    group = [row for row in rows if len(tried[(row["kernel"], row["blocks_per_sm"])]) == most]
    fastest = min(group, key=lambda row: -_speed(row), default=None)
    if fastest is None:
        return Table("Policies of loads and stores", {"load_policy": "loads"})
    same = [row for row in rows if all(row[key] == fastest[key] for key in ("kernel", "blocks_per_sm"))]
    stores = list(dict.fromkeys(str(row["store_policy"]) for row in same))
    title = f"Share of the copy in per cent against the L2 policies; {fastest['kernel']}, down columns"
    table = Table(title, {"load_policy": "loads"} | {store: f"stores {store}" for store in stores})
    lines: dict[Value, Row] = {}
    for row in best(same, "load_policy", "store_policy"):
        line = lines.setdefault(row["load_policy"], {"load_policy": row["load_policy"]})
        line[str(row["store_policy"])] = row.get("share")
    table.rows = list(lines.values())
    return table


def _blocks(trials: list[Row]) -> Table:
    """The best of each number of blocks per SM, with and without kept reads."""
    table = Table(
        "Blocks per SM, 64 x 64 tiles, down columns: share of the copy",
        {
            "blocks_per_sm": _SETTINGS["blocks_per_sm"],
            "plain": heading("ordinary loads", "% of the copy"),
            "kept": heading("loads with evict_last", "% of the copy"),
        },
    )
    wanted = [row for row in trials if row["tile"] == "64 x 64" and row["order"] == "down columns" and row["family"] == "registers"]
    lines: dict[Value, Row] = {}
    for row in best(wanted, "blocks_per_sm", "load_policy"):
        column = {None: "plain", "normal": "plain", "evict_last": "kept"}.get(row.get("load_policy"))
        if column is None:
            continue
        line = lines.setdefault(row["blocks_per_sm"], {"blocks_per_sm": row["blocks_per_sm"]})
        line[column] = max(float(line.get(column) or 0), float(row.get("share") or 0))
    table.rows = sorted(lines.values(), key=lambda line: int(line["blocks_per_sm"] or 0))
    return table


def _limits(source: Table) -> Table:
    """Orders against what a transposition consists of. A probe that only reads or writes moves half the bytes."""
    rows = [row for row in source.rows if row.get("order") and row.get("gb_per_s") is not None]
    names = list(dict.fromkeys(str(row["kernel"]) for row in rows))
    table = Table(source.title.split(" (rates")[0], {"order": "order of blocks"} | {n: heading(n, "GB/s") for n in names})
    lines: dict[Value, Row] = {}
    for row in rows:
        line = lines.setdefault(row["order"], {"order": row["order"]})
        line[str(row["kernel"])] = float(row["gb_per_s"] or 0) / (2 if "only" in str(row["kernel"]) else 1)
    table.rows = list(lines.values())
    return table


def _set_aside(tables: Tables) -> Table:
    headings = {"set_aside": "part of L2 set aside", "kernel": "kernel", **_SETTINGS, "gb_per_s": heading("rate", "GB/s")}
    table = Table("A part of L2 set aside for lines that shall stay: rates, not shares, for the copy suffers too", headings)
    for quarter in range(5):
        source = tables.get(f"set_aside_{quarter}")
        for row in best(source.rows, "family", "load_policy") if source else []:
            table.rows.append({**row, "set_aside": f"{quarter}/4 of what can be"})
    return table


def _number_of(table: Table, column: str, name: Value) -> int:
    for row in table.rows:
        if row["name"] == name:
            return int(row[column] or 0)
    table.rows.append({column: len(table.rows), "name": name})
    return len(table.rows) - 1


def _speed(row: Row) -> float:
    return float(row.get("gb_per_s") or 0)


def _tenths(value: Value) -> Value:
    return round(value, 2) if isinstance(value, float) else value

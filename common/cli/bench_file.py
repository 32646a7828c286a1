"""A measurement file: what was measured, on what, and what it claims.

    {"gpu": …, "driver": …, "toolkit": …, "commit": …, "date": …,
     "conditions": [{"when": …, "sm_clock_mhz": …, …}, …],
     "tables": {ID: {"title": …, "columns": [heading, …], "ids": [column, …], "rows": [[value, …], …], "raw": bool}},
     "claims": [{"id": …, "sentence": …, "figure": …, "relation": ">=", "bound": …, "unit": …, "passed": bool}, …],
     "failures": [line, …]}

A heading names its unit in brackets. Raw tables hold every point that was measured; the others are for readers.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .errors import UserError

Value = str | int | float | None
Row = dict[str, Value]


@dataclass
class Table:
    """Rows of named cells; `headings` gives each column's text, in order."""

    title: str
    headings: dict[str, str]
    rows: list[Row] = field(default_factory=list)
    raw: bool = False

    def where(self, **wanted: Value) -> list[Row]:
        """The rows whose cells have these values."""
        return [row for row in self.rows if all(row.get(name) == value for name, value in wanted.items())]

    def as_json(self) -> dict[str, object]:
        return {
            "title": self.title,
            "columns": list(self.headings.values()),
            "ids": list(self.headings),
            "raw": self.raw,
            "rows": [[_short(row.get(name)) for name in self.headings] for row in self.rows],
        }

    @classmethod
    def from_json(cls, data: dict[str, object]) -> "Table":
        ids, columns, rows = data["ids"], data["columns"], data["rows"]
        assert isinstance(ids, list) and isinstance(columns, list) and isinstance(rows, list)
        headings = dict(zip(ids, columns, strict=True))
        filled = [dict(zip(ids, row, strict=True)) for row in rows]
        return cls(str(data["title"]), headings, filled, bool(data.get("raw", False)))


Tables = dict[str, Table]


@dataclass(frozen=True)
class Claim:
    """A sentence that the figure proves or does not: `figure relation bound`."""

    id: str
    sentence: str
    figure: float | None
    relation: str
    bound: float
    unit: str = ""

    @property
    def passed(self) -> bool:
        if self.figure is None:
            return False
        return self.figure >= self.bound if self.relation == ">=" else self.figure <= self.bound

    def as_json(self) -> dict[str, object]:
        figure = None if self.figure is None else _short(self.figure)
        return {
            "id": self.id,
            "sentence": self.sentence,
            "figure": figure,
            "relation": self.relation,
            "bound": self.bound,
            "unit": self.unit,
            "passed": self.passed,
        }

    def __str__(self) -> str:
        figure = "not measured" if self.figure is None else f"{self.figure:.4g}"
        bound = f"{self.relation} {self.bound:g}{' ' + self.unit if self.unit else ''}"
        return f"{'PASS' if self.passed else 'FAIL'}  {self.id}: {self.sentence} ({figure}, wanted {bound})"


@dataclass
class Measurements:
    """All of a file."""

    about: dict[str, str] = field(default_factory=dict)
    conditions: list[Row] = field(default_factory=list)
    tables: Tables = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The file: one row a line, so that two runs can be compared line by line."""
        tables = ",\n".join(f"  {json.dumps(name)}: {_table_text(table)}" for name, table in self.tables.items())
        about = "".join(f" {_dump(key)}: {_dump(value)},\n" for key, value in self.about.items())
        return (
            f"{{\n{about}"
            f' "conditions": {_lines(self.conditions)},\n'
            f' "tables": {{\n{tables}\n }},\n'
            f' "claims": {_lines([claim.as_json() for claim in self.claims])},\n'
            f' "failures": {_lines(self.failures)}\n}}\n'
        )

    def write(self, path: Path) -> None:
        """Writes the file as a whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".new")
        temporary.write_text(self.text(), "utf-8")
        os.replace(temporary, path)


def read(path: Path) -> Measurements:
    """Reads a file, or says in one line what is wrong with it."""
    try:
        data = json.loads(path.read_text("utf-8"))
        known = {"conditions", "tables", "claims", "failures"}
        claims = [
            Claim(c["id"], c["sentence"], c["figure"], c["relation"], c["bound"], c.get("unit", ""))
            for c in data["claims"]
        ]
        if any(claim.relation not in (">=", "<=") for claim in claims):
            raise ValueError("a claim's relation is neither >= nor <=")
        return Measurements(
            {key: str(value) for key, value in data.items() if key not in known},
            data["conditions"],
            {name: Table.from_json(table) for name, table in data["tables"].items()},
            claims,
            data.get("failures", []),
        )
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; `./workbook bench` on a GPU makes it") from None
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise UserError(f"{path} is no measurement file: {error!r}") from None


def collect(lines: Iterable[str], tables: Tables) -> list[str]:
    """Adds what a measuring program wrote, a JSON value a line, to `tables`; returns the failures it noted.

    The last line may be cut off, where the program was ended: it is left out.
    """
    failures = []
    for line in lines:
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if "table" in data:
            headings = {column["id"]: heading(column["heading"], column["unit"]) for column in data["columns"]}
            tables.setdefault(data["table"], Table(data["title"], headings))
        elif "row" in data and data["row"] in tables:
            tables[data["row"]].rows.append(data["cells"])
        elif "failure" in data:
            failures.append(data["failure"])
    return failures


def rounded(tables: Tables) -> Tables:
    """The tables with the digits that a file keeps: what is computed from them can be computed from the file again."""
    return {name: Table.from_json(table.as_json()) for name, table in tables.items()}


def heading(text: str, unit: str) -> str:
    return f"{text} ({unit})" if unit else text


def show_table(name: str, table: Table) -> Iterator[str]:
    """The table as aligned text under its name and title."""
    cells = [[_cell(row.get(column)) for column in table.headings] for row in table.rows]
    texts = list(table.headings.values())
    widths = [max(len(text), *(len(row[i]) for row in cells), 0) for i, text in enumerate(texts)]
    numbers = [
        all(isinstance(row.get(column), int | float | None) for row in table.rows) for column in table.headings
    ]

    def line(values: Sequence[str]) -> str:
        parts = [v.rjust(w) if n else v.ljust(w) for v, w, n in zip(values, widths, numbers, strict=True)]
        return "  ".join(parts).rstrip()

    yield f"{name}: {table.title}"
    yield line(texts)
    yield "  ".join("-" * width for width in widths)
    yield from map(line, cells)


def _cell(value: Value) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1 else f"{value:.2f}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def _short(value: Value) -> Value:
    """Six digits are more than any clock is good for."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(values: Sequence[object]) -> str:
    return "[" + ",".join(f"\n  {_dump(value)}" for value in values) + ("\n ]" if values else "]")


def _table_text(table: Table) -> str:
    data = table.as_json()
    rows = data.pop("rows")
    assert isinstance(rows, list)
    inside = ",".join(f"\n   {_dump(row)}" for row in rows)
    return _dump(data)[:-1] + f', "rows": [{inside}]}}'

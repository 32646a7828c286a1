"""Rows of a measurement file, to be asked for figures: what claims are made of."""

from dataclasses import dataclass

from .bench_file import Row, Value
from .bench_tables import copy_rate


@dataclass(frozen=True)
class Rows:
    """The rows of one table, to be asked for figures; a figure that was not measured is None."""

    rows: list[Row]
    column: str = "kernel"

    def time(self, **wanted: Value) -> float | None:
        """The least time of the rows that have these values."""
        times = [
            float(time)
            for row in self.rows
            if all(row.get(name) == value for name, value in wanted.items())
            and isinstance(time := row.get("median_ms"), int | float)
        ]
        return min(times, default=None)

    def figure(self, name: str, **wanted: Value) -> float | None:
        """The cell `name` of the first row that has these values."""
        for row in self.rows:
            if all(row.get(key) == value for key, value in wanted.items()):
                value = row.get(name)
                return float(value) if isinstance(value, int | float) else None
        return None

    def share(self, **wanted: Value) -> float | None:
        """The best share of the copy, in per cent, of the rows that have these values."""
        ceiling = copy_rate(self.rows, self.column)
        rates = [
            float(rate)
            for row in self.rows
            if all(row.get(name) == value for name, value in wanted.items())
            and isinstance(rate := row.get("gb_per_s"), int | float)
        ]
        return 100 * max(rates) / ceiling if rates and ceiling else None


def ratio(a: float | None, b: float | None) -> float | None:
    """a / b, where both were measured."""
    return a / b if a is not None and b else None


def as_float(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def some(*values: float | None) -> list[float]:
    return [value for value in values if value is not None]

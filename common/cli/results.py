"""What a run of the tests means, counted in test cases: read from Meson's own log."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_SUMMARY = re.compile(r"^\[summary\] (\d+) passed, (\d+) failed, (\d+) skipped\s*$", re.MULTILINE)
_SKIP = re.compile(r"^skip  +(.+)$", re.MULTILINE)
_GOOD = ("OK", "EXPECTEDFAIL")
_TAIL = 30


@dataclass(frozen=True)
class Outcome:
    """One Meson test: its cases, why some were skipped, and what it printed if it failed."""

    name: str
    passed: int
    failed: int
    skipped: int
    reasons: tuple[str, ...] = ()
    output: tuple[str, ...] = ()


@dataclass
class Totals:
    """Sums over many tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.passed += outcome.passed
        self.failed += outcome.failed
        self.skipped += outcome.skipped
        self.outcomes.append(outcome)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read(lines: Iterable[str]) -> Totals:
    """Reads meson-logs/testlog.json: one JSON object a line."""
    totals = Totals()
    for line in lines:
        if line.strip():
            totals.add(outcome(json.loads(line)))
    return totals


def outcome(record: dict[str, object]) -> Outcome:
    """One record of the log. A test that Meson calls failed counts at least one failed case, whatever it printed."""
    name, result = str(record["name"]).split(" / ")[-1], str(record["result"])
    text = f"{record.get('stdout') or ''}\n{record.get('stderr') or ''}"
    summaries = _SUMMARY.findall(text)
    if summaries:
        passed, failed, skipped = (sum(int(s[i]) for s in summaries) for i in range(3))
    elif result == "SKIP":
        passed, failed, skipped = 0, 0, 1
    else:
        passed, failed, skipped = (1, 0, 0) if result in _GOOD else (0, 1, 0)
    bad = result not in (*_GOOD, "SKIP")
    if bad:
        failed = max(failed, 1)
    reasons = tuple(_SKIP.findall(text)) if skipped else ()
    if skipped and not reasons:
        reasons = ("no reason given",)
    said = [line for line in text.splitlines() if line.strip() and not _SUMMARY.match(line)]
    output = (f"{name}: {result}", *said[-_TAIL:]) if bad or failed else ()
    return Outcome(name, passed, failed, skipped, reasons, output)

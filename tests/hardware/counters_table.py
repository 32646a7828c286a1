"""The comparison of counters as Markdown tables, and why some counters cannot be equal."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RESULT = Path("docs/measurements/h200_counters.json")


@dataclass
class Launch:
    kernel: str
    grid: list[int]
    block: list[int]
    values: dict[str, int]


@dataclass(frozen=True)
class Reason:
    """Why a counter (a regular expression) of a kernel (another) differs. `limit` is the greatest share it may."""

    kernel: str
    counter: str
    limit: float
    text: str

    def fits(self, kernel: str, counter: str, share: float) -> bool:
        matches = re.fullmatch(self.counter, counter) and re.search(self.kernel, kernel)
        return bool(matches) and share <= self.limit


REASONS: tuple[Reason, ...] = ()


def short(kernel: str) -> str:
    """The name of a kernel without its parameters: 'void a::b<(int)4>(int*)' is 'a::b<4>'."""
    name = kernel.removeprefix("void ").replace("(anonymous namespace)::", "")
    name = re.sub(r"\((?:[\w: ]+)\)(?=-?\d)", "", name)
    return name.split("(")[0]


def share(hardware: int, emulator: int) -> float:
    return abs(hardware - emulator) / max(hardware, emulator)


def differences(launches: list[dict]) -> Iterator[tuple[str, str, int, int, str]]:
    """Kernel, counter, both values and the reason, for each that is not equal. Without a reason: SystemExit."""
    unexplained = []
    for launch in launches:
        name = short(launch["kernel"])
        for counter, emulator in launch["emulator"].items():
            hardware = launch["hardware"][counter]
            if hardware == emulator:
                continue
            apart = share(hardware, emulator)
            reason = next((r for r in REASONS if r.fits(launch["kernel"], counter, apart)), None)
            if reason is None:
                unexplained.append(f"{name}: {counter}: {hardware} on hardware, {emulator} on the emulator")
            else:
                yield name, counter, hardware, emulator, reason.text
    if unexplained:
        raise SystemExit("counters that differ without a reason:\n" + "\n".join(unexplained))


def summary(launches: list[dict]) -> Iterator[str]:
    yield "| counter | launches compared | equal | within 5 % | further apart |"
    yield "|---|--:|--:|--:|--:|"
    names = dict.fromkeys(name for launch in launches for name in launch["emulator"])
    for name in names:
        pairs = [(row["hardware"][name], row["emulator"][name]) for row in launches if name in row["emulator"]]
        equal = sum(a == b for a, b in pairs)
        near = sum(a != b and share(a, b) <= 0.05 for a, b in pairs)
        yield f"| `{name}` | {len(pairs)} | {equal} | {near} | {len(pairs) - equal - near} |"


def details(launches: list[dict]) -> Iterator[str]:
    yield "| kernel | counter | hardware | emulator | why |"
    yield "|---|---|--:|--:|---|"
    for name, counter, hardware, emulator, why in dict.fromkeys(differences(launches)):
        yield f"| `{name}` | `{counter}` | {hardware} | {emulator} | {why} |"


def markdown(path: Path) -> str:
    launches = json.loads(path.read_text("utf-8"))["launches"]
    return "\n".join([*summary(launches), "", "What differs, and why:", "", *details(launches)]) + "\n"

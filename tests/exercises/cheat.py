"""Makes the cheat of an exercise from its skeleton: cheat.py NAME SKELETON OUTPUT. cheats.toml says what goes into the holes."""

import re
import sys
import tomllib
from pathlib import Path

CHEATS = Path(__file__).with_name("cheats.toml")


def cheats() -> dict[str, dict[str, object]]:
    """Each cheat by the name of its exercise."""
    return {str(cheat["name"]): cheat for cheat in tomllib.loads(CHEATS.read_text("utf-8"))["exercise"]}


def fill(skeleton: str, holes: list[str]) -> str:
    """The skeleton with its holes filled; a hole is a line 'YOUR CODE' and the comments that go on with it."""
    parts = re.split(r"^ *// YOUR CODE:.*\n(?: *//  .*\n)*", skeleton, flags=re.MULTILINE)
    if len(parts) != len(holes) + 1:
        raise SystemExit(f"the skeleton has {len(parts) - 1} holes, and {len(holes)} are filled")
    return parts[0] + "".join(f"{hole}\n{part}" for hole, part in zip(holes, parts[1:], strict=True))


def main(name: str, skeleton: str, output: str) -> None:
    holes = cheats()[name]["holes"]
    assert isinstance(holes, list)
    Path(output).write_text(fill(Path(skeleton).read_text("utf-8"), holes), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

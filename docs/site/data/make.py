#!/usr/bin/env python3
"""Writes the data of the interactive pictures: docs/site/data/NAME.json.

Everything comes from programs of this repository that run on the emulator; rates of rungs come from the measurements. With --check nothing is written, and a file that
is not what its program says is an error. --build names the build directory (default: $WORKBOOK_BUILD or build/).
"""

import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE)]

import cluster_data  # noqa: E402
import first_data  # noqa: E402
import gemm_data  # noqa: E402
import launches  # noqa: E402
import roles_data  # noqa: E402
import tile_data  # noqa: E402
import traces  # noqa: E402
import wgmma_data  # noqa: E402
from running import Failed  # noqa: E402

# The pictures of each chapter have a module, alone or with their neighbours.
MAKERS = first_data.MAKERS | tile_data.MAKERS | cluster_data.MAKERS | roles_data.MAKERS | wgmma_data.MAKERS | gemm_data.MAKERS


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="docs/site/data/make.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is stale")
    parser.add_argument("--build", metavar="DIR", type=Path)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"some of {', '.join(MAKERS)}; default: all")
    options = parser.parse_args(arguments)
    build = (options.build or Path(os.environ.get("WORKBOOK_BUILD") or ROOT / "build")).absolute()
    status = 0
    for name in options.names or MAKERS:
        path = HERE / f"{name}.json"
        try:
            text = MAKERS[name](build)
            json.loads(text)
        except (Failed, launches.NotBuilt, traces.Unexpected, ValueError) as error:
            print(f"data: {name}: {error}", file=sys.stderr)
            status = 1
            continue
        if path.exists() and path.read_text("utf-8") == text:
            continue
        if options.check:
            print(
                f"data: {path.relative_to(ROOT)} is not up to date; docs/site/data/make.py makes it",
                file=sys.stderr,
            )
            status = 1
        else:
            path.write_text(text, "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Prints the names of a manifest's exercises, for Meson."""

import sys
import tomllib
from pathlib import Path

for exercise in tomllib.loads(Path(sys.argv[1]).read_text("utf-8")).get("exercise", []):
    print(exercise["name"])

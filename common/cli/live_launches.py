"""The launches that the site's listings run: each chapter's program recorded with small inputs, and its mutants.

What a page loads is text that a script hands over, because a page from file:// may fetch nothing else: compressed, in base64.
"""

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import backend, build, chapters, live_home, live_mistakes, live_mutants, mutants, temporary
from .backend import Backend
from .chapters import Chapter
from .errors import UserError
from .setup import Tools
from .workspace import Workspace

ELEMENTS = 12_001
"""Of the inputs, so that a launch takes tens of milliseconds in a page, and nothing divides them."""
_ELEMENTS = {"barriers": 2501, "transpose": 40_000, "roles": 40_000, "gemm": 40_000}
"""Of chapters whose launches take long, and of those whose rings do not come round with so few."""
_OTHERS = (100, 8192, 18_001)
"""What a reader may choose instead: few elements, as many as leave no tile cut, and more. Each is a file that is loaded when it is chosen."""
_OTHERS_OF = {"barriers": (100, 2048, 6001), "transpose": (100, 16_384), "roles": (100, 32_768), "gemm": (16_384,)}
_SECONDS = 120
_SCRIPTS = ("live/emulator_worker", "live/emulator", "live/capsules", "live/listings", "viewer/watch", "live/mistakes")


def elements(chapter: Chapter) -> int:
    """How many a recorded launch of the chapter's program gets."""
    return _ELEMENTS.get(chapter.name, ELEMENTS)


def other_elements(chapter: Chapter) -> tuple[int, ...]:
    """The other sizes that its launches are recorded with."""
    return _OTHERS_OF.get(chapter.name, _OTHERS)


def add(workspace: Workspace, tools: Tools, html: Path) -> None:
    """Writes live/NAME.js, live/NAME_size_N.js and live/NAME_mutants.js for each chapter, and has the chapters' pages load what runs them.

    Raises UserError if a program cannot be built or run.
    """
    known = chapters.all_chapters(workspace)
    programs = [str(chapter.program(workspace).relative_to(workspace.build)) for chapter in known]
    programs += live_mistakes.programs(workspace, known)
    build.build(workspace, tools, [*programs, *build.emulator_targets(workspace)])
    kept = workspace.build / "site" / "live"
    add_chapters(workspace, tools, html, known, kept)
    add_mistakes(workspace, html, known)


def add_chapters(workspace: Workspace, tools: Tools, html: Path, known: list[Chapter], kept: Path) -> None:
    """The same for these chapters, whose programs are built. What was made is in `kept` and is made anew when it must be."""
    kept.mkdir(parents=True, exist_ok=True)
    for chapter in known:
        place = kept / f"{chapter.name}-{_stamp(workspace, chapter)}"
        if not place.exists():
            for old in kept.glob(f"{chapter.name}-*"):
                shutil.rmtree(old)
            with temporary.directory("live") as directory:
                made = directory / "made"
                made.mkdir()
                write(made / f"{chapter.name}.js", "launches", chapter.name, _launches(workspace, chapter, directory))
                for count in other_elements(chapter):
                    recorded = {"capsule": _capsule(workspace, chapter, count, directory)}
                    write(made / f"{chapter.name}_size_{count}.js", f"size_{count}", chapter.name, recorded)
                write(made / f"{chapter.name}_mutants.js", "mutants", chapter.name, _mutants(workspace, tools, chapter, directory))
                shutil.copytree(made, place)
        for file in place.iterdir():
            shutil.copyfile(file, html / "live" / file.name)
        _load_from(html / f"{chapter.name}.html", chapter.name, (elements(chapter), *other_elements(chapter)))
        if chapter.name == live_home.CHAPTER:
            _load_from(html / "index.html", chapter.name)
            live_home.add(workspace, html / "index.html", chapter)


def add_mistakes(workspace: Workspace, html: Path, known: list[Chapter]) -> None:
    """Writes live/NAME_mistakes.js for each of these chapters, whose programs are built, and for the error catalogue."""
    shown = {}
    sets = {each.name: (each.mistakes(workspace), f"chapters/{each.directory}") for each in known}
    sets[live_mistakes.MESSAGES_SET] = (workspace.build / live_mistakes.MESSAGES, str(Path(live_mistakes.MESSAGES).parent))
    for name, (program, sources) in sets.items():
        with temporary.directory("live") as directory:
            mistakes = live_mistakes.recorded(workspace, program, directory)
        files = sorted((workspace.root / sources).glob("*.cu*"))
        write(html / "live" / f"{name}_mistakes.js", "mistakes", name, live_mistakes.as_data(workspace, mistakes, files))
        shown[name] = live_mistakes.shown(mistakes)
    write(html / "live" / "errors_catalogue.js", "catalogue", "errors", live_mistakes.catalogue(workspace, shown))
    _load_from(html / "errors.html", "errors")


def _stamp(workspace: Workspace, chapter: Chapter) -> str:
    """Stands for all that the chapter's files are made of."""
    places = (f"chapters/{chapter.directory}", "common/include", "common/emulator", f"tests/mutants/{chapter.name}.toml")
    files = [file for place in places for file in sorted((workspace.root / place).rglob("*")) or [workspace.root / place]]
    files += [Path(__file__), Path(live_mutants.__file__)]
    sums = (hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file() and file.suffix != ".pyc")
    return hashlib.sha256("".join(sums).encode()).hexdigest()[:16]


def write(path: Path, what: str, name: str, value: dict[str, Any]) -> None:
    """A script that hands over `value` as hopperLive.NAME.what, packed."""
    packed = base64.b64encode(gzip.compress(json.dumps(value).encode(), 9, mtime=0)).decode("ascii")
    path.write_text(f'((globalThis.hopperLive ??= {{}}).{name} ??= {{}}).{what} = "{packed}";\n', "ascii")


def _launches(workspace: Workspace, chapter: Chapter, directory: Path) -> dict[str, Any]:
    """The program's recording and the text of the files that its kernels' lines are in."""
    files = sorted((workspace.root / "chapters" / chapter.directory).rglob("*.cu*"))
    return {
        "capsule": _capsule(workspace, chapter, elements(chapter), directory),
        "files": {workspace.relative(file): file.read_text("utf-8") for file in files},
    }


def _capsule(workspace: Workspace, chapter: Chapter, count: int, directory: Path) -> str:
    """The recording of the program with so many elements."""
    recording = directory / f"recording_{count}"
    env = backend.environment(Backend.EMULATOR, workspace) | {"EMULATOR_RECORD": str(recording)}
    command = [str(chapter.program(workspace)), "--size", str(count)]
    done = subprocess.run(
        command, env=env, cwd=workspace.root, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    if done.returncode != 0:
        raise UserError(f"{chapter.name} could not be recorded: {done.stderr[:500] or done.stdout[-500:]}")
    return base64.b64encode(recording.read_bytes()).decode("ascii")


def _mutants(workspace: Workspace, tools: Tools, chapter: Chapter, directory: Path) -> dict[str, Any]:
    """The chapter's mutants, each with the kernels that it changes."""
    all_of_it = [*mutants.load(workspace, chapter), *mutants.load_together(workspace, chapter)]
    nvcc = Path(tools.path("nvcc"))
    made = live_mutants.compiled(workspace, nvcc, chapter, all_of_it, directory, target(workspace, chapter))
    return {"begin": made.begin, "end": made.end, "mutants": [
        {
            "name": each.mutant.name, "why": each.mutant.why, "file": each.mutant.file, "line": each.line,
            "find": each.mutant.find, "replace": each.mutant.replace, "source": each.source,
            "kernels": {name: {"kernel": mangled, "ptx": ptx} for name, (mangled, ptx) in each.kernels.items()},
        }
        for each in made.mutants
    ]}


def target(workspace: Workspace, chapter: Chapter) -> list[str]:
    """The architecture that the chapter's program is compiled for, as its README's command has it."""
    readme = (workspace.root / "chapters" / chapter.directory / "README.md").read_text("utf-8")
    return ["-arch=compute_90a" if re.search(r"arch=compute_90a", readme) else "-arch=compute_90"]


def _load_from(page: Path, name: str, sizes: tuple[int, ...] = ()) -> None:
    """The page loads what runs its listings; the launches themselves come when they are asked for. `sizes`: the first, and those to choose."""
    if not page.exists():
        print(f"site: {name} has no page {page.name}", file=sys.stderr)
        return
    scripts = "".join(f'<script src="{script}.js" defer></script>\n' for script in _SCRIPTS)
    more = f' data-sizes="{" ".join(map(str, sizes))}"' if sizes else ""
    head = f'<link href="live/live.css" rel="stylesheet"/>\n<meta name="hopper-live" content="{name}"{more}/>\n</head>'
    text = page.read_text("utf-8")
    if 'name="hopper-live"' in text:
        return
    text = text.replace("</head>", head, 1)
    page.write_text(text.replace("</body>", f"{scripts}</body>", 1), "utf-8")

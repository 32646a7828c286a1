"""What the predictions of the site's pages run: live/NAME_predictions.js for each chapter."""

import hashlib
import shutil
from pathlib import Path

from . import answers, build, chapters, exercises, live_launches, predicted, predictions, temporary
from .chapters import Chapter
from .setup import Tools
from .workspace import Workspace


def add(workspace: Workspace, tools: Tools, html: Path) -> None:
    """Builds the programs and judges that are needed, and writes the files. Raises UserError if something does not run."""
    known = [chapter for chapter in chapters.all_chapters(workspace) if predictions.of_chapter(workspace, chapter)]
    build.build(workspace, tools, [*targets(workspace, known), *build.emulator_targets(workspace)])
    add_chapters(workspace, tools, html, known, workspace.build / "site" / "predictions")


def targets(workspace: Workspace, known: list[Chapter]) -> list[str]:
    """What has to be built for the predictions of these chapters, beside the emulator."""
    wanted = {predicted.REPLAY}
    judges = {each.name: each.judge(workspace) for each in exercises.all_exercises(workspace)}
    for chapter in known:
        programs = [chapter.program(workspace), chapter.mistakes(workspace)]
        asked = predictions.of_chapter(workspace, chapter)
        programs += [judges[each.exercise] for each in asked if each.exercise in judges]
        wanted |= {str(program.relative_to(workspace.build)) for program in programs}
    return sorted(wanted)


def add_chapters(workspace: Workspace, tools: Tools, html: Path, known: list[Chapter], kept: Path) -> None:
    """The same for these chapters, for which all is built. What was made is in `kept`, and made anew when it must be."""
    kept.mkdir(parents=True, exist_ok=True)
    (html / "live").mkdir(exist_ok=True)
    for chapter in known:
        name = f"{chapter.name}_predictions.js"
        place = kept / f"{chapter.name}-{_stamp(workspace, chapter)}.js"
        if not place.exists():
            for old in kept.glob(f"{chapter.name}-*.js"):
                old.unlink()
            with temporary.directory("live") as directory:
                runner, found = predicted.outcomes(workspace, tools, chapter, directory)
                live_launches.write(directory / name, "predictions", chapter.name, predicted.as_data(runner, found))
                shutil.copyfile(directory / name, place)
        shutil.copyfile(place, html / "live" / name)


def _stamp(workspace: Workspace, chapter: Chapter) -> str:
    """Stands for all that the chapter's file is made of."""
    names = [each.exercise for each in predictions.of_chapter(workspace, chapter) if each.exercise]
    places = [workspace.root / place for place in (f"chapters/{chapter.directory}", "common/include", "common/judge", "common/emulator")]
    files = [file for place in places for file in sorted(place.rglob("*"))]
    files += [answers.DIRECTORY / f"{name}.toml" for name in names]
    files += [Path(module.__file__ or "") for module in (predicted, predictions, answers)] + [Path(__file__)]
    sums = (hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file() and file.suffix != ".pyc")
    return hashlib.sha256("".join(sums).encode()).hexdigest()[:16]

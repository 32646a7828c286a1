"""What comes out of the predictions: their runs, recorded for the site's pages, and what the emulator says of them here."""

import base64
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import answers, backend, compiling, exercises, holes, judging, live_launches, predictions
from .backend import Backend
from .chapters import Chapter
from .errors import UserError
from .exercises import Exercise
from .predictions import Prediction, Run
from .setup import Tools
from .workspace import Workspace

REPLAY = "common/emulator/tools/replay"
_SECONDS = 120
_LAST = ("warning", "note")
"""Of findings: what is named last."""


@dataclass
class Recorded:
    """A run's capsule, and which of its launches it is; all of a mistake's and an answer's. `passed`: what the judge said."""

    capsule: Path
    launches: list[int]
    passed: bool | None = None
    said: str = ""


@dataclass
class Outcome:
    """A prediction, its runs in the order of Prediction.runs(), what each measured, and which choices that makes right."""

    prediction: Prediction
    recorded: list[Recorded]
    measured: list[Any]
    right: list[int]


@dataclass
class Runner:
    """Records the runs of one chapter's predictions in `directory`. Its programs and judges are built."""

    workspace: Workspace
    tools: Tools
    chapter: Chapter
    directory: Path
    _kept: dict[tuple[str, str], Recorded] = field(default_factory=dict)
    _kernels: list[str] = field(default_factory=list)
    """Of the chapter's program: which are recorded."""
    _program: list[str] = field(default_factory=list)
    """The names of the kernels of its recorded launches, one for each."""

    def outcomes(self, wanted: Iterable[Prediction]) -> list[Outcome]:
        """Runs all of them. Raises UserError where something does not run."""
        wanted = list(wanted)
        self._kernels = sorted({run.name for each in wanted for run in each.runs() if run.source == "kernel"})
        self._compile([each for each in wanted if each.form == "answers"])
        found = []
        for each in wanted:
            recorded = [self._recorded(each, run) for run in each.runs()]
            measured = [self._measured(each, run, what) for run, what in zip(each.runs(), recorded, strict=True)]
            found.append(Outcome(each, recorded, measured, each.right(measured)))
        return found

    def solution(self, prediction: Prediction) -> Recorded:
        """The solution's run, with whose results a page compares those of answers."""
        return self._recorded(prediction, Run("answer", "solution"))

    def _recorded(self, prediction: Prediction, run: Run) -> Recorded:
        if run.source == "kernel":
            return self._launch_of_program(run)
        key = (prediction.exercise, run.name)
        if key not in self._kept:
            made = self._answer(prediction, run) if run.source == "answer" else self._mistake(run)
            self._kept[key] = made
        return self._kept[key]

    def _launch_of_program(self, run: Run) -> Recorded:
        capsule = self.directory / "program"
        if not capsule.exists():
            size = str(live_launches.elements(self.chapter))
            self._record([str(self.chapter.program(self.workspace)), "--size", size], capsule, ",".join(self._kernels))
            self._program = self._launches(capsule)
        mine = [i for i, name in enumerate(self._program) if name == run.name]
        if len(mine) < run.launch:
            raise UserError(f"the program of {self.chapter.name} has {len(mine)} launches of {run.name}")
        return Recorded(capsule, [mine[run.launch - 1]])

    def _mistake(self, run: Run) -> Recorded:
        capsule = self.directory / f"mistake_{run.name}"
        self._record([str(self.chapter.mistakes(self.workspace)), run.name], capsule)
        return Recorded(capsule, list(range(len(self._launches(capsule)))))

    def _record(self, command: list[str], capsule: Path, only: str = "") -> None:
        env = backend.environment(Backend.EMULATOR, self.workspace)
        env |= {"EMULATOR_RECORD": str(capsule), "EMULATOR_RECORD_ONLY": only}
        subprocess.run(command, env=env, cwd=self.workspace.root, capture_output=True, timeout=_SECONDS, check=False)
        if not capsule.exists():
            raise UserError(f"{' '.join(command)} launched nothing")

    def _launches(self, capsule: Path) -> list[str]:
        """The plain name of each launch's kernel."""
        lines = self._replay(capsule, "--list").splitlines()
        return [re.sub(r"^void ", "", line.split(": ", 1)[1]).split("(")[0].split("<")[0].split("::")[-1] for line in lines]

    def _replay(self, capsule: Path, *options: str) -> str:
        command = [str(self.workspace.build / REPLAY), str(capsule), *options]
        done = subprocess.run(command, cwd=self.workspace.root, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode not in (0, 1):
            raise UserError(f"{capsule.name} does not run again: {done.stderr.strip()[:300]}")
        return done.stdout

    # ---- Answers to exercises.

    def _file(self, prediction: Prediction, answer: str) -> Path:
        number = hash_of(answer)
        return self.directory / f"{prediction.exercise}_{number}.cu"

    def _compile(self, wanted: list[Prediction]) -> None:
        """All answers of an architecture together, in a fraction of the time."""
        by_architecture: dict[str, dict[Path, Path]] = {}
        known = {each.name: each for each in exercises.all_exercises(self.workspace)} if wanted else {}
        one: dict[str, Exercise] = {}
        for each in wanted:
            exercise = known[each.exercise]
            one[exercise.architecture] = exercise
            texts = answer_texts(self.workspace, exercise)
            for name in {"solution", *(run.name for run in each.runs())}:
                if name not in texts:
                    raise UserError(f"{each.name}: {each.exercise} has no answer '{name}'")
                file = self._file(each, name)
                file.write_text(texts[name].text, "utf-8")
                by_architecture.setdefault(exercise.architecture, {})[file] = file.with_suffix(".ptx")
        for architecture, files in by_architecture.items():
            compiling.together(self.workspace, self.tools, one[architecture], files)

    def _answer(self, prediction: Prediction, run: Run) -> Recorded:
        exercise = exercises.resolve(prediction.exercise, exercises.all_exercises(self.workspace))
        file = self._file(prediction, run.name)
        ptx, capsule = file.with_suffix(".ptx"), file.with_suffix(".recording")
        if not ptx.exists() and (problem := compiling.kernels(self.workspace, self.tools, exercise, file, ptx)):
            raise UserError(f"{prediction.name}: '{run.name}' does not compile: {problem[0]}")
        program = [exercise.judge(self.workspace), ptx]
        outcome = judging.recorded(self.workspace, exercise, program, capsule)
        said = outcome.diagnostic["name"] if outcome.diagnostic else " ".join(line for line in outcome.lines if str(self.directory) not in line)
        return Recorded(capsule, list(range(len(self._launches(capsule)))), outcome.passed, said)

    # ---- Measures.

    def _measured(self, prediction: Prediction, run: Run, what: Recorded) -> Any:
        if prediction.form == "answers":
            return what.passed
        counters, report = self.directory / "counters", self.directory / "report"
        for file in (counters, report):
            file.unlink(missing_ok=True)
        for launch in what.launches:
            self._replay(what.capsule, f"--launch={launch + 1}", f"--order={run.order}", f"--counters={counters}", f"--report={report}")
            if prediction.form == "finding" and report.exists():
                break
        if prediction.form == "finding":
            return first_finding(report)
        assert prediction.measure is not None
        total = json.loads(counters.read_text("utf-8").splitlines()[-1])["total"]
        value, per = total[prediction.measure.counter], prediction.measure.per
        if per and not total[per]:
            raise UserError(f"{prediction.name}: {run.name} counts no {per}")
        return round(value / total[per], 4) if per else value


def hash_of(text: str) -> str:
    """A short name of a file for it."""
    return re.sub(r"\W+", "_", text)[:60]


def first_finding(report: Path) -> str:
    """The finding that is named first: an error before a warning; "" if there is none."""
    findings = [json.loads(line) for line in report.read_text("utf-8").splitlines()] if report.exists() else []
    findings.sort(key=lambda finding: finding.get("severity") in _LAST)
    return findings[0]["name"] if findings else ""


def answer_texts(workspace: Workspace, exercise: Exercise) -> dict[str, answers.Answer]:
    """The answers that a prediction can name."""
    source = exercise.solution(workspace).read_text("utf-8")
    texts = {each.what: each for each in answers.answers(exercise.name, source)}
    texts["solution"] = answers.Answer("solution", holes.solution(source), "")
    texts["skeleton"] = answers.Answer("skeleton", holes.skeleton(source), exercise.fails_with)
    return texts


def as_data(runner: Runner, found: list[Outcome]) -> dict[str, Any]:
    """What a page needs to run them: each capsule once, and of each question its runs and what came out here."""
    capsules: dict[str, str] = {}

    def packed(what: Recorded, order: str) -> dict[str, Any]:
        name = what.capsule.name
        capsules.setdefault(name, base64.b64encode(what.capsule.read_bytes()).decode("ascii"))
        return {"capsule": name, "launches": what.launches, "order": order, "said": what.said}

    questions = {}
    for each in found:
        asked = each.prediction
        runs = [packed(what, run.order) for what, run in zip(each.recorded, asked.runs(), strict=True)]
        data: dict[str, Any] = {"form": asked.form, "runs": runs, "measured": each.measured}
        if asked.measure:
            data["measure"] = vars(asked.measure)
        data["most"] = asked.most
        data["choices"] = [choice.number if asked.form == "number" else choice.finding for choice in asked.choices]
        if asked.form == "answers":
            exercise = exercises.resolve(asked.exercise, exercises.all_exercises(runner.workspace))
            data["solution"] = packed(runner.solution(asked), "late")
            data["conditions"] = [
                {key: value for key, value in vars(condition).items() if value is not None} for condition in exercise.counters
            ]
        questions[asked.name] = data
    return {"capsules": capsules, "questions": questions}


def outcomes(workspace: Workspace, tools: Tools, chapter: Chapter, directory: Path, forms: Iterable[str] = predictions.FORMS.values()) -> tuple[Runner, list[Outcome]]:
    """What comes out of the chapter's predictions of these forms."""
    runner = Runner(workspace, tools, chapter, directory)
    wanted = [each for each in predictions.of_chapter(workspace, chapter) if each.form in set(forms)]
    return runner, runner.outcomes(wanted)

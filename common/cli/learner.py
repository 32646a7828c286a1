"""What the learner's commands have in common: which exercise is meant, which comes next, and a check with its record."""

from pathlib import Path

from . import exercises, judging, room, verdict
from .backend import Backend
from .desk import Desk
from .errors import UsageError, UserError
from .exercises import Exercise
from .judging import Outcome
from .records import Record, now
from .setup import Tools
from .workspace import Workspace


class Learner:
    """The exercises and one learner's desk."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.desk = Desk(workspace)
        self.known = exercises.all_exercises(workspace)
        if not self.known:
            raise UserError("this tree has no exercises")

    def chosen(self, name: str | None) -> Exercise:
        """The exercise called `name`, or whose file in the workspace `name` is; without a name the one
        that comes next, or the first of all."""
        if name is None:
            return self.unsolved() or self.known[0]
        if "/" not in name and not name.endswith(".cu"):
            return self._resolved(name)
        exercise = self._resolved(Path(name).stem)
        if not self.desk.is_file(name, exercise):
            raise UsageError(f"{name} is not your file of {exercise.name}; that is {self.desk.shown(exercise)}")
        return exercise

    def _resolved(self, name: str) -> Exercise:
        """As `exercises.resolve`; a name that this desk knows from earlier gets a word about the file."""
        try:
            return exercises.resolve(name, self.known)
        except UsageError as error:
            file = self.desk.directory / f"{name}.cu"
            if Path(name).name != name or not (file.is_file() and name in self.desk.book.read()):
                raise
            kept = f"your file {self.workspace.relative(file)} stays where it is"
            raise UsageError(f"{error} (it was renamed or taken out of the workbook; {kept})") from None

    def unsolved(self) -> Exercise | None:
        """The first exercise without a success behind the one that was solved last, else the first at all."""
        records = self.desk.book.read()
        solved = [(r.solved, n) for n, e in enumerate(self.known) if (r := records.get(e.name)) and r.solved]
        return self._unsolved_from(max(solved)[1] + 1 if solved else 0)

    def following(self, exercise: Exercise) -> Exercise | None:
        """The exercise for whoever leaves `exercise`: the one behind it if it is not solved, else as `unsolved`."""
        if self.desk.record(exercise).solved:
            return self.unsolved()
        following = self._unsolved_from(self.known.index(exercise) + 1)
        return following if following != exercise else None

    def _unsolved_from(self, start: int) -> Exercise | None:
        """The first exercise without a success from number `start` on, going round; None if all are solved."""
        records = self.desk.book.read()
        for exercise in [*self.known[start:], *self.known[:start]]:
            if not records.get(exercise.name, Record()).solved:
                return exercise
        return None

    def check(
        self, tools: Tools, exercise: Exercise, where: Backend, *, keys: bool = False
    ) -> tuple[Outcome, str]:
        """Judges the learner's file, keeps the result, and returns it with the text of the verdict."""
        outcome, advice = self.judged(tools, exercise, where, keys=keys)
        return outcome, verdict.render(exercise, outcome, advice, self.workspace)

    def judged(
        self, tools: Tools, exercise: Exercise, where: Backend, *, keys: bool = False
    ) -> tuple[Outcome, str]:
        """Judges the learner's file, keeps the result, and returns it with what to do now.

        `keys` says whether that may speak of the keys of `watch`.
        """
        outcome = judging.check(self.workspace, tools, exercise, self.desk.file(exercise), where)

        def keep(record: Record) -> None:
            record.checks += 1
            record.begun = record.begun or now()
            if outcome.passed and not record.solved:
                record.solved = now()

        record = self.desk.note(exercise, keep)
        finding = outcome.diagnostic["name"] if outcome.diagnostic else outcome.stage
        self._tell(exercise, record, "solved" if outcome.passed else "wrong", "" if outcome.passed else finding)
        if outcome.passed:
            return outcome, verdict.next_step(self.unsolved(), keys=keys)
        return outcome, verdict.help_for(exercise, record, keys=keys)

    def next_hint(self, exercise: Exercise) -> str:
        """One stage more each time; the last one again when all were given."""

        def one_more(record: Record) -> None:
            record.hints = min(record.hints + 1, len(exercise.hints))

        record = self.desk.note(exercise, one_more)
        stage = record.hints
        self._tell(exercise, record, "hint", "")
        return f"Hint {stage} of {len(exercise.hints)}: {exercise.hints[stage - 1]}"

    def _tell(self, exercise: Exercise, record: Record, state: str, finding: str) -> None:
        """Lets the room know, if the learner joined one."""
        solved = sum(bool(entry.solved) for entry in self.desk.book.read().values())
        room.tell(self.workspace, exercise, record, state, finding, solved, len(self.known))

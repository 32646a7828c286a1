"""The learner's desk, `workspace/`: copies of the skeletons, which git ignores, backups, and the progress."""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UserError
from .exercises import Exercise
from .records import Book, Record
from .workspace import Workspace


class Desk:
    """Nothing here ever overwrites a file that a learner may have edited."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.directory = workspace.root / "workspace"
        self.book = Book(self.directory / "progress.toml")

    def file(self, exercise: Exercise) -> Path:
        return self.directory / f"{exercise.name}.cu"

    def is_file(self, name: str, exercise: Exercise) -> bool:
        """Whether the path `name` leads to the learner's file; where nothing is there, as seen from the clone."""
        path = Path(name) if Path(name).exists() else self.workspace.root / name
        return path.resolve() == self.file(exercise).resolve()

    def shown(self, exercise: Exercise) -> str:
        """The learner's file as one would type it from inside the clone."""
        return self.workspace.relative(self.file(exercise))

    def record(self, exercise: Exercise) -> Record:
        return self.book.read().get(exercise.name, Record())

    def touch(self, exercise: Exercise) -> Path:
        """Makes the learner's copy if there is none; renews one that was never edited when the exercise changed."""
        skeleton = self._skeleton(exercise)
        file = self.file(exercise)
        if file.exists():
            self._renew(exercise, file, skeleton)
        elif self._create(file, skeleton):
            self.note(exercise, lambda record: setattr(record, "skeleton", _digest(skeleton)))
            print(f"workbook: made {self.shown(exercise)}: this file is yours to edit", file=sys.stderr)
        return file

    def reset(self, exercise: Exercise) -> Path | None:
        """Puts a fresh copy in place and returns where the old one went, if there was one."""
        skeleton = self._skeleton(exercise)
        backup = self._replaced(exercise, skeleton)

        def forget(record: Record) -> None:
            checks = record.checks
            record.__dict__.update(vars(Record(checks=checks, skeleton=_digest(skeleton))))

        self.note(exercise, forget)
        return backup

    def save(self, exercise: Exercise, content: bytes) -> Path | None:
        """Makes `content` the learner's file and returns where the old one went, if there was another. The progress stays."""
        file = self.file(exercise)
        if file.exists() and file.read_bytes() == content:
            return None
        made_of = _digest(self._skeleton(exercise))
        backup = self._replaced(exercise, content)
        if backup is None:
            self.note(exercise, lambda record: setattr(record, "skeleton", made_of))
        return backup

    def _replaced(self, exercise: Exercise, content: bytes) -> Path | None:
        """Makes `content` the learner's file and returns where the old one went, if there was one.

        The fresh one is on the disk before the old one moves: where there is no room, all is as it was.
        """
        file = self.file(exercise)
        backup = None
        with self._written(file, content) as fresh:
            if file.exists():
                backup = self._back_up(exercise)
            try:
                os.replace(fresh, file)
            except OSError as error:
                where = f"; your file is {self.workspace.relative(backup)}" if backup else ""
                raise UserError(f"cannot write {self.shown(exercise)}: {error.strerror}{where}") from None
        return backup

    def note(self, exercise: Exercise, change: Callable[[Record], None]) -> Record:
        """Keeps something in the progress; where that fails says so and goes on, as no check shall depend on it."""
        try:
            return self.book.update(exercise.name, change)
        except OSError as error:
            print(
                f"workbook: your progress could not be saved ({error.strerror}): "
                f"{self.workspace.relative(self.book.path)} is as it was before",
                file=sys.stderr,
            )
            record = self.record(exercise)
            change(record)
            return record

    def _skeleton(self, exercise: Exercise) -> bytes:
        file = exercise.skeleton(self.workspace)
        try:
            return file.read_bytes()
        except FileNotFoundError:
            raise UserError(
                f"the exercise {exercise.name} has no file {self.workspace.relative(file)}: was one of the two renamed? "
                "`git status` tells, or `./workbook exercises --generate` makes it from the solution"
            ) from None
        except OSError as error:
            raise UserError(f"{file}: {error.strerror}") from None

    def _create(self, file: Path, content: bytes) -> bool:
        """Makes `file` with all its content, or not at all; False if it is there already."""
        with self._written(file, content) as fresh:
            try:
                os.link(fresh, file)
            except FileExistsError:
                return False
            except OSError as error:
                raise UserError(f"cannot write {self.workspace.relative(file)}: {error.strerror}") from None
        return True

    @contextmanager
    def _written(self, file: Path, content: bytes) -> Iterator[Path]:
        """A file beside `file` with all of the content, for as long as the block lasts."""
        temporary = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            try:
                self.directory.mkdir(parents=True, exist_ok=True)
                temporary.write_bytes(content)
            except FileExistsError:
                raise UserError(f"{self.directory} is in the way: it must be a directory") from None
            except OSError as error:
                there = "; your file is as it was" if file.exists() else ""
                raise UserError(
                    f"cannot write {self.workspace.relative(file)}: {error.strerror}{there}"
                ) from None
            yield temporary
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _renew(self, exercise: Exercise, file: Path, skeleton: bytes) -> None:
        made_of = self.record(exercise).skeleton
        if not made_of or made_of == _digest(skeleton):
            return
        if _digest(file.read_bytes()) == made_of:
            with self._written(file, skeleton) as fresh:
                os.replace(fresh, file)
            self.note(exercise, lambda record: setattr(record, "skeleton", _digest(skeleton)))
            print(f"workbook: {self.shown(exercise)} is new, as the exercise changed", file=sys.stderr)
        else:
            print(
                f"workbook: the exercise changed since you began; "
                f"`./workbook reset {exercise.name}` gives you the new text and keeps yours",
                file=sys.stderr,
            )

    def _back_up(self, exercise: Exercise) -> Path:
        """Moves the learner's file to the first free backups/NAME.N.cu."""
        directory = self.directory / "backups"
        try:
            return self._moved(exercise, directory)
        except OSError as error:
            raise UserError(
                f"cannot keep a copy in {self.workspace.relative(directory)}: {error.strerror}; "
                f"{self.shown(exercise)} is as it was"
            ) from None

    def _moved(self, exercise: Exercise, directory: Path) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            backup = directory / f"{exercise.name}.{number}.cu"
            try:
                os.link(self.file(exercise), backup)
            except FileExistsError:
                number += 1
                continue
            self.file(exercise).unlink()
            return backup


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]

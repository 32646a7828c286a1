"""Where things are: the clone, its private state and the build directory."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .errors import UserError


@dataclass(frozen=True)
class Workspace:
    """Paths of one clone. Nothing here touches the disk except `prepare`."""

    root: Path
    build: Path

    LINK: ClassVar[str] = "packages"
    """Name of the link in the build directory that leads to the unpacked system packages."""

    @classmethod
    def locate(cls) -> "Workspace":
        """The clone that this file belongs to, wherever the command was called from."""
        root = Path(__file__).resolve().parents[2]
        build = os.environ.get("WORKBOOK_BUILD")
        return cls(root, Path(build).absolute() if build else root / "build")

    @property
    def state(self) -> Path:
        """Everything that set-up makes for itself; deleting it costs one set-up."""
        return self.root / ".workbook"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    def private(self, key: str) -> Path:
        """Where the wheels of one requirement are, each requirement in a directory of its own."""
        return self.state / key

    @property
    def packages(self) -> Path:
        """System packages unpacked without installing them."""
        return self.state / "packages"

    @property
    def native_file(self) -> Path:
        return self.state / "native.ini"

    def prepare(self) -> None:
        """Creates the state directories, or says who may write here."""
        for directory in (self.state, self.logs, self.build):
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise _unwritable(directory, error) from None
            if not os.access(directory, os.W_OK | os.X_OK):
                raise _unwritable(directory, PermissionError("permission denied"))

    def relative(self, path: Path) -> str:
        """`path` as a reader would type it from inside the clone."""
        try:
            return str(path.relative_to(self.root))
        except ValueError:
            return str(path)


def _unwritable(directory: Path, error: OSError) -> UserError:
    reason = (error.strerror or str(error)).lower()
    return UserError(
        f"cannot write to {directory} ({reason}); clone the workbook into a directory of your own"
    )

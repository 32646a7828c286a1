"""Errors that a user can cause or cure: they end the command with one clear line and no traceback."""

FAILURE = 1
USAGE = 2
INTERRUPTED = 130


class UserError(Exception):
    """Something is wrong that the message explains; `detail` is shown above it, indented, when there is any."""

    def __init__(self, message: str, *, code: int = FAILURE, detail: list[str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail or []


class UsageError(UserError):
    """The command line asks for something that does not exist."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=USAGE)

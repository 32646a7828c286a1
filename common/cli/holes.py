"""Marked holes: one file is both the solution and the skeleton.

    //@ hole
    tile[i] = in[i];                        what the solution has
    //? // YOUR CODE: bring element i       what the skeleton has instead, one line for each `//? `
    //@ end

What the skeleton has is indented as the mark of the hole is: a formatter may move comments behind a statement.
"""

_HOLE, _INSTEAD, _END = "//@ hole", "//?", "//@ end"


class HoleError(ValueError):
    """The marks of a solution do not fit together; the text names the line."""


def skeleton(text: str) -> str:
    """The solution with every hole filled as the learner finds it. Raises HoleError if there is no hole."""
    return _filled(text, for_learner=True)


def solution(text: str) -> str:
    """The solution without the marks."""
    return _filled(text, for_learner=False)


def contents(text: str, *, for_learner: bool) -> tuple[str, ...]:
    """What stands in each hole: what the learner finds there, or the solution."""
    return tuple(
        "\n".join(_filled(f"{_HOLE}\n{part.partition(_END)[0].strip(chr(10))}\n{_END}\n", for_learner=for_learner).splitlines())
        for part in text.split(_HOLE)[1:]
    )


def _filled(text: str, *, for_learner: bool) -> str:
    result: list[str] = []
    inside = False
    indentation = ""
    holes = 0
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if word == _HOLE or word == _END:
            if inside != (word == _END):
                raise HoleError(f"line {number}: {word} does not fit here")
            inside = word == _HOLE
            indentation = line[: len(line) - len(line.lstrip())]
            holes += inside
        elif word.startswith(_INSTEAD):
            if not inside:
                raise HoleError(f"line {number}: {_INSTEAD} outside a hole")
            if for_learner:
                result.append((indentation + word[len(_INSTEAD) :].removeprefix(" ")).rstrip())
        elif not (inside and for_learner):
            result.append(line)
    if inside or holes == 0:
        raise HoleError("a hole is not closed" if inside else f"there is no {_HOLE}")
    return "\n".join(result) + "\n"

"""Cuts definitions and tagged regions out of C++ and CUDA files.

No compiler reads the files: comments, literals and preprocessor lines are blanked, then braces are matched. That is
enough for code as a formatter leaves it, and a definition that is not found is an error, never a guess.
"""

import re
import textwrap
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from .errors import WeaveError

_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_TEMPLATE = re.compile(r"^\s*template\s*<")
_ATTRIBUTE = re.compile(
    r"\b(?:alignas|__align__|__launch_bounds__|__attribute__)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|\[\[.*?\]\]"
)
_REQUIRES = re.compile(r"^\s*requires\b.*?(?=\b(?:struct|class|union|enum)\b)", re.DOTALL)
_SCOPE = re.compile(
    r"^(?:(?:inline|typedef|static|constexpr|const)\s+)*(?:namespace|struct|class|union|enum|extern)\b"
)
_TYPE = re.compile(
    r"^(?:(?:typedef|static|constexpr|const|inline)\s+)*(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(\w+)"
)
_QUALIFIER = re.compile(
    r"\b(?:const|constexpr|constinit|using|namespace|concept|typedef|static|inline|extern|__constant__|__device__|__shared__)\b"
)
_TAG = re.compile(r"^\s*// \[(/?)([a-z0-9_-]+)\]\s*$")
_PAIRS = {"(": ")", "{": "}", "[": "]"}


def _blank(text: str, keep: str = "") -> str:
    return re.sub(r"[^\n]", " ", text[: len(text) - len(keep)]) + keep


def mask(text: str) -> str:
    """`text` at the same length, with comments, literals and preprocessor lines blanked; a directive ends with ';'."""

    def literal(match: re.Match[str]) -> str:
        found = match[0]
        if found.startswith("'") and match.start() and text[match.start() - 1].isalnum():
            return found  # a digit separator, as in 100'000
        return _blank(found)

    # Digit separators go first: in 1'000'000 the middle looks like a character literal.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text)
    text = _LITERAL.sub(literal, text)
    return _DIRECTIVE.sub(lambda match: _blank(match[0], ";"), text)


@dataclass(frozen=True)
class Definition:
    """Where a definition is: offsets of its first character and behind its last one."""

    start: int
    end: int


class Source:
    """A source file in which definitions are looked up."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.masked = mask(text)

    def definition(self, symbol: str) -> str:
        """The text of a definition; `Outer::name` looks inside Outer, `name#2` is the second definition of that name."""
        return self._cut(self._find(symbol))

    def line(self, symbol: str) -> int:
        """The line on which a definition begins."""
        return self.line_of(self._find(symbol).start)

    def _find(self, symbol: str) -> Definition:
        wanted, _, number = symbol.partition("#")
        *outer, name = wanted.split("::")
        within = (0, len(self.text))
        for scope in outer:
            within = self._scope(scope, within)
        found = self._definitions(name, within)
        if not found:
            raise WeaveError(f"there is no definition of '{symbol}'")
        if number:
            if not number.isdigit() or not 1 <= int(number) <= len(found):
                raise WeaveError(f"'{symbol}': there are {len(found)} definitions of '{wanted}'")
            found = [found[int(number) - 1]]
        if len(found) > 1:
            places = ", ".join(str(self.line_of(d.start)) for d in found)
            raise WeaveError(
                f"'{symbol}' has {len(found)} definitions (lines {places}); write {symbol}#1 to {symbol}#{len(found)}"
            )
        return found[0]

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def _cut(self, definition: Definition) -> str:
        start = self.text.rfind("\n", 0, definition.start) + 1
        if self.text[start : definition.start].strip():
            start = definition.start
        end = self.text.find("\n", definition.end)
        end = len(self.text) if end < 0 else end
        if self.masked[definition.end : end].strip():
            end = definition.end
        return textwrap.dedent(self.text[start:end]).rstrip()

    def _scope(self, name: str, within: tuple[int, int]) -> tuple[int, int]:
        for start, end, header in self._scopes:
            if (
                within[0] <= start
                and end <= within[1]
                and re.search(rf"\b{re.escape(name)}\s*(?::[^:].*)?$", header)
            ):
                return start, end
        raise WeaveError(f"there is no namespace or struct '{name}'")

    def _definitions(self, name: str, within: tuple[int, int]) -> list[Definition]:
        found: list[Definition] = []
        for match in re.finditer(rf"(?<![\w~]){re.escape(name)}\b", self.masked[: within[1]]):
            if match.start() < within[0] or not self._in_scope(match.start()):
                continue
            start = self._statement_start(match.start())
            end = self._definition_end(start, match.start(), match.end())
            if end is not None and all(d.start != start for d in found):
                found.append(Definition(start, end))
        # A constructor has its type's name and lies deeper.
        outermost = min((self._depth(d.start) for d in found), default=0)
        return [d for d in found if self._depth(d.start) == outermost]

    def _depth(self, offset: int) -> int:
        return sum(start < offset < end for start, end, _ in self._blocks)

    # ---- braces ----

    @cached_property
    def _braces(self) -> dict[int, int]:
        """Offset of each opening bracket and of the one that closes it."""
        pairs: dict[int, int] = {}
        stack: list[int] = []
        for match in re.finditer(r"[(){}\[\]]", self.masked):
            char = match[0]
            if char in _PAIRS:
                stack.append(match.start())
            elif stack and _PAIRS[self.masked[stack[-1]]] == char:
                pairs[stack.pop()] = match.start()
            else:
                raise WeaveError(f"line {self.line_of(match.start())}: '{char}' closes nothing")
        if stack:
            raise WeaveError(f"line {self.line_of(stack[-1])}: '{self.masked[stack[-1]]}' is never closed")
        return pairs

    @cached_property
    def _blocks(self) -> list[tuple[int, int, str | None]]:
        """The pairs of braces in order, each with its header if it is a namespace or a type, else with None."""
        result = []
        for start in sorted(offset for offset in self._braces if self.masked[offset] == "{"):
            header = self._header(self._statement_start(start), start)
            result.append((start, self._braces[start], header if _SCOPE.match(header) else None))
        return result

    @cached_property
    def _scopes(self) -> list[tuple[int, int, str]]:
        return [(start, end, header) for start, end, header in self._blocks if header is not None]

    def _in_scope(self, offset: int) -> bool:
        """Whether only namespaces and types enclose `offset`: no function, initialiser or parameter list."""
        upto = bisect_right(self._blocks, (offset,))
        if any(end > offset and header is None for _, end, header in self._blocks[:upto]):
            return False
        start = self._statement_start(offset)
        return not any(start <= a < offset < b for a, b in self._braces.items() if self.masked[a] == "(")

    def _statement_start(self, offset: int) -> int:
        """Offset of the first character of the statement that `offset` is in."""
        start = max(self.masked.rfind(char, 0, offset) for char in ";{}") + 1
        if label := re.compile(r"\s*(?:public|private|protected)\s*:(?!:)").match(self.masked, start, offset):
            start = label.end()
        space = re.compile(r"\s*").match(self.masked, start)
        assert space is not None
        return space.end()

    def _header(self, start: int, end: int) -> str:
        """The words before a brace, without template parameters and attributes."""
        text = _ATTRIBUTE.sub(" ", self.masked[start:end])
        while match := _TEMPLATE.match(text):
            text = _REQUIRES.sub("", text[_angle_end(text, match.end() - 1) :])
        return " ".join(text.split())

    # ---- the end of a definition ----

    def _definition_end(self, start: int, name: int, after: int) -> int | None:
        """Offset behind the definition whose name is at [name, after); None if that is no definition."""
        header = self._header(start, after)
        if (match := _TYPE.match(header)) and match[1] == header.split()[-1]:
            return self._type_end(after)
        cursor = self._skip_space(after)
        before = self.masked[start:name].rstrip()
        if self.masked[cursor : cursor + 1] == "<" and before:
            angle = _angle_end(self.masked, cursor)
            if self.masked[self._skip_space(angle) : self._skip_space(angle) + 1] == "(":
                cursor = self._skip_space(angle)
        if self.masked[cursor : cursor + 1] == "(":
            return self._function_end(self._braces[cursor] + 1)
        declared = self._header(start, name)
        if _QUALIFIER.search(declared) and "=" not in declared:
            return self._variable_end(cursor)
        return None

    def _skip_space(self, offset: int) -> int:
        while offset < len(self.masked) and self.masked[offset].isspace():
            offset += 1
        return offset

    def _next(self, offset: int, chars: str) -> int | None:
        """The next of `chars` from `offset` on, over bracketed text unless the bracket is asked for."""
        while offset < len(self.masked):
            char = self.masked[offset]
            if char in chars:
                return offset
            offset = self._braces.get(offset, offset) + 1
        return None

    def _type_end(self, after: int) -> int | None:
        brace = self._next(after, "{;=,>)")
        if brace is None or self.masked[brace] != "{":
            return None
        end = self._next(self._braces[brace] + 1, ";")
        return None if end is None else end + 1

    def _function_end(self, after: int) -> int | None:
        """Behind the body of a function whose parameter list ends at `after`; None for a declaration or a call."""
        cursor = self._skip_space(after)
        if re.compile(r":(?!:)").match(self.masked, cursor):
            return self._constructor_end(cursor + 1)
        if not re.compile(r"\{|->|const\b|noexcept\b|requires\b|override\b|final\b|&").match(
            self.masked, cursor
        ):
            return None
        brace = self._next(cursor, "{;=")
        if brace is None or self.masked[brace] != "{":
            return None
        return self._braces[brace] + 1

    def _constructor_end(self, cursor: int) -> int | None:
        """Behind the body that follows a list of member initialisers."""
        while (bracket := self._next(cursor, "({;")) is not None and self.masked[bracket] != ";":
            after = self._skip_space(self._braces[bracket] + 1)
            if self.masked[after : after + 1] != ",":
                return self._braces[after] + 1 if self.masked[after : after + 1] == "{" else None
            cursor = after + 1
        return None

    def _variable_end(self, cursor: int) -> int | None:
        if self.masked[cursor : cursor + 1] not in ("=", "{", "[", ";"):
            return None
        end = self._next(cursor, ";")
        return None if end is None else end + 1


def _angle_end(text: str, start: int) -> int:
    """Behind the '>' that closes the '<' at `start`; brackets inside hide their content."""
    depth = 0
    nested = 0
    for offset in range(start, len(text)):
        char = text[offset]
        if char in "([{":
            nested += 1
        elif char in ")]}":
            nested -= 1
        elif nested == 0 and char == "<":
            depth += 1
        elif nested == 0 and char == ">" and text[offset - 1] != "-":
            depth -= 1
            if depth == 0:
                return offset + 1
    return len(text)


def region(text: str, tag: str) -> str:
    """The lines between `// [tag]` and `// [/tag]`, without the lines of other tags."""
    inside = False
    seen = False
    lines: list[str] = []
    for line in text.split("\n"):
        match = _TAG.match(line)
        if match and match[2] == tag:
            if bool(match[1]) != inside or (seen and not inside):
                raise WeaveError(f"the tag [{tag}] is opened or closed twice")
            inside = not match[1]
            seen = True
        elif inside and not match:
            lines.append(line)
    if not seen:
        raise WeaveError(f"there is no region '// [{tag}]'")
    if inside:
        raise WeaveError(f"the region [{tag}] has no end '// [/{tag}]'")
    return textwrap.dedent("\n".join(lines)).strip("\n")


def tags(text: str) -> list[tuple[int, str]]:
    """Line number and name of every region that the text opens."""
    return [
        (number, match[2])
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _TAG.match(line)) and not match[1]
    ]

"""Plain SVG for the figures of this book: small files that can be read and compared line by line.

A figure is a script beside this file. It builds a Figure from data and ends with

    if __name__ == "__main__":
        sys.exit(svg.write(figure(), __file__))

which writes NAME.svg beside NAME.py; with --check it writes nothing and exits 1 if NAME.svg is not what it would write.

Colours are classes, and each class has two values, for light and for dark surroundings (`prefers-color-scheme`). Every
figure brings its own paper, so that it can be read on a page whose colours do not follow the system's. Lengths are in
user units; the width is at most 720, so that text of 14 units stays readable on a page and can be zoomed on a phone.
"""

import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

WIDTH = 720

# name: (light, dark). 'ink' is text and lines, 'soft' the less important ones; the others fill shapes.
COLOURS = {
    "paper": ("#ffffff", "#16191d"),
    "ink": ("#1f2328", "#e6e9ec"),
    "soft": ("#59636e", "#a3abb5"),
    "plain": ("#eef1f4", "#2a3038"),
    "copy": ("#cfe3ff", "#1d3f6b"),
    "compute": ("#cdeed3", "#1f5130"),
    "wait": ("#ffe0b8", "#6a4211"),
    "async": ("#e6d6fb", "#4b2f73"),
    "wrong": ("#ffd3d0", "#742b2b"),
}


def _style() -> str:
    """The style sheet: the light colours, and the dark ones where the surroundings are dark."""
    fills = [name for name in COLOURS if name not in ("paper", "ink", "soft")]

    def variables(which: int) -> str:
        return " ".join(f"--{name}: {pair[which]};" for name, pair in COLOURS.items())

    return "\n".join(
        [
            f"svg {{ {variables(0)} color: var(--ink); }}",
            f"@media (prefers-color-scheme: dark) {{ svg {{ {variables(1)} }} }}",
            "text { font: 14px system-ui, sans-serif; fill: currentColor; }",
            ".code { font-family: ui-monospace, monospace; font-size: 13px; }",
            ".small { font-size: 12px; } .strong { font-weight: 600; }",
            ".soft { fill: var(--soft); }",
            ".paper { fill: var(--paper); }",
            *(f".{name} {{ fill: var(--{name}); }}" for name in fills),
            "rect, polygon, circle { stroke: currentColor; stroke-width: 1; } .paper, .bare { stroke: none; }",
            "line, path { stroke: currentColor; stroke-width: 1.5; fill: none; }",
            ".thin { stroke: var(--soft); stroke-width: 1; } .dashed { stroke-dasharray: 5 4; }",
            ".head { fill: currentColor; stroke: none; }",
        ]
    )


def _number(value: float) -> str:
    """A length without needless digits, so that the file does not depend on rounding far behind the point."""
    return f"{round(value, 2):g}"


class Figure:
    """A picture of `width` × `height` units with a title; the methods add shapes in drawing order.

    `classes` are the names above, separated by spaces: a colour ('copy'), and for text also 'code', 'small', 'strong'.
    """

    def __init__(self, title: str, height: float, width: float = WIDTH) -> None:
        self.title, self.width, self.height = title, width, height
        self._lines: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, classes: str = "plain", tip: str = "") -> None:
        """A rectangle; `tip` is shown by a browser when the pointer rests on it."""
        inside = f"<title>{escape(tip)}</title></rect>" if tip else ""
        place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
        self._lines.append(f'<rect class="{classes}" {place} rx="2"{">" + inside if tip else "/>"}')

    def text(self, x: float, y: float, text: str, classes: str = "", anchor: str = "start") -> None:
        """One line of text. `anchor`: which part of it stands at x, 'start', 'middle' or 'end'; y is the base line."""
        given = (f' class="{classes}"' if classes else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        self._lines.append(f'<text x="{_number(x)}" y="{_number(y)}"{given}>{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, text: str, classes: str = "plain") -> None:
        """A rectangle with lines of text in its middle; colours go to the rectangle, the other classes to the text."""
        names = classes.split()
        self.rect(x, y, width, height, " ".join(name for name in names if name in COLOURS) or "plain")
        lines = text.split("\n")
        top = y + height / 2 - 9 * (len(lines) - 1) + 5
        for i, line in enumerate(lines):
            rest = " ".join(name for name in names if name not in COLOURS)
            self.text(x + width / 2, top + 18 * i, line, rest, "middle")

    def line(self, x1: float, y1: float, x2: float, y2: float, classes: str = "") -> None:
        """A straight line."""
        given = f'class="{classes}" ' if classes else ""
        ends = f'x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}"'
        self._lines.append(f"<line {given}{ends}/>")

    def path(self, d: str, classes: str = "") -> None:
        """Any outline in SVG's path language."""
        given = f"class={quoteattr(classes)} " if classes else ""
        self._lines.append(f"<path {given}d={quoteattr(d)}/>")

    def arrow(self, x1: float, y1: float, x2: float, y2: float, classes: str = "") -> None:
        """A straight line with a head at its second end."""
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        self.line(x1, y1, x2 - 6 * ux, y2 - 6 * uy, classes)
        corners = [(x2, y2), (x2 - 9 * ux - 4 * uy, y2 - 9 * uy + 4 * ux), (x2 - 9 * ux + 4 * uy, y2 - 9 * uy - 4 * ux)]
        self._lines.append(
            '<polygon class="head" points="' + " ".join(f"{_number(x)},{_number(y)}" for x, y in corners) + '"/>'
        )

    def __str__(self) -> str:
        size = f'viewBox="0 0 {_number(self.width)} {_number(self.height)}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} width="{_number(self.width)}" role="img">',
                f"<title>{escape(self.title)}</title>",
                f"<style>\n{_style()}\n</style>",
                f'<rect class="paper" width="{_number(self.width)}" height="{_number(self.height)}" rx="6"/>',
                *self._lines,
                "</svg>",
                "",
            ]
        )


def write(figure: Figure, script: str, arguments: list[str] | None = None) -> int:
    """Writes `figure` beside `script`, as NAME.svg; with --check only compares. Returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments not in ([], ["--check"]):
        print(f"usage: {Path(script).name} [--check]", file=sys.stderr)
        return 2
    path = Path(script).with_suffix(".svg")
    if arguments == ["--check"]:
        if path.is_file() and path.read_text("utf-8") == str(figure):
            return 0
        print(f"{path.name} is not up to date: run {Path(script).name}", file=sys.stderr)
        return 1
    path.write_text(str(figure), "utf-8")
    return 0

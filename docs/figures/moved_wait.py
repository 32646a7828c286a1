"""A block with three tiles: each wait right after its copy, and the same with the waits moved and two stages."""

import sys

import svg

LEFT, UNIT, HIGH = 80, 28, 24
COPY, FLIGHT, USE, NONE = 1.5, 4.0, 2.0, 0.2
"""How long a block takes to ask for a tile, how long the tile is on its way, how long it is used; and a wait that is none.
Chosen for the picture, not measured."""

Lane = list[tuple[str, float, float, str]]  # what is written into a box, from when, until when, its colour


def in_turn() -> tuple[Lane, list[Lane]]:
    block: Lane = []
    under_way: Lane = []
    now = 0.0
    for k in range(3):
        asked = now + COPY
        landed = asked + FLIGHT
        block += [(f"copy {k}", now, asked, "copy"), (f"wait for {k}", asked, landed, "wait"), (f"use {k}", landed, landed + USE, "compute")]
        under_way.append((f"tile {k}", asked, landed, "async"))
        now = landed + USE
    return block, [under_way]


def moved() -> tuple[Lane, list[Lane]]:
    block: Lane = [("copy 0", 0, COPY, "copy")]
    stages: list[Lane] = [[("tile 0", COPY, COPY + FLIGHT, "async")], []]
    now, landed = COPY, [COPY + FLIGHT]
    for k in range(3):
        if k < 2:
            asked = now + COPY
            landed.append(asked + FLIGHT)
            block.append((f"copy {k + 1}", now, asked, "copy"))
            stages[(k + 1) % 2].append((f"tile {k + 1}", asked, landed[-1], "async"))
            now = asked
        until = max(now + NONE, landed[k])
        block += [(f"wait for {k}", now, until, "wait"), (f"use {k}", until, until + USE, "compute")]
        now = until + USE
    return block, stages


def draw(picture: svg.Figure, top: float, heading: str, rows: tuple[Lane, list[Lane]], names: list[str]) -> None:
    picture.text(12, top, heading, "small strong")
    for n, (name, lane) in enumerate(zip(["the block", *names], [rows[0], *rows[1]], strict=True)):
        y = top + 24 + (HIGH + 8) * n
        picture.text(12, y + 17, name, "small soft")
        for label, begin, end, colour in lane:
            x, width = LEFT + UNIT * begin, UNIT * (end - begin)
            picture.rect(x, y, width, HIGH, colour)
            if width > 56 or not label.startswith("wait"):
                picture.text(x + width / 2, y + 16, label, "small", "middle")
            else:  # too narrow for its words: they stand above
                picture.text(x + width / 2, y - 4, label, "small", "middle")


def figure() -> svg.Figure:
    picture = svg.Figure("Three tiles, first with each wait right after its copy, then with the waits moved to where the tiles are used", 262)
    draw(picture, 22, "Each wait comes right after its copy", in_turn(), ["on the way"])
    draw(picture, 134, "The waits have moved, and there is room for two tiles", moved(), ["on the way", "on the way"])
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

#!/usr/bin/env python3
"""Full and empty barriers: who arrives and who waits, and tiles that pass through two stages.

The time lines are a model of producer_consumer_mbarrier in chapters/03_barriers/barriers.cuh: filling a stage takes FILL
units of time, using it USE; the producer waits for the empty barrier of its stage, the consumers for the full one.
"""

import sys

import svg

FILL, USE, STAGES, TILES = 2, 3, 2, 5
LEFT, UNIT, LANE = 96, 35, 24

Span = tuple[int, int]


def schedule() -> tuple[list[Span], list[Span]]:
    """(begin, end) of the filling and of the using of each tile."""
    fills: list[Span] = []
    uses: list[Span] = []
    for k in range(TILES):
        free = uses[k - STAGES][1] if k >= STAGES else 0
        begin = max(fills[-1][1] if fills else 0, free)
        fills.append((begin, begin + FILL))
        begin = max(uses[-1][1] if uses else 0, fills[k][1])
        uses.append((begin, begin + USE))
    return fills, uses


def roles(picture: svg.Figure) -> None:
    """One stage, its two barriers, and the two roles."""
    picture.box(16, 44, 110, 100, "producer\n(one warp)", "copy")
    picture.box(594, 44, 110, 100, "consumers\n(seven warps)", "compute")
    picture.box(300, 40, 120, 32, "full[b]", "async code")
    picture.box(300, 78, 120, 32, "stage b", "plain")
    picture.box(300, 116, 120, 32, "empty[b]", "async code")
    picture.arrow(126, 56, 300, 56)
    picture.text(213, 49, "arrives: it is written", "small", "middle")
    picture.arrow(594, 56, 420, 56, "dashed")
    picture.text(507, 49, "wait, then read", "small", "middle")
    picture.arrow(126, 132, 300, 132, "dashed")
    picture.text(213, 125, "waits, then writes", "small", "middle")
    picture.arrow(594, 132, 420, 132)
    picture.text(507, 125, "arrive: it is read", "small", "middle")


def lane(picture: svg.Figure, y: float, name: str, bars: list[tuple[int, int, str, str]], code: bool = False) -> None:
    picture.text(LEFT - 8, y + 16, name, "small code" if code else "small", "end")
    for begin, end, text, colour in bars:
        if begin < end:
            picture.rect(LEFT + begin * UNIT, y, (end - begin) * UNIT, LANE - 2, colour)
            picture.text(LEFT + (begin + end) / 2 * UNIT, y + 16, text, "small", "middle")


def work(spans: list[Span], verb: str, colour: str) -> list[tuple[int, int, str, str]]:
    """The bars of a role: its tiles, and its waits between them."""
    bars = [(begin, end, f"{verb} {k}", colour) for k, (begin, end) in enumerate(spans)]
    last = 0
    for begin, end in spans:
        bars.append((last, begin, "waits", "wait"))
        last = end
    return bars


def phases(ends: list[int], until: int) -> list[tuple[int, int, str, str]]:
    """The phases of a barrier, which end at `ends`."""
    begins = [0, *ends]
    bars = []
    for n, (begin, end) in enumerate(zip(begins, [*ends, until], strict=True)):
        wide = end - begin > 3
        bars.append((begin, end, f"phase {n}" if wide else f"{n}", "async" if n % 2 == 0 else "plain"))
    return bars


def figure() -> svg.Figure:
    picture = svg.Figure("A full and an empty barrier for each stage: who arrives, who waits, and the phases of both", 460)
    picture.text(16, 24, "One stage and its pair of barriers", "strong")
    roles(picture)
    fills, uses = schedule()
    until = uses[-1][1]
    picture.text(16, 186, f"{TILES} tiles pass through {STAGES} stages: tile k uses stage k mod {STAGES}", "strong")
    top = 200
    lane(picture, top, "producer", work(fills, "fills", "copy"))
    low = top + 62
    lane(picture, low, "consumers", work(uses, "use", "compute"))
    for k in range(TILES):
        at = LEFT + fills[k][1] * UNIT
        picture.arrow(at - 3, top + LANE - 2, LEFT + uses[k][0] * UNIT + 3, low)
        if k + STAGES < TILES:
            picture.arrow(LEFT + uses[k][1] * UNIT - 3, low, LEFT + fills[k + STAGES][0] * UNIT + 3, top + LANE - 2)
    y = low + 36
    for stage in range(STAGES):
        for name, spans in (("full", fills), ("empty", uses)):
            ends = [spans[k][1] for k in range(stage, TILES, STAGES) if spans[k][1] < until]
            lane(picture, y, f"{name}[{stage}]", phases(ends, until), True)
            y += LANE + (4 if name == "empty" else 0)
    picture.text(LEFT, y + 16, "arrow down: the producer's arrival at full; arrow up: the consumers' arrivals at empty", "small soft")
    picture.text(LEFT, y + 36, "violet: phases with an even number; grey: with an odd number", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

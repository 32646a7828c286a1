#!/usr/bin/env python3
"""Two groups of consumers that take turns at one ring, as a simple model gives it: groups_in_turns in
chapters/10_roles/turns.cuh.

A panel has as many tiles as the ring has stages, so the groups use its laps alternately. A copy takes COPY units, a tile
USE, the results of a panel STORE. A stage is asked for again when it was released, and a group goes to the ring when the
other one has given it the turn.
"""

import sys

import svg

STAGES, PANELS, COPY, USE, STORE = 4, 4, 2, 1, 3
LEFT, UNIT, LANE = 84, 29, 28
TOP_STAGE, TOP_FIRST, TOP_SECOND = 62, 132, 204
TOPS = (TOP_FIRST, TOP_SECOND)


def schedule() -> tuple[list[list[tuple[int, int]]], list[int]]:
    """(begin, end) of each tile's use, by panel; and when each tile has landed."""
    uses: list[list[tuple[int, int]]] = []
    landed: list[int] = []
    for panel in range(PANELS):
        turn = uses[-1][-1][1] if uses else 0
        stored = uses[-2][-1][1] + STORE if panel > 1 else 0
        time = max(turn, stored)
        uses.append([])
        for tile in range(STAGES):
            released = uses[panel - 1][tile][1] if panel else 0
            landed.append(released + COPY)
            begin = max(time, landed[-1])
            time = begin + USE
            uses[-1].append((begin, time))
    return uses, landed


def x_of(time: int) -> float:
    return LEFT + time * UNIT


def bar(picture: svg.Figure, y: float, begin: int, end: int, text: str, colour: str, tip: str) -> None:
    if begin < end:
        picture.rect(x_of(begin), y, (end - begin) * UNIT, LANE, colour, f"{tip}, from {begin} to {end}")
        picture.text((x_of(begin) + x_of(end)) / 2, y + 18, text, "small", "middle")


def turn(picture: svg.Figure, time: int, giver: int) -> None:
    """An arrow from the group that gives the turn to the one that has waited for it, with the number of the barrier."""
    down = giver == 0
    y1, y2 = (TOP_FIRST + LANE, TOP_SECOND) if down else (TOP_SECOND, TOP_FIRST + LANE)
    x = x_of(time)
    picture.arrow(x, y1, x, y2)
    middle = (y1 + y2) / 2
    number = 2 - giver  # at which the other group waits
    picture.text(x + 8, middle + 4, f"barrier {number}" + (": the first turn" if time == 0 else ""), "small")


def figure() -> svg.Figure:
    picture = svg.Figure("Two groups that take turns at a ring: laps, parities and who tells whom", 290)
    uses, landed = schedule()
    end = uses[-1][-1][1] + STORE
    picture.text(12, 26, "Two groups, four panels of four tiles, a ring of four stages", "strong")
    picture.text(svg.WIDTH - 12, 26, "a model, not a measurement", "small soft", "end")

    picture.text(LEFT, TOP_STAGE - 8, "what has landed in it last, and below it the parity for which a wait returns at once", "small soft")
    picture.text(LEFT - 8, TOP_STAGE + 18, "stage 0", "small soft", "end")
    first = [0, *(landed[panel * STAGES] for panel in range(PANELS)), end]
    for lap, (begin, until) in enumerate(zip(first, first[1:], strict=False), -1):
        colour = "wrong" if lap < 0 else "async" if lap % 2 else "copy"
        bar(picture, TOP_STAGE, begin, until, f"lap {lap}" if lap >= 0 else "nothing", colour, "in stage 0")
        picture.text((x_of(begin) + x_of(until)) / 2, TOP_STAGE + LANE + 16, f"parity {lap % 2}", "small soft", "middle")

    for group, y in enumerate(TOPS):
        picture.text(LEFT - 8, y + 18, f"group {group}", "small soft", "end")
        free = 0
        for panel in range(group, PANELS, 2):
            begin, done = uses[panel][0][0], uses[panel][-1][1]
            waits = "waits" if begin - free > 1 else ""
            bar(picture, y, free, begin, "waits for its turn" if begin - free > 4 else waits, "wait", f"group {group} waits")
            bar(picture, y, begin, done, f"computes: lap {panel}", "compute", f"group {group} uses lap {panel}")
            bar(picture, y, done, done + STORE, "stores", "plain", f"group {group} stores")
            free = done + STORE
    turn(picture, 0, 1)
    for panel in range(PANELS - 1):
        turn(picture, uses[panel][-1][1], panel % 2)

    x = x_of(0)
    picture.arrow(x + 12, TOP_SECOND + LANE + 32, x + 12, TOP_SECOND + LANE)
    picture.text(x + 22, TOP_SECOND + LANE + 28, "without turns group 1 would wait here for lap 1, by parity 1:", "small")
    picture.text(x + 22, TOP_SECOND + LANE + 46, "stage 0 has that parity already, and no tile", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

#!/usr/bin/env python3
"""A sum over a cluster in time, as a simple model gives it: cluster_sum, which pulls, and remote_arrive, which pushes.

Each block takes ADD units for its own sum, a message or a meeting takes MESSAGE, and rank 0 takes TOTAL for adding up the parts.
"""

import sys

import svg

ADD = (3.0, 5.0, 2.0, 4.0)
MESSAGE, TOTAL = 0.6, 1.6
LABEL, UNIT, LANE, PANEL = 58, 33, 30, 362

Bar = tuple[float, float, str, str, str]
"""Begin and end, text, colour, what a browser shows."""


def meeting(begin: float, tip: str) -> Bar:
    return (begin, begin + MESSAGE, "", "plain", tip)


def pull() -> list[list[Bar]]:
    added = max(ADD)
    met = added + MESSAGE
    lanes: list[list[Bar]] = []
    for rank, add in enumerate(ADD):
        lane: list[Bar] = [(0, add, "adds", "compute", f"rank {rank} adds up its own elements")]
        lane.append((add, added, "waits", "wait", f"rank {rank} waits for all"))
        lane.append(meeting(added, "all have their sums"))
        if rank == 0:
            lane.append((met, met + TOTAL, "reads", "async", "rank 0 reads the sums of the others"))
        else:
            lane.append((met, met + TOTAL, "waits", "wait", f"rank {rank} waits until rank 0 has read"))
        lane.append(meeting(met + TOTAL, "rank 0 has read"))
        lanes.append(lane)
    return lanes


def push() -> list[list[Bar]]:
    arrived = MESSAGE + max(ADD) + MESSAGE
    lanes: list[list[Bar]] = []
    for rank, add in enumerate(ADD):
        added = MESSAGE + add
        lane: list[Bar] = [meeting(0, "rank 0 runs, and its barrier is initialised")]
        lane.append((MESSAGE, added, "adds", "compute", f"rank {rank} adds up its own elements"))
        lane.append((added, added + MESSAGE, "", "copy", f"rank {rank} writes its sum to rank 0, and arrives there"))
        if rank == 0:
            lane.append((added + MESSAGE, arrived, "waits", "wait", "rank 0 waits at its mbarrier"))
            lane.append((arrived, arrived + TOTAL, "adds", "async", "rank 0 adds up what it was sent"))
        lanes.append(lane)
    return lanes


def panel(picture: svg.Figure, left: float, title: str, lanes: list[list[Bar]]) -> None:
    picture.text(left + 12, 26, title, "strong")
    for rank, lane in enumerate(lanes):
        y = 44 + rank * LANE
        picture.text(left + LABEL - 6, y + 15, f"rank {rank}", "small soft", "end")
        for begin, end, text, colour, tip in lane:
            if begin < end:
                picture.rect(left + LABEL + begin * UNIT, y, (end - begin) * UNIT, LANE - 8, colour, tip)
                picture.text(left + LABEL + (begin + end) / 2 * UNIT, y + 15, text, "small", "middle")
        picture.text(left + LABEL + lane[-1][1] * UNIT + 6, y + 15, "gone", "small soft")


def figure() -> svg.Figure:
    picture = svg.Figure("A sum over a cluster: pulled between two meetings, and pushed after one", 204)
    panel(picture, 0, "Pull: all meet twice", pull())
    panel(picture, PANEL, "Push: all meet once, then only rank 0 waits", push())
    picture.rect(LABEL, 176, 14, 14, "plain")
    picture.text(LABEL + 20, 187, "all meet at a barrier of the cluster", "small")
    picture.rect(LABEL + PANEL, 176, 14, 14, "copy")
    picture.text(LABEL + PANEL + 20, 187, "sends its sum to rank 0, and arrives there", "small")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

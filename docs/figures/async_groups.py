"""Four stages and wait_group 3: which groups are under way while a tile is written back."""

import sys

import svg

STAGES, TILES = 4, 7
GROUPS = TILES + STAGES - 1


def figure() -> svg.Figure:
    title = "Groups in flight with 4 stages: wait_group 3 waits for the oldest and leaves three pending"
    picture = svg.Figure(title, 400)
    left, step, top, row = 118, 74, 62, 30
    rule = "Round k of the loop starts group k + 3, then waits until only the three newest are pending."
    picture.text(12, 24, rule, "small soft")
    for k in range(TILES):
        picture.text(left + step * (k + 0.5), top - 12, f"round {k}", "small", "middle")
        picture.line(left + step * k, top - 6, left + step * k, top + row * GROUPS, "thin dashed")
    for group in range(GROUPS):
        y = top + row * group
        picture.text(12, y + 19, f"group {group}", "code")
        begin = max(0.0, group - STAGES + 1)
        if group >= TILES:
            picture.path(f"M{left + step * begin:g} {y + 4} h{step * 0.8:g} v21 h{-step * 0.8:g} Z", "thin dashed")
            picture.text(left + step * (begin + 0.4), y + 19, "empty", "small soft", "middle")
            continue
        picture.text(72, y + 19, f"[{group % STAGES}]", "code soft")
        landed = group + 0.12
        picture.rect(left + step * begin, y + 4, step * (landed - begin), 21, "async")
        picture.rect(left + step * landed, y + 4, step * 0.8, 21, "compute")
    y = top + row * GROUPS + 10
    for x, colour, label in ((left, "async", "copies under way"), (left + 160, "compute", "complete: written back")):
        picture.rect(x, y, 16, 14, colour)
        picture.text(x + 22, y + 12, label, "small soft")
    picture.text(left + 350, y + 12, "[n]: the stage in shared memory", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

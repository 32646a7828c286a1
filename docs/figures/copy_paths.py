"""Four ways from global to shared memory, and who is busy on each."""

import sys

import svg

# Name, who issues, what passes the data on between L2 and shared memory, and what the threads do meanwhile.
PATHS = [
    ("LDG, then STS", "every thread: two instructions", ["L1", "registers"], "wait for the value, store it", "wait"),
    ("cp.async.ca", "every thread: one instruction", ["L1"], "go on, and wait later", "copy"),
    ("cp.async.cg", "every thread: one instruction", [], "go on, and wait later", "copy"),
    ("cp.async.bulk", "one thread: one instruction", ["TMA"], "go on; an mbarrier counts", "async"),
]
CHAPTERS = ["chapter 1", "chapter 2", "chapter 2", "chapters 5 and 6"]


def figure() -> svg.Figure:
    picture = svg.Figure("Four ways from global to shared memory: through registers, by cp.async.ca and .cg, by the TMA", 406)
    memory, l2, shared, top, row = 196, 300, 608, 50, 86
    for x, name in ((memory, "global"), (l2, "L2"), (shared, "shared")):
        picture.box(x, top - 34, 84, 26 + row * len(PATHS) + 8, "", "plain")
        picture.text(x + 42, top - 16, name, "strong", "middle")
    for i, (name, issuer, stops, meanwhile, colour) in enumerate(PATHS):
        y = top + row * i + 26
        picture.text(12, y - 8, name, "code strong")
        picture.text(12, y + 9, CHAPTERS[i], "small soft")
        picture.arrow(memory + 84, y, l2, y)
        picture.line(l2, y, l2 + 84, y, "thin dashed")
        x = l2 + 84
        for stop, place in zip(stops, {0: (), 1: (438,), 2: (410, 492)}[len(stops)], strict=True):
            picture.arrow(x, y, place, y)
            width = 66 if stop == "registers" else 46
            picture.box(place, y - 15, width, 30, stop, f"{colour} small")
            x = place + width
        picture.arrow(x, y, shared, y)
        picture.text(410, y + 34, f"{issuer};", "small soft")
        picture.text(410, y + 49, meanwhile, "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

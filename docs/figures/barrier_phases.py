"""Two phases of an mbarrier: who has arrived, what is still pending, and which parity the phase has."""

import sys

import svg

EXPECTED = 4  # arrivals that end a phase
BYTES = 4096  # of the one copy in each phase

# Per thread and phase: when it arrives and when it begins to wait. Thread 0 announces the copy's bytes as it arrives.
ARRIVALS = [[(1.5, 4.0), (2.5, 2.5), (3.5, 3.5), (4.5, 4.5)], [(7.8, 9.6), (9.2, 9.2), (10.0, 10.0), (8.8, 10.6)]]
LANDED = [6.0, 9.5]  # when the bytes of the phase's copy have arrived
END = 12.0


def phases() -> list[tuple[float, float]]:
    """Begin and end of each phase: it ends when all have arrived and all bytes have."""
    ends = [max(*(at for at, _ in arrivals), landed) for arrivals, landed in zip(ARRIVALS, LANDED, strict=True)]
    return list(zip([0.0, *ends[:-1]], ends, strict=True))


def steps(which: str) -> list[tuple[float, int]]:
    """When a count changes, and to what: 'pending' (arrivals) or 'tx' (bytes)."""
    events: list[tuple[float, int]] = []
    for (begin, end), arrivals, landed in zip(phases(), ARRIVALS, LANDED, strict=True):
        if which == "pending":
            times = sorted(at for at, _ in arrivals)
            events += [(begin, EXPECTED)]
            events += [(at, EXPECTED - i - 1) for i, at in enumerate(times) if i < EXPECTED - 1 or at < end]
        else:
            events += [(begin, 0), (arrivals[0][0], BYTES)] + ([(landed, 0)] if landed < end else [])
    begin = phases()[-1][1]
    return sorted([*events, (begin, EXPECTED if which == "pending" else 0)])


def figure() -> svg.Figure:
    picture = svg.Figure("Two phases of an mbarrier that expects 4 arrivals and counts the bytes of a copy", 366)
    left, scale, top, row = 134, 47, 48, 34
    place = lambda time: left + scale * time  # noqa: E731
    names = [f"thread {i}" for i in range(EXPECTED)]
    for i, name in enumerate(names):
        y = top + row * i
        picture.text(12, y + 18, name)
        free = 0.0
        for (begin, end), arrivals in zip(phases(), ARRIVALS, strict=True):
            at, waits = arrivals[i]
            picture.rect(place(free), y + 4, scale * (waits - free), 20, "compute")
            if waits < end:
                picture.rect(place(waits), y + 4, scale * (end - waits), 20, "wait")
            picture.arrow(place(at), y - 4, place(at), y + 12)
            free = max(end, waits)
        picture.rect(place(free), y + 4, scale * (END - free), 20, "compute")
    y = top + row * EXPECTED
    picture.text(12, y + 18, "copy")
    for arrivals, landed in zip(ARRIVALS, LANDED, strict=True):
        begin = arrivals[0][0]
        picture.rect(place(begin), y + 4, scale * (landed - begin), 20, "async")
        picture.text(place((begin + landed) / 2), y + 18, f"{BYTES} bytes", "small", "middle")
    y += row + 14
    for which, label in (("pending", "pending arrivals"), ("tx", "tx-count")):
        picture.text(12, y + 16, label)
        changes = [*steps(which), (END, 0)]
        for (at, value), (until, _) in zip(changes, changes[1:], strict=False):
            picture.rect(place(at), y, scale * (until - at), 22, "plain")
            picture.text(place((at + until) / 2), y + 16, str(value), "small code", "middle")
        y += 32
    picture.text(12, y + 16, "phase")
    for number, (begin, end) in enumerate([*phases(), (phases()[-1][1], END)]):
        picture.rect(place(begin), y, scale * (end - begin), 22, "copy")
        picture.text(place((begin + end) / 2), y + 16, f"{number}, parity {number % 2}", "small", "middle")
        if number < len(ARRIVALS):
            picture.line(place(end), top - 22, place(end), y, "dashed thin")
            picture.text(place(end), top - 28, f"phase {number} completes", "small soft", "middle")
    x = left
    for colour, label in (("compute", "works"), ("wait", "waits"), ("async", "copy under way")):
        picture.rect(x, y + 40, 16, 14, colour)
        picture.text(x + 22, y + 52, label, "small soft")
        x += 110 if colour != "async" else 140
    picture.arrow(x + 6, y + 38, x + 6, y + 54)
    picture.text(x + 18, y + 52, "arrives", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

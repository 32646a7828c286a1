#!/usr/bin/env python3
"""Four groups of products of chapter 11, to scale: each waited for before the next, and two under way; from the measurement file."""

import sys

import chart
import svg

LEFT, SCALE, LANE, GROUPS, N = 104, 0.78, 24, 4, 64
STEPS = 4  # products in a group


def lengths() -> tuple[float, float]:
    """Cycles that a group multiplies, and cycles from its issue to the end of its wait."""
    usual = {"instruction": "wgmma", "type": "bf16", "n": N, "a": "shared memory", "b": "along k", "mode": "128 bytes", "data": "random", "warps_per_sm": 4}
    busy = next(chart.number(row, "cycles") for row in chart.table("issue_rate") if all(row[name] == value for name, value in usual.items()))
    waited = next(chart.number(row, "cycles") for row in chart.table("wgmma_latency") if row["n"] == N)
    return busy, waited


def panel(picture: svg.Figure, top: float, words: tuple[str, str], asked: list[float], begins: list[float], ends: list[float], busy: float) -> None:
    """`asked`, `begins` and `ends`: when each group is asked for, when its multiplying begins, when the wait for it ends."""
    picture.text(12, top, words[0], "strong")
    picture.text(12, top + 18, words[1], "small soft")
    threads, cores = top + 30, top + 30 + LANE + 22
    picture.text(LEFT - 10, threads + 16, "warpgroup", "small", "end")
    picture.text(LEFT - 10, cores + 16, "tensor cores", "small", "end")
    since = 0.0
    for group, end in enumerate(ends):
        until = f"wait for {group}"
        picture.rect(LEFT + since * SCALE, threads, (end - since) * SCALE, LANE, "wait", f"the wait for group {group} ends at {end:.0f}")
        picture.text(LEFT + (since + end) / 2 * SCALE, threads + 16, until, "small", "middle")
        since = end
    for group, (at, begin) in enumerate(zip(asked, begins, strict=True)):
        picture.rect(LEFT + begin * SCALE, cores, busy * SCALE, LANE, "compute", f"group {group}: multiplied from {begin:.0f} to {begin + busy:.0f}")
        picture.text(LEFT + (begin + busy / 2) * SCALE, cores + 16, f"group {group}", "small", "middle")
        beside = 12 * (asked[:group].count(at))
        picture.arrow(LEFT + at * SCALE + beside, threads + LANE, LEFT + at * SCALE + beside, cores - 2)
        named = [i for i, when in enumerate(asked) if when == at]
        if group == named[-1]:
            picture.text(LEFT + at * SCALE + beside + 6, threads + LANE + 15, "ask for " + " and ".join(map(str, named)), "small soft")
    last = LEFT + ends[-1] * SCALE
    picture.line(last, threads - 4, last, cores + LANE + 4, "dashed")
    picture.text(last - 6 if last > 600 else last + 6, cores + LANE / 2 + 4 if last <= 600 else cores + LANE + 18, f"{ends[-1]:,.0f} cycles", "small strong", "end" if last > 600 else "start")


def figure() -> svg.Figure:
    busy, waited = lengths()
    lost = waited - busy
    picture = svg.Figure("Four groups of products in time: waited for one by one, and with two under way", 332)
    one = [waited * group for group in range(GROUPS)]
    panel(
        picture,
        24,
        ("wait_group 0 after each group", f"{waited:.0f} cycles a group. In {lost:.0f} of them the tensor cores have nothing to do."),
        one,
        [at + lost / 2 for at in one],
        [at + waited for at in one],
        busy,
    )
    begins = [lost / 2 + busy * group for group in range(GROUPS)]
    ends = [waited + busy * group for group in range(GROUPS)]
    panel(
        picture,
        168,
        ("wait_group 1 after each group, wait_group 0 at the end", f"{busy:.0f} cycles a group: when one ends, the next is there. While you use one group, the next is multiplied."),
        [0, 0, *ends[: GROUPS - 2]],
        begins,
        ends,
        busy,
    )
    picture.text(12, 300, f"Groups of {STEPS} products with N = {N}. The {waited:.0f} and {busy:.0f} cycles were measured on an H200; the rest follows.", "small soft")
    picture.text(12, 318, f"Where in its {waited:.0f} cycles a lone group is multiplied was not measured: it is drawn in the middle.", "small soft")
    return picture


if __name__ == "__main__":
    sys.exit(svg.write(figure(), __file__))

#!/usr/bin/env python3
"""The time of a tile in a ring whose warps toss a coin for each: a model that knows the coins, and nothing else.

usage: coins.py [--markdown]

A coin is one unit of time or none; a fetch takes no time. --markdown prints the functions too, for the chapter.
"""

import inspect
import random
import sys
from collections.abc import Sequence

Coins = Sequence[Sequence[int]]
WARPS, TILES = 7, 100_000
BUFFERS = (2, 4, 8, 16)


def meeting(coins: Coins) -> float:
    return sum(max(tile) for tile in coins) / len(coins)


def pair(coins: Coins, buffers: int) -> float:
    done = [[0] * WARPS] * buffers  # when each warp is done with each tile
    for tile in coins:
        full = max(done[-buffers])  # the tile that was in this buffer: all have read it
        done.append([max(full, mine) + coin for mine, coin in zip(done[-1], tile, strict=True)])
    return max(done[-1]) / len(coins)


def rows(buffers: Sequence[int]) -> list[tuple[str, ...]]:
    tosses = random.Random(1)
    coins = [[int(tosses.random() < 0.5) for _ in range(WARPS)] for _ in range(TILES)]
    meet = meeting(coins)
    return [(str(n), f"{meet:.2f}", f"{pair(coins, n):.2f}", f"{meet / pair(coins, n):.2f}") for n in buffers]


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--markdown"]):
        print(__doc__, file=sys.stderr)
        return 2
    heads = ("buffers", "all meet", "the pair", "times as long")
    if arguments:
        print("```python", inspect.getsource(meeting), "", inspect.getsource(pair).rstrip(), "```", "", sep="\n")
        print("| " + " | ".join(heads) + " |", "| ---: " * len(heads) + "|", sep="\n")
        for row in rows(BUFFERS):
            print("| " + " | ".join(row) + " |")
    else:
        for row in (heads, *rows(BUFFERS)):
            print("".join(f"{word:>15}" for word in row))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

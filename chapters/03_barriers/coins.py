#!/usr/bin/env python3
"""The time of a tile in a ring whose warps toss a coin for each: a model that knows the coins, and nothing else.

usage: coins.py [--markdown | --tiles]

A coin is one unit of time or none; a fetch takes no time. 132 blocks toss their own, and a kernel ends when the last block does.
The coins are those of the measurement.
--markdown prints the functions too, for the chapter; --tiles says how many times as long the meeting takes, by the tiles of a block.
"""

import inspect
import sys
from collections.abc import Sequence

Coins = Sequence[Sequence[int]]
WARPS, BLOCKS, TILES = 7, 132, 512
BUFFERS = (2, 4, 8, 16)


def meeting(coins: Coins) -> float:
    return sum(max(tile) for tile in coins) / len(coins)


def pair(coins: Coins, buffers: int) -> float:
    done = [[0] * WARPS] * buffers  # when each warp is done with each tile
    for tile in coins:
        full = max(done[-buffers])  # the tile that was in this buffer: all have read it
        done.append([max(full, mine) + coin for mine, coin in zip(done[-1], tile, strict=True)])
    return max(done[-1]) / len(coins)


def random_word(number: int) -> int:
    """workbook::random_word of common/include/workbook/bench_data.cuh."""
    z = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return (z ^ (z >> 31)) % 2**32


def toss(block: int, tiles: int) -> Coins:
    """The coins that a block of bench_uneven.cuh tosses: its warps 1 to 7 consume."""
    words = [random_word(block * (WARPS + 1) + warp) for warp in range(1, WARPS + 1)]
    coins = []
    for _ in range(tiles):
        words = [(word * 1664525 + 1013904223) % 2**32 for word in words]
        coins.append([word >> 31 for word in words])
    return coins


def times(blocks: Sequence[Coins], buffers: int) -> tuple[float, float]:
    """The time of a tile where all meet, and with the pair: that of the slowest block."""
    return max(map(meeting, blocks)), max(pair(coins, buffers) for coins in blocks)


def table() -> list[tuple[str, ...]]:
    blocks = [toss(block, TILES) for block in range(BLOCKS)]
    rows = [(buffers, *times(blocks, buffers)) for buffers in BUFFERS]
    return [("buffers", "all meet", "the pair", "times as long"), *((str(n), f"{m:.2f}", f"{p:.2f}", f"{m / p:.2f}") for n, m, p in rows)]


def average(blocks: Sequence[Coins], buffers: int) -> float:
    """How many times as long the meeting takes if the average block counts, not the slowest."""
    return sum(map(meeting, blocks)) / sum(pair(coins, buffers) for coins in blocks)


def by_tiles() -> list[tuple[str, ...]]:
    rows = []
    for tiles in (64, TILES, 4096):
        blocks = [toss(block, tiles) for block in range(BLOCKS)]
        both = [times(blocks, buffers) for buffers in (2, 4)]
        rows.append((f"{tiles:,}", *(f"{meet / pairs:.2f}" for meet, pairs in both), f"{average(blocks, 4):.2f}"))
    return [("tiles of a block", "2 buffers", "4 buffers", "4 buffers, the average block"), *rows]


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--markdown"], ["--tiles"]):
        print(__doc__, file=sys.stderr)
        return 2
    if not arguments:
        for row in table():
            print("".join(f"{word:>15}" for word in row))
        return 0
    if "--markdown" in arguments:
        print("```python", inspect.getsource(meeting), "", inspect.getsource(pair).rstrip(), "```", "", sep="\n")
    heads, *rows = table() if "--markdown" in arguments else by_tiles()
    print("| " + " | ".join(heads) + " |", "| ---: " * len(heads) + "|", sep="\n")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Where the warps are that multiply: samples of the program counter, sorted into four places of a kernel's machine code."""

import re
from collections.abc import Sequence

from cli.bench_file import Row
from cli.bench_run import Sampled

_OFFSET = re.compile(r"\[[^\]]*?(\+0x[0-9a-f]+)?\]")
_SELDOM = 16  # what runs so many times less often than the products is outside their loop


def places(code: Sequence[Sampled]) -> Row | None:
    """Shares of the samples of the warps that multiply, in %, or None for a kernel without barriers and wgmma.

    stage: at the barrier that says that a stage is full. block: at a barrier of the whole block. products: issuing
    products, waiting for them, and all else in their loop. end: after a tile's last product. The warps that only load
    have code of their own, which is left out: before it `setmaxnreg` gives registers back, or it follows the exit.
    """
    words = [line.instruction for line in code]
    products = [i for i, word in enumerate(words) if "HGMMA" in word]
    tries = [i for i, word in enumerate(words) if "PHASECHK" in word]
    if not products or not tries:
        return None
    last = max(i for i, word in enumerate(words) if "WARPGROUP.DEPBAR" in word)
    full = _offset(words[max(i for i in tries if i < products[0])])
    # A try is followed by the branch that looks at its result: a warp that waits is found at either.
    waits = {k for i in tries if _offset(words[i]) == full for k in (i, i + 1)}
    # Behind the barrier at the beginning; with registers by role, where those who multiply ask for theirs.
    takes = [i for i, word in enumerate(words) if "TRY_ALLOC" in word]
    begin = takes[0] if takes else next(i for i, word in enumerate(words) if "BAR.SYNC" in word)
    end = next(i for i, word in enumerate(words) if i > last and ("DEALLOC" in word or word == "EXIT"))
    often = max(code[i].executed for i in products) / _SELDOM
    meets = {
        k for i in range(begin, end) if "BAR.SYNC" in words[i] and code[i].executed >= often for k in (i, i + 1)
    }
    row: dict[str, float] = dict.fromkeys(("stage", "block", "products", "end"), 0)
    for i, line in enumerate(code):
        if i in waits:
            row["stage"] += line.samples
        elif begin <= i < end:
            after = i > last and line.executed < often
            row["block" if i in meets else "end" if after else "products"] += line.samples
    total = sum(row.values())
    return {name: 100 * value / total for name, value in row.items()} if total else None


def _offset(word: str) -> str | None:
    found = _OFFSET.search(word)
    return found[1] if found else None
